"""Experiments on the setup: whether a setting is accepted. They cost nothing, because nobody speaks in them.

An accepted setting may still be ignored, so "honoured" and "ignored" both agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from livetools.setup.model_profiles import ModelProfile

from .experiment_steps import CODE_WORD, FIRST_CONTENT
from .experiment_types import Answer, Experiment, Facts, Read, Talk, Undecided, fixed, value
from .outcome import TalkOutcome

LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
_MODALITIES = ("AUDIO", "TEXT", "VIDEO")
COVERAGES = (
    "TURN_INCLUDES_ONLY_ACTIVITY",
    "TURN_INCLUDES_ALL_INPUT",
    "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO",
)
_TOOLS = ("googleSearch", "codeExecution", "urlContext", "googleMaps")
ACCEPTED = "accepted, though it may be ignored"
NO_SUCH_HANDLE = "7f0c2b1e-5d64-4c0e-9a53-1f8b6f2d9c11"


def _try(early: bool = False, /, **setup: object) -> Talk:
    """A session with this in its setup, and one frame of content."""
    return Talk(setup, (FIRST_CONTENT,), early)


def _generation(early: bool = False, /, **fields: object) -> Talk:
    return _try(early, generationConfig=fields)


def _accepted(field: str, early: bool = False, /, **setup: object) -> Experiment:
    """A setting that is refused or not."""

    def read(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
        outcome = outcomes["set"]
        if outcome.refused:
            return {field: Answer(("refused",), outcome.why)}
        return {field: Answer(("honoured", "ignored"), ACCEPTED)}

    return Experiment(
        fields=(field,), asks=f"Is {_name(setup)} accepted?", talks=fixed(set=_try(early, **setup)), read=read
    )


def _name(setup: Mapping[str, object]) -> str:
    [(name, inner)] = setup.items()
    return f"{name}.{_name(inner)}" if isinstance(inner, dict) and name == "generationConfig" else name


def _set_of(field: str) -> Read:
    """The names of the talks that were accepted."""

    def read(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
        accepted = frozenset(name for name, outcome in outcomes.items() if not outcome.refused)
        return {field: Answer((accepted,), _sum(outcomes))}

    return read


def _sum(outcomes: Mapping[str, TalkOutcome]) -> str:
    refused = [f"{name}: {outcome.why}" for name, outcome in outcomes.items() if outcome.refused]
    return "; ".join(refused) or "all accepted"


def _modalities(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    answers = _set_of("modalities")(outcomes, {}, known)
    text = outcomes["TEXT"]
    if text.ending is None:
        return {**answers, "refuses_text_with": Undecided("TEXT was not refused")}
    ending = (text.ending.code, text.ending.reason)
    return {**answers, "refuses_text_with": Answer((ending,), str(text.ending))}


def _thinking(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """Without a level, and with each."""
    tried = {name: outcome for name, outcome in outcomes.items() if name != "none"}
    accepted = frozenset(name for name, outcome in tried.items() if not outcome.refused)
    if not accepted:
        return {
            "thinking_level": Answer(("refused",), tried["LOW"].why),
            "thinking_levels": Undecided("the model takes no level"),
        }
    levels = Answer((accepted,), _sum(tried))
    if outcomes["none"].refused:
        return {
            "thinking_level": Answer(("required",), f"without one: {outcomes['none'].why}"),
            "thinking_levels": levels,
        }
    return {
        "thinking_level": Answer(("honoured", "ignored"), ACCEPTED),
        "thinking_levels": levels,
    }


def _proactivity(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    on, off = outcomes["on"], outcomes["off"]
    seen = _sum(outcomes)
    if on.refused:
        return {"proactivity": Answer(("refused", "always") if off.refused else ("refused",), seen)}
    return {"proactivity": Answer(("always",) if off.refused else ("honoured", "ignored"), seen)}


def _tools(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """The tools that the model accepts, without those that it is known never to use."""
    accepted = frozenset(name for name, outcome in outcomes.items() if not outcome.refused)
    return {"builtin_tools": Answer((accepted - known.idle_tools,), _sum(outcomes))}


def _mixes(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    mixed = outcomes["mixed"]
    return {"mixes_search": Answer((not mixed.refused,), mixed.why if mixed.refused else "accepted together")}


def _search_and_functions(facts: Mapping[str, Answer | Undecided]) -> str:
    tools = value(facts, "builtin_tools")
    if not isinstance(tools, frozenset) or "googleSearch" not in tools:
        return "googleSearch is not accepted alone"
    return "" if value(facts, "functions") is not False else "the model takes no functions"


def _functions(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    declared = outcomes["declared"]
    return {"functions": Answer((not declared.refused,), declared.why if declared.refused else "accepted")}


def _handle(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    ending = outcomes["handle"].ending
    if ending is None:
        return {"unknown_handle": Undecided("the connection was not closed for it")}
    return {"unknown_handle": Answer(((ending.code, ending.reason),), str(ending))}


SETUPS: tuple[Experiment, ...] = (
    Experiment(
        fields=("modalities", "refuses_text_with"),
        asks="What can it answer with? One session for each modality.",
        talks=fixed(
            **{
                name: _try(generationConfig={"responseModalities": [name]}, outputAudioTranscription=None)
                for name in _MODALITIES
            }
        ),
        read=_modalities,
    ),
    Experiment(
        fields=("thinking_level", "thinking_levels"),
        asks="Which thinking levels does it take? One session for each, and one without.",
        talks=fixed(
            none=_generation(thinkingConfig=None),
            **{level: _generation(thinkingConfig={"thinkingLevel": level}) for level in LEVELS},
        ),
        read=_thinking,
    ),
    _accepted("thinking_budget", generationConfig={"thinkingConfig": {"thinkingBudget": 512}}),
    Experiment(
        fields=("proactivity",),
        asks="Can proactivity be set, on and off? Two sessions.",
        talks=fixed(
            on=_try(True, proactivity={"proactiveAudio": True}),
            off=_try(True, proactivity={"proactiveAudio": False}),
        ),
        read=_proactivity,
    ),
    _accepted("affective_dialog", True, generationConfig={"enableAffectiveDialog": True}),
    _accepted("explicit_vad_signal", explicitVadSignal=True),
    _accepted("transparent", sessionResumption={"transparent": True}),
    _accepted("compression", contextWindowCompression={"slidingWindow": {}}),
    _accepted("translation", generationConfig={"translationConfig": {"targetLanguageCode": "de"}}),
    Experiment(
        fields=("turn_coverages",),
        asks="Which values of turnCoverage does it take? One session for each.",
        talks=fixed(**{name: _try(realtimeInputConfig={"turnCoverage": name}) for name in COVERAGES}),
        read=_set_of("turn_coverages"),
    ),
    Experiment(
        fields=("builtin_tools",),
        asks="Which built-in tools does it take? One session for each.",
        talks=fixed(**{name: _try(tools=[{name: {}}]) for name in _TOOLS}),
        read=_tools,
    ),
    Experiment(
        fields=("functions",),
        asks="Does it take function declarations?",
        talks=fixed(declared=_try(tools=[{"functionDeclarations": [CODE_WORD]}])),
        read=_functions,
    ),
    Experiment(
        fields=("mixes_search",),
        asks="Does it take googleSearch beside functions?",
        talks=fixed(mixed=_try(tools=[{"googleSearch": {}}, {"functionDeclarations": [CODE_WORD]}])),
        read=_mixes,
        needs=_search_and_functions,
    ),
    Experiment(
        fields=("unknown_handle",),
        asks="How does it refuse a handle that does not exist?",
        talks=fixed(handle=_try(sessionResumption={"handle": NO_SUCH_HANDLE})),
        read=_handle,
    ),
)
