"""What the database of durable tools holds: JSON where values are JSON, pickles of the rest."""

from __future__ import annotations

import base64
import json
import math
import pickle
from typing import Any

from dbos import Serializer

#: What text in the database begins with, if it is JSON.
_MARK = "json:"


class JsonOrPickle(Serializer):
    """JSON for values that are the same after they were written and read; ``pickle`` for the rest.

    Reading a pickle can run any code: who may write to the database may run code in the processes that share it.
    """

    def name(self) -> str:
        """By which each row says how it was written."""
        return "livetools_json"

    def serialize(self, data: Any) -> str:
        """The value as text."""
        if isinstance(data, dict) and data.keys() == {"args", "kwargs"} and isinstance(data["args"], tuple):
            data = {**data, "args": [*data["args"]]}  # a workflow's arguments: it takes any sequence
        if is_json(data):
            return _MARK + json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(pickle.dumps(data)).decode()

    def deserialize(self, serialized_data: str) -> Any:
        """The value of a text that :meth:`serialize` made."""
        if serialized_data.startswith(_MARK):
            return json.loads(serialized_data[len(_MARK) :])
        return pickle.loads(base64.b64decode(serialized_data))


def is_json(value: object, depth: int = 64) -> bool:
    """Whether a value is the same after it was written as JSON and read again."""
    if value is None or type(value) in (bool, int):
        return True
    if type(value) is str:
        return value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value)
    if type(value) is float:
        return math.isfinite(value)
    if not depth:
        return False
    if type(value) is list:
        return all(is_json(each, depth - 1) for each in value)
    if type(value) is dict:
        return all(
            type(key) is str and is_json(key) and is_json(each, depth - 1) for key, each in value.items()
        )
    return False
