"""What a model is given of values that JSON does not have: media, rows, tables, references."""

from __future__ import annotations

import base64
import collections
import contextlib
import enum
import io
import json
import math
import sqlite3
import types as python_types
from typing import Any

import pytest
from google.genai import types

from livetools import ToolError, ToolResult
from livetools.tools.results.outcomes import encode, outcome
from livetools.tools.results.to_json import MAX_VALUES

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
WAV = b"RIFF\x24\0\0\0WAVEfmt " + b"\0" * 20
BLOB = types.Blob(data=PNG, mime_type="image/png")
PART = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PNG).decode()}}


class Colour(enum.Enum):
    RED = "red"


def row() -> Any:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute("select 1 as id, 'Ada' as name").fetchone()


@pytest.mark.parametrize(
    ("data", "kind", "what"),
    [
        (PNG, "image/png", "an image"),
        (b"\xff\xd8\xff\xe0" + b"\0" * 9, "image/jpeg", "an image"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp", "an image"),
        (b"GIF89a\1\0", "image/gif", "an image"),
        (b"II*\0\1", "image/tiff", "an image"),
        (b"BM\x14\0\0\0" + b"\0" * 14, "image/bmp", "an image"),
        (b"\0\0\0\x1cftypavif", "image/avif", "an image"),
        (b"\0\0\0\x1cftypheic", "image/heic", "an image"),
        (WAV, "audio/wav", "a sound"),
        (b"ID3\4\0", "audio/mpeg", "a sound"),
        (b"\xff\xfb\x90\x64", "audio/mpeg", "a sound"),
        (b"OggS\0", "audio/ogg", "a sound"),
        (b"fLaC\0", "audio/flac", "a sound"),
        (b"\0\0\0\x1cftypM4A ", "audio/mp4", "a sound"),
        (b"\0\0\0\x1cftypisom", "video/mp4", "a video"),
        (b"\x1aE\xdf\xa3\1", "video/webm", "a video"),
        (b"%PDF-1.7\n\xff", "application/pdf", "a file"),
    ],
)
@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, io.BytesIO])
def test_encoded_media_are_a_part_and_a_sentence(data: bytes, kind: str, what: str, make: Any) -> None:
    done = outcome(make(data))
    assert done.response == {"output": f"[{what}: {kind}, {len(data)} bytes]"}
    assert done.parts == ({"inlineData": {"mimeType": kind, "data": base64.b64encode(data).decode()}},)
    nested = outcome({"shots": [{"shot": make(data)}, make(data)]})
    assert nested.parts == done.parts * 2
    assert base64.b64encode(data).decode() not in json.dumps(nested.response)


@pytest.mark.parametrize("data", [b"\xff\xfe\x80\x81" * 20, bytes(10), b"\xffabc"])
def test_bytes_that_are_neither_text_nor_media_are_an_error_that_says_so(data: bytes) -> None:
    done = outcome(data)
    assert f"{len(data)} bytes that are neither" in done.response["error"]
    assert isinstance(done.error, ToolError)


@pytest.mark.parametrize("data", [b"\xff\xfe\x80\x81", bytes(4), io.BytesIO(b"\xffabc")])
def test_inside_a_larger_value_such_bytes_do_not_cost_the_rest_of_it(data: object) -> None:
    assert encode({"name": "a", "raw": data}) == {
        "output": {"name": "a", "raw": "[4 bytes that are not text]"}
    }
    assert encode(["a", [data]]) == {"output": ["a", ["[4 bytes that are not text]"]]}


def test_text_that_begins_as_a_bitmap_is_text() -> None:
    assert encode(b"BM is a car maker, or so they say") == {"output": "BM is a car maker, or so they say"}


@pytest.mark.parametrize(
    "value",
    [
        BLOB,
        types.Part(inline_data=BLOB),
        types.Part.from_bytes(data=PNG, mime_type="image/png"),
        types.FunctionResponseBlob(data=PNG, mime_type="image/png"),
        types.FunctionResponsePart(inline_data=types.FunctionResponseBlob(data=PNG, mime_type="image/png")),
        types.Image(image_bytes=PNG, mime_type="image/png"),
        PART,
        {"inline_data": {"mime_type": "image/png", "data": PNG}},
    ],
)
def test_google_genais_media_become_parts_wherever_they_are(value: Any) -> None:
    assert outcome(value).parts == (PART,)
    assert outcome([value, {"a": value}]).parts == (PART, PART)
    assert "null" not in json.dumps(outcome(value).response)


