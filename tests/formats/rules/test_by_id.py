"""The table of rules."""

from __future__ import annotations

import pytest

from livetools import formats


def test_every_rule_is_told_in_full():
    for id in formats.RULES:
        assert formats.RULES[id].fix in formats.explain(id)
    with pytest.raises(KeyError, match="response-count"):
        formats.explain("no-such-rule")


def test_texts_of_the_service_take_the_words_that_checks_give():
    for rule in formats.RULES.values():
        rule.says.format(path="contents[0]", at=" at 'contents[0]'", name="x", value="1")


def test_titles_are_statements_of_one_line():
    for rule in formats.RULES.values():
        assert len(rule.title) <= 90
        assert not rule.title.endswith(".")
