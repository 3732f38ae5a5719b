"""The profile of each model family: what it accepts and how it behaves, as dated facts.

A profile is asked in one file, :mod:`livetools.setup.plan`; the fake server plays the same facts from the
other side. A verdict says what the service does with a thing that is sent to it:

- ``"honoured"``: it takes it and acts on it.
- ``"ignored"``: it accepts it, without any effect.
- ``"refused"``: it closes the connection, in the setup or later.

What nobody has measured is permitted: the defaults of :class:`ModelProfile` are the profile of an unknown
model. Facts that hold for one API and not for the other (``transparent``, ``explicitVadSignal``, avatars) are
fields too: :func:`find` is asked with ``vertex=``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias

from .did_you_mean import explains_keywords

Treatment: TypeAlias = Literal["honoured", "ignored", "refused"]

# fmt: off
HALF_CASCADE_VOICES = frozenset({"Zephyr", "Puck", "Charon", "Kore", "Fenrir", "Leda", "Orus", "Aoede"})
VOICES = HALF_CASCADE_VOICES | {
    "Callirrhoe", "Autonoe", "Enceladus", "Iapetus", "Umbriel", "Algieba", "Despina", "Erinome", "Algenib",
    "Rasalgethi", "Laomedeia", "Achernar", "Alnilam", "Schedar", "Gacrux", "Pulcherrima", "Achird",
    "Zubenelgenubi", "Vindemiatrix", "Sadachbia", "Sadaltager", "Sulafat",
}
TURN_COVERAGES = frozenset({
    "TURN_INCLUDES_ONLY_ACTIVITY", "TURN_INCLUDES_ALL_INPUT", "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO",
})
# fmt: on
NO_TEXT = (1007, "The requested combination of response modalities (TEXT) is not supported by the model.")

#: Seconds of silence behind audioStreamEnd, where it takes silence to end a turn. Half a second before it was seen not
#: to be enough; what follows it is heard as the same utterance (openclaw#152830, 2026-09-19).
CLOSING_SILENCE = 1.0

# pydantic-ai 2.68: 3.1 and 3.8 read these in a function response, a PDF closes 1007 (2026-09-28).
MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "text/plain"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """The part of a profile that a session acts on while it runs. It is a part of each plan too."""

    # function calls
    media: frozenset[str] = MEDIA_TYPES  # MIME types it reads in FunctionResponse.parts; others close 1007
    answers_lost: bool = True  # a resumed session waits for an error for each call that was lost
    closes_lost: bool = False  # after the errors for all lost calls it sends an empty turn

    # what it is sent, and when
    text_channel: Literal["client_content", "realtime"] = "client_content"  # for the user's text
    content_mid_session: Treatment = "honoured"  # clientContent after the first turn
    stream_end_ends_turn: bool = True  # audioStreamEnd ends the user's turn; False: only silence does
    context_update: Treatment = "refused"  # contextUpdate
    empty_turn: Treatment = "ignored"  # turnComplete without turns makes it speak unprompted

    # the session
    seed: Literal["client_content", "initial_history", "none"] = "client_content"  # how it takes history
    seed_functions: Treatment = "ignored"  # function parts in a seed; ignored: lost at a resumption
    seed_ends_with_user: bool = False  # a seed must end with a user's turn

    # what it sends
    idle_signal: bool = False  # interactionStatus; a turn ends with IDLE, not with turnComplete


@explains_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile(SessionFacts):
    """How one model family behaves. Each field has a default that permits; ``ModelProfile(input_block=True)``.

    ::

        profile = ModelProfile(family="of our own", input_block=True)  # no audio is sent while a call blocks the model
        async with connect(MODEL, tools=[get_weather], profile=profile) as session:
            print(session.profile.family)
    """

    family: str = "unknown"  # what messages call it
    known: bool = True  # False: nothing is known of this model, and the plan says so
    vertex: bool = False  # Vertex AI: candidatesTokenCount, sessionId, id styles

    # function calls
    functions: bool = True  # takes function declarations at all
    default_behavior: Literal["BLOCKING", "NON_BLOCKING"] = "BLOCKING"  # if the declaration omits it
    blocking: Treatment = "honoured"  # behavior: BLOCKING
    non_blocking: Treatment = "honoured"  # behavior: NON_BLOCKING
    states_behavior: bool = True  # the declaration always says it, even by default (livekit#7302)
    scheduling: Treatment = "honoured"  # FunctionResponse.scheduling, on a NON_BLOCKING call
    will_continue: Treatment = "honoured"  # FunctionResponse.willContinue, on a NON_BLOCKING call
    call_ends_turn: bool = False  # a blocking call also ends its turn, with a turnComplete
    json_schema: Treatment = "honoured"  # parametersJsonSchema; ignored: the calls come with empty args
    needs_name: bool = False  # responses must include the function name
    call_ids: Literal["function-call", "uuid", "call", "none"] = "function-call"  # what its ids look like
    builtin_tools: frozenset[str] = frozenset({"googleSearch", "codeExecution", "urlContext", "googleMaps"})
    idle_tools: frozenset[str] = frozenset()  # accepted, though it does not have them; never used
    mixes_search: bool = True  # googleSearch beside function declarations

    # what it is sent, and when
    needs_role: bool = False  # a turn without a role closes 1007
    input_block: bool = False  # audio and video must not be sent while a blocking call is open
    input_while_blocked: Literal["accepted", "closes", "cancels"] = "accepted"  # what such input does
    text_interrupts: bool = True  # text sent while it speaks cuts the reply; False: it finishes first
    media_chunks: Treatment = "refused"  # realtimeInput.mediaChunks

    # setup
    modalities: frozenset[str] = frozenset({"AUDIO", "TEXT", "VIDEO"})  # what it can answer with
    default_modality: str = "AUDIO"
    refuses_text_with: tuple[int, str] = NO_TEXT
    voices: frozenset[str] = VOICES
    thinking_level: Treatment | Literal["required"] = "honoured"
    thinking_levels: frozenset[str] = frozenset({"MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"})
    thinking_budget: Treatment = "honoured"
    proactivity: Treatment | Literal["always"] = "honoured"  # always: it is on and cannot be set
    affective_dialog: Treatment = "honoured"
    avatar: Treatment = "honoured"
    explicit_vad_signal: Treatment = "honoured"
    transparent: Treatment = "refused"  # sessionResumption.transparent
    turn_coverages: frozenset[str] = TURN_COVERAGES
    compression: Treatment = "honoured"  # contextWindowCompression
    everywhere: bool = True  # served from Vertex AI's location "global"
    translation: Treatment = "honoured"  # translationConfig
    window: int = 131_072  # tokens

    # the session
    resumption: bool = True  # gives handles
    handle_at_setup: Literal["never", "asked", "always"] = "never"  # a handle comes right after setupComplete
    handle_every: float | None = None  # seconds between handles while nothing happens; None: after turns
    unknown_handle: tuple[int, str] = (1008, "Requested entity was not found.")

    # what it sends
    empty_frames: bool = False  # {} between content frames
    combines: bool = False  # one event may hold audio, transcript and turnComplete together
    turn_complete: bool = True  # False: its turns end with generationComplete, without usage


def find(model: str, *, vertex: bool = False) -> ModelProfile:
    """The profile of ``model``: a name, with any path before it (``models/…``, ``projects/…/models/…``).

    A family is found by the longest prefix. An unknown model gets the permissive profile, ``known=False``.
    """
    name = model.rsplit("/", 1)[-1].lower()
    prefix = max((p for p in _FAMILIES if name.startswith(p)), key=len, default=None)
    profile = ModelProfile(known=False) if prefix is None else _FAMILIES[prefix]
    return _for_api(profile, vertex)


def families() -> tuple[str, ...]:
    """The names that :func:`find` knows, each the beginning of models' names."""
    return tuple(_FAMILIES)


