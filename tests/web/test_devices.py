"""Microphones, speakers and cameras by name; functions of the page; a connection that says nothing."""

from __future__ import annotations

import json

from livetools import Tool

MAP = {"name": "show_map", "description": "Show a map.", "parameters": {"type": "OBJECT"}}
WATCH = """
window.told = [];
for (const type of ["microphone", "video"]) live.on(type, (it) => told.push({ type, ...it, stream: null }));
window.tracks = [];
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await ask(wanted);
  tracks.push(...stream.getTracks());
  return stream;
};
window.device = (track) => track.getSettings().deviceId;
return 1;
"""


def test_a_microphone_is_chosen_while_one_is_open(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(WATCH)
        page.run("return live.openMicrophone();")
        known = page.run("live.microphones()")
        assert len(known) > 1
        assert all(each["id"] and each["label"] for each in known)
        first = page.run("device(tracks[0])")
        other = next(each["id"] for each in known if each["id"] not in (first, "default"))
        page.run(f"return live.useMicrophone({json.dumps(other)});")
        assert page.run("tracks.map((track) => [device(track), track.readyState])") == [
            [first, "ended"],
            [other, "live"],
        ]
        assert page.run("live.sending")
        assert page.run("live.useMicrophone('nowhere').catch(String)") == "LiveError: no microphone was found"
        page.run("return live.closeMicrophone().then(() => live.openMicrophone());")
        assert page.run("device(tracks.at(-1))") == other  # the one that was found


def test_a_microphone_that_is_unplugged_is_replaced_and_one_that_is_taken_away_is_not(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(WATCH)
        page.run("return live.openMicrophone();")
        page.run("""
            const gone = device(tracks[0]), media = navigator.mediaDevices, all = media.enumerateDevices.bind(media);
            media.enumerateDevices = () => all().then((list) => list.filter((it) => it.deviceId !== gone));
            tracks[0].dispatchEvent(new Event("ended"));
        """)
        page.wait("told.length > 1")
        unplugged = {"type": "microphone", "on": True, "sending": True, "stream": None}
        assert page.run("told.at(-1)") == unplugged | {
            "reason": "the microphone was unplugged: another one is used now"
        }
        page.run(
            "navigator.mediaDevices.enumerateDevices = "
            "async () => [{ kind: 'audioinput', deviceId: device(tracks[1]) }];"
        )
        page.run("tracks[1].dispatchEvent(new Event('ended'));")
        page.wait("told.length > 2")
        assert page.run("told.at(-1).reason") == "the microphone was taken away"
        assert not page.run("live.sending")


def test_a_camera_is_chosen_while_one_is_on(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(WATCH)
        page.run("live.connect()")
        page.run("return live.openVideo('camera').then(() => 1);")
        [camera, *_] = page.run("live.cameras()")
        page.run(f"return live.useCamera({json.dumps(camera['id'])});")
        assert page.run("tracks.map((track) => track.readyState)") == ["ended", "live"]
        assert [each["kind"] for each in page.run("told")] == ["camera", None, "camera"]


def test_speakers_are_listed_and_one_that_is_not_there_is_put_in_words(model, site, tab):
    with site() as address, tab(address) as page:
        page.run("return live.openMicrophone();")  # only then the browser names them
        assert isinstance(page.run("live.speakers()"), list)
        assert page.run("live.useSpeaker('nowhere').catch(String)").startswith("LiveError: ")
        page.run("return live.useSpeaker('');")


def test_audio_is_started_by_a_click_and_a_browser_that_never_starts_is_put_in_words(model, site, tab):
    with site() as address, tab(address) as page:
        assert not page.run("live.canPlay")
        page.run("window.heard = []; live.on('playback', ({ canPlay }) => heard.push(canPlay)); return 1;")
        page.run("return live.startAudio();")
        assert page.run("live.canPlay")
        page.wait("heard.join() === 'true'")
        page.run("return live.player.context.suspend();")
        page.wait("heard.join() === 'true,false'")
        page.run("live.player.context.resume = () => new Promise(() => {}); return 1;")
        assert page.run("live.startAudio().catch(String)").startswith(
            "LiveError: the browser does not start its audio: click on the page"
        )


def test_a_function_of_the_page_answers_and_fails_and_runs_once_though_the_page_was_away(model, site, tab):
    answers = []

    @model.model
    async def answer(turn):
        answers.append(await turn.call("show_map", city=turn.text))
        await turn.say("Done.")

    with site(tools=[Tool(MAP)]) as address, tab(address) as page:
        page.run("""
            window.ran = [];
            live.tool("show_map", async ({ city }, { call }) => {
              ran.push(call.name);
              if (city === "Atlantis") throw new Error("there is no Atlantis");
              if (city === "Oslo") { live.socket.close(3000); await new Promise((done) => setTimeout(done, 50)); }
              return { shown: city };
            });
        """)
        page.run("live.connect()")
        for count, city in enumerate(("Rome", "Atlantis", "Oslo"), 1):
            page.run(f"live.sendText('{city}')")
            page.run(f"until('TurnComplete', {count})")
        assert page.run("ran.length") == 3
    shown = [{"output": {"shown": city}} for city in ("Rome", "Oslo")]
    assert answers == [shown[0], {"error": "there is no Atlantis"}, shown[1]]


def test_a_function_that_waits_for_an_approval_runs_after_it(model, site, tab):
    @model.model
    async def answer(turn):
        await turn.say(str(await turn.call("show_map")))

    with site(tools=[Tool(MAP, approval=True, approval_timeout=9)]) as address, tab(address) as page:
        page.run("window.ran = 0; live.tool('show_map', () => ++ran); return 1;")
        page.run("live.connect()")
        page.run("live.sendText('go')")
        asked = page.run("until('ApprovalRequested')")
        assert asked["timeout"] == 9
        assert page.run("ran") == 0
        page.run(f"live.approve({json.dumps(asked['call']['id'])})")
        page.run("until('TurnComplete')")
        assert page.run("ran") == 1


def test_a_text_that_is_refused_is_given_back_and_one_that_is_accepted_waits_no_longer(model, site, tab):
    with site() as address, tab(address) as page:
        page.run(
            "window.back = []; live.on('rejected', ({ text, reason }) => back.push([text, reason])); return 1;"
        )
        page.run("live.connect()")
        told = page.run("try { live.sendText('x'.repeat(70_000)); } catch (error) { return String(error); }")
        assert told == "LiveError: a message has at most 65,536 characters: this one has 70,000"
        page.run("live.sendText('one'); return live.waiting.map(({ text }) => text);")
        page.run("until('user_text')")
        assert page.run("live.waiting") == []
        page.run("live.socket.close(3000); live.sendText('two'); return 1;")
        page.run("return live.end();")
        assert page.run("back") == [["two", "the page ended the session"]]


def test_a_connection_on_which_nothing_comes_is_opened_again(model, site, tab):
    """The page's clock jumps in place of waiting: what came is old then, and nothing new comes."""
    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("live.sendText('one')")
        page.run("until('TurnComplete')")
        page.wait("live.quality !== null")
        page.run("""
            window.seen = [];
            live.on("state", ({ state, reason }) => seen.push([state, reason]));
            live.socket.onmessage = () => {};  // a hole: it swallows what comes
            const now = performance.now.bind(performance), began = now();
            performance.now = () => began + (now() - began) * 4;
        """)
        page.wait("seen.length > 0")
        state, reason = page.run("seen[0]")
        assert state == "reconnecting"
        assert reason.startswith("nothing has come for 1")
        page.run("delete performance.now; return 1;")
        page.wait("live.state === 'ready'")
    assert len(model.sessions) == 1


def test_a_tab_that_was_duplicated_has_a_session_of_its_own(model, site, tab):
    with site() as address, tab(address) as page:
        page.run("live.connect()")
        page.run("live.sendText('one')")
        page.run("until('TurnComplete')")
        with page.page.context.expect_page() as opened:
            page.run("window.open(location.href); return 1;")
        other = opened.value
        other.wait_for_load_state()
        assert not other.evaluate("live.connect().then(({ resumed }) => resumed)")
        assert page.run("live.state") == "ready"
        other.close()
        page.page.reload()
        page.wait("window.live !== undefined")
        assert page.run("live.connect()")["resumed"]
    assert len(model.sessions) == 2


def test_an_effect_of_react_that_runs_twice_leaves_one_session(model, site, tab):
    """In its strict mode, React runs an effect, its cleanup, and the effect again."""
    with site() as address, tab(address) as page:
        page.run("""
            const effect = () => {
              const live = (window.live = new LiveClient());
              live.connect();
              return () => live.disconnect();
            };
            const cleanup = effect();
            cleanup();
            effect();
        """)
        page.wait("live.state === 'ready'")
        page.run("return live.openMicrophone();")
        assert page.run("live.sending")
