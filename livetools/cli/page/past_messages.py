"""What the page shows of a conversation that is over: the messages that the relay would have sent, from its frames.

A recording has the frames between the session and the service. The page reads messages of the relay, so each frame is
translated: what the model said into the events of a session, what was typed into ``user_text``, an answer to a call
into ``ToolFinished``. What never went over the wire is missing: approvals, progress that a tool told the page only,
and which exception it was that a tool raised.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from livetools.errors import ToolError
from livetools.events import (
    Call,
    Event,
    GoAway,
    Reconnected,
    Reconnecting,
    SessionStarted,
    ToolCancelled,
    ToolFinished,
    ToolLost,
    ToolProgress,
    ToolStarted,
    VoiceActivity,
)
from livetools.integrations.relay.messages import encode_event
from livetools.protocol.messages.incoming import FunctionCall, parse
from livetools.protocol.messages.to_events import events_of
from livetools.testing.model.late_results import late_results
from livetools.testing.wire import Frame, Message


def page_messages(frames: Iterable[Frame]) -> list[str]:
    """The messages of the relay, as JSON, in order; ``at`` is the time of the frame. It takes frames of any shape."""
    reader = _Reader()
    for frame in frames:
        reader.read(frame)
    return reader.finished()


@dataclass(slots=True)
class _OpenCall:
    call: Call
    began: float
    lost: bool = False
    said: Mapping[str, Any] | None = None  # the last part of an answer in parts


@dataclass(slots=True)
class _Reader:
    messages: list[str] = field(default_factory=list)
    at: float = 0.0
    connections: int = 0
    moving: bool = False  # the service announced the end of this connection
    close: tuple[bool, int, str] | None = None  # by us, code, reason: of the connection that ended last
    calls: dict[str, _OpenCall] = field(default_factory=dict)  # by id, or by name where the service gave none
    speech: tuple[float, float] | None = None  # first and last sound of the user since the model last spoke
    heard: bool = False  # the service reported that speech itself

    def read(self, frame: Frame) -> None:
        self.at = max(self.at, frame.time)
        message = frame.message
        if isinstance(close := message.get("_close"), dict):
            code = close.get("code")
            self._closed(
                frame.direction == "client",
                code if isinstance(code, int) else 1006,
                str(close.get("reason", "")),
            )
        elif frame.direction == "client":
            self._sent(message)
        else:
            self._received(message)

    def finished(self) -> list[str]:
        """All messages; the last is the end of the session, if the recording has it."""
        if self.close is not None:
            self._over(*self.close)
        return self.messages

    def _over(self, by_us: bool, code: int, reason: str) -> None:
        failed = not by_us and code != 1000
        self._add(
            {
                "type": "ended",
                "error": "ConnectionLost" if failed else None,
                "message": _closed_with(code, reason) if failed else "the session is over",
                "retryable": False,
            }
        )

    # -- what the client sent

    def _sent(self, message: Message) -> None:
        if isinstance(setup := message.get("setup"), dict):
            self._dialled(setup)
        content = _object(message, "clientContent")
        parts = [part for turn in _objects(content, "turns") for part in _objects(turn, "parts")]
        answers = [
            part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)
        ]
        for answer in [*_objects(_object(message, "toolResponse"), "functionResponses"), *answers]:
            self._answered(answer)
        realtime = _object(message, "realtimeInput")
        text = "\n".join(str(part["text"]) for part in parts if part.get("text"))
        if not content.get("turnComplete"):
            text = str(realtime.get("text") or "")
        if text.strip():
            self._typed(text)
        if "audio" in realtime:
            self.speech = (self.speech or (self.at,))[0], self.at

    def _dialled(self, setup: Message) -> None:
        self.connections += 1
        if self.connections == 1:
            return self._tell(SessionStarted())
        if self.close is not None and not self.moving:
            by_us, code, reason = self.close
            if by_us:  # it was over, and has been reopened
                self._over(by_us, code, reason)
            else:
                self._tell(Reconnecting(1, 0.0, _closed_with(code, reason)))
        self.close, self.moving = None, False
        return self._tell(Reconnected(bool(_object(setup, "sessionResumption").get("handle"))))

    def _typed(self, text: str) -> None:
        if not (late := late_results(text)):
            return self._add({"type": "user_text", "text": text})
        for result in late:
            lost = (key for key, each in self.calls.items() if each.lost and each.call.name == result.name)
            if (key := next(lost, None)) is not None:
                self._end(self.calls.pop(key), json.loads(result.response))
        return None

    def _answered(self, answer: Message) -> None:
        key = str(answer.get("id") or answer.get("name"))
        if (open := self.calls.get(key)) is None:
            return None
        response = _object(answer, "response")
        if answer.get("willContinue"):
            open.said = response
            return self._tell(ToolProgress(open.call, _value(response)))
        del self.calls[key]
        return self._end(open, response)

    def _end(self, open: _OpenCall, response: Message) -> None:
        error = ToolError(str(response["error"])) if "error" in response else None
        self._tell(ToolFinished(open.call, response, error, self.at - open.began))

    # -- what the server sent

    def _received(self, message: Message) -> None:
        slim, sounds = _without_media(message)
        read = parse(json.dumps(slim).encode())
        found = events_of(read)
        said = [event for event in found if type(event).__name__ in _SPOKEN]
        self.heard = self.heard or any(type(event).__name__ in _HEARD for event in found)
        if self.speech is not None and (said or sounds or read.calls):
            self._spoken()
        if (notice := read.fields.get("goAway")) is not None:
            self.moving = True
            self._tell(GoAway(notice.get("timeLeft")))
        if sounds:
            self._add({"type": "sound"})
        for event in found:
            self._tell(event)
        for call in read.calls:
            self._called(call)
        for id_ in read.cancelled:
            if (open := self.calls.pop(id_, None)) is not None:
                self._tell(ToolCancelled(open.call))

    def _spoken(self) -> None:
        """The user spoke, and the service did not say so: the sound tells when."""
        began, until = self.speech or (self.at, self.at)
        self.speech, heard, self.heard = None, self.heard, False
        if not heard:
            self._tell(VoiceActivity("start", None), began)
            self._tell(VoiceActivity("end", None), until)

    def _called(self, asked: FunctionCall) -> None:
        key = asked.id or asked.name
        if key in self.calls or not asked.name:
            return
        call = Call(key, asked.name, asked.args)
        self.calls[key] = _OpenCall(call, self.at)
        self._tell(ToolStarted(call))

    def _closed(self, by_us: bool, code: int, reason: str) -> None:
        self.close = by_us, code, reason
        for open in self.calls.values():
            if not open.lost and not by_us:
                open.lost = True
                self._tell(ToolLost(open.call, "text"))

    # -- what is reported

    def _tell(self, event: Event, at: float | None = None) -> None:
        message = encode_event(event, len(self.messages) + 1, self.at if at is None else at, debug=True)
        if message is not None:
            self.messages.append(message)

    def _add(self, message: Mapping[str, object]) -> None:
        self.messages.append(json.dumps({**message, "seq": len(self.messages) + 1, "at": round(self.at, 3)}))


_SPOKEN = frozenset({"TextChunk", "OutputTranscript", "ThoughtChunk", "CodeChunk"})
_HEARD = frozenset({"InputTranscript", "VoiceActivity"})


def _without_media(message: Message) -> tuple[Message, bool]:
    """A server message without the sound and pictures in it, and whether there were any."""
    turn = _object(_object(message, "serverContent"), "modelTurn")
    parts = _objects(turn, "parts")
    rest = [part for part in parts if "inlineData" not in part]
    if len(rest) == len(parts):
        return message, False
    content = {**message["serverContent"], "modelTurn": {**turn, "parts": rest}}
    return {**message, "serverContent": content}, True


def _closed_with(code: int, reason: str) -> str:
    return f"closed with {code}: {reason}" if reason else f"closed with {code}"


def _value(response: Message) -> object:
    """The value of a response, without its wrapping."""
    return next(iter(response.values())) if len(response) == 1 else response


def _object(holder: Message, key: str) -> Message:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _objects(holder: Message, key: str) -> list[Message]:
    value = holder.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
