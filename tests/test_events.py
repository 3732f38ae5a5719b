"""Events: frozen, slim, made to be matched on."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import pytest

from livetools import events
from livetools.events import AudioChunk, Call, Event, SessionStarted, ToolFinished, Usage, VideoChunk, Word

KINDS: tuple[type[Any], ...] = get_args(Event)


def test_every_event_of_the_module_is_in_the_union() -> None:
    here = {kind for kind in vars(events).values() if dataclasses.is_dataclass(kind)}
    assert set(KINDS) == here - {Call, Usage, Word}


@pytest.mark.parametrize("kind", [*KINDS, Call, Usage, Word])
def test_each_is_frozen_slotted_and_matched_by_position(kind: type[Any]) -> None:
    assert kind.__dataclass_params__.frozen
    assert not hasattr(kind, "__dict__") or "__slots__" in vars(kind)
    assert kind.__match_args__ == tuple(f.name for f in dataclasses.fields(kind))


def test_an_event_is_matched_with_its_call() -> None:
    match ToolFinished(Call("c1", "f", {"n": 1}), {"output": 2}, None, 0.5):
        case ToolFinished(call=Call(name=name, args={"n": n}), response=response):
            assert (name, n, response) == ("f", 1, {"output": 2})
        case _:
            pytest.fail("not matched")


def test_the_bytes_of_speech_are_not_printed() -> None:
    assert repr(AudioChunk(b"\0" * 960)) == "AudioChunk(data=<960 bytes>, rate=24000)"
    assert repr(VideoChunk(b"\0" * 9, "video/mp4")) == "VideoChunk(data=<9 bytes>, mime_type='video/mp4')"


def test_the_signature_of_a_consent_is_not_printed() -> None:
    assert "secret" not in repr(SessionStarted("s1", "secret"))


def test_usage_adds_up_and_drops_the_details() -> None:
    total = Usage(1, 2, 3, 4, 5, 6, raw={"x": 1}) + Usage(10, 20, 30, 40, 50, 60)
    assert total == Usage(11, 22, 33, 44, 55, 66)
