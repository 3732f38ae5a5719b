"""The door: what ``import livetools`` gives, and what it costs."""

from __future__ import annotations

import dataclasses
import pydoc
import re
import subprocess
import sys
from importlib import import_module
from types import FunctionType, ModuleType

import pytest

import livetools

PACKAGES = "session testing audio evals formats"
HEAVY = "google.genai websockets rich typer starlette uvicorn trio griffe yaml numpy sounddevice mcp"
PROMISED = """
    connect attach declare tool Tool Toolset ToolContext ToolResult Call Session Reply ReconnectPolicy
    WebSocket ModelProfile SessionStarted TextChunk ThoughtChunk AudioChunk InputTranscript OutputTranscript
    ToolStarted ToolProgress ToolFinished ToolCancelled ToolLost ApprovalRequested Interrupted
    GenerationComplete TurnComplete UsageUpdate VoiceActivity CodeChunk Grounding GoAway HandleUpdate
    Reconnecting Reconnected Stalled InputDropped UnknownMessage LiveToolsError ConfigError
    ToolDefinitionError ConnectFailed SetupTimeout SetupRejected SessionClosed LimitReached
    AuthenticationError QuotaExceeded InvalidRequest ModelNotFound ServerError LocalProtocolError RemoteProtocolError
    ToolError ToolTimeout ConcurrencyError
"""


def python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_all_is_exactly_what_is_visible() -> None:
    for name in livetools.__all__:
        getattr(livetools, name)  # what comes later is there now
    visible = {
        name
        for name, value in vars(livetools).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    } - {"TYPE_CHECKING", "import_module"}
    assert set(livetools.__all__) == visible == set(dir(livetools))
    assert len(livetools.__all__) == len(visible) <= 64


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'session_of_mine'"):
        _ = livetools.session_of_mine


def test_every_name_that_is_promised_is_there() -> None:
    assert set(PROMISED.split()) <= set(livetools.__all__)


def test_everything_that_is_exported_says_what_it_is() -> None:
    bare = [name for name in livetools.__all__ if not getattr(livetools, name).__doc__ and name != "Event"]
    assert not bare


def test_importing_loads_nothing_heavy() -> None:
    loaded = python("import sys, livetools; print(*sys.modules)").split()
    heavy = [name for name in [*HEAVY.split(), "livetools.session"] if name in loaded]
    assert not heavy


def test_connecting_to_a_socket_loads_no_client_of_the_sdk() -> None:
    program = (
        "import sys, livetools; livetools.connect('gemini-3.8-live', tools=[print_it := lambda a: a] and [],"
        " base_url='ws://localhost:1'); print(*sys.modules)"
    )
    loaded = python(program).split()
    assert "google.genai" not in loaded
    assert "websockets.sync" not in loaded


def test_the_transport_for_tests_is_loaded_when_it_is_asked_for() -> None:
    program = (
        "import sys, livetools; livetools.Session; from livetools import session;"
        " print('livetools.testing' in sys.modules, session.MemoryTransport, 'livetools.testing' in sys.modules)"
    )
    assert python(program).split()[0] == "False"
    assert python(program).split()[-1] == "True"


def test_help_names_everything_in_groups() -> None:
    doc = livetools.__doc__ or ""
    assert len(doc.splitlines()) <= 60
    assert [name for name in livetools.__all__ if not re.search(rf"\b{name}\b", doc)] == []


def help_lines(value: object) -> list[str]:
    """What ``help`` prints of a name, without what is inherited and what a dataclass is given."""
    given = {f.name for f in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()  # type: ignore[arg-type]
    text = pydoc.plain(pydoc.render_doc(value))
    sections = re.split(r"^ \|  -{20,}$", text, flags=re.MULTILINE)
    own = [s for s in sections if not re.match(r"\n \|  .*inherited from", s)]
    entries = [e for s in own for e in re.split(r"(?m)^(?= \|  \S)", s)]
    return [line for e in entries if not is_given(e, given) for line in e.splitlines()]


def is_given(entry: str, fields: set[str]) -> bool:
    name = re.match(r" \|  (?:async )?(\w+)", entry)
    return name is not None and (name[1] in fields or name[1].startswith("__"))


@pytest.mark.parametrize("name", livetools.__all__)
def test_help_of_a_name_fits_on_a_page(name: str) -> None:
    assert len(help_lines(getattr(livetools, name))) <= 80


@pytest.mark.parametrize("name", PACKAGES.split())
def test_a_package_shows_its_public_face_only(name: str) -> None:
    package = import_module(f"livetools.{name}")
    public = {
        n for n in dir(package) if not n.startswith("_") and not isinstance(getattr(package, n), ModuleType)
    }
    assert public == set(package.__all__)
    things = [n for n in package.__all__ if isinstance(getattr(package, n), type | FunctionType)]
    bare = [n for n in things if not getattr(package, n).__doc__]
    assert not bare
