"""The tables of google-genai, held against the installed one: its types, and what its converters do with them."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any

import google.genai
import pytest
from google.auth.credentials import AnonymousCredentials
from google.genai import _live_converters, types
from pydantic import BaseModel
from support import sdk_tables
from websockets.asyncio.client import connect as dial
from websockets.exceptions import ConnectionClosed

from livetools import ConfigError, connect
from livetools.setup.plan import make_plan
from livetools.setup.sdk.camel_case import snake
from livetools.setup.sdk.generated_tables import tables
from livetools.testing import FakeLiveServer

RECORDED: dict[str, Any] = json.loads(sdk_tables.FILE.read_text(encoding="utf-8"))
MODELS = {False: "gemini-2.5-flash-native-audio-preview-12-2025", True: "gemini-live-2.5-flash-native-audio"}
VERTEX: dict[str, Any] = {"vertexai": True, "project": "p", "location": "us-central1"}
PATHS = {
    False: "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
    True: "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent",
}
WHOLE = [
    (path, vertex)
    for vertex, api in ((False, "gemini"), (True, "vertex"))
    for path in RECORDED["refused"][api]
]
REFUSED = [(path.removeprefix("setup."), vertex) for path, vertex in WHOLE if path.startswith("setup.")]


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def missing(installed: dict[str, Any], recorded: dict[str, Any]) -> list[str]:
    """What ``installed`` has that ``recorded`` has not, by name."""
    found = []
    for table in ("types", "enums", "places", "refused", "renamed"):
        for name, value in installed[table].items():
            known = recorded[table].get(name)
            if isinstance(value, dict):
                found += [
                    f"{table}.{name}.{field}"
                    for field, each in value.items()
                    if (known or {}).get(field) != each
                ]
            elif isinstance(value, list):
                found += [f"{table}.{name}: {each}" for each in value if each not in (known or ())]
            elif value != known:
                found.append(f"{table}.{name}")
    return found


@pytest.mark.skipif(
    version(google.genai.__version__) < version(RECORDED["google-genai"]),
    reason="the tables are of a newer google-genai than the one that is installed",
)
def test_the_installed_google_genai_knows_nothing_more() -> None:
    """If this fails, run ``python tests/support/sdk_tables.py``, and see what the new fields want of livetools."""
    assert missing(sdk_tables.tables(), RECORDED) == []
    assert missing(RECORDED, sdk_tables.tables()) == []


def test_what_is_said_of_the_places_of_fields_is_what_the_types_say() -> None:
    assert RECORDED["written"] == sdk_tables.in_connect(RECORDED["types"])


def test_a_field_that_the_next_google_genai_brings_is_named() -> None:
    class Tool(types.Tool):
        next_search: str | None = None

    Tool.__name__ = "Tool"
    found = sdk_tables.tables(roots=(Tool,))
    assert missing(found, RECORDED) == ["types.Tool.nextSearch"]


def test_a_refusal_that_the_next_google_genai_brings_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    source = sdk_tables.source()
    before = "  if getv(from_object, ['url_context']) is not None:\n    setv(to_object, ['urlContext']"
    after = before.replace("    setv(", "    raise ValueError('only in the other')\n    setv(")
    assert before in source
    monkeypatch.setattr(sdk_tables, "source", lambda: source.replace(before, after))
    assert "refused.gemini: setup.tools.urlContext" in missing(sdk_tables.tables(), RECORDED)


# What connect and the fake say of it


def value_at(path: str) -> Any:
    """A config, in the setup's shape, with the smallest value that google-genai takes at this path."""
    names = path.split(".")
    kind, kinds = "LiveConnectConfig", []
    for name in names:
        kind = tables().types[kind.strip("[]{}")][name]
        kinds.append(kind)
    value = smallest(kind)
    for name, above in zip(reversed(names), [*reversed(kinds[:-1]), ""], strict=True):
        value = {name: value}
        value = [value] if above.startswith("[") else value
    return value


def smallest(kind: str) -> Any:
    scalars = {"boolean": True, "integer": 7, "number": 0.5, "string": "abc", "bytes": "YWJj", "any": "x"}
    if kind.startswith("["):
        return [smallest(kind[1:-1])]
    if kind.startswith("{"):
        return {"k": "v"}
    if kind in tables().enums:
        return tables().enums[kind][-1]
    return scalars.get(kind, {})


