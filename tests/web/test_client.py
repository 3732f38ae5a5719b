"""The client of a page, in a real browser."""

from __future__ import annotations

PCM = b"\x00\x20" * 24000 * 3  # three seconds that are loud all along


def test_a_typed_question_is_answered_and_heard(model, site, tab):
    @model.model
    async def answer(turn):
        weather = await turn.call("get_weather", city=turn.text)
        await turn.say(f"It is {weather['output']}.", audio=PCM)

    with site() as address:
        page = tab(address)
        ready = page.run("live.connect()")
        assert ready["tools"] == ["get_weather", "delete_all"]
        page.run("live.sendText('Oslo')")
        assert page.run("until('OutputTranscript')")["text"] == "It is 12 °C, rain."
        page.page.wait_for_function("live.levels().output > 0.1")
        assert page.run("live.pending") > 1
        page.run("return live.end();")
    assert page.run("states") == ["connecting", "ready", "ended"]