def test_other_types_of_google_genai_are_told_without_their_empty_fields() -> None:
    assert encode(types.Part(text="hello")) == {"output": "hello"}
    content = types.Content(role="model", parts=[types.Part(text="see"), types.Part(inline_data=BLOB)])
    done = outcome(content)
    assert done.response == {"output": {"role": "model", "parts": ["see", "[an image: image/png, 28 bytes]"]}}
    assert done.parts == (PART,)
    file = types.Part.from_uri(file_uri="gs://b/x.png", mime_type="image/png")
    assert outcome(file).parts == ({"fileData": {"mimeType": "image/png", "fileUri": "gs://b/x.png"}},)


def test_a_dict_that_only_looks_like_media_is_a_dict() -> None:
    assert encode({"inlineData": {"rows": 3}}) == {"output": {"inlineData": {"rows": 3}}}
    assert encode({"fileData": "x"}) == {"output": {"fileData": "x"}}


def test_a_picture_of_pillows_becomes_a_part() -> None:
    image = pytest.importorskip("PIL.Image")
    for mode in ("1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LAB", "F", "I", "I;16", "La", "PA"):
        done = outcome(image.new(mode, (4, 4)))
        (part,) = done.parts
        assert part["inlineData"]["mimeType"] == "image/png"
        assert image.open(io.BytesIO(base64.b64decode(part["inlineData"]["data"]))).size == (4, 4)
        assert done.response["output"].startswith("[an image: image/png, ")
    file = io.BytesIO()
    image.new("RGB", (4, 4)).save(file, format="JPEG")
    (part,) = outcome([image.open(io.BytesIO(file.getvalue()))]).parts
    assert part["inlineData"]["mimeType"] == "image/jpeg"
    assert (
        ToolResult("see", parts=[image.new("RGB", (1, 1))]).parts[0]["inlineData"]["mimeType"] == "image/png"
    )  # type: ignore[index]


def test_a_function_response_goes_out_as_it_stands() -> None:
    blob = types.FunctionResponseBlob(data=PNG, mime_type="image/png", display_name="shot")
    response = types.FunctionResponse(
        id="other",
        name="other",
        response={"ok": 1},
        scheduling=types.FunctionResponseScheduling.SILENT,
        will_continue=True,
        parts=[types.FunctionResponsePart(inline_data=blob)],
    )
    done = outcome(response)
    assert (done.response, done.scheduling, done.will_continue) == ({"ok": 1}, "SILENT", True)
    assert done.parts == ({"inlineData": {**PART["inlineData"], "displayName": "shot"}},)
    gathered = outcome([response, ToolResult(2, parts=[PNG])])
    assert gathered.response == {"output": [{"ok": 1}, 2]}
    assert len(gathered.parts) == 2
    assert outcome(types.FunctionResponse(response=None)).response == {"output": None}


@pytest.mark.parametrize(
    ("name", "value", "wire"),
    [
        ("media_resolution", {"level": "MEDIA_RESOLUTION_LOW"}, {"level": "MEDIA_RESOLUTION_LOW"}),
        ("video_metadata", {"fps": 2}, {"fps": 2.0}),
        ("document_metadata", {"start_page": 2}, {"startPage": 2}),
        ("spreadsheet_metadata", {"sheet_index": 1}, {"sheetIndex": 1}),
        ("audio_metadata", {"start_offset": "1s"}, {"startOffset": "1s"}),
        ("media_processing", "AGENTIC", "AGENTIC"),
    ],
)
def test_parts_hand_every_field_of_the_sdks_part_on(name: str, value: Any, wire: Any) -> None:
    blob = types.FunctionResponseBlob(data=PNG, mime_type="image/png")
    camel = name.split("_")[0] + name.split("_")[1].title()
    items: list[Any] = [{"inline_data": {"data": PNG, "mime_type": "image/png"}, name: value}]
    if name in types.FunctionResponsePart.model_fields:  # older versions have none of them
        items.append(types.FunctionResponsePart(inline_data=blob, **{name: value}))
    for item in items:
        (part,) = ToolResult("see", parts=[item]).parts
        assert part == {**PART, camel: wire}


