"""The relay between a page and a session, from a page's side."""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import math
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import anyio
import pytest
import websockets
from httpx import ASGITransport, AsyncClient
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount
from support.asgi import Browser, Closed, browser
from support.browser import serving
from support.waiting import everybody_waits, until_true

import livetools
from livetools import Agent, ConfigError, Tool, ToolContext, ToolResult, tool
from livetools.integrations.relay.limits import MAX_PICTURE
from livetools.integrations.starlette import relay
from livetools.session.handle_store import MemoryHandleStore
from livetools.testing import FakeClock, FakeLiveServer, Turn

pytestmark = pytest.mark.anyio

RESUME = ("livetools.v1", "livetools.resume")


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


@tool(approval=True)
def delete_all(what: str) -> str:
    """Delete everything of a kind."""
    return f"no {what} left"


@pytest.fixture
async def server():
    """A fake model that asks for the weather."""
    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            weather = await turn.call("get_weather", city=turn.text)
            await turn.say(f"It is {weather['output']}.", audio=b"\x01\x02" * 2400)

        yield server


async def ended(server: FakeLiveServer) -> None:
    """The model's end of the first session is gone."""
    await until_true(lambda: server.sessions[0].connection is None)


def agent_of(server: FakeLiveServer, **options: Any) -> Callable[..., livetools.Session]:
    options = {"tools": [get_weather, delete_all], **options}
    return functools.partial(livetools.connect, "gemini-3.8-live", **options, **server.options)


def resumed(app: Any, token: str, after: int = 0, **options: Any) -> AbstractAsyncContextManager[Browser]:
    return _Resumed(app, token, after, options)


class _Resumed(AbstractAsyncContextManager[Browser]):
    def __init__(self, app: Any, token: str, after: int, options: dict[str, Any]) -> None:
        self._page = browser(app, subprotocols=RESUME, **options)
        self._first = {"type": "resume", "token": token, "after": after}

    async def __aenter__(self) -> Browser:
        page = await self._page.__aenter__()
        page.send(self._first)
        return page

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self._page.__aexit__(*error)


async def test_a_typed_question_is_answered_by_a_tool_with_events_of_our_names(server):
    async with browser(relay(agent_of(server), linger=0), subprotocols=["livetools.v1"]) as page:
        assert page.subprotocol == "livetools.v1"
        ready = await page.receive()
        assert ready["model"] == "gemini-3.8-live"
        assert ready["tools"] == ["get_weather", "delete_all"]
        assert (ready["activity"], ready["input_rate"], ready["output_rate"]) == ("automatic", 16000, 24000)
        page.send({"type": "text", "text": "Oslo"})
        heard, events = b"", []
        while not events or events[-1]["type"] != "TurnComplete":
            message = await page.receive()
            if isinstance(message, bytes):
                heard += message
            else:
                events.append(message)
        page.send({"type": "end"})
        assert (await page.closed()).code == 1000
    assert heard == b"\x01\x02" * 2400
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    by_type = {event["type"]: event for event in events}
    assert by_type["user_text"]["text"] == "Oslo"
    assert by_type["ToolFinished"]["call"]["args"] == {"city": "Oslo"}
    assert by_type["ToolFinished"]["response"] == {"output": "12 °C, rain"}
    assert by_type["OutputTranscript"]["text"] == "It is 12 °C, rain."
    assert "HandleUpdate" not in by_type


