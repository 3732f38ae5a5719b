"""Experiments on function calls: whether a call blocks, what disturbs it, and which answers are taken."""

from __future__ import annotations

import re
from collections.abc import Mapping

from livetools.setup.model_profiles import ModelProfile

from .experiment_steps import (
    ANSWER,
    ASK_FOR_CODE_WORD,
    CODE_WORD,
    QUIET,
    SILENCE,
    WORD,
    called,
    cancelled,
    pause,
    respond,
    said_word,
    say,
    sound,
    spoke_or_cancelled,
)
from .experiment_types import Answer, Experiment, Facts, Step, Talk, Undecided, fixed, value
from .outcome import JsonObject, TalkOutcome

WEATHER: JsonObject = {
    "name": "get_weather",
    "description": "Returns the weather in a city. Call it each time the user asks for the weather.",
    "parametersJsonSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
NO_CALL = "the model did not call the function"
INTERIM = "Still looking for it."
ID_STYLES = {
    "function-call": r"function-call-\d+",
    "call": r"(call|fc)_.+",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
}


def _declared(declaration: JsonObject, behavior: str | None = None) -> Mapping[str, object]:
    stated = {**declaration, "behavior": behavior} if behavior else declaration
    return {"tools": [{"functionDeclarations": [stated]}]}


def _waits(behavior: str | None) -> Talk:
    """A call that is not answered; after a while the user says something else."""
    other = say("What is two plus two?", spoke_or_cancelled, 2 * QUIET)
    return Talk(_declared(CODE_WORD, behavior), (ASK_FOR_CODE_WORD, pause(), other))


def _behaved(outcome: TalkOutcome) -> str | None:
    """Whether the model waited for the answer: it let the other question wait, or cancelled the call for it.

    What it says right behind its call counts for nothing: speech may trail behind a call that blocks. ``None``: the
    model made no call, or the service closed the connection.
    """
    if outcome.refused or not outcome.part(0).calls:
        return None
    other = outcome.part(2)
    return "BLOCKING" if other.cancelled or not other.spoke else "NON_BLOCKING"


def _behavior(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """What a declaration makes of a call, by what it says of ``behavior``."""
    omitted, blocking = outcomes["omitted"], outcomes["BLOCKING"]
    found: Facts = {
        "blocking": _verdict(blocking, "BLOCKING"),
        "non_blocking": _verdict(outcomes["NON_BLOCKING"], "NON_BLOCKING"),
        "call_ids": _call_ids(omitted),
        "call_ends_turn": Undecided("no call blocked the model"),
        "default_behavior": Undecided(NO_CALL),
    }
    if (by_default := _behaved(omitted)) is not None:
        found["default_behavior"] = Answer((by_default,), _manner(by_default))
    waiting = next((each for each in (blocking, omitted) if _behaved(each) == "BLOCKING"), None)
    if waiting is not None:
        ended = waiting.part(0).turn_over or waiting.part(1).turn_over
        seen = f"turnComplete {'came' if ended else 'did not come'} while the call was open"
        found["call_ends_turn"] = Answer((ended,), seen)
    return found


def _verdict(outcome: TalkOutcome, wanted: str) -> Answer | Undecided:
    if outcome.refused and not outcome.part(0).calls:
        return Answer(("refused",), outcome.why)
    behaved = _behaved(outcome)
    if behaved is None:
        return Undecided(NO_CALL if not outcome.refused else outcome.why)
    return Answer(("honoured" if behaved == wanted else "ignored",), _manner(behaved))


def _manner(behaved: str) -> str:
    return "it waited for the answer" if behaved == "BLOCKING" else "it continued while the call was open"


def _call_ids(outcome: TalkOutcome) -> Answer | Undecided:
    if not (calls := outcome.part(0).calls):
        return Undecided(NO_CALL)
    name = str(calls[0].get("id", ""))
    if not name:
        return Answer(("none",), "the call had no id")
    for style, pattern in ID_STYLES.items():
        if re.fullmatch(pattern, name):
            return Answer((style,), re.sub(r"[0-9a-f]", "0", name) if style == "uuid" else f"{name[:8]}…")
    return Undecided("the id has an unknown form")


def _disturbed(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """What sound, and then text, does to a call that blocks."""
    outcome = outcomes["open"]
    during, text = outcome.part(1), outcome.part(2)
    if not outcome.part(0).calls:
        return {name: Undecided(NO_CALL) for name in ("input_block", "input_while_blocked")}
    if outcome.ending is not None and not outcome.reached(2):
        gate, effect, seen = True, "closes", f"sound: {outcome.ending}"
    elif during.cancelled:
        gate, effect, seen = True, "cancels", "sound cancelled the call"
    elif text.cancelled:
        gate, effect, seen = False, "cancels", "text cancelled the call, sound did not"
    else:
        gate, effect, seen = False, "accepted", f"{SILENCE:g} s of sound and a text did nothing to the call"
    return {"input_block": Answer((gate,), seen), "input_while_blocked": Answer((effect,), seen)}


def _a_call_blocks(facts: Mapping[str, Answer | Undecided]) -> str:
    return "" if _blocking(facts) is not None else "no call blocked the model"


def _blocking(facts: Mapping[str, Answer | Undecided]) -> Mapping[str, object] | None:
    """A declaration whose calls block this model."""
    if value(facts, "blocking") == "honoured":
        return _declared(CODE_WORD, "BLOCKING")
    return _declared(CODE_WORD) if value(facts, "default_behavior") == "BLOCKING" else None


def _while_open(facts: Mapping[str, Answer | Undecided]) -> Mapping[str, Talk]:
    other = say("What is two plus two?", cancelled, 2 * QUIET)
    return {"open": Talk(_blocking(facts) or {}, (ASK_FOR_CODE_WORD, sound(SILENCE, cancelled), other))}


def _async(facts: Mapping[str, Answer | Undecided]) -> Mapping[str, object]:
    """A declaration whose calls do not block, as far as this model has such."""
    return _declared(CODE_WORD, None if value(facts, "non_blocking") == "refused" else "NON_BLOCKING")


def _names(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    named, bare = outcomes["named"], outcomes["nameless"]
    if not _told(named, 1):
        why = "the model did not repeat the result of the function"
        return {"needs_name": Undecided(why if named.part(0).calls else NO_CALL)}
    if not bare.part(0).calls:
        return {"needs_name": Undecided(NO_CALL)}
    needed = not _told(bare, 1)
    return {
        "needs_name": Answer(
            (needed,), "without a name the result was lost" if needed else "taken without a name"
        )
    }


def _told(outcome: TalkOutcome, step: int) -> bool:
    return WORD in outcome.part(step).words


def _results_arrive(facts: Mapping[str, Answer | Undecided]) -> str:
    return "" if value(facts, "needs_name") is not None else "a plain result was not repeated either"


def _of_a_response(
    field: str, asks: str, *answers: Step, told: tuple[str, str], kept: tuple[str, str]
) -> Experiment:
    """An experiment on a field of a response, whose last step sends the word.

    ``told`` and ``kept`` are the verdict and the evidence, where the model repeats the word and where it does not.
    """

    def talks(facts: Mapping[str, Answer | Undecided]) -> Mapping[str, Talk]:
        return {"answered": Talk(_async(facts), (ASK_FOR_CODE_WORD, *answers))}

    def read(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
        outcome = outcomes["answered"]
        if not outcome.part(0).calls:
            return {field: Undecided(NO_CALL)}
        if outcome.refused:
            return {field: Answer(("refused",), outcome.why)}
        verdict, seen = told if _told(outcome, len(answers)) else kept
        return {field: Answer((verdict,), seen)}

    return Experiment(fields=(field,), asks=asks, talks=talks, read=read, needs=_results_arrive)


def _json_schema(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    outcome = outcomes["schema"]
    if outcome.refused:
        return {"json_schema": Answer(("refused",), outcome.why)}
    if not (calls := outcome.part(0).calls):
        return {"json_schema": Answer(("ignored",), "no call, though it calls functions without parameters")}
    given = bool(calls[0].get("args"))
    return {
        "json_schema": Answer(
            ("honoured",) if given else ("ignored",), f"args {'came' if given else 'were empty'}"
        )
    }


def _it_calls(facts: Mapping[str, Answer | Undecided]) -> str:
    return "" if value(facts, "call_ids") is not None else NO_CALL


def _takes_functions(facts: Mapping[str, Answer | Undecided]) -> str:
    return "" if value(facts, "functions") is not False else "the model takes no functions"


CALLS: tuple[Experiment, ...] = (
    Experiment(
        fields=("blocking", "non_blocking", "default_behavior", "call_ends_turn", "call_ids"),
        asks="Does a call block the model? Three sessions: with each behavior, and with none.",
        talks=fixed(omitted=_waits(None), BLOCKING=_waits("BLOCKING"), NON_BLOCKING=_waits("NON_BLOCKING")),
        read=_behavior,
        needs=_takes_functions,
    ),
    Experiment(
        fields=("input_block", "input_while_blocked"),
        asks="What do sound and text do to a call that blocks?",
        talks=_while_open,
        read=_disturbed,
        needs=_a_call_blocks,
    ),
    Experiment(
        fields=("needs_name",),
        asks="Does a response need the function's name? Two sessions.",
        talks=fixed(
            named=Talk(_declared(CODE_WORD), (ASK_FOR_CODE_WORD, respond(WORD, said_word, ANSWER))),
            nameless=Talk(
                _declared(CODE_WORD), (ASK_FOR_CODE_WORD, respond(WORD, said_word, ANSWER, named=False))
            ),
        ),
        read=_names,
        needs=_it_calls,
    ),
    _of_a_response(
        "scheduling",
        "Does a SILENT result stay silent?",
        respond(WORD, said_word, 2 * QUIET, scheduling="SILENT"),
        told=("ignored", "it spoke of a SILENT result"),
        kept=("honoured", "it kept a SILENT result to itself"),
    ),
    _of_a_response(
        "will_continue",
        "Can a call be answered in pieces?",
        respond(INTERIM, willContinue=True),
        respond(WORD, said_word, ANSWER, willContinue=False),
        told=("honoured", "it spoke of the second response"),
        kept=("ignored", "it never spoke of the second response"),
    ),
    Experiment(
        fields=("json_schema",),
        asks="Does it read parametersJsonSchema?",
        talks=fixed(
            schema=Talk(_declared(WEATHER), (say("What is the weather in Oslo? Call get_weather.", called),))
        ),
        read=_json_schema,
        needs=_it_calls,
    ),
)
