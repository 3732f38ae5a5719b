"""Conversations that are played against the fake server, in good weather and in bad."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

import livetools
from livetools.evals import (
    AskedApproval,
    BargeIn,
    Called,
    CutsIn,
    Drop,
    Eval,
    FallsSilent,
    InOrder,
    NotCalled,
    Ran,
    Refused,
    Said,
    SlowTool,
    SurvivedInterruptions,
    judge_round,
    play,
    spoken,
)
from livetools.testing import FakeLiveServer
from livetools.testing.pretend import Pretend

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]


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
        agent,
        FakeLiveServer(Pretend()),
        [BOOK, "hello"],
        Called("book_table", times=1),
        Said("table 4 for Ann", turn=1),
        faults=[Drop(1)],
    )
    assert done.passed, str(done)
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


@pytest.mark.parametrize("fault", [Drop(2), BargeIn(2)])
async def test_a_fault_whose_turn_never_came_fails(agent, fault):
    done = await judged(agent, FakeLiveServer(Pretend()), BOOK, Said("table 4"), faults=[fault])
    assert not done.passed
    assert f"{fault} did not happen: the conversation ended after turn 1" in str(done)


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


async def test_an_expectation_that_returns_no_verdict_has_failed(agent, conversation):
    class Bare:
        def __str__(self):
            return "bare"

        async def check(self, conversation, judge):
            return True

    done = await judge_round(Eval("x", agent, "hello", [Bare()]), conversation)
    assert not done.passed
    assert "its check() returned True, expected a Verdict" in str(done)


@pytest.fixture
def kitchen():
    """An agent whose background tool ends when the test says so, and the texts that its model has read."""
    cooked, read = anyio.Event(), []

    @livetools.tool(behavior="background")
    async def plan_menu(guests: int) -> str:
        """Plan a menu."""
        await cooked.wait()
        return "soup"

    server = FakeLiveServer()

    @server.model
    async def model(turn):
        read.append(turn.text)
        if turn.text == "plan a menu":
            await turn.call("plan_menu", guests=4)
            await turn.say("I ask the cook.")
            cooked.set()
        else:
            await turn.say("The menu: soup." if "soup" in turn.text else "You are welcome.")

    return partial(livetools.connect, "gemini-3.1-flash-live", tools=[plan_menu]), server, read


async def test_the_caller_waits_for_what_is_still_to_come_before_speaking_again(kitchen):
    agent, server, read = kitchen
    done = await judged(agent, server, ["plan a menu", "thanks"], Said("The menu: soup", turn=1))
    assert done.passed, str(done)
    assert read[-1] == "thanks"


async def test_what_comes_after_the_last_turn_is_recorded_before_the_caller_hangs_up(kitchen):
    agent, server, _ = kitchen
    done = await judged(agent, server, "plan a menu", Said("I ask the cook. The menu: soup"))
    assert done.passed, str(done)


async def test_patience_bounds_the_wait_and_the_record_says_what_was_not_waited_for():
    @livetools.tool(behavior="background")
    async def never() -> str:
        """Never ends."""
        await anyio.sleep_forever()
        return ""

    server = FakeLiveServer()

    @server.model
    async def model(turn):
        await turn.start_call("never")
        await turn.say("I begin.")

    server.assert_all_answered = lambda: None
    agent = partial(livetools.connect, "gemini-3.1-flash-live", tools=[never])
    with anyio.fail_after(30):
        done = await judged(agent, server, "go", patience=0.05)
    assert any("never" in note.text for note in done.conversation.notes)


@pytest.fixture
def bank():
    """Two agents that pay, the second without asking anybody."""

    def _pay(amount: int) -> str:
        """Pay."""
        return f"{amount} euros are paid"

    careful, careless = (livetools.Tool(_pay, name="pay", approval=ask) for ask in (True, False))
    return [partial(livetools.connect, "gemini-3.8-live", tools=[tool]) for tool in (careful, careless)]


async def test_an_agent_that_asks_nobody_fails_where_approval_is_expected(bank):
    right, wrong = [
        await judged(agent, FakeLiveServer(Pretend()), "pay the amount 20", AskedApproval("pay"), Ran("pay"))
        for agent in bank
    ]
    assert right.passed, str(right)
    assert "nobody was asked: pay(amount=20)" in str(wrong)


async def test_a_call_that_is_refused_was_called_and_did_not_run(bank):
    expect = [Called("pay", times=1), Refused("pay"), Ran("pay")]
    done = await judged(bank[0], FakeLiveServer(Pretend()), "pay the amount 20", *expect, approve=False)
    assert [verdict.passed for verdict in done.verdicts] == [True, True, True, False]
    assert "pay was refused" in str(done)


async def test_a_caller_may_cut_in_by_himself(agent):
    server = FakeLiveServer()
    server.pace = 1.0

    @server.model
    async def model(turn):
        await turn.say("A very long answer. " * 20 if "first" in turn.text else f"You said {turn.text}.")

    caller = CutsIn(["first", "second"], turns=[1])
    done = await judged(agent, server, caller, SurvivedInterruptions(), Said("second", turn=2))
    assert done.passed, str(done)


class SaysText:
    async def next(self, conversation):
        return "hello"


async def test_a_caller_that_gives_no_utterance_fails_with_words_for_it(agent):
    async with FakeLiveServer(Pretend()) as server:
        conversation = await play(Eval("text", agent, SaysText()), **server.options)
    assert "next() returned 'hello', expected an Utterance" in str(conversation.error)


async def test_no_answer_is_expected_while_the_caller_is_silent(agent):
    caller = FallsSilent(["hello", "I am here"], after=1, seconds=0.05)
    done = await judged(agent, FakeLiveServer(Pretend()), caller)
    assert done.passed, str(done)
    assert [turn.said for turn in done.conversation.turns] == ["hello", "(silent for 0.05 s)", "I am here"]


async def test_the_tools_of_an_agent_that_takes_over_may_be_expected(agent):
    def find_bill(number: int) -> str:
        """Find a bill."""
        return f"bill {number}"

    def ask_billing() -> livetools.ToolResult:
        """Hand over to billing."""
        return livetools.ToolResult("done", handoff=livetools.Agent("Bills.", [find_bill], name="billing"))

    server = FakeLiveServer()

    @server.model
    async def model(turn):
        if turn.text == "billing":
            await turn.call("ask_billing")
        else:
            await turn.call("find_bill", number=7)
        await turn.say("Here you are.")

    shop = partial(livetools.connect, "gemini-3.8-live", tools=[ask_billing])
    done = await judged(shop, server, ["billing", "bill 7"], Called("find_bill", {"number": 7}))
    assert done.passed, str(done)
    with pytest.raises(livetools.ConfigError, match="no tool order_pizza"):
        await judged(agent, FakeLiveServer(Pretend()), "hello", NotCalled("order_pizza"))
