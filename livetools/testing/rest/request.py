"""Runs one REST request as a short session of the pretend model.

REST has no session: each request brings the whole conversation. So the model's coroutine runs from its beginning for
each, and its calls are answered from the conversation as far as that goes; the first that is not ends the
response. What was said before the last answers was said then, and is not repeated.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NoReturn

from livetools.testing.messages.client_schema import decode_base64
from livetools.testing.messages.output import pieces
from livetools.testing.model.fake_call import FakeCall, declarations
from livetools.testing.model.turn import Turn, TurnCancelled
from livetools.testing.service import Service
from livetools.testing.wire import Message

from .http import HttpError, error
from .request_contents import last_turn, merged, parts_of


class _Paused(TurnCancelled):
    """The rest of the turn waits for the answers that the next request brings."""


class RestChannel:
    """What a :class:`Turn` speaks through when it came by REST: the same verbs as a Live session.

    What only a socket can do (raw frames, cancellations, goAway) does nothing; ``close`` and ``drop`` are
    errors of the service.
    """

    def __init__(self, service: Service, body: Message, model: str) -> None:
        self.service = service
        self.id = f"{service.chance.getrandbits(64):016x}"
        self.setup = body
        self.model = model
        self.history: list[Message] = body.get("contents") or []
        self.finish = "STOP"
        self._said = ""
        asked, after = last_turn(merged(self.history))
        self._asked = asked
        self._steps = [content for content in after if parts_of(content, "functionResponse")]
        self._questions = [content for content in after if parts_of(content, "functionCall")]
        self._calls: list[FakeCall] = []
        self._emit: Callable[[Message], Awaitable[None]] | None = None

    async def run(self, emit: Callable[[Message], Awaitable[None]]) -> None:
        """Run the model; ``emit`` receives each part of the response. Raises ``HttpError`` if the model raises."""
        self._emit = emit
        text = "\n".join(text for content in self._asked for text in parts_of(content, "text"))
        blobs = [blob for content in self._asked for blob in parts_of(content, "inlineData")]
        sound = [b for b in blobs if str(b.get("mimeType", "")).startswith("audio/")]
        audio = b"".join(decode_base64(str(blob.get("data", ""))) for blob in sound)
        turn = Turn(self, text, audio)
        try:
            await self.service.model(turn)
        except TurnCancelled:
            return
        except HttpError:
            raise  # the model closed, as it meant to
        except Exception as fault:
            self.service.log.fail("the pretend model", fault)
            raise error(500, "Internal error encountered.") from fault

    def declarations(self) -> dict[str, Message]:
        """The declared functions by name; none where ``toolConfig`` forbids calls."""
        mode = ((self.setup.get("toolConfig") or {}).get("functionCallingConfig") or {}).get("mode")
        return {} if mode == "NONE" else declarations(self.setup)

    # -- what a turn does

    async def ask(self, turn: Turn, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[FakeCall]:
        """Call: answered from the conversation, or made in this response."""
        asked = [FakeCall(None, name, args, connection=0) for name, args in calls]
        for call in asked:
            if not self._replay(call):
                await self._make(call)
            self._calls.append(call)
        return asked

    def _replay(self, call: FakeCall) -> bool:
        """Give the call the next answer that the conversation has, if it has one left."""
        if not self._steps:
            return False
        answers, questions = parts_of(self._steps[0], "functionResponse"), self._questions[0]["parts"]
        answer = answers.pop(0)
        question = next(part for part in questions if "functionCall" in part)
        call.id = question["functionCall"].get("id")
        self._steps[0] = {**self._steps[0], "parts": [{"functionResponse": each} for each in answers]}
        self._questions[0] = {"parts": [part for part in questions if part is not question]}
        if not answers:
            del self._steps[0], self._questions[0]
        call.responses.append(answer)
        call.end("answered")
        for known in self.service.log.calls:
            if known.id is not None and known.id == call.id and known.state == "lost":
                known.responses, known.state = [answer], "answered"
        return True

    async def _make(self, call: FakeCall) -> None:
        mode = ((self.setup.get("toolConfig") or {}).get("functionCallingConfig") or {}).get("mode")
        if mode == "NONE":
            self.finish = "UNEXPECTED_TOOL_CALL"
            raise _Paused("toolConfig forbids calls")
        call.id = f"call_{self.service.chance.randrange(10**7):07d}"
        call.end("lost")  # nobody owes an answer: REST may stop here
        self.service.log.calls.append(call)
        part: Message = {"functionCall": {"name": call.name, "args": call.args, "id": call.id}}
        if self.model.startswith("gemini-3"):
            part["thoughtSignature"] = "bGl2ZXRvb2xz"
        await self._out(part)

    async def answer(self, turn: Turn, call: FakeCall) -> Message:
        """The answer, if the conversation had it; otherwise this response ends here."""
        if call.state != "answered":
            raise _Paused("the answer comes with the next request")
        return call.response

    def call(self, id: str) -> FakeCall:
        """The call with this id."""
        return next(call for call in reversed(self._calls) if id in (call.id, call.name))

    async def say(self, turn: Turn, text: str, audio: bytes | None) -> None:
        """Say it, unless it was said in an earlier response of this turn."""
        if self._steps:
            return
        self._said += text
        for piece in pieces(text):
            await self._out({"text": piece})

    async def _out(self, part: Message) -> None:
        assert self._emit is not None
        await self._emit(part)

    async def close(self, code: int, reason: str) -> NoReturn:
        """Raise an error of the service, which is the closest that REST has."""
        raise error(500, reason or "Internal error encountered.")

    async def drop(self) -> NoReturn:
        """See :meth:`close`."""
        await self.close(1006, "")

    async def _nothing(self, *_: object) -> None:
        """What only a socket can do."""

    send_raw = cancel = say_interrupted = go_away = fault = _nothing

    def response(self, parts: list[Message], *, last: bool = False) -> Message:
        """A response object with these parts, entered in the log."""
        prompt, made = len(str(self.history)) // 4 + 1, -(-len(self._said) // 4)
        candidate: Message = {"content": {"parts": parts, "role": "model"}, "index": 0}
        answer: Message = {
            "candidates": [candidate | ({"finishReason": self.finish} if last else {})],
            "usageMetadata": {
                "promptTokenCount": prompt,
                "candidatesTokenCount": made,
                "totalTokenCount": prompt + made,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
            },
            "modelVersion": self.model,
            "responseId": self.id,
        }
        self.service.record("server", 0, answer)
        return answer
