"""Whatever a client sends, a server that forgives stands."""

from __future__ import annotations

import random

import pytest

from livetools.testing import FakeLiveServer
from livetools.testing.messages.client_schema import ENUMS, MESSAGES

pytestmark = pytest.mark.anyio

VALUES = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "text",
    "AAAA",
    [],
    [1],
    {},
    {"text": "a"},
    {"data": "AAAA", "mimeType": "audio/pcm"},
]


def frame(chance, type_="ClientMessage", depth=0):
    """A frame that is nearly right: each field has its type or another."""
    if type_ not in MESSAGES or depth > 6:
        return chance.choice([*VALUES, *sorted(ENUMS.get(type_, ()))])
    result = {}
    for field in chance.sample(sorted(MESSAGES[type_]), min(len(MESSAGES[type_]), chance.randint(0, 3))):
        known = MESSAGES[type_][field]
        value = frame(chance, known.type, depth + 1) if chance.random() < 0.8 else chance.choice(VALUES)
        result[field] = [value] if known.repeated and chance.random() < 0.8 else value
    return result


@pytest.mark.parametrize("seed", range(4))
async def test_no_frame_of_a_client_fells_a_server_that_forgives(dial, seed):
    chance = random.Random(seed)
    async with FakeLiveServer(strict=False) as server:
        for _ in range(20):
            async with dial(server, model=None) as client:
                setup = frame(chance, "Setup") | {"model": "models/gemini-3.8-live"}
                await client.send({"setup": setup}, *[frame(chance) for _ in range(20)])
                await client.until("setupComplete")
        async with dial(server) as client:
            await client.say("still there?")
            await client.until("turnComplete")
