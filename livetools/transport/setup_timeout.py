"""How far a dial has got, and the error where there is no session within ``setup_timeout``."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from livetools.errors import SetupTimeout

#: What to check when a dial hangs, by how far it got. ``where`` is host and port.
_ADVICE = {
    "address": "the address of {where} is not known yet: check the name, and the DNS of this machine",
    "TCP": "{where} does not answer (TCP): check base_url and port, the network, a firewall",
    "proxy": "{where} did not get through the proxy {proxy}: check WebSocket(proxy=...) and HTTPS_PROXY",
    "TLS": "{where} accepts TCP and is silent in TLS: is it a plain port (ws://), or another service?",
    "upgrade": "{where} does not answer the upgrade: is it a websocket server, and does it want TLS (wss://)?",
    "setup": "the service did not complete the setup. Suspect optional fields of the config that this model does not"
    " know, then the network",
}


@dataclass
class Progress:
    """How far one dial has got: ``address``, ``TCP``, ``proxy``, ``TLS``, ``upgrade``, ``setup``."""

    stage: str = "setup"  # of a transport that says nothing, this is all that is known
    where: str = "the service"
    proxy: str = ""

    def timed_out(self, seconds: float) -> SetupTimeout:
        """The error where no session is open after so many seconds: where the dial hangs, and what to check."""
        advice = _ADVICE[self.stage].format(where=self.where, proxy=self.proxy)
        return SetupTimeout(f"no session within {seconds:g} s: {advice}; setup_timeout= gives it longer")


_current: ContextVar[Progress | None] = ContextVar("livetools dial", default=None)


def begin() -> Progress:
    """The dial of this task begins."""
    _current.set(progress := Progress())
    return progress


def current() -> Progress:
    """How far the dial of this task has got; one of its own where none has begun."""
    return _current.get() or Progress()


def reached(stage: str, **facts: str) -> None:
    """The dial of this task is at ``stage``."""
    vars(current()).update(facts, stage=stage)
