"""`make screenshots`: the page of `livetools web` in each of its states, as pictures in docs/images/states.

Those that the README and the guides show are in docs/images.

A scripted model holds the conversations; Debian's chromium (`/usr/bin/chromium`) is the browser. The fonts are the
machine's: those in docs/images were made with Inter (`fonts-inter`) and JetBrains Mono as its defaults.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
import re
import shutil
import sys
import tempfile
import threading
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

import livetools
from livetools import Agent, ReconnectPolicy, Tool, ToolContext, ToolError, ToolResult, tool
from livetools.audio import write_wav
from livetools.cli.page.asgi_app import About, page_app
from livetools.cli.recordings.session_files import SessionFiles
from livetools.testing import FakeLiveServer

IMAGES = Path(__file__).with_name("images")
SHOWN = {"page", "page-approval", "page-phone"}
WIDE, PHONE = {"width": 1240, "height": 760}, {"width": 390, "height": 780}
HEARD = "What is the weather in Oslo, and what time is it in Tokyo?"


async def get_weather(city: str) -> str:
    """Current weather in a city."""
    await asyncio.sleep(0.35)
    return "12 °C, rain"


async def get_time(city: str) -> str:
    """The time of day in a city."""
    await asyncio.sleep(0.12)
    if city == "Atlantis":
        raise ToolError("nobody has seen a clock in Atlantis")
    return "21:40"


@tool(approval=True)
async def book_table(name: str, guests: int, time: str) -> str:
    """Book a table in somebody's name."""
    await asyncio.sleep(0.3)
    return f"table 4, {name}, {guests} guests, {time}"


@tool
async def search_archive(context: ToolContext[None], words: str) -> str:
    """Search the archive for words."""
    for found in (3, 11, 19):
        await asyncio.sleep(0.5)
        await context.progress({"found": found})
    return "19 letters, the oldest of 1887"


def find_bill(number: int) -> str:
    """Find a bill by its number."""
    return f"bill {number}: 40 euros"


def ask_billing(issue: str) -> ToolResult:
    """Hand over to billing, for an issue with a bill.

    Args:
        issue: What the caller wants to know, in a sentence.
    """
    billing = Agent(
        "You answer questions about bills. Ask for the number first.", [find_bill], name="billing"
    )
    return ToolResult("You are with billing now.", handoff=billing)


TEXT = {"type": "STRING"}
LAMP = Tool(
    {
        "name": "set_lamp",
        "description": "Set the lamp of a room.",
        "parameters": {"type": "OBJECT", "properties": {"room": TEXT, "color": TEXT}},
    }
)

agent = functools.partial(
    livetools.connect,
    "gemini-3.8-live",
    tools=[get_weather, get_time, book_table, search_archive, ask_billing],
    instructions="You are the concierge of a small hotel in Oslo. Be brief, and book nothing without asking.",
    config={"output_audio_transcription": {}, "input_audio_transcription": {}},
    reconnect=ReconnectPolicy(initial=0.8, jitter=0.0),
)


