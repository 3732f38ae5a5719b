"""The lowest versions that are promised: installed exactly, into an environment of their own, and tried.

``make lowest``; ``LIVETOOLS_PEERS`` names a folder that is kept for the next run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.cases import cases
from support.environments import ROOT, Environment

MOST = ("testing", "serve", "cli", "trio", "redis", "otel", "web", "voice", "telephony")
#: What runs the tests is not promised to anybody: any version does.
RUNNERS = (
    "hypothesis",
    "httpx",
    "fastapi",
    "opentelemetry-exporter-otlp-proto-http",  # it and the SDK want the API's own version
    "opentelemetry-sdk",
    "packaging",
    "playwright",
    "pytest",
    "pytest-asyncio",
    "pytest-timeout",
    "pytest-trio",
    "pytest-xdist",
    "soxr",  # resamples the callers of evals: the lowest of `voice` wants an older numpy than they do
)
TRIED_WITH_MOST = (
    "tests/protocol/messages",
    "tests/tools",
    "tests/attach",
    "tests/session",
    "tests/transport",
    "tests/testing/auth",
    "tests/testing/live",
    "tests/testing/messages",
    "tests/testing/net",
    "tests/testing/settings",
    "tests/cli/commands/test_chat.py",
    "tests/integrations/test_opentelemetry.py",
    "tests/integrations/telemetry",
)
EVALS = (
    "tests/setup/test_price.py",
    "tests/evals",
    "tests/testing/settings/test_vad.py",
    "tests/audio/test_activity_detection.py",
)
#: What does without trio: websockets has a client for it only from 17 on.
ON_ASYNCIO = (
    "tests/session",
    "tests/transport",
    "tests/testing/net",
    "tests/integrations/relay",
    "tests/integrations/test_starlette.py",
    "tests/integrations/telephony",
    "tests/web",
)
#: The extras of an environment, and what is tried in it. What pins its own versions of others has one of its own.
ENVIRONMENTS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "lowest": (MOST, TRIED_WITH_MOST),
    "asyncio": (("cli", "serve", "telephony", "testing", "web"), ON_ASYNCIO),
    "evals": (("evals", "price", "serve", "testing", "trio", "vad"), EVALS),
    "mcp": (("mcp", "testing", "trio"), ("tests/integrations/test_mcp_1.py",)),
    "dask": (("dask", "testing", "trio"), ("tests/integrations/test_dask.py",)),
    "durable": (("durable", "testing", "trio"), ("tests/integrations/test_dbos.py",)),
}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def required(extras: Sequence[str]) -> Iterator[Requirement]:
    """What the project asks for itself, with these extras."""
    texts = PROJECT["dependencies"] + [t for extra in extras for t in PROJECT["optional-dependencies"][extra]]
    yield from (each for each in map(Requirement, texts) if each.name != "livetools")


def lowest(extras: Sequence[str]) -> list[str]:
    """The lowest version of each of these that goes with the lowest of the others: ``name==version``.

    google-genai 2.30 takes no websockets 17, which trio needs: with trio it is the first that does.
    """
    uv = shutil.which("uv")
    assert uv is not None, "the lowest versions that go together are found by uv: install it"
    wanted = [f"--extra={extra}" for extra in extras]
    options = [
        "--quiet",
        "--resolution=lowest-direct",
        "--no-annotate",
        "--no-header",
        f"--python={sys.executable}",
    ]
    command = [uv, "pip", "compile", "pyproject.toml", *options, *wanted]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    direct = {canonicalize_name(each.name) for each in required(extras)}
    return [line for line in done.stdout.splitlines() if line.partition("==")[0] in direct]


@cases("extra", ["", *PROJECT["optional-dependencies"]])
def test_every_dependency_names_a_lowest_version_and_no_highest(extra: str) -> None:
    for each in required([extra] if extra else []):
        bounds = {bound.operator for bound in each.specifier}
        assert bounds == {">="} or extra == "docs", each


def test_every_extra_of_the_program_is_tried() -> None:
    tried = {extra for extras, _ in ENVIRONMENTS.values() for extra in extras}
    assert set(PROJECT["optional-dependencies"]) - {"dev", "docs"} == tried


BUT = {"asyncio": "not trio"}
#: Its tests are all slow: they start processes.
MARKS = {"dask": "not peers"}


@pytest.mark.peers
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_lowest_versions_hold(tmp_path: Path, name: str) -> None:
    extras, tried = ENVIRONMENTS[name]
    there = Environment(f"lowest-{name}", tmp_path)
    there.install(*lowest(extras), *RUNNERS)
    there.install("--no-deps", "-e", str(ROOT))
    assert there.passes(tried, marks=MARKS.get(name, "not slow and not peers"), but=BUT.get(name, ""))
