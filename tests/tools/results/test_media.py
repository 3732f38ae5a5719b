"""Images and text in a function response."""

from __future__ import annotations

from typing import Any

import pytest

from livetools.tools.results.media import parts

PNG = {"inlineData": {"mimeType": "image/png", "data": "AP8="}}
SHAPES: list[Any] = [
    (b"\x00\xff", "image/png"),
    (bytearray(b"\x00\xff"), "image/png"),
    PNG,
    {"inline_data": {"mime_type": "image/png", "data": b"\x00\xff"}},
    {"mime_type": "image/png", "data": b"\x00\xff"},
]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_part_is_sent_alike(shape: Any) -> None:
    assert parts([shape]) == (PNG,)


def test_a_display_name_is_kept() -> None:
    named = {"inlineData": {"mimeType": "image/png", "data": "AP8=", "displayName": "map"}}
    assert parts([named]) == (named,)


def test_google_genai_types_are_taken() -> None:
    from google.genai import types

    blob = types.Blob(data=b"\x00\xff", mime_type="image/png")
    inline = types.FunctionResponseBlob(data=b"\x00\xff", mime_type="image/png")
    items = [blob, types.Part(inline_data=blob), types.FunctionResponsePart(inline_data=inline)]
    assert parts(items) == (PNG, PNG, PNG)
    file = types.FunctionResponsePart.from_uri(file_uri="gs://b/x.png", mime_type="image/png")
    assert parts([file]) == ({"fileData": {"mimeType": "image/png", "fileUri": "gs://b/x.png"}},)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("a picture", "not str"),
        ((b"x", "png"), "a MIME type such as"),
        ({"inlineData": {"mimeType": "image/png", "data": 5}}, "is bytes or base64 text, not int"),
        ({"inlineData": {"mimeType": "image/png", "data": "%%"}}, "is not base64"),
        ({"inline_data": {"mime_type": "image/png", "data": "QUJD\n"}}, "is not base64"),
        ({"text": "x"}, "not dict"),
    ],
)
def test_anything_else_is_refused_in_words(item: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        parts([item])
