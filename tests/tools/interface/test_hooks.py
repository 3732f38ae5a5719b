"""What may be run around every call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import livetools
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
    assert log.on_allowed(CALL) is None
    assert log.on_error(CALL, ValueError()) is None
    assert log.on_cancel(CALL) is None
    assert log.on_input(InputTranscript("hi")) is None
    assert log.on_output(OutputTranscript("hello")) is None
    assert log.lines == [("weather", {"output": 1})]


def test_every_hook_that_livetools_calls_is_declared_and_documented() -> None:
    """Hooks are called by name, which no type checker reads: ``tell_all(hooks, "on_cancel", ...)``."""
    package = Path(livetools.__file__).parent
    called = {
        name
        for path in package.rglob("*.py")
        for name in re.findall(
            r'(?:tell_all\(.*|ask_hook\(hook|getattr\(hook), "(\w+)"', path.read_text("utf-8")
        )
    }
    assert {"before", "after", "on_allowed", "on_error", "on_cancel"} <= called
    assert [name for name in sorted(called) if not getattr(getattr(Hooks, name, None), "__doc__", None)] == []
