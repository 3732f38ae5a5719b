"""What may be run around every call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import livetools
from livetools.errors import ConfigError
from livetools.events import Call, InputTranscript, OutputTranscript
from livetools.tools import Hooks
from livetools.tools.hooks import check_hooks

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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("befor", "before"),
        ("Before", "before"),
        ("before_call", "before"),
        ("check_before", "before"),
        ("before_tool_callback", "before"),
        ("on_errors", "on_error"),
        ("onAllowed", "on_allowed"),
        ("on_outputs", "on_output"),
    ],
)
def test_a_misspelt_method_which_would_guard_nothing_is_told_with_the_one_that_was_meant(
    name: str, meant: str
) -> None:
    def check(self: object, call: object, *more: object) -> None: ...

    def after(self: object, call: object, response: object) -> None: ...

    for rest in ({}, {"after": after}):
        with pytest.raises(ConfigError, match=rf"Check\.{name}: did you mean {meant}\?"):
            check_hooks([type("Check", (Hooks,), {name: check, **rest})()])
        with pytest.raises(ConfigError, match=rf"Check\.{name}: did you mean {meant}\?"):
            check_hooks([type("Check", (), {name: check, **rest, "on_session": check})()])


def test_a_subclass_whose_methods_nothing_calls_is_told_what_it_can_override() -> None:
    class Check(Hooks):
        def looks_at(self, call: Call) -> None: ...

    with pytest.raises(ConfigError, match=r"none of the methods before, after, on_allowed, on_error"):
        check_hooks([Check()])


def test_a_subclass_without_methods_has_nothing_that_could_be_missed() -> None:
    class Nothing(Hooks):
        pass

    nothing = (Nothing(),)
    assert check_hooks(nothing) == nothing
    assert check_hooks(nothing, calls_only="attach") == nothing


def test_helpers_with_names_of_their_own_stay_fine() -> None:
    class Check(Hooks):
        errors = 0

        def after(self, call: Call, response: Mapping[str, Any]) -> None: ...
        def before_noon(self, call: Call) -> None: ...
        def after_hours(self) -> None: ...
        def is_allowed(self, call: Call) -> None: ...
        def seen_before(self, call: Call) -> None: ...
        def cancel(self, order: object) -> None: ...
        def print_output(self, text: str) -> None: ...
        def error(self, text: str) -> None: ...
        def replace(self, old: str, new: str) -> None: ...
        def redact(self, text: str) -> None: ...
        @property
        def on_errors(self) -> int:
            raise AssertionError

    class Later(Check):
        def after(self, call: Call, response: Mapping[str, Any]) -> None: ...

    checks = (Check(), Later())
    assert check_hooks(checks) == checks


def test_hooks_that_only_a_session_calls_are_refused_where_no_session_is() -> None:
    class Words(Hooks):
        def on_output(self, event: OutputTranscript, /) -> None: ...

    class Both(Words):
        def before(self, call: Call) -> None: ...

    assert check_hooks([Words()])
    assert check_hooks([Both()], calls_only="attach")
    with pytest.raises(ConfigError, match=r"Words has only on_output, which attach does not call"):
        check_hooks([Words()], calls_only="attach")
