"""Refuses well-formed messages that the service or one model does not take: a table of rules.

Each rule looks at one kind of message and gives back the close, or ``None``. The texts are the service's own
where a public report shows them (2025-06 to 2026-10); where none does, the general text of the service is used,
and ``why`` says in the server's log what was wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from livetools.setup.model_profiles import ModelProfile
from livetools.testing.auth.client_identity import ClientIdentity
from livetools.testing.service import Service
from livetools.testing.wire import Message, ServiceRefusal

from .fake_session import FakeSession
from .user_input import rate_of

_Verdict: TypeAlias = ServiceRefusal | None

_INVALID = "Request contains an invalid argument."
FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
BAD_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A setup and who sent it, before there is a session."""

    service: Service
    who: ClientIdentity
    setup: Message
    profile: ModelProfile
    resumed: FakeSession | None = None  # the conversation of its handle

    def config(self, *path: str) -> Any:  # any JSON value; None if the setup does not have it
        value: Any = self.setup
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def declarations(self) -> Iterator[tuple[str, Message]]:
        """Each function declaration with its path."""
        for n, tool in enumerate(self.setup.get("tools") or []):
            for m, declaration in enumerate(tool.get("functionDeclarations") or []):
                yield f"tools[{n}].function_declarations[{m}]", declaration


def setup_fault(arrival: Arrival) -> _Verdict:
    """The first rule that this setup breaks."""
    return next((fault for rule in SETUP if (fault := rule(arrival))), None)


def message_fault(session: FakeSession, kind: str, body: Message) -> _Verdict:
    """The first rule that this message breaks, in the state that the session is in."""
    return next((fault for rule in _MESSAGES.get(kind, ()) if (fault := rule(session, body))), None)


# -- the setup


def _key(arrival: Arrival) -> _Verdict:
    keys, credential = arrival.service.api_keys, arrival.who.credential
    if keys is None or (credential or "").startswith("auth_tokens/"):
        return None
    if credential is None:
        return ServiceRefusal(
            1008,
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API.",
            "no key in x-goog-api-key, none in ?key=",
        )
    if not credential:
        return ServiceRefusal(1007, "API Key not found. Please pass a valid API key.", "the key is empty")
    if credential not in keys:
        return ServiceRefusal(1007, "API key not valid. Please pass a valid API key.", "not one of api_keys")
    return None


def _model(arrival: Arrival) -> _Verdict:
    if arrival.profile.known or arrival.service.profile is not None:
        return None
    name = arrival.setup.get("model") or ""
    if arrival.who.vertex:
        reason = f"Publisher Model `{name}` was not found or your project does not have access to it."
    else:
        reason = (
            f"{name} is not found for API version {arrival.who.version}, or is not supported for "
            "bidiGenerateContent. Call ModelService.ListModels to see the list of available models."
        )
    return ServiceRefusal(
        1008, reason, "no model family of this name; FakeLiveServer(profile=...) takes any name"
    )


def _modality(arrival: Arrival) -> _Verdict:
    wanted = arrival.config("generationConfig", "responseModalities") or []
    if len(wanted) > 1:
        return ServiceRefusal(1007, _INVALID, "a Live session answers in one modality")
    if not wanted or wanted[0] in arrival.profile.modalities:
        return None
    can = ", ".join(sorted(arrival.profile.modalities))
    why = f"this model answers in {can}"
    if wanted[0] == "TEXT":
        return ServiceRefusal(*arrival.profile.refuses_text_with, why)
    reason = f"The requested combination of response modalities ({wanted[0]}) is not supported by the model."
    return ServiceRefusal(1007, reason, why)


