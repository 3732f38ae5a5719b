"""What may be run around every call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from livetools.events import Call, InputTranscript, OutputTranscript
from livetools.tools import Hooks

CALL = Call("1", "weather", {})


def test_a_hook_overrides_what_is_of_interest_and_inherits_the_rest() -> None:
    class Log(Hooks):
        def __init__(self) -> None:
            self.lines: list[object] = []

        def after(self, call: Call, response: Mapping[str, Any]) -> None:
            self.lines.append((call.name, response))

    log = Log()
    assert log.before(CALL) is None
    log.after(CALL, {"output": 1})
    assert log.on_error(CALL, ValueError()) is None
    assert log.on_cancel(CALL) is None
    assert log.on_input(InputTranscript("hi")) is None
    assert log.on_output(OutputTranscript("hello")) is None
    assert log.lines == [("weather", {"output": 1})]
