"""Saves a conversation of ``chat`` or ``voice`` as a recording, and a recording as a pytest test."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from livetools.cli.agents.load_agent import Loaded, load
from livetools.cli.agents.open_sessions import NOWHERE, Choices, sessions
from livetools.cli.process.errors_and_signals import UsageError
from livetools.errors import ConfigError
from livetools.session.frame_log import Direction
from livetools.session.listening.frame_tap import tap
from livetools.session.session import Session
from livetools.testing.wire import Frame, close_message

from .frame_history import parsed
from .pytest_export import Subject, as_test

if TYPE_CHECKING:
    from livetools.testing import Recording

SAVE = typer.Option(
    "--save", help="Record the conversation to this file: JSON lines, one frame per line.", show_default=False
)
FORCE = typer.Option("--force", help="Overwrite a file that exists.")


class FrameRecorder:
    """Writes the frames of a session as they come. A :class:`~livetools.session.frame_log.FrameListener`."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def frame(self, direction: Direction, connection: int, data: bytes) -> None:
        """See :class:`~livetools.session.frame_log.FrameListener`."""
        self._recording.add(parsed(time.monotonic(), direction, connection, data))

    def closed(self, connection: int, code: int, reason: str, by_us: bool) -> None:
        """See :class:`~livetools.session.frame_log.FrameListener`."""
        direction: Direction = "client" if by_us else "server"
        self._recording.add(Frame(time.monotonic(), direction, connection, close_message(code, reason)))


@contextmanager
def opened(recording: Recording, advice: str = "--force overwrites it") -> Iterator[Recording]:
    """The recording, open to be written. ``ConfigError`` says what to do about a file that cannot be, as on a full
    disk."""
    try:
        recording.__enter__()
    except FileExistsError:
        raise UsageError(f"{recording.path} exists: {advice}") from None
    except OSError as error:
        raise UsageError(f"{recording.path}: {error.strerror}") from None
    try:
        yield recording
    finally:
        try:
            recording.__exit__(None, None, None)
        except OSError as error:  # what could not be written is tried once more when the file is closed
            raise ConfigError(f"{recording.path} cannot be written: {error.strerror}") from None


@contextmanager
def saved(session: Session, file: Path | None, force: bool) -> Iterator[None]:
    """Write what ``session`` sends and receives to the file, if there is one, from before it is entered."""
    if file is None:
        if force:
            raise UsageError("--force overwrites the file of --save: name one")
        yield
        return
    from livetools.testing import Recording

    with opened(Recording(file, mode="w" if force else "x")) as recording:
        tap(session, FrameRecorder(recording))
        yield


def save(frames: Iterable[Frame], said: str) -> str:
    """Write the frames to the file that ``said`` names (``FILE``, or ``--force FILE``), and say so."""
    from livetools.testing import Recording

    words = said.split()
    force = "--force" in words
    place = said.replace("--force", "", 1).strip() if force else said.strip()
    if not place:
        raise ConfigError("/save FILE: where to?")
    count = 0
    with opened(Recording(Path(place), mode="w" if force else "x"), f"/save --force {place}") as recording:
        for frame in frames:
            recording.add(frame)
            count += 1
    return f"{count} frame{'s' * (count != 1)} in {place}"


def test_of(file: Path, target: str | None) -> str:
    """The source of a pytest test that holds the recorded conversation again, with the agent or tools of ``target``.

    Raises ``ConfigError`` where the recording calls a function that ``target`` has not.
    """
    from livetools.testing import Recording

    try:
        frames = Recording.load(file).frames
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(str(error)) from None
    loaded = Loaded() if target is None else load(target)
    with _shaped(file):
        model, called = _model(frames), _called(frames)
    choices = Choices(model=None if loaded.agent is not None else model)
    session = sessions(target, choices, {"base_url": NOWHERE})()
    if missing := sorted(called - session.tools.keys()):
        have = f"{target} has not" if target is not None else "no target is named for"
        raise ConfigError(
            f"{file} calls {', '.join(missing)}, which {have}: livetools replay --as-test {file} FILE.py"
        )
    approval = any(policy.approval for policy in session.plan.policies.values())
    declared_only = frozenset(name for name, handled in session.tools.items() if not handled)
    try:
        with _shaped(file):
            return as_test(
                frames, Subject(target, choices, approval, declared_only, f"as {file.name} has it")
            )
    except ValueError as error:
        raise ConfigError(f"{file}: {error}") from None


@contextmanager
def _shaped(file: Path) -> Iterator[None]:
    """Raise ``ConfigError`` where a frame is not shaped as those on the wire are: a person has edited it."""
    try:
        yield
    except (AttributeError, TypeError, LookupError) as error:
        raise ConfigError(f"{file}: a frame is not shaped as those of a session are ({error})") from error


def _model(frames: Iterable[Frame]) -> str | None:
    setups = (frame.message["setup"] for frame in frames if "setup" in frame.message)
    name = next((str(setup.get("model", "")) for setup in setups), "")
    return name.rpartition("/")[2] or None


def _called(frames: Iterable[Frame]) -> set[str]:
    calls = (
        call
        for frame in frames
        for call in (frame.message.get("toolCall") or {}).get("functionCalls") or []
        if frame.direction == "server"
    )
    return {str(call.get("name")) for call in calls}
