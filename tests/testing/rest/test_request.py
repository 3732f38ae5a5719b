"""A turn that came by REST: what only a socket can do does nothing."""

from __future__ import annotations

import pytest

from livetools.testing import FakeLiveServer
from livetools.testing.rest.http import HttpError
from livetools.testing.rest.request import RestChannel

pytestmark = pytest.mark.anyio

HELLO = [
    {"role": "user", "parts": [{"text": "hello"}, {"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]}
]


async def run(model, contents=HELLO):
    parts = []

    async def emit(part):
        parts.append(part)

    await RestChannel(FakeLiveServer(model).service, {"contents": contents}, "gemini-2.5-flash").run(emit)
    return parts


async def test_the_model_hears_the_text_and_the_sound_and_need_not_know_where_it_is():
    heard = []

    async def model(turn):
        heard.append((turn.text, turn.audio))
        await turn.interrupt()
        await turn.go_away(1)
        await turn.send({"goAway": {}})
        await turn.cancel("x")
        await turn.fault("garbage")
        await turn.say("Hi.")

    assert await run(model) == [{"text": "Hi."}]
    assert heard == [("hello", b"\0\0\0")]


@pytest.mark.parametrize("way", ["close", "drop"])
async def test_an_end_of_the_line_is_an_error_of_the_service(way):
    async def model(turn):
        await getattr(turn, way)()

    server = FakeLiveServer(model)
    with pytest.raises(HttpError) as caught:
        await RestChannel(server.service, {"contents": HELLO}, "gemini-2.5-flash").run(None)
    assert caught.value.status == 500
    server.assert_all_answered()


async def test_calls_that_were_started_together_are_answered_together():
    async def model(turn):
        ids = [await turn.start_call("f", n=n) for n in (1, 2)]
        await turn.say(" and ".join([str((await turn.answer(id))["output"]) for id in ids]))

    parts = await run(model)
    calls = [part["functionCall"] for part in parts]
    assert [call["args"] for call in calls] == [{"n": 1}, {"n": 2}]
    answers = [
        {"functionResponse": {"id": c["id"], "name": "f", "response": {"output": c["args"]["n"]}}}
        for c in calls
    ]
    contents = [*HELLO, {"role": "model", "parts": parts}, {"role": "user", "parts": answers}]
    assert await run(model, contents) == [{"text": "1 and 2"}]
