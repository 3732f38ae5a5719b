"""Conversations that are played against the fake server, in good weather and in bad."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

import livetools
from livetools.evals import (
    BargeIn,
    Called,
    Drop,
    Eval,
    InOrder,
    NotCalled,
    Said,
    SlowTool,
    SurvivedInterruptions,
    judge_round,
    play,
    spoken,
)
from livetools.testing import FakeLiveServer
from livetools.testing.pretend import Pretend

pytestmark = pytest.mark.anyio


async def judged(agent, server, caller, *expect, **options):
    case = Eval("a case", agent, caller, expect, **{"timeout": 5.0, **options})
    async with server:
        return await judge_round(case, await play(case, **server.options))


BOOK = 'book a table, name "Ann", guests 4'


async def test_a_right_agent_passes(agent):
    done = await judged(
        agent,
        FakeLiveServer(Pretend()),
        BOOK,
        Called("book_table", {"name": "Ann", "guests": 4}, times=1),
        NotCalled("cancel_booking"),
        Said("table 4 for Ann"),
    )
    assert done.passed, str(done)
    turn = done.conversation.turns[0]
    assert done.conversation.cost is not None
    assert turn.latency is not None
    assert turn.ended is not None


async def test_an_agent_that_calls_the_wrong_tool_fails(agent):
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await turn.call("cancel_booking", number=1)
        await turn.say("It is booked.")

    done = await judged(agent, server, BOOK, Called("book_table"), NotCalled("cancel_booking"))
    assert [verdict.passed for verdict in done.verdicts] == [True, False, False]
    assert "called were: cancel_booking" in str(done)


async def test_an_agent_that_invents_an_argument_fails(agent):
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await turn.call("book_table", name="Ann", guests=4, window=True)
        await turn.say("It is booked.")

    done = await judged(agent, server, BOOK, Called("book_table", {"name": "Ann", "guests": 4}))
    assert not done.passed
    assert "window=True was not asked for" in str(done)


async def test_an_agent_that_never_answers_fails(agent):
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await anyio.sleep_forever()

    case = Eval("silent", agent, BOOK, timeout=0.3)
    server.assert_all_answered = lambda: None
    async with server:
        done = await judge_round(case, await play(case, **server.options))
    assert not done.passed
    assert "turn 1:" in str(done)


async def test_an_agent_whose_session_ends_fails(agent):
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await turn.close(1008, "The API key was revoked")

    done = await judged(partial(agent, reconnect=False), server, [BOOK, "more"])
    assert not done.passed
    assert len(done.conversation.turns) == 1


async def test_a_connection_that_is_cut_is_survived(agent):
    done = await judged(
        agent, FakeLiveServer(Pretend()), [BOOK, "hello"], Called("book_table", times=1), faults=[Drop(1)]
    )
    assert any("cut" in note.text for note in done.conversation.notes)
    assert any("resumed" in note.text for note in done.conversation.notes)


async def test_a_slow_tool_is_waited_for(agent):
    done = await judged(
        agent, FakeLiveServer(Pretend()), BOOK, Said("table 4"), faults=[SlowTool("book_table", 0.2)]
    )
    assert done.passed, str(done)
    call = done.conversation.calls[0]
    assert call.ended is not None
    assert call.ended - call.began >= 0.2


async def test_a_caller_who_cuts_in_is_answered(agent):
    server = FakeLiveServer()
    server.pace = 1.0

    @server.model
    async def model(turn):
        await turn.say("A very long answer. " * 20 if "first" in turn.text else f"You said {turn.text}.")

    done = await judged(
        agent,
        server,
        ["first", "second"],
        SurvivedInterruptions(),
        Said("second", turn=2),
        faults=[BargeIn(1)],
    )
    assert done.passed, str(done)


@pytest.mark.parametrize(
    ("approve", "words"), [(True, "is cancelled"), (False, "no"), (["cancel"], "is cancelled")]
)
async def test_approvals_are_given_as_the_eval_says(approve, words):
    @livetools.tool(approval=True)
    def cancel(number: int) -> str:
        """Cancel a booking."""
        return f"booking {number} is cancelled"

    agent = partial(livetools.connect, "gemini-3.8-live", tools=[cancel])
    done = await judged(agent, FakeLiveServer(Pretend()), "cancel number 7", Said(words), approve=approve)
    assert done.passed, str(done)
    assert done.conversation.calls[0].asked


async def test_a_tool_without_a_handler_is_answered_with_an_error():
    agent = partial(
        livetools.connect, "gemini-3.8-live", tools=[{"name": "get_mood", "description": "The mood."}]
    )
    done = await judged(
        agent, FakeLiveServer(Pretend()), "what is your mood", InOrder(["get_mood"]), Said("nobody")
    )
    assert done.passed, str(done)


async def test_a_spoken_turn_is_heard(agent):
    server = FakeLiveServer()
    server.transcriber = lambda pcm, rate: "hello"

    @server.model
    async def model(turn):
        await turn.say(f"I heard {len(turn.audio) // 32000} seconds.")

    voice = lambda text: [b"\x00\x10\x00\xf0" * 800] * 4  # noqa: E731 - 400 ms of a buzz
    done = await judged(agent, server, spoken("hello there", voice), Said("I heard"), timeout=8.0)
    assert done.passed, str(done)
    assert done.conversation.turns[0].said == "hello there"


@pytest.mark.parametrize(
    "options",
    [
        {"expect": [NotCalled("book_tabel")]},
        {"expect": [InOrder(["book_table", "book_tabel"])]},
        {"approve": ["book_tabel"]},
        {"faults": [SlowTool("book_tabel", 1.0)]},
    ],
    ids=["expectation", "order", "approval", "fault"],
)
async def test_a_tool_that_the_agent_does_not_have_is_named_before_anything_is_played(agent, options):
    with pytest.raises(livetools.ConfigError, match="no tool book_tabel; it has book_table, cancel_booking"):
        await play(Eval("typo", agent, "hello", **options), base_url="ws://127.0.0.1:9")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"expect": ["list_pizzas"]}, "'list_pizzas' is not an expectation"),
        ({"expect": Said("x")}, "expected a list of expectations"),
        ({"approve": "cancel"}, "approve='cancel': expected True, False"),
    ],
)
def test_an_eval_says_what_it_takes(agent, options, words):
    with pytest.raises(livetools.ConfigError, match=words):
        Eval("wrong", agent, "hello", **options)


async def test_an_expectation_that_raises_has_failed(agent, conversation):
    class Broken:
        def __str__(self):
            return "broken"

        async def check(self, conversation, judge):
            raise ZeroDivisionError("division by zero")

    done = await judge_round(Eval("x", agent, "hello", [Broken()]), conversation)
    assert not done.passed
    assert "it could not be checked: ZeroDivisionError" in str(done)
