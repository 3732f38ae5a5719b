"""The library's warnings as lines."""

from __future__ import annotations

import logging

from livetools.cli.show_warnings import WarningHandler, show_warnings


def test_a_warning_is_a_line_and_a_traceback_its_last_place(capsys):
    logger = logging.Logger("some")
    logger.addHandler(WarningHandler(logging.WARNING))
    logger.info("not this")
    logger.warning("%s is odd", "this")
    try:
        raise ValueError("broken")
    except ValueError:
        logger.exception("f (1)")
    first, second = capsys.readouterr().err.splitlines()
    assert first == "  ! this is odd"
    assert second.startswith(f"  ! f (1): {__file__}, line ")
    assert second.endswith("ValueError: broken")


def test_they_are_shown_once():
    show_warnings()
    show_warnings()
    handlers = [each for each in logging.getLogger("livetools").handlers if isinstance(each, WarningHandler)]
    assert len(handlers) == 1