def in_python(value: Any) -> Any:
    """The same in snake_case, as a ``LiveConnectConfig`` is written."""
    if isinstance(value, list):
        return [in_python(each) for each in value]
    return {snake(key): in_python(each) for key, each in value.items()} if isinstance(value, dict) else value


@cache
def client_of(vertex: bool) -> google.genai.Client:
    """A client of this API; one takes a tenth of a second to make."""
    key = {"vertexai": True, "credentials": AnonymousCredentials(), **VERTEX} if vertex else {"api_key": "k"}
    return google.genai.Client(**key)  # type: ignore[arg-type]


def refusal_of_the_sdk(config: dict[str, Any], vertex: bool) -> str:
    convert = getattr(_live_converters, f"_LiveConnectParameters_to_{'vertex' if vertex else 'mldev'}")
    parameters = types.LiveConnectParameters(model="models/m", config=types.LiveConnectConfig(**config))
    with pytest.raises(ValueError, match="only supported in") as caught:
        convert(
            api_client=client_of(vertex)._api_client, from_object=parameters.model_dump(exclude_none=True)
        )
    return str(caught.value)


@pytest.mark.parametrize(("path", "vertex"), REFUSED)
def test_what_google_genai_refuses_for_an_api_is_refused_for_the_same_reason(path: str, vertex: bool) -> None:
    config, field = in_python(value_at(path)), snake(path.rpartition(".")[2])
    assert field in refusal_of_the_sdk(config, vertex)
    other = {**VERTEX, "credentials": AnonymousCredentials()} if vertex else {"api_key": "k"}
    with pytest.raises(ConfigError, match="is only supported by") as caught:
        connect(MODELS[vertex], config=config, **other)
    assert f".{field} is only supported by" in str(caught.value)
    assert "this session uses " + ("Vertex AI" if vertex else "the Gemini API") in str(caught.value)


async def said_by_the_fake(server: FakeLiveServer, setup: dict[str, Any], vertex: bool) -> str:
    """Why the fake closes for this setup; ``""``: it takes it."""
    model = f"models/{MODELS[vertex]}"
    generation = {"responseModalities": ["AUDIO"], **setup.pop("generationConfig", {})}
    async with dial(server.url + PATHS[vertex] + "?key=k") as socket:
        await socket.send(json.dumps({"setup": {"model": model, "generationConfig": generation, **setup}}))
        try:
            return "" if b"setupComplete" in await socket.recv(decode=False) else "another answer"
        except ConnectionClosed as closed:
            return "" if closed.rcvd is None else closed.rcvd.reason


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_fake_refuses_what_google_genai_refuses_and_takes_it_on_the_other_api() -> None:
    # profile facts, or values that a test cannot make up
    apart = (
        "googleMaps",
        "googleSearch.",
        "multiSpeaker",
        "sessionResumption",
        "replicatedVoice",
        "systemInstruction",
    )
    async with FakeLiveServer() as server:
        for path, vertex in REFUSED:
            assert f'Unknown name "{path.rpartition(".")[2]}"' in await said_by_the_fake(
                server, value_at(path), vertex
            )
            if not any(each in path for each in apart):
                assert await said_by_the_fake(server, value_at(path), not vertex) == "", path


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_name_that_vertex_spells_otherwise_goes_out_so_and_the_fake_reads_no_other() -> None:
    config = {"generation_config": {"model_selection_config": {"feature_selection_preference": "BALANCED"}}}
    ours = {"featureSelectionPreference": "BALANCED"}
    async with FakeLiveServer() as server:
        for vertex, name, other in (
            (True, "modelConfig", "modelSelectionConfig"),
            (False, "modelSelectionConfig", "modelConfig"),
        ):
            async with connect(
                MODELS[vertex], config=config, base_url=server.url, **(VERTEX if vertex else {})
            ):
                pass
            sent = [f.message["setup"] for f in server.frames if "setup" in f.message][-1]["generationConfig"]
            assert (sent[name], other in sent) == (ours, False)
            assert await said_by_the_fake(server, {"generationConfig": {name: ours}}, vertex) == ""
            assert f'"{other}"' in await said_by_the_fake(server, {"generationConfig": {other: ours}}, vertex)


