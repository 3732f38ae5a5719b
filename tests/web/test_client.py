"""The client of a page, in a real browser."""

from __future__ import annotations

import math
import threading
import time

import anyio.to_thread
import numpy
import pytest

from livetools import Tool, ToolResult

LOUD = b"\x00\x20" * 24000 * 3  # three seconds that are loud all along


def tone_of(pcm: bytes, rate: int = 16000) -> float:
    """The frequency that is strongest, in Hz."""
    samples = numpy.frombuffer(pcm, "<i2")
    return float(numpy.abs(numpy.fft.rfft(samples)).argmax()) * rate / len(samples)


def test_a_typed_question_is_answered_and_heard(model, site, tab):
    @model.model
    async def answer(turn):
        weather = await turn.call("get_weather", city=turn.text)
        await turn.say(f"It is {weather['output']}.", audio=LOUD)

    with site() as address, tab(address) as page:
        ready = page.run("live.connect()")
        assert ready["tools"] == ["get_weather", "delete_all"]
        page.run("live.sendText('Oslo')")
        assert page.run("until('OutputTranscript')")["text"] == "It is 12 °C, rain."
        page.wait("live.levels().output > 0.1")
        assert page.run("live.pending") > 1
        page.run("return live.end();")
        assert page.run("states") == ["connecting", "ready", "ended"]


def test_an_interruption_is_silence_within_a_tenth_of_a_second(model, site, tab):
    """By the page's own clock, from the message on the wire to the last sound, as an analyser behind it hears it."""

    loud = threading.Event()

    @model.model
    async def answer(turn):
        if turn.text == "Tell me.":
            await turn.say("A long story.", audio=LOUD * 10)
            await anyio.to_thread.run_sync(loud.wait)
            await turn.interrupt()  # only sends: the page is told as if somebody had cut in
        else:
            await turn.say("Yes?", audio=LOUD)

    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run(
            """
            const probe = live.player.context.createAnalyser();
            probe.fftSize = 32;  // a millisecond
            live.player.meter.node.connect(probe);
            const samples = new Float32Array(probe.fftSize);
            live.socket.addEventListener("message", ({ data }) => {
              if (typeof data !== "string" || !data.includes('"Interrupted"')) return;
              const came = performance.now();
              const look = () => {
                probe.getFloatTimeDomainData(samples);
                if (samples.some((sample) => sample !== 0)) setTimeout(look, 1);
                else window.silence = performance.now() - came;
              };
              look();
            }, { capture: true });  // before the client hears of it
            return 1;
            """
        )
        for _ in range(10):  # on a busy machine the page itself may be late
            page.run("window.silence = undefined; return live.sendText('Tell me.');")
            page.wait("live.levels().output > 0.1")
            loud.set()
            page.wait("window.silence !== undefined")
            loud.clear()
            if page.run("silence") < 100:
                break
        assert 0 < page.run("silence") < 100
        assert page.run("live.pending") == 0
        page.run("live.sendText('Hello?')")
        page.wait("live.levels().output > 0.1")  # what is said next is heard


@pytest.mark.parametrize("who_listens", ["the service", "the page"])
def test_push_to_talk_is_heard_at_16_khz_from_where_the_button_was_pressed_to_where_it_was_let_go(
    model, site, tab, who_listens
):
    heard = []

    @model.model
    async def answer(turn):
        heard.append(turn.audio)
        await turn.say("I heard you.")

    # the pretend microphone is silent every half second: that is not the end of what it says
    detection = {"disabled": who_listens == "the page", "silence_duration_ms": 3000}
    detection = {"realtime_input_config": {"automatic_activity_detection": detection}}
    with site(config=detection) as address, tab(address) as page:
        page.run("live.connect()")
        page.run("return live.startTalking();")
        page.run("window.pressed = performance.now();")
        page.wait("live.levels().input > 0.05")
        page.page.wait_for_timeout(900)
        held = page.run("return live.stopTalking().then(() => (performance.now() - pressed) / 1000);")
        page.run("until('TurnComplete')")
        page.wait("live.levels().input > 0.05")  # it is on, and nothing goes out
        page.run("return live.closeMicrophone();")
        assert page.run("live.levels().input") == 0
    assert len(heard) == 1
    assert 0.7 < len(heard[0]) / 32000 < held + 0.5
    assert math.isclose(tone_of(heard[0]), 440, rel_tol=0.05)


def test_a_button_that_is_let_go_before_the_microphone_is_there_sends_nothing(model, site, tab):
    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("const pressed = live.startTalking(); await live.stopTalking(); return pressed;")
        assert not page.run("live.sending")
        page.page.wait_for_timeout(200)
    assert not [frame for frame in model.frames if "realtimeInput" in frame.message]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "NotAllowedError",
            "the microphone was not allowed: allow it in the browser's settings for this page",
        ),
        ("NotFoundError", "no microphone was found"),
        ("NotReadableError", "the microphone cannot be used: another program may have it"),
    ],
)
def test_a_browser_that_gives_no_microphone_is_put_in_words_and_the_rest_goes_on(
    model, site, tab, name, words
):
    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run(f"""
          const refuse = () => Promise.reject(new DOMException("", "{name}"));
          navigator.mediaDevices.getUserMedia = refuse;
          return 1;
        """)
        assert page.run("return await live.openMicrophone().catch(String);") == f"LiveError: {words}"
        assert not page.run("live.sending")
        page.run("live.sendText('Hello')")
        page.run("until('TurnComplete')")


