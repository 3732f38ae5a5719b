"""Frames of video: what the service takes, and what it would close for."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from livetools.errors import ConfigError
from livetools.protocol.input.image_format import image

JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
WEBP = b"RIFF\x24\0\0\0WEBPVP8 "


@pytest.mark.parametrize(
    ("frame", "mime_type"), [(JPEG, "image/jpeg"), (PNG, "image/png"), (WEBP, "image/webp")]
)
@pytest.mark.parametrize("held", [bytes, bytearray, memoryview, lambda b: numpy.frombuffer(b, "uint8")])
def test_an_encoded_image_goes_under_its_own_type(frame: bytes, mime_type: str, held: Any) -> None:
    assert image(held(frame)) == (frame, mime_type)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (b"", "empty"),
        (b"GIF89a\1\0\1\0", "a GIF"),
        (b"GIF87a\1\0\1\0", "a GIF"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "a HEIC"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0", "a HEIC"),
        (b"\0\0\0\x18ftypavif\0\0\0\0", "an AVIF"),
        (b"BM\x36\0\0\0", "a BMP"),
        (b"II*\0\x08\0\0\0", "a TIFF"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "not an encoded image"),
        (bytes(640 * 480 * 3), "Raw pixels"),
        (numpy.zeros((4, 4, 3), "uint8"), "an array of pixels"),
        (numpy.zeros(16, "float32"), "an array of pixels"),
        ("photo.jpg", "is a str"),
        (None, "is a NoneType"),
    ],
)
def test_what_the_service_would_close_for_is_refused(frame: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        image(frame)
