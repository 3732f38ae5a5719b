"""Experiments on turns: what the service sends in one, and what it does with the different kinds of input."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from livetools.setup.model_profiles import ModelProfile

from .experiment_steps import (
    ANSWER,
    SOUND,
    WORD,
    content,
    interrupted_or_over,
    pause,
    say,
    send,
    spoke,
    text,
)
from .experiment_types import Answer, Experiment, Facts, Scene, Step, Talk, Undecided, fixed, value
from .outcome import JsonObject, TalkOutcome

HELLO = say("Say: hello.")
SENTENCE = say("Say: the quick brown fox jumps over the lazy dog.")
AT_ONCE = 0.5  # seconds after setupComplete within which a handle belongs to it
_IDLE = 4.0  # seconds without input in which handles are counted


def _handles(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """Whether and when handles come; the rest is what the messages of a turn look like."""
    unasked, asked = outcomes["unasked"], outcomes["asked"]
    first, turn, after = (asked.part(number) for number in range(3))
    early = [time for time in first.handles if time <= AT_ONCE]
    if any(time <= AT_ONCE for time in unasked.part(0).handles):
        at_setup = Answer(("always",), "a handle came after setupComplete, though none was asked for")
    elif early:
        at_setup = Answer(("asked",), "a handle came after setupComplete")
    else:
        at_setup = Answer(("never",), f"no handle within {AT_ONCE:g} s of setupComplete")
    any_handle = first.handles or turn.handles or after.handles
    return {
        "handle_at_setup": at_setup,
        "handle_every": _rhythm(first.handles),
        "resumption": Answer((True,), "a handle came")
        if any_handle
        else Answer((False,), "no handle came, not even after a turn"),
    }


def _rhythm(times: list[float]) -> Answer:
    gaps = [later - earlier for earlier, later in pairwise(times)]
    told = f"{len(times)} handle{'s' * (len(times) != 1)} in {_IDLE:g} s of silence"
    return Answer((None if len(gaps) < 2 else round(sum(gaps) / len(gaps), 1),), told)


def _frames(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """What the messages of one spoken turn hold."""
    turn = outcomes["turn"].part(0)
    if not turn.spoke:
        return {field: Undecided("the model said nothing") for field in _FRAME_FIELDS}
    contents = list(turn.contents())
    status = any(
        "interactionStatus" in {**message, **message.get("serverContent", {})} for _, message in turn.messages
    )
    complete = any(each.get("turnComplete") for each in contents)
    combined = any(_kinds(each) > 1 for each in contents)
    empty = any(not message for _, message in turn.messages)
    return {
        "idle_signal": Answer(
            (status,), f"interactionStatus {'came' if status else 'did not come'} in a turn"
        ),
        "empty_frames": Answer((empty,), f"{{}} {'came' if empty else 'did not come'} in a turn"),
        "combines": Answer(
            (combined,), "one event held several kinds of content" if combined else "one kind an event"
        ),
        "turn_complete": Answer(
            (complete,), f"turnComplete {'came' if complete else 'did not come'} within {ANSWER:g} s"
        ),
    }


_FRAME_FIELDS = ("idle_signal", "empty_frames", "combines", "turn_complete")


def _kinds(event: JsonObject) -> int:
    """How many of these one event holds: the model's turn, its transcript, the end of the turn."""
    return sum(bool(event.get(name)) for name in ("modelTurn", "outputTranscription", "turnComplete"))


