"""A Live service of a few lines that behaves as a table says. It imports nothing of livetools.

The tables are written out by hand, from what was published of each family; a test that compares them with the profiles
of livetools compares two things that do not know each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

INVALID = "Request contains an invalid argument."
NOT_IMPLEMENTED = "Operation is not implemented, or supported, or enabled."
NO_TEXT = "The requested combination of response modalities (TEXT) is not supported by the model."
ONLY, ALL = "TURN_INCLUDES_ONLY_ACTIVITY", "TURN_INCLUDES_ALL_INPUT"
WITH_VIDEO = "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"

#: What holds unless a family says otherwise.
PLAIN: dict[str, Any] = {
    "modalities": {"AUDIO"},
    "text refusal": (1007, NO_TEXT),
    "answers with": "AUDIO",
    "level": "taken",  # refused, required
    "levels": {"MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"},
    "budget": "taken",
    "proactivity": "taken",  # refused, always
    "affective": "taken",  # refused, later (with the first content), never (no setupComplete)
    "vad signal": "refused",
    "transparent": "refused",
    "compression": "taken",
    "translation": "taken",
    "coverages": {ONLY, ALL, WITH_VIDEO},
    "tools": {"googleSearch"},
    "functions": True,
    "mixes": True,
    "unknown handle": (1008, "Requested entity was not found."),
    "first handle": "never",  # asked, always
    "handle every": None,
    "gives handles": True,
    "answers text": True,
    "reads realtime text": True,
    "status": False,
    "empty frames": False,
    "combines": False,
    "turn complete": True,
    "content": "honoured",  # ignored, refused: clientContent after the first turn
    "needs role": False,
    "text interrupts": True,
    "chunks": "refused",
    "context update": "refused",
    "empty turn": "ignored",
    "default behavior": "BLOCKING",
    "blocking": "honoured",
    "non_blocking": "honoured",
    "call ends turn": False,
    "ids": "function-call",
    "sound meets call": "nothing",  # closes, cancels
    "text meets call": "waits",  # cancels
    "needs name": False,
    "scheduling": "honoured",
    "pieces": "honoured",
    "json schema": "honoured",  # ignored, no call
}  # fmt: skip

HALF_CASCADE = {
    **PLAIN, "modalities": {"AUDIO", "TEXT"}, "proactivity": "refused", "affective": "refused",
    "translation": "refused", "tools": {"googleSearch", "codeExecution", "urlContext"}, "chunks": "taken",
    "text interrupts": False, "json schema": "ignored", "sound meets call": "closes",
}  # fmt: skip
NATIVE = {
    **PLAIN, "text refusal": (1007, "Cannot extract voices from a non-audio request."), "level": "refused",
    "translation": "refused", "tools": {"googleSearch", "urlContext"}, "mixes": False, "chunks": "taken",
    "text interrupts": False, "json schema": "ignored", "sound meets call": "closes",
}  # fmt: skip
FLASH_3_1 = {
    **PLAIN, "text refusal": (1011, "Internal error encountered."), "proactivity": "refused",
    "affective": "never", "translation": "refused", "first handle": "always", "handle every": 1.2,
    "empty frames": True, "combines": True, "content": "refused", "non_blocking": "ignored",
    "scheduling": "ignored", "pieces": "ignored", "sound meets call": "cancels",
}  # fmt: skip
LIVE_3_8 = {
    **PLAIN, "level": "refused", "budget": "refused", "proactivity": "always", "affective": "later",
    "translation": "refused", "first handle": "asked", "empty frames": True, "combines": True,
    "needs role": True, "context update": "honoured", "empty turn": "honoured",
    "default behavior": "NON_BLOCKING", "ids": "call", "text meets call": "cancels",
}  # fmt: skip
THINKING_3_8 = {
    **LIVE_3_8, "level": "required", "levels": {"LOW", "MEDIUM", "HIGH"}, "blocking": "refused",
    "scheduling": "refused", "pieces": "ignored", "json schema": "no call", "needs name": True, "status": True,
}  # fmt: skip
TRANSLATE = {
    **PLAIN, "functions": False, "tools": set(), "proactivity": "refused", "affective": "refused",
    "answers text": False, "empty frames": True,
}  # fmt: skip
TRANSCRIBE = {
    **PLAIN, "modalities": {"TEXT"}, "functions": False, "tools": set(), "proactivity": "refused",
    "affective": "refused", "translation": "refused", "answers text": False, "gives handles": False,
    "unknown handle": (1008, "BidiGenerateContent session not found"),
}  # fmt: skip

#: The beginning of a model's name → how it behaves on the Gemini API.
GEMINI: dict[str, dict[str, Any]] = {
    "gemini-2.0-flash-exp": HALF_CASCADE,
    "gemini-2.0-flash-live": HALF_CASCADE,
    "gemini-live-2.5-flash": HALF_CASCADE,
    "gemini-live-2.5-flash-native-audio": NATIVE,
    "gemini-live-2.5-flash-preview-native-audio": NATIVE,
    "gemini-2.5-flash-native-audio": NATIVE,
    "gemini-2.5-flash-preview-native-audio": NATIVE,
    "gemini-2.5-flash-exp-native-audio": NATIVE,
    "gemini-3.1-flash-live": FLASH_3_1,
    "gemini-3.8-live": LIVE_3_8,
    "gemini-3.8-live-extended-thinking": THINKING_3_8,
    "gemini-3.5-live-translate": TRANSLATE,
    "gemini-3.5-transcribe-live": TRANSCRIBE,
}

_VERTEX = {
    "vad signal": "taken", "transparent": "taken", "coverages": {ONLY, ALL}, "ids": "uuid", "pieces": "ignored",
}  # fmt: skip
_VERTEX_2_5 = {**_VERTEX, "non_blocking": "ignored", "scheduling": "ignored"}
#: And on Vertex AI.
VERTEX: dict[str, dict[str, Any]] = {
    name: {
        **table,
        **(_VERTEX_2_5 if table is HALF_CASCADE or table is NATIVE else _VERTEX),
        **({"call ends turn": True} if table is HALF_CASCADE else {}),
        **({"modalities": {"AUDIO", "VIDEO"}} if table is LIVE_3_8 else {}),
    }
    for name, table in GEMINI.items()
}


class Refusal(Exception):
    """The service closes the connection."""

    def __init__(self, code: int = 1007, reason: str = INVALID) -> None:
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class RawService:
    """``behaves`` is the table; ``setups`` and ``paths`` are what clients have sent. ``fails``: how many connections
    are cut at their setup, before any is served; ``closes`` answers every setup like this."""

    def __init__(
        self, behaves: Mapping[str, Any], fails: int = 0, closes: tuple[int, str] | None = None
    ) -> None:
        self.behaves, self.fails, self.closes = behaves, fails, closes
        self.setups: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.url = ""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[RawService]:
        async with serve(self._serve, "127.0.0.1", 0, ping_interval=None, compression=None) as server:
            self.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield self

    async def _serve(self, line: ServerConnection) -> None:
        assert line.request is not None
        self.paths.append(line.request.path)
        conversation = _Conversation(self, line)
        try:
            async for data in line:
                message = json.loads(data)
                if "setup" in message and self.fails:
                    self.fails -= 1
                    line.transport.abort()
                    return
                await conversation.hear(message)
        except Refusal as refusal:
            await line.close(refusal.code, refusal.reason)
        except ConnectionClosed:
            pass
        finally:
            conversation.end()


@contextlib.contextmanager
def serving(service: RawService) -> Iterator[RawService]:
    """The service in a thread of its own, for clients that have a loop of their own."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve_until_over() -> None:
        async with service.running():
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve_until_over()))
    thread.start()
    ready.wait()
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


