"""examples/web_agent.py, in a browser."""

from __future__ import annotations

from pathlib import Path

from support.browser import serving

from livetools.testing import FakeLiveServer, Pretend

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_and_its_page_are_short_enough_to_read():
    for name in ("web_agent.py", "web_agent.html"):
        assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 60


def test_a_question_is_typed_a_call_approved_and_a_button_held_to_talk(example, monkeypatch, chromium):
    model = FakeLiveServer(Pretend()).start()
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", model.http_url)
    monkeypatch.setenv("GEMINI_API_KEY", "fake-key")
    complaints = []
    with serving(example("web_agent").app) as address:
        page = chromium.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"http://{address}/")
        page.get_by_role("button", name="Start").click()
        talk = page.get_by_role("button", name="Hold to talk")
        talk.wait_for()
        page.wait_for_function("!document.querySelector('#talk').disabled")
        message = page.get_by_role("textbox", name="Message")
        message.fill("What is the weather in Oslo?")
        message.press("Enter")
        page.get_by_text('get_weather: {"output":"12 °C, rain"}').wait_for()
        message.fill("Order a taxi to the airport")
        message.press("Enter")
        page.get_by_role("button", name="Approve").click()
        page.get_by_text("comes to").first.wait_for()
        talk.hover()
        page.mouse.down()
        page.wait_for_function("document.querySelector('#level').value > 0.05")
        while not any("voiceActivity" in frame.message for frame in model.frames):
            page.wait_for_timeout(20)
        page.mouse.up()
        # The beep of the microphone asks for the same again.
        page.get_by_role("button", name="Approve").click()
        page.get_by_text("comes to").nth(3).wait_for()
        page.get_by_role("button", name="Stop").click()
        page.close()
    model.stop()
    assert not complaints
