"""Agents: how a program hands a whole ``connect`` call to a command or a bridge, which opens it when it is needed.

An agent is a partial of ``connect``, or a function whose return annotation is ``Session``::

    agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[get_weather])

    def agent(**options) -> livetools.Session:
        return livetools.connect("gemini-3.8-live", tools=[get_weather], **options)

Any other callable is a tool.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeGuard, Unpack

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import keywords
from livetools.setup.plan import Adjustments, adjusted
from livetools.tools import Hooks
from livetools.transport.contract import Dialer

from .connect import connect
from .handle_store import KeeperMaker
from .session import Session

#: What opens a session, with the parameters of :data:`GIVEN_TO_AGENTS` as keywords.
AgentLike: TypeAlias = Callable[..., Session]

#: The parameters of ``connect`` that a command or a bridge may hand to an agent: where the session is opened,
#: as whom, and the session that it continues. All else is the agent's own.
GIVEN_TO_AGENTS = frozenset({
    "api_key", "api_version", "base_url", "client", "clock", "credentials", "deps",
    "handle", "handle_store", "location", "project", "transport", "vertexai",
})  # fmt: skip


def is_agent(value: object) -> TypeGuard[AgentLike]:
    """Whether ``value`` is an agent: a partial of ``connect``, or a function annotated ``-> Session``."""
    if isinstance(value, partial):
        return value.func is connect or is_agent(value.func)
    if not (inspect.isfunction(value) or inspect.ismethod(value)) or value is connect:
        return False
    returned = value.__annotations__.get("return")
    if isinstance(returned, str):
        name = returned.rpartition(".")[2]
        try:
            returned = typing.get_type_hints(value).get("return")
        except Exception:  # an import under TYPE_CHECKING: of the names in it, only the last one matters
            returned = Session if name == "Session" else None
    return isinstance(returned, type) and issubclass(returned, Session)


def open_agent(agent: AgentLike, **options: object) -> Session:
    """The session of an agent, not yet entered. ``options`` are parameters named in :data:`GIVEN_TO_AGENTS`.

    An option of ``None`` is left out, so that the agent's own value holds. Raises ``ConfigError`` when the agent is a
    function that does not take an option; the agent's own errors pass through.
    """
    if not is_agent(agent):
        raise ConfigError(
            f"{agent!r:.80} is not an agent: pass functools.partial(connect, MODEL, tools=[...]), "
            "or a function annotated -> Session"
        )
    given = {name: value for name, value in options.items() if value is not None}
    if strange := sorted(given.keys() - GIVEN_TO_AGENTS):
        raise TypeError(f"an agent is not passed {', '.join(strange)}: its other options are its own")
    # A function takes what it names; leaving the rest out would open another session than was asked for.
    open_ended = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(agent).parameters.values())
    if not open_ended and (missing := sorted(given.keys() - keywords(agent))):
        raise ConfigError(
            f"{agent_name(agent)}() takes no {', '.join(missing)}: declare it with **options, "
            "and hand them on: connect(MODEL, ..., **options)"
        )
    session = agent(**given)
    if not isinstance(session, Session):
        raise ConfigError(f"{agent_name(agent)}() returned a {type(session).__name__}, expected a Session")
    return session


def adjust(
    session: Session,
    *,
    hooks: Sequence[Hooks] = (),
    wrap: Callable[[Dialer], Dialer] | None = None,
    keeper: KeeperMaker | None = None,
    **changes: Unpack[Adjustments],
) -> Session:
    """The same session, not yet entered, with what its opener says in the place of the agent's own.

    ``hooks`` follow the agent's own. ``wrap`` makes another dialer of the agent's; ``keeper`` makes what saves the
    handles. Raises ``ConfigError`` for what the model would refuse.
    """
    assembly = session._assembly
    assembly.hooks = (*assembly.hooks, *hooks)
    if wrap is not None:
        assembly.dialer = wrap(assembly.dialer)
    assembly.make_keeper = keeper or assembly.make_keeper
    assembly.plan = adjusted(assembly.plan, **changes)
    return session


def somebody_is_there(session: Session) -> None:
    """The user of this open session is present, though nothing was said: the silence is counted from now on."""
    if (driver := session._driver) is not None:
        driver.machine.user_is_there(driver.clock.now())


def went_idle(session: Session) -> bool:
    """Whether this session has ended because nobody spoke."""
    return session._driver is not None and session._driver.machine.went_idle


def agent_name(agent: AgentLike) -> str:
    """What messages call an agent: the function's name, or ``partial of connect``."""
    return "partial of connect" if isinstance(agent, partial) else getattr(agent, "__name__", "agent")