async def model(turn: Any) -> None:
    """A conversation that shows what may happen in one."""
    said = turn.text.casefold()
    if said.startswith("[result of"):
        await turn.say("The line was away for a moment; the archive has 19 letters.")
    elif "weather" in said:
        weather, time = await turn.calls(("get_weather", {"city": "Oslo"}), ("get_time", {"city": "Tokyo"}))
        await turn.say(f"It is {weather['output']} in Oslo, and {time['output']} in Tokyo.")
    elif "table" in said:
        id = await turn.start_call("book_table", name="Ann", guests=4, time="20:00")
        answer = await turn.answer(id)
        booked = "output" in answer
        await turn.say(f"Done: {answer['output']}." if booked else "All right, I book nothing.")
    elif "archive" in said:
        found = await turn.call("search_archive", words="letters from Oslo")
        await turn.say(f"There are {found['output']}.")
    elif "lamp" in said:
        answer = await turn.call("set_lamp", room="kitchen", color="warm white")
        await turn.say(f"The lamp in the kitchen is {answer['output']}.")
    elif "atlantis" in said:
        await turn.start_call("search_archive", words="Atlantis")
        answer = await turn.call("get_time", city="Atlantis")
        await asyncio.sleep(0.5)
        await turn.cancel()
        await turn.say(f"I could not find out: {answer['error']}.")
    elif "bill" in said:
        answer = await turn.call("ask_billing", issue="a bill")
        await turn.say(f"{answer['output']}")
    elif "poem" in said:
        await turn.say("The rain in Oslo falls on roofs and stairs, and", audio=b"\x00\x10" * 24000 * 9)
        await asyncio.sleep(60)
    elif "leave" in said:
        await turn.close(1008, "Your API key was reported as leaked.")
    elif "line" in said:
        await turn.start_call("search_archive", words="the line")
        await asyncio.sleep(0.7)
        await turn.drop()
    else:
        await turn.say("All right.")


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The app on a free port, in a thread: its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.05)
        yield "http://127.0.0.1:{1}/".format(*server.servers[0].sockets[0].getsockname())
    finally:
        server.should_exit = True
        thread.join(10)


class Shots:
    """Pages of a browser, and pictures of them."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address

    @contextmanager
    def page(self, **options: Any) -> Iterator[Page]:
        context = self.browser.new_context(**{"viewport": WIDE, "reduced_motion": "reduce", **options})
        page = context.new_page()
        page.goto(self.address)
        page.get_by_text("connected", exact=True).wait_for()
        yield page
        context.close()

    def take(self, page: Page, name: str) -> None:
        page.wait_for_timeout(400)  # what was last told is drawn, and meters have come to rest
        folder = IMAGES if name in SHOWN else IMAGES / "states"
        page.screenshot(path=folder / f"{name}.png")


def say(page: Page, text: str, answer: str = "") -> None:
    message = page.get_by_role("textbox", name="Message")
    message.fill(text)
    message.press("Enter")
    if answer:
        page.get_by_text(answer).first.wait_for()


def speak(page: Page, answer: str) -> None:
    page.get_by_role("button", name="Hold to talk").hover()
    page.mouse.down()
    page.wait_for_timeout(1300)
    page.mouse.up()
    page.get_by_text(answer).first.wait_for()
    page.mouse.move(0, 0)


def empty(shots: Shots, name: str = "page-empty", **options: Any) -> None:
    with shots.page(**options) as page:
        shots.take(page, name)


def details(shots: Shots, **options: Any) -> None:
    """A spoken question, two calls, and what a click on one of them opens."""
    with shots.page(**options) as page:
        speak(page, "21:40 in Tokyo.")
        say(page, "Search the archive for letters from Oslo", "19 letters, the oldest of 1887.")
        page.get_by_role("button", name="Call search_archive").click()
        page.locator(".details").get_by_text("toolResponse").wait_for()
        shots.take(page, "page")


def approval(shots: Shots, **options: Any) -> None:
    """A call that waits for a person."""
    phone = options.get("viewport") == PHONE
    with shots.page(**options) as page:
        say(page, "What is the weather in Oslo, and what time is it in Tokyo?", "21:40 in Tokyo.")
        say(page, "Book a table for four at eight, in the name of Ann")
        page.get_by_role("button", name="Approve book_table").wait_for()
        shots.take(page, "page-phone" if phone else "page-approval")
        page.get_by_role("textbox", name="Reason").fill("we eat at home")
        page.get_by_role("button", name="Refuse book_table").click()
        page.get_by_text("I book nothing").first.wait_for()
        if phone:
            page.get_by_role("button", name="Timeline").click()
        shots.take(page, "page-phone-timeline" if phone else "page-refused")


def states(shots: Shots, prefix: str = "page", **options: Any) -> None:
    """Calls that fail, are cancelled, are lost with the line; a model that is interrupted."""
    with shots.page(**options) as page:
        say(page, "What time is it in Atlantis?", "I could not find out")
        say(page, "Read me a poem", "falls on roofs")
        page.wait_for_timeout(700)
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("interrupted").first.wait_for()
        say(page, "Break the line")
        page.get_by_text("reconnecting").wait_for()
        shots.take(page, f"{prefix}-reconnecting")
        page.get_by_text("for a moment").first.wait_for()
        shots.take(page, f"{prefix}-states")
        say(page, "Search the archive for letters from Oslo")
        page.locator('[data-state="running"] .ticks i').first.wait_for(state="attached")
        shots.take(page, f"{prefix}-running")
        page.get_by_text("Export").click()
        shots.take(page, f"{prefix}-export")


def answers(shots: Shots, **options: Any) -> None:
    """A function that is only declared: whoever develops the agent answers in its place. The camera is on."""
    with shots.page(**options) as page:
        page.get_by_role("button", name="Camera").click()
        page.locator("#preview").wait_for()
        say(page, "Make the lamp in the kitchen warm white")
        page.get_by_role("textbox", name="Result").fill("warm white")
        shots.take(page, "page-answer")
        page.get_by_role("button", name="Answer set_lamp").click()
        page.get_by_text("is warm white").first.wait_for()


def ended(shots: Shots, **options: Any) -> None:
    """The service has refused to go on."""
    with shots.page(**options) as page:
        say(page, "Hello", "All right.")
        say(page, "Leave me", "reported as leaked")
        shots.take(page, "page-ended")


def handed_off(shots: Shots, **options: Any) -> None:
    """Another agent, with tools of its own; the panel of all tools, and what the model was told."""
    with shots.page(**options) as page:
        say(page, "I have a question about my bill", "billing now")
        page.get_by_role("button", name="Tools", exact=True).click()
        shots.take(page, "page-tools")
        page.get_by_role("button", name="Setup", exact=True).click()
        shots.take(page, "page-setup")


SIZES = [(360, 740), (390, 844), (768, 1024), (1024, 768), (1440, 900), (2560, 1300)]
NARROW = 960  # pixels, up to which the page shows one side at a time


def every_size(shots: Shots, page: Page, name: str, view: str = "Conversation", menu: bool = False) -> None:
    """A state at six widths; where there is room for one side only, that of ``view``. ``menu``: with the exports."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        wanted = view if width <= NARROW or view != "Conversation" else "Timeline"
        page.get_by_role("button", name=re.compile(f"^{wanted}( |$)")).first.click()
        page.mouse.move(0, 0)
        page.locator("#export").evaluate("(it, open) => { it.open = open; }", menu)
        shots.take(page, f"{name}-{width}")


