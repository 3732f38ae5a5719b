"""A keyword that a constructor or a function does not have: the error says which one was meant."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from livetools import Agent, ConfigError, ModelProfile, ReconnectPolicy, ToolResult, Toolset, WebSocket
from livetools.evals import Eval
from livetools.integrations.starlette import relay
from livetools.setup.did_you_mean import (
    UnexpectedKeyword,
    did_you_mean,
    explains_keywords,
    keywords,
    near_names,
)
from livetools.testing import FakeLiveServer

TARGETS: list[Callable[..., Any]] = [
    Agent, Eval, FakeLiveServer, ModelProfile, ReconnectPolicy, ToolResult, Toolset, WebSocket, relay,
]  # fmt: skip


def told(target: Callable[..., Any], name: str) -> str:
    with pytest.raises(UnexpectedKeyword) as caught:
        target(**{name: "a secret"})
    assert isinstance(caught.value, ConfigError)
    assert isinstance(caught.value, TypeError)
    beginning, _, hint = str(caught.value).partition(": ")
    assert beginning == f"{target.__name__}() got an unexpected keyword argument {name!r}"
    assert "secret" not in hint
    return hint


@pytest.mark.parametrize(
    ("target", "name", "hint"),
    [
        (WebSocket, "max_size", "use max_message="),
        (WebSocket, "additional_headers", "use headers="),
        (WebSocket, "open_timeout", "use connect(setup_timeout=...)"),
        (WebSocket, "ping_intervall", "did you mean ping_interval=?"),
        (ReconnectPolicy, "max_attempts", "use attempts="),
        (ReconnectPolicy, "Max_Delay", "use maximum="),
        (ReconnectPolicy, "qqq", "its options are attempts, initial, maximum, jitter, budget"),
        (Agent, "system_instruction", "use instructions="),
        (ToolResult, "end_session", "did you mean ends_session=?"),
        (Toolset, "prefix", "use Toolset(...).prefix(...)"),
        (ModelProfile, "inputblock", "did you mean input_block=?"),
        (FakeLiveServer, "api_key", "use api_keys=[...]"),
        (Eval, "expectations", "use expect="),
        (relay, "auth", "use authorize="),
    ],
)
def test_it_is_told_what_was_meant(target: Callable[..., Any], name: str, hint: str) -> None:
    assert told(target, name) == hint


@pytest.mark.parametrize("target", TARGETS, ids=lambda each: each.__name__)
def test_each_option_with_a_letter_too_many_is_found(target: Callable[..., Any]) -> None:
    own = keywords(target)
    assert own
    for name in own:
        if name + "s" not in own:
            assert told(target, name + "s").split()[-1].strip("?").startswith(name), name


def test_several_are_told_at_once() -> None:
    with pytest.raises(
        TypeError, match="unexpected keyword arguments 'tries', 'cap': use attempts=; its options are"
    ):
        ReconnectPolicy(tries=3, cap=9, jitter=0.1)


def test_a_hint_for_several_is_given_once() -> None:
    with pytest.raises(TypeError) as told:
        ReconnectPolicy(cap=9, fee=1, zoom=2)
    assert str(told.value).count("its options are") == 1


def test_a_class_is_otherwise_what_it_was() -> None:
    policy = ReconnectPolicy(3, initial=0.5)
    assert policy == ReconnectPolicy(attempts=3, initial=0.5)
    assert pickle.loads(pickle.dumps(policy)) == copy.copy(policy) == replace(policy, attempts=3) == policy
    assert list(inspect.signature(ReconnectPolicy).parameters) == [
        "attempts", "initial", "maximum", "jitter", "budget",
    ]  # fmt: skip
    with pytest.raises(TypeError, match="multiple values"):
        ReconnectPolicy(3, attempts=4)


def test_a_function_keeps_its_name_and_its_own_errors() -> None:
    @explains_keywords(old="new=")
    def function(new: int = 0) -> int:
        """Words."""
        return 1 // new

    assert (function.__name__, function.__doc__, function(new=1)) == ("function", "Words.", 1)
    assert told(function, "old") == "use new="
    with pytest.raises(ZeroDivisionError):
        function()


KNOWN = ("attempts", "initial", "maximum", "minimum")


def test_the_nearest_comes_first_and_no_more_than_are_asked_for() -> None:
    assert near_names("maximun", KNOWN, cutoff=0.6) == ["maximum"]
    assert near_names("maximun", iter(KNOWN), count=3, cutoff=0.5) == ["maximum", "minimum"]


def test_what_is_not_near_enough_is_left_out() -> None:
    assert near_names("maximun", KNOWN, count=3, cutoff=0.8) == ["maximum"]
    assert near_names("colour", KNOWN, count=3, cutoff=0.6) == []
    assert near_names("attempts", (), cutoff=0.0) == []


def test_a_program_without_a_mistake_does_not_load_what_compares_names() -> None:
    code = (
        "import sys, livetools; livetools.connect('gemini-3.8-live', tools=[print_it], api_key='k'); "
        "assert 'difflib' not in sys.modules"
    )
    define = "def print_it(text: str) -> str:\n    'Prints it.'\n    return text\n"
    subprocess.run([sys.executable, "-c", define + code], check=True)


def test_the_hint_says_what_to_write_for_each_near_name() -> None:
    known = {name: f"{name}=" for name in KNOWN}
    assert did_you_mean("maximun", known) == "did you mean maximum=?"
    assert did_you_mean("imum", known, count=2) == "did you mean minimum= or maximum=?"
    assert did_you_mean("colour", known) is None
