"""What pages receive of one session: its events, numbered and kept for a page that comes back, and its speech."""

from __future__ import annotations

from collections.abc import Callable

from livetools.events import (
    ApprovalRequested,
    AudioChunk,
    Call,
    Event,
    HandedOff,
    Interrupted,
    ToolCancelled,
    ToolFinished,
    ToolStarted,
    TurnComplete,
    VideoChunk,
)
from livetools.session.running.clock import Clock
from livetools.session.session import Session
from livetools.setup.plan_fields import Plan

from .event_log import EventLog
from .limits import HEARTBEAT
from .messages import (
    INPUT_RATE,
    OUTPUT_RATE,
    AgentNow,
    Ended,
    Ready,
    Text,
    UserText,
    encode,
    encode_event,
    encode_video,
    ending,
)


class Outgoing:
    """Writes the messages of one session to ``log``. ``changed`` is called after each, to wake what reads the log.

    Create it when the session is opened: messages bear the seconds since then. ``debug`` as of
    :func:`~livetools.integrations.starlette.relay`.
    """

    def __init__(self, session: Session, clock: Clock, debug: bool, changed: Callable[[], None]) -> None:
        self.log = EventLog()
        self._session, self._clock, self._debug, self._changed = session, clock, debug, changed
        self._began = clock.now()
        self._rate = OUTPUT_RATE
        self._plan = session.plan  # that pages know
        self._agent: str | None = None
        self._undecided: set[str] = set()  # calls that pages know of, and that nobody has let run yet
        self._allowed: set[str] = set()  # calls that may run, and that no page knows of yet

    def ready(self, token: str, after: int, resumed: bool, manual: bool, linger: float) -> Ready:
        """The first message to a page, which has the events up to ``after``. It is not logged."""
        plan = self._session.plan
        return {
            "type": "ready",
            "token": token,
            "resumed": resumed,
            "seq": self.log.last,
            "at": self._stamp()[1],
            "missed": max(0, self.log.first - 1 - after),
            "model": plan.model.rpartition("/")[2],
            "tools": list(plan.policies),
            "declared_only": declared_only(plan),
            "activity": "manual" if manual else "automatic",
            "input_rate": INPUT_RATE,
            "output_rate": OUTPUT_RATE,
            "linger": linger,
            "agent": self._agent,
            "heartbeat": HEARTBEAT,
        }

    def event(self, event: Event) -> str | None:
        """Add an event. Returns the message that a page reads, if it is a text message."""
        message = None
        if isinstance(event, AudioChunk):
            self._speak(event)
        elif isinstance(event, VideoChunk):
            self.log.add_media(encode_video(event))
            self._changed()
        elif (message := encode_event(event, *self._stamp(), self._more(event), self._debug)) is not None:
            if isinstance(event, Interrupted):
                self.log.drop_media()
            self._add(message)
        if isinstance(event, ToolFinished | ToolCancelled):
            self._undecided.discard(event.call.id)
            self._allowed.discard(event.call.id)
        self._follow_agent(event)
        return message

    def typed(self, text: Text) -> None:
        """A text was accepted."""
        seq, at = self._stamp()
        message: UserText = {"type": "user_text", "seq": seq, "at": at, "text": text.text}
        if text.ref is not None:
            message["ref"] = text.ref
        self._add(encode(message))

    def approved(self, id: str) -> None:
        """The call of this id may run."""
        seq, at = self._stamp()
        self._add(encode({"type": "approved", "seq": seq, "at": at, "id": id}))

    def allowed(self, call: Call) -> None:
        """The tool's own rule lets this call run. Pages may hear that before they hear of the call."""
        if call.id in self._undecided:
            self._undecided.discard(call.id)
            self.approved(call.id)
        else:
            self._allowed.add(call.id)

    def ended(self, error: Exception | None) -> Ended:
        """The session is over. Returns the message that says so, the last one."""
        message = ending(error, self._debug)
        message["seq"], message["at"] = self._stamp()
        self._add(encode(message))
        return message

    def _more(self, event: Event) -> dict[str, object]:
        """Fields that a page gets in addition to those of an event."""
        if not isinstance(event, ApprovalRequested | ToolStarted):
            return {}
        policy = self._session.plan.policies.get(event.call.name)
        if isinstance(event, ToolStarted):
            return {"approval": policy is not None and policy.approval and self._waits(event.call)}
        return {"timeout": None if policy is None else policy.approval_timeout}

    def _waits(self, call: Call) -> bool:
        """Whether a call is still to be let run when pages hear of it: the tool's rule may have been quicker."""
        if call.id in self._allowed:
            self._allowed.discard(call.id)
            return False
        self._undecided.add(call.id)
        return True

    def _speak(self, chunk: AudioChunk) -> None:
        if chunk.rate != self._rate:
            self._rate = chunk.rate
            seq, at = self._stamp()
            self._add(encode({"type": "audio_format", "seq": seq, "at": at, "rate": chunk.rate}))
        dropped = self.log.add_media(chunk.data)
        if dropped:
            seq, at = self._stamp()
            seconds = dropped / 2 / self._rate
            self._add(encode({"type": "dropped", "seq": seq, "at": at, "seconds": seconds}))
        self._changed()

    def _follow_agent(self, event: Event) -> None:
        """Tell pages of other tools: after a hand-off, or, at the end of a turn, of a change that the program made."""
        if isinstance(event, HandedOff):
            self._agent = event.name
        elif not isinstance(event, TurnComplete) or self._plan is self._session.plan:
            return
        self._plan = self._session.plan
        seq, at = self._stamp()
        now: AgentNow = {
            "type": "agent",
            "seq": seq,
            "at": at,
            "name": self._agent,
            "tools": list(self._plan.policies),
            "declared_only": declared_only(self._plan),
        }
        self._add(encode(now))

    def _add(self, message: str) -> None:
        self.log.add(message)
        self._changed()

    def _stamp(self) -> tuple[int, float]:
        """The number of the next event, and the seconds since the session was opened."""
        return self.log.last + 1, round(self._clock.now() - self._began, 3)


def declared_only(plan: Plan) -> list[str]:
    """The functions without a handler, which a page answers."""
    return [name for name, policy in plan.policies.items() if not policy.handled]