def _thinking(arrival: Arrival) -> _Verdict:
    thinking = arrival.config("generationConfig", "thinkingConfig") or {}
    level, profile = thinking.get("thinkingLevel"), arrival.profile
    if level is None and profile.thinking_level == "required":
        return ServiceRefusal(
            1007, "Thinking level must be specified for this model.", "thinkingLevel is required"
        )
    if level is not None and profile.thinking_level == "refused":
        return ServiceRefusal(
            1007, "Thinking level is not supported for this model.", "it thinks without levels"
        )
    if level is not None and level not in profile.thinking_levels:
        return ServiceRefusal(
            1007, _INVALID, f"its thinking levels are {', '.join(sorted(profile.thinking_levels))}"
        )
    if "thinkingBudget" in thinking and profile.thinking_budget == "refused":
        return ServiceRefusal(
            1007, "Thinking budget is not supported for this model.", "it has no thinking budget"
        )
    return None


def _proactivity(arrival: Arrival) -> _Verdict:
    asked, verdict = arrival.setup.get("proactivity"), arrival.profile.proactivity
    if asked is None:
        return None
    if verdict == "refused":
        return ServiceRefusal(1007, _INVALID, "this model cannot be proactive")
    if verdict == "always" and False in asked.values():
        return ServiceRefusal(
            1007, _INVALID, "this model is always proactive, and that cannot be switched off"
        )
    return None


def _extras(arrival: Arrival) -> _Verdict:
    profile = arrival.profile
    for path, verdict in (
        (("avatarConfig",), profile.avatar),
        (("generationConfig", "translationConfig"), profile.translation),
        (("contextWindowCompression",), profile.compression),
    ):
        if arrival.config(*path) is not None and verdict == "refused":
            return ServiceRefusal(1007, _INVALID, f"this model does not take {'.'.join(path)}")
    # 3.8 takes the field and closes at the first content (2026-09-25): see content()
    affective = arrival.config("generationConfig", "enableAffectiveDialog")
    if affective and profile.affective_dialog == "refused" and profile.proactivity != "always":
        return ServiceRefusal(1007, _INVALID, "this model has no affective dialog")
    unsupported = set(arrival.config("generationConfig") or {}) & UNSUPPORTED
    if unsupported:
        return ServiceRefusal(1007, _INVALID, f"Live takes no generationConfig.{min(unsupported)}")
    return None


UNSUPPORTED = frozenset(
    {
        "responseLogprobs",
        "responseMimeType",
        "logprobs",
        "responseSchema",
        "responseJsonSchema",
        "stopSequences",
        "routingConfig",
        "audioTimestamp",
    }
)


def _coverage(arrival: Arrival) -> _Verdict:
    coverage = arrival.config("realtimeInputConfig", "turnCoverage")
    if coverage in (None, "TURN_COVERAGE_UNSPECIFIED") or coverage in arrival.profile.turn_coverages:
        return None
    reason = f"Invalid value at 'setup.realtime_input_config.turn_coverage' (TurnCoverage), \"{coverage}\""
    return ServiceRefusal(1007, reason, "Vertex AI does not take this turn coverage (2026-10-09)")


def _voice(arrival: Arrival) -> _Verdict:
    path = ("generationConfig", "speechConfig", "voiceConfig", "prebuiltVoiceConfig", "voiceName")
    voice = arrival.config(*path)
    if voice is None or voice in arrival.profile.voices:
        return None
    reason = f"Requested voice api_name '{voice}' is not available for model {arrival.setup.get('model')}"
    return ServiceRefusal(1007, reason, f"its voices are {', '.join(sorted(arrival.profile.voices))}")


def _builtin_tools(arrival: Arrival) -> _Verdict:
    profile, tools = arrival.profile, arrival.setup.get("tools") or []
    named = {name for tool in tools for name in tool}
    strange = (named & {"googleSearch", "codeExecution", "urlContext", "googleMaps"}) - profile.builtin_tools
    if strange - profile.idle_tools:
        return ServiceRefusal(1007, _INVALID, f"this model has no {', '.join(sorted(strange))}")
    if "functionDeclarations" not in named:
        return None
    if not profile.functions:
        return ServiceRefusal(1007, _INVALID, "this model calls no functions")
    if "googleSearch" in named and not profile.mixes_search:
        return ServiceRefusal(1007, _INVALID, "this model takes googleSearch or functions, not both")
    return None