@pytest.mark.parametrize(
    ("sent", "code", "word"),
    [
        ("no JSON", "bad_message", "JSON"),
        ("[" * 100_000, "bad_message", "JSON"),
        ({"type": "dance"}, "bad_message", "dance"),
        ({"text": "hi"}, "bad_message", "type"),
        ({"type": "text", "text": " "}, "bad_message", "text"),
        ('{"type": "text", "text": "\\ud800"}', "bad_message", "JSON"),
        ({"type": "text", "text": "x" * 70_000}, "bad_message", "65536"),
        ({"type": "text", "text": "x" * 5_000_000}, "too_large", "5,000,0"),
        ({"type": "video", "data": "bm8gcGljdHVyZQ=="}, "bad_message", "JPEG"),
        ({"type": "video", "data": "/9j/" + "A" * 3_000_000}, "too_large", "picture"),
        ({"type": "approve", "id": "call-1"}, "refused", "call-1"),
        ({"type": "activity_start"}, "refused", "automatic"),
        ({"type": "activity_end"}, "refused", "no activity"),
        ({"type": "resume", "token": "x"}, "bad_message", "first message"),
        (b"odd", "bad_message", "16-bit"),
        (bytes(100 * 2**20), "too_large", "104,857,600"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str | dict) else None,
)
async def test_what_cannot_be_taken_is_told_and_the_conversation_goes_on(server, sent, code, word):
    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send(sent)
        error = await page.until("error")
        assert error["code"] == code
        assert word in error["message"]
        page.send({"type": "text", "text": "Oslo"})
        assert (await page.until("ToolFinished"))["response"] == {"output": "12 °C, rain"}


async def test_the_sound_of_a_page_reaches_the_model(server):
    heard = []

    @server.model
    async def model(turn):
        heard.append(turn.audio)
        await turn.say("I heard you.")

    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send(b"\x10\x20" * 1600)
        page.send({"type": "audio_end"})
        await page.until("TurnComplete")
    assert heard == [b"\x10\x20" * 1600]


async def test_the_largest_picture_of_a_page_reaches_the_model_though_it_comes_first(server):
    data = base64.b64encode(b"\xff\xd8\xff" + bytes(MAX_PICTURE - 3)).decode()
    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send({"type": "video", "data": data})
        page.send({"type": "text", "text": "Oslo"})
        await page.until("ToolFinished")
        inputs = [frame.message.get("realtimeInput", {}) for frame in server.frames]
        assert [each["video"]["data"] == data for each in inputs if "video" in each] == [True]


@pytest.mark.parametrize(
    ("decision", "told"),
    [({"type": "approve"}, "no files left"), ({"type": "refuse", "reason": "not today"}, "not today")],
    ids=["approved", "refused"],
)
async def test_a_call_waits_for_the_page_to_decide(server, decision, told):
    @server.model
    async def model(turn):
        answer = await turn.call("delete_all", what="files")
        await turn.say(json.dumps(answer))

    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send({"type": "text", "text": "Delete my files"})
        call = (await page.until("ApprovalRequested"))["call"]
        assert call["args"] == {"what": "files"}
        page.send({**decision, "id": call["id"]})
        told_of = {each["type"]: each for each in [await page.until("approved", "ToolFinished")]}
        if (
            decision["type"] == "approve"
        ):  # so that a page that comes back knows that nobody is asked any more
            told_of["approved"] = told_of.get("approved") or await page.until("approved")
            assert told_of["approved"]["id"] == call["id"]
        finished = told_of.get("ToolFinished") or await page.until("ToolFinished")
        assert told in str(finished["response"])
        await page.until("TurnComplete")


async def test_a_call_that_a_page_cannot_be_shown_whole_is_refused_though_it_is_approved(server):
    @server.model
    async def model(turn):
        answer = await turn.call("delete_all", what="f" * 300_000)
        await turn.say(json.dumps(answer))

    async with browser(relay(agent_of(server), linger=0)) as page:
        page.send({"type": "text", "text": "Delete my files"})
        asked = await page.until("ApprovalRequested")
        assert (asked["truncated"], asked["call"]["args"]) == (True, {})
        page.send({"type": "approve", "id": asked["call"]["id"]})
        finished = await page.until("ToolFinished")
        assert "too large to be shown" in finished["response"]["error"]


async def test_a_page_too_many_of_a_caller_is_turned_away_until_one_of_its_own_has_ended(server):
    app = relay(agent_of(server), by_user, linger=60, max_per_caller=2)
    async with AsyncExitStack() as stack:
        pages = [await stack.enter_async_context(browser(app, headers={"x-user": "ann"})) for _ in range(3)]
        for page in pages[:2]:
            await page.until("ready")
        assert (await pages[2].closed()).code == 1013
        async with browser(app, headers={"x-user": "bob"}) as other:
            await other.until("ready")
        pages[0].send({"type": "end"})
        await pages[0].closed()
        async with browser(app, headers={"x-user": "ann"}) as again:
            await again.until("ready")
        for page in pages:
            page.leave()
        await app.stop()


async def test_what_lingers_has_a_place_and_may_come_back_to_it(server):
    app = relay(agent_of(server), linger=60, max_sessions=1)
    async with browser(app) as page:
        token = (await page.until("ready"))["token"]
        page.send({"type": "text", "text": "Oslo"})
        await page.until("TurnComplete")
        page.leave()
        async with browser(app) as stranger:
            assert (await stranger.closed()).code == 1013
        async with resumed(app, token, 0) as again:
            assert (await again.until("ready"))["resumed"]
            await app.stop()


async def test_a_session_that_could_not_be_opened_leaves_its_place():
    app = relay(functools.partial(livetools.connect, "m", base_url="ws://localhost:1", api_key="k", reconnect=False),
                linger=0, max_sessions=1)  # fmt: skip
    for _ in range(3):
        async with browser(app) as page:
            assert (await page.closed()).code == 1011


async def test_a_page_that_never_spoke_does_not_linger(server):
    app = relay(agent_of(server), linger=3600, max_sessions=1)
    for _ in range(3):
        async with browser(app) as page:
            await page.until("ready")
        await until_true(lambda: not app.drain.held)


@pytest.mark.parametrize(
    "options",
    [
        {"origins": "https://example.org"},
        {"origins": ["*.example.org"]},
        {"drain_token": ""},
        {"max_sessions": 0},
        {"max_per_caller": "many"},
        {"authorize": "user"},
        {"stores": 5},
        {"linger": -1},
        {"linger": None},
        {"linger": float("nan")},
        {"idle": 0},
        {"greeting": 5},
    ],
    ids=str,
)
async def test_an_option_of_the_wrong_kind_is_refused_when_the_relay_is_made(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        relay(functools.partial(livetools.connect, "gemini-3.8-live", api_key="k"), **options)


async def test_a_page_that_comes_back_goes_on_where_it_was(server):
    app = relay(agent_of(server), linger=60)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        first.send({"type": "text", "text": "Oslo"})
        last = (await first.until("TurnComplete"))["seq"]
        first.leave()
        async with resumed(app, token, last - 1) as page:
            ready = await page.receive()
            assert (ready["resumed"], ready["seq"], ready["missed"]) == (True, last, 0)
            assert (await page.receive())["type"] == "TurnComplete"
            page.send({"type": "text", "text": "Rome"})
            await page.until("ToolFinished")
            await page.until("TurnComplete")
            page.send({"type": "end"})
            await page.closed()
    assert len(server.sessions) == 1


async def test_a_page_that_reloads_is_told_everything_again(server):
    app = relay(agent_of(server), linger=60)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        first.send({"type": "text", "text": "Oslo"})
        await first.until("TurnComplete")
        first.leave()
        async with resumed(app, token) as page:
            events = [await page.receive() for _ in range((await page.receive())["seq"])]
            assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
            assert [event["text"] for event in events if event["type"] == "user_text"] == ["Oslo"]
            page.send({"type": "end"})
            await page.closed()


async def test_what_happens_while_a_page_is_away_waits_for_it(server):
    gone, back = anyio.Event(), anyio.Event()

    @server.model
    async def model(turn):
        await gone.wait()
        await turn.say("Meanwhile.", audio=b"\x01\x02" * 2400)
        back.set()

    app = relay(agent_of(server), linger=60)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        first.send({"type": "text", "text": "Oslo"})
        seq = (await first.until("user_text"))["seq"]
        first.leave()
        gone.set()
        await back.wait()
        async with resumed(app, token, seq) as page:
            heard = b""
            while heard != b"\x01\x02" * 2400:
                message = await page.receive()
                heard += message if isinstance(message, bytes) else b""
            await page.until("TurnComplete")
            page.send({"type": "end"})
            await page.closed()


async def test_a_session_whose_page_stays_away_ends_after_its_time_and_not_before(server):
    clock = FakeClock()
    app = relay(agent_of(server), linger=30, clock=clock)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        first.send({"type": "text", "text": "Oslo"})
        last = (await first.until("TurnComplete"))["seq"]
        first.leave()
        await everybody_waits()
        clock.advance(29)
        async with resumed(app, token, last) as second:  # the turn that it waits for below is the next one
            assert (await second.receive())["resumed"]
            clock.advance(3600)
            second.send({"type": "text", "text": "Oslo"})
            await second.until("TurnComplete")
            second.leave()
            await everybody_waits()
            clock.advance(29.9)
            await everybody_waits()
            assert server.sessions[0].connection is not None
            clock.advance(0.1)
            await ended(server)
        async with resumed(app, token) as third:
            ready = await third.receive()
            assert not ready["resumed"]
            assert ready["token"] != token
            third.send({"type": "end"})
            await third.closed()


async def test_a_second_page_with_the_token_takes_the_session_over(server):
    app = relay(agent_of(server), linger=60)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        async with resumed(app, token) as second:
            assert (await first.closed()).code == 4409
            first.leave()
            assert (await second.until("ready"))["resumed"]
            second.send({"type": "text", "text": "Oslo"})
            await second.until("TurnComplete")
            second.send({"type": "end"})
            await second.closed()
    assert len(server.sessions) == 1


def by_user(websocket):
    if (user := websocket.headers.get("x-user")) is None:
        raise PermissionError("who are you?")
    return {"user": user, "seen": []}


async def by_user_later(websocket):
    await anyio.lowlevel.checkpoint()
    return by_user(websocket)


@pytest.mark.parametrize("authorize", [by_user, by_user_later])
async def test_who_is_not_authorized_is_refused_before_the_websocket_is_accepted(server, authorize):
    app = relay(agent_of(server), authorize)
    with pytest.raises(Closed) as refused:
        async with browser(app):
            pass
    assert refused.value.code == 1008
    assert not server.sessions


@pytest.mark.parametrize("authorize", [by_user, by_user_later])
async def test_the_tools_of_a_caller_get_what_authorize_returned(server, authorize):
    def whoami(context: ToolContext[dict[str, Any]]) -> str:
        """Who the user is."""
        context.deps["seen"].append(1)
        return str(context.deps["user"])

    @server.model
    async def model(turn):
        await turn.say(str(await turn.call("whoami")))

    app = relay(agent_of(server, tools=[whoami], deps="the agent's own"), authorize, linger=0)
    for user in ("ann", "bob"):
        async with browser(app, headers={"x-user": user}) as page:
            page.send({"type": "text", "text": "Who am I?"})
            assert (await page.until("ToolFinished"))["response"] == {"output": user}
            await page.until("TurnComplete")


async def test_a_caller_without_deps_gets_the_agents_own(server):
    def whose(context: ToolContext[str]) -> str:
        """Whose dependencies these are."""
        return context.deps

    @server.model
    async def model(turn):
        await turn.say(str(await turn.call("whose")))

    app = relay(agent_of(server, tools=[whose], deps="the agent's own"), lambda websocket: None, linger=0)
    async with browser(app) as page:
        page.send({"type": "text", "text": "Whose?"})
        assert (await page.until("ToolFinished"))["response"] == {"output": "the agent's own"}
        await page.until("TurnComplete")


async def test_a_token_is_of_no_use_to_another_caller(server):
    app = relay(agent_of(server), by_user, linger=60)
    async with browser(app, headers={"x-user": "ann"}) as ann:
        token = (await ann.until("ready"))["token"]
        async with resumed(app, token, headers={"x-user": "eve"}) as eve:
            ready = await eve.receive()
            assert not ready["resumed"]
            assert ready["token"] != token
            eve.send({"type": "end"})
            await eve.closed()
        async with resumed(app, token, headers={"x-user": "ann"}) as again:
            assert (await again.receive())["resumed"]
            again.send({"type": "end"})
            await again.closed()


async def test_deps_that_do_not_show_whose_they_are_are_warned_about_once(server, caplog):
    class House:
        pass

    app = relay(agent_of(server), lambda websocket: House(), linger=0)
    for _ in range(2):
        async with browser(app) as page:
            await page.until("ready")
    assert caplog.text.count("authorize returned a House") == 1


async def test_a_session_goes_on_in_another_process_from_its_handle(server):
    kept: dict[str, MemoryHandleStore] = {}

    def stores(token: str) -> MemoryHandleStore:
        return kept.setdefault(token, MemoryHandleStore())

    async def ends(page: Browser) -> None:
        page.send({"type": "end"})
        await page.closed()

    async with browser(relay(agent_of(server), by_user, stores=stores), headers={"x-user": "ann"}) as page:
        token = (await page.until("ready"))["token"]
        page.send({"type": "text", "text": "Oslo"})
        await page.until("TurnComplete")
        await ends(page)
    assert token not in kept  # what is kept does not open anything
    another = relay(agent_of(server), by_user, stores=stores)
    async with resumed(another, token, 5, headers={"x-user": "eve"}) as eve:
        assert not (await eve.receive())["resumed"]
        await ends(eve)
    async with resumed(another, token, 5, headers={"x-user": "ann"}) as page:
        ready = await page.receive()
        assert (ready["resumed"], ready["token"]) == (True, token)
        assert (await page.until("SessionStarted"))["seq"] == 1  # what the page knows of is forgotten here
        await ends(page)
    setups = [frame.message["setup"] for frame in server.frames if "setup" in frame.message]
    assert ["handle" in setup["sessionResumption"] for setup in setups] == [False, False, True]


async def test_a_token_that_a_page_made_up_is_not_taken_over(server):
    app = relay(agent_of(server), stores=lambda token: MemoryHandleStore(), linger=0)
    async with resumed(app, "chosen") as page:
        ready = await page.receive()
    assert not ready["resumed"]
    assert ready["token"] != "chosen"


@pytest.mark.parametrize(
    "offered", [RESUME, [", ".join(RESUME)]], ids=["one by one", "as the header has them"]
)
async def test_a_first_message_that_is_not_the_promised_resume_is_an_error(server, offered):
    async with browser(relay(agent_of(server)), subprotocols=offered) as page:
        assert page.subprotocol == "livetools.v1"
        page.send({"type": "text", "text": "Oslo"})
        assert (await page.closed()).code == 4400
    assert not server.sessions


async def test_a_page_of_another_site_is_refused(server):
    with pytest.raises(Closed):
        async with browser(relay(agent_of(server)), headers={"origin": "https://evil.example"}):
            pass
    app = relay(agent_of(server), origins=["https://good.example"], linger=0)
    async with browser(app, headers={"origin": "https://good.example"}) as page:
        assert (await page.receive())["type"] == "ready"


async def test_a_session_that_cannot_be_opened_is_told_and_closed():
    async with FakeLiveServer(api_keys=["right"]) as server:
        agent = functools.partial(livetools.connect, "gemini-3.8-live", base_url=server.url, api_key="wrong")
        async with browser(relay(agent)) as page:
            ended = await page.until("ended")
            assert ended["error"] == "AuthenticationError"
            assert "wrong" not in ended["message"]
            assert (await page.closed()).code == 1011


async def test_a_key_that_the_service_repeats_does_not_reach_the_page():
    key = "AIza" + "Sy0123456789abcdefghijklmnopqrstuvw"

    async def model(turn):
        await turn.close(1008, f"API key not valid: {key}. Please pass a valid API key.")

    async with FakeLiveServer(model) as server:
        agent = functools.partial(livetools.connect, "gemini-3.8-live", base_url=server.url, api_key=key)
        async with browser(relay(agent)) as page:
            page.send({"type": "text", "text": "Oslo"})
            ended = await page.until("ended")
            assert ended["error"] == "AuthenticationError"
            assert ended["message"] == "the service does not accept the server's credentials"
            told = ended["message"] + (await page.closed()).reason
    assert key not in told
    assert "Sy0123456789" not in told


async def test_what_an_agent_raises_stays_in_the_log(caplog):
    def agent(**options: Any) -> livetools.Session:
        raise RuntimeError("password=hunter2")

    async with browser(relay(agent)) as page:
        ended = await page.until("ended")
        assert (ended["error"], ended["message"]) == ("ServerFailed", "the server failed")
        assert (await page.closed()).code == 1011
    assert "hunter2" in caplog.text


async def test_a_session_that_fails_says_why_behind_all_that_was_said(server):
    @server.model
    async def model(turn):
        await turn.say("Goodbye.")
        await turn.close(1008, "API key not valid")

    async with browser(relay(agent_of(server, reconnect=False))) as page:
        page.send({"type": "text", "text": "Oslo"})
        await page.until("OutputTranscript")
        assert (await page.until("ended"))["error"] == "AuthenticationError"
        assert (await page.closed()).code == 1011


async def test_an_interruption_overtakes_the_speech_that_was_not_read(server):
    stopped, seen = anyio.Event(), anyio.Event()

    async def mark() -> None:
        """Say that all that was sent before has arrived."""
        seen.set()

    @server.model
    async def model(turn):
        await stopped.wait()
        await turn.say("A long story.", audio=bytes(480_000))
        await turn.interrupt()
        await turn.call("mark")

    async with browser(relay(agent_of(server, tools=[mark]), linger=0)) as page:
        await page.until("ready")
        page.send({"type": "text", "text": "Tell me."})
        await page.until("user_text")
        page.reads = anyio.Event()
        stopped.set()
        await seen.wait()
        await everybody_waits()
        page.reads.set()
        heard = 0
        while isinstance(message := await page.receive(), bytes) or message["type"] != "Interrupted":
            heard += len(message) if isinstance(message, bytes) else 0
        assert heard < 240_000
        await page.until("TurnComplete")


async def test_a_server_that_stops_ends_its_sessions_at_once(server):
    app = relay(agent_of(server), linger=3600)
    async with browser(app) as page:
        await page.until("ready")
        page.leave(1012)
    await ended(server)


async def test_as_a_whole_app_it_ends_what_lingers_when_the_server_stops(server):
    app = relay(agent_of(server), linger=3600)
    incoming, outgoing = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}], []
    stop = anyio.Event()

    async def receive() -> dict[str, Any]:
        if len(incoming) == 1:
            await stop.wait()
        return incoming.pop(0)

    async def send(message: dict[str, Any]) -> None:
        outgoing.append(message["type"])

    async with anyio.create_task_group() as group:
        group.start_soon(app, {"type": "lifespan"}, receive, send)
        async with browser(app) as page:
            await page.until("ready")
            page.leave()
            await everybody_waits()
            stop.set()
    assert outgoing == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    await ended(server)