class _Conversation:
    """One connection. Whatever is said is said in the order of the table's facts; nothing is random."""

    def __init__(self, service: RawService, line: ServerConnection) -> None:
        self.service, self.line, self.behaves = service, line, service.behaves
        self.vertex = "aiplatform" in service.paths[-1]
        self.setup: dict[str, Any] | None = None
        self.call: dict[str, Any] | None = None  # the open one
        self.heard = 0  # frames of sound since it was made
        self.speaking = False
        self.turns = 0
        self.word: str | None = None  # what an updated instruction makes it say
        self.timers: list[asyncio.Task[None]] = []

    def is_(self, fact: str, value: object) -> bool:
        return bool(self.behaves[fact] == value)

    async def send(self, **message: object) -> None:
        await self.line.send(json.dumps(message, indent=2).encode())

    def later(self, what: Any) -> None:
        self.timers.append(asyncio.get_running_loop().create_task(what))

    def end(self) -> None:
        for timer in self.timers:
            timer.cancel()

    async def hear(self, message: dict[str, Any]) -> None:
        if self.setup is None:
            self.setup = message["setup"]
            self.service.setups.append(self.setup)
            await self.begin(self.setup)
            return
        [(kind, body)] = message.items()
        await getattr(self, f"hear_{kind}")(body)

    # -- the setup

    async def begin(self, setup: dict[str, Any]) -> None:
        if self.service.closes is not None:
            raise Refusal(*self.service.closes)
        self.judge(setup, setup.get("generationConfig", {}))
        self.judge_tools(setup.get("tools", []))
        if self.is_("affective", "never") and "enableAffectiveDialog" in setup["generationConfig"]:
            return
        await self.send(setupComplete={"sessionId": "1"} if self.vertex else {})
        first = self.behaves["first handle"]
        if self.behaves["gives handles"] and (first == "always" or (first == "asked" and self.resumable)):
            await self.handle()
        if self.behaves["gives handles"] and self.behaves["handle every"]:
            self.later(self.handles(self.behaves["handle every"]))

    @property
    def resumable(self) -> bool:
        assert self.setup is not None
        return "sessionResumption" in self.setup

    async def handle(self) -> None:
        await self.send(sessionResumptionUpdate={"newHandle": "d0d0", "resumable": True})

    async def handles(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            await self.handle()

    def refuse(self, wrong: object, reason: str = INVALID, code: int = 1007) -> None:
        if wrong:
            raise Refusal(code, reason)

    def judge(self, setup: dict[str, Any], generation: dict[str, Any]) -> None:
        for modality in generation.get("responseModalities", []):
            if modality not in self.behaves["modalities"]:
                raise Refusal(*(self.behaves["text refusal"] if modality == "TEXT" else (1007, INVALID)))
        thinking = generation.get("thinkingConfig", {})
        level, taken = thinking.get("thinkingLevel"), self.behaves["level"]
        self.refuse(taken == "required" and level is None, "Thinking level must be specified for this model")
        self.refuse(taken == "refused" and level, "Thinking level is not supported for this model")
        self.refuse(level and level not in self.behaves["levels"], "Thinking level is not supported")
        self.refuse(self.is_("budget", "refused") and "thinkingBudget" in thinking)
        early = "proactivity" in setup or "enableAffectiveDialog" in generation
        self.refuse(early and not self.vertex and "v1alpha" not in self.service.paths[-1], "Unknown name")
        proactive = setup.get("proactivity", {}).get("proactiveAudio")
        self.refuse(self.is_("proactivity", "refused") and proactive is not None)
        self.refuse(self.is_("proactivity", "always") and proactive is False)
        self.refuse(self.is_("affective", "refused") and "enableAffectiveDialog" in generation)
        self.refuse(self.is_("vad signal", "refused") and "explicitVadSignal" in setup)
        resumption = setup.get("sessionResumption", {})
        self.refuse(
            self.is_("transparent", "refused") and "transparent" in resumption, 'Unknown name "transparent"'
        )
        self.refuse(self.is_("compression", "refused") and "contextWindowCompression" in setup)
        self.refuse(self.is_("translation", "refused") and "translationConfig" in generation)
        coverage = setup.get("realtimeInputConfig", {}).get("turnCoverage")
        self.refuse(coverage and coverage not in self.behaves["coverages"], "Invalid value at turn_coverage")
        if "handle" in resumption:
            raise Refusal(*self.behaves["unknown handle"])

    def judge_tools(self, tools: list[dict[str, Any]]) -> None:
        names = {name for tool in tools for name in tool}
        self.refuse(
            names - {"functionDeclarations"} - self.behaves["tools"], "tool is not supported for this model"
        )
        self.refuse(not self.behaves["functions"] and "functionDeclarations" in names)
        self.refuse(not self.behaves["mixes"] and len(names) > 1)
        for each in self.declared:
            wrong = self.is_("blocking", "refused") and each.get("behavior") == "BLOCKING"
            self.refuse(wrong, "BLOCKING function calls are not supported for this model")
            wrong = self.is_("non_blocking", "refused") and each.get("behavior") == "NON_BLOCKING"
            self.refuse(wrong, "NON_BLOCKING function calls are not supported for this model")
            self.refuse(self.is_("json schema", "refused") and "parametersJsonSchema" in each)

    @property
    def declared(self) -> list[dict[str, Any]]:
        assert self.setup is not None
        return [each for tool in self.setup.get("tools", []) for each in tool.get("functionDeclarations", [])]

    # -- what it hears

    async def hear_realtimeInput(self, body: dict[str, Any]) -> None:
        self.first_content()
        if "mediaChunks" in body:
            self.refuse(self.is_("chunks", "refused"), "realtime_input.media_chunks is deprecated.")
        elif "audio" in body:
            await self.hear_sound()
        elif self.behaves["reads realtime text"]:
            await self.hear_text(body["text"])

    def first_content(self) -> None:
        assert self.setup is not None
        late = self.is_("affective", "later") and "enableAffectiveDialog" in self.setup["generationConfig"]
        self.refuse(late)

    async def hear_sound(self) -> None:
        if self.call is None or not self.blocks:
            return
        self.heard += 1
        self.refuse(self.is_("sound meets call", "closes"), NOT_IMPLEMENTED, 1008)
        if self.is_("sound meets call", "cancels") and self.heard == 120:
            await self.cancel()

    async def cancel(self) -> None:
        assert self.call is not None
        await self.send(toolCallCancellation={"ids": [self.call.get("id", "")]})
        self.call = None

    async def hear_clientContent(self, body: dict[str, Any]) -> None:
        self.first_content()
        if not body.get("turns"):
            self.refuse(self.is_("empty turn", "refused"))
            if self.is_("empty turn", "honoured"):
                await self.say("How can I help?")
            return
        self.refuse(self.behaves["needs role"] and "role" not in body["turns"][0])
        self.refuse(self.turns and self.is_("content", "refused"))
        if not (self.turns and self.is_("content", "ignored")):
            await self.hear_text(body["turns"][0]["parts"][0]["text"])

    async def hear_contextUpdate(self, body: dict[str, Any]) -> None:
        self.refuse(self.is_("context update", "refused"), 'Unknown name "contextUpdate"')
        if self.is_("context update", "honoured"):
            self.word = body["systemInstruction"]["parts"][0]["text"].rstrip(".").split()[-1]

    async def hear_text(self, text: str) -> None:
        if not self.behaves["answers text"]:
            return
        if self.call is not None and self.blocks:
            if self.is_("text meets call", "waits"):
                return
            await self.cancel()
        if self.speaking:
            self.speaking = False
            if not self.behaves["text interrupts"]:
                await self.finish()
                return
            await self.send(serverContent={"interrupted": True})
        named = next((each for each in self.declared if each["name"] in text), None)
        if named is not None:
            await self.make_call(named)
        elif text.startswith("Count"):
            self.speaking = True
            await self.words("one, two")
        else:
            said = text.removeprefix("Say: ") if text.startswith("Say:") else "four"
            await self.say(self.word or said)

    # -- calls

    async def make_call(self, declaration: dict[str, Any]) -> None:
        args = {}
        if "parametersJsonSchema" in declaration:
            if self.is_("json schema", "no call"):
                await self.say("I would call a function.")
                return
            args = {"city": "Oslo"} if self.is_("json schema", "honoured") else {}
        ids = {"function-call": "function-call-395220346347865271", "call": "call_4162774", "none": None,
               "strange": "", "uuid": "0f8fad5b-d9cb-469f-a165-70867728950e"}  # fmt: skip
        self.call = {"name": declaration["name"], "args": args, "id": ids[self.behaves["ids"]]}
        if self.call["id"] is None:
            del self.call["id"]
        self.blocks = self.does_block(declaration.get("behavior"))
        self.heard = 0
        if self.is_("ids", "strange"):
            await self.send(toolCall={"functionCalls": ["a call that is no object"]})
            return
        await self.send(toolCall={"functionCalls": [self.call]})
        if not self.blocks or self.behaves["call ends turn"]:
            await self.send(serverContent={"generationComplete": True})
            await self.send(serverContent={"turnComplete": True})

    def does_block(self, stated: str | None) -> bool:
        if stated == "BLOCKING":
            return self.is_("blocking", "honoured")
        if stated == "NON_BLOCKING":
            return not self.is_("non_blocking", "honoured")
        return self.is_("default behavior", "BLOCKING")

    async def hear_toolResponse(self, body: dict[str, Any]) -> None:
        [response] = body["functionResponses"]
        self.refuse(
            self.is_("scheduling", "refused") and "scheduling" in response, "scheduling is not supported"
        )
        self.refuse(self.is_("pieces", "refused") and "willContinue" in response)
        if self.call is None or response.get("id") != self.call.get("id"):
            return
        if response.get("willContinue") and self.is_("pieces", "honoured"):
            return
        self.call = None
        if self.behaves["needs name"] and not response.get("name"):
            await self.say("A system error occurred.")
        elif not (response.get("scheduling") == "SILENT" and self.is_("scheduling", "honoured")):
            await self.say(f"It is {response['response']['output']}")

    # -- what it says

    async def say(self, words: str) -> None:
        await self.words(words)
        await self.finish()

    async def words(self, words: str) -> None:
        assert self.setup is not None
        if self.behaves["empty frames"]:
            await self.send()
        [modality] = self.setup["generationConfig"].get("responseModalities", [self.behaves["answers with"]])
        if modality == "TEXT":
            await self.send(serverContent={"modelTurn": {"parts": [{"text": words}]}})
            return
        kind = "video/mp4" if modality == "VIDEO" else "audio/pcm;rate=24000"
        turn = {"modelTurn": {"parts": [{"inlineData": {"mimeType": kind, "data": "AAAA"}}]}}
        spoken = {"outputTranscription": {"text": words}} if "outputAudioTranscription" in self.setup else {}
        if self.behaves["combines"]:
            await self.send(serverContent={**turn, **spoken})
        else:
            await self.send(serverContent=turn)
            if spoken:
                await self.send(serverContent=spoken)

    async def finish(self) -> None:
        self.turns += 1
        await self.send(serverContent={"generationComplete": True})
        status = {"interactionStatus": "IDLE"} if self.behaves["status"] else {}
        if self.behaves["turn complete"]:
            await self.send(
                serverContent={"turnComplete": True, **status}, usageMetadata={"totalTokenCount": 1}
            )
        elif status:
            await self.send(serverContent=status)
        if self.behaves["gives handles"] and self.resumable:
            await self.handle()
