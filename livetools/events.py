"""The events of a session: frozen dataclasses, made to be matched on.

::

    async for event in session:
        match event:
            case AudioChunk(data=pcm): speaker.write(pcm)
            case Interrupted(): speaker.flush()
            case ToolFinished(call=call, response=response): ...

``call`` is always a :class:`Call`: what the server asked for, never the library's own record of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from .errors import described, detached, values_of
from .setup import price


@dataclass(frozen=True, slots=True)
class Call:
    """A function call as the model made it.

    ``id`` is the server's, or, if it gave none (older Vertex models), one of our own that is never sent. ``args`` are
    the arguments as they came, not yet validated.

    ::

        case ToolStarted(call=Call(name="get_weather", args={"city": city})):
            print(f"asks for the weather in {city}")
    """

    id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)  # any JSON value


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the service counted them, of one turn or of several.

    ``modalities`` splits them by kind, as far as the service does: ``{"prompt_audio": 165, "response_audio": 42}``
    (the rest of a count is text). ``model`` is the model that was used, for :attr:`cost`. ``raw`` is the service's own
    object, of one turn.

    Example: ``session.usage.cost`` after a conversation, or ``reply.usage.total_tokens`` after an ``ask``.

    ::

        reply = await session.ask("Weather in Oslo?")
        print(reply.usage.total_tokens, "tokens of", session.usage.total_tokens)
    """

    prompt_tokens: int = 0
    response_tokens: int = 0
    total_tokens: int = 0
    thoughts_tokens: int = 0
    tool_use_tokens: int = 0
    cached_tokens: int = 0
    raw: Mapping[str, Any] = field(default_factory=dict)
    modalities: Mapping[str, int] = field(default_factory=dict)
    model: str = field(default="", compare=False)

    def __add__(self, other: Usage) -> Usage:
        """The sum of two turns; ``raw`` is dropped, because it describes one turn."""
        one, two = self.modalities, other.modalities
        kinds = {kind: one.get(kind, 0) + two.get(kind, 0) for kind in {**one, **two}}
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return Usage(**counts, modalities=kinds, model=other.model or self.model)

    @property
    def cost(self) -> float | None:
        """The price in US dollars, by the lists of ``genai-prices`` (the extra ``price``).

        ``None`` if that package is not installed or does not know the model, or if nothing was counted. The lists are
        as old as the installed package, so this is an estimate of the service's bill. The first access loads the
        package, which takes some tenths of a second.
        """
        if not (self.total_tokens and self.model):
            return None
        counts = {name: getattr(self, name) for name in _COUNTS}
        return price.estimate(self.model, counts, self.modalities)


_COUNTS = [each.name for each in fields(Usage) if each.name.endswith("_tokens")]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a transcript; ``start`` and ``end`` are seconds from the start of the audio, where told."""

    word: str
    start: float | None = None
    end: float | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The setup is complete. ``id`` is the server's session id (Vertex), or ``None``.

    ``voice_consent`` is the signature that the service gives for a replicated voice whose owner has consented. Pass it
    in the next session instead of the recorded consent. It is not printed.

    ::

        case SessionStarted(id=id):
            print("the session is open:", id)
    """

    id: str | None = None
    voice_consent: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of the model's text.

    ::

        case TextChunk(text):
            print(text, end="")
    """

    text: str


@dataclass(frozen=True, slots=True)
class ThoughtChunk:
    """A piece of a thought summary.

    ::

        case ThoughtChunk(text):  # where the config asks: thinking_config={"include_thoughts": True}
            print("thinks:", text)
    """

    text: str


@dataclass(frozen=True, slots=True)
class AudioChunk:
    """A piece of the model's speech: 16-bit little-endian mono PCM at ``rate`` Hz.

    ::

        case AudioChunk(data=pcm, rate=rate):
            speaker.write(pcm)
            print(f"{len(pcm) / 2 / rate:.2f} s of speech")
    """

    data: bytes
    rate: int = 24000

    def __repr__(self) -> str:
        return f"AudioChunk(data=<{len(self.data)} bytes>, rate={self.rate})"


@dataclass(frozen=True, slots=True)
class VideoChunk:
    """A piece of an avatar's video (Vertex AI): for ``video/mp4`` a fragment with audio.

    ::

        case VideoChunk(data=fragment, mime_type="video/mp4"):
            film.write(fragment)
            print(len(fragment), "bytes")
    """

    data: bytes
    mime_type: str

    def __repr__(self) -> str:
        return f"VideoChunk(data=<{len(self.data)} bytes>, mime_type={self.mime_type!r})"


@dataclass(frozen=True, slots=True)
class InputTranscript:
    """A piece of what the user said, as the service heard it. Join the pieces. Do not wait for ``finished``: it is
    often never true.

    An ``interim`` piece (transcribe-live) is a guess: it replaces the guess before it, and the next piece that is not
    ``interim`` replaces it. ``language`` (BCP-47), ``speaker``, ``words``, and ``start`` and ``end`` (seconds into the
    audio) are set if the config asks for them and the service sends them.

    ::

        case InputTranscript(text, interim=False):
            print("user:", text)
    """

    text: str
    finished: bool = False
    language: str | None = None
    speaker: str | None = None
    words: tuple[Word, ...] = ()
    interim: bool = False
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class OutputTranscript:
    """A piece of the transcript of what the model says. ``start`` and ``end`` are seconds into the audio, where told.

    ::

        case OutputTranscript(text):
            print(text, end="")
    """

    text: str
    finished: bool = False
    language: str | None = None
    words: tuple[Word, ...] = ()
    start: float | None = None
    end: float | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call arrived. Its handler serves it; if it has none, ``session.respond`` must answer it.

    ::

        case ToolStarted(call) if not session.tools[call.name]:  # it has no handler: the program answers
            await session.respond(call, "12 °C")
            print("answered", call.name)
    """

    call: Call