def test_a_flag_that_is_false_says_nothing_and_is_left_out() -> None:
    options = {**VERTEX, "credentials": AnonymousCredentials()}
    connect(MODELS[False], api_key="k", config={"explicit_vad_signal": False})
    connect(MODELS[False], api_key="k", config={"session_resumption": {"transparent": False}})
    connect(MODELS[True], config={"generation_config": {"enable_enhanced_civic_answers": False}}, **options)


def test_a_part_of_the_history_that_one_api_does_not_take_is_refused() -> None:
    history = [{"role": "model", "parts": [{"tool_call": {"id": "s1", "tool_type": "URL_CONTEXT"}}]}]
    connect(MODELS[False], api_key="k", history=history)
    with pytest.raises(ConfigError, match=r"history\.parts\.tool_call is only supported by the Gemini API"):
        connect(MODELS[True], history=history, credentials=AnonymousCredentials(), **VERTEX)


# What both take goes out as google-genai sends it


def leaves(annotation: Any, seen: tuple[type, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each field of a type of google-genai that holds no others: its path, and a config that sets it alone."""
    for name, field in annotation.model_fields.items():
        inner = [t for t in (field.annotation, *flat(field.annotation)) if isinstance(t, type)]
        model = next((t for t in inner if issubclass(t, BaseModel)), None)
        if model is not None and model not in seen and len(seen) < 5:
            wrap = typing.get_origin(next(iter(typing.get_args(field.annotation)), None)) is list
            for path, value in leaves(model, (*seen, model)):
                yield f"{name}.{path}", {name: [value] if wrap else value}
        elif model is None:
            kind = tables().types.get(annotation.__name__, {}).get(sdk_tables.to_camel(name), "any")
            yield name, {name: smallest(kind)}


def flat(annotation: Any) -> Iterator[Any]:
    for each in typing.get_args(annotation):
        yield each
        yield from flat(each)


APART = frozenset({"tools", "http_options", "system_instruction"})
EVERY = [
    (path, config) for path, config in leaves(types.LiveConnectConfig) if path.split(".")[0] not in APART
]


@pytest.mark.parametrize("vertex", [False, True])
def test_what_is_taken_stands_where_google_genai_puts_it(vertex: bool) -> None:
    options = {**VERTEX, "credentials": AnonymousCredentials()} if vertex else {}
    client = google.genai.Client(**options) if vertex else google.genai.Client(api_key="k")
    convert = getattr(_live_converters, f"_LiveConnectParameters_to_{'vertex' if vertex else 'mldev'}")
    compared = 0
    for path, config in EVERY:
        try:
            parameters = types.LiveConnectParameters(
                model="models/m", config=types.LiveConnectConfig(**config)
            )
            theirs = convert(
                api_client=client._api_client, from_object=parameters.model_dump(exclude_none=True)
            )
            plan = make_plan("any", config=config, vertexai=vertex, project="p", location="l")
        except ValueError:
            continue
        assert within(wire(theirs["setup"]), plan.setup_message(plan.handle, fresh=False)["setup"]), path
        compared += 1
    assert compared > 40


def wire(value: Any) -> Any:
    if isinstance(value, BaseModel):
        value = value.model_dump(exclude_none=True)
    if isinstance(value, dict):
        return {sdk_tables.to_camel(k): wire(v) for k, v in value.items() if k != "model"}
    return [wire(each) for each in value] if isinstance(value, list) else value


def within(theirs: Any, ours: Any) -> bool:
    """Whether all that google-genai sends is sent: 64-bit numbers may be their digits, bytes base64."""
    if isinstance(theirs, dict):
        return all(key in ours and within(each, ours[key]) for key, each in theirs.items())
    if isinstance(theirs, list):
        return len(theirs) == len(ours) and all(within(a, b) for a, b in zip(theirs, ours, strict=True))
    return isinstance(theirs, bytes) or str(getattr(theirs, "value", theirs)) == str(ours)
