"""Makes a script for ``live_server`` from the frames of a conversation: it plays the model's part again.

The script says and calls what the model said and called, in the order of the recording. Speech of the user
becomes typed text, from its transcript, because a script has no voice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from keyword import iskeyword
from typing import Any

from livetools.testing.model.late_results import late_results
from livetools.testing.wire import Frame, Message

#: What is typed for speech that nobody has written down.
_UNHEARD = "(spoken)"
#: How the answer begins that a person's, or the tool's, refusal gives.
NOT_APPROVED = "the call was not approved"


@dataclass(slots=True)
class Question:
    """One question of the user, and the answer."""

    text: str
    spoken: bool = False
    answers: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    interrupted: bool = False
    line_lost: bool = False  # the line went before it was answered: what follows is not part of the answer
    has_late_result: bool = False  # a result came as text after the answer, and the model spoke of it
    complete: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether the script continues after the answer that the user gets."""
        return self.line_lost or self.has_late_result


@dataclass(slots=True)
class ScriptLines:
    """The lines of the model's part, the questions of the user's, and the calls: refused, and answered with what."""

    lines: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    refused: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list)  # and the reason
    answered: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=list)


def script_of(frames: Iterable[Frame]) -> ScriptLines:
    """The script of a conversation. A question that was still being answered at the end is left out."""
    reader = _Reader()
    for frame in frames:
        reader.read(frame)
    return reader.script()


