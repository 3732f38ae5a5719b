"""A microphone that is off when the finger is, in a real browser."""

from __future__ import annotations

import time
from typing import Any

import pytest

BUTTON = """
window.button = document.createElement("button");
button.textContent = "Talk";
button.style.cssText = "position: fixed; left: 40px; top: 40px; width: 100px; height: 60px";
window.other = document.createElement("button");
other.style.cssText = "position: fixed; left: 40px; top: 200px";
document.body.append(button, other);
window.off = live.holdToTalk(button);
window.told = [];
live.on("microphone", (microphone) => told.push(microphone));
window.tracks = [];
window.slow = 0;
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  await new Promise((resolve) => setTimeout(resolve, slow));
  const stream = await ask(wanted);
  tracks.push(...stream.getTracks());
  return stream;
};
return 1;
"""
MANUAL = {"realtime_input_config": {"automatic_activity_detection": {"disabled": True}}}

ENDS = {
    "the browser takes the pointer away": "dispatchEvent(new PointerEvent('pointercancel', { pointerId: 1 }))",
    "the window loses the focus": "dispatchEvent(new Event('blur'))",
    "the button loses the focus": "(button.focus(), other.focus())",
    "the page is hidden": "(Object.defineProperty(document, 'hidden', { value: true }),"
    " document.dispatchEvent(new Event('visibilitychange')))",
    "the button is disabled": "button.disabled = true",
    "the button is removed": "button.remove()",
    "push-to-talk is removed": "off()",
    "the pointer is lifted elsewhere": "",
}


#: Messages of sound: two seconds of it.
MANY = 50


def sounds(model: Any) -> int:
    return sum("audio" in frame.message.get("realtimeInput", {}) for frame in model.frames)


def heard(model: Any, page: Any) -> None:
    """Wait until the service has heard something."""
    deadline = time.monotonic() + 30
    while sounds(model) == 0:
        assert time.monotonic() < deadline, "nothing was ever heard"
        page.page.wait_for_timeout(20)


def is_silent(model: Any, page: Any) -> bool:
    """Whether nothing more is heard, once what was on its way has come."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        before = sounds(model)
        page.page.wait_for_timeout(300)
        if sounds(model) == before:
            return True
    return False


def goes_on(model: Any, page: Any) -> bool:
    """Whether far more is heard than may have been on its way."""
    deadline, before = time.monotonic() + 30, sounds(model)
    while sounds(model) < before + MANY:
        if time.monotonic() > deadline:
            return False
        page.page.wait_for_timeout(20)
    return True


def press(page: Any) -> None:
    page.page.mouse.move(60, 60)
    page.page.mouse.down()


@pytest.mark.parametrize("end", ENDS)
def test_the_microphone_is_off_when(model, site, tab, end):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        press(page)  # the first press begins the session
        page.wait("told.some(({ sending }) => sending)")
        assert page.run("button.getAttribute('aria-pressed')") == "true"
        heard(model, page)
        if ENDS[end]:
            page.run(f"{ENDS[end]}; return 1;")
        else:
            page.page.mouse.move(600, 500)
            page.page.mouse.up()
        page.wait("told.at(-1).sending === false")
        assert not page.run("live.sending")
        assert page.run("button.getAttribute('aria-pressed')") == "false"
        assert is_silent(model, page)
        page.page.mouse.up()
    assert len(model.sessions) == 1


@pytest.mark.parametrize("key", [" ", "Enter"])
def test_a_key_is_held_like_a_finger(model, site, tab, key):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        page.run("button.focus();")
        page.page.keyboard.down(key)
        page.page.keyboard.down(key)  # as a keyboard repeats it
        page.wait("told.some(({ sending }) => sending)")
        page.page.keyboard.up(key)
        page.wait("told.at(-1).sending === false")
        assert page.run("told.filter(({ sending }) => sending).length") == 1


@pytest.mark.parametrize("stage", ["the session", "the microphone"])
def test_a_tap_that_is_over_before_it_began_leaves_nothing_on(model, site, tab, stage):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        if stage == "the microphone":
            page.run("live.connect()")
        page.run("window.slow = 300; return 1;")
        press(page)
        page.page.mouse.up()
        page.wait("live.state === 'ready'")
        if stage == "the microphone":
            page.wait("tracks.length > 0")  # it was asked for, and comes too late
        page.page.wait_for_timeout(600)
        page.wait("tracks.every((track) => track.readyState === 'ended')")
        assert not page.run("live.sending")
    assert sounds(model) == 0


def test_two_presses_within_one_start_are_one_activity(model, site, tab):
    with site(config=MANUAL) as address, tab(address) as page:
        page.run(BUTTON)
        page.run("live.connect()")
        page.run("window.slow = 300; live.startTalking(); live.stopTalking(); return live.startTalking();")
        heard(model, page)  # an activity without sound is not sent
        page.run("return live.stopTalking();")
        page.page.wait_for_timeout(200)
        page.run("live.sendText('that was all')")  # which the service gets behind all of it
        page.run("until('TurnComplete')")
    sent = [key for frame in model.frames for key in frame.message.get("realtimeInput", {}) if key != "audio"]
    assert sent == ["activityStart", "activityEnd"]


def test_a_button_that_is_held_while_the_connection_breaks_is_off_when_it_was_let_go(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        page.run("live.on('state', ({ state }) => button.disabled = state !== 'ready');")
        page.run("live.connect()")
        press(page)
        page.wait("told.some(({ sending }) => sending)")
        page.run("live.socket.close(3000);")
        page.wait("live.state === 'reconnecting'")
        page.page.mouse.up()
        page.wait("live.state === 'ready'")
        assert not page.run("live.sending")
        assert is_silent(model, page)


def test_an_open_microphone_stays_open_whatever_becomes_of_a_button(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        page.run("return live.openMicrophone();")
        press(page)
        page.page.mouse.up()
        page.run("window.dispatchEvent(new Event('blur'));")
        assert page.run("live.sending")
        assert goes_on(model, page)


@pytest.mark.parametrize(
    "open", ["live.openMicrophone()", "live.openVideo('camera')", "live.openVideo('screen')"]
)
def test_what_is_closed_before_it_was_open_is_closed(model, site, tab, open):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        page.run(
            "navigator.mediaDevices.getDisplayMedia = () => navigator.mediaDevices.getUserMedia({ video: true });"
        )
        page.run("live.connect()")
        page.run(
            f"window.slow = 300; window.opening = {open}; live.closeMicrophone(); live.closeVideo(); return 1;"
        )
        page.run("return opening.then(() => 1);")
        page.page.wait_for_timeout(100)
        page.wait("tracks.every((track) => track.readyState === 'ended')")


def test_what_goes_wrong_is_told_by_the_event(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(BUTTON)
        page.run(
            "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));"
        )
        press(page)
        page.wait("told.length > 0")
        page.page.mouse.up()
        assert page.run("told[0].reason").startswith("the microphone was not allowed")