def test_what_is_not_an_agent_is_refused_when_the_app_is_made():
    for wrong in (get_weather, [get_weather], livetools.connect, None):
        with pytest.raises(ConfigError, match="not an agent"):
            relay(wrong)


async def test_the_files_of_the_client_are_served_beside_the_websocket():
    app = Starlette(routes=[Mount("/live", relay(functools.partial(livetools.connect, "gemini-3.8-live")))])
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://test") as client:
        module = await client.get("/live/client.js")
        assert module.status_code == 200
        assert "javascript" in module.headers["content-type"]
        assert "LiveClient" in module.text
        assert (await client.get("/live/worklet.js")).status_code == 200
        assert (await client.get("/live/%2e%2e/__init__.py")).status_code == 404


async def test_the_model_speaks_first_where_a_greeting_is_asked_for_and_once(server):
    asked = []

    @server.model
    async def model(turn):
        asked.append(turn.text)
        await turn.say("Welcome!")

    app = relay(agent_of(server), greeting="Greet the caller.", linger=60)
    async with browser(app) as first:
        token = (await first.until("ready"))["token"]
        assert (await first.until("OutputTranscript"))["text"] == "Welcome!"
        await first.until("TurnComplete")
        first.send({"type": "text", "text": "Hi."})
        seq = (await first.until("TurnComplete"))["seq"]
        first.leave()
        async with resumed(app, token, seq) as page:
            page.send({"type": "text", "text": "Hello."})
            events = []
            while not events or events[-1]["type"] != "TurnComplete":
                message = await page.receive()
                events += [] if isinstance(message, bytes) else [message]
            page.send({"type": "end"})
            await page.closed()
    assert [event["text"] for event in events if event["type"] == "user_text"] == ["Hello."]
    assert len(asked) == 3
    assert "Greet the caller." in asked[0]
    assert "Greet" not in "".join(asked[1:])


