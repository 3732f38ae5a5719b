"""What came behind which pong."""

from __future__ import annotations

from websockets.frames import Frame, Opcode

from livetools.transport.pongs import UNANSWERED, Ping, Pongs


def message(pongs: Pongs, *, fragments: int = 1) -> None:
    for n in range(fragments):
        pongs.came(Frame(Opcode.CONT if n else Opcode.TEXT, b"{}", fin=n == fragments - 1))


def pong(pongs: Pongs, ping: Ping | None) -> None:
    assert ping is not None
    pongs.came(Frame(Opcode.PONG, ping.payload))


def asked(pongs: Pongs) -> Ping:
    ping = pongs.ask()
    assert ping is not None
    return ping


def test_a_message_that_came_before_the_pong_is_not_behind_it_though_it_is_taken_later() -> None:
    pongs = Pongs()
    ping = asked(pongs)
    message(pongs)
    pong(pongs, ping)
    message(pongs)
    pongs.taken = 1
    assert ping() == 0
    pongs.taken = 2
    assert ping() == 1


def test_without_its_pong_nothing_is_behind_it() -> None:
    pongs = Pongs()
    ping = asked(pongs)
    message(pongs)
    pongs.taken = 1
    assert ping() is None


def test_a_message_in_fragments_is_one() -> None:
    pongs = Pongs()
    ping = asked(pongs)
    message(pongs, fragments=3)
    pong(pongs, ping)
    pongs.taken = 1
    assert ping() == 0


def test_a_pong_answers_the_pings_before_its_own_and_none_behind() -> None:
    pongs = Pongs()
    first, second, third = asked(pongs), asked(pongs), asked(pongs)
    pong(pongs, second)
    message(pongs)
    pongs.taken = 1
    assert (first(), second(), third()) == (1, 1, None)


def test_a_pong_that_nobody_asked_for_answers_nothing() -> None:
    pongs = Pongs()
    ping = asked(pongs)
    pongs.came(Frame(Opcode.PONG, b"heartbeat"))
    message(pongs)
    pongs.taken = 1
    assert ping() is None


def test_so_many_may_be_unanswered_and_no_more() -> None:
    pongs = Pongs()
    pings = [asked(pongs) for _ in range(UNANSWERED)]
    assert pongs.ask() is None
    pong(pongs, pings[0])
    assert pongs.ask() is not None
