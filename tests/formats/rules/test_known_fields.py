"""No unknown names, in either casing."""

from __future__ import annotations

from livetools.formats.rules.findings import Checklist, Spot
from livetools.formats.rules.known_fields import check_fields


def test_unknown_names_are_found_and_the_usual_mistakes_are_put_right():
    todo = Checklist()
    assert not check_fields(
        {"will_continue": 1, "callId": 2, "x": 3}, Spot("$", "a"), ("willContinue",), todo, {"callId": "id"}
    )
    assert [(f.path, f.fix) for f in todo.findings] == [
        ("$.callId", "Call it id."),
        ("$.x", "Remove it, or spell it as the API does."),
    ]
    assert todo.findings[1].service_text.endswith("Unknown name \"x\" at 'a': Cannot find field.")


def test_an_object_without_keys_keeps_the_rule():
    todo = Checklist()
    assert check_fields({}, Spot(), (), todo)
    assert todo.report("x").held == ("unknown-field",)
