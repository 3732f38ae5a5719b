"""Places, in the document and as the service names them."""

from __future__ import annotations

from livetools.formats.rules.findings import Spot, camel, excerpt, member, snake


def test_a_place_is_written_in_both_tongues():
    spot = Spot("$", "contents")[2] / "parts"
    assert (spot.path, spot.wire) == ("$[2].parts", "contents[2].parts")
    spot = Spot() / "toolResponse" / "functionResponses"
    assert (spot.path, spot.wire) == (
        "$.toolResponse.functionResponses",
        "tool_response.function_responses",
    )
    assert (Spot() / "a b").path == '$["a b"]'


def test_both_casings_are_found():
    assert member({"function_call": 1}, "functionCall") == ("function_call", 1)
    assert member({"functionCall": 1}, "functionCall") == ("functionCall", 1)
    assert member({}, "functionCall") == ("functionCall", None)
    assert snake(camel("will_continue")) == "will_continue"


def test_an_excerpt_is_json_and_short():
    assert excerpt("text") == '"text"'
    assert len(excerpt("x" * 1000)) == 60
