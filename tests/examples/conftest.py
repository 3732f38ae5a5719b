"""The examples are imported from their folder, on a machine without keys."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """``example("text_agent")``: the module, freshly imported."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    for name in [path.stem for path in EXAMPLES.glob("*.py")]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """No way to the service: the examples bring their pretend model."""
    for name in (
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_GENAI_USE_ENTERPRISE",
        "SSL_CERT_FILE",
    ):
        monkeypatch.delenv(name, raising=False)