class _HoldsError:
    """Of an exception in it a copy keeps the class's name and the text, and two events are equal if these are."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and values_of(self, described) == values_of(other, described)

    def __hash__(self) -> int:
        return hash(values_of(self, described))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), values_of(self, detached)


@dataclass(frozen=True, slots=True, eq=False)
class ToolProgress(_HoldsError):
    """A tool reported ``value`` with ``context.progress``, or a generator yielded it.

    ::

        case ToolProgress(call, value):
            print(f"{call.name}: {value}")
    """

    call: Call
    value: object


@dataclass(frozen=True, slots=True, eq=False)
class ToolFinished(_HoldsError):
    """A tool ended. ``response`` is the JSON object that the model gets, ``elapsed`` the seconds since the call came.

    ``ran`` is false if the tool's function never began: the call was refused, or its arguments were invalid.
    ``error``: what was raised; copies of the event keep its class's name and its text, and comparisons use these.

    ::

        case ToolFinished(call, response, error, elapsed):
            print(f"{call.name} {'failed' if error else 'answered'} in {elapsed:.1f} s: {response}")
    """

    call: Call
    response: Mapping[str, Any]
    error: Exception | None
    elapsed: float
    ran: bool = True


@dataclass(frozen=True, slots=True)
class ToolCancelled:
    """The service cancelled the call; nothing is sent for it.

    ::

        case ToolCancelled(call):
            print(call.name, "was cancelled")
    """

    call: Call


@dataclass(frozen=True, slots=True)
class ToolLost:
    """The connection of the call is lost. ``delivery`` is ``"text"`` (the result follows as text) or ``"dropped"``.

    In the rare case that five connections in a row end on that text, the event comes again, with ``"dropped"``.

    ::

        case ToolLost(call, delivery="dropped"):
            print("the model will not hear the result of", call.name)
    """

    call: Call
    delivery: str


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person: answer with ``session.approve(call)`` or ``session.refuse(call, reason)``.

    ::

        case ApprovalRequested(call):
            if call.args.get("guests", 0) < 9:
                await session.approve(call)
                print("approved", call.name)
            else:
                await session.refuse(call, "Groups book by telephone.")
    """

    call: Call


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The model's turn was cut off. Discard the audio that you have not played yet.

    ::

        case Interrupted():
            speaker.flush()
            print("silence")
    """


@dataclass(frozen=True, slots=True)
class GenerationComplete:
    """The model has generated everything for this turn. Playback may still continue.

    ::

        case GenerationComplete():
            print("nothing more will be generated for this turn")
    """


#: The reason of a turn that was cut off because its connection was replaced.
REPLACED = "CONNECTION_REPLACED"
#: The reason of a ``TurnComplete`` that ends no turn of its own: what was pending at the last one is over.
SETTLED = "NOTHING_PENDING"


@dataclass(frozen=True, slots=True)
class TurnComplete:
    """The model's turn is over. ``reason`` is ``None``, or says why it ended early (``MALFORMED_FUNCTION_CALL`` …).

    Two reasons are livetools' own. ``CONNECTION_REPLACED``: the connection was lost or replaced in the middle of the
    turn, whose rest is lost. ``NOTHING_PENDING``: something was pending at the last ``TurnComplete``, and has ended
    without another turn (a result that the model does not speak of, two texts that it has answered together). So a
    loop that leaves at ``TurnComplete`` when ``session.pending`` is empty always leaves.

    ``status`` is the model's ``interactionStatus``, if it sends one; with ``IN_PROGRESS`` the model continues.
    ``first_output`` and ``last_output`` are the seconds from the end of the user's input to the first and to the last
    audio or text of the turn; ``None`` if the user had not spoken or the model said nothing. Equality
    ignores both.

    ::

        case TurnComplete(reason=None):
            print("your turn")
        case TurnComplete(reason=reason):
            print("the turn ended early:", reason)
    """

    reason: str | None = None
    status: str | None = None
    waiting_for_input: bool = False
    first_output: float | None = field(default=None, compare=False)
    last_output: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class UsageUpdate:
    """Tokens of the turn.

    ::

        case UsageUpdate(usage):
            print(usage.total_tokens, "tokens")
    """

    usage: Usage


@dataclass(frozen=True, slots=True)
class VoiceActivity:
    """The service heard speech begin (``kind="start"``) or end (``"end"``), ``offset`` seconds into the audio.

    ::

        case VoiceActivity(kind="start", offset=seconds):
            print("somebody speaks since", seconds)
    """

    kind: str
    offset: float | None = None


@dataclass(frozen=True, slots=True)
class CodeChunk:
    """Code that the model runs, or its result (``language`` is then the outcome, such as ``OUTCOME_OK``).

    If the code is really a function call, ``tool`` names the function. ``id``: the service gives code and its result
    the same one, if any.

    ::

        case CodeChunk(code, language="PYTHON"):
            print("runs:", code)
        case CodeChunk(code, language=outcome):
            print(outcome, code)
    """

    code: str
    language: str
    tool: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sources of the answer, search results and URLs, as the service sent them.

    A tool that the service runs itself, such as a search, is reported here too: its call as ``{"toolCall": {...}}``,
    then what it found as ``{"toolResponse": {...}}``, each with ``id`` and ``toolType``.

    ::

        case Grounding(metadata):
            for chunk in metadata.get("groundingChunks", ()):
                print("source:", chunk["web"]["uri"])
    """

    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GoAway:
    """The service will cut this connection in ``time_left`` seconds (``None``: it did not say).

    ::

        case GoAway(time_left=seconds):
            print("this connection ends in", seconds, "s; the session moves to another by itself")
    """

    time_left: float | None


