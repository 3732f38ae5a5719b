"""The two spellings of a field's name: camelCase on the wire, snake_case in Python."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=512)  # the service may say any number of names
def camel(name: str) -> str:
    """``response_modalities`` → ``responseModalities``; camelCase stays as it is."""
    return re.sub(r"(?<=[a-zA-Z0-9])_([a-z0-9])", lambda m: m[1].upper(), name)


@lru_cache(maxsize=512)
def snake(name: str) -> str:
    """``responseModalities`` → ``response_modalities``: how messages name a field."""
    return re.sub(r"[A-Z]", lambda m: "_" + m[0].lower(), name)
