"""Ephemeral tokens, which a browser gets in place of the API key."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from livetools.testing.wire import Message, ServiceRefusal

USE_WITHIN = 60.0  # seconds to open a session in, as the service has it


@dataclass(slots=True)
class EphemeralToken:
    """One token. ``uses`` 0 is unlimited; ``setup`` are constraints that replace what the client says."""

    uses: int
    opens_until: float
    setup: Message
    used: int = 0


@dataclass(slots=True)
class Tokens:
    """The tokens of one server."""

    known: dict[str, EphemeralToken] = field(default_factory=dict)

    def mint(self, name: str, now: float, uses: int = 1, setup: Message | None = None) -> str:
        """Make a token; its name, as ``auth_tokens/…``."""
        self.known[name] = EphemeralToken(uses, now + USE_WITHIN, setup or {})
        return name

    def fault(self, credential: str | None, now: float) -> ServiceRefusal | None:
        """Why this token may not open a session; ``None`` if it may, or if the credential is not a token."""
        if credential is None or not credential.startswith("auth_tokens/"):
            return None
        token = self.known.get(credential)
        if token is None:
            return ServiceRefusal(1007, "API key not valid. Please pass a valid API key.", "no such token")
        if now > token.opens_until:
            return ServiceRefusal(1011, "Token has expired", "no new session after newSessionExpireTime")
        if token.uses and token.used >= token.uses:
            return ServiceRefusal(1011, "Token has been used too many times", f"uses is {token.uses}")
        return None

    def constrain(self, credential: str | None, setup: Message) -> Message:
        """The setup as the token allows it: a constrained field replaces the client's."""
        token = self.known.get(credential or "")
        return setup if token is None else {**setup, **copy.deepcopy(token.setup)}

    def spend(self, credential: str | None, setup: Message) -> None:
        """Count a session that was opened with this credential; a resumption costs nothing."""
        token = self.known.get(credential or "")
        if token is not None and not (setup.get("sessionResumption") or {}).get("handle"):
            token.used += 1
