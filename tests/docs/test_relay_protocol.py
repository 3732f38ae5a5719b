"""docs/relay-protocol.md says what the relay does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from livetools import events
from livetools.integrations.relay import limits, messages, page, typescript
from livetools.integrations.shared import closing, sound_ahead

TEXT = (Path(__file__).parents[2] / "docs" / "relay-protocol.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
EXAMPLES = [json.loads(text) for block in BLOCKS for text in re.split(r"\n(?=\{)", block.strip())]
OWN = {get_args(get_type_hints(kind)["type"])[0]: kind for kind in get_args(messages.PageMessage)}
COMMANDS = {get_args(kind.model_fields["type"].annotation)[0]: kind for kind in get_args(messages.Command)}


@pytest.mark.parametrize("name", [*OWN, *COMMANDS])
def test_every_message_is_told_of_with_its_fields(name):
    fields = get_type_hints(OWN.get(name) or COMMANDS[name])
    rows = [line for line in TEXT.splitlines() if f"`{name}`" in line]
    shown = " ".join([*rows, *(str(example) for example in EXAMPLES if example["type"] == name)])
    assert rows
    assert not [field for field in fields if field not in ("type", "model_config") and field not in shown]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["type"])
def test_its_examples_are_messages(example: dict[str, Any]):
    kind = example["type"]
    if kind in COMMANDS:
        assert messages.read_command(json.dumps(example))
    elif kind in OWN:
        assert set(example) == set(get_type_hints(OWN[kind]))
    else:
        event = getattr(events, kind)
        beside = {name for told, (name, _) in typescript.MORE.items() if told is event}
        assert set(example) - {"type", "seq", "at"} == {*event.__dataclass_fields__, *beside}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (limits.MAX_AUDIO, "a binary message | 1 MiB (32 s)"),
        (limits.MAX_MESSAGE / 4, "a JSON message | 4 Mi characters"),
        (limits.MAX_TEXT * 16, "a typed text | 64 Ki characters"),
        (limits.MAX_PICTURE / 2, "a picture | 2 MiB"),
        (limits.MAX_EVENTS, "come back | 1 Mi characters"),
        (limits.MAX_MEDIA / 8, "has not received | 8 MiB (3 min)"),
        (limits.MAX_EVENT * 4, "more than 256 KiB"),
    ],
)
def test_its_limits_are_those_of_the_code(value, words):
    assert value == 2**20
    assert words in TEXT.replace("comes back", "come back")


def test_its_counts_and_codes_are_those_of_the_code():
    assert f"faster than it plays | {sound_ahead.MAX_AHEAD:g} s" in TEXT
    assert f"sent to the model | {limits.MAX_TEXTS} |" in TEXT
    assert f"has not read | {limits.MAX_NOTICES} |" in TEXT
    assert f"does not read at all | {limits.WRITE_TIMEOUT:g} s" in TEXT
    for code in (
        page.NOT_A_RESUME,
        page.TOO_SLOW,
        page.REPLACED_BY_PAGE,
        closing.TRY_AGAIN,
        closing.SERVER_STOPS,
    ):
        assert f"| {code} |" in TEXT
