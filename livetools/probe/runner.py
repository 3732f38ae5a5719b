"""Plays the table on raw connections: dials, sends the setup, plays the steps, and keeps what comes.

Nothing here follows a profile. Every wait has a bound, and an experiment that fails leaves the others alone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field, replace

import anyio

from livetools.errors import (
    AuthenticationError,
    ConnectFailed,
    LiveToolsError,
    ModelNotFound,
    QuotaExceeded,
)
from livetools.protocol.connection.close_codes import classify, error
from livetools.session.running.clock import Clock, SystemClock
from livetools.setup.config_fields import wire_model
from livetools.setup.model_profiles import ModelProfile, find
from livetools.setup.secrecy import Sealed, scrub
from livetools.transport.contract import Dialer, Gone, Transport
from livetools.transport.endpoint import Endpoint
from livetools.transport.websocket import WebSocket

from .experiment_steps import spoke
from .experiment_types import Experiment, Facts, Scene, Step, Talk, Undecided
from .experiments import EXPERIMENTS
from .outcome import Ending, JsonObject, StepResult, TalkOutcome, calls_in
from .turn_experiments import HELLO

_SETUP_TIMEOUT = 10.0  # seconds; some refused settings show only in a setup that never completes
REFUSALS = (1007, 1008)  # codes by which the service refuses what it was sent
FAILURES = (1011,)  # its own failure, or a refusal (3.1, TEXT): a refusal, if it comes a second time
INSTRUCTION = "You are being tested. Do exactly what the user says, in as few words as possible."


class Broken(Exception):
    """The connection ended in a way that says nothing of what was sent."""


@dataclass(slots=True)
class Probe:
    """One probe of one model. ``facts`` grows while :meth:`run` is iterated; ``sessions`` counts the connections.

    ``clock`` is where it waits, ``dialer`` what opens connections. ``known`` is the profile that livetools has of
    the model; it decides nothing that is sent.
    """

    model: str
    endpoint: Endpoint
    dialer: Dialer = field(default_factory=WebSocket)
    clock: Clock = field(default_factory=SystemClock)
    experiments: tuple[Experiment, ...] = EXPERIMENTS
    facts: Facts = field(default_factory=dict)
    sessions: int = 0
    _base: JsonObject = field(default_factory=dict)
    _channel: str | None = None

    @property
    def known(self) -> ModelProfile:
        return find(self.model, vertex=bool(self.endpoint.vertexai))

    async def run(self) -> AsyncIterator[tuple[Experiment, Facts]]:
        """Each experiment with its answers, as soon as it is done.

        Raises ``ConnectFailed`` and the other errors of a dial if the first connection fails,
        ``AuthenticationError``, ``ModelNotFound`` or ``QuotaExceeded`` if a close says so at any time, and what
        the close says if the model accepts no setup at all.
        """
        try:
            await self._find_setup()
            await self._find_channel()
        except Broken as broken:
            raise ConnectFailed(
                f"the service ended the connection twice, without a reason: {broken}"
            ) from None
        for experiment in self.experiments:
            found = await self._perform(experiment)
            self.facts.update(found)
            yield experiment, found

    # -- what every other conversation begins with

    async def _find_setup(self) -> None:
        """The plainest setup that the model accepts: speech or text, with a thinking level if it must have one."""
        first: TalkOutcome | None = None
        for modality in ("AUDIO", "TEXT"):
            for level in (None, "LOW"):
                self._base = _base(
                    wire_model(
                        self.model,
                        vertexai=bool(self.endpoint.vertexai),
                        project=self.endpoint.project,
                        location=self.endpoint.location,
                    ),
                    modality,
                    level,
                )
                outcome = await self._play(Talk())
                if outcome.opened:
                    return
                first = first or outcome
        assert first is not None
        if first.ending is None:
            raise ConnectFailed(f"the model accepts no setup: {first.why} within {_SETUP_TIMEOUT:g} s")
        raise error(first.ending.code, first.ending.reason, "setup")

    async def _find_channel(self) -> None:
        """How text reaches the model: the first way that it answers."""
        for channel in ("realtime", "client_content"):
            self._channel = channel
            outcome = await self._play(Talk({}, (replace(HELLO, until=spoke),)))
            if outcome.part(0).spoke:
                return
        self._channel = None

    # -- one experiment

    async def _perform(self, experiment: Experiment) -> Facts:
        """Its answers. Whatever fails in it makes its fields undecided, except what would fail in each other too."""
        try:
            if why := experiment.needs(self.facts):
                return _undecided(experiment, why)
            talks = experiment.talks(self.facts)
            if self._channel is None and any(step.says for talk in talks.values() for step in talk.steps):
                return _undecided(experiment, "the model does not answer text")
            outcomes = {name: await self._play(talk) for name, talk in talks.items()}
            return experiment.read(outcomes, self.facts, self.known)
        except Broken as broken:
            return _undecided(experiment, f"the connection broke: {broken}")
        except (AuthenticationError, ModelNotFound, QuotaExceeded):
            raise
        except LiveToolsError as failure:
            return _undecided(experiment, str(failure))
        except Exception as fault:  # a message of a shape that nobody has seen yet
            return _undecided(experiment, f"its messages could not be read ({type(fault).__name__})")

    async def _play(self, talk: Talk) -> TalkOutcome:
        """One conversation; once more, if its end says nothing of what was sent.

        Raises :class:`Broken` if it ends like that again, and the error of a close that is not about the talk.
        """
        for attempt in (1, 2):
            outcome = await self._converse(talk)
            ending = outcome.ending
            if ending is None:
                return outcome
            verdict = classify(ending.code, ending.reason, phase="turn" if outcome.opened else "setup")
            if issubclass(verdict.error_class, AuthenticationError | ModelNotFound | QuotaExceeded):
                raise error(ending.code, ending.reason, "setup")
            if ending.code in REFUSALS or (attempt == 2 and ending.code in FAILURES):
                return outcome
        raise Broken(str(ending))

    async def _converse(self, talk: Talk) -> TalkOutcome:
        self.sessions += 1
        outcome = TalkOutcome()
        endpoint = self.endpoint
        if talk.early and not (endpoint.vertexai or endpoint.asked):
            endpoint = replace(endpoint, api_version="v1alpha")
        with Sealed():
            target = await endpoint.target()
        async with self.dialer.dial(target.url, target.headers) as transport:
            line = _Line(transport, self.clock, outcome)
            try:
                await line.send({"setup": _merged(self._base, talk.setup)})
                await line.open()
                for step in talk.steps if outcome.opened else ():
                    if not await line.play(step, self._channel):
                        break
            except Gone as gone:
                outcome.ending = Ending(gone.code, scrub(gone.reason))
        return outcome


class _Line:
    """One connection while its conversation is played."""

    def __init__(self, transport: Transport, clock: Clock, outcome: TalkOutcome) -> None:
        self._transport, self._clock, self._outcome = transport, clock, outcome
        self._calls: list[JsonObject] = []

    async def send(self, frame: JsonObject) -> None:
        await self._transport.send(json.dumps(frame).encode())

    async def open(self) -> None:
        """Wait for ``setupComplete``. What comes before it is dropped."""
        deadline = self._clock.now() + _SETUP_TIMEOUT
        while (message := await self._next(deadline)) is not None:
            if "setupComplete" in message:
                self._outcome.opened = True
                return

    async def play(self, step: Step, channel: str | None) -> bool:
        """One step, whose messages go into a new part. False: it would answer a call, and the model made no call."""
        if step.answers and not self._calls:
            return False
        part = StepResult(self._clock.now())
        self._outcome.parts.append(part)
        frames = step.send(Scene(channel, self._calls))
        if await self._send_all(frames, step, part):
            await self._listen(part, step, self._clock.now() + step.wait)
        return True

    async def _send_all(self, frames: Iterable[JsonObject], step: Step, part: StepResult) -> bool:
        """Whether there is still something to wait for behind them."""
        for frame in frames:
            await self.send(frame)
            if step.pace and await self._listen(part, step, self._clock.now() + step.pace):
                return False
        return True

    async def _listen(self, part: StepResult, step: Step, deadline: float) -> bool:
        """Keep what comes, up to the deadline, or until the step has what it waits for (then True)."""
        while (message := await self._next(deadline)) is not None:
            part.messages.append((self._clock.now(), message))
            self._calls += calls_in(message)
            if step.until(part):
                return True
        return False

    async def _next(self, deadline: float) -> JsonObject | None:
        """The next message; ``None`` at the deadline. Raises :class:`Gone`."""
        data: bytes | None = None
        gone: Gone | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_expire, self._clock, deadline, group.cancel_scope)
            try:
                data = await self._transport.receive()
            except Gone as end:
                gone = end
            group.cancel_scope.cancel()
        if gone is not None:
            raise gone
        return None if data is None else _decoded(data)


async def _expire(clock: Clock, deadline: float, scope: anyio.CancelScope) -> None:
    await clock.sleep_until(deadline)
    scope.cancel()


def _decoded(data: bytes) -> JsonObject:
    """A message; anything but a JSON object becomes one without known fields."""
    try:
        message = json.loads(data)
    except ValueError:
        return {"unreadable": True}
    return message if isinstance(message, dict) else {"unreadable": True}


def _undecided(experiment: Experiment, why: str) -> Facts:
    return {field: Undecided(why) for field in experiment.fields}


def _base(model: str, modality: str, level: str | None) -> JsonObject:
    generation: JsonObject = {"responseModalities": [modality]}
    if level is not None:
        generation["thinkingConfig"] = {"thinkingLevel": level}
    setup: JsonObject = {
        "model": model,
        "generationConfig": generation,
        "systemInstruction": {"role": "user", "parts": [{"text": INSTRUCTION}]},
    }
    return {**setup, "outputAudioTranscription": {}} if modality == "AUDIO" else setup


def _merged(base: Mapping[str, object], changes: Mapping[str, object]) -> JsonObject:
    """``base`` with ``changes`` in it, at any depth; ``None`` takes a field out."""
    merged: JsonObject = dict(base)
    for name, change in changes.items():
        below = merged.get(name)
        if change is None:
            merged.pop(name, None)
        elif isinstance(change, Mapping) and isinstance(below, Mapping):
            merged[name] = _merged(below, change)
        else:
            merged[name] = change
    return merged
