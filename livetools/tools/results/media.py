"""Images, sound and files in a tool's result: what they are, and how they go into ``FunctionResponse.parts``."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from livetools.setup.sdk.config_values import is_base64

ResponsePart = dict[str, Any]  # a JSON object, in camelCase

BYTES = bytes | bytearray | memoryview

#: How encoded media begin: the offset, the bytes there, and the type. Bytes that are text are never among them.
_BEGINNINGS = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (8, b"WEBP", "image/webp"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypavis", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftyphev", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypM4A", "audio/mp4"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\0\0\1\0", "image/x-icon"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (8, b"AIFF", "audio/aiff"),
    (8, b"AIFC", "audio/aiff"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf2", "audio/mpeg"),
    (0, b"\xff\xf1", "audio/aac"),
    (0, b"\xff\xf9", "audio/aac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"%PDF-", "application/pdf"),
)
_BITMAP = (b"BM", 14)  # two letters alone would be text: a bitmap's header also holds its size

#: Fields of google-genai's ``Part`` that a part of a function response has as well.
_SHARED = (
    "mediaProcessing", "mediaResolution", "videoMetadata", "documentMetadata", "spreadsheetMetadata", "audioMetadata",
)  # fmt: skip
_FIRST = {"image": "an image", "audio": "a sound", "video": "a video"}


class Unsayable(ValueError):
    """A value that has no form in which a model could read it. The text says what was there and what to return."""


class MediaPart(NamedTuple):
    """A part of a function response, and what the model reads in its place: its kind, its type and its size."""

    part: ResponsePart
    words: str


def type_of(data: bytes) -> str | None:
    """The MIME type of an encoded image, sound, video or PDF, by its first bytes; ``None`` for anything else."""
    for at, begins, kind in _BEGINNINGS:
        if data.startswith(begins, at) and (at != 8 or data[:4] in (b"RIFF", b"FORM")):
            return kind
    mark, length = _BITMAP
    if data.startswith(mark) and len(data) > length and int.from_bytes(data[2:6], "little") == len(data):
        return "image/bmp"
    return None


def media_of(value: object) -> MediaPart | None:
    """The media that ``value`` is: encoded bytes, a ``PIL.Image``, google-genai's ``Part`` or ``Blob`` with data or a
    file, or the dict of such a part. ``None`` for anything else.
    """
    if isinstance(value, BYTES):
        data = bytes(value)
        return None if (kind := type_of(data)) is None else _media(_inline(data, kind))
    if isinstance(value, io.BytesIO):
        return media_of(value.getvalue())
    if _is_picture(value):
        return _media(_inline(*_encoded(value)))
    if isinstance(value, Mapping):
        if not {"inlineData", "inline_data", "fileData", "file_data"}.isdisjoint(value):
            return _media(_part(value))
    elif str(type(value).__module__).startswith("google.genai"):
        dumped = _dump(value)
        if any(dumped.get(key) for key in ("inlineData", "fileData", "data", "imageBytes", "videoBytes")):
            return _media(_part(value))
    return None


def parts(items: Iterable[object]) -> tuple[ResponsePart, ...]:
    """Each item as ``{"inlineData": {"mimeType": ..., "data": base64}}`` (or ``{"fileData": ...}``).

    Accepts ``(data, mime_type)``, the bytes of an image, sound, video or PDF, a ``PIL.Image``, such dicts in either
    casing, and google-genai's ``Part``, ``Blob`` and ``FunctionResponsePart``, whose further fields are kept. Raises
    ``TypeError`` for anything else.
    """
    return tuple(_part(item) for item in items)


def is_function_response(value: object) -> bool:
    """Whether this is google-genai's ``FunctionResponse``, which need not be imported for that."""
    kind = type(value)
    return kind.__name__ == "FunctionResponse" and str(kind.__module__).startswith("google.genai")


def words_of(part: ResponsePart) -> str:
    """A part in words: its kind, its type and its size."""
    inline = part.get("inlineData")
    held = inline or part.get("fileData") or {}
    kind = str(held.get("mimeType") or "a file")
    what = _FIRST.get(kind.partition("/")[0], "a file")
    if inline is None:
        return f"[{what}: {kind}, {held.get('fileUri')}]"
    return f"[{what}: {kind}, {len(inline['data'].rstrip('=')) * 3 // 4} bytes]"


def _media(part: ResponsePart) -> MediaPart:
    return MediaPart(part, words_of(part))


