"""Any return value as a response object: never unserialisable, never raising."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import threading
import uuid
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr, field_serializer, model_serializer

from livetools.errors import ToolDefinitionError, ToolError
from livetools.tools import ToolResult
from livetools.tools.results.outcomes import encode, error_outcome, failure, outcome


class Colour(enum.Enum):
    RED = "r"


class Level(enum.IntEnum):
    LOW = 1


class Word(str):
    pass


class Model(BaseModel):
    when: datetime.date
    colour: Colour = Colour.RED
    raw: bytes = b"hi"
    secret: SecretStr = SecretStr("s3cret")


@dataclasses.dataclass
class Data:
    x: int
    inner: Any = None


@attrs.define
class Attrs:
    x: int


class Pair(NamedTuple):
    left: int
    right: str


class Plain:
    pass


class Worded:
    def __str__(self) -> str:
        return "in words"


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no words")

    __str__ = __repr__


class Trap:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class Endless(collections.UserDict[str, Any]):
    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no keys")


VALUES: list[tuple[Any, Any]] = [
    ("text", "text"),
    ("ünï", "ünï"),
    ("a\ud800b", "a\ufffdb"),
    ("\ud83d\ude00", "😀"),
    (Word("w"), "w"),
    (3, 3),
    (2**53, 2**53),
    (2**53 + 1, "9007199254740993"),
    (10**5000, hex(10**5000)),
    (1.5, 1.5),
    (math.nan, None),
    (-math.inf, None),
    (True, True),
    (None, None),
    (Colour.RED, "r"),
    (Level.LOW, 1),
    (datetime.date(2026, 1, 2), "2026-01-02"),
    (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
    (datetime.time(3, 4), "03:04:00"),
    (datetime.timedelta(hours=1, milliseconds=500), "PT3600.5S"),
    (datetime.timedelta(seconds=-90), "-PT90S"),
    (decimal.Decimal("1.50"), "1.50"),
    (decimal.Decimal("NaN"), None),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (pathlib.PurePosixPath("a/b"), "a/b"),
    (1 + 2j, "(1+2j)"),
    ("hello é".encode(), "hello é"),
    (b"", ""),
    (bytearray(b"a"), "a"),
    (memoryview(b"a"), "a"),
    ([1, [math.inf]], [1, [None]]),
    ((1, 2), [1, 2]),
    ({3, 1, 2}, [1, 2, 3]),
    (frozenset(["a"]), ["a"]),
    (range(3), [0, 1, 2]),
    (iter(()), []),
    ({"a": 1}.values(), [1]),
    (collections.deque([1]), [1]),
    (collections.OrderedDict(a=1), {"a": 1}),
    (collections.UserDict(a=1), {"a": 1}),
    ({1: "a", None: "b", False: "c", Colour.RED: "d"}, {"1": "a", "null": "b", "false": "c", "r": "d"}),
    (Pair(1, "x"), {"left": 1, "right": "x"}),
    (Data(1, Data(2)), {"x": 1, "inner": {"x": 2, "inner": None}}),
    (Attrs(1), {"x": 1}),
    (
        Model(when=datetime.date(2026, 1, 2)),
        {"when": "2026-01-02", "colour": "r", "raw": "hi", "secret": "**********"},
    ),
    (Plain, "<Plain>"),
    (len, "<len>"),
    (Worded(), "in words"),
    ([ValueError("s3cret")], ["ValueError"]),
    ([ToolError("no such city")], ["no such city"]),
]


@pytest.mark.parametrize(("value", "wanted"), VALUES, ids=lambda v: type(v).__name__)
def test_a_value_becomes_json(value: Any, wanted: Any) -> None:
    assert encode(value) == {"output": wanted}
    assert json.loads(json.dumps(encode(value), allow_nan=False)) == {"output": wanted}


@pytest.mark.parametrize("key", ["output", "result", "content", "error"])
def test_a_dict_that_is_a_response_already_goes_out_as_it_is(key: str) -> None:
    assert encode({key: {1}, "more": 2}) == {key: [1], "more": 2}
    assert encode({"value": 1}, "result") == {"result": {"value": 1}}


def test_an_exception_that_is_returned_is_an_error() -> None:
    assert encode(ToolError("no such city")) == {"error": "no such city"}
    assert encode(KeyError("s3cret")) == {"error": "KeyError"}


def test_numpy_arrays_and_scalars_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    values = [np.int64(3), np.float64(math.nan), np.bool_(True), np.array([[1, 2], [3, 4]])]
    assert encode(values) == {"output": [3, None, True, [[1, 2], [3, 4]]]}


def test_a_circle_is_cut_and_a_value_met_twice_is_not() -> None:
    circle: list[Any] = [1]
    circle.append(circle)
    assert encode(circle) == {"output": [1, "…"]}
    twice = {"a": 1}
    assert encode([twice, twice]) == {"output": [{"a": 1}, {"a": 1}]}


@pytest.mark.parametrize("levels", [61, 600, 5000])
def test_depth_beyond_reason_is_cut(levels: int) -> None:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep]
    assert "…" in json.dumps(encode(deep), ensure_ascii=False)


def test_sixty_levels_of_a_large_result_are_not_cut() -> None:
    deep: Any = list(range(600))
    for _ in range(59):
        deep = [deep]
    assert encode(deep) == {"output": deep}


def test_a_value_that_fights_back_is_an_error_and_no_exception() -> None:
    deep = {"raw": b"\xff", "a": {"b": [1, {"c": Trap()}]}}
    for value, place, kind in (
        (Trap(), "it", "Trap"),
        (Endless(a=1), "it", "Endless"),
        ([Trap()], "[0]", "Trap"),
        ({"a": Endless(a=1)}, "a", "Endless"),
        (deep, "a.b[1].c", "Trap"),
    ):
        assert encode(value) == {
            "error": f"the result could not be put into words: {place} is of the class {kind}, which raised an error"
            " when it was read. Return text, numbers, lists and dicts"
        }


def test_what_can_be_read_only_once_is_told_as_something_in_the_result() -> None:
    def rows() -> Iterator[int]:
        yield 1
        raise ValueError

    assert "it holds a value that raised an error when it was read" in encode({"rows": rows()})["error"]


def test_a_key_that_fights_back_is_an_error_and_no_exception() -> None:
    class Key:
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__

    assert "a key of the class Key: an object of the class Key" in encode({Key(): Trap()})["error"]


def test_the_log_names_the_place_and_the_class_of_what_a_result_raised_and_not_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Bill(BaseModel):
        total: int = 1

        @field_serializer("total")
        def told(self, total: int) -> int:
            raise ValueError("a secret")

    done = outcome({"bill": [Bill()]})
    assert "bill[0] is of the class Bill, which raised an error when it was read" in caplog.text
    assert f"ValueError at {__file__}" in caplog.text
    assert "a secret" not in caplog.text
    assert "a secret" not in json.dumps(dict(done.response))


def test_what_a_serializer_says_with_a_tool_error_is_the_text_for_the_model() -> None:
    class Bill(BaseModel):
        total: int = 1

        @field_serializer("total")
        def told(self, total: int) -> int:
            raise ToolError("the bill is not ready: ask again in a minute")

    class Table(BaseModel):
        @model_serializer
        def told(self) -> int:
            raise ToolError("the bill is not ready: ask again in a minute")

    for value in (Bill(), {"bill": [Bill()]}, Table(), [Table()]):
        assert encode(value) == {"error": "the bill is not ready: ask again in a minute"}


def test_a_picture_that_no_file_can_hold_is_told_with_its_place_and_what_to_return() -> None:
    empty = pytest.importorskip("PIL.Image").new("RGB", (0, 0))
    advice = "an image of 0×0 pixels: return one that has pixels, or a text"
    assert encode(empty) == {"error": f"the tool has returned {advice}"}
    assert encode({"raw": b"\xff", "photo": [1, empty]}) == {
        "error": f"the tool has returned in photo[1]: {advice}"
    }
    with pytest.raises(ValueError, match="an image of 0×0 pixels"):
        ToolResult(1, parts=[empty])


def test_an_iterator_is_read_to_its_end() -> None:
    assert encode(x for x in "ab") == {"output": ["a", "b"]}
    assert encode(map(str, [1])) == {"output": ["1"]}


def test_an_iterator_without_end_is_cut() -> None:
    def forever() -> Iterator[int]:
        while True:
            yield 1

    assert len(encode(forever())["output"]) == 10_000


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))  # lone surrogates too
    | st.binary()
    | st.dates()
    | st.timedeltas()
    | st.decimals()
    | st.uuids()
    | st.complex_numbers()
    | st.builds(Mute)
    | st.sampled_from([Colour.RED, Level.LOW, Plain(), ValueError("x"), object(), len]),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers() | st.none() | st.floats() | st.binary(), inner)
        | st.builds(Data, st.integers(), inner)
    ),
)


@settings(deadline=None, derandomize=True)
@given(ANYTHING)
def test_whatever_is_returned_can_be_sent(value: Any) -> None:
    response = encode(value)
    assert isinstance(response, dict)
    assert json.loads(json.dumps(response, allow_nan=False, ensure_ascii=False).encode()) == response


def test_a_tool_result_carries_its_options_to_the_outcome() -> None:
    done = outcome(
        ToolResult(1, scheduling="when-idle", ends_session=True, parts=[(b"x", "image/png")]), "result"
    )
    assert done.response == {"result": 1}
    assert (done.scheduling, done.ends_session, done.result) == ("WHEN_IDLE", True, 1)
    assert done.parts == ({"inlineData": {"mimeType": "image/png", "data": "eA=="}},)
    assert outcome("x").response == {"output": "x"}
    assert outcome("x").result == "x"


def test_a_tool_result_refuses_what_cannot_be() -> None:
    with pytest.raises(ToolDefinitionError, match="scheduling='later' should be one of interrupt"):
        ToolResult(1, scheduling="later")
    with pytest.raises(TypeError, match="a part of a ToolResult is"):
        ToolResult(1, parts=["a picture"])


def test_a_result_beyond_its_limit_is_cut() -> None:
    done = outcome("x" * 1000, max_bytes=100)
    assert len(json.dumps(done.response)) <= 120
    assert done.result == "x" * 1000


LARGE = [{"id": n, "tags": ["a", "hé"]} for n in range(200)]


@pytest.mark.parametrize("most", [None, 10**6])
@pytest.mark.parametrize("value", [LARGE, {"rows": LARGE}, {"result": LARGE}, {"content": LARGE, "more": 1}])
def test_the_text_of_a_large_result_is_that_of_its_response(value: Any, most: int | None) -> None:
    done = outcome(value, max_bytes=most)
    assert done.encoded is not None
    assert json.loads(done.encoded) == done.response == encode(value)


@pytest.mark.parametrize("value", [[*LARGE, (1,)], [*LARGE, math.nan], [*LARGE, {1: 2}], [*LARGE, 2**60]])
def test_a_large_result_that_is_told_otherwise_has_no_text_yet(value: Any) -> None:
    assert outcome(value).encoded is None


def test_the_text_of_a_large_result_is_not_kept_where_the_result_is_cut() -> None:
    done = outcome(LARGE, max_bytes=1000)
    assert done.encoded is None
    assert len(json.dumps(done.response, ensure_ascii=False).encode()) < 1200


def test_only_a_tool_errors_text_is_told() -> None:
    assert error_outcome(RuntimeError("s3cret"), "boom").response == {"error": "boom failed"}
    assert error_outcome(ToolError("no such city"), "boom").response == {"error": "no such city"}
    assert error_outcome(ToolError(), "boom").response == {"error": "boom failed"}
    assert failure("a\ud800") == {"error": "a\ufffd"}


class Plain:
    limit: ClassVar[int] = 3
    name: str
    size: int = 2
    _secret: str = "hidden"

    def __init__(self) -> None:
        self.name = "Ada"
        self.more = "not annotated"

    def __str__(self) -> str:
        return "somebody"


class Child(Plain):
    born: datetime.date

    def __init__(self) -> None:
        super().__init__()
        self.born = datetime.date(2026, 1, 31)


class Slotted:
    __slots__ = ("x",)
    x: int

    def __init__(self) -> None:
        self.x = 1


class Unset:
    x: int
    y: int = 1


class Bare:
    def __init__(self) -> None:
        self.x = 1


class Worded(Bare):
    def __repr__(self) -> str:
        return "Worded!"


class Addressed:
    """Prints its address, as one does who calls the default."""

    def __repr__(self) -> str:
        return object.__repr__(self)


class Raising:
    x: int

    @property
    def y(self) -> int:
        raise ValueError("no")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (Plain(), {"name": "Ada", "size": 2}),
        (Child(), {"name": "Ada", "size": 2, "born": "2026-01-31"}),
        (Slotted(), {"x": 1}),
        (Unset(), {"y": 1}),
    ],
    ids=["plain", "child", "slots", "unset"],
)
def test_an_instance_of_a_plain_class_goes_out_as_its_annotated_fields(
    value: object, wanted: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    assert encode(value) == {"output": wanted}
    assert encode([{"a": value}]) == {"output": [{"a": wanted}]}
    assert caplog.text == ""


@pytest.mark.parametrize(
    "value",
    [Bare(), Raising(), Mute(), object(), threading.Lock(), Addressed()],
    ids=lambda v: type(v).__name__,
)
def test_an_object_with_nothing_to_tell_is_an_error_that_names_its_class(value: object) -> None:
    for result in (value, [value], {"a": value}):
        said = encode(result)["error"]
        assert type(value).__name__ in said
        assert " at 0x" not in said


def test_without_such_fields_its_text_goes_out_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    assert encode(Worded()) == {"output": "Worded!"}
    assert "a Worded has no annotated fields" in caplog.text