async def test_who_says_nothing_is_asked_once_and_then_the_session_ends(server):
    clock = FakeClock()

    @server.model
    async def model(turn):
        await turn.say("Are you still there?" if "nothing" in turn.text else "Yes.")

    app = relay(agent_of(server, clock=clock), idle=60, clock=clock)
    async with browser(app) as page:
        await page.until("ready")
        await everybody_waits()
        clock.advance(59)
        page.send({"type": "text", "text": "Hello?"})  # that is somebody
        await page.until("TurnComplete")
        await everybody_waits()
        clock.advance(70)
        assert (await page.until("OutputTranscript"))["text"] == "Are you still there?"
        await page.until("TurnComplete")
        await everybody_waits()
        clock.advance(70)
        assert (await page.until("ended"))["error"] is None
        assert (await page.closed()).code == 1000


@pytest.mark.parametrize("idle", [None, 60.0])
async def test_whoever_may_be_taken_for_gone_is_heard_in_words(server, idle):
    """Silence is told by transcripts: they are asked for, whatever the agent's config says beside them."""
    config = {"output_audio_transcription": {}, "temperature": 0.5}
    async with browser(relay(agent_of(server, config=config), idle=idle, linger=0)) as page:
        await page.until("ready")
    setup = server.sessions[0].setup
    assert ("inputAudioTranscription" in setup) == (idle is not None)
    assert setup["generationConfig"]["temperature"] == 0.5


