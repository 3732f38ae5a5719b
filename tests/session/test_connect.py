"""``connect`` checks what it is given, and opens nothing."""

from __future__ import annotations

from typing import Any

import pytest

import livetools
from livetools import ConfigError, ToolDefinitionError
from livetools.session.handle_store import HandleStore, MemoryHandleStore
from livetools.session.running.clock import Clock
from livetools.testing.memory import MemoryTransport

LOCAL = {"base_url": "ws://localhost:1"}


def plain(city: str) -> str:
    """Weather."""
    return city


def test_nothing_is_dialled_before_it_is_entered() -> None:
    transport = MemoryTransport()
    livetools.connect("gemini-3.8-live", tools=[plain], transport=transport, **LOCAL)
    assert transport.dials == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tools": plain}, "a list of functions"),
        ({"tools": "plain"}, "a list of functions"),
        ({"tools": {"name": "x"}}, "a list of functions"),
        ({"tools": [plain, {"name": "plain", "description": "Another."}]}, "plain"),
        ({"tools": [3]}, "int"),
        ({"voice": 3}, "such as 'Kore'"),
        ({"language": "de", "config": {"speech_config": {"language_code": "fr"}}}, "both set"),
        ({"response_key": "answer"}, "output"),
        ({"reply_format": "xml"}, "tool_response"),
        ({"tool_timeout": 0}, "seconds"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"allowed": "plain"}, "collection of names"),
        ({"instructions": "a", "config": {"system_instruction": "b"}}, "instructions"),
        ({"config": {"temprature": 0.5}}, "temperature"),
        ({"config": 3}, "LiveConnectConfig"),
        ({"base_url": "ws://example.com"}, "ws"),
        ({"reconnect": "often"}, "ReconnectPolicy"),
        ({"handle_store": MemoryHandleStore(), "config": {"session_resumption": None}}, "no handles"),
        ({"handle_store": MemoryHandleStore(), "config": {"session_resumption": False}}, "no handles"),
        ({"profile": "gemini-3.8-live"}, "ModelProfile"),
        ({"input_gate": "open"}, "'auto'"),
        ({"max_history": 0}, "a number of bytes above 0"),
        ({"max_history": 1e6}, "a number of bytes above 0"),
        ({"hooks": object()}, "a list of Hooks"),
        ({"hooks": ["check"]}, "a list of Hooks"),
        ({"hooks": [lambda call: None]}, "a list of Hooks"),
        ({"handle": "h", "config": {"session_resumption": {"handle": "i"}}}, "both set"),
    ],
)
def test_what_cannot_work_is_a_config_error_at_the_call(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        livetools.connect("gemini-3.8-live", **{**LOCAL, **options})


def test_a_store_that_only_inherits_its_methods_is_refused_because_it_would_keep_nothing() -> None:
    class Store(HandleStore):
        async def load(self) -> str | None:
            return None

        async def safe(self, handle: str) -> None:
            raise AssertionError

    with pytest.raises(
        ConfigError, match=r"handle_store.*expected a HandleStore, with load\(\) and save\(\)"
    ):
        livetools.connect("gemini-3.8-live", **LOCAL, handle_store=Store())
    with pytest.raises(ConfigError, match=r"clock.*expected a Clock, with now\(\) and sleep_until\(\)"):
        livetools.connect("gemini-3.8-live", **LOCAL, clock=type("Still", (Clock,), {})())


def test_no_key_names_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="GEMINI_API_KEY"):
        livetools.connect("gemini-3.8-live")


def test_an_annotation_that_no_schema_can_say_names_the_parameter() -> None:
    def odd(a: type) -> None:
        """Odd."""

    with pytest.raises(ToolDefinitionError, match="'a'"):
        livetools.connect("gemini-3.8-live", tools=[odd], **LOCAL)


def test_tools_of_the_config_join_and_its_own_stay() -> None:
    from google.genai import types

    declared = types.FunctionDeclaration(name="declared", description="Declared.")
    config = types.LiveConnectConfig(tools=[types.Tool(function_declarations=[declared]), plain])
    session = livetools.connect(
        "gemini-3.8-live", tools=[{"name": "other", "description": "x"}], config=config, **LOCAL
    )
    (entry,) = session._assembly.plan.setup["tools"]
    assert [f["name"] for f in entry["functionDeclarations"]] == ["other", "declared", "plain"]
    assert list(session.tools) == ["other", "declared", "plain"]


def test_an_insecure_host_may_be_asked_for() -> None:
    transport = livetools.WebSocket(allow_insecure=True)
    livetools.connect("gemini-3.8-live", base_url="ws://gateway.example", api_key="k", transport=transport)
