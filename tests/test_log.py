"""An entry of the log is one line, whoever wrote the words in it."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

import livetools
from livetools import SessionClosed, tool
from livetools.log import escaped, get_logger
from livetools.testing import FakeLiveServer

EVIL = "x\nCRITICAL:root:all is lost"


def test_a_line_break_in_a_value_begins_no_entry(caplog):
    log = get_logger("livetools.test")
    with caplog.at_level(logging.INFO, "livetools.test"):
        log.info("%s ended: %s", "add", SessionClosed(1011, EVIL, "idle"))
        log.info("nothing to escape: %d", 7)
    assert "\n" not in caplog.text.rstrip("\n").rpartition("\n")[0]
    assert r"x\u000aCRITICAL:root:all is lost" in caplog.messages[0]
    assert caplog.messages[1] == "nothing to escape: 7"


def test_one_logger_is_made_once():
    assert get_logger("livetools.test") is get_logger("livetools.test")
    assert len(get_logger("livetools.test").filters) == 1


@given(st.text())
def test_escaped_text_is_one_line_that_can_be_printed(text):
    line = escaped(text)
    assert line.isprintable()
    line.encode()
    assert (line == text) == text.isprintable()


@pytest.mark.anyio
async def test_the_words_of_the_service_stay_on_their_line(caplog):
    @tool
    async def add(a: int = 0) -> int:
        return a

    async with FakeLiveServer() as server:

        @server.model
        async def model(turn):
            call = {"id": EVIL, "name": "add", "args": {"a": EVIL}}
            await turn.send({"toolCall": {"functionCalls": [call]}})
            await turn.send({"toolCall": {"functionCalls": [{**call, "id": "c2", "name": EVIL}]}})
            await turn.send({"toolCallCancellation": {"ids": [EVIL]}})
            await turn.close(1011, EVIL)

        with caplog.at_level(logging.DEBUG, "livetools"), pytest.raises(livetools.LiveToolsError):
            async with livetools.connect(
                "gemini-3.8-live", tools=[add], reconnect=False, **server.options
            ) as session:
                await session.ask("go")
    ours = [record for record in caplog.records if not record.name.startswith("livetools.testing")]
    assert ours
    assert not [record for record in ours if not record.getMessage().isprintable()]