@cache  # a few, which all sessions share
def _for_api(profile: ModelProfile, vertex: bool) -> ModelProfile:
    if not vertex:
        # Unknown name "transparent" at 'setup.session_resumption' (2026-09-10); google-genai 3.6.1 does not send
        # explicitVadSignal there; avatars are refused there (2026-10-09).
        return replace(profile, transparent="refused", explicit_vad_signal="refused", avatar="refused")
    return replace(
        profile,
        vertex=True,
        transparent="honoured",
        # google-genai 3.6.1 converts willContinue for the Gemini API only.
        will_continue="ignored",
        # 1007 Invalid value at 'setup.realtime_input_config.turn_coverage' on v1 and v1beta1 (2026-10-09).
        turn_coverages=profile.turn_coverages - {"TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"},
        call_ids="uuid",
        **_ON_VERTEX.get(profile.family, {}),
    )


# pipecat#4448: no NON_BLOCKING on Vertex 2.5; livekit-plugins-google 1.8.9 drops scheduling there.
# Google announced modes for 2026-04-28; nobody has measured them. The default is BLOCKING either way.
_TWO_FIVE = {"non_blocking": "ignored", "scheduling": "ignored", "states_behavior": False}
_ON_VERTEX: Mapping[str, dict[str, Any]] = {
    # pydantic-ai 2.68: gemini-live-2.5-flash ends a call's own turn with a turnComplete that holds usage.
    "half-cascade": {**_TWO_FIVE, "call_ends_turn": True},
    "gemini-2.5 native audio": _TWO_FIVE,
    # docs.cloud.google.com (2026-09): us-central1, us, eu; not global. It shows avatars (2026-10-09).
    "gemini-3.8-live": {"modalities": frozenset({"AUDIO", "VIDEO"}), "everywhere": False},
}


