"""Run a program against the fake, as it would run against the service: ``python beside.py PROGRAM``.

For the environments of other libraries, which have no pytest fixtures of their own: a program that calls no tool fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from livetools.testing import FakeLiveServer, Pretend


def main(path: str) -> None:
    """Play the service for the program in this file."""
    server = FakeLiveServer(tls=True)
    server.model(Pretend())
    server.start()
    os.environ.pop("GEMINI_API_KEY", None)
    os.environ["GOOGLE_API_KEY"] = "key"  # the name that all of them read
    os.environ["GOOGLE_GEMINI_BASE_URL"] = server.http_url
    os.environ["SSL_CERT_FILE"] = str(server.ca_file)
    try:
        exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), {"__name__": "__main__"})
        assert server.calls, "the program has called no tool"
    finally:
        server.stop()


if __name__ == "__main__":
    main(sys.argv[1])
