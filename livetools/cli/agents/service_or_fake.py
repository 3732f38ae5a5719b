"""Chooses what a command connects to: the service, or a fake of it on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from livetools.cli.process.errors_and_signals import UsageError
from livetools.errors import ConfigError
from livetools.testing.pretend import Pretend
from livetools.transport.endpoint import Given, resolve

PRETEND = "This is a pretend model: it only picks a function by the words of your question."


@dataclass(frozen=True, slots=True)
class ServiceOrFake:
    """``options`` are for ``connect``; ``notice`` is a line to show first; ``rest`` is the fake's REST side."""

    fake: bool
    options: dict[str, Any] = field(default_factory=dict)  # connect's keyword arguments, of several types
    notice: str = ""
    rest: str | None = None


@contextmanager
def service_or_fake(
    fake: bool, base_url: str | None = None, rules: Path | None = None, *, pace: float = 0.0
) -> Iterator[ServiceOrFake]:
    """The service, if there is a key for it; otherwise, or on request, an embedded fake server.

    ``rules`` are those of the fake server's pretend model; without them it is ``Pretend``. ``pace`` 1: it speaks in
    real time, so that the user can interrupt it.

    An endpoint that was named, by ``base_url`` or by the environment, is never replaced by the fake: what is
    wrong with it is raised (``ConfigError``) by ``connect``.
    """
    why = "You asked for --fake." if fake else _no_way(base_url)
    if why is None:
        yield ServiceOrFake(False, {} if base_url is None else {"base_url": base_url})
        return
    if fake and base_url is not None:
        raise UsageError("--fake and --base-url cannot be combined: pass only one of them")
    from livetools.testing import FakeLiveServer
    from livetools.testing.pretend.rule_based import Rules

    server = FakeLiveServer(Pretend() if rules is None else Rules.load(rules))
    server.pace = pace
    server.start()
    try:
        yield ServiceOrFake(True, server.options, f"{PRETEND} {why}", server.http_url)
    finally:
        server.stop(check=False)


def _no_way(base_url: str | None) -> str | None:
    """Why the service cannot be asked, in words; ``None`` if it can, or if an endpoint was named."""
    given = Given(base_url=base_url)
    try:
        resolve(given)
    except ConfigError as error:
        variable = "GOOGLE_VERTEX_BASE_URL" if given.vertexai else "GOOGLE_GEMINI_BASE_URL"
        if base_url is None and not os.environ.get(variable):
            return f"The service cannot be asked, so a pretend model answers: {error}"
    return None
