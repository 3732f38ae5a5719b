"""Each thing that the service closes for: the frame, the code, the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from livetools.setup.model_profiles import ModelProfile
from livetools.testing import FakeLiveServer
from livetools.testing.live.refusals import parameters_fault, schema_fault, takes_nothing

pytestmark = pytest.mark.anyio

INVALID = "Request contains an invalid argument."
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
NATIVE = "models/gemini-2.5-flash-native-audio-latest"
FLASH = "models/gemini-3.1-flash-live-preview"
LIVE = "models/gemini-3.8-live"
THINKING = "models/gemini-3.8-live-extended-thinking"
CASCADE = "models/gemini-live-2.5-flash-preview"
SOUND = {"audio": {"data": "AAAA", "mimeType": "audio/pcm;rate=16000"}}

_FILE = Path(__file__).parent.parent / "messages" / "client_frames.jsonl"
REFUSED = [row for row in map(json.loads, _FILE.read_text().splitlines()) if "refused" in row]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row["refused"][1][:60])
async def test_every_frame_that_was_reported_as_refused_is_refused(dial, row):
    async with FakeLiveServer() as server:
        first = None if "setup" in row["frame"] else LIVE
        async with dial(server, model=first) as client:
            await client.send(row["frame"])
            code, reason = await client.closed()
    assert code == row["refused"][0]
    expected = row["refused"][1].encode()
    prefix = reason.index("Unknown name") if expected.startswith(b"Unknown name") else 0
    assert expected[: 123 - prefix].decode(errors="ignore") in reason
    assert len(reason.encode()) <= 123
    assert any(reason[:60] in line for line in server.log)


def function(**declaration):
    return {"tools": [{"functionDeclarations": [{"name": "f", **declaration}]}]}


def generation(**config):
    return {"generationConfig": config}


NAMES = "Invalid function name. Must start with a letter or an underscore."
COMBINATION = "The requested combination of response modalities"
PARAMETERS = "setup.tools[0].function_declarations[0].parameters"

SETUPS = [
    (
        "models/gemini-nope-live",
        {},
        1008,
        "models/gemini-nope-live is not found for API version v1beta, or is not sup",
    ),
    (LIVE, function(name="9lives"), 1007, NAMES),
    (LIVE, function(name="x" * 65), 1007, NAMES),
    (LIVE, function(name="ünicode"), 1007, NAMES),
    (LIVE, function() | {"tools": function()["tools"] * 2}, 1007, "Duplicate function declaration found: f"),
    (LIVE, function(parameters={}, parametersJsonSchema={}), 1007, INVALID),
    (LIVE, function(parameters={"type": "ARRAY"}), 1007, f"* {PARAMETERS}.items: missing field."),
    (
        LIVE,
        function(parameters={"type": "OBJECT", "properties": {"a": {"type": "OBJECT", "properties": {}}}}),
        1007,
        f"* {PARAMETERS}.properties[a].properties: should be non-",
    ),
    (
        LIVE,
        function(parameters={"type": "object", "required": ["a"]}),
        1007,
        f"* {PARAMETERS}.required[0]: property is",
    ),
    (
        LIVE,
        function(parameters={"type": "STRING", "format": "uuid"}),
        1007,
        f"* {PARAMETERS}.format: only 'enum' and",
    ),
    (
        LIVE,
        function(parameters={"properties": {"a": {"type": "ARRAY"}}}),
        1007,
        f"* {PARAMETERS}.properties[a].items",
    ),
    (
        LIVE,
        {"tools": [{"functionDeclarations": [{"name": f"f{n}"} for n in range(513)]}]},
        1007,
        "At most 512 function",
    ),
    (
        THINKING,
        function(behavior="BLOCKING") | generation(thinkingConfig={"thinkingLevel": "LOW"}),
        1007,
        "BLOCKING function calls are not supported for this model.",
    ),
    (LIVE, {"tools": [{"codeExecution": {}}]}, 1007, INVALID),
    (NATIVE, {"tools": [{"googleSearch": {}}, *function()["tools"]]}, 1007, INVALID),
    ("models/gemini-3.5-transcribe-live", function(), 1007, INVALID),
    (
        NATIVE,
        generation(responseModalities=["TEXT"]),
        1007,
        "Cannot extract voices from a non-audio request.",
    ),
    (FLASH, generation(responseModalities=["TEXT"]), 1011, "Internal error encountered."),
    (
        LIVE,
        generation(responseModalities=["TEXT"]),
        1007,
        f"{COMBINATION} (TEXT) is not supported by the model.",
    ),
    (
        LIVE,
        generation(responseModalities=["VIDEO"]),
        1007,
        f"{COMBINATION} (VIDEO) is not supported by the model.",
    ),
    (CASCADE, generation(responseModalities=["TEXT", "AUDIO"]), 1007, INVALID),
    (
        LIVE,
        generation(thinkingConfig={"thinkingLevel": "LOW"}),
        1007,
        "Thinking level is not supported for this model.",
    ),
    (
        LIVE,
        generation(thinkingConfig={"thinkingBudget": 1}),
        1007,
        "Thinking budget is not supported for this model.",
    ),
    (THINKING, {}, 1007, "Thinking level must be specified for this model."),
    (THINKING, generation(thinkingConfig={"thinkingLevel": "MINIMAL"}), 1007, INVALID),
    (LIVE, {"proactivity": {"proactiveAudio": False}}, 1007, INVALID),
    (FLASH, {"proactivity": {"proactiveAudio": True}}, 1007, INVALID),
    (FLASH, generation(enableAffectiveDialog=True), 1007, INVALID),
    (LIVE, {"avatarConfig": {"avatarName": "Ben"}}, 1007, INVALID),
    (LIVE, generation(translationConfig={"targetLanguageCode": "es"}), 1007, INVALID),
    (LIVE, generation(stopSequences=["x"]), 1007, INVALID),
    (
        CASCADE,
        generation(speechConfig={"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Pika"}}}),
        1007,
        f"Requested voice api_name 'Pika' is not available for model {CASCADE}",
    ),
    (LIVE, {"sessionResumption": {"handle": "stale"}}, 1008, "Requested entity was not found."),
    (
        "models/gemini-3.5-transcribe-live",
        {"sessionResumption": {"handle": "stale"}},
        1008,
        "BidiGenerateContent session not found",
    ),
    (LIVE, {"toolConfig": {}}, 1007, "Invalid JSON payload received. Unknown name \"toolConfig\" at 'setup'"),
]


@pytest.mark.parametrize(("model", "setup", "code", "reason"), SETUPS)
async def test_a_setup_that_the_service_refuses_is_refused(dial, model, setup, code, reason):
    async with FakeLiveServer() as server, dial(server, model=None) as client:
        await client.send({"setup": {"model": model, **setup}})
        closed = await client.closed()
    assert closed[0] == code
    assert closed[1].startswith(reason)
    assert len(closed[1].encode()) <= 123


async def test_vertex_has_its_own_words_for_an_unknown_model_and_refuses_a_turn_coverage(dial):
    name = "projects/p/locations/l/publishers/google/models/gemini-nope"
    coverage = {"turnCoverage": "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"}
    async with FakeLiveServer() as server:
        async with dial(server, model=None, path=VERTEX) as client:
            await client.send({"setup": {"model": name}})
            assert (await client.closed())[1].startswith(f"Publisher Model `{name}` was not found or")
        async with dial(server, model=None, path=VERTEX) as client:
            await client.send({"setup": {"model": LIVE, "realtimeInputConfig": coverage}})
            closed = await client.closed()
    assert closed[1].startswith("Invalid value at 'setup.realtime_input_config.turn_coverage'")


def turn(text="hi", **content):
    return {"clientContent": {"turns": [{"parts": [{"text": text}], **content}], "turnComplete": True}}


MESSAGES = [
    (LIVE, {}, [{"setup": {"model": LIVE}}], 1007, "setup must be the first message and only the first"),
    (LIVE, {}, [turn()], 1007, INVALID),
    (LIVE, {}, [turn(role="assistant")], 1007, "Please use a valid role: user, model."),
    (
        LIVE,
        {},
        [{"clientContent": {"turns": [{"role": "model", "parts": [{"functionResponse": {"name": "f"}}]}]}}],
        1007,
        "Content with role 'model' can't contain 'functionResponse' part",
    ),
    (LIVE, generation(enableAffectiveDialog=True), [turn(role="user")], 1007, INVALID),
    (
        NATIVE,
        {},
        [{"clientContent": {"turns": [{"role": "model", "parts": [{"functionCall": {"name": "f"}}]}]}}],
        1007,
        INVALID,
    ),
    (
        LIVE,
        {},
        [{"realtimeInput": {"activityStart": {}}}],
        1007,
        "Explicit activity control is not supported when automatic activity detection is enabled.",
    ),
    (
        LIVE,
        {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}},
        [{"realtimeInput": {"audioStreamEnd": True}}],
        1007,
        INVALID,
    ),
    (
        LIVE,
        {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}},
        [{"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=16000", "data": "AAAA"}}}],
        1007,
        INVALID,
    ),
    (
        FLASH,
        {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}},
        [{"realtimeInput": {"activityStart": {}}}, {"realtimeInput": {"activityEnd": {}}}],
        1007,
        INVALID,
    ),
    (
        LIVE,
        {},
        [
            {"realtimeInput": {"audio": {"data": "AAAA", "mimeType": "audio/pcm;rate=24000"}}},
            {"realtimeInput": SOUND},
        ],
        1007,
        "Sample rate changed from previously 24000 to 16000, which is not supported.",
    ),
    (LIVE, {}, [{"realtimeInput": {"audio": {"data": "AAAA"}}}], 1007, INVALID),
    (
        NATIVE,
        {},
        [{"contextUpdate": {"tools": {"tools": []}}}],
        1007,
        'Invalid JSON payload received. Unknown name "contextUpdate": Cannot find field.',
    ),
    (
        LIVE,
        {},
        [
            {
                "toolResponse": {
                    "functionResponses": [
                        {"id": "1", "parts": [{"inlineData": {"mimeType": "application/pdf"}}]}
                    ]
                }
            }
        ],
        1007,
        INVALID,
    ),
    (
        THINKING,
        generation(thinkingConfig={"thinkingLevel": "LOW"}),
        [{"toolResponse": {"functionResponses": [{"id": "1", "name": "f", "scheduling": "SILENT"}]}}],
        1007,
        "Function response scheduling is not supported for this model.",
    ),
    (
        LIVE,
        {},
        [{"functionResponse": {}}],
        1007,
        'Invalid JSON payload received. Unknown name "functionResponse": Cannot',
    ),
]


@pytest.mark.parametrize(("model", "setup", "frames", "code", "reason"), MESSAGES)
async def test_a_message_that_the_service_refuses_is_refused(dial, model, setup, frames, code, reason):
    async with FakeLiveServer() as server, dial(server, model=model, **setup) as client:
        await client.send(*frames)
        closed = await client.closed()
    assert closed[0] == code
    assert closed[1].startswith(reason)


async def test_client_content_in_the_middle_is_refused_on_3_1(dial):
    async with FakeLiveServer() as server, dial(server, model=FLASH) as client:
        await client.send({"realtimeInput": {"text": "hello"}})
        await client.until("turnComplete")
        await client.send(turn(role="user"))
        assert await client.closed() == (1007, INVALID)


async def test_sound_while_a_blocking_call_is_open_closes_2_5(dial):
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            await turn.call("slow")

        async with dial(server, model=NATIVE) as client:
            await client.say("go")
            await client.until("toolCall")
            await client.send({"realtimeInput": SOUND})
            assert await client.closed() == (1008, "Operation is not implemented, or supported, or enabled.")
    assert [call.state for call in server.calls] == ["lost"]


async def test_anything_before_the_setup_is_refused(dial):
    async with FakeLiveServer() as server, dial(server, model=None) as client:
        await client.send({"realtimeInput": SOUND})
        assert await client.closed() == (1007, "setup must be the first message and only the first")


@pytest.mark.parametrize("text", ["{", '{"setup": NaN}', "[]", ""])
async def test_what_is_no_json_object_is_refused(dial, text):
    async with FakeLiveServer() as server, dial(server, model=None) as client:
        await client.socket.send(text)
        code, reason = await client.closed()
    assert code == 1007
    assert reason.startswith("Invalid JSON payload received.")


@pytest.mark.parametrize(
    ("path", "headers", "code", "reason"),
    [
        ("", {}, 1008, "Method doesn't allow unregistered callers"),
        ("?key=wrong", {}, 1007, "API key not valid. Please pass a valid API key."),
        ("", {"x-goog-api-key": "wrong"}, 1007, "API key not valid. Please pass a valid API key."),
    ],
)
async def test_a_missing_or_wrong_key_is_refused_after_the_upgrade(dial, path, headers, code, reason):
    from_path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent" + path
    async with FakeLiveServer(api_keys=["right"]) as server:
        async with dial(server, model=None, path=from_path, headers=headers) as client:
            await client.send({"setup": {"model": LIVE}})
            closed = await client.closed()
        assert closed[0] == code
        assert closed[1].startswith(reason)
        async with dial(server, model=LIVE, headers={"x-goog-api-key": "right"}):
            pass


async def test_parsing_comes_before_the_look_up_of_the_model(dial):
    async with FakeLiveServer() as server, dial(server, model=None) as client:
        await client.send({"setup": {"model": "models/x", "bogus": 1}})
        assert "bogus" in (await client.closed())[1]


async def test_a_server_that_forgives_says_what_it_forgave_and_goes_on(dial):
    async with (
        FakeLiveServer(strict=False) as server,
        dial(server, model="models/gemini-nope", bogus=1) as client,
    ):
        await client.send(turn(role="assistant"), {"realtimeInput": {"audio": "no blob"}, "nonsense": []})
        await client.until("turnComplete")
    assert len([line for line in server.log if line.startswith("forgiven: ")]) >= 4


async def test_with_a_profile_of_its_own_any_model_is_known(dial):
    async with FakeLiveServer(profile=ModelProfile(modalities=frozenset({"AUDIO"}))) as server:
        async with dial(server, model="models/mine"):
            pass
    async with (
        FakeLiveServer(profile="gemini-3.8-live") as server,
        dial(server, model="models/mine") as client,
    ):
        assert "sessionResumptionUpdate" not in server.frames[-1].message
        await client.send(turn())
        assert await client.closed() == (1007, INVALID)


# -- the schemas of parameters

GOOD_SCHEMAS = [
    None,
    {},
    {
        "type": "OBJECT",
        "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}},
        "required": ["a"],
    },
    {"type": "string", "format": "date-time"},
    {"type": "NUMBER", "format": "float"},
    {"anyOf": [{"type": "STRING"}, {"type": "NULL"}]},
]
BAD_SCHEMAS = [
    ({"type": "ARRAY"}, "* p.items: missing field."),
    ({"type": "ARRAY", "items": {"type": "ARRAY"}}, "* p.items.items: missing field."),
    ({"anyOf": [{"type": "STRING"}, {"type": "ARRAY"}]}, "* p.any_of[1].items: missing field."),
    (
        {"properties": {"a": {"type": "OBJECT", "properties": {}}}},
        "* p.properties[a].properties: should be non-empty",
    ),
    ({"properties": {"a": {}}, "required": ["a", "b"]}, "* p.required[0]: property is not defined"),
    ({"type": "STRING", "format": "uuid"}, "* p.format: only 'enum' and 'date-time'"),
]


@pytest.mark.parametrize("schema", GOOD_SCHEMAS)
def test_what_the_service_takes_is_taken(schema):
    assert schema_fault(schema, "p") is None


def test_vertex_takes_any_format():
    assert schema_fault({"items": {"type": "STRING", "format": "uuid"}}, "p", vertex=True) is None


@pytest.mark.parametrize(("schema", "reason"), BAD_SCHEMAS)
def test_what_it_refuses_is_named_with_its_path(schema, reason):
    fault = schema_fault(schema, "p")
    assert fault is not None
    assert fault.reason.startswith(reason)
    assert fault.why


EMPTY = {"type": "OBJECT", "properties": {}}


@pytest.mark.parametrize(
    "parameters", [EMPTY, {"properties": {}, "required": []}, EMPTY | {"description": "No."}]
)
def test_a_function_without_parameters_may_say_so_with_an_empty_object(parameters):
    assert takes_nothing(parameters)
    assert parameters_fault(parameters, "p") is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "OBJECT", "properties": {"a": EMPTY}},
        {"type": "ARRAY", "items": EMPTY},
        {"anyOf": [EMPTY]},
        EMPTY | {"required": ["a"]},
        EMPTY | {"anyOf": [EMPTY]},
        {"type": "ARRAY", "properties": {}},
    ],
)
def test_an_empty_object_anywhere_else_is_refused(parameters):
    assert not takes_nothing(parameters)
    assert parameters_fault(parameters, "p") is not None
