"""`ReconnectPolicy`: how often a lost connection is dialled again, and how long to wait before each dial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import explains_keywords


@explains_keywords(
    **dict.fromkeys(("max_attempts", "retries", "max_retries", "tries"), "attempts="),
    **dict.fromkeys(("delay", "initial_delay", "base_delay", "min_delay", "backoff"), "initial="),
    **dict.fromkeys(("max_delay", "max_backoff", "max_wait"), "maximum="),
    **dict.fromkeys(("total", "max_total", "limit"), "budget="),
    **dict.fromkeys(("timeout", "dial_timeout"), "connect(setup_timeout=...)"),
)
@dataclass(frozen=True, slots=True)
class ReconnectPolicy:
    """How often, and after which delays, a lost connection is restored.

    ``attempts``: how many after each drop. ``initial``: seconds before the first; each further one waits twice as long,
    up to ``maximum``. ``jitter``: the share by which delays vary (0.2 is ±20 %). ``budget``: attempts in the whole
    session, so that a session on a flapping server ends at last. An attempt that fails counts; a session that was open
    again resets ``attempts``.

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
        for name in self.__slots__:
            value, most = getattr(self, name), 1 if name == "jitter" else inf
            if type(value) not in (int, float) or not 0 <= value <= most:
                raise ConfigError(
                    f"ReconnectPolicy: {name} is {value!r:.40}: expected a number, 0 to {most:g}"
                )

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds before the ``attempt``-th try (from 1); ``chance`` in [0, 1)."""
        # The exponent is bounded: 2.0 ** 1024 is an OverflowError, whatever number of attempts was asked for.
        plain = min(self.maximum, self.initial * 2.0 ** min(attempt - 1, 30))
        return plain * (1 + self.jitter * (2 * chance - 1))


class Attempts:
    """The dials of one session, counted against its policy (``None``: there is no second dial)."""

    def __init__(self, policy: ReconnectPolicy | None, random: Callable[[], float]) -> None:
        self._policy = policy or ReconnectPolicy(attempts=0)
        self._random = random
        self.dials = 0
        self.made = 0  # attempts since a session stood
        self._streak = 0  # attempts since a session did something useful
        self._moves = 0  # planned by the service, in a row: no turn has ended since the first of them
        self._moves_from = 0  # the socket that the last of them leaves

    def dial(self) -> int:
        """A number for another socket."""
        self.dials += 1
        return self.dials

    def may_dial(self) -> bool:
        """Whether the policy allows another dial."""
        # Dials include the first one, which is not a retry: hence "at most the budget" here.
        return self.made < self._policy.attempts and self.dials <= self._policy.budget

    def retry_delay(self, *, at_once: bool = False) -> float:
        """Count another attempt; its delay in seconds.

        ``at_once``: a stale handle is dropped without a delay, but only within the first two attempts: later ones
        wait, in case the server keeps doing it.
        """
        # Two counts: a session that was open resets the attempts, but the delays grow on until it has done something
        # useful. So a server that accepts and closes again and again is dialled less and less often.
        self.made += 1
        self._streak += 1
        return 0.0 if at_once and self._streak <= 2 else self._policy.delay(self._streak, self._random())

    def go_away_delay(self, link: int, time_left: float | None) -> float:
        """A goAway on this socket (``inf``: the user's own wish); the delay in seconds before the next dial.

        A service that says goAway on one new connection after another is dialled less and less often.
        """
        # A second goAway on the same socket is the same move.
        if time_left == inf or link == self._moves_from:
            return 0.0
        self._moves, self._moves_from = self._moves + 1, link
        return self._policy.delay(self._moves - 1, self._random()) if self._moves > 1 else 0.0

    def stood(self) -> None:
        """A session is open: the next drop has all its attempts."""
        self.made = 0

    def proved(self) -> None:
        """The session did something useful: delays start again from ``initial``. Until then they grow, to
        spare a flapping server."""
        self._streak = self._moves = 0