def _default_modality(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    part = outcomes["omitted"].part(0)
    types = [each["inlineData"].get("mimeType", "") for each in part.parts() if "inlineData" in each]
    if any(kind.startswith("video/") for kind in types):
        return {"default_modality": Answer(("VIDEO",), "it answered with video")}
    if types:
        return {"default_modality": Answer(("AUDIO",), "it answered with audio")}
    if part.words:
        return {"default_modality": Answer(("TEXT",), "it answered with text")}
    return {"default_modality": Undecided("the model said nothing")}


def _content(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    """clientContent after a turn, with a role and without one."""
    role, bare = outcomes["role"], outcomes["bare"]
    found = _taken("content_mid_session", role, 1)
    verdict = value(found, "content_mid_session")
    channel = Answer(
        ("realtime" if verdict == "refused" else "client_content",), "follows from content_mid_session"
    )
    if verdict != "honoured":
        return {**found, "text_channel": channel, "needs_role": Undecided("clientContent was not answered")}
    why = bare.why if bare.refused else "accepted without a role"
    return {**found, "text_channel": channel, "needs_role": Answer((bare.refused,), why)}


def _taken(field: str, outcome: TalkOutcome, step: int) -> Facts:
    """A message that is refused (closed for), honoured (answered) or ignored."""
    if not outcome.reached(step):
        return {field: Undecided(f"the conversation ended before it: {outcome.why}")}
    if outcome.refused:
        return {field: Answer(("refused",), outcome.why)}
    if outcome.part(step).spoke:
        return {field: Answer(("honoured",), "it was answered")}
    return {field: Answer(("ignored",), f"no answer within {ANSWER:g} s")}


def _media_chunks(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    outcome = outcomes["chunks"]
    if outcome.refused:
        return {"media_chunks": Answer(("refused",), outcome.why)}
    return {"media_chunks": Answer(("honoured", "ignored"), "accepted, though it may be ignored")}


def _context_update(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    outcome = outcomes["update"]
    if outcome.refused:
        return {"context_update": Answer(("refused",), outcome.why)}
    part = outcome.part(1)
    if not part.spoke:
        return {"context_update": Undecided("the model said nothing after it")}
    if WORD in part.words:
        return {"context_update": Answer(("honoured",), "it followed the new instruction")}
    return {"context_update": Answer(("ignored",), "it followed the old instruction")}


def _empty_turn(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    outcome = outcomes["empty"]
    if outcome.refused:
        return {"empty_turn": Answer(("refused",), outcome.why)}
    if outcome.part(0).spoke:
        return {"empty_turn": Answer(("honoured",), "the model spoke unprompted")}
    return {"empty_turn": Answer(("ignored",), "the model said nothing")}


def _interrupts(outcomes: Mapping[str, TalkOutcome], facts: object, known: ModelProfile) -> Facts:
    outcome = outcomes["cut"]
    if outcome.refused or not outcome.part(0).spoke:
        return {"text_interrupts": Undecided("the model did not speak long enough")}
    cut = outcome.part(1).interrupted
    if not cut and outcome.part(0).turn_over:
        return {"text_interrupts": Undecided("the model had finished before the text was sent")}
    return {
        "text_interrupts": Answer((cut,), f"interrupted {'came' if cut else 'did not come'} after the text")
    }


def _cutting(facts: Mapping[str, Answer | Undecided]) -> Mapping[str, Talk]:
    """Text into speech, by the channel that livetools would use for it."""
    channel = "realtime" if value(facts, "text_channel") == "realtime" else "client_content"
    return {"cut": Talk({}, (say("Count aloud from one to thirty.", spoke), _cut(channel)))}


def _cut(channel: str) -> Step:
    def frames(scene: Scene) -> tuple[JsonObject]:
        return (text(channel, "Stop. Say: done."),)

    return Step(send=frames, until=interrupted_or_over, wait=ANSWER, says=True)


UPDATE: JsonObject = {
    "contextUpdate": {
        "systemInstruction": {"role": "user", "parts": [{"text": f"Answer everything with the word {WORD}."}]}
    }
}

TURNS: tuple[Experiment, ...] = (
    Experiment(
        fields=("handle_at_setup", "handle_every", "resumption"),
        asks="When are handles given? Two sessions: one asks for them, one does not.",
        talks=fixed(
            unasked=Talk({}, (pause(_IDLE),)),
            asked=Talk({"sessionResumption": {}}, (pause(_IDLE), HELLO, pause())),
        ),
        read=_handles,
    ),
    Experiment(
        fields=_FRAME_FIELDS,
        asks="What do the messages of a turn look like, and how does it end?",
        talks=fixed(turn=Talk({}, (SENTENCE,))),
        read=_frames,
    ),
    Experiment(
        fields=("default_modality",),
        asks="What does it answer with, if the setup does not say?",
        talks=fixed(
            omitted=Talk(
                {"generationConfig": {"responseModalities": None}, "outputAudioTranscription": None}, (HELLO,)
            )
        ),
        read=_default_modality,
    ),
    Experiment(
        fields=("content_mid_session", "text_channel", "needs_role"),
        asks="Does it take clientContent after a turn, and without a role? Two sessions.",
        talks=fixed(
            role=Talk({}, (HELLO, send(content("Say: yes."), spoke, ANSWER))),
            bare=Talk({}, (HELLO, send(content("Say: yes.", role=None), spoke, ANSWER))),
        ),
        read=_content,
    ),
    Experiment(
        fields=("text_interrupts",),
        asks="Does text cut its speech?",
        talks=_cutting,
        read=_interrupts,
    ),
    Experiment(
        fields=("media_chunks",),
        asks="Does it take realtimeInput.mediaChunks?",
        talks=fixed(chunks=Talk({}, (send({"realtimeInput": {"mediaChunks": [SOUND]}}, says=False),))),
        read=_media_chunks,
    ),
    Experiment(
        fields=("context_update",),
        asks="Does contextUpdate change the instruction?",
        talks=fixed(update=Talk({}, (send(UPDATE, says=False), HELLO))),
        read=_context_update,
    ),
    Experiment(
        fields=("empty_turn",),
        asks="Does an empty turn make it speak?",
        talks=fixed(empty=Talk({}, (send({"clientContent": {"turnComplete": True}}, spoke, ANSWER),))),
        read=_empty_turn,
    ),
)