def _functions(arrival: Arrival) -> _Verdict:
    seen: set[str] = set()
    for path, declaration in arrival.declarations():
        name = declaration.get("name") or ""
        if not FUNCTION_NAME.fullmatch(name):
            return ServiceRefusal(1007, BAD_NAME, f"setup.{path}.name is {name!r}")
        if name in seen:
            return ServiceRefusal(1007, f"Duplicate function declaration found: {name}", f"setup.{path}")
        seen.add(name)
        if declaration.get("behavior") == "BLOCKING" and arrival.profile.blocking == "refused":
            reason = "BLOCKING function calls are not supported for this model."
            return ServiceRefusal(1007, reason, f"setup.{path}.behavior: leave it out, or say NON_BLOCKING")
        if "parameters" in declaration and "parametersJsonSchema" in declaration:
            return ServiceRefusal(
                1007, _INVALID, f"setup.{path}: parameters or parametersJsonSchema, not both"
            )
        parameters, vertex = declaration.get("parameters"), arrival.who.vertex
        if fault := parameters_fault(parameters, f"setup.{path}.parameters", vertex=vertex):
            return fault
        if takes_nothing(parameters):
            arrival.service.note(f"setup.{path}.parameters is an empty object, which older services refuse")
    if len(seen) > 512:
        return ServiceRefusal(
            1007, "At most 512 function declarations can be specified.", f"there are {len(seen)}"
        )
    return None


def _handle(arrival: Arrival) -> _Verdict:
    handle = arrival.config("sessionResumption", "handle")
    if not handle:
        return None
    session = arrival.resumed
    if session is None:
        return ServiceRefusal(
            *arrival.profile.unknown_handle, f"the handle {handle!r} is unknown or has expired"
        )
    if _name(session.setup) != _name(arrival.setup):
        return ServiceRefusal(
            1007, "Invalid session handle", f"it belongs to a session of {_name(session.setup)}"
        )
    if session.connection is not None and session.connection.open:
        return ServiceRefusal(
            1011, "Internal error encountered.", "a resume is refused while the old connection is open"
        )
    return None


def _name(setup: Message) -> str:
    return str(setup.get("model", "")).rsplit("/", 1)[-1]


def _token(arrival: Arrival) -> _Verdict:
    service = arrival.service
    if service.api_keys is None and arrival.who.credential not in service.tokens.known:
        return None
    return service.tokens.fault(arrival.who.credential, service.clock.now())


SETUP: tuple[Callable[[Arrival], _Verdict], ...] = (
    _key,
    _token,
    _model,
    _functions,
    _builtin_tools,
    _modality,
    _thinking,
    _proactivity,
    _extras,
    _coverage,
    _voice,
    _handle,
)


# -- what follows it


def _roles(session: FakeSession, body: Message) -> _Verdict:
    for content in body.get("turns") or []:
        role = content.get("role")
        if role is None and session.profile.needs_role:
            return ServiceRefusal(1007, _INVALID, "this model wants a role on each turn")
        if role not in (None, "user", "model"):
            return ServiceRefusal(
                1007, "Please use a valid role: user, model.", f"the role {role!r} is not one of Live's"
            )
        answers = any("functionResponse" in part for part in content.get("parts") or [])
        if role == "model" and answers:
            reason = "Content with role 'model' can't contain 'functionResponse' part"
            return ServiceRefusal(1007, reason, "an answer is the user's")
    return None


def _mid_session(session: FakeSession, _: Message) -> _Verdict:
    if session.profile.content_mid_session != "refused" or session.input.seeding or not session.queue.begun:
        return None
    return ServiceRefusal(
        1007, _INVALID, "this model takes clientContent only before its first turn; send realtime text"
    )


