"""The JSON messages between a page and the relay. The TypeScript types of the client are made from these classes.

A message has a ``type``. Events bear the names and the fields of the classes in :mod:`livetools.events`;
what is the relay's own is written in small letters.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, get_args

from pydantic import (
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticSerializationError, from_json, to_json

from livetools.errors import (
    AuthenticationError,
    ConfigError,
    ConnectFailed,
    LiveToolsError,
    ModelNotFound,
    QuotaExceeded,
    SessionClosed,
)
from livetools.events import (
    AudioChunk,
    Call,
    Event,
    HandleUpdate,
    Reconnecting,
    UnknownMessage,
    UsageUpdate,
    VideoChunk,
)

from .limits import MAX_EVENT, MAX_REF, MAX_TEXT

#: Hz of the microphone's sound that a page sends: 16-bit little-endian mono PCM.
INPUT_RATE = 16_000
#: Hz of the speech that a page is sent, until an ``audio_format`` says otherwise.
OUTPUT_RATE = 24_000

#: The subprotocol of this version, and the one that says that a ``resume`` comes first.
PROTOCOL = "livetools.v1"
RESUME = "livetools.resume"

#: Events that are not sent as JSON: sound is sent as binary messages, a handle is a secret, and an unknown message
#: may hold one.
NOT_SENT = (AudioChunk, HandleUpdate, UnknownMessage)
#: Events that are not kept for a page that comes back, and so have no number.
UNNUMBERED = (VideoChunk,)

#: Digits of the largest integer that is a number in a browser: 1.8e308.
_MAX_DIGITS = 308

ErrorCode: TypeAlias = Literal["bad_message", "too_large", "busy", "refused"]


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True)


class Resume(_Command):
    """Continue the session of this token; ``after`` is the last ``seq`` that the page has."""

    type: Literal["resume"]
    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    after: Annotated[int, Field(ge=0)] = 0


class Text(_Command):
    """A typed turn of the user. A ``ref`` comes back in its ``user_text``, or in the ``error`` that refuses it."""

    type: Literal["text"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=r"\S")]
    ref: Annotated[str, StringConstraints(max_length=MAX_REF)] | None = None


class Video(_Command):
    """One frame of a camera or a screen: a JPEG or a PNG, in base64. About one a second is looked at."""

    type: Literal["video"]
    data: Base64Bytes


class AudioEnd(_Command):
    """The microphone is off: the speech that was sent is complete."""

    type: Literal["audio_end"]


class ActivityStart(_Command):
    """The user begins to speak. Only where ``ready.activity`` is ``manual``."""

    type: Literal["activity_start"]


class ActivityEnd(_Command):
    """The user has spoken."""

    type: Literal["activity_end"]


class Interrupt(_Command):
    """Stop the model's turn."""

    type: Literal["interrupt"]


class Approve(_Command):
    """Let the call run that waits for an approval."""

    type: Literal["approve"]
    id: str


class Refuse(_Command):
    """Refuse the call that waits for an approval; the model reads the reason."""

    type: Literal["refuse"]
    id: str
    reason: Annotated[str, StringConstraints(max_length=MAX_TEXT)] = ""


class Respond(_Command):
    """Answer a call to a function that is only declared, and so runs in the page. ``error``: it failed, and why."""

    type: Literal["respond"]
    id: str
    value: Any = None
    error: Annotated[str, StringConstraints(max_length=MAX_TEXT)] | None = None


class Ping(_Command):
    """Ask for a ``pong`` with the same ``id``: how long is the way?"""

    type: Literal["ping"]
    id: int


class End(_Command):
    """End the session now, not after the time it would be kept."""

    type: Literal["end"]


Command: TypeAlias = (
    Resume
    | Text
    | Video
    | AudioEnd
    | ActivityStart
    | ActivityEnd
    | Interrupt
    | Approve
    | Refuse
    | Respond
    | Ping
    | End
)


