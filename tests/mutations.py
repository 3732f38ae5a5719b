"""Breaks the tables in every small way, and sees whether the searches notice: ``python tests/mutations.py``.

Each mutant drops one line of the table of debts, of turns or of the connection, or one effect of a line, or stays where
it should move; or decides the same whatever happens; or forgets a kind of entry of the outbox. A mutant that
survives is printed, and is either a hole in the tests or a line that nothing needs; the exit status is the number of
survivors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "protocol" / "input"))
sys.path.insert(0, str(Path(__file__).parent / "protocol" / "turns"))

import test_expected_turns as test_turns
import test_resend
from support import asking, line, reading, world
from support.driver import plan
from support.search import search

from livetools.protocol.calls import call_states
from livetools.protocol.connection import connection_states as link
from livetools.protocol.connection import dials_and_moves
from livetools.protocol.input import resend
from livetools.protocol.turns import turn_states as turns
from livetools.setup.plan_fields import CallPolicy

DEBTS = [
    plan(CallPolicy("tool", timeout=60, undo=True)),
    plan(CallPolicy("tool", timeout=60, undo=True), reply_batching="batch"),
    plan(CallPolicy("tool", timeout=60, background=True)),
    plan(CallPolicy("tool", timeout=60, background=True), reply_batching="batch"),
    plan(CallPolicy("tool", timeout=60, streams=True, takes_scheduling=True)),
    plan(CallPolicy("tool", timeout=60, undo=True), answers_lost=True),
]
LINES = [(plan(), line.POLICY), (plan(handle="old"), line.POLICY), (plan(), None)]


def prove_ledger() -> None:
    """Search the orders of what can happen to calls."""
    for depth in (2, 3):
        for beginning in world.BEGINNINGS:
            for one in DEBTS:
                world.explore(one, depth, beginning)


def prove_link() -> None:
    """Search the orders of what can happen to the connection."""
    for depth in (2, 3, 4):
        for beginning in line.BEGINNINGS:
            for terms, policy in LINES:

                def make(terms: Any = terms, policy: Any = policy) -> line.World:
                    return line.World(terms, policy)

                search(make, line.World.INPUTS, depth, beginning, last=line.World.calm)


def prove_turns() -> None:
    """Play every order of frames that was seen, and search the orders of questions and answers."""
    for order in test_turns.ORDERS:
        for microphone in ("", "on", "off and on"):
            test_turns.test_an_exchange_ends_with_the_last_frame_that_is_due_and_not_before(order, microphone)
        test_turns.test_wherever_the_model_falls_silent_a_stall_ends_the_exchange(order)
        test_turns.test_wherever_the_line_is_cut_the_exchange_ends_or_goes_on(order)
    for order in test_turns.UNDER_WAY:
        test_turns.test_a_question_that_is_asked_in_the_middle_of_a_turn_is_answered_by_the_next(order)
        test_turns.test_a_turn_that_ends_leaves_nothing_due_but_the_calls(order)
        test_turns.test_a_turn_that_a_lost_connection_has_cut_is_not_waited_for_on_the_next(order)
        for late in (False, True):
            test_turns.test_a_turn_that_a_stall_has_given_up_may_still_come_before_the_next(order, late)
        test_turns.test_a_turn_that_begins_behind_a_question_that_was_given_up_may_be_the_answer_to_the_next(
            order
        )
    for end in test_turns.ENDS_OF_CALLS:
        test_turns.test_after_a_call_without_a_word_on_it_the_next_turn_is_the_questions(end)
    for steps, due in test_turns.ANSWERS:
        test_turns.test_an_answer_is_spoken_of_in_the_turn_behind_the_calls_own(steps, due)
    for policy, turn in test_turns.ON_SPEECH:
        test_turns.test_a_turn_on_what_was_said_is_not_the_answer_to_a_text_however_it_ends(policy, turn)
    for inputs, *_ in test_turns.PLAYED.values():
        search(asking.World, inputs, 4, last=asking.World.calm)


def prove_outbox() -> None:
    """Search the orders of what is written, read and answered before a line breaks; and what one entry makes of it."""
    for case in test_resend.WORDS:
        test_resend.test_words_count_alone_where_they_must_mean_it_and_else_with_the_pong(*case)
    for loss in test_resend.LOSSES:
        test_resend.test_at_a_loss_the_end_of_its_answer_counts_with_a_pong(*loss)
    test_resend.test_what_no_socket_has_been_handed_was_read_by_nobody()
    for policy in reading.POLICIES.values():
        search(partial(reading.World, policy), reading.World.INPUTS, 4, last=reading.World.breaks)
    for kind, again in test_resend.FOLLOWED.items():
        test_resend.test_what_was_swallowed_is_told_and_written_again_by_its_kind(kind, again)
    for beginning in world.BEGINNINGS:
        for one in DEBTS:
            world.explore(one, 2, beginning)


def changed_outbox() -> Iterator[tuple[str, str, Any]]:
    """What is changed, in which set of the outbox, and to what."""
    for name in ("REPEATED", "FOLLOWED"):
        kinds = getattr(resend, name)
        for kind in sorted(kinds):
            yield f"{kind}: not {name}", name, kinds - {kind}


def mutate_outbox() -> Iterator[tuple[str, str | None]]:
    """Each mutant of the outbox, and its failure."""
    for name, table, entries in changed_outbox():
        original = getattr(resend, table)
        setattr(resend, table, entries)
        try:
            prove_outbox()
        except Exception as failure:
            yield name, f"{type(failure).__name__}: {failure}"
        else:
            yield name, None
        finally:
            setattr(resend, table, original)


TABLES: list[tuple[Any, Callable[[], None]]] = [
    (call_states.TABLE, prove_ledger),
    (turns.TABLE, prove_turns),
    (link.TABLE, prove_link),
]
#: The effects of the connection that decide, and for what.
DECISIONS = {
    link.LinkEffect.CHECK: (link.LinkEvent.QUIET, link.LinkEvent.SPOKEN),
    link.LinkEffect.JUDGE: (link.LinkEvent.AGAIN, link.LinkEvent.GIVE_UP),
}


def mutants(table: Any) -> Iterator[tuple[str, Any, Any]]:
    """What is changed, where, and to what (``None``: the line is gone)."""
    for pair, entry in list(table.items()):
        name = f"{pair[0].name} {pair[1].name}"
        yield f"{name}: no such line", pair, None
        if not isinstance(entry, tuple):  # a state alone: without the line it stays where it is
            continue
        to, effects = entry
        for effect in effects:
            yield f"{name}: without {effect.name}", pair, (to, tuple(e for e in effects if e is not effect))
        if to is not None and to is not pair[0]:
            yield f"{name}: stays where it is", pair, (pair[0], effects)


def caught(table: Any, pair: Any, entry: Any, prove: Callable[[], None]) -> str | None:
    """The shortest failure of this mutant, if there is one."""
    original = table[pair]
    if entry is None:
        del table[pair]
    else:
        table[pair] = entry
    try:
        return failure_of(prove)
    finally:
        table[pair] = original


def failure_of(prove: Callable[[], None]) -> str | None:
    """How this search fails, if it does."""
    try:
        prove()
    except Exception as failure:  # a crash is a catch as well
        return f"{type(failure).__name__}: {failure}"
    return None


def mutate_tables() -> Iterator[tuple[str, str | None]]:
    """Each mutant of the tables of moves, and its failure."""
    for table, prove in TABLES:
        prove()  # or it is broken already
        for name, pair, entry in mutants(table):
            yield name, caught(table, pair, entry, prove)


def mutate_decisions() -> Iterator[tuple[str, str | None]]:
    """Each effect of the connection that decides, always for the same event; and its failure."""
    for effect, events in DECISIONS.items():
        method = f"_{effect.name.lower()}"
        original = getattr(dials_and_moves.Connection, method)
        for event in events:

            def always(self: Any, step: Any, original: Any = original, event: Any = event) -> Any:
                original(self, step)
                return event

            setattr(dials_and_moves.Connection, method, always)
            try:
                yield f"{effect.name} always says {event.name}", failure_of(prove_link)
            finally:
                setattr(dials_and_moves.Connection, method, original)


def main() -> int:
    """Print each mutant and its end."""
    survivors, total, began = [], 0, time.monotonic()
    prove_outbox()
    for name, failure in chain(mutate_outbox(), mutate_tables(), mutate_decisions()):
        total += 1
        if failure is None:
            survivors.append(name)
        print(f"{'caught  ' if failure else 'SURVIVED'} {name}  {(failure or '')[:140]}", flush=True)
    print(f"{total - len(survivors)} of {total} mutants caught in {time.monotonic() - began:.0f} s")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