def _seeded_calls(session: FakeSession, body: Message) -> _Verdict:
    if session.profile.seed_functions != "refused":
        return None
    parts = (part for content in body.get("turns") or [] for part in content.get("parts") or [])
    if not any("functionCall" in part for part in parts):
        return None
    # Met with pydantic-ai 2.68.
    return ServiceRefusal(1007, _INVALID, "this model takes no function calls in a history; leave them out")


def _affective(session: FakeSession, _: Message) -> _Verdict:
    asked = (session.setup.get("generationConfig") or {}).get("enableAffectiveDialog")
    if asked and session.profile.affective_dialog == "refused":
        return ServiceRefusal(1007, _INVALID, "this model has no affective dialog, and says so only now")
    return None


def _chunks(session: FakeSession, body: Message) -> _Verdict:
    if "mediaChunks" in body and session.profile.media_chunks == "refused":
        reason = "realtime_input.media_chunks is deprecated. Use audio, video, or text instead."
        return ServiceRefusal(1007, reason, "only older models take mediaChunks")
    return None


def _activity(session: FakeSession, body: Message) -> _Verdict:
    manual, active = session.input.manual, session.input.in_activity
    if not manual and ("activityStart" in body or "activityEnd" in body):
        reason = "Explicit activity control is not supported when automatic activity detection is enabled."
        return ServiceRefusal(1007, reason, "set automaticActivityDetection.disabled")
    if manual and body.get("audioStreamEnd"):
        return ServiceRefusal(1007, _INVALID, "audioStreamEnd belongs to automatic activity detection")
    sound = "audio" in body or "mediaChunks" in body
    if manual and sound and not (active or "activityStart" in body):
        return ServiceRefusal(
            1007, _INVALID, "audio outside an activity, and automatic activity detection is off"
        )
    if "activityEnd" in body and active and session.input.empty and session.profile.turn_complete:
        return ServiceRefusal(1007, _INVALID, "an activity without sound or text")
    return None


def _rate(session: FakeSession, body: Message) -> _Verdict:
    mime = str((body.get("audio") or {}).get("mimeType") or "")
    if "audio" not in body:
        return None
    if not mime.startswith("audio/"):
        return ServiceRefusal(1007, _INVALID, f"audio of the type {mime!r}; audio/pcm;rate=16000 is usual")
    before, rate = session.input.rate, rate_of(mime)
    if before is not None and rate != before:
        reason = f"Sample rate changed from previously {before} to {rate}, which is not supported."
        return ServiceRefusal(1007, reason, "the sample rate of a session cannot change")
    return None


def _blocked(session: FakeSession, body: Message) -> _Verdict:
    if session.profile.input_while_blocked != "closes" or "text" in body:
        return None
    waiting = [call for call in session.open_calls() if call.blocking]
    if not waiting:
        return None
    reason = "Operation is not implemented, or supported, or enabled."
    return ServiceRefusal(1008, reason, f"realtime input while a blocking call is open: {waiting[0]}")


def _answers(session: FakeSession, body: Message) -> _Verdict:
    """The function responses among the parts of a conversation."""
    for content in body.get("turns") or []:
        for part in content.get("parts") or []:
            if (refused := _reference(part.get("functionResponse") or {})) is not None:
                return refused
    return None


def _reference(answer: Message) -> _Verdict:
    """A key ``$ref`` in a response is the display name of one of its parts."""
    names = {
        held.get("displayName")
        for part in answer.get("parts") or []
        for held in (part.get("inlineData"), part.get("fileData"))
        if held
    }
    for name in _references(answer.get("response")):
        if name not in names:
            reason = f"The referenced name `{name}` does not match to a display_name"
            return ServiceRefusal(
                1007, reason, "a key $ref in a response names a part; send other references as text"
            )
    return None