class Ready(TypedDict):
    """The session is open. Events up to ``seq`` that follow are those that the page has missed."""

    type: Literal["ready"]
    token: str
    resumed: bool
    seq: int
    at: float  # now, in seconds since the session was opened
    missed: int  # events that the page has not seen and that were dropped
    model: str
    tools: list[str]
    declared_only: list[str]  # those of the tools that the page answers, with respond
    activity: Literal["automatic", "manual"]
    input_rate: int
    output_rate: int
    linger: float
    agent: str | None  # the name of the agent that a hand-off made active; none before
    heartbeat: float  # seconds within which the relay sends something, if only an ``alive``


class UserText(TypedDict):
    """A typed turn was accepted. It is sent to the model after those before it."""

    type: Literal["user_text"]
    seq: int
    at: float
    text: str
    ref: NotRequired[str]  # as in the text


class AgentNow(TypedDict):
    """The session has other tools, or another agent: after a hand-off, and when the program changed them."""

    type: Literal["agent"]
    seq: int
    at: float
    name: str | None
    tools: list[str]
    declared_only: list[str]


class Alive(TypedDict):
    """Nothing else was sent for ``ready.heartbeat`` seconds."""

    type: Literal["alive"]


class Pong(TypedDict):
    """The answer to a ``ping``."""

    type: Literal["pong"]
    id: int


class Approved(TypedDict):
    """The call may run: a page has approved it, or the tool's own rule needs no person."""

    type: Literal["approved"]
    seq: int
    at: float
    id: str


class AudioFormat(TypedDict):
    """The binary messages that follow are of this rate, in Hz."""

    type: Literal["audio_format"]
    seq: int
    at: float
    rate: int


class Dropped(TypedDict):
    """Speech was dropped because no page has read it in time."""

    type: Literal["dropped"]
    seq: int
    at: float
    seconds: float


class Refused(TypedDict):
    """A message of the page was not accepted. The conversation continues."""

    type: Literal["error"]
    code: ErrorCode
    message: str
    ref: NotRequired[str]  # of the text that was not accepted


class Ended(TypedDict):
    """The session is over, and the websocket is closed next. ``error`` is the class of what ended it."""

    type: Literal["ended"]
    seq: NotRequired[int]  # absent where no session was opened
    at: NotRequired[float]
    error: str | None
    message: str
    retryable: bool


PageMessage: TypeAlias = (
    Ready | UserText | AgentNow | Approved | AudioFormat | Dropped | Refused | Ended | Alive | Pong
)

_commands: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="type")])


def read_command(text: str) -> Command:
    """Parse a message of a page. Raises ``ValueError``; its text is meant for the author of the page."""
    try:
        return _commands.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def reference(text: str) -> str | None:
    """The ``ref`` of a message that is not a command, so that its page learns which one was not accepted."""
    try:
        message = from_json(text)
    except ValueError:
        return None
    ref = message.get("ref") if isinstance(message, dict) else None
    return ref[:MAX_REF] if isinstance(ref, str) else None


#: The fields of each event, and whether they are sent.
_FIELDS = {kind: [(each.name, each.repr) for each in dataclasses.fields(kind)] for kind in get_args(Event)}


def encode_event(
    event: Event,
    seq: int,
    at: float,
    more: Mapping[str, object] = MappingProxyType({}),
    debug: bool = False,
) -> str | None:
    """The JSON message for an event; ``None`` for one that is not sent to pages.

    ``more`` are fields that the event itself does not have.
    An exception is sent as the name of its class, and of a lost connection no cause (unless ``debug`` is set): the text
    may hold what only the server should see. What an event
    does not print (the signature of a consented voice) is not sent. Values that make
    the message larger than ``MAX_EVENT`` are left out, and ``truncated`` is true.
    """
    if isinstance(event, NOT_SENT):
        return None
    kind = type(event)
    values = {name: getattr(event, name) if shown else None for name, shown in _FIELDS[kind]}
    if isinstance(event, UsageUpdate):
        values["usage"] = {**dataclasses.asdict(event.usage), "cost": event.usage.cost}
    if isinstance(error := values.get("error"), Exception):
        values["error"] = type(error).__name__
    if isinstance(event, Reconnecting) and not debug:
        values["cause"] = "the connection to the service was lost"
    head = {"type": kind.__name__, "seq": seq, "at": round(at, 3), **more}
    text = _json({**head, **values})
    if text is not None and len(text) <= MAX_EVENT:
        return text
    return _json({**head, **_without_bulk(values), "truncated": True})


