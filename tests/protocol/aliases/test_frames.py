"""Programs outside import the parser of server messages by a short name."""

from __future__ import annotations

from importlib import import_module

from livetools.protocol.messages import incoming


def test_the_parser_is_found_by_its_short_name() -> None:
    assert import_module("livetools.protocol.frames").parse is incoming.parse