async def test_speech_of_another_rate_is_announced_and_the_picture_of_an_avatar_is_passed_on(server):
    @server.model
    async def model(turn):
        for mime_type in ("audio/pcm;rate=24000", "audio/pcm;rate=16000", "video/mp4"):
            part = {"inlineData": {"mimeType": mime_type, "data": "AQIDBA=="}}
            await turn.send({"serverContent": {"modelTurn": {"parts": [part]}}})

    async with browser(relay(agent_of(server), linger=0)) as page:
        await page.until("user_text", "ready")
        page.send({"type": "text", "text": "Show yourself"})
        told = []
        while not told or told[-1] != "TurnComplete":
            message = await page.receive()
            if isinstance(message, dict) and message["type"] in ("audio_format", "VideoChunk"):
                told.append({name: value for name, value in message.items() if name != "at"})
            else:
                told.append(message if isinstance(message, bytes) else message["type"])
    seq = next(each["seq"] for each in told if isinstance(each, dict) and "seq" in each)
    assert [each for each in told if not isinstance(each, str)] == [
        b"\x01\x02\x03\x04",
        {"type": "audio_format", "seq": seq, "rate": 16000},
        b"\x01\x02\x03\x04",
        {"type": "VideoChunk", "data": "AQIDBA==", "mime_type": "video/mp4"},
    ]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=10, deadline=None)