def shows_whole(message: str, call: Call) -> bool:
    """Whether the page that reads ``message`` sees every argument of ``call`` as it would run.

    Not where the arguments were left out, nor where JSON in a browser says something else: infinite numbers, integers
    that are infinite there, text that is not Unicode.
    """
    try:
        shown = json.loads(message, parse_int=_browser_int)["call"]["args"]
    except (ValueError, RecursionError):
        return False
    return bool(shown == dict(call.args))


def _browser_int(digits: str) -> int | None:
    """The integer; ``None`` where a browser would read ``Infinity``."""
    return int(digits) if len(digits) <= _MAX_DIGITS else None


def encode_video(chunk: VideoChunk) -> str:
    """A piece of an avatar's picture, in base64."""
    data = base64.b64encode(chunk.data).decode()
    return to_json({"type": "VideoChunk", "data": data, "mime_type": chunk.mime_type}).decode()


#: What a page learns about an error, by its class. The first class that matches counts.
_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (AuthenticationError, "the service does not accept the server's credentials"),
    (QuotaExceeded, "the server's quota at the service is used up"),
    (ModelNotFound, "the model is not available"),
    (SessionClosed, "the service has closed the session"),
    (ConnectFailed, "the service could not be reached"),
)


def ending(error: Exception | None, debug: bool = False) -> Ended:
    """The message for the end of a session.

    A page learns only the kind of an error, unless ``debug`` says that it is the developer's own. The text goes to
    the log: it may name hosts, projects, files and functions of the server, or quote the service about them.
    """
    if error is None:
        return {"type": "ended", "error": None, "message": "the session is over", "retryable": False}
    if debug:
        return {"type": "ended", "error": type(error).__name__, "message": str(error), "retryable": False}
    ours = isinstance(error, LiveToolsError) and not isinstance(error, ConfigError)
    return {
        "type": "ended",
        "error": type(error).__name__ if ours else "ServerFailed",
        "message": next((text for kind, text in _KINDS if isinstance(error, kind)), "the server failed"),
        "retryable": isinstance(error, SessionClosed) and error.retryable,
    }


def closing(ended: Ended) -> tuple[int, str]:
    """The close code and reason that go with it."""
    return (1000 if ended["error"] is None else 1011), ended["message"]


def encode(message: PageMessage) -> str:
    """A message of the relay's own as JSON."""
    return to_json(message).decode()


def _json(value: object) -> str | None:
    try:
        return to_json(value, bytes_mode="base64", inf_nan_mode="null", fallback=_plain).decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        return None


def _plain(value: object) -> object:
    """A JSON value for what pydantic cannot serialise: other mappings, and any object that a tool reported."""
    if isinstance(value, Mapping):
        return dict(value)
    try:
        return repr(value)[:1000]
    except Exception:
        return f"<{type(value).__name__}>"


def _without_bulk(values: Mapping[str, Any]) -> dict[str, Any]:  # fields of any event
    """The fields of an event without their large values; a call without its arguments."""
    kept: dict[str, Any] = {}
    for name, value in values.items():
        if name == "call":
            kept[name] = {"id": value.id, "name": value.name[:1000], "args": {}}
        elif isinstance(value, bool | int | float | None):
            kept[name] = value
        elif isinstance(value, str):
            kept[name] = value[:1000].encode(errors="replace").decode()
        else:
            text = _json(value)
            kept[name] = value if text is not None and len(text) <= MAX_EVENT // 4 else None
    return kept