@pytest.mark.parametrize(
    "value",
    [
        {1: "a", "1": "b"},
        {"red": 1, Colour.RED: 2},
        {None: 1, "null": 2},
        {True: 1, "true": 2},
        {1.0: "a", "1.0": "b"},
        [{"x": {2: 1, "2": 1}}],
        collections.OrderedDict([(1, "a"), ("1", "b")]),
        python_types.MappingProxyType({1: "a", "1": "b"}),
    ],
)
def test_keys_that_are_one_in_json_are_an_error(value: Any) -> None:
    assert "which are one in JSON" in encode(value)["error"]


@pytest.mark.parametrize(
    "value",
    [
        {"$ref": "#/x"},
        {"a": [{"b": {"$ref": "#/x", "n": 1}}]},
        collections.UserDict({"$ref": "#/x"}),
        {"$ref": "#/x", "output": 1},
    ],
)
def test_a_reference_goes_out_as_text(value: Any) -> None:
    response = encode(value)
    assert '"$ref"' not in json.dumps(response).replace('\\"', "'")
    assert "#/x" in json.dumps(response)


class Record:
    """As a database driver's record: keys() and items by name."""

    def keys(self) -> list[str]:
        return ["id", "name"]

    def __getitem__(self, key: str) -> object:
        return {"id": 1, "name": "Ada"}[key]


def test_rows_keep_the_names_of_their_columns() -> None:
    ada = {"id": 1, "name": "Ada"}
    assert encode([row(), Record()]) == {"output": [ada, ada]}
    with contextlib.closing(sqlite3.connect(":memory:")) as twice:
        twice.row_factory = sqlite3.Row
        assert "one in JSON" in encode(twice.execute("select 1 as id, 2 as id").fetchone())["error"]


def test_rows_and_objects_of_sqlalchemy_keep_their_names() -> None:
    sa = pytest.importorskip("sqlalchemy")
    orm = pytest.importorskip("sqlalchemy.orm")
    people = sa.Table(
        "people",
        base := sa.MetaData(),
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String),
    )
    engine = sa.create_engine("sqlite://")
    base.create_all(engine)

    class Person:
        pass

    orm.registry().map_imperatively(Person, people)
    with orm.Session(engine) as session:
        session.execute(sa.insert(people), [{"id": 1, "name": "Ada"}])
        ada = {"id": 1, "name": "Ada"}
        assert encode(session.execute(sa.select(people)).all()) == {"output": [ada]}
        assert encode(session.execute(sa.select(people)).mappings().all()) == {"output": [ada]}
        assert encode(session.scalars(sa.select(Person)).one()) == {"output": ada}
    engine.dispose()


def test_tables_of_pandas_keep_their_rows_and_names() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"n": [1, 2], "when": [pd.Timestamp("2026-01-31"), pd.NaT], "x": [math.nan, 2.5]})
    rows = [{"n": 1, "when": "2026-01-31T00:00:00", "x": None}, {"n": 2, "when": None, "x": 2.5}]
    assert encode(frame) == {"output": rows}
    assert encode({"table": frame, "na": [pd.NA, pd.NaT]}) == {"output": {"table": rows, "na": [None, None]}}
    sums = pd.DataFrame({"city": ["Oslo", "Rome", "Oslo"], "n": [1, 2, 3]}).groupby("city").sum()
    assert encode(sums) == {"output": [{"city": "Oslo", "n": 4}, {"city": "Rome", "n": 2}]}
    assert encode(sums["n"]) == {"output": {"Oslo": 4, "Rome": 2}}
    assert encode(frame["n"]) == {"output": [1, 2]}
    assert len(encode(pd.Series([1, 2], index=["a", "a"], name="n"))["output"]) == 2
    assert "two columns" in encode(pd.DataFrame([[1, 2]], columns=["a", "a"]))["error"]


def test_a_column_of_pandas_keeps_the_names_of_an_index_of_several_levels() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": ["Oslo", "Oslo"], "year": [2025, 2026], "n": [1, 2]})
    rows = [{"city": "Oslo", "year": 2025, "n": 1}, {"city": "Oslo", "year": 2026, "n": 2}]
    assert encode(frame.groupby(["city", "year"])["n"].sum()) == {"output": rows}


def test_a_column_of_pandas_that_is_called_as_its_index_keeps_its_values() -> None:
    pd = pytest.importorskip("pandas")
    cities = pd.DataFrame({"city": ["Oslo", "Oslo"]}).set_index("city", drop=False)["city"]
    assert encode(cities) == {"output": [{"city": "Oslo", "values": "Oslo"}] * 2}