# ai.google.dev models page and public reports, 2025-06 to 2025-12 (shut down on the Gemini API 2025-12-09).
# js-genai's recordings show their frames. Cookbook Get_started_LiveAPI_tools: search, code, functions mix.
_HALF_CASCADE = ModelProfile(
    family="half-cascade",
    json_schema="ignored",  # python-genai#1147 (2025-07): args {} always
    media=frozenset(),
    answers_lost=False,
    builtin_tools=frozenset({"googleSearch", "codeExecution", "urlContext"}),
    input_block=True,
    input_while_blocked="closes",
    text_interrupts=False,
    media_chunks="honoured",
    modalities=frozenset({"AUDIO", "TEXT"}),
    voices=HALF_CASCADE_VOICES,
    thinking_level="ignored",
    thinking_budget="ignored",
    proactivity="refused",
    affective_dialog="refused",
    translation="refused",
    window=32_768,
    seed_functions="refused",
    seed_ends_with_user=True,
)

_NATIVE_2_5 = ModelProfile(
    family="gemini-2.5 native audio",
    json_schema="ignored",  # python-genai#1147 (2025-07)
    media=frozenset(),  # pydantic-ai 2.68: it guesses what the image shows
    answers_lost=False,  # pydantic-ai 2.68: it ignores the late response
    builtin_tools=frozenset({"googleSearch"}),  # code execution closes 1007 (pydantic-ai#7269, 2026-08)
    idle_tools=frozenset({"urlContext"}),  # accepted but useless (pydantic-ai#7269, 2026-08)
    mixes_search=False,  # 1007 (2026-09-17)
    input_block=True,  # js-genai#1236 (2026-01), adk#4679: 1008 "Operation is not implemented, or supported, ..."
    input_while_blocked="closes",
    text_interrupts=False,  # pydantic-ai 2.68: it finishes first
    media_chunks="honoured",
    modalities=frozenset({"AUDIO"}),
    refuses_text_with=(1007, "Cannot extract voices from a non-audio request."),  # adk#866
    thinking_level="refused",  # it has a budget; only 3.x has levels
    translation="refused",
    seed_functions="refused",  # pydantic-ai 2.68: 1007
    seed_ends_with_user=True,  # pipecat#4355 (2026-04)
)

_FLASH_3_1 = ModelProfile(
    family="gemini-3.1-flash-live",
    # Accepted, and silent until the result (pydantic-ai 2.68, gemini-skills; against Patter#210, 2026-07-03).
    non_blocking="ignored",
    scheduling="ignored",
    will_continue="ignored",
    answers_lost=True,  # a guess: not measured, taken to be as 3.8
    builtin_tools=frozenset({"googleSearch"}),
    text_channel="realtime",
    content_mid_session="refused",  # adk#5018 (2026-03): 1007 once the first turn was had
    input_block=True,  # livekit#5556 (2026-04): after 12 s of audio the call is cancelled, and made again
    input_while_blocked="cancels",
    modalities=frozenset({"AUDIO"}),
    refuses_text_with=(1011, "Internal error encountered."),
    proactivity="refused",
    affective_dialog="refused",  # 1007 (2026-09-25), or a setup that never completes (Patter#210)
    translation="refused",
    compression="honoured",  # adk#6455 (2026-07): accepted, and one report saw no effect
    handle_at_setup="always",  # 2026-09-17: unasked, too
    handle_every=1.2,
    seed="initial_history",
    seed_functions="ignored",  # pydantic-ai 2.68: lost at a resumption
    empty_frames=True,
    combines=True,
)

