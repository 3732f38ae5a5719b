"""The processes of a run: the server, and a client for each of those who are compared, each in its own environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
CACHE = HERE.parent / ".cache" / "bench"


@dataclass(frozen=True)
class Client:
    """Who is compared: a program of ``clients/``, and what must be installed for it (nothing: it runs in ours)."""

    name: str
    program: str
    needs: str = ""


#: The first is the floor: what all others are compared with.
CLIENTS = (
    Client("floor", "floor"),
    Client("livetools", "livetools_session"),
    Client("attach", "livetools_attach"),
    Client("google-genai", "google_genai"),
    Client("pydantic-ai", "pydantic_ai_agent", "pydantic-ai-slim[google,realtime]==2.68.0"),
    Client("google-adk", "google_adk_agent", "google-adk==2.13.0"),
    Client("livekit-agents", "livekit_agent", "livekit-agents[google]==1.8.9"),
    Client("pipecat-ai", "pipecat_bot", "pipecat-ai[google]==1.14.0"),
)


class Missing(Exception):
    """A client cannot be had here; the text says why."""


def interpreter(client: Client) -> str:
    """The Python of a client's environment, which is made where there is none. Raises :class:`Missing`."""
    if not client.needs:
        return sys.executable
    home = CACHE / "peers" / client.needs.replace("[", "-").replace("]", "-").replace(",", "-")
    python = home / "bin" / "python"
    if not (home / "complete").exists():
        shutil.rmtree(home, ignore_errors=True)
        uv = shutil.which("uv")
        make = [uv, "venv", "-q", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
        pip = (
            [uv, "pip", "install", "-q", "--python", str(python)]
            if uv
            else [str(python), "-m", "pip", "-q", "install"]
        )
        for command in ([*make, str(home)], [*pip, client.needs]):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
            if done.returncode:
                raise Missing((done.stderr.strip().splitlines() or ["it cannot be installed"])[-1])
        (home / "complete").touch()
    return str(python)


def environment(port: int, tree: Path | None = None) -> dict[str, str]:
    """The variables of a client: where the server is, no key, and for a comparison another tree of livetools.

    Bytecode is written and read, as wherever a package was installed: else an import would measure the compiler.
    """
    left = ("GOOGLE_", "GEMINI_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    path = [str(HERE), str(HERE / "clients"), *([str(tree)] if tree else [])]
    return {
        **kept,
        "GOOGLE_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(path),
    }


class Server:
    """The server, for a ``with`` block; ``port`` is where."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


class Worker:
    """A client that runs, and does one job after another. Raises :class:`Missing` where it cannot start."""

    def __init__(
        self, client: Client, port: int, *, tree: Path | None = None, under: Iterable[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.client = client
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - for as long as the client runs
        program = HERE / "clients" / f"{client.program}.py"
        self._process = subprocess.Popen(
            [*under, interpreter(client), str(program), f"ws://127.0.0.1:{port}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env={**environment(port, tree), **(variables or {})},
        )  # fmt: skip
        try:
            about = self._read()
        except Missing:
            self.close()
            raise
        self.jobs: list[str] = about["jobs"]
        self.package: str = about["package"]
        self.version: str = about["version"]

    def do(self, job: str, n: int, p: int = 1) -> dict[str, Any]:
        """What the job has cost. Raises :class:`Missing` where the client has failed."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"job": job, "n": n, "p": p}) + "\n")
        self._process.stdin.flush()
        told = self._read()
        if "error" in told:
            raise Missing(told["error"])
        return told

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:  # frameworks print things too
            if line.startswith("{"):
                return json.loads(line)  # type: ignore[no-any-return]
        self._errors.seek(0)
        raise Missing((self._errors.read().strip().splitlines() or ["it has ended"])[-1][:300])
