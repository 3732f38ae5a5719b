"""What nobody knows is told once, wherever it stands; what google-genai knows is not taken for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from livetools.events import UnknownMessage
from livetools.protocol.messages.field_values import AS_IT_CAME, OURS
from livetools.protocol.messages.incoming import parse
from livetools.protocol.messages.to_events import events_of, usage
from livetools.setup.sdk.camel_case import camel, snake
from livetools.setup.sdk.generated_tables import tables

SCALARS: dict[str, Any] = {
    "boolean": True, "integer": 7, "number": 0.5, "string": "1.5s", "bytes": "AAAA", "any": None,
}  # fmt: skip
#: Content that livetools has no event for: it is told as it came.
SHOWN = ("parts.fileData", "parts.functionResponse")
#: What stands for a tool's own words: names in it are nobody's.
FREE = frozenset({"args", "response", "customConfigs", "partMetadata"})


def whole(kind: str, seen: tuple[str, ...] = ()) -> Any:
    """A value of this type with every field that google-genai knows."""
    if kind.startswith("["):
        return [whole(kind[1:-1], seen)]
    if kind.startswith("{"):
        return {"free": 1}
    if kind in tables().enums:
        return tables().enums[kind][1]
    if kind not in tables().types:
        return SCALARS[kind]
    fields = tables().types[kind]
    return {name: whole(each, (*seen, kind)) for name, each in fields.items() if each.strip("[]") not in seen}


MESSAGE: dict[str, Any] = whole("LiveServerMessage")


def objects(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object in a message, with the way to it."""
    if isinstance(value, list):
        for each in value:
            yield from objects(each, path)
    elif isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            if name not in FREE:
                yield from objects(each, f"{path}.{name}".strip("."))


def strangers(message: object) -> list[UnknownMessage]:
    return [e for e in events_of(parse(json.dumps(message))) if isinstance(e, UnknownMessage)]


def in_snake(value: Any) -> Any:
    if isinstance(value, list):
        return [in_snake(each) for each in value]
    return {snake(key): in_snake(each) for key, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("message", [MESSAGE, in_snake(MESSAGE)], ids=["camelCase", "snake_case"])
def test_every_field_that_google_genai_knows_is_known(message: dict[str, Any]) -> None:
    told = [next(iter(event.raw)) for event in strangers(message) if isinstance(event.raw, dict)]
    assert sorted(map(camel, told)) == ["part.fileData", "part.functionResponse"]


PLACES = [path for path, _ in objects(MESSAGE) if not any(shown in path for shown in SHOWN)]


@pytest.mark.parametrize("path", sorted(set(PLACES)))
def test_a_field_that_nobody_knows_is_told_once_wherever_it_stands(path: str) -> None:
    message = copy.deepcopy(MESSAGE)
    next(found for at, found in objects(message) if at == path)["brandNew"] = {"deep": 1}
    told = [event for event in strangers(message) if "brandNew" in repr(event.raw)]
    assert len(told) == 1


def test_the_walk_has_seen_the_depths() -> None:
    assert len(set(PLACES)) > 50
    assert "serverContent.groundingMetadata.groundingChunks.maps.placeAnswerSources" in PLACES
    assert "toolCall.functionCalls.partialArgs" in PLACES
    assert "serverContent.inputTranscription.words" in PLACES


def test_the_way_to_it_is_told() -> None:
    word = {"word": "a", "brandNew": 1}
    assert strangers({"serverContent": {"inputTranscription": {"text": "a", "words": [word]}}}) == [
        UnknownMessage({"serverContent.inputTranscription.words.brandNew": 1})
    ]
    assert strangers({"usageMetadata": {"totalTokenCount": 1, "brandNew": 1}}) == [
        UnknownMessage({"usageMetadata.brandNew": 1})
    ]


def test_a_new_field_of_every_word_is_told_once_a_message_and_what_holds_something_each_time() -> None:
    words = [{"word": "a", "brandNew": 1}, {"word": "b", "brandNew": 2}]
    assert strangers({"serverContent": {"outputTranscription": {"text": "a b", "words": words}}}) == [
        UnknownMessage({"serverContent.outputTranscription.words.brandNew": 1})
    ]
    files = [{"fileData": {"fileUri": "gs://a"}}, {"fileData": {"fileUri": "gs://b"}}]
    assert len(strangers({"serverContent": {"modelTurn": {"parts": files}}})) == 2


@pytest.mark.parametrize(
    "path", ["serverContent", "serverContent.turnComplete", "toolCall", "goAway.timeLeft"]
)
def test_a_field_that_came_in_both_spellings_is_told_where_it_was_not_read(path: str) -> None:
    *outer, name = path.split(".")
    message: Any = {name: {}, snake(name): {"other": 1}}
    for each in reversed(outer):
        message = {each: message}
    assert parse(json.dumps(message)).unknown[-1] == {".".join([*outer, snake(name)]): {"other": 1}}


def test_names_of_a_tool_s_own_are_not_unknown() -> None:
    call = {"id": "s1", "toolType": "URL_CONTEXT", "args": {"brandNew": 1}}
    answer = {"id": "s1", "toolType": "URL_CONTEXT", "response": {"brandNew": {"newer": 1}}}
    parts = [{"toolCall": call}, {"toolResponse": answer}]
    assert strangers({"serverContent": {"modelTurn": {"parts": parts}}}) == []
    assert (
        strangers({"toolCall": {"functionCalls": [{"id": "c", "name": "f", "args": {"brandNew": 1}}]}}) == []
    )


def test_whatever_is_read_otherwise_than_google_genai_does_is_a_type_of_its_own() -> None:
    assert AS_IT_CAME | OURS.keys() <= tables().types.keys()


def test_no_type_of_a_message_holds_itself() -> None:
    """Or the depth of the walk would be the server's choice."""

    def below(kind: str, above: tuple[str, ...]) -> None:
        assert kind not in above
        for inner in tables().types.get(kind, {}).values():
            below(inner.strip("[]{}"), (*above, kind))

    below("LiveServerMessage", ())


@pytest.mark.parametrize(("count", "read"), [(3, 3), ("3", 3), (True, 0), (1.5, 0), ("many", 0), ([3], 0)])
def test_a_count_is_a_whole_number_or_its_digits(count: object, read: int) -> None:
    assert usage({"totalTokenCount": count}).total_tokens == read