# GA 2026-09-15. Measured 2026-09-16 to 2026-10-09 by several; pydantic-ai 2.68 and "What the Gemini Live API
# actually does" (2026-09-17) agree where both looked.
_LIVE_3_8 = ModelProfile(
    family="gemini-3.8-live",
    default_behavior="NON_BLOCKING",  # pydantic-ai 2.68 (2026-09-16): turnComplete comes with the call
    call_ids="call",
    answers_lost=True,  # else the next user turn only closes the old exchange (pydantic-ai 2.68)
    closes_lost=True,  # the error closes it, with an empty turn (pydantic-ai 2.68)
    builtin_tools=frozenset({"googleSearch"}),
    needs_role=True,  # 1007 "Request contains an invalid argument." (2026-09-17)
    input_block=False,  # openclaw#152830 (2026-09-19): it needs unbroken audio
    input_while_blocked="cancels",  # Vertex migration page: new user input cancels a blocking call
    stream_end_ends_turn=False,  # openclaw#152830
    context_update="honoured",
    empty_turn="honoured",  # "What the Gemini Live API actually does" (2026-09-17)
    modalities=frozenset({"AUDIO"}),
    thinking_level="refused",  # 1007 "Thinking level is not supported for this model" (openclaw#152413)
    thinking_budget="refused",
    proactivity="always",
    affective_dialog="refused",  # the setup passes, the first content frame closes 1007 (2026-09-25)
    translation="refused",
    handle_at_setup="asked",
    seed="initial_history",
    seed_functions="honoured",  # pydantic-ai 2.68
    empty_frames=True,
    combines=True,
)

_THINKING_3_8 = replace(
    _LIVE_3_8,
    family="gemini-3.8-live-extended-thinking",
    blocking="refused",  # 1007 "BLOCKING function calls are not supported for this model" (pydantic-ai 2.68)
    scheduling="refused",  # 1007 "Function response scheduling is not supported..." (openclaw#152413)
    will_continue="ignored",  # openclaw#152413: an interim makes it abandon the call
    json_schema="ignored",  # aiden#708 (2026-09): the model writes its plan as text and does not call
    needs_name=True,  # roomkit#42 (2026-09-18): "a system error occurred"
    thinking_level="required",  # 1007 "Thinking level must be specified..." (pydantic-ai 2.68)
    thinking_levels=frozenset({"LOW", "MEDIUM", "HIGH"}),
    idle_signal=True,
)

_TRANSLATE_3_5 = ModelProfile(
    family="gemini-3.5-live-translate",
    functions=False,
    builtin_tools=frozenset(),
    modalities=frozenset({"AUDIO"}),
    proactivity="refused",
    affective_dialog="refused",
    seed="none",
    empty_frames=True,
)

# Probed 2026-09-10: no turnComplete, no usage, no handles, ten minutes.
_TRANSCRIBE_3_5 = ModelProfile(
    family="gemini-3.5-transcribe-live",
    functions=False,
    builtin_tools=frozenset(),
    content_mid_session="ignored",
    modalities=frozenset({"TEXT"}),
    default_modality="TEXT",
    proactivity="refused",
    affective_dialog="refused",
    translation="refused",
    compression="ignored",
    resumption=False,
    unknown_handle=(1008, "BidiGenerateContent session not found"),
    seed="none",
    turn_complete=False,
)

_FAMILIES = {
    "gemini-2.0-flash-exp": _HALF_CASCADE,
    "gemini-2.0-flash-live": _HALF_CASCADE,
    "gemini-live-2.5-flash": _HALF_CASCADE,
    "gemini-live-2.5-flash-native-audio": _NATIVE_2_5,
    "gemini-live-2.5-flash-preview-native-audio": _NATIVE_2_5,
    "gemini-2.5-flash-native-audio": _NATIVE_2_5,
    "gemini-2.5-flash-preview-native-audio": _NATIVE_2_5,
    "gemini-2.5-flash-exp-native-audio": _NATIVE_2_5,
    "gemini-3.1-flash-live": _FLASH_3_1,
    "gemini-3.8-live": _LIVE_3_8,
    "gemini-3.8-live-extended-thinking": _THINKING_3_8,
    "gemini-3.5-live-translate": _TRANSLATE_3_5,
    "gemini-3.5-transcribe-live": _TRANSCRIBE_3_5,
}
