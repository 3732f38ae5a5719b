"""What the parts of one fake server share: its clock, its switches, its log. It imports none of those parts."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from livetools.session.running.clock import Clock
from livetools.setup.model_profiles import ModelProfile, find

from .auth.ephemeral_tokens import Tokens
from .model.turn import ModelFunction
from .recordings.jsonl_file import Recording
from .server_log import Log
from .settings.fault_switches import Faults
from .settings.time_limits import Limits
from .settings.vad import ActivityDetector, EnergyDetector
from .wire import Frame, Message, close_message

#: What a message of realtime input holds if it is media, in either casing.
_MEDIA = {"audio", "video", "mediaChunks", "media_chunks"}


class StartTask(Protocol):
    """Runs a coroutine beside the connections, for as long as the server is up."""

    def __call__(self, function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None: ...


@dataclass(slots=True)
class Service:
    """One fake service. :class:`~livetools.testing.FakeLiveServer` tells what the switches mean."""

    model: ModelFunction
    clock: Clock
    chance: random.Random
    start_task: StartTask
    profile: ModelProfile | str | None = None
    strict: bool = True
    api_keys: Collection[str] | None = None
    limits: Limits = field(default_factory=Limits)
    faults: Faults = field(default_factory=Faults)
    pace: float = 0.0
    hold: float = 0.0
    detector: Callable[[Mapping[str, Any]], ActivityDetector] = EnergyDetector
    transcriber: Callable[[bytes, int], str] | None = None
    tokens: Tokens = field(default_factory=Tokens)
    log: Log = field(default_factory=Log)
    recording: Recording | None = None
    patience: float | None = 5.0
    leaving: bool = False  # the server is being left
    heard: int = 0  # messages of clients that hold anything but media

    def profile_of(self, model: str, *, vertex: bool) -> ModelProfile:
        """How to behave to a client that asks this endpoint for this model."""
        if isinstance(self.profile, ModelProfile):
            return self.profile
        return find(self.profile or model, vertex=vertex)

    def record(self, direction: Literal["client", "server"], connection: int, message: Message) -> None:
        """Enter a frame in the log, and in the recording if there is one."""
        frame = Frame(self.clock.now(), direction, connection, message)
        self.log.keep(frame)
        if direction == "client" and not _media(message):
            self.heard += 1
        if self.recording is not None:
            self.recording.add(frame)

    def record_close(self, connection: int, code: int, reason: str = "") -> None:
        """Enter that the server closes this connection; 1006: without a close frame."""
        self.record("server", connection, close_message(code, reason))

    def note(self, text: str) -> None:
        self.log.note(text)

    def mint_token(self, *, uses: int = 1, setup: Message | None = None) -> str:
        """An ephemeral token; see :meth:`FakeLiveServer.mint_token`."""
        name = f"auth_tokens/{self.chance.getrandbits(128):032x}"
        return self.tokens.mint(name, self.clock.now(), uses, setup)


def _media(message: Message) -> bool:
    """Whether a client's message is sound or pictures, and nothing else."""
    said = message.get("realtimeInput") or message.get("realtime_input")
    return isinstance(said, dict) and bool(said) and not said.keys() - _MEDIA
