"""What the fake says has the shape of what the service was heard to say."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import anyio
import pytest

from livetools.testing import FakeLiveServer
from livetools.testing.messages.output import tone

GEMINI = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
_FILE = Path(__file__).parent / "server_frames.jsonl"
ROWS = [json.loads(line) for line in _FILE.read_text().splitlines()]
NOT_SAID = {
    "executableCode",
    "interimInputTranscription",
}  # the pretend model writes no code and guesses no words


def shape(value):
    """The keys and types of a JSON value; of a list, those of its first item; of arguments, nothing."""
    if isinstance(value, dict):
        return {key: shape(item) if key != "args" else {} for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


async def pretend(turn):
    if turn.text == "call":
        await turn.call("f")
    if turn.text == "interrupt":
        await turn.interrupt()
    if turn.text == "leave":
        await turn.go_away(50)
    await turn.say("A few words.")


async def said(dial, path):
    """Every frame of a few conversations with different models."""
    async with FakeLiveServer(pretend) as server:
        server.transcriber = lambda pcm, rate: "what was said"
        for model, modality in (
            ("gemini-live-2.5-flash-preview", "TEXT"),
            ("gemini-live-2.5-flash-preview", "AUDIO"),
            ("gemini-3.8-live", "AUDIO"),
        ):
            setup = {"generationConfig": {"responseModalities": [modality]}, "sessionResumption": {}}
            setup |= {"outputAudioTranscription": {}, "inputAudioTranscription": {}}
            async with dial(server, model=f"models/{model}", path=path, **setup) as client:
                for text in ("hello", "interrupt", "leave"):
                    await client.say(text)
                    await client.until("generationComplete")
                    await client.until("turnComplete")
                await client.say("call")
                (call,) = (await client.until("toolCall"))[-1]["toolCall"]["functionCalls"]
                await client.answer(call, output=1)
                await client.until("modelTurn")
                await client.until("turnComplete")
                for pcm in (tone(0.4, rate=16000), bytes(32000)):
                    blob = {"mimeType": "audio/pcm;rate=16000", "data": base64.b64encode(pcm).decode()}
                    await client.send({"realtimeInput": {"audio": blob}})
                await client.until("generationComplete")
        manual = {"automaticActivityDetection": {"disabled": True}}
        config = {"responseModalities": ["TEXT"]}
        model = "models/gemini-3.5-transcribe-live"
        async with dial(server, model, path, generationConfig=config, realtimeInputConfig=manual) as client:
            await client.send(
                {"realtimeInput": {"activityStart": {}}}, {"realtimeInput": {"activityEnd": {}}}
            )
            assert await client.closed() == (1007, "Precondition check failed.")
    return [shape(frame.message) for frame in server.frames if frame.direction == "server"]


@pytest.mark.parametrize("vertex", [False, True])
def test_every_recorded_frame_has_its_like(dial, vertex):
    shapes = anyio.run(said, dial, VERTEX if vertex else GEMINI)
    rows = [row for row in ROWS if row["vertex"] is vertex and not any(key in str(row) for key in NOT_SAID)]
    assert rows
    missing = [row["frame"] for row in rows if shape(row["frame"]) not in shapes]
    assert not missing, missing
