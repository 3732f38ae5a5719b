"""The lowest versions that are promised: installed exactly, into an environment of their own, and tried.

``pytest -m peers tests/test_lowest_versions.py``; ``LIVETOOLS_PEERS`` names a folder that is kept for the next run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
EXTRAS = ("testing", "serve", "cli", "trio", "redis", "otel", "web", "voice", "telephony")
#: What runs the tests is not promised to anybody: any version does.
RUNNERS = (
    "hypothesis",
    "httpx",
    "fastapi",
    "opentelemetry-exporter-otlp-proto-http",  # it and the SDK want the API's own version
    "opentelemetry-sdk",
    "packaging",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-trio",
)
TRIED = (
    "tests/protocol/test_frames.py",
    "tests/tools",
    "tests/session",
    "tests/testing/live",
    "tests/testing/net",
    "tests/cli/test_chat.py",
    "tests/integrations/test_opentelemetry.py",
    "tests/integrations/telemetry",
)


def lowest() -> list[str]:
    """Each direct dependency at the lowest version that pyproject.toml allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = project["dependencies"] + [t for extra in EXTRAS for t in project["optional-dependencies"][extra]]
    found = {}
    for requirement in map(Requirement, texts):
        marker = requirement.marker
        if requirement.name != "livetools" and (marker is None or marker.evaluate()):
            (version,) = [each.version for each in requirement.specifier if each.operator == ">="]
            found[requirement.name] = f"{requirement.name}=={version}"
    return sorted(found.values())


def test_every_dependency_names_a_lowest_version():
    assert all("==" in each for each in lowest())


@pytest.mark.peers
@pytest.mark.timeout(1800)
def test_the_lowest_versions_hold(tmp_path):
    folder = Path(os.environ.get("LIVETOOLS_PEERS", tmp_path)) / "lowest"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *lowest(), *RUNNERS], check=True)
    subprocess.run([*pip, "--no-deps", "-e", ROOT], check=True)
    # a warning of an old version about a new Python is nobody's fault here
    command = [python, "-m", "pytest", "-q", "-m", "not slow and not peers", "-o", "filterwarnings=default"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *TRIED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