@given(reads=st.lists(st.integers(0, 8), max_size=6))
def test_pages_that_come_and_go_are_told_each_event_once(backend: str, reads: list[int]) -> None:
    seen: list[int] = []

    async def model(turn: Turn) -> None:
        for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]:
            await turn.send({"serverContent": {"outputTranscription": {"text": word}}})
            await turn.say("", audio=b"\1\2" * 10)

    async def read(page: Browser, count: float) -> bool:
        """So many messages; true at the end of the turn."""
        while count > 0:
            message = await page.receive()
            count -= 1
            if not isinstance(message, bytes) and message["type"] != "ready":
                seen.append(message["seq"])
                if message["type"] == "TurnComplete":
                    return True
        return False

    async def come_and_go(app: Any, token: str, reads: list[int]) -> None:
        """One page inside the other: on trio the first one's request lasts as long as the session."""
        async with resumed(app, token, seen[-1] if seen else 0) as page:
            if await read(page, reads[0] if reads else math.inf):
                page.send({"type": "end"})
                await page.closed()
            else:
                page.leave()
                await come_and_go(app, token, reads[1:])

    async def main() -> None:
        async with FakeLiveServer(model) as server:
            app = relay(agent_of(server), linger=60)
            async with browser(app) as first:
                token = (await first.receive())["token"]
                first.send({"type": "text", "text": "Count."})
                first.leave()
                await come_and_go(app, token, reads)

    anyio.run(main, backend=backend)
    assert seen == list(range(1, len(seen) + 1))


