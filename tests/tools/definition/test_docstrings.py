"""A docstring, taken apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

from livetools.tools.definition.docstrings import Described, read

GOOGLE = """Books a table.

It may take a while.

Args:
    table: which one,
        counted from the door
    guests (int): how many
    **wishes: anything else

Returns:
    The number of the booking.

Raises:
    ToolError: the table is taken

Note:
    Call it once.
"""

NUMPY = """Books a table.

It may take a while.

Parameters
----------
table : int
    which one,
    counted from the door
guests
    how many
**wishes
    anything else

Returns
-------
int
    The number of the booking.

Raises
------
ToolError
    the table is taken
"""

SPHINX = """Books a table.

It may take a while.

:param table: which one,
    counted from the door
:param int guests: how many
:type table: int
:param wishes: anything else
:returns: The number of the booking.
:raises ToolError: the table is taken
"""

ARGUMENTS = {
    "table": "which one, counted from the door",
    "guests": "how many",
    "wishes": "anything else",
}
TEXT = "Books a table.\n\nIt may take a while."
OUTCOME = "Returns: The number of the booking.\n\nRaises: ToolError: the table is taken"


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_arguments_and_description_are_told_apart(docstring: str) -> None:
    described = read(docstring)
    assert described.arguments == ARGUMENTS
    assert described.text.startswith(f"{TEXT}\n\n{OUTCOME}")


def test_other_sections_stay_in_the_description() -> None:
    assert read(GOOGLE).text.endswith("Note: Call it once.")


def test_examples_stay_in_the_description() -> None:
    text = read("Adds.\n\nArgs:\n    x: one\n\nExamples:\n    >>> add(1)\n    2\n").text
    assert text == "Adds.\n\nExamples:\n>>> add(1)\n2"


@pytest.mark.parametrize("docstring", [None, ""])
def test_no_docstring_says_nothing(docstring: str | None) -> None:
    assert read(docstring) == Described("", {})


@pytest.mark.parametrize(
    "docstring",
    [
        "One line.",
        "Two paragraphs.\n\nThe arguments: none. Returns: nothing in particular.",
        "Args: in the middle of a line.",
        "A list:\n\n- one\n- two",
    ],
)
def test_a_text_without_sections_is_taken_as_it_is(docstring: str) -> None:
    assert read(docstring) == Described(docstring, {})


@pytest.mark.parametrize(
    "docstring",
    [
        "Args:\n",
        "Args:\n    no colon here\n",
        "Parameters\n----------\n",
        ":param:\n",
        "Args:\n  x: a\n y: b\n",
    ],
)
def test_a_broken_section_costs_nothing(docstring: str) -> None:
    read(docstring)


def test_griffe_is_loaded_only_for_sections() -> None:
    code = (
        "import sys; from livetools.tools.definition.docstrings import read; read('One line.'); "
        "assert 'griffe' not in sys.modules; "
        "read('Adds.\\n\\nReturns:\\n    The sum.\\n'); assert 'griffe' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
