"""Recognises the format of an encoded image by its first bytes."""

from __future__ import annotations

from livetools.errors import ConfigError

#: What the service takes for video, and how each begins.
_TAKEN = ((b"\xff\xd8", "image/jpeg"), (b"\x89PNG\r\n\x1a\n", "image/png"))
#: What people send, and the service closes for.
_REFUSED = (
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"<svg", "SVG"),
    (b"%PDF", "PDF"),
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
            f"the frame is an array of pixels: {_WANTED}. Encode it, as cv2.imencode('.jpg', frame) does"
        )
    data = view.tobytes()
    if not data:
        raise ConfigError(f"the frame is empty: {_WANTED}")
    for begins, mime_type in _TAKEN:
        if data.startswith(begins):
            return data, mime_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return data, "image/webp"
    # HEIC, AVIF and MP4 have the same beginning; the brand behind it tells them apart.
    if data[4:8] == b"ftyp":
        kind = "an AVIF" if data[8:12] in (b"avif", b"avis") else "a HEIC (or a film)"
        raise ConfigError(f"the frame is {kind}: {_WANTED}")
    for begins, name in _REFUSED:
        if data.startswith(begins):
            raise ConfigError(f"the frame is a {name}: {_WANTED}")
    raise ConfigError(f"the frame is not an encoded image: {_WANTED}. Raw pixels have to be encoded first")
