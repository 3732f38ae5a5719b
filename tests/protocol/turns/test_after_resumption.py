"""A session that is resumed while a call is open: what it spends on that, and that each question is answered."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from support.driver import Driver, plan
from support.resuming import PATIENT, World
from support.search import search

from livetools.events import OutputTranscript
from livetools.protocol.turns.after_resumption import AfterResumption
from livetools.protocol.turns.exchange import Exchange
from livetools.protocol.turns.expected_turns import CONFIRMED, PAUSE
from livetools.setup.plan_fields import CallPolicy

ASYNC = CallPolicy("tool", timeout=None, behavior="NON_BLOCKING", ends_turn=True)
HANDLE = {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}}


def live(**fields: Any) -> Driver:
    """A session that can be resumed."""
    return Driver(plan(ASYNC, answers_lost=True, **fields), PATIENT).live().server(HANDLE)


def ask(d: Driver, text: str = "?") -> Exchange:
    exchange, _ = d.machine.ask(text, d.now)
    d.drain()
    return exchange


def cut(d: Driver, handle: bool = True) -> Driver:
    """The connection is lost, and the next one resumes the session."""
    d.drop().later(0.5).establish()
    return d.server(HANDLE) if handle else d


def words(exchange: Exchange) -> str:
    return "".join(event.text for event in exchange.events if isinstance(event, OutputTranscript))


# A call that nobody has read here


def test_a_question_that_was_spent_on_a_call_which_nobody_has_read_is_written_again() -> None:
    d = live()
    exchange = ask(d)
    cut(d).turn_complete()
    assert not exchange.done
    assert d.texts() == ["?", "?", "?"]
    d.say("yes").turn_complete()
    assert exchange.done
    assert not exchange.interrupted
    assert words(exchange) == "yes"


def test_so_is_one_that_is_asked_long_after() -> None:
    d = live()
    d.machine.send_text("with a call", d.now)
    cut(d.drain())
    d.turn_complete()  # that was spent
    cut(d, handle=False).later(500)  # and the handle is older than that
    exchange = ask(d)
    d.turn_complete().say("yes").turn_complete()
    assert words(exchange) == "yes"
    assert d.texts().count("?") == 2


def test_once_for_each_connection() -> None:
    d = live()
    exchange = ask(d)
    cut(d).turn_complete().turn_complete()
    assert exchange.done
    assert exchange.interrupted, "the model was silent, or waits for more than can be known"
    assert d.texts() == ["?", "?", "?"]


def test_one_that_is_written_again_and_goes_down_with_the_next_connection_is_so_once_more() -> None:
    d = live()
    exchange = ask(d)
    cut(cut(d).turn_complete()).turn_complete().say("yes").turn_complete()
    assert words(exchange) == "yes"
    assert d.texts() == ["?"] * 5


@pytest.mark.parametrize("word", [{"turnCompleteReason": "NEED_MORE_INPUT"}, {"waitingForInput": True}])
def test_a_turn_that_says_why_it_is_empty_is_the_answer(word: dict[str, object]) -> None:
    d = live()
    exchange = ask(d)
    cut(d).turn_complete(**word)
    assert exchange.done
    assert d.texts() == ["?", "?"]


def test_a_silence_where_nothing_was_lost_is_the_answer() -> None:
    d = live().say("hello").turn_complete().server(HANDLE)
    cut(d)  # in a quiet moment
    exchange = ask(d)
    d.turn_complete()
    assert exchange.done
    assert not exchange.interrupted
    assert d.texts() == ["?"]


def test_a_handle_behind_a_turn_is_rid_of_what_was_lost_before() -> None:
    d = live()
    ask(d)
    cut(d).say("yes").turn_complete().server(HANDLE)
    exchange = ask(cut(d), "and?")
    d.turn_complete()
    assert exchange.done
    assert d.texts().count("and?") == 1


def test_a_new_session_waits_for_nothing() -> None:
    d = Driver(plan(ASYNC, answers_lost=True), PATIENT).live()
    exchange = ask(d)
    d.drop().later(0.5).establish().turn_complete()
    assert exchange.done
    assert d.texts() == ["?", "?"]


def test_a_session_that_another_process_has_left_may_wait_for_something() -> None:
    d = Driver(plan(ASYNC, answers_lost=True, handle="h"), PATIENT).live()
    exchange = ask(d)
    d.turn_complete().say("yes").turn_complete()
    assert words(exchange) == "yes"


def test_the_words_of_a_stream_begin_anew_with_the_answer() -> None:
    """What was taken of the empty turn is not counted off the answer."""
    d = live()
    exchange = ask(d)
    cut(d).server({"serverContent": {"turnComplete": True}, "usageMetadata": {"totalTokenCount": 9}})
    taken = []
    for frame in ("one", "two"):
        d.say(frame)
        while (event := exchange.next()) is not None:
            taken.append(event)
    assert [event.text for event in taken if isinstance(event, OutputTranscript)] == ["one", "two"]


# Calls that were answered with errors


@pytest.fixture
def excused() -> Driver:
    """A session that was resumed, and was told that its call is lost."""
    d = live()
    d.machine.send_text("with a call", d.now)
    d.drain().call(("c1", "tool")).turn_complete()
    return cut(d, handle=False)


def test_the_empty_turn_that_confirms_an_error_is_not_the_answer_to_the_next_question(
    excused: Driver,
) -> None:
    exchange = ask(excused)
    excused.turn_complete().server(HANDLE)
    assert not exchange.done
    excused.say("yes").turn_complete()
    assert exchange.done
    assert words(exchange) == "yes"
    assert not exchange.interrupted
    assert excused.texts().count("?") == 1


def test_nor_does_it_show_that_the_question_was_read(excused: Driver) -> None:
    exchange = ask(excused)
    cut(excused.turn_complete()).say("yes").turn_complete()
    assert words(exchange) == "yes"
    assert excused.texts().count("?") == 2


def test_a_service_that_confirms_nothing_answers_at_once(excused: Driver) -> None:
    exchange = ask(excused)
    excused.say("yes").turn_complete()
    assert exchange.done
    assert words(exchange) == "yes"


def test_a_turn_shows_that_no_confirmation_comes(excused: Driver) -> None:
    ask(excused)
    excused.say("yes").turn_complete()
    exchange = ask(excused, "and?")
    excused.turn_complete()
    assert exchange.done


@pytest.mark.parametrize("status", [False, True])
def test_a_call_shows_that_no_confirmation_comes(status: bool) -> None:
    d = live(idle_signal=status)
    d.machine.send_text("with a call", d.now)
    d.drain().call(("c1", "tool")).turn_complete()
    exchange = ask(cut(d))
    d.call(("c2", "tool")).turn_complete(**({"interactionStatus": "IN_PROGRESS"} if status else {}))
    d.settle("c2").say("yes").turn_complete(**({"interactionStatus": "IDLE"} if status else {}))
    assert exchange.done
    assert words(exchange) == "yes"


def test_where_nothing_follows_the_confirmation_the_question_was_spent(excused: Driver) -> None:
    exchange = ask(excused)
    excused.turn_complete().server(HANDLE).later(CONFIRMED - 0.1)
    assert excused.texts().count("?") == 1
    excused.later(0.2)
    assert excused.texts().count("?") == 2
    excused.say("yes").turn_complete().later(PAUSE)
    assert words(exchange) == "yes"


def test_and_is_written_again_once(excused: Driver) -> None:
    exchange = ask(excused)
    excused.turn_complete().later(CONFIRMED + 0.1).turn_complete().turn_complete()
    assert exchange.done
    assert exchange.interrupted
    assert excused.texts().count("?") == 2


def test_sooner_where_a_call_may_have_gone_unread() -> None:
    d = live()
    d.machine.send_text("with a call", d.now)
    d.drain().call(("c1", "tool"))  # and another one behind it
    exchange = ask(cut(d))
    d.turn_complete().later(PAUSE + 0.1).say("yes").turn_complete().later(PAUSE)
    assert d.texts().count("?") == 2
    assert words(exchange) == "yes"


def test_a_model_that_thinks_for_long_may_still_answer_the_question_that_was_taken_for_spent(
    excused: Driver,
) -> None:
    first = ask(excused, "one")
    excused.turn_complete().later(CONFIRMED + 0.1).say("to one").turn_complete()
    assert not first.done, "it may be answered twice"
    excused.say("to one").turn_complete()
    assert words(first) == "to one"
    second = ask(excused, "two")
    excused.say("to two").turn_complete()
    assert words(second) == "to two"


# Every order


#: Whether the service confirms the errors with an empty turn, and whether its profile says so.
CONFIRMS = [(True, True), (False, True), (False, False)]


@pytest.mark.parametrize(("closes", "expected"), CONFIRMS)
def test_in_every_order_of_losses_each_question_is_answered(closes: bool, expected: bool) -> None:
    assert search(partial(World, closes, expected), World.INPUTS, 6, last=World.calm) > 150


@pytest.mark.slow
@pytest.mark.parametrize(("closes", "expected"), CONFIRMS)
def test_in_every_longer_order_too(closes: bool, expected: bool) -> None:
    assert search(partial(World, closes, expected), World.INPUTS, 11, last=World.calm) > 1500


def test_what_a_session_may_wait_for() -> None:
    stale = AfterResumption()
    stale.began(restored=False, errors=False)
    assert not stale.swallows
    stale.lost(busy=False)
    stale.began(restored=True, errors=True)
    assert stale.closes
    assert not stale.swallows
    stale.closed()
    assert not stale.closes
    assert stale.swallows


def errors_on(d: Driver, connections: int) -> int:
    """How many connections in a row are told of the one call that was lost; each gives a handle."""
    before = len(d.answers())
    for _ in range(connections):
        cut(d).server(HANDLE)
    return len(d.answers()) - before


@pytest.mark.parametrize("closes", [False, True], ids=["no empty turn", "an empty turn"])
def test_the_error_for_a_lost_call_is_said_again_until_a_handle_comes_that_knows_of_it(closes: bool) -> None:
    """Where the service confirms it with an empty turn, that must have come; else the pong tells that it was read."""
    d = Driver(plan(ASYNC, answers_lost=True, closes_lost=closes), PATIENT).live().server(HANDLE)
    d.call(("c1", "tool"))
    assert errors_on(d, 5) == (5 if closes else 1)
    if closes:
        assert errors_on(d.turn_complete().server(HANDLE), 5) == 0


def test_a_handle_that_came_before_the_pong_does_not_know_of_the_error() -> None:
    d = Driver(plan(ASYNC, answers_lost=True), PATIENT).live().server(HANDLE)
    d.call(("c1", "tool"))
    d.slow.update(range(1, 9))
    assert errors_on(d, 3) == 3
