"""The page of `livetools web`, in a real browser."""

from __future__ import annotations

import asyncio
import base64
import functools
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.apart import run_pytest

from livetools import connect
from livetools.cli.page.access_control import Door
from livetools.cli.page.asgi_app import About, page_app
from livetools.testing import FakeLiveServer, Recording
from livetools.web import BUILT

from .conftest import serving

AXE = BUILT.parent / "node_modules" / "axe-core" / "axe.min.js"
PCM = b"\x00\x20" * 24000 * 4  # four seconds that are loud all along
BRIEF = PCM[:9600]  # what the page plays before it is idle again

AGENT = '''
import asyncio, functools
import livetools
from livetools import ReconnectPolicy, Tool, ToolContext, tool

def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"

@tool(approval=True)
def erase(disk: str) -> str:
    """Erase a disk."""
    return f"{disk} is gone"

lamp = Tool({"name": "set_lamp", "description": "Set a lamp.", "parameters": {"type": "OBJECT", "properties": {
    "room": {"type": "STRING"}}}})

@tool
async def scan(context: ToolContext, disk: str, seconds: float = 0.3) -> str:
    """Scan a disk."""
    for step in range(3):
        await asyncio.sleep(seconds / 3)
        await context.progress({"step": step})
    return "no errors"

agent = functools.partial(
    livetools.connect, "gemini-3.8-live", tools=[get_weather, erase, scan, lamp],
    config={"output_audio_transcription": {}, "input_audio_transcription": {},
            # the pretend microphone is silent every half second: that is not the end of what it says
            "realtime_input_config": {"automatic_activity_detection": {"silence_duration_ms": 3000}}},
    reconnect=ReconnectPolicy(initial=0.05, jitter=0.0),
)
'''