async def heard(socket: websockets.ClientConnection, kind: str) -> dict[str, Any]:
    """The next message of this type."""
    with anyio.fail_after(30):
        while True:
            message = await socket.recv()
            if isinstance(message, str) and (told := json.loads(message))["type"] == kind:
                return told


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # of the client's socket
async def test_a_hundred_megabytes_over_a_real_socket_end_that_socket_and_its_session_goes_on(server):
    """The bound of the server before the relay (uvicorn's): 1009, and the page comes back with its token."""
    with serving(relay(agent_of(server), linger=300)) as address:
        url = f"ws://{address}/"
        async with websockets.connect(url, subprotocols=["livetools.v1"], max_size=None) as socket:
            ready = json.loads(await socket.recv())
            await socket.send(json.dumps({"type": "text", "text": "Oslo"}))
            last = await heard(socket, "TurnComplete")
            with contextlib.suppress(websockets.ConnectionClosedError):  # it may not take all of it
                await socket.send(bytes(100 * 2**20))
            with pytest.raises(websockets.ConnectionClosedError) as closed:
                await heard(socket, "never")
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        async with websockets.connect(url, subprotocols=["livetools.v1", "livetools.resume"]) as socket:
            await socket.send(json.dumps({"type": "resume", "token": ready["token"], "after": last["seq"]}))
            assert json.loads(await socket.recv())["resumed"]
            await socket.send(json.dumps({"type": "text", "text": "Oslo"}))
            await heard(socket, "TurnComplete")
            await socket.send('{"type": "end"}')
            await heard(socket, "ended")
    assert len(server.sessions) == 1


