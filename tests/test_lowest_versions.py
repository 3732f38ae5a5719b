"""The lowest versions that are promised: installed exactly, into an environment of their own, and tried.

``pytest -m peers tests/test_lowest_versions.py``; ``LIVETOOLS_PEERS`` names a folder that is kept for the next run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
MOST = ("testing", "serve", "cli", "trio", "redis", "otel", "web", "voice", "telephony")
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
    "pytest-xdist",
    "soxr",  # resamples the callers of evals: the lowest of `voice` wants an older numpy than they do
)
TRIED_WITH_MOST = (
    "tests/protocol/messages/test_frames.py",
    "tests/tools",
    "tests/attach",
    "tests/session",
    "tests/transport",
    "tests/testing/live",
    "tests/testing/net",
    "tests/cli/test_chat.py",
    "tests/integrations/test_opentelemetry.py",
    "tests/integrations/telemetry",
)
EVALS = (
    "tests/setup/test_price.py",
    "tests/evals",
    "tests/testing/test_vad.py",
    "tests/audio/test_activity.py",
)
#: What does without trio: websockets has a client for it only from 17 on.
ON_ASYNCIO = (
    "tests/session",
    "tests/transport",
    "tests/testing/net",
    "tests/integrations/relay",
    "tests/integrations/phone",
    "tests/web",
)
#: The extras of an environment, and what is tried in it. What pins its own versions of others has one of its own.
ENVIRONMENTS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "lowest": (MOST, TRIED_WITH_MOST),
    "asyncio": (("serve", "telephony", "testing", "web"), ON_ASYNCIO),
    "evals": (("evals", "price", "serve", "testing", "trio", "vad"), EVALS),
    "mcp": (("mcp", "testing", "trio"), ("tests/integrations/test_mcp_1.py",)),
    "dask": (("dask", "testing", "trio"), ("tests/integrations/test_dask.py",)),
    "durable": (("durable", "testing", "trio"), ("tests/integrations/test_dbos.py",)),
}


def lowest(extras: Sequence[str]) -> list[str]:
    """Each direct dependency at the lowest version that pyproject.toml allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = project["dependencies"] + [t for extra in extras for t in project["optional-dependencies"][extra]]
    found = {}
    for requirement in map(Requirement, texts):
        marker = requirement.marker
        if requirement.name != "livetools" and (marker is None or marker.evaluate()):
            (version,) = [each.version for each in requirement.specifier if each.operator == ">="]
            found[requirement.name] = f"{requirement.name}=={version}"
    return sorted(found.values())


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_dependency_names_a_lowest_version(name):
    assert all("==" in each for each in lowest(ENVIRONMENTS[name][0]))


def test_every_extra_of_the_program_is_tried():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(extras) - {"dev", "docs"} == {extra for tried, _ in ENVIRONMENTS.values() for extra in tried}


@pytest.mark.peers
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_lowest_versions_hold(tmp_path, name):
    extras, tried = ENVIRONMENTS[name]
    folder = Path(os.environ.get("LIVETOOLS_PEERS", tmp_path)) / name
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *lowest(extras), *RUNNERS], check=True)
    subprocess.run([*pip, "--no-deps", "-e", ROOT], check=True)
    # a warning of an old version about a new Python is nobody's fault here
    lane = (
        "not peers" if name == "dask" else "not slow and not peers"
    )  # its tests are all slow: they start processes
    command = [python, "-m", "pytest", "-q", "-m", lane, "-o", "filterwarnings=default"]
    if name == "asyncio":
        # 15.0.1 logs an InvalidStateError of its own where the dial of a silent proxy is given up
        command += ["-k", "not trio and not test_a_proxy_that_is_silent_is_named"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *tried], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