class Dev:
    """A tab with the page, as a person sees it."""

    def __init__(self, page: Any, address: str, *, connected: bool = True) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        self.address = f"http://{address}/"
        page.goto(self.address)
        if connected:
            self.connected()

    def connected(self) -> None:
        """Until the session stands."""
        self.page.locator('#line[data-line="connected"]').wait_for()

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=re.compile(f"^{name}"))

    def say(self, text: str) -> None:
        message = self.page.get_by_role("textbox", name="Message")
        message.fill(text)
        message.press("Enter")

    def wait(self, text: str) -> None:
        """Until it is drawn. A screen reader is told before: the region that announces is outside of `main`."""
        self.page.locator("main").get_by_text(text).first.wait_for()

    def until(self, expression: str) -> None:
        """Wait for a truth. (Playwright's own way to do so asks for `unsafe-eval`.)"""
        deadline = time.monotonic() + 30
        while not self.page.evaluate(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            self.page.wait_for_timeout(20)

    def happens(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a truth on this side."""
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, f"never: {what}"
            self.page.wait_for_timeout(20)

    def idle(self) -> None:
        self.until("document.getElementById('stop').disabled")

    def seen(self) -> str:
        return str(self.page.inner_text("body"))


@pytest.fixture
def agent_file(tmp_path: Path) -> Path:
    file = tmp_path / "house.py"
    file.write_text(AGENT, encoding="utf-8")
    return file


@pytest.fixture
def address(model: FakeLiveServer, agent_file: Path) -> Iterator[str]:
    scope: dict[str, Any] = {"__name__": "house"}
    exec(compile(AGENT, str(agent_file), "exec"), scope)
    open_session = functools.partial(scope["agent"], **model.options)
    about = About(pretend=True, target=f"{agent_file}:agent")
    with serving(page_app(open_session, about)) as address:
        yield address


@pytest.fixture
def open_page(chromium: Any, address: str) -> Iterator[Callable[..., Dev]]:
    """Opens tabs; each must end without an error in its console."""
    tabs: list[Dev] = []
    contexts: list[Any] = []

    def open_page(**options: Any) -> Dev:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(30_000)
        contexts.append(context)
        tabs.append(Dev(context.new_page(), address))
        return tabs[-1]

    yield open_page
    for context in contexts:
        context.close()
    assert not [line for tab in tabs for line in tab.complaints]


def scripted(model: FakeLiveServer) -> threading.Event:
    """A model for every test. What it does in the middle of a call, it does when the event is set."""
    go = threading.Event()

    async def say(turn: Any, text: str) -> None:
        await turn.say(text, audio=BRIEF)

    @model.model
    async def answer(turn: Any) -> None:
        word, _, rest = turn.text.partition(" ")
        if word == "weather":
            weather = await turn.call("get_weather", city=rest)
            await say(turn, f"It is {weather['output']}.")
        elif word == "erase":
            await say(turn, str(await turn.call("erase", disk=rest)))
        elif word == "lamp":
            await say(turn, str(await turn.call("set_lamp", room=rest)))
        elif word == "scan":
            await say(turn, str(await turn.call("scan", disk=rest)))
        elif word == "sing":
            await turn.say("La la la.", audio=PCM)
            await asyncio.sleep(60)
        elif word == "cancel":
            id = await turn.start_call("scan", disk=rest, seconds=60)
            await asyncio.to_thread(go.wait)
            await turn.cancel(id)
            await say(turn, "Never mind.")
        elif word == "drop":
            await turn.start_call("scan", disk=rest, seconds=3)
            await asyncio.to_thread(go.wait)
            await turn.drop()
        else:
            await say(turn, f"I heard {turn.text or f'{len(turn.audio)} bytes'}.")

    return go


def test_a_typed_question_is_seen_from_all_sides(model, open_page, address):
    scripted(model)
    dev = open_page()
    shown = dev.seen()
    for word in ("gemini-3.8-live", "pretend", "get_weather", "erase", "scan", "tokens", "price unknown"):
        assert word in shown
    assert dev.button("Stop").is_disabled()
    dev.say("weather Oslo")
    dev.wait("It is 12 °C, rain.")
    dev.idle()
    assert re.search(r"\b\d+ ms", dev.page.inner_text("#latency"))
    assert int(dev.page.inner_text("#tokens").replace(",", "")) > 0
    call = dev.button("Call get_weather")
    call.click()
    details = dev.page.locator(".details")
    details.get_by_text("toolResponse").wait_for()
    assert call.get_attribute("aria-expanded") == "true"
    for part in ("Arguments", '"city": "Oslo"', "Result", "12 °C, rain", "Frames", "toolCall"):
        assert part in details.inner_text()
    before = dev.page.inner_text("#conversation")

    dev.page.reload()
    dev.wait("It is 12 °C, rain.")
    assert dev.page.inner_text("#conversation") == before
    assert re.search(r"\b\d+ ms", dev.page.inner_text("#latency"))
    dev.say("hello")
    dev.wait("I heard hello.")
    assert len(model.sessions) == 1

    other = Dev(dev.page.context.new_page(), address)
    assert "weather Oslo" not in other.seen()
    assert len(model.sessions) == 2
    dev.button("New session").click()
    dev.until("!document.body.innerText.includes('weather Oslo')")
    dev.connected()
    dev.say("again")
    dev.wait("I heard again.")
    assert len(model.sessions) == 3


def test_a_person_approves_and_refuses_with_the_arguments_in_sight(model, open_page):
    scripted(model)
    dev = open_page()
    dev.say("erase sda")
    refuse = dev.button("Refuse")
    refuse.wait_for()
    assert '"disk": "sda"' in dev.page.get_by_role("group", name="erase waits for your approval").inner_text()
    assert dev.page.locator('.row.call[data-state="approval"]').count() == 1
    assert dev.button("Stop").is_enabled()
    dev.page.reload()  # the call waits on, and can be decided on the page that came back
    refuse.wait_for()
    dev.page.get_by_role("textbox", name="Reason").fill("not today")
    refuse.click()
    dev.wait("not approved: not today")
    assert "refused" in dev.page.inner_text("#timeline")
    dev.idle()

    dev.say("erase sdb")
    dev.button("Approve").focus()
    dev.page.keyboard.press("Enter")
    dev.wait("sdb is gone")
    assert dev.page.locator('.row.call[data-state="finished"] .wait').evaluate("it => it.offsetWidth > 0")
    assert dev.button("Approve").count() == dev.button("Refuse").count() == 0


def test_a_function_without_a_handler_is_answered_by_whoever_sits_before_the_page(model, open_page):
    scripted(model)
    dev = open_page()
    dev.say("lamp kitchen")
    card = dev.page.get_by_role("group", name="set_lamp waits for your answer")
    card.wait_for()
    assert '"room": "kitchen"' in card.inner_text()
    assert dev.page.locator('.row.call[data-state="answer"]').count() == 1
    dev.page.reload()  # it waits on
    dev.page.get_by_role("textbox", name="Result").fill('{"lit": true}')
    dev.button("Answer set_lamp").click()
    dev.wait("{'lit': True}")
    dev.idle()
    dev.say("lamp attic")
    dev.page.get_by_role("textbox", name="Result").fill("there is no lamp")
    dev.button("Fail set_lamp").click()
    dev.wait("{'error': 'there is no lamp'}")
    assert dev.page.locator('.row.call[data-state="failed"]').count() == 1


def test_what_is_typed_before_the_session_stands_is_sent_when_it_does(model, open_page):
    scripted(model)
    dev = open_page()
    dev.page.route("**/facts.json", lambda route: (dev.page.wait_for_timeout(300), route.continue_()))
    dev.button("New session").click()
    dev.say("first")
    dev.wait("I heard first.")
    dev.page.goto(dev.address)  # what is known of the agent is still on its way
    dev.say("second")
    dev.wait("I heard second.")


def test_a_call_is_followed_until_it_is_cancelled_or_lost_with_the_line(model, open_page):
    go = scripted(model)
    dev = open_page()
    running = dev.page.locator('.row.call[data-state="running"]')
    dev.say("scan sda")
    running.wait_for()
    dev.page.locator('.row.call[data-state="finished"]').wait_for()
    assert dev.page.locator(".row.call .ticks i").count() == 3
    dev.say("cancel sda")
    running.wait_for()
    go.set()
    dev.page.locator('.row.call[data-state="cancelled"]').wait_for()
    dev.wait("Never mind.")
    go.clear()
    dev.say("drop sda")
    running.wait_for()
    go.set()
    dev.page.locator('.row.call[data-state="lost"]').wait_for()
    dev.wait("connected again")
    dev.wait("I heard [Result of scan")  # what the session tells the model of the lost call
    dev.idle()
    looks = dev.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.row.call')].map((row) => {
            const style = getComputedStyle(row.querySelector('.bar'));
            return [row.dataset.state, [style.borderStyle, style.backgroundImage, style.clipPath].join()];
        }))"""
    )
    assert len(looks) == len(set(looks.values())) == 3  # told apart without their colours


def test_the_pages_own_line_is_lost_and_found_with_what_was_typed_meanwhile(model, open_page):
    scripted(model)
    dev = open_page()
    sockets: list[Any] = []
    refusing = threading.Event()

    def line(socket: Any) -> None:
        sockets.append(socket)
        if refusing.is_set():
            socket.close(code=3000, reason="no network")
        else:
            socket.connect_to_server()

    dev.page.route_web_socket(re.compile("/live/$"), line)
    dev.page.reload()
    dev.connected()
    dev.say("one")
    dev.wait("I heard one.")
    sessions = len(model.sessions)
    refusing.set()
    sockets[-1].close(code=3000, reason="no network")
    dev.page.locator('#line[data-line="reconnecting"]').wait_for()
    assert dev.button("Hold to talk").is_disabled()
    dev.say("two")
    dev.happens(lambda: len(sockets) >= 3, "it tried again")
    refusing.clear()
    dev.wait("I heard two.")
    dev.connected()
    assert len(model.sessions) == sessions
    assert dev.page.locator(".item.user").count() == 2


def test_the_model_is_stopped_and_silent_at_once(model, open_page):
    scripted(model)
    dev = open_page()
    dev.say("sing")
    dev.wait("La la la.")
    dev.until("Number(document.getElementById('level-out').ariaValueNow) > 10")
    dev.button("Stop").click()
    dev.wait("interrupted")
    dev.idle()
    dev.until("Number(document.getElementById('level-out').ariaValueNow) === 0")
    dev.say("sing")
    dev.until("!document.getElementById('stop').disabled")
    dev.page.keyboard.press("Escape")
    dev.idle()


def test_what_is_said_while_the_button_is_held_is_heard(model, open_page):
    scripted(model)
    model.transcriber = lambda pcm, rate: "what is this sound"
    dev = open_page()
    hold = dev.button("Hold to talk")
    hold.hover()
    dev.page.mouse.down()
    dev.until("Number(document.getElementById('level-in').ariaValueNow) > 10")
    assert hold.get_attribute("aria-pressed") == "true"
    dev.page.wait_for_timeout(600)  # somebody speaks for a while
    dev.page.mouse.up()
    dev.wait("I heard what is this sound.")
    assert "what is this sound" in dev.page.inner_text(".item.user")
    assert "spoken" in dev.page.inner_text("#timeline .title")
    assert re.fullmatch(r"\d+ ms", dev.page.inner_text("#latency"))
    dev.idle()


def test_the_open_microphone_interrupts_the_model(model, open_page):
    scripted(model)
    model.transcriber = lambda pcm, rate: "enough"
    dev = open_page()
    dev.say("sing")
    dev.wait("La la la.")
    opened = dev.button("Open microphone")
    opened.click()
    dev.page.locator(".item.model.interrupted").wait_for()
    assert opened.get_attribute("aria-pressed") == "true"
    opened.click()
    dev.wait("I heard enough.")
    dev.until("document.getElementById('microphone').ariaPressed === 'false'")
    dev.until("Number(document.getElementById('level-in').ariaValueNow) === 0")
    dev.idle()


@pytest.mark.parametrize("kind", ["camera", "screen"])
def test_what_a_camera_or_the_screen_shows_goes_to_the_model_until_it_is_switched_off(model, open_page, kind):
    """Chromium's pretend devices: a moving picture for the camera, and for the screen."""
    scripted(model)
    dev = open_page()
    button = dev.button(kind.capitalize())
    button.click()
    preview = dev.page.locator("#preview")
    preview.wait_for()
    dev.until(f"document.getElementById('{kind}').ariaPressed === 'true'")
    dev.until("document.getElementById('preview').videoWidth > 0")
    dev.happens(lambda: len(pictures(model)) >= 2, "two pictures came")
    image = pictures(model)[-1]
    assert image["mimeType"] == "image/jpeg"
    width, height = jpeg_size(base64.b64decode(image["data"]))
    assert max(width, height) <= 1024
    shown = dev.page.evaluate("[preview.videoWidth / preview.videoHeight]")[0]
    assert width / height == pytest.approx(shown, rel=0.02)
    button.click()
    preview.wait_for(state="hidden")
    came = len(pictures(model))
    dev.page.wait_for_timeout(1300)  # a picture a second would have come
    assert len(pictures(model)) <= came + 1  # one may have been on its way


def test_a_screen_that_its_user_stops_sharing_is_off_on_the_page_too(model, open_page):
    scripted(model)
    dev = open_page()
    dev.button("Screen").click()
    dev.page.locator("#preview").wait_for()
    dev.page.evaluate(
        "preview.srcObject.getVideoTracks()[0].dispatchEvent(new Event('ended'))"  # the browser's own “Stop sharing”
    )
    dev.wait("the screen was switched off")
    dev.until("document.getElementById('screen').ariaPressed === 'false'")
    assert dev.page.locator("#preview").is_hidden()


def test_one_picture_at_a_time_the_other_takes_its_place(model, open_page):
    scripted(model)
    dev = open_page()
    dev.button("Camera").click()
    dev.until("document.getElementById('camera').ariaPressed === 'true'")
    dev.button("Screen").click()
    dev.until("document.getElementById('screen').ariaPressed === 'true'")
    assert dev.button("Camera").get_attribute("aria-pressed") == "false"


def pictures(model: FakeLiveServer) -> list[dict[str, str]]:
    inputs = [frame.message.get("realtimeInput", {}) for frame in list(model.frames)]
    return [each["video"] for each in inputs if "video" in each]


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height, from the frame header (ITU T.81, B.2.2)."""
    at = 2
    while data[at + 1] not in (0xC0, 0xC2):
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    height, width = int.from_bytes(data[at + 5 : at + 7]), int.from_bytes(data[at + 7 : at + 9])
    return width, height


def test_a_device_that_is_not_there_is_told_and_the_rest_goes_on(model, open_page):
    scripted(model)
    dev = open_page()
    dev.page.evaluate(
        """() => {
            const none = () => Promise.reject(new DOMException("none", "NotFoundError"));
            navigator.mediaDevices.getUserMedia = none;
        }"""
    )
    dev.button("Open microphone").click()
    dev.wait("no microphone was found")
    assert dev.button("Open microphone").get_attribute("aria-pressed") == "false"
    dev.say("hello")
    dev.wait("I heard hello.")
    assert "no microphone" not in dev.seen()


def test_the_end_of_the_session_is_told_and_another_one_begun(model, open_page):
    @model.model
    async def leaving(turn: Any) -> None:
        await turn.close(1008, "Your API key was reported as leaked.")

    dev = open_page()
    dev.say("hello")
    dev.wait("reported as leaked")
    dev.wait("“New session” begins another one")
    assert dev.button("Stop").is_disabled()
    assert "ended" in dev.page.inner_text("#line")
    scripted(model)
    dev.button("New session").click()
    dev.say("hello")  # at once: it is sent when the session stands
    dev.wait("I heard hello.")
    assert "leaked" not in dev.seen()


def test_a_conversation_is_exported(model, open_page, agent_file, tmp_path):
    scripted(model)
    dev = open_page()
    for text, answer in (
        ("weather Oslo", "12 °C, rain."),
        ("erase sda", "not approved"),
        ("erase sdb", "is gone"),
    ):
        dev.say(text)
        if text.startswith("erase"):
            dev.button("Refuse" if "sda" in text else "Approve").click()
        dev.wait(answer)
        dev.idle()
    dev.until("document.querySelectorAll('.turn').length === 3")
    files = {}
    for kind in ("Recording", "Transcript", "Test"):
        dev.page.get_by_text("Export").click()
        with dev.page.expect_download() as download:
            dev.button(kind).click()
        files[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[kind])
    assert any("toolCall" in frame.message for frame in Recording.load(files["Recording"]).frames)
    transcript = files["Transcript"].read_text(encoding="utf-8")
    assert "**You**: weather Oslo" in transcript
    assert '`get_weather(city="Oslo")` → 12 °C, rain (finished' in transcript
    assert "not approved (refused" in transcript
    result = run_pytest("-q", files["Test"], cwd=tmp_path)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}],
    ids=["light", "dark", "phone"],
)
def test_it_is_accessible(model, open_page, options):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: cd livetools/web && npm ci")
    scripted(model)
    dev = open_page(**options)
    check(dev)
    dev.say("weather Oslo")
    dev.wait("It is 12 °C, rain.")
    dev.say("erase sda")
    dev.button("Approve").wait_for()
    if "viewport" in options:
        check(dev)
        dev.button("Timeline").click()
    dev.button("Call get_weather").click()
    dev.page.locator(".details").get_by_text("toolResponse").wait_for()
    dev.page.get_by_text("Export").click()
    check(dev)
    wide = dev.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide == 0
    dev.page.keyboard.press("Escape")
    if "viewport" in options:
        dev.button("Conversation").click()
    dev.button("Refuse").click()
    dev.idle()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_waits_for_an_answer_and_what_went_wrong_are_accessible_too(model, open_page, scheme):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: cd livetools/web && npm ci")
    scripted(model)
    dev = open_page(color_scheme=scheme)
    dev.button("Camera").click()
    dev.page.locator("#preview").wait_for()
    dev.say("lamp kitchen")
    dev.page.get_by_role("textbox", name="Result").wait_for()
    check(dev)
    dev.button("Fail set_lamp").click()
    dev.page.locator('.row.call[data-state="failed"]').wait_for()
    dev.button("Camera").click()
    dev.page.locator("#preview").wait_for(state="hidden")
    dev.page.evaluate(
        """() => {
            const none = () => Promise.reject(new DOMException("none", "NotFoundError"));
            navigator.mediaDevices.getUserMedia = none;
        }"""
    )
    dev.button("Open microphone").click()
    dev.wait("no microphone was found")
    check(dev)
    dev.say("sing")
    dev.wait("La la la.")
    dev.button("Stop").click()
    dev.page.locator(".item.model.interrupted").wait_for()
    check(dev)


def check(dev: Dev) -> None:
    """axe-core finds nothing, and names that begin with a verb of ours are those buttons'."""
    dev.page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = dev.page.evaluate("axe.run().then((found) => found.violations)")
    assert [
        (each["id"], each["impact"], [node["html"] for node in each["nodes"]]) for each in violations
    ] == []
    background = dev.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", background)
    cards = dev.page.get_by_role("group", name="waits for your approval").count()
    for verb, buttons in (("Stop", 1), ("Approve", cards), ("Refuse", cards)):
        named = re.compile(f"^{verb}", re.IGNORECASE)
        roles = ("button", "textbox", "link", "checkbox", "switch", "combobox", "tab", "menuitem", "option")
        counts = {role: dev.page.get_by_role(role, name=named).count() for role in roles}
        assert {role: count for role, count in counts.items() if count} == (
            {"button": buttons} if buttons else {}
        )
    assert dev.page.get_by_role("textbox", name="Message").count() == 1


def test_what_is_typed_shows_at_once_and_comes_back_if_it_is_refused(model, open_page):
    scripted(model)
    dev = open_page()
    dev.page.evaluate("WebSocket.prototype.send = () => {}")  # it goes nowhere
    dev.say("weather Lund")
    sending = dev.page.locator(".item.sending")
    sending.wait_for()
    assert "weather Lund" in sending.inner_text()
    message = dev.page.get_by_role("textbox", name="Message")
    assert message.input_value() == ""
    dev.say("x" * 70_000)
    dev.wait("at most 65,536 characters")
    assert len(message.input_value()) == 70_000


def test_a_draft_survives_a_reload_and_what_was_sent_is_none(model, open_page):
    scripted(model)
    dev = open_page()
    message = dev.page.get_by_role("textbox", name="Message")
    message.fill("half a thought")
    dev.page.reload()
    dev.connected()
    assert message.input_value() == "half a thought"
    dev.say("hello")
    dev.wait("I heard hello.")
    dev.page.reload()
    dev.connected()
    assert message.input_value() == ""


def test_what_was_said_stays_above_a_line_when_the_session_is_not_kept(model, open_page):
    scripted(model)
    dev = open_page()
    sockets: list[Any] = []
    dev.page.route_web_socket(
        re.compile("/live/$"), lambda socket: (sockets.append(socket), socket.connect_to_server())
    )
    dev.page.reload()
    dev.connected()
    dev.say("weather Oslo")
    dev.wait("It is 12 °C, rain.")
    dev.page.evaluate("sessionStorage.clear()")  # without its token, the page finds its session no more
    sockets[-1].close(code=3000, reason="the server was started again")
    divider = dev.page.get_by_role("separator")
    divider.wait_for()
    dev.say("hello")
    dev.wait("I heard hello.")
    said = dev.page.inner_text("#conversation")
    assert said.index("12 °C") < said.index("a new session") < said.index("I heard hello.")


def test_tools_and_calls_are_found(model, open_page):
    scripted(model)
    dev = open_page()
    dev.say("weather Oslo")
    dev.wait("It is 12 °C, rain.")
    dev.say("scan sda")
    dev.wait("no errors")
    dev.idle()
    calls = dev.page.locator("#timeline .row.call:visible")
    assert calls.count() == 2
    dev.page.get_by_role("searchbox", name="Search the timeline").fill("SDA")
    dev.until("document.querySelectorAll('#timeline .row.call').length === 1")
    assert "scan" in calls.inner_text()
    dev.page.get_by_role("searchbox", name="Search the timeline").fill("STEP")  # which it tells while it runs
    dev.until("document.querySelectorAll('#timeline .row.call').length === 1")
    dev.page.get_by_role("searchbox", name="Search the timeline").fill("zinc")
    dev.wait("Nothing here has these words")
    dev.page.get_by_role("searchbox", name="Search the timeline").fill("")
    dev.button("Only failures").click()
    dev.until("document.querySelectorAll('#timeline .row.call').length === 0")
    dev.wait("No call has failed")
    dev.button("Only failures").click()
    dev.page.get_by_role("button", name=re.compile(r"^scan\(")).click()  # from what was said to the timeline
    dev.page.locator(".details").get_by_text("Yields and progress").wait_for()

    dev.page.get_by_role("button", name="4 tools").click()
    dev.page.get_by_role("searchbox", name="Search the tools").fill("weather")
    declared = dev.page.get_by_role("list", name="All tools")
    assert "city" in declared.inner_text()
    assert "erase" not in declared.inner_text()
    dev.button("Setup").click()
    dev.wait('"functionDeclarations"')


def test_a_person_sees_how_long_there_is_to_decide_and_refuses_with_enter(model, open_page):
    scripted(model)
    dev = open_page()
    dev.say("erase sda")
    dev.button("Approve").wait_for()
    assert re.fullmatch(r"(60|59|58) s left", dev.page.get_by_role("timer").inner_text())
    assert dev.page.title().startswith("(1) erase waits")
    reason = dev.page.get_by_role("textbox", name="Reason")
    reason.fill("مرحبا")
    assert reason.evaluate("it => getComputedStyle(it).direction") == "rtl"
    reason.fill("not today")
    reason.press("Enter")
    dev.wait("not approved: not today")
    assert not dev.page.title().startswith("(")


def test_whoever_comes_without_the_token_is_told_so(chromium, model):
    open_session = functools.partial(connect, "gemini-3.8-live", **model.options)
    app = page_app(open_session, About(), door=Door.to("0.0.0.0", [], "correct horse"))
    with serving(app) as address, chromium.new_context() as context:
        page = context.new_page()
        page.goto(f"http://{address}/")
        page.get_by_role("alert").get_by_text("open the address that `livetools web` printed").wait_for(
            timeout=30_000
        )
        assert page.inner_text("#line") == "offline"
        page.goto(f"http://{address}/?token=correct+horse")
        page.get_by_text("connected", exact=True).wait_for(timeout=30_000)


def test_text_runs_in_the_direction_of_its_script(model, open_page):
    scripted(model)
    dev = open_page()
    dev.say("مرحبا")
    dev.wait("I heard مرحبا")
    said = dev.page.locator(".item.user .final")
    assert said.evaluate("it => getComputedStyle(it).direction") == "rtl"
    assert dev.page.locator(".item.model .final").evaluate("it => getComputedStyle(it).direction") == "ltr"


WIDTHS = (320, 360, 412, 600, 768, 961, 980, 1024, 1160, 1280, 1600, 2560)
OVERLAPS = """() => {
  const rect = (it) => it.getBoundingClientRect();
  const seen = [...document.querySelectorAll("button, summary, input, textarea, [role=meter]")].filter((it) => {
    if (!it.checkVisibility({ visibilityProperty: true }) || rect(it).width < 2) return false;
    for (let up = it.parentElement; up; up = up.parentElement) {
      if (getComputedStyle(up).overflowY === "visible") continue;
      if (rect(it).bottom <= rect(up).top || rect(it).top >= rect(up).bottom) return false;
    }
    return true;
  });
  const over = [];
  for (const [n, one] of seen.entries()) for (const other of seen.slice(n + 1)) {
    const a = rect(one), b = rect(other);
    const apart = a.right - 1 <= b.left || b.right - 1 <= a.left || a.bottom - 1 <= b.top || b.bottom - 1 <= a.top;
    const name = (it) => it.id || it.innerText;
    if (!apart && !one.contains(other) && !other.contains(one)) over.push(`${name(one)} over ${name(other)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) over.push("it scrolls sideways");
  return over;
}"""


@pytest.mark.parametrize("height", [800, 225])
def test_no_control_is_over_another_at_any_width(model, open_page, height):
    """The lower one is a desk's screen at 400 %."""
    scripted(model)
    dev = open_page()
    dev.say("erase sda")
    dev.button("Approve").wait_for()
    for view in ("Timeline", "Tools", "Setup", "Sessions"):
        dev.page.set_viewport_size({"width": 1280, "height": 800})
        dev.button(view).click()
        for width in WIDTHS:
            dev.page.set_viewport_size({"width": width, "height": height})
            assert dev.page.evaluate(OVERLAPS) == [], f"{width} x {height}, {view}"
    dev.page.set_viewport_size({"width": 1280, "height": 800})
    dev.button("Refuse").click()
    dev.wait("not approved")


def test_every_view_has_its_whole_button_on_a_small_phone(model, open_page):
    scripted(model)
    dev = open_page(viewport={"width": 320, "height": 640})
    dev.say("erase sda")
    dev.wait("Conversation (1)")
    dev.wait("Sessions")
    cut = """[...document.querySelectorAll(".tabs button")]
        .filter((it) => it.getBoundingClientRect().right > innerWidth).map((it) => it.innerText)"""
    assert dev.page.evaluate(cut) == []
    dev.button("Refuse").click()
    dev.wait("not approved")


def test_the_name_of_a_parameter_is_not_broken(model, open_page):
    dev = open_page(viewport={"width": 360, "height": 740})
    dev.button("Tools").click()
    names = (
        "[...document.querySelectorAll('.declared td code')].map((it) => it.getBoundingClientRect().height)"
    )
    assert max(dev.page.evaluate(names)) < 24, "one line each"


def test_a_finger_has_44_pixels(model, open_page):
    dev = open_page(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    small = """() => [...document.querySelectorAll("button, summary, input, textarea, select")]
        .filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < 43.5)
        .map((it) => it.id || it.innerText)"""
    for view in ("Conversation", "Timeline", "Tools", "Setup", "Sessions"):
        dev.button(view).click()
        assert dev.page.evaluate(small) == [], view