def _part(item: object) -> ResponsePart:
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], BYTES):
        return _inline(item[0], item[1])
    if isinstance(item, BYTES | io.BytesIO):
        if (media := media_of(item)) is not None:
            return media.part
        raise TypeError(
            "a part of a ToolResult is bytes of no known type: give (data, mime_type), such as (data, 'image/png')"
        )
    if _is_picture(item):
        return _inline(*_encoded(item))
    whole = item if isinstance(item, Mapping) else _dump(item)
    rest = {}
    if type(item).__name__ != "Part":
        rest = {_camel(k): _plain(v) for k, v in whole.items() if k not in _HELD and v is not None}
    rest = {k: v for k, v in {**_shared(whole), **rest}.items() if k not in _OF_A_BLOB}
    inline = _either(whole, "inlineData", "inline_data")
    if inline is None and (data := _blob(whole)) is not None:
        inline = {"data": data, "mimeType": _either(whole, "mimeType", "mime_type"), "displayName": None}
        inline["displayName"] = _either(whole, "displayName", "display_name")
    if isinstance(inline, Mapping) and inline.get("data") is not None:
        name = _either(inline, "displayName", "display_name")
        part = _inline(inline["data"], _either(inline, "mimeType", "mime_type"))["inlineData"]
        return {"inlineData": part | {"displayName": name} if name else part, **rest}
    file = _either(whole, "fileData", "file_data")
    if isinstance(file, Mapping):
        given = {_camel(key): value for key, value in file.items() if value is not None}
        return {
            "fileData": {"mimeType": given.get("mimeType"), "fileUri": given.get("fileUri"), **given},
            **rest,
        }
    raise TypeError(
        f"a part of a ToolResult is bytes, (bytes, mime_type), {{'inlineData': {{...}}}}, an image of PIL or one of "
        f"google-genai's types, not {type(item).__name__}"
    )


_HELD = frozenset({"inlineData", "inline_data", "fileData", "file_data"})
_BLOBS = ("data", "imageBytes", "image_bytes", "videoBytes", "video_bytes")
_OF_A_BLOB = frozenset({*_BLOBS, "mimeType", "displayName", "gcsUri", "uri"})


def _blob(whole: Mapping[str, Any]) -> object:
    return next((whole[key] for key in _BLOBS if whole.get(key) is not None), None)


def _shared(whole: Mapping[str, Any]) -> ResponsePart:
    return {key: _plain(whole[key]) for key in _SHARED if whole.get(key) is not None}


def _dump(item: object) -> Mapping[str, Any]:
    """One of google-genai's types as its fields in camelCase, its bytes as they are."""
    dump = getattr(item, "model_dump", None)
    dumped = dump(exclude_none=True, by_alias=True) if callable(dump) else {}
    return dumped if isinstance(dumped, Mapping) else {}


def _plain(value: Any) -> Any:
    """A field's value as JSON in camelCase."""
    if isinstance(value, Mapping):
        return {_camel(str(k)): _plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, BYTES):
        return base64.b64encode(value).decode()
    return getattr(value, "value", value)  # of an enum


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def _inline(data: object, mime: object) -> ResponsePart:
    if not isinstance(mime, str) or "/" not in mime:
        raise TypeError(f"a part of a ToolResult needs a MIME type such as 'image/png', not {mime!r}")
    if isinstance(data, BYTES):
        data = base64.b64encode(data).decode()
    if not isinstance(data, str):
        raise TypeError(f"the data of a part is bytes or base64 text, not {type(data).__name__}")
    if not is_base64(data):
        raise TypeError(
            "the data of a part is not base64: give the bytes themselves, or base64.b64encode(...)"
        )
    return {"inlineData": {"mimeType": mime, "data": data}}


def _either(item: Mapping[str, Any], camel: str, snake: str) -> Any:
    return item.get(camel, item.get(snake))


def _is_picture(value: object) -> bool:
    """Whether this is a Pillow image. The check does not import Pillow."""
    return any(c.__name__ == "Image" and c.__module__ == "PIL.Image" for c in type(value).__mro__)


def _encoded(picture: Any) -> tuple[bytes, str]:
    """An image of Pillow's as a file: a photo that was a JPEG stays one, all else loses nothing as a PNG. Raises
    :class:`Unsayable` where Pillow cannot make one of it."""
    if 0 in picture.size:
        raise Unsayable(
            f"an image of {picture.width}×{picture.height} pixels: return one that has pixels, or a text"
        )
    kind = "JPEG" if getattr(picture, "format", None) in ("JPEG", "MPO") and picture.mode == "RGB" else "PNG"
    file = io.BytesIO()
    try:
        if kind == "PNG" and picture.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            modes = {"La": "LA", "RGBa": "RGBA", "PA": "RGBA", "I": "I;16"}
            picture = picture.convert(modes.get(picture.mode, "RGB"))
        picture.save(file, format=kind)
    except Exception as error:  # its file is cut short, or was closed
        why = type(error).__name__
        raise Unsayable(f"an image that cannot be encoded ({why}): open it before it is returned") from error
    return file.getvalue(), f"image/{kind.lower()}"
