"""Runs the same agent with each library against the fake server, in four situations, and writes what happened.

``python docs/run_comparison.py [FOLDER [LIBRARY ...]]`` writes ``docs/comparison.json``. From that file
``docs/generate.py`` makes the table of ``comparison.md``. Each library is installed into an environment of its own in
FOLDER, which is kept. The lane ``pytest -m peers tests/docs/test_comparison.py`` runs all again, and compares.
"""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from livetools.testing import FakeLiveServer, Turn

DOCS = Path(__file__).parent
RESULTS = DOCS / "comparison.json"
PROGRAMS = DOCS / "comparison"
#: Seconds after which a program that still runs is said to wait.
PATIENCE = 60.0
SITUATIONS = ("plain", "drop", "wrong key", "tool raises")


class Library(NamedTuple):
    """``program``: its file in ``comparison/``; ``requirement``: what is installed, its package first."""

    name: str
    program: str
    requirement: str

    @property
    def package(self) -> str:
        return self.requirement.partition("[")[0].partition("==")[0]


LIBRARIES = (
    Library("livetools", "with_livetools.py", "livetools"),
    Library("google-genai", "with_google_genai.py", "google-genai==3.6.1"),
    Library("ADK", "with_google_adk.py", "google-adk==2.13.0"),
    Library("pydantic-ai", "with_pydantic_ai.py", "pydantic-ai-slim[google,realtime]==2.68.0"),
    Library("LiveKit", "with_livekit_agents.py", "livekit-agents[google]==1.8.9"),
    Library("pipecat", "with_pipecat.py", "pipecat-ai[google]==1.14.0"),
    Library("strands", "with_strands.py", "strands-agents[bidi-google]==1.62.0"),
    Library("openai-agents", "with_openai_agents.py", "openai-agents==0.24.0"),
)


def python_with(library: Library, folder: Path) -> str:
    """The interpreter of an environment that has the library; livetools has this one."""
    if library.name == "livetools":
        return sys.executable
    home = folder / library.package
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if (uv := shutil.which("uv")) is not None:
            pip = [uv, "pip", "install", "--quiet", "--python", python]
        subprocess.run([*pip, library.requirement], check=True)
    return str(python)


def version_of(library: Library, python: str) -> str:
    program = f"from importlib.metadata import version; print(version({library.package!r}))"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def lines_of(library: Library) -> int:
    """How many lines its program has; blank ones and comments do not count."""
    lines = (line.strip() for line in (PROGRAMS / library.program).read_text(encoding="utf-8").splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def model_for(situation: str) -> Callable[[Turn], Awaitable[None]]:
    """The model's part. It calls the function once, and once again if it is asked again without having the result."""
    asked = 0

    async def model(turn: Turn) -> None:
        nonlocal asked
        asked += 1
        if "12 °C" in turn.text:  # the result came as a text
            await turn.say("It is 12 °C, rain.")
        elif situation == "drop" and asked == 1:
            await turn.start_call("get_weather", city="Oslo")
            await anyio.sleep(0.2)
            await turn.drop()
        else:
            response = await turn.call("get_weather", city="Oslo")
            known = "12 °C" in json.dumps(response, ensure_ascii=False)
            await turn.say("It is 12 °C, rain." if known else "I could not find out.")

    return model


def outcome(library: Library, python: str, situation: str) -> dict[str, Any]:
    """Run a program in a situation. What it printed, how it ended, and what the service saw."""
    with tempfile.TemporaryDirectory() as place:
        server = FakeLiveServer(model_for(situation), tls=True, api_keys={"the-right-key"}).start()
        try:
            env = _environment(server, situation, Path(place, "runs"))
            done = _run([python, str(PROGRAMS / library.program)], env)
            runs = Path(place, "runs")
            count = len(runs.read_text(encoding="utf-8").splitlines()) if runs.exists() else 0
            return {**done, **_seen(server), "runs": count}
        finally:
            server.stop(check=False)


def _environment(server: FakeLiveServer, situation: str, runs: Path) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "GEMINI_"))}
    env |= {
        "GOOGLE_GEMINI_BASE_URL": server.http_url,
        "SSL_CERT_FILE": str(server.ca_file),
        "RUNS": str(runs),
    }
    env["GOOGLE_API_KEY"] = "another-key" if situation == "wrong key" else "the-right-key"
    return env | ({"FAILS": "1"} if situation == "tool raises" else {})


def _run(command: list[str], env: dict[str, str]) -> dict[str, Any]:
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        return {"ended": "waits", "printed": (error.stdout or b"").decode().strip(), "error": ""}
    last = [line for line in done.stderr.splitlines() if line.strip()][-1:]
    failed = done.returncode != 0
    printed = done.stdout.strip()
    ended = "raised" if failed else "answered" if printed else "silent"
    return {"ended": ended, "printed": printed, "error": last[0].strip() if failed and last else ""}


def _seen(server: FakeLiveServer) -> dict[str, Any]:
    """How often the program connected, and the last answer to a call that was not livetools' notice of a loss."""
    sent = [frame.message for frame in server.frames if frame.direction == "client"]
    responses = [response for call in server.calls for response in call.responses]
    return {
        "connections": sum("setup" in message for message in sent),
        "told": responses[-1].get("response") if responses else None,
    }


def compare(library: Library, folder: Path) -> dict[str, Any]:
    """The row of a library: its version, the lines of its program, and an outcome for each situation."""
    python = python_with(library, folder)
    row: dict[str, Any] = {"version": version_of(library, python), "lines": lines_of(library)}
    plain = outcome(library, python, "plain")
    if plain["connections"] == 0:
        return {"version": row["version"], "cause": plain["printed"] or plain["error"]}
    others = {situation: outcome(library, python, situation) for situation in SITUATIONS[1:]}
    return {**row, "plain": plain, **others}


def main(args: list[str]) -> None:
    folder, names = Path(args[0]) if args else Path(tempfile.mkdtemp()), args[1:]
    rows: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))["libraries"] if names else {}
    for library in LIBRARIES:
        if not names or library.name in names:
            rows[library.name] = compare(library, folder)
            print(library.name, json.dumps(rows[library.name], ensure_ascii=False))
    rows = {library.name: rows[library.name] for library in LIBRARIES if library.name in rows}
    results = {"date": datetime.date.today().isoformat(), "libraries": rows}
    RESULTS.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
