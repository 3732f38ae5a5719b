"""docs/generate.py: what the documentation takes from the code is what the code says."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import sys
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest

import livetools
from livetools.evals.simulation.client_faults import ClientFault
from livetools.protocol.calls import call_states
from livetools.protocol.connection import close_codes
from livetools.setup import model_profiles
from livetools.testing import Faults

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(DOCS))


def test_the_pages_are_up_to_date(generate):
    stale = [str(path.relative_to(DOCS)) for path in generate.stale()]
    assert not stale, "the code has changed: run `make docs-pages`, and commit what it writes"


def test_a_page_that_is_not_up_to_date_is_found(generate, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# Errors\n\n<!-- generated: error-tree -->\nold\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    monkeypatch.setattr(generate.generate_models, "pages", dict)
    monkeypatch.setattr(generate.generate_diagrams, "pictures", dict)
    assert list(generate.stale()) == [page]
    assert "ToolTimeout" in generate.stale()[page]


def test_every_family_has_a_page_with_its_names_and_evidence(generate):
    pages = generate.generate_models.pages()
    for name in model_profiles.families():
        family = model_profiles.find(name).family
        page = pages[f"models/{generate.generate_models.slug(family)}.md"]
        assert f"`{name}…`" in page
        assert page.startswith(f"# {family}\n")
    assert "adk#5018" in pages["models/gemini-3.1-flash-live.md"]
    assert (
        "2026-09-19" in pages["models/gemini-3.8-live-extended-thinking.md"]
    )  # of the profile it is made from


def test_every_reason_and_code_of_a_close_has_a_row(generate):
    text = generate.generate_tables.reason_table() + generate.generate_tables.close_table()
    assert [t for rule in close_codes.CLOSE_RULES for t in rule.texts if f"… {t} …" not in text] == []
    assert all(f"| {code} |" in text for code in (1000, 1006, 1007, 1011))


def test_every_error_and_event_has_a_row(generate):
    text = generate.generate_tables.error_table() + generate.generate_tables.event_table()
    told = set(re.findall(r"\[livetools\.(\w+)\]", text))
    public = {n for n in livetools.__all__ if isinstance(getattr(livetools, n), type)}
    errors = {n for n in public if issubclass(getattr(livetools, n), Exception)}
    assert errors <= told <= public


def test_every_fault_that_can_be_switched_on_has_a_row_that_says_what_happens(generate):
    lines = generate.generate_tables.fault_table().splitlines()[2:]
    assert [line.split("`")[1] for line in lines] == [field.name for field in dataclasses.fields(Faults)]
    assert "| `drop` | a share of the frames, from 0 to 1 | The line is cut before the frame |" in lines
    assert [line for line in lines if line.endswith("|  |")] == []
    kinds = generate.generate_tables.eval_fault_table()
    assert [kind.__name__ for kind in get_args(ClientFault) if f"| `{kind.__name__}(" not in kinds] == []


def test_every_move_of_a_table_of_states_is_shown(generate):
    text = generate.generate_tables.state_tables()
    assert {"calls"} <= set(generate.generate_tables.machines())
    for module in generate.generate_tables.machines().values():
        for state, move in module.TABLE:
            assert state.name in text
            assert f"**{move.name}**" in text
    [lose] = [
        line
        for line in text.splitlines()
        if line.startswith(f"| **{call_states.Move.LOSE.name}**") and "DETACHED" in line
    ]
    assert "**DETACHED**: lost" in lose
    assert "**DONE**: lost, deliver" in lose


def test_every_event_and_effect_of_a_table_of_states_says_what_it_means(generate):
    for module in generate.generate_tables.machines().values():
        kinds = {type(move) for _, move in module.TABLE}
        kinds |= {
            type(effect)
            for _, effects in generate.generate_tables.moves(module).values()
            for effect in effects
        }
        for kind in kinds:
            shown = generate.generate_tables.members(module, kind)
            assert [name for name in kind.__members__ if f"| `{name}` | " not in shown] == [], kind


def test_every_number_of_the_protocol_and_the_session_says_what_it_means(generate):
    lines = generate.generate_tables.number_table().splitlines()[2:]
    assert [line for line in lines if line.endswith("|  |")] == []
    assert (
        "| `LATEST` | `0.8` | `protocol/connection/dials_and_moves.py` | The share of the time left "
        in "\n".join(lines)
    )


def test_a_number_is_found_with_the_comment_above_beside_or_below_it(generate):
    source = "#: Seconds\n#: of rest.\nREST: Final = 2 * 3\nA, B = 1, 2.5  # both\nC = 3\n'below'\nD = [4]\n_E = 5\n"
    assert generate.generate_tables.numbers(source) == [
        ("`REST`", "`2 * 3`", "Seconds of rest."),
        ("`A`, `B`", "`1`, `2.5`", "both"),
        ("`C`", "`3`", "below"),
    ]


def test_the_index_for_language_models_has_a_sentence_for_each_page(generate):
    lines = [line for line in generate.generate_site.llms(DOCS).splitlines() if line.startswith("- [")]
    assert len(lines) == len(
        generate.generate_site.pages(DOCS)
    )  # the reference in one file, not the first page
    assert not [line for line in lines if line.endswith(": ")]


def test_the_reference_in_one_file_has_every_public_name(generate):
    text = generate.generate_site.reference()
    assert [name for name in livetools.__all__ if f"### {name}\n" not in text] == []
    assert "#### Session.ask(" in text
    assert "#### Turn.start_call(" in text
    assert "#### Session.send_audio(" in text
    assert "_pump" not in text


def test_the_pictures_of_the_tables_have_every_state_and_every_move(generate):
    pictures = generate.generate_diagrams.state_pictures()
    assert sorted(pictures) == [
        "states-calls.svg",
        "states-connection.svg",
        "states-turns.svg",
    ]
    for name, module in generate.generate_tables.machines().items():
        picture = pictures[f"states-{name}.svg"]
        words = {
            word for text in re.findall(r">([^<>]+)</text>", picture) for word in re.findall(r"\w+", text)
        }
        known = {entry.name for pair in module.TABLE for entry in pair}
        known |= {to.name for to, _ in generate.generate_tables.moves(module).values() if to is not None}
        assert words == known, name


def test_a_move_that_changes_is_another_picture(generate, monkeypatch):
    before = generate.generate_diagrams.state_pictures()["states-calls.svg"]
    key = (call_states.CallState.SENT, call_states.Move.HEARD)
    monkeypatch.setitem(call_states.TABLE, key, (call_states.CallState.VOID, call_states.TABLE[key][1]))
    assert generate.generate_diagrams.state_pictures()["states-calls.svg"] != before


def test_the_house_shows_the_imports_and_none_against_their_direction(generate):
    """An arrow leads to the left: rooms stand in the order in which they may import."""
    picture = generate.generate_diagrams.house()
    arrows = re.findall(r'd="M([\d.]+) \d+H([\d.]+)"', picture)
    assert len(arrows) > 10
    assert all(float(to) < float(of) for of, to in arrows)


def test_pictures_are_whole_and_load_nothing(generate):
    for name, text in generate.generate_diagrams.pictures().items():
        root = ElementTree.fromstring(text)
        assert root.find("{http://www.w3.org/2000/svg}title").text, name
        assert re.findall(r"(?:href|src|@import|url\((?!#a\)))", text) == [], name


def test_a_module_of_the_picture_of_a_call_that_is_gone_is_named(generate, monkeypatch):
    monkeypatch.setattr(generate.generate_diagrams, "find_spec", lambda name: None)
    with pytest.raises(LookupError, match="transport/on_asyncio"):
        generate.generate_diagrams.call()
