"""Used by the examples: without a key in the environment, they talk to a pretend model on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from livetools.testing import FakeLiveServer, Pretend

WAYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE")


@contextmanager
def service() -> Iterator[None]:
    """Without a key, start a fake Live server and set the environment to it. With a key, do nothing."""
    if any(os.environ.get(name) for name in WAYS):
        yield
        return
    print(
        "No GEMINI_API_KEY: this is a pretend model, which picks a function by the words of the question.\n"
    )
    server = FakeLiveServer(Pretend(), tls=True).start()
    fake = {
        "GOOGLE_GEMINI_BASE_URL": server.http_url,
        "GEMINI_API_KEY": "fake",
        "SSL_CERT_FILE": server.ca_file,
    }
    before = {name: os.environ.get(name) for name in fake}
    os.environ.update({name: str(value) for name, value in fake.items()})
    try:
        yield
    finally:
        server.stop()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
