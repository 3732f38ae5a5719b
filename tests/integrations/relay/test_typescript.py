"""The TypeScript of the messages is that of the Python classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from livetools import events
from livetools.integrations.relay import messages
from livetools.integrations.relay.typescript import module, typescript
from livetools.web import BUILT

SOURCE = BUILT.with_name("src") / "messages.ts"


def test_the_types_of_the_client_are_those_of_the_classes() -> None:
    assert SOURCE.read_text(encoding="utf-8") == module(), "stale: run `make web`"


def test_every_event_has_a_type_but_those_that_stay_here() -> None:
    text = module()
    for kind in get_args(events.Event):
        assert (f'type: "{kind.__name__}";' in text) == (kind not in messages.NOT_SENT)


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (int | None, "number | null"),
        (tuple[str, ...], "Array<string>"),
        (dict[str, list[bool]], "Record<string, Array<boolean>>"),
        (events.Call, "Call"),
    ],
)
def test_an_annotation_in_typescript(hint, text):
    assert typescript(hint) == text


def test_what_has_no_place_in_a_message_is_an_error() -> None:
    kind: Any = Callable[[], int]
    with pytest.raises(TypeError, match="no TypeScript"):
        typescript(kind)
