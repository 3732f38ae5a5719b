"""A keyword that ``connect`` or ``attach`` does not have: the error says which one was meant, or where it belongs."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import livetools
from livetools import ConfigError
from livetools.session.option_synonyms import ALIASES, unexpected
from livetools.setup.did_you_mean import NOT_LIVE
from livetools.setup.sdk.camel_case import snake
from livetools.setup.sdk.generated_tables import tables

from .test_secrecy import KEY, shown

MODEL = "gemini-3.8-live"
FIELDS = sorted(tables().written)
PARAMETERS = [name for name in inspect.signature(livetools.connect).parameters if name != "unknown"]


def told(name: str, value: object = "x") -> str:
    options: dict[str, Any] = {name: value}
    with pytest.raises(TypeError) as caught:
        livetools.connect(MODEL, base_url="ws://localhost:1", **options)
    assert isinstance(caught.value, ConfigError)
    assert str(caught.value).startswith(f"connect() got an unexpected keyword argument {name!r}: ")
    return str(caught.value).partition(": ")[2]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("system_instruction", "use instructions="),
        ("systemInstruction", "use instructions="),
        ("instruction", "did you mean instructions=?"),
        ("tool", "did you mean tools=?"),
        ("apikey", "did you mean api_key=?"),
        ("API_KEY", "use api_key="),
        ("api_versions", "did you mean api_version=?"),
        ("voice_name", "use voice="),
        ("timeout", "use tool_timeout="),
        ("max_duration", "use max_seconds="),
        ("idle_timeout", "use idle="),
        ("handel", "did you mean handle=?"),
        ("response_modalities", "use config={'response_modalities': ...}"),
        ("responseModalities", "use config={'response_modalities': ...}"),
        ("response_modality", "did you mean config={'response_modalities': ...}?"),
        ("thinking_budget", "use config={'thinking_config': {'thinking_budget': ...}}"),
        ("response_schema", "the Live API does not support it; leave it out"),
        ("proxy", "use transport=WebSocket(proxy=...)"),
        ("attempts", "use reconnect=ReconnectPolicy(attempts=...)"),
        ("behavior", "use @tool(behavior=...), on the function itself"),
        ("qqq", "no similar argument exists"),
    ],
)
def test_it_is_told_what_was_meant(name: str, words: str) -> None:
    assert told(name) == words


@pytest.mark.parametrize("name", [n for n in PARAMETERS if n != "model"])
def test_each_parameter_with_a_letter_missing_is_found(name: str) -> None:
    for slip in (name[:-1], name + "s", name.replace("_", "")):
        if slip not in PARAMETERS and snake(slip) not in ALIASES:
            assert f"{name}=" in told(slip) or slip in str(FIELDS), slip


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_of_the_config_says_where_it_belongs(name: str) -> None:
    """Either a parameter of ours, or a place in the config that the config takes, or nowhere in Live."""
    if name in PARAMETERS:
        return
    words = told(name)
    if name in {snake(each) for each in NOT_LIVE}:
        assert words == "the Live API does not support it; leave it out"
        return
    ours = words.removeprefix("use ").rstrip("=")
    assert ours in PARAMETERS or f"{name!r}: ..." in words or "WebSocket(" in words


@pytest.mark.parametrize("name", ["tool_choice", "toolChoice", "tool_config", "function_calling_config"])
def test_a_choice_of_tools_is_said_not_to_exist_and_what_there_is_instead(name: str) -> None:
    words = told(name, "any")
    assert "cannot force or forbid calls" in words
    assert "Use allowed=[...]" in words


def test_attach_has_no_choice_of_tools_either() -> None:
    with pytest.raises(TypeError, match="cannot force or forbid calls") as caught:
        livetools.attach(object(), [], tool_choice="any")  # type: ignore[call-arg]
    assert "allowed" not in str(caught.value)


def test_every_alias_is_of_a_parameter_and_is_none_itself() -> None:
    assert set(ALIASES.values()) <= set(PARAMETERS)
    assert not set(ALIASES) & set(PARAMETERS)


def test_several_are_told_at_once_and_no_value_is_shown() -> None:
    with pytest.raises(TypeError) as caught:
        livetools.connect(MODEL, key=KEY, tool=[], api_key=KEY)  # type: ignore[arg-type]  # the case
    assert str(caught.value).endswith("arguments 'key', 'tool': use api_key=; did you mean tools=?")
    assert KEY not in shown(caught.value)


def test_what_attach_lacks_belongs_to_the_session_of_google_genai() -> None:
    with pytest.raises(TypeError, match=r"'config': the session itself .* client\.aio\.live\.connect"):
        livetools.attach(object(), [], config={})  # type: ignore[arg-type]  # the case
    with pytest.raises(TypeError, match=r"did you mean tool_timeout=\?") as caught:
        livetools.attach(object(), [], tool_timeot=KEY)  # type: ignore[arg-type]  # the case
    assert KEY not in shown(caught.value)


def test_the_search_is_of_the_function_s_own_names() -> None:
    def opened(*, tools: object) -> None:
        """Has no other."""

    assert "tools=" in str(unexpected(opened, ["tolls"]))
