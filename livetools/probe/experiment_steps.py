"""The steps that the table is made of: text, sound, answers to calls, and silence."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable

from .experiment_types import Scene, Step, never
from .outcome import JsonObject, StepResult

QUIET = 2.5  # seconds without an answer after which something counts as ignored
ANSWER = 15.0  # seconds that an answer, or a call, may take
SILENCE = 15.0  # seconds of sound sent while a call is open: 3.1 cancels after about 12 (livekit#5556)
_CHUNK = 0.1  # seconds of sound in a frame
WORD = "heliotrope"  # what the model cannot say by chance

#: 100 ms of silence as 16-bit PCM.
SOUND: JsonObject = {
    "data": base64.b64encode(bytes(int(_CHUNK * 16_000) * 2)).decode(),
    "mimeType": "audio/pcm;rate=16000",
}

CODE_WORD: JsonObject = {
    "name": "get_code_word",
    "description": "Returns the code word. Call it each time the user asks for the code word.",
}
ASK_FOR_IT = "Call get_code_word now. When you have its result, tell me the code word."


def content(text: str, role: str | None = "user") -> JsonObject:
    """A ``clientContent`` with one turn, which asks for an answer."""
    turn = {"role": role, "parts": [{"text": text}]} if role else {"parts": [{"text": text}]}
    return {"clientContent": {"turns": [turn], "turnComplete": True}}


def text(channel: str | None, words: str) -> JsonObject:
    """The user's text, as this model takes it."""
    return {"realtimeInput": {"text": words}} if channel == "realtime" else content(words)


def say(words: str, until: Callable[[StepResult], bool] | None = None, wait: float = ANSWER) -> Step:
    """Say something, and wait for the end of the turn, or for what ``until`` says."""
    return Step(
        send=lambda scene: (text(scene.channel, words),), until=until or _turn_over, wait=wait, says=True
    )


def send(
    frame: JsonObject, until: Callable[[StepResult], bool] = never, wait: float = QUIET, says: bool = True
) -> Step:
    """Send a frame as it is."""
    return Step(send=lambda scene: (frame,), until=until, wait=wait, says=says)


def pause(seconds: float = QUIET) -> Step:
    """Send nothing, and listen."""
    return Step(wait=seconds)


def sound(seconds: float, until: Callable[[StepResult], bool] = never) -> Step:
    """Send silence as sound, at the speed at which it plays."""
    frame: JsonObject = {"realtimeInput": {"audio": SOUND}}
    return Step(send=lambda scene: [frame] * round(seconds / _CHUNK), until=until, wait=QUIET, pace=_CHUNK)


def respond(
    output: str,
    until: Callable[[StepResult], bool] = never,
    wait: float = QUIET,
    named: bool = True,
    **fields: object,
) -> Step:
    """Answer the first call of the conversation; ``fields`` go beside the response."""

    def frames(scene: Scene) -> Iterable[JsonObject]:
        call = scene.calls[0]
        response = {
            **({"id": call["id"]} if "id" in call else {}),
            **({"name": call["name"]} if named else {}),
            "response": {"output": output},
            **fields,
        }
        yield {"toolResponse": {"functionResponses": [response]}}

    return Step(send=frames, until=until, wait=wait, says=True, answers=True)


def called(part: StepResult) -> bool:
    return bool(part.calls)


def spoke(part: StepResult) -> bool:
    return part.spoke


def said_word(part: StepResult) -> bool:
    return WORD in part.words


def spoke_or_cancelled(part: StepResult) -> bool:
    return part.spoke or part.cancelled


def cancelled(part: StepResult) -> bool:
    return part.cancelled


def interrupted_or_over(part: StepResult) -> bool:
    return part.interrupted or part.turn_over


def _turn_over(part: StepResult) -> bool:
    return part.turn_over


#: What is sent in a session that only tries a setup: some settings are refused with the first content (2026-09-25).
FIRST_CONTENT = sound(_CHUNK)
ASK_FOR_CODE_WORD = say(ASK_FOR_IT, called)