def test_an_index_of_pandas_that_repeats_a_column_costs_no_row() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": ["Oslo", "Rome"], "n": [1, 2]})
    rows = [{"city": "Oslo", "n": 1}, {"city": "Rome", "n": 2}]
    assert encode(frame.set_index("city", drop=False)) == {"output": rows}
    other = frame.set_index(pd.Index(["a", "b"], name="city"))
    assert "two columns 'city'" in encode(other)["error"]


def test_tables_of_polars_keep_their_rows_and_names() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"n": [1, None], "name": ["Ada", "Bo"]})
    assert encode(frame) == {"output": [{"n": 1, "name": "Ada"}, {"n": None, "name": "Bo"}]}
    assert encode([frame["n"], frame.row(0, named=True)]) == {"output": [[1, None], {"n": 1, "name": "Ada"}]}


def test_records_of_numpy_keep_their_names() -> None:
    np = pytest.importorskip("numpy")
    records = np.array([(1, "Ada"), (2, "Bo")], dtype=[("id", "i4"), ("name", "U9")])
    assert encode(records) == {"output": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bo"}]}
    assert encode(records[0]) == {"output": {"id": 1, "name": "Ada"}}
    assert encode(np.datetime64("NaT", "s")) == {"output": None}


def test_times_of_numpy_are_times_whatever_their_unit() -> None:
    np = pytest.importorskip("numpy")
    when = np.datetime64("2026-01-31T09:30:00.5", "ns")
    assert encode(when) == {"output": "2026-01-31T09:30:00.500000"}
    assert encode(np.array([when, np.datetime64("NaT", "ns")])) == {
        "output": ["2026-01-31T09:30:00.500000", None]
    }
    assert encode(np.array([90], dtype="m8[s]").astype("m8[ns]")) == {"output": ["PT90S"]}
    assert encode({when: 1}) == {"output": {"2026-01-31T09:30:00.500000": 1}}


def test_numbers_of_numpy_are_numbers_whatever_their_precision() -> None:
    np = pytest.importorskip("numpy")
    assert encode(np.longdouble(1.5)) == {"output": 1.5}
    assert encode(np.array([1.5, math.nan], dtype=np.longdouble)) == {"output": [1.5, None]}
    assert encode(np.clongdouble(1 + 2j)) == {"output": "(1+2j)"}


def test_a_user_string_is_text() -> None:
    assert encode(collections.UserString("Oslo")) == {"output": "Oslo"}


def test_a_result_that_has_no_end_is_cut_and_a_large_one_is_not() -> None:
    doubled: Any = []
    for _ in range(60):
        doubled = [doubled, doubled]
    assert "…" in json.dumps(encode(doubled), ensure_ascii=False)
    rows = [{"id": n, "name": f"número {n}", "price": n / 2, "tags": ["a", "b"]} for n in range(20_000)]
    assert encode({"rows": rows}) == {"output": {"rows": rows}}
    assert len(rows) * 6 < MAX_VALUES


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (2**53 + 1, "9007199254740993"),
        (math.nan, None),
        ((1, 2), [1, 2]),
        (Colour.RED, "red"),
        ({1: "a"}, {"1": "a"}),
        ({"$ref": "#/x"}, '{"$ref": "#/x"}'),
        (PNG, "[an image: image/png, 28 bytes]"),
        ("a\ud800b", "a\ufffdb"),
        (row(), {"id": 1, "name": "Ada"}),
        (True, True),
        (1.0, 1.0),
    ],
)
def test_in_a_large_result_each_value_becomes_what_it_does_in_a_small_one(odd: Any, said: Any) -> None:
    rows = [{"id": n, "name": f"row {n}"} for n in range(1000)]
    done = outcome({"rows": rows, "odd": odd})
    assert done.response == {"output": {"rows": rows, "odd": said}}
    assert done.response["output"]["rows"][0] is not rows[0], "a copy: the tool may change what it returned"
    assert "which are one in JSON" in encode([*rows, {1: "a", "1": "b"}])["error"]


def test_what_an_iterator_raises_for_the_model_is_told() -> None:
    def fails(n: int) -> int:
        raise ToolError("no such row")

    assert encode(map(fails, [1])) == {"error": "no such row"}
    assert encode({"rows": map(fails, [1])}) == {"error": "no such row"}