@dataclass(frozen=True, slots=True)
class HandleUpdate:
    """A new session handle: ``connect(..., handle=handle)`` resumes from here, in another process too.

    ::

        case HandleUpdate(handle):
            saved["handle"] = handle
            print("resumable")
    """

    handle: str


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The connection is lost. Attempt number ``attempt`` to reconnect begins in ``delay`` seconds.

    ::

        case Reconnecting(attempt, delay, cause):
            print(f"dial {attempt} in {delay:.1f} s: {cause}")
    """

    attempt: int
    delay: float
    cause: str


@dataclass(frozen=True, slots=True)
class Reconnected:
    """A new connection is open. ``state_restored``: the service accepted the handle and remembers the conversation.

    ::

        case Reconnected(state_restored=False):
            print("the service has forgotten the conversation, and was sent its transcript")
    """

    state_restored: bool


@dataclass(frozen=True, slots=True)
class HandedOff:
    """The model now has another agent's instructions and tools. ``name`` is the agent's.

    ::

        case HandedOff(name):
            print("you speak with", name)
    """

    name: str | None


@dataclass(frozen=True, slots=True)
class Stalled:
    """Nothing came for ``seconds``, although ``waiting_for`` is expected.

    ::

        case Stalled(waiting_for, seconds):
            print(f"nothing for {seconds:.0f} s; expected: {waiting_for}")
    """

    waiting_for: str
    seconds: float


@dataclass(frozen=True, slots=True)
class InputDropped:
    """``count`` frames of input were not sent, or not sent again; ``reason`` says why.

    Mostly audio or video. A text is dropped only if one connection after another ended on it.

    ::

        case InputDropped(count, reason):
            print(f"{count} frames were not sent: {reason}")
    """

    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class UnknownMessage:
    """A message, or a part of one, that this version does not know. ``raw`` is the message as it came.

    ::

        case UnknownMessage(raw):
            print("please report:", raw)
    """

    raw: object


Event: TypeAlias = (
    SessionStarted | TextChunk | ThoughtChunk | AudioChunk | VideoChunk | InputTranscript | OutputTranscript
    | ToolStarted | ToolProgress | ToolFinished | ToolCancelled | ToolLost | ApprovalRequested
    | Interrupted | GenerationComplete | TurnComplete | UsageUpdate | VoiceActivity | CodeChunk | Grounding
    | GoAway | HandleUpdate | HandedOff | Reconnecting | Reconnected | Stalled | InputDropped | UnknownMessage
)  # fmt: skip
