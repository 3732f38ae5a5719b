"""What came behind which pong."""

from __future__ import annotations

from websockets.frames import Frame, Opcode

from livetools.session.order import UNANSWERED, Order, Ping


def message(order: Order, *, fragments: int = 1) -> None:
    for n in range(fragments):
        order.came(Frame(Opcode.CONT if n else Opcode.TEXT, b"{}", fin=n == fragments - 1))


def pong(order: Order, ping: Ping | None) -> None:
    assert ping is not None
    order.came(Frame(Opcode.PONG, ping.payload))


def asked(order: Order) -> Ping:
    ping = order.ask()
    assert ping is not None
    return ping


def test_a_message_that_came_before_the_pong_is_not_behind_it_though_it_is_taken_later() -> None:
    order = Order()
    ping = asked(order)
    message(order)
    pong(order, ping)
    message(order)
    order.taken = 1
    assert ping() == 0
    order.taken = 2
    assert ping() == 1


def test_without_its_pong_nothing_is_behind_it() -> None:
    order = Order()
    ping = asked(order)
    message(order)
    order.taken = 1
    assert ping() is None


def test_a_message_in_fragments_is_one() -> None:
    order = Order()
    ping = asked(order)
    message(order, fragments=3)
    pong(order, ping)
    order.taken = 1
    assert ping() == 0


def test_a_pong_answers_the_pings_before_its_own_and_none_behind() -> None:
    order = Order()
    first, second, third = asked(order), asked(order), asked(order)
    pong(order, second)
    message(order)
    order.taken = 1
    assert (first(), second(), third()) == (1, 1, None)


def test_a_pong_that_nobody_asked_for_answers_nothing() -> None:
    order = Order()
    ping = asked(order)
    order.came(Frame(Opcode.PONG, b"heartbeat"))
    message(order)
    order.taken = 1
    assert ping() is None


def test_so_many_may_be_unanswered_and_no_more() -> None:
    order = Order()
    pings = [asked(order) for _ in range(UNANSWERED)]
    assert order.ask() is None
    pong(order, pings[0])
    assert order.ask() is not None