class _Reader:
    """Reads frames in order, and writes the script. The last whole exchange ends at ``_whole``."""

    def __init__(self) -> None:
        self._script = ScriptLines()
        self._connection = 0
        self._moving = False  # a goAway came: the next connection is planned, and a script need not show it
        self._saying = ""
        self._heard = ""
        self._sound = False  # of the user, since the last turn
        self._turn_open = False
        self._queued: list[Question] = []  # typed while the model spoke
        self._open: dict[str, tuple[int, str, Mapping[str, Any]]] = {}  # by id: number, name, arguments
        self._parts: dict[str, list[Message]] = {}  # by id: the responses that came so far
        self._count = 0
        self._whole = (0, 0)  # lines, questions

    def read(self, frame: Frame) -> None:
        """Take one frame."""
        message = frame.message
        if "_close" in message:
            return self._closed(frame.direction == "client", message["_close"])
        if frame.direction == "client":
            return self._client(message, frame.connection)
        return self._server(message)

    @property
    def _last(self) -> Question | None:
        return self._script.questions[-1] if self._script.questions else None

    def script(self) -> ScriptLines:
        """What was written, up to the last question that was answered."""
        lines, questions = self._whole
        return replace(
            self._script, lines=self._script.lines[:lines], questions=self._script.questions[:questions]
        )

    # What the client sent

    def _client(self, message: Message, connection: int) -> None:
        if "setup" in message:
            self._dialled(message["setup"], connection)
        for response in (message.get("toolResponse") or {}).get("functionResponses") or []:
            self._answered(response)
        content = message.get("clientContent") or {}
        realtime = message.get("realtimeInput") or {}
        parts = [part for turn in content.get("turns") or [] for part in turn.get("parts") or []]
        for part in parts:
            if "functionResponse" in part:
                self._answered(part["functionResponse"])
        texts = [part["text"] for part in parts if part.get("text")]
        if content.get("turnComplete") and texts:
            self._typed("\n".join(texts))
        elif str(realtime.get("text") or "").strip():
            self._typed(str(realtime["text"]))
        if "audio" in realtime:
            self._sound = True

    def _dialled(self, setup: Message, connection: int) -> None:
        first, self._connection = not self._connection, connection
        if first or self._moving or self._last is None:
            self._moving = False
            return
        handle = bool((setup.get("sessionResumption") or {}).get("handle"))
        self._write(f"await user.reconnects(handle={handle})")

    def _typed(self, text: str) -> None:
        if late := late_results(text):
            if self._last is not None:
                self._last.has_late_result = True
            self._write("turn = await user.says()  # the result of a call, as text")
            for result in late:
                self._write(f"assert {result.response!r} in turn.text")
            return None
        self._sound, self._heard = False, ""
        last = self._last
        if last is not None and last.text == text and not (last.complete or last.answers or last.calls):
            last.line_lost = False
            return self._write(f"turn = await user.says({text!r})  # sent again")
        question = Question(text)
        if self._turn_open:
            self._queued.append(question)
            return None
        return self._begin(question)

    def _begin(self, question: Question) -> None:
        if self._last is not None and self._last.goes_on:
            self._write(f"past{len(self._script.questions)}.set()")
        self._script.questions.append(question)
        self._turn_open = True
        comment = "  # spoken" if question.spoken else ""
        self._write(f"turn = await user.says({question.text!r}){comment}")

    def _answered(self, response: Message) -> None:
        key = str(response.get("id") or response.get("name"))
        self._parts.setdefault(key, []).append(response)
        if response.get("willContinue"):
            return
        parts = [part for part in self._parts.pop(key) if part.get("response")]
        known = self._open.pop(key, None)
        if known is None:
            return
        number, name, args = known
        body = parts[-1]["response"] if parts else {}
        error = str(body.get("error", ""))
        if error.startswith(NOT_APPROVED):
            self._script.refused.append((name, args, error.removeprefix(NOT_APPROVED).removeprefix(": ")))
        self._script.answered.append((name, args, body))
        self._write(f"answer{number} = await turn.answer(call{number})")
        self._write(f"assert answer{number} == {body!r}")
        self._compare(_call(number), parts)

    def _compare(self, call: str, parts: list[Message]) -> None:
        """Compare what the answer does not show: what a generator yielded before it, the scheduling, the media."""
        if len(parts) > 1:
            bodies = [part["response"] for part in parts]
            found = f"each['response'] for each in {call}.responses if each.get('response')"
            self._write(f"assert [{found}] == {bodies!r}")
        if parts and "scheduling" in parts[-1]:
            self._write(f"assert {call}.scheduling == {str(parts[-1]['scheduling']).upper()!r}")
        if kinds := [kind for part in parts for kind in _kinds(part)]:
            found = f"part['inlineData']['mimeType'] for each in {call}.responses for part in each.get('parts', [])"
            self._write(f"assert [{found}] == {kinds!r}")

    # What the server sent

    def _server(self, message: Message) -> None:
        if "goAway" in message:
            self._moving = True
        content = message.get("serverContent") or {}
        if heard := (content.get("inputTranscription") or {}).get("text"):
            self._heard += heard
        parts = (content.get("modelTurn") or {}).get("parts") or []
        spoken = (content.get("outputTranscription") or {}).get("text") or ""
        said = spoken or "".join(
            part["text"] for part in parts if part.get("text") and not part.get("thought")
        )
        calls = (message.get("toolCall") or {}).get("functionCalls") or []
        if (parts or said or calls) and self._sound and not self._turn_open:
            self._begin(Question(self._heard.strip() or _UNHEARD, spoken=True))
            self._sound, self._heard = False, ""
        self._saying += said
        for call in calls:
            self._called(call)
        if ids := (message.get("toolCallCancellation") or {}).get("ids"):
            self._cancelled(ids)
        if content.get("interrupted"):
            self._interrupted()
        if content.get("turnComplete"):
            self._ended(content.get("interactionStatus"))

    def _say(self) -> None:
        text, self._saying = self._saying, ""
        if text.strip() and self._last is not None:
            if not self._last.has_late_result:
                self._last.answers.append(text.strip())
            self._write(f"await turn.say({text!r})")

    def _called(self, call: Message) -> None:
        self._say()
        if self._last is None:
            return
        self._count += 1
        name, args = str(call.get("name")), call.get("args") or {}
        self._open[str(call.get("id") or name)] = self._count, name, args
        self._last.calls.append(name)
        self._write(f"call{self._count} = await turn.start_call({_arguments(name, args)})")

    def _cancelled(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            if (known := self._open.pop(id_, None)) is not None:
                number = known[0]
                self._write(f"await turn.cancel(call{number})")
                self._write(f"assert {_call(number)}.state == 'cancelled'  # it was still running")

    def _interrupted(self) -> None:
        self._say()
        if self._last is not None and self._turn_open:
            self._last.interrupted = True
            self._write("await turn.interrupt()")

    def _ended(self, status: str | None) -> None:
        self._say()
        last = self._last
        if last is None:
            return
        self._turn_open = status == "IN_PROGRESS"
        over = not self._open and not self._turn_open
        if over and (last.answers or last.calls or last.interrupted):
            last.complete = True
            self._whole = len(self._script.lines), len(self._script.questions)
        if not self._turn_open and self._queued:
            self._begin(self._queued.pop(0))

    def _closed(self, by_us: bool, close: Message) -> None:
        self._say()
        if by_us or self._moving or self._last is None:
            return
        self._open.clear()  # what answers them comes as text, or not at all
        self._last.line_lost = self._turn_open
        code = int(close.get("code", 1006))
        reason = str(close.get("reason", ""))
        self._write("await turn.drop()" if code == 1006 else f"await turn.close({code}, {reason!r})")

    def _write(self, line: str) -> None:
        self._script.lines.append(line)


def _call(number: int) -> str:
    """The expression for the fake server's record of a call."""
    return f"live_server.calls[{number - 1}]"


def _kinds(response: Message) -> list[str]:
    return [
        str(part["inlineData"].get("mimeType"))
        for part in response.get("parts") or []
        if "inlineData" in part
    ]


def _arguments(name: str, args: Mapping[str, Any]) -> str:
    """Positional name and keyword arguments; what cannot be a keyword goes in a dict."""
    plain = all(key.isidentifier() and not iskeyword(key) and key != "self" for key in args)
    if plain:
        return ", ".join([repr(name), *(f"{key}={value!r}" for key, value in args.items())])
    return f"{name!r}, **{dict(args)!r}"
