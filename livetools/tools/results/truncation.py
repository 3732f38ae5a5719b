"""Cuts a response that is too long: the model sees that something is missing, and it remains valid JSON."""

from __future__ import annotations

import msgspec

from livetools.protocol.messages.lenient_json import Json

SMALLEST = 64  # bytes: where less room is left, a value is left out and not cut further


def shrink(response: dict[str, Json], max_bytes: int) -> dict[str, Json]:
    """``response``, at most ``max_bytes`` of UTF-8 JSON long (or, below about 100, as short as a marker is).

    What is cut says so in place: a text ends in ``… [cut: 12 of 400 characters]``, an array in an element
    like it, an object gains a key ``"…"``. Short values are kept before long ones are.
    """
    if _size(response) <= max_bytes:
        return response
    return _object(response, max_bytes)


def _size(value: Json) -> int:
    return len(msgspec.json.encode(value))


def _cut(value: Json, room: int) -> Json:
    """``value`` within ``room`` bytes, if it can be cut at all."""
    if _size(value) <= room:
        return value
    if isinstance(value, str):
        return _string(value, room)
    if isinstance(value, list):
        return _array(value, room)
    if isinstance(value, dict):
        return _object(value, room)
    return value


def _string(value: str, room: int) -> str:
    """The longest beginning that fits with its marker; escapes make bytes and characters differ."""
    total = len(value)
    low, high = 0, min(total, room)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(_marked(value, middle, total)) <= room:
            low = middle
        else:
            high = middle - 1
    return _marked(value, low, total)


def _marked(value: str, kept: int, total: int) -> str:
    return f"{value[:kept]}… [cut: {kept} of {total} characters]"


def _array(value: list[Json], room: int) -> list[Json]:
    kept: list[Json] = []
    left = room - 2 - _size(_rest(len(value), len(value)))
    for item in value:
        size = _size(item) + 1
        if size > left:
            if left > SMALLEST and isinstance(item, str | list | dict):
                kept.append(_cut(item, left - 1))
            break
        kept.append(item)
        left -= size
    return [*kept, _rest(len(kept), len(value))]


def _rest(kept: int, total: int) -> str:
    return f"… [cut: {kept} of {total} items]"


def _object(value: dict[str, Json], room: int) -> dict[str, Json]:
    """Keys in their order; room is shared out so that what is short is kept whole."""
    sizes = {k: _size(k) + _size(v) + 2 for k, v in value.items()}
    left = room - 2
    if sum(sizes.values()) > left and len(value) > 1:
        left -= len(f'"…":"[cut: {len(value)} of {len(value)} keys]",'.encode())
    kept: dict[str, Json] = {}
    ascending = sorted(value, key=sizes.__getitem__)
    for i, key in enumerate(ascending):
        share = max(left, 0) // (len(ascending) - i)
        if sizes[key] <= share:
            kept[key] = value[key]
        elif share - _size(key) > SMALLEST or (len(value) == 1 and _size(key) < SMALLEST):
            kept[key] = _cut(value[key], share - _size(key) - 2)
        else:
            continue
        left -= _size(key) + _size(kept[key]) + 2
    result = {k: kept[k] for k in value if k in kept}
    if len(kept) < len(value):
        result["…"] = f"[cut: {len(kept)} of {len(value)} keys]"
    return result