def twelve_states(shots: Shots, lamps: str, recording: Path, scheme: Literal["light", "dark"]) -> None:
    """Twelve states of the page, each at six widths."""
    named = functools.partial("{1}-{0}".format, scheme)
    with shots.page(color_scheme=scheme) as page:
        every_size(shots, page, named("1-empty"))
        page.set_viewport_size(WIDE)
        speak(page, "21:40 in Tokyo.")
        say(page, "Search the archive for letters from Oslo", "19 letters, the oldest of 1887.")
        every_size(shots, page, named("2-answered"))
        page.get_by_role("button", name="Call search_archive").click()
        page.locator(".details").get_by_text("toolResponse").wait_for()
        every_size(shots, page, named("3-details"), "Timeline")
        every_size(shots, page, named("4-export"), menu=True)
        page.keyboard.press("Escape")
        say(page, "Book a table for four at eight, in the name of Ann")
        page.get_by_role("button", name="Approve book_table").wait_for()
        every_size(shots, page, named("5-approval"))
        page.get_by_role("button", name="Refuse book_table").click()
        say(page, "What time is it in Atlantis?", "I could not find out")
        page.set_viewport_size(WIDE)
        say(page, "Read me a poem", "falls on roofs")
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("interrupted").first.wait_for()
        say(page, "Break the line", "for a moment")
        every_size(shots, page, named("6-failures"), "Timeline")
        say(page, "I have a question about my bill", "billing now")
        every_size(shots, page, named("7-tools"), "Tools")
        every_size(shots, page, named("8-setup"), "Setup")
        every_size(shots, page, named("9-sessions"), "Sessions")
        page.locator("#recording-file").set_input_files(recording)
        page.get_by_text("Play", exact=True).wait_for()
        every_size(shots, page, named("10-recording"))
    shots = Shots(shots.browser, lamps)
    with shots.page(color_scheme=scheme) as page:
        page.get_by_role("button", name="Camera").click()
        page.locator("#preview").wait_for()
        say(page, "Make the lamp in the kitchen warm white")
        page.get_by_role("textbox", name="Result").fill("warm white")
        every_size(shots, page, named("11-answer"))
        page.get_by_role("button", name="Answer set_lamp").click()
        say(page, "Leave me", "reported as leaked")
        every_size(shots, page, named("12-ended"))


