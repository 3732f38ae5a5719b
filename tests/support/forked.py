"""The command in a process of its own, which need not import first what takes longest: a fork of one that has it.

It is a process as any other: its standard streams, its environment and folder are what it is given, signals come as
they are, and it ends as an interpreter does. What the import itself does is for a test with an interpreter of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: What the commands import, at once or when they need it.
IMPORTED = (
    "livetools.cli.app",
    "livetools.testing",
    "livetools.transport.websocket",
    "prompt_toolkit",
    "starlette.applications",
    "trio",
    "trustme",
    "uvicorn",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "websockets.asyncio.client",
    "websockets.asyncio.server",
)
#: As many bytes has a number: the id of a process, and then how it ended.
NUMBER = 16
MAIN = "from livetools.cli.main import main; main()"
#: The program of the server: each process that it forks goes on with the program that it is told.
SERVER = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import forked; exec(forked.next_program())"


class Forked:
    """``Popen([sys.executable, "-c", code, *args], ...)``, as far as the tests use it. Streams are file descriptors."""

    def __init__(
        self, *args: object, stdin: int, stdout: int, stderr: int, code: str = MAIN,
        imported: Sequence[str] = IMPORTED, env: Mapping[str, str] | None = None, cwd: str | Path | None = None,
    ) -> None:  # fmt: skip
        self.returncode: int | None = None
        env, cwd = dict(os.environ if env is None else env), str(cwd or Path.cwd())
        self._told, tell = os.pipe()
        with open(tell, "wb"), tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            json.dump({"code": code, "args": [*map(str, args)], "env": env, "cwd": cwd}, file)
            file.seek(0)
            socket.send_fds(_server(*imported), [b"."], [tell, file.fileno(), stdin, stdout, stderr])
        self.pid = int(os.read(self._told, NUMBER))

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("livetools", timeout or 0)
            self.returncode = int(os.read(self._told, NUMBER))
            os.close(self._told)
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@functools.cache
def _server(*imported: str) -> socket.socket:
    """The way to one that has imported this. It ends with this process of the tests."""
    ours, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen([sys.executable, "-c", SERVER, *imported], stdin=theirs)
    atexit.register(server.__exit__, None, None, None)
    atexit.register(ours.close)  # before it is waited for
    return ours


def next_program() -> str:
    """Serve: it returns only in a new process, with the program that this one is to run."""
    sys.path.remove(str(Path(__file__).parent))
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    jobs = socket.socket(fileno=0)
    while True:
        _, fds, _, _ = socket.recv_fds(jobs, 1, 5)
        if not fds:
            sys.exit()
        if os.fork() == 0:
            jobs.detach()
            return _begun(*fds)
        for fd in fds:
            os.close(fd)
        with contextlib.suppress(ChildProcessError):  # there is none
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _begun(tell: int, file: int, *streams: int) -> str:
    """Fork once more: the first process tells the id of the second and how it ended, the second is the program."""
    with open(file, "rb") as asked:
        job: dict[str, Any] = json.load(asked)
    pid = os.fork()
    if pid:
        os.write(tell, b"%*d" % (NUMBER, pid))
        for stream in (0, *streams):
            os.close(stream)
        os.write(tell, b"%*d" % (NUMBER, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))
        os._exit(0)
    os.close(tell)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    text = functools.partial(open, closefd=False)
    sys.stdin, sys.stdout = text(0), text(1, "w")
    sys.stderr = text(2, "w", errors="backslashreplace", buffering=1)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    os.environ.clear()
    os.environ.update(job["env"])
    os.chdir(job["cwd"])
    sys.argv[1:] = job["args"]
    return job["code"]