def _references(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from _references(inner)


def _responses(session: FakeSession, body: Message) -> _Verdict:
    for response in body.get("functionResponses") or []:
        if "scheduling" in response and session.profile.scheduling == "refused":
            reason = "Function response scheduling is not supported for this model."
            return ServiceRefusal(1007, reason, "leave scheduling out of the response")
        if (refused := _reference(response)) is not None:
            return refused
        for part in response.get("parts") or []:
            mime = (part.get("inlineData") or part.get("fileData") or {}).get("mimeType")
            if mime not in session.profile.media:
                return ServiceRefusal(1007, _INVALID, f"this model reads no {mime} in FunctionResponse.parts")
    return None


def _update(session: FakeSession, _: Message) -> _Verdict:
    if session.profile.context_update != "refused":
        return None
    reason = 'Invalid JSON payload received. Unknown name "contextUpdate": Cannot find field.'
    return ServiceRefusal(1007, reason, "only 3.8 and later take contextUpdate")


_MESSAGES: dict[str, tuple[Callable[[FakeSession, Message], _Verdict], ...]] = {
    "clientContent": (_affective, _roles, _mid_session, _seeded_calls, _answers),
    "realtimeInput": (_affective, _chunks, _activity, _rate, _blocked),
    "toolResponse": (_responses,),
    "contextUpdate": (_update,),
}


# -- the schemas of parameters

_FORMATS = {"STRING": {"enum", "date-time"}}  # what the Gemini API takes; numbers take any


def parameters_fault(parameters: Message | None, path: str, *, vertex: bool = False) -> ServiceRefusal | None:
    """The first thing in a function's ``parameters`` that the service would close for; ``None`` if nothing is.

    An OBJECT without properties is taken here and nowhere below: 2.5 native audio completed a setup with one and
    called the function (a recording of 2025-09), and so does ``generateContent``.
    """
    return None if takes_nothing(parameters) else schema_fault(parameters, path, vertex=vertex)


def takes_nothing(parameters: Message | None) -> bool:
    """Whether these are the parameters of a function without any, written as an empty object."""
    said = {key: value for key, value in (parameters or {}).items() if value}
    kind = str(said.pop("type", "OBJECT")).upper()
    return "properties" in (parameters or {}) and kind == "OBJECT" and set(said) <= {"description", "title"}


def schema_fault(schema: Message | None, path: str, *, vertex: bool = False) -> ServiceRefusal | None:
    """The first thing in this schema that the service would close for; ``None`` if nothing is."""
    if schema is None:
        return None
    kind = str(schema.get("type") or "").upper()
    if kind == "ARRAY" and "items" not in schema:
        return ServiceRefusal(1007, f"* {path}.items: missing field.", "an ARRAY says what its items are")
    properties = schema.get("properties") or {}
    if kind == "OBJECT" and "properties" in schema and not properties:
        return ServiceRefusal(
            1007, f"* {path}.properties: should be non-empty for OBJECT type", "leave parameters out"
        )
    missing = [name for name in schema.get("required") or [] if name not in properties]
    if missing:
        reason = f"* {path}.required[0]: property is not defined"
        return ServiceRefusal(1007, reason, f"required names {missing[0]!r}, which is not a property")
    wrong = schema.get("format")
    if wrong is not None and not vertex and kind in _FORMATS and wrong not in _FORMATS[kind]:
        reason = f"* {path}.format: only 'enum' and 'date-time' are supported for STRING type"
        return ServiceRefusal(1007, reason, f"the format {wrong!r}")
    inner = [(f"{path}.properties[{name}]", each) for name, each in properties.items()]
    inner += [(f"{path}.items", schema["items"])] if "items" in schema else []
    inner += [(f"{path}.any_of[{n}]", each) for n, each in enumerate(schema.get("anyOf") or [])]
    return next((fault for where, each in inner if (fault := schema_fault(each, where, vertex=vertex))), None)
