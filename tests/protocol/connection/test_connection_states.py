"""The table of the connection: what must hold of its lines, and every order of inputs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from support.driver import plan
from support.line import BEGINNINGS, POLICY, World
from support.search import search

import livetools
from livetools.protocol.connection.connection_states import TABLE, USABLE, LinkEffect, LinkEvent, LinkState
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.setup.plan_fields import Plan

PLANS: dict[str, tuple[Plan, ReconnectPolicy | None]] = {
    "resumable": (plan(), POLICY),
    "by a handle": (plan(handle="old"), POLICY),
    "without handles": (plan(resumption=False), POLICY),
    "not to be resumed": (plan(), None),
    "by a handle, not to be resumed": (plan(handle="old"), None),
    "one dial": (plan(), ReconnectPolicy(attempts=8, jitter=0.0, budget=1)),
}
# Where an input has nothing to do: no socket to open, to end or to leave, no session, no move, nothing due.
IMPOSSIBLE = {
    LinkState.NEW: {LinkEvent.OPENED, LinkEvent.GONE, LinkEvent.DUE},
    LinkState.LIVE: {LinkEvent.OPENED, LinkEvent.DUE},
    LinkState.WAITING: {LinkEvent.OPENED, LinkEvent.GONE},
    LinkState.CLOSED: set(LinkEvent),
}

#: What is decided on the way: by which effect, where.
DECIDES = {
    LinkEffect.JUDGE: {LinkEvent.AGAIN, LinkEvent.GIVE_UP},
    LinkEffect.CHECK: {LinkEvent.QUIET, LinkEvent.SPOKEN},
}
PASSED = {LinkState.BROKEN}  # it never rests there


@pytest.mark.parametrize(("state", "effect"), list(product(LinkState, DECIDES)), ids=lambda v: v.name)
def test_wherever_something_is_decided_the_table_goes_on_with_either(
    state: LinkState, effect: LinkEffect
) -> None:
    deciding = [todo for to, todo in TABLE.values() if to is state and effect in todo]
    assert all(todo[-1] is effect for todo in deciding)
    assert not deciding or all((state, event) in TABLE for event in DECIDES[effect])


def test_the_state_is_set_in_one_place() -> None:
    """Beside the first state, only the move by the table sets it, whoever holds the connection."""
    package = Path(livetools.__file__).parent
    found = [(path.stem, *place) for path in sorted(package.rglob("*.py")) for place in states_set(path)]
    assert found == [
        ("dials_and_moves", "__init__", "self.state"),
        ("dials_and_moves", "_move", "self.state"),
    ]


def states_set(path: Path) -> Iterator[tuple[str, str]]:
    """Where a file sets the state of a connection: the function, and what it sets."""
    own = path.parts[-2:] == ("connection", "dials_and_moves.py")
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                    target = ast.unparse(node)
                    if target.endswith("connection.state") or (own and node.attr == "state"):
                        yield function.name, target


def test_from_everywhere_but_the_end_a_close_ends_it() -> None:
    ends = {line for line in LinkState if LinkEffect.END in TABLE.get((line, LinkEvent.CLOSE), (None, ()))[1]}
    assert ends == set(LinkState) - {LinkState.CLOSED} - PASSED


def test_wherever_a_socket_is_in_use_its_end_is_heard() -> None:
    in_use = set(LinkState) - {LinkState.NEW, LinkState.WAITING, LinkState.CLOSED} - PASSED
    assert {line for line, on in TABLE if on is LinkEvent.GONE} == in_use


def test_wherever_something_is_awaited_there_is_a_deadline() -> None:
    awaiting = set(LinkState) - {LinkState.NEW, LinkState.LIVE, LinkState.CLOSED} - PASSED
    assert {line for line, on in TABLE if on is LinkEvent.DUE} == awaiting


def test_what_hangs_on_a_socket_is_lost_wherever_that_socket_goes() -> None:
    """A server may call before it completes the setup, so that is a place to lose something as well."""
    losing = {pair for pair, (_, todo) in TABLE.items() if LinkEffect.LOSE in todo}
    breaking = {pair for pair, (to, _) in TABLE.items() if to is LinkState.BROKEN}
    decided = {(LinkState.BROKEN, LinkEvent.AGAIN), (LinkState.BROKEN, LinkEvent.GIVE_UP)}
    going = {(line, LinkEvent.GONE) for line in [*USABLE, LinkState.SETUP, LinkState.SWAPPING]}
    late = {
        (LinkState.SETUP, LinkEvent.DUE),
        (LinkState.SWAPPING, LinkEvent.DUE),
        (LinkState.SWAPPING, LinkEvent.NEXT_GONE),
    }
    assert decided <= losing
    assert losing - decided | breaking == going | late


def test_a_setup_is_sent_exactly_where_the_setup_begins() -> None:
    assert all((LinkEffect.SEND_SETUP in todo) == (to is LinkState.SETUP) for to, todo in TABLE.values())


def test_what_cannot_happen_is_not_in_the_table() -> None:
    assert not [(line, on) for line, ons in IMPOSSIBLE.items() for on in ons if (line, on) in TABLE]


@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_keeps_the_invariants(name: str) -> None:
    depth = 6 if name == "by a handle" else 5
    assert search(lambda: World(*PLANS[name]), World.INPUTS, depth, last=World.calm) > 100


@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_after_longer_beginnings_keeps_the_invariants(name: str) -> None:
    depth = 3 if name == "resumable" else 2
    for beginning in BEGINNINGS:
        assert search(lambda: World(*PLANS[name]), World.INPUTS, depth, beginning, last=World.calm)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_every_order_of_inputs_keeps_the_invariants_deeper(name: str) -> None:
    for beginning in BEGINNINGS:
        assert search(lambda: World(*PLANS[name]), World.INPUTS, 5, beginning, last=World.calm)