async def test_a_ping_is_answered_and_a_refused_text_is_named(server):
    async with browser(relay(agent_of(server), linger=0)) as page:
        await page.until("ready")
        page.send({"type": "ping", "id": 7})
        assert await page.until("pong") == {"type": "pong", "id": 7}
        page.send({"type": "text", "text": "Oslo", "ref": "a"})
        assert (await page.until("user_text"))["ref"] == "a"
        await page.until("TurnComplete")
        page.send({"type": "text", "text": "x" * 70_000, "ref": "b"})
        refused = await page.until("error")
        assert (refused["code"], refused["ref"]) == ("bad_message", "b")
        page.send({"type": "video", "data": "", "ref": 5})
        page.send("no JSON")
        assert "ref" not in await page.until("error")


async def test_a_page_is_told_of_the_tools_that_it_has_after_a_hand_off(server):
    def find_bill(number: int) -> str:
        """Find a bill."""
        return "paid"

    def ask_billing() -> ToolResult:
        """Hand over to billing."""
        lamp = Tool({"name": "set_lamp", "description": "Set a lamp."})
        return ToolResult("with billing", handoff=Agent("You know bills.", [find_bill, lamp], name="billing"))

    @server.model
    async def model(turn):
        await turn.call("ask_billing")
        await turn.say("Hello, this is billing.")

    app = relay(agent_of(server, tools=[ask_billing]), linger=30)
    async with browser(app) as page:
        ready = await page.until("ready")
        assert (ready["agent"], ready["tools"]) == (None, ["ask_billing"])
        page.send({"type": "text", "text": "billing"})
        told = await page.until("agent")
        assert (told["name"], told["tools"]) == ("billing", ["find_bill", "set_lamp"])
        assert told["declared_only"] == ["set_lamp"]
        await page.until("TurnComplete")
        async with resumed(app, ready["token"]) as other:
            again = await other.until("ready")
            assert (again["agent"], again["tools"]) == ("billing", ["find_bill", "set_lamp"])
            other.send({"type": "end"})
            await other.closed()


async def test_a_page_is_told_how_long_it_has_to_decide(server):
    @server.model
    async def model(turn):
        await turn.call("delete_all", what="mails")
        await turn.say("All right.")

    async with browser(relay(agent_of(server), linger=0)) as page:
        await page.until("ready")
        page.send({"type": "text", "text": "delete"})
        assert (await page.until("ToolStarted"))["approval"] is True
        asked = await page.until("ApprovalRequested")
        assert asked["timeout"] == 60.0
        page.send({"type": "refuse", "id": asked["call"]["id"]})
        await page.until("TurnComplete")


@pytest.mark.parametrize("rule", ["quick", "slow"])
async def test_a_page_is_told_when_a_tools_own_rule_lets_a_call_run(server, rule):
    """Its function may run then and not before, however long the rule takes."""
    decided = anyio.Event()

    async def approval(args):
        if rule == "slow":
            await decided.wait()
        return False  # no person needs to be asked

    @server.model
    async def model(turn):
        await turn.say(str(await turn.call("set_lamp")))

    lamp = Tool({"name": "set_lamp", "description": "Set a lamp."}, approval=approval)
    async with browser(relay(agent_of(server, tools=[lamp]), linger=0)) as page:
        await page.until("ready")
        page.send({"type": "text", "text": "light"})
        started = await page.until("ToolStarted")
        if rule == "slow":
            assert started["approval"] is True
        decided.set()
        if started["approval"]:
            assert (await page.until("approved"))["id"] == started["call"]["id"]
        page.send({"type": "respond", "id": started["call"]["id"], "value": "lit"})
        await page.until("TurnComplete")
