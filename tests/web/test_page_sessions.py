"""Sessions of the last day on the page of `livetools web`: listed, reopened, deleted; and choices for the next one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from livetools.cli.agents.load_agent import load
from livetools.cli.agents.open_sessions import Choices, opener
from livetools.cli.page.asgi_app import About, page_app
from livetools.cli.recordings.session_files import SessionFiles
from livetools.testing import FakeLiveServer

from .conftest import serving
from .test_page import AGENT, AXE, Dev, check, scripted

Serve = Callable[..., AbstractContextManager[str]]
LINES = "[...document.querySelectorAll('.item.divider')].map((it) => it.innerText)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions"


@pytest.fixture
def serve(model: FakeLiveServer, tmp_path: Path, folder: Path) -> Serve:
    """Starts a server of the page, as `livetools web` does; each is another process's, as far as the page can tell."""
    file = tmp_path / "house.py"
    file.write_text(AGENT, encoding="utf-8")
    target = f"{file}:agent"
    found = load(target)

    def serve(port: int = 0, pretend: bool = False, history: bool = True) -> AbstractContextManager[str]:
        def vary(changes: Choices) -> Any:
            return opener(found, target, Choices(), model.options, transcribe=True, changes=changes)

        about = About(pretend=pretend, target=target)
        files = SessionFiles(folder) if history else None
        return serving(page_app(vary(Choices()), about, files=files, vary=vary), port)

    return serve


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Dev]]:
    """Opens tabs of one browser; each must end without an error of the page."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(30_000)
    tabs: list[Dev] = []

    def open_page(address: str, scheme: str = "light") -> Dev:
        page = context.new_page()
        page.emulate_media(color_scheme=scheme)
        tabs.append(Dev(page, address))
        return tabs[-1]

    yield open_page
    context.close()
    network = re.compile(
        "Failed to load resource|WebSocket connection"
    )  # a server that is away, or that refuses
    assert not [line for tab in tabs for line in tab.complaints if not network.search(line)]


def listed(dev: Dev) -> list[str]:
    """The sessions that the page lists."""
    dev.button("Sessions").click()
    dev.until("document.getElementById('sessions').ariaBusy === 'false'")
    return [each.inner_text() for each in dev.page.locator("#sessions li .title").all()]


def reopen(dev: Dev, title: str) -> None:
    dev.button("Sessions").click()
    dev.page.locator("#sessions .reopen", has_text=title).click()


def asked(dev: Dev, text: str, answer: str) -> None:
    dev.say(text)
    dev.wait(answer)
    dev.idle()


def test_a_session_of_another_process_is_listed_and_goes_on_where_it_was(model, serve, open_page, folder):
    scripted(model)
    with serve() as address:
        dev = open_page(address)
        assert listed(dev) == []
        asked(dev, "weather Oslo", "It is 12 °C, rain.")
        dev.button("New session").click()
        dev.until("!document.querySelector('#conversation').innerText.includes('Oslo')")
        dev.connected()
        asked(dev, "hello", "I heard hello.")
        assert listed(dev) == ["hello", "weather Oslo"]
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert {oct(file.stat().st_mode & 0o777) for file in folder.iterdir()} == {"0o600"}
    assert len(list(folder.iterdir())) == 4
    sessions = len(model.sessions)

    with serve() as address:
        dev = open_page(address)
        reopen(dev, "weather Oslo")
        dev.wait("It is 12 °C, rain.")
        dev.until(f"{LINES}.length === 1")
        assert "the model knows the conversation above" in dev.page.evaluate(LINES)[0]
        asked(dev, "again", "I heard again.")
        said = dev.page.inner_text("#conversation")
        assert said.index("12 °C") < said.index("the session continues") < said.index("I heard again.")
        dev.button("Timeline").click()
        dev.button("Call get_weather").click()
        dev.page.locator(".details").get_by_text("toolResponse").wait_for()
        assert len(model.sessions) == sessions + 1, (
            "the first of this page, and none for the one that went on"
        )
        dev.page.reload()
        dev.wait("It is 12 °C, rain.")
        dev.wait("I heard again.")
        assert dev.page.locator("#timeline .title").all_inner_texts()[0].startswith("Turn 1")
        assert listed(dev) == ["weather Oslo", "hello"]


def test_a_session_that_the_service_has_forgotten_goes_on_below_a_line_as_a_new_one(model, serve, open_page):
    scripted(model)
    with serve(pretend=True) as address:
        asked(open_page(address), "weather Oslo", "It is 12 °C, rain.")
    with serve(pretend=True) as address:
        dev = open_page(address)
        reopen(dev, "weather Oslo")
        dev.until(f"{LINES}.length === 1")
        assert "does not know the conversation above" in dev.page.evaluate(LINES)[0]
        asked(dev, "hello", "I heard hello.")
        assert listed(dev) == ["weather Oslo"]
        dev.page.reload()
        dev.wait("It is 12 °C, rain.")
        dev.wait("I heard hello.")


@pytest.mark.parametrize(("pretend", "line"), [(False, "knows the conversation"), (True, "does not know")])
def test_a_page_outlives_its_server_and_so_does_what_was_said(model, serve, open_page, pretend, line):
    scripted(model)
    with serve(pretend=pretend) as address:
        dev = open_page(address)
        asked(dev, "weather Oslo", "It is 12 °C, rain.")
    dev.page.locator('#line[data-line="reconnecting"]').wait_for()
    with serve(int(address.rpartition(":")[2]), pretend=pretend):
        dev.connected()
        dev.until(f"{LINES}.length === 1")
        assert line in dev.page.evaluate(LINES)[0]
        asked(dev, "hello", "I heard hello.")
        dev.page.reload()
        dev.wait("It is 12 °C, rain.")
        dev.wait("I heard hello.")
        assert listed(dev) == ["weather Oslo"]


def test_a_session_is_deleted(model, serve, open_page, folder):
    scripted(model)
    with serve() as address:
        dev = open_page(address)
        asked(dev, "hello", "I heard hello.")
        dev.button("New session").click()
        dev.until("!document.querySelector('#conversation').innerText.includes('hello')")
        dev.connected()
        asked(dev, "weather Oslo", "It is 12 °C, rain.")
        assert listed(dev) == ["weather Oslo", "hello"]
        dev.button("Delete session: hello").click()
        dev.until("document.querySelectorAll('#sessions li').length === 1")
        assert dev.page.locator("#conversation").get_by_text("weather Oslo").count() == 1
        dev.button("Delete session: weather Oslo").click()  # the page's own: it begins another one
        dev.wait("No sessions yet")
        dev.connected()
        assert dev.page.locator("#conversation .item").count() == 0
        assert list(folder.iterdir()) == []
        asked(dev, "hello", "I heard hello.")


def test_a_session_that_is_open_in_another_tab_is_left_there(model, serve, open_page):
    scripted(model)
    with serve() as address:
        first = open_page(address)
        asked(first, "weather Oslo", "It is 12 °C, rain.")
        second = open_page(address)
        reopen(second, "weather Oslo")
        second.wait("this session is open in another tab")
        asked(second, "hello", "I heard hello.")
        asked(first, "hello", "I heard hello.")
        first.page.close()
        reopen(second, "weather Oslo")
        second.wait("It is 12 °C, rain.")
        assert second.page.evaluate(LINES) == [], "it was open all the time"
        asked(second, "once more", "I heard once more.")


def test_a_file_that_is_damaged_costs_no_more_than_itself(model, serve, open_page, folder):
    scripted(model)
    with serve() as address:
        dev = open_page(address)
        for city in ("Oslo", "Rome", "Lund"):
            asked(dev, f"weather {city}", "It is 12 °C, rain.")
            dev.button("New session").click()
            dev.until("document.querySelectorAll('#conversation .item').length === 0")
            dev.connected()
    files = {json.loads(file.read_text())["title"][8:]: file for file in folder.glob("*.json")}
    with files["Oslo"].with_suffix(".jsonl").open("a") as file:
        file.write('{"time": 3.2, "direc')  # the disk was full, or the machine went off
    whole = files["Rome"].with_suffix(".jsonl").read_text()
    files["Rome"].with_suffix(".jsonl").write_text("what is this?\n" + whole)
    files["Lund"].write_text("{")
    with serve() as address:
        dev = open_page(address)
        assert sorted(listed(dev)) == ["This session cannot be read", "weather Oslo", "weather Rome"]
        reopen(dev, "weather Rome")
        dev.page.locator("#trouble").get_by_text(":1: not a line of a recording").wait_for()
        asked(dev, "hello", "I heard hello.")
        reopen(dev, "weather Oslo")
        dev.wait("It is 12 °C, rain.")
        asked(dev, "hello", "I heard hello.")
        for title in ("This session cannot be read", "weather Rome"):
            dev.button("Sessions").click()
            dev.button(f"Delete session: {title}").click()
            dev.page.get_by_role("button", name=f"Delete session: {title}").wait_for(state="detached")
    assert files["Oslo"].exists() is False, "it has another id since it was reopened"
    assert len(list(folder.glob("*.jsonl"))) == 2


def test_where_sessions_are_not_kept_the_page_says_so(model, serve, open_page, folder):
    scripted(model)
    with serve(history=False) as address:
        dev = open_page(address)
        asked(dev, "hello", "I heard hello.")
        assert listed(dev) == []
        dev.wait("started with --no-history")
    assert not folder.exists()


def spoke_to(model: FakeLiveServer) -> dict[str, Any]:
    """The last setup that the service got."""
    setups = [frame.message["setup"] for frame in list(model.frames) if "setup" in frame.message]
    return dict(setups[-1])


def test_model_voice_language_and_instructions_are_changed_for_the_next_session(model, serve, open_page):
    scripted(model)
    with serve() as address:
        dev = open_page(address)
        asked(dev, "hello", "I heard hello.")
        dev.button("Setup").click()
        form = dev.page.get_by_role("form", name="Another session of this agent")
        assert form.get_by_label("Model").input_value() == "gemini-3.8-live"
        form.get_by_label("Model").fill("gemini-3.1-flash-live")
        form.get_by_label("Voice").fill("Kore")
        form.get_by_label("Language").fill("de-DE")
        form.get_by_label("Instructions").fill("Answer in rhymes.")
        form.get_by_role("button", name="Begin with these").click()
        dev.until("!document.querySelector('#conversation').innerText.includes('hello')")
        dev.wait("Changed on this page: model, voice, language, instructions.")
        setup = spoke_to(model)
        speech = setup["generationConfig"]["speechConfig"]
        assert setup["model"] == "models/gemini-3.1-flash-live"
        assert speech["voiceConfig"]["prebuiltVoiceConfig"]["voiceName"] == "Kore"
        assert speech["languageCode"] == "de-DE"
        assert setup["systemInstruction"]["parts"][0]["text"] == "Answer in rhymes."
        assert dev.page.inner_text("#model") == "gemini-3.1-flash-live"
        assert {each["name"] for each in setup["tools"][0]["functionDeclarations"]} >= {
            "get_weather",
            "erase",
        }

        other = open_page(address)  # its own, as in the file
        assert spoke_to(model)["model"] == "models/gemini-3.8-live"
        other.page.close()
        dev.page.reload()
        dev.connected()
        dev.button("New session").click()
        dev.button("Setup").click()
        dev.happens(lambda: "3.1" in spoke_to(model)["model"], "a session with what was chosen")
        dev.wait("Changed on this page")
        dev.button("As in the file").click()
        dev.happens(lambda: "3.8" in spoke_to(model)["model"], "a session as in the file")
        dev.until("document.getElementById('choices-state').innerText === ''")
        assert "speechConfig" not in spoke_to(model)["generationConfig"]
        dev.connected()


def test_a_choice_that_cannot_be_is_said_and_the_session_goes_on(model, serve, open_page):
    scripted(model)
    with serve() as address:
        dev = open_page(address)
        dev.button("Setup").click()
        dev.page.get_by_role("combobox", name="Model").fill(
            "gemini-3.5-transcribe-live"
        )  # which calls no functions
        dev.button("Begin with these").click()
        dev.page.locator("#trouble").wait_for()
        assert "gemini-3.5-transcribe-live" in dev.page.inner_text("#trouble")
        asked(dev, "hello", "I heard hello.")
        assert len(model.sessions) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sessions_choices_and_recordings_are_accessible(model, serve, open_page, folder, scheme):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: cd livetools/web && npm ci")
    scripted(model)
    with serve() as address:
        dev = open_page(address, scheme)
        dev.button("Sessions").click()
        check(dev)
        asked(dev, "weather Oslo", "It is 12 °C, rain.")
        dev.button("New session").click()
        dev.until("document.querySelectorAll('#conversation .item').length === 0")
        dev.connected()
        broken = next(folder.glob("*.json"))
        broken.write_text("{")
        asked(dev, "hello", "I heard hello.")
        assert listed(dev) == ["hello", "This session cannot be read"]
        check(dev)
        dev.button("Setup").click()
        dev.page.get_by_role("combobox", name="Voice").fill("Kore")
        check(dev)
        dev.page.locator("#recording-file").set_input_files(broken.with_suffix(".jsonl"))
        dev.wait("It is 12 °C, rain.")
        check(dev)
