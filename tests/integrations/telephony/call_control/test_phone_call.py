"""What tools do with the phone call that they run in: keys, transfers, the end; and what a caller hears meanwhile."""

from __future__ import annotations

import wave
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import pytest
from support.phone_app import app_of
from support.waiting import until_true

from livetools import ConfigError, LocalProtocolError, ToolError
from livetools.integrations.telephony import (
    Ended,
    PlivoAccount,
    TelnyxAccount,
    TwilioAccount,
    current_call,
    hang_up,
    plivo,
    press_keys,
    telnyx,
    transfer_to,
    twilio,
)
from livetools.integrations.telephony.testing import (
    Caller,
    FakeRest,
    PlivoPhone,
    RestRequest,
    TelnyxPhone,
    TwilioPhone,
)
from livetools.testing import FakeLiveServer

pytestmark = [pytest.mark.anyio, pytest.mark.virtual_time]

NUMBER = "+4722225555"
TRANSFER = transfer_to({"front desk": NUMBER, "kitchen": "sip:kitchen@example.org"})
BRIDGES: dict[str, tuple[Any, Callable[[FakeRest], Any]]] = {
    "twilio": (twilio, lambda rest: TwilioAccount("AC1", "token", transport=rest)),
    "telnyx": (telnyx, lambda rest: TelnyxAccount("key", transport=rest)),
    "plivo": (
        plivo,
        lambda rest: PlivoAccount("MA1", "token", transfer_url="https://e.org/t", transport=rest),
    ),
}
CALLS = {"twilio": TwilioPhone.call, "telnyx": TelnyxPhone.call, "plivo": PlivoPhone.call}
each_bridge = pytest.mark.parametrize("provider", BRIDGES)


def calling(name: str, **args: Any) -> Callable[[Any], Any]:
    """A pretend model that calls this function, and then speaks of the answer."""

    async def model(turn: Any) -> None:
        answer = await turn.call(name, **args)
        await turn.say(str(answer))

    return model


@each_bridge
async def test_keys_are_pressed_by_the_providers_message_or_as_tones(provider: str) -> None:
    bridge, _ = BRIDGES[provider]
    async with FakeLiveServer(calling("press_keys", keys="12w#")) as server:
        app = app_of(server, bridge, tools=[press_keys], greeting="Go.")
        async with Caller(app, "/call", provider=provider) as caller:
            await caller.hear(quiet=0.6)
    assert caller.pressed == "12#"


async def test_plivo_is_told_of_keys_by_a_message_and_plays_no_tone() -> None:
    async with FakeLiveServer(calling("press_keys", keys="12#")) as server:
        app = app_of(server, plivo, tools=[press_keys], greeting="Go.")
        async with Caller(app, "/call", provider="plivo") as caller:
            await caller.hear()
            assert caller.pressed == "12#"
            assert len(caller.heard) < 16000 * 4


async def test_keys_that_no_phone_has_are_an_error_for_the_model() -> None:
    got: list[Any] = []

    async def model(turn: Any) -> None:
        got.append(await turn.call("press_keys", keys="hello"))

    async with FakeLiveServer(model) as server:
        async with Caller(app_of(server, twilio, tools=[press_keys], greeting="Go."), "/call"):
            await until_true(lambda: got)
    assert "keys are 1 to 64" in got[0]["error"]


@each_bridge
async def test_a_call_that_the_session_ends_is_hung_up_after_the_goodbye(provider: str) -> None:
    bridge, account = BRIDGES[provider]
    rest, ended = FakeRest(), []
    async with FakeLiveServer(calling("hang_up")) as server:
        app = app_of(
            server, bridge, tools=[hang_up], greeting="Go.", account=account(rest), on_end=ended.append
        )
        async with Caller(app, "/call", provider=provider) as caller:
            assert await caller.ended() == 1000
            assert caller.heard
    assert rest.requests == [RestRequest("hang_up", CALLS[provider])]
    assert [end.reason for end in ended] == ["ended"]


async def test_a_caller_who_hangs_up_is_not_hung_up() -> None:
    rest = FakeRest()

    async def model(turn: Any) -> None:
        await turn.say("Hello.")

    async with FakeLiveServer(model) as server:
        app = app_of(server, twilio, greeting="Go.", account=BRIDGES["twilio"][1](rest))
        async with Caller(app, "/call") as caller:
            await caller.hear()
    assert not rest.requests


async def test_a_provider_that_does_not_hang_up_is_logged_and_the_call_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rest = FakeRest()
    rest.fails = 500
    async with FakeLiveServer(calling("hang_up")) as server:
        app = app_of(server, twilio, tools=[hang_up], greeting="Go.", account=BRIDGES["twilio"][1](rest))
        async with Caller(app, "/call") as caller:
            assert await caller.ended() == 1000
    assert "a call was not hung up: Twilio did not end the call: HTTP 500" in caplog.text


@each_bridge
async def test_a_caller_is_transferred_once_all_was_heard_and_the_session_ends(provider: str) -> None:
    bridge, account = BRIDGES[provider]
    rest, ended = FakeRest(), []
    heard_before: list[int] = []

    async def model(turn: Any) -> None:
        await turn.say("I connect you with the front desk.")
        await turn.call("transfer_call", to="front desk")

    class Watched(FakeRest):
        async def handle_async_request(self, request: Any) -> Any:
            heard_before.append(len(caller.heard))
            return await rest.handle_async_request(request)

    async with FakeLiveServer(model) as server:
        app = app_of(
            server, bridge, tools=[TRANSFER], greeting="Go.", account=account(Watched()), on_end=ended.append
        )
        async with Caller(app, "/call", provider=provider) as caller:
            assert await caller.ended() == 1000
    to = "https://e.org/t?to=%2B4722225555" if provider == "plivo" else NUMBER
    assert rest.requests == [RestRequest("transfer", CALLS[provider], to)]
    assert heard_before == [len(caller.heard)]
    assert heard_before[0] > 0
    assert [end.reason for end in ended] == ["transferred"]


