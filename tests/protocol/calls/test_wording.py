"""What a call is answered when nothing else answers it: in words that a model can act on."""

from __future__ import annotations

from typing import Any

import pytest
from support.answered import record, said

from livetools.errors import ToolTimeout
from livetools.events import Call
from livetools.protocol.calls import wording
from livetools.protocol.calls.call_states import Phase, Record
from livetools.protocol.calls.driver_actions import Outcome
from livetools.setup.plan_fields import CallPolicy


def test_a_refusal_carries_its_reason() -> None:
    assert said(wording.not_approved("too dear")) == "the call was not approved: too dear"
    assert said(wording.not_approved("")) == "the call was not approved"


def test_a_timeout_says_how_long_and_of_what() -> None:
    late = wording.expired(record("get_weather", phase=Phase.HANDLER))
    assert said(late) == "timed out after 2.5 s"
    assert isinstance(late.error, ToolTimeout)
    assert "nobody decided within 9 s" in said(wording.expired(record("get_weather", phase=Phase.APPROVAL)))


NOTE = "this model does not read {} in a function response: it was left out"


@pytest.mark.parametrize(
    ("parts", "unread"),
    [
        ((), ""),
        (({"inlineData": {"mimeType": "image/png"}},), ""),
        (({"inlineData": {"mimeType": "application/pdf"}},), "application/pdf"),
        (({"fileData": {"mimeType": "video/mp4"}}, {"inlineData": {"mimeType": "image/png"}}), "video/mp4"),
    ],
)
def test_media_that_the_model_does_not_read_is_named_and_left_out(parts: Any, unread: str) -> None:
    done = Outcome({"output": 1}, parts=parts, result=7)
    found = wording.without_unread(done, frozenset({"image/png"}))
    assert found.response.get("note", "") == (unread and NOTE.format(unread))
    assert found.response["output"] == 1
    assert len(found.parts) == len(parts) - bool(unread)
    assert found.result == 7, "undo still gets what was done"


def ended(args: dict[str, Any], response: dict[str, Any], background: bool) -> Record:
    made = Record(1, Call("c", "book", args), CallPolicy("book", background=background), 1, 0.0)
    made.outcome = Outcome(response)
    return made


def test_a_late_result_says_what_was_asked_and_why_it_comes_now() -> None:
    late = wording.late_result(ended({"day": "Freitag"}, {"output": "für zwei"}, background=False), "output")
    assert late == (
        '[Result of book({"day": "Freitag"}), asked for before the connection was replaced: '
        '{"output": "für zwei"}]'
    )
    assert "replaced" not in wording.late_result(ended({}, {}, background=True), "output")


def test_the_word_that_a_call_is_under_way_asks_not_to_call_again() -> None:
    assert "Do not call it again" in wording.under_way("job")
