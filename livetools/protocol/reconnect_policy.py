"""`ReconnectPolicy`: how often a lost connection is dialled again, and how long to wait before each dial."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import ConfigError


@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    """How a lost connection is dialled again.

    ``attempts`` for each drop; the first waits about ``initial`` seconds, each next one twice as long, up to
    ``maximum``, each varied by ``jitter`` (a share: 0.2 is ±20 %); ``budget`` dials in the whole session, so that a
    flapping server is left after a while. An attempt that fails counts; a session that stood resets ``attempts``.

    ::

        policy = ReconnectPolicy(attempts=3, initial=0.5)
        async with connect(MODEL, tools=[get_weather], reconnect=policy) as session:
            print(await session.ask("Weather in Oslo?"))
    """

    attempts: int = 8
    initial: float = 0.25
    maximum: float = 15.0
    jitter: float = 0.2
    budget: int = 40

    def __post_init__(self) -> None:
        if self.attempts < 0 or self.budget < 0 or self.initial < 0 or self.maximum < 0:
            raise ConfigError("ReconnectPolicy: attempts, initial, maximum and budget must not be negative")
        if not 0 <= self.jitter <= 1:
            raise ConfigError("ReconnectPolicy: jitter is a share between 0 and 1")

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds before the ``attempt``-th try (from 1); ``chance`` in [0, 1)."""
        plain = min(self.maximum, self.initial * 2.0 ** min(attempt - 1, 30))
        return plain * (1 + self.jitter * (2 * chance - 1))