async def test_a_transfer_that_is_refused_is_told_to_the_model_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rest = FakeRest()
    rest.fails = 401
    got: list[Any] = []

    async def model(turn: Any) -> None:
        if not got:
            got.append(await turn.call("transfer_call", to="kitchen"))
        await turn.say("I am still here.")

    async with FakeLiveServer(model) as server:
        app = app_of(server, twilio, tools=[TRANSFER], greeting="Go.", account=BRIDGES["twilio"][1](rest))
        async with Caller(app, "/call") as caller:
            await caller.hear()
            await caller.speak()
            assert await caller.hear()
    assert got[0]["error"] == "The caller could not be transferred. The call continues here."
    assert "HTTP 401" in caplog.text
    assert NUMBER not in caplog.text


def test_a_model_chooses_a_place_by_its_name_and_sees_no_number() -> None:
    declared = TRANSFER.declaration("json_schema")
    assert declared["parametersJsonSchema"]["properties"]["to"]["enum"] == ["front desk", "kitchen"]
    assert NUMBER not in str(declared)


@pytest.mark.parametrize("places", [{}, {"desk": "22225555"}, {"desk": "javascript:alert(1)"}])
def test_places_without_a_number_are_refused_where_they_are_named(places: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        transfer_to(places)


async def test_the_call_is_there_for_tools_in_threads_and_for_nobody_outside() -> None:
    got: list[Any] = []

    def whose() -> str:
        """Whose call it is."""
        anyio.from_thread.run(current_call().press, "1")
        return str(current_call().start["callSid"])

    async def model(turn: Any) -> None:
        got.append(await turn.call("whose"))

    async with FakeLiveServer(model) as server:
        async with Caller(app_of(server, twilio, tools=[whose], greeting="Go."), "/call") as caller:
            await until_true(lambda: got)
            await caller.hear()
    assert got == [{"output": CALLS["twilio"]}]
    assert caller.pressed == "1"
    with pytest.raises(LocalProtocolError, match="outside of a phone call"):
        current_call()


async def test_what_keeps_the_call_past_its_end_keeps_no_session_and_is_told_so() -> None:
    kept: list[Any] = []

    async def keep() -> str:
        """Keep the call."""
        kept.append(current_call())
        return "kept"

    async def model(turn: Any) -> None:
        await turn.call("keep")

    async with FakeLiveServer(model) as server:
        async with Caller(app_of(server, twilio, tools=[keep], greeting="Go."), "/call"):
            await until_true(lambda: kept)
    with pytest.raises(LocalProtocolError, match="the phone call has ended"):
        await kept[0].press("1")


async def test_without_an_account_a_transfer_says_what_is_missing() -> None:
    got: list[Any] = []

    async def move() -> str:
        """Move."""
        try:
            await current_call().transfer(NUMBER)
        except ConfigError as error:
            raise ToolError(str(error)) from None
        return "moved"

    async def model(turn: Any) -> None:
        got.append(await turn.call("move"))

    async with FakeLiveServer(model) as server:
        async with Caller(app_of(server, twilio, tools=[move], greeting="Go."), "/call"):
            await until_true(lambda: got)
    assert "pass account= to the bridge" in got[0]["error"]


async def test_an_account_that_is_none_is_told_before_the_call_is_taken() -> None:
    async with FakeLiveServer() as server:
        with pytest.raises(ConfigError, match="account is a str"):
            async with Caller(app_of(server, twilio, account="AC1"), "/call"):
                pass


async def test_a_caller_hears_a_sound_while_a_tool_runs_and_then_the_answer(tmp_path: Path) -> None:
    release = anyio.Event()
    hold = tmp_path / "hold.wav"
    with wave.open(str(hold), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\x00\x30" * 8000)

    async def search() -> str:
        """Search."""
        await release.wait()
        return "found"

    async with FakeLiveServer(calling("search")) as server:
        app = app_of(server, twilio, tools=[search], greeting="Go.", hold_sound=hold)
        async with Caller(app, "/call") as caller:
            await until_true(lambda: caller.heard)
            level = array("h", caller.heard)
            assert min(level[:200]) > 10_000, "it is the sound"
            assert caller.cleared == 0
            release.set()
            await until_true(lambda: min(array("h", caller.heard)) <= -1000)  # and then a voice
    assert caller.cleared == 1


async def test_a_call_is_recorded_as_it_was_heard_left_the_caller_right_the_model(tmp_path: Path) -> None:
    ended: list[Ended] = []

    async def model(turn: Any) -> None:
        await turn.say("Hello.")

    async with FakeLiveServer(model) as server:
        app = app_of(server, twilio, greeting="Go.", record=tmp_path, on_end=ended.append)
        async with Caller(app, "/call") as caller:
            await caller.hear()
            await caller.speak(0.5)
            await caller.hear()
    assert ended[0].recording == tmp_path / "MZ00000000000000000000000000000000.wav"
    with wave.open(str(ended[0].recording)) as file:
        assert (file.getnchannels(), file.getframerate()) == (2, 8000)
        both = array("h", file.readframes(file.getnframes()))
    left, right = both[0::2], both[1::2]
    assert max(left) > 5000
    assert max(right) > 1000
