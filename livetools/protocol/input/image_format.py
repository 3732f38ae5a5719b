"""Recognises the format of an encoded image by its first bytes."""

from __future__ import annotations

import re

from livetools.errors import ConfigError

#: How images begin: what the service takes, by its MIME type, and what people send, and the service closes for.
_KINDS = (
    (rb"\xff\xd8", "image/jpeg"),
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"RIFF....WEBP", "image/webp"),
    # HEIC, AVIF and MP4 have the same beginning; the brand behind it tells them apart.
    (rb"....ftypavi[fs]", "an AVIF"),
    (rb"....ftyp", "a HEIC (or a film)"),
    (rb"GIF8", "a GIF"),
    (rb"BM", "a BMP"),
    (rb"II\*\0|MM\0\*", "a TIFF"),
    (rb"<svg", "a SVG"),
    (rb"%PDF", "a PDF"),
)
_WANTED = "a JPEG, a PNG or a WebP is expected"


def image(frame: object) -> tuple[bytes, str]:
    """The bytes of an encoded image, and its MIME type.

    Raises :class:`ConfigError` for another format, raw pixels, an empty frame, and what does not hold bytes.
    """
    try:
        view = memoryview(frame)  # type: ignore[arg-type]  # what is not a buffer raises
    except TypeError:
        raise ConfigError(
            f"the frame is a {type(frame).__name__}: the bytes of an encoded image are expected"
        ) from None
    # An array of pixels has several dimensions, or wider numbers: its bytes are no encoded image.
    if view.format not in ("B", "b", "c") or sum(size != 1 for size in view.shape or ()) > 1:
        raise ConfigError(
            f"the frame is an array of pixels: {_WANTED}. Encode it: cv2.imencode('.jpg', frame)"
        )
    data = view.tobytes()
    if not data:
        raise ConfigError(f"the frame is empty: {_WANTED}")
    for begins, kind in _KINDS:
        if re.match(begins, data, re.DOTALL):
            if kind.startswith("image/"):
                return data, kind
            raise ConfigError(f"the frame is {kind}: {_WANTED}")
    raise ConfigError(f"the frame is not an encoded image: {_WANTED}. Raw pixels have to be encoded first")