def many_calls(file: Path) -> Path:
    """A recording with 500 calls, some of which failed."""
    frames: list[tuple[float, str, dict[str, Any]]] = [
        (0, "client", {"setup": {"model": "models/gemini-3.8-live"}})
    ]
    for n in range(500):
        at, id = n * 0.9, f"call-{n}"
        if n % 20 == 0:
            parts = [{"text": f"Look up the rows from {n} on"}]
            turns = [{"role": "user", "parts": parts}]
            frames.append((at, "client", {"clientContent": {"turns": turns, "turnComplete": True}}))
        body = {"error": f"there is no row {n}"} if n % 87 == 5 else {"output": f"row {n}"}
        call = {"id": id, "name": "look_up", "args": {"row": n}}
        frames.append((at + 0.1, "server", {"toolCall": {"functionCalls": [call]}}))
        answer = {"id": id, "name": "look_up", "response": body}
        frames.append(
            (at + 0.2 + (n * n % 13) / 20, "client", {"toolResponse": {"functionResponses": [answer]}})
        )
        if n % 20 == 19:
            said = {"outputTranscription": {"text": f"These are the rows up to {n}."}, "turnComplete": True}
            frames.append((at + 0.9, "server", {"serverContent": said}))
    lines = [{"time": at, "direction": who, "connection": 1, "frame": frame} for at, who, frame in frames]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed: apt-get install chromium")
    (IMAGES / "states").mkdir(parents=True, exist_ok=True)
    server = FakeLiveServer(model).start()
    server.transcriber = lambda pcm, rate: HEARD
    open_session: Callable[[], Any] = functools.partial(agent, **server.options)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        tone = Path(folder, "voice.wav")
        samples = (int(9000 * math.sin(n / 12) * math.sin(n / 4800)) for n in range(48000))
        write_wav(tone, array("h", samples).tobytes(), rate=48000)
        browser = play.chromium.launch(
            executable_path=chromium,
            args=[
                "--no-sandbox",
                "--use-fake-device-for-media-stream",
                "--use-fake-ui-for-media-stream",
                f"--use-file-for-fake-audio-capture={tone}",
            ],
        )
        files = SessionFiles(Path(folder, "sessions"))
        about = About(pretend=True, target="concierge.py")
        lamp = functools.partial(open_session, tools=[LAMP, get_weather])
        with (
            serving(page_app(open_session, about, files=files, vary=lambda choices: open_session)) as address,
            serving(page_app(lamp, About(pretend=True, target="lamps.py"))) as lamps,
        ):
            shots = Shots(browser, address)
            empty(shots)
            details(shots)
            approval(shots, color_scheme="dark")
            approval(shots, viewport=PHONE)
            states(shots)
            empty(shots, viewport=PHONE, name="page-phone-empty", color_scheme="dark")
            states(shots, viewport=PHONE, prefix="page-phone-dark", color_scheme="dark")
            handed_off(shots)
            ended(shots, color_scheme="dark")
            answers(Shots(browser, lamps))
            recording = many_calls(Path(folder, "five-hundred-calls.jsonl"))
            for scheme in ("light", "dark"):
                twelve_states(shots, lamps, recording, scheme)
        browser.close()
    server.stop(check=False)


if __name__ == "__main__":
    main()