def test_a_farewell_is_heard_to_its_end_though_the_session_is_over(model, site, tab):
    def hang_up() -> ToolResult:
        """End the conversation."""
        return ToolResult("bye", ends_session=True)

    @model.model
    async def answer(turn):
        await turn.call("hang_up")
        await turn.say("Goodbye.", audio=LOUD)

    with site(tools=[hang_up]) as address, tab(address) as page:
        page.run("live.connect()")
        page.run("live.sendText('Bye')")
        assert page.run("until('ended')")["error"] is None
        page.wait("live.state === 'ended'")
        page.wait("live.levels().output > 0.1")
        assert page.run("live.pending") > 1


def test_a_call_is_approved_and_another_refused(model, site, tab):
    @model.model
    async def answer(turn):
        await turn.say(str(await turn.call("delete_all", what=turn.text)))

    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("live.on('ApprovalRequested', ({ call }) => call.args.what === 'files'"
                 " ? live.approve(call.id) : live.refuse(call.id, 'not today'));")  # fmt: skip
        page.run("live.sendText('files')")
        assert page.run("until('ToolFinished', 1)")["response"] == {"output": "no files left"}
        page.run("until('TurnComplete', 1)")
        page.run("live.sendText('photos')")
        assert "not today" in str(page.run("until('ToolFinished', 2)")["response"])
        page.run("until('TurnComplete', 2)")


def test_a_function_runs_in_the_page(model, site, tab):
    @model.model
    async def answer(turn):
        await turn.say(str(await turn.call("show_map", place=turn.text)))

    show_map = Tool({"name": "show_map", "description": "Show a map.", "parameters": {"type": "OBJECT"}})
    with site(tools=[show_map]) as address, tab(address) as page:
        ready = page.run("live.connect()")
        assert ready["declared_only"] == ["show_map"]
        page.run(
            """live.on("ToolStarted", ({ call }) => {
              if (call.name === "show_map") {
                const place = call.args.place;
                live.respond(call.id, place === "Atlantis" ? new Error("there is no map of it") : { shown: place });
              }
            }); return 1;"""
        )
        for number, (place, told) in enumerate(
            [("Oslo", {"output": {"shown": "Oslo"}}), ("Atlantis", {"error": "there is no map of it"})], 1
        ):
            page.run(f"live.sendText('{place}')")
            assert page.run(f"until('ToolFinished', {number})")["response"] == told
            page.run(f"until('TurnComplete', {number})")


def test_a_lost_line_is_found_again_with_what_was_said_and_typed_meanwhile(model, site, tab):
    @model.model
    async def answer(turn):
        await turn.say(f"You said {turn.text}.")

    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("live.sendText('one')")
        page.run("until('TurnComplete')")
        page.run("live.socket.close(3000)")  # as if the line had broken
        page.wait("live.state === 'reconnecting'")
        page.run("live.sendText('two')")
        page.run("until('TurnComplete', 2)")
        told = page.messages()
    assert [message["text"] for message in told if message["type"] == "user_text"] == ["one", "two"]
    numbers = [message["seq"] for message in told if message["type"] != "ready"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(told) == len(numbers) + 2
    assert len(model.sessions) == 1


def test_a_reload_goes_on_and_a_new_tab_begins_anew(model, site, tab):
    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("live.sendText('one')")
        page.run("until('TurnComplete')")
        page.page.reload()
        page.wait("window.live !== undefined")
        assert page.run("live.connect()")["resumed"]
        assert page.run("until('user_text')")["text"] == "one"
        assert page.run("messages.filter(({ replayed }) => replayed).length") > 2
        with tab(address) as other:
            assert not other.run("live.connect()")["resumed"]
    assert len(model.sessions) == 2


def test_the_camera_is_shown_a_frame_a_second(model, site, tab):
    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("return live.openVideo('camera').then(stream => stream.active);")
        page.run("window.on = performance.now();")
        deadline = time.monotonic() + 30
        while len(pictures(model)) < 3 and time.monotonic() < deadline:
            page.page.wait_for_timeout(50)
        seconds = page.run("live.closeVideo(); return (performance.now() - on) / 1000;")
        frames = pictures(model)
    assert 3 <= len(frames) <= seconds + 2
    assert frames[0]["mimeType"] == "image/jpeg"


def pictures(model):
    inputs = [frame.message.get("realtimeInput", {}) for frame in model.frames]
    return [each["video"] for each in inputs if "video" in each]


def test_without_a_server_there_is_a_clear_word(model, site, tab):
    with site() as address, tab(address) as page:
        told = page.run(
            "return await new LiveClient({ url: '/nowhere/', storage: null }).connect().catch(String);"
        )
        page.complaints.clear()  # the browser itself says that the websocket failed
    assert told == "LiveError: the server cannot be reached, or does not let this page in"
