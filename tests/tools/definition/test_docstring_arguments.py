"""The arguments in a docstring, in whichever layout they stand."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools import Tool
from livetools.tools.definition.docstrings import Described, read

NAMES = ("city", "days")
WANTED = {"city": "its name, in the language of the land", "days": "how many (1 to 7)"}

GOOGLE_HEADS = (
    "Args:",
    "Arguments:",
    "Parameters:",
    "args:",
    "**Args:**",
    "## Parameters",
    "Args：",
    "Args :",
    "Args",
)
NUMPY_HEADS = (
    "Parameters\n----------",
    "parameters\n-----",
    "Other Parameters\n================",
    "Parameters\n\n---",
)
ITEMS = (
    "city: {0}",
    "city : {0}",
    "city (str): {0}",
    "city (str, optional): {0}",
    "city (dict[str, tuple[int, str]]): {0}",
    "- city: {0}",
    "* city: {0}",
    "• city (str): {0}",
    "1. city: {0}",
    "`city`: {0}",
    "``city`` (str): {0}",
    "**city**: {0}",
    "*city*: {0}",
    "- `city` - {0}",
    "city - {0}",
    "city – {0}",
    "city -- {0}",
    "city：{0}",
    "`city`： {0}",
    "'city': {0}",
    "city:\n    {0}",
    "city\n    {0}",
)
NUMPY_ITEMS = (
    "city : str\n    {0}",
    "city: str\n    {0}",
    "city\n    {0}",
    "city : str, optional\n    {0}",
    "city : {{'a', 'b'}}, default 'a'\n    {0}",
    "city : list of str\n    {0}",
    "`city` : str\n    {0}",
    "- city : str\n    {0}",
    "city：str\n    {0}",
    "city : {0}",
    "*city* : Optional[dict[str, int]]\n    {0}",
)
FIELDS = (
    ":param city: {0}",
    ":param str city: {0}",
    ":param  city : {0}",
    ": param city: {0}",
    ":parameter city: {0}",
    ":arg city: {0}",
    ":keyword city: {0}",
    ":param `city`: {0}",
    "- :param city: {0}",
    "@param city: {0}",
    "@param city {0}",
    "@param city - {0}",
    ":param city：{0}",
    "：param city：{0}",
)
AFTER = (
    "",
    "Returns:\n    The weather.",
    "\nReturns:\n    The weather.",
    "Returns: the weather.",
    "Returns\n-------\nstr\n    The weather.",
    ":returns: the weather.",
    ":rtype: str",
    "Raises:\n    ToolError: no such town",
    "\nSome more.",
)


def block(items: str, indent: str) -> str:
    return "\n".join(f"{indent}{line}" if line else line for line in items.split("\n"))


def both(item: str, wrapped: bool) -> str:
    """The item of each argument; a long text goes on in the next line, indented."""
    city = item.format(WANTED["city"])
    if wrapped:
        city = city.replace(", in the", ",\n        in the")
    days = item.replace("city", "days").format(WANTED["days"])
    return f"{city}\n{days}"


@st.composite
def docstrings(draw: st.DrawFn) -> str:
    style = draw(st.sampled_from(("google", "numpy", "sphinx")))
    summary = draw(st.sampled_from(("", "Weather of a town.", "Weather of a town.\n\nOf today: or so.")))
    above = draw(st.sampled_from(("\n", "\n\n", "\n\n\n"))) if summary else draw(st.sampled_from(("", "\n")))
    below = draw(st.sampled_from(("\n", "\n", "\n\n")))
    between = draw(st.sampled_from(("\n", "\n\n")))
    wrapped = draw(st.booleans())
    if style == "sphinx":
        body = both(draw(st.sampled_from(FIELDS)), wrapped)
    elif style == "google":
        items = block(
            both(draw(st.sampled_from(ITEMS)), wrapped), draw(st.sampled_from(("    ", "  ", " ", "\t")))
        )
        body = f"{draw(st.sampled_from(GOOGLE_HEADS))}{below}{items}"
    else:
        items = block(both(draw(st.sampled_from(NUMPY_ITEMS)), wrapped), draw(st.sampled_from(("", "    "))))
        body = f"{draw(st.sampled_from(NUMPY_HEADS))}\n{items}"
    if between == "\n\n" and style == "google":
        body = body.replace("\ndays", "\n\ndays")
    text = f"{summary}{above}{body}\n{draw(st.sampled_from(AFTER))}"
    indent = draw(st.sampled_from(("", "    ", "\t")))
    first, *rest = text.split("\n")
    text = "\n".join([first, *(indent + line if line else line for line in rest)])
    return text.replace("\n", draw(st.sampled_from(("\n", "\r\n", "\r", " \n"))))


@settings(deadline=None)
@given(docstrings())
def test_descriptions_are_found_in_every_layout(docstring: str) -> None:
    described = read(docstring, NAMES)
    assert described.arguments == WANTED
    assert described.unread == ()
    assert "its name" not in described.text
    assert "how many" not in described.text
    for kept in ("Weather of a town.", "Of today: or so.", "he weather.", "no such town", "Some more."):
        assert (kept in described.text) == (kept in docstring)


@pytest.mark.parametrize("item", ITEMS)
def test_arguments_that_are_not_indented_are_read_where_they_are_known(item: str) -> None:
    described = read(f"Weather.\n\nArgs:\n{both(item, False)}\n\nMore: of it.\n", NAMES)
    assert described.arguments == WANTED
    assert described.text == "Weather.\n\nMore: of it."


def test_two_arguments_may_share_a_text() -> None:
    assert read("X.\n\nParameters\n----------\ncity, days : str\n    Both.\n", NAMES).arguments == {
        "city": "Both.",
        "days": "Both.",
    }


def test_arguments_may_be_called_like_sections() -> None:
    text = "X.\n\nArgs:\n    input: the text\n    returns: what comes back\n    notes: more\n    args: all\n"
    names = ("input", "returns", "notes", "args")
    assert read(text, names).arguments == dict(
        zip(names, ("the text", "what comes back", "more", "all"), strict=True)
    )


def test_several_sections_of_arguments_are_joined() -> None:
    text = "X.\nArgs:\n  city: a\nKeyword Args:\n  days: b\n"
    assert read(text, NAMES).arguments == {"city": "a", "days": "b"}


def test_a_text_goes_on_over_paragraphs_lists_and_words_with_colons() -> None:
    city = "one of\n        - Oslo: cold\n        - Rome: warm\n\n        and so on"
    text = f"X.\n\nArgs:\n    city: {city}\n    days: b\n"
    assert read(text, NAMES).arguments == {"city": "one of - Oslo: cold - Rome: warm and so on", "days": "b"}


@pytest.mark.parametrize(
    "text",
    [
        "Arguments: there are none.",
        "Args\nare not listed here.",
        "The parameters:\n\n- one\n- two",
        "Takes input: anything.",
        "Input\nOutput",
        "city: Oslo, for one.",
    ],
)
def test_what_is_no_section_stays_as_it_is(text: str) -> None:
    assert read(text, NAMES) == Described(text, {})


def test_a_section_that_cannot_be_read_stays_and_is_told() -> None:
    text = "X.\n\nArgs:\n    the town, and how many days\n\nReturns:\n    The weather.\n"
    described = read(text, NAMES)
    assert described.arguments == {}
    assert described.unread == ("Args:",)
    assert "the town, and how many days" in described.text


def test_lint_tells_of_a_section_that_was_not_read_and_of_parameters_without_a_text() -> None:
    def f(city: str, days: int = 1) -> None:
        """Weather.

        Args:
            the town, and how many days
        """

    lint = Tool(f).lint()
    assert (
        "f: the section 'Args:' of the docstring was not read: write `name: text` lines, indented, under it"
        in lint
    )
    assert "f: city: no description; a line in the docstring tells the model what to send" in lint
    assert "f: days: no description; a line in the docstring tells the model what to send" in lint


@settings(deadline=None)
@given(st.text(alphabet=" \n\t-:*`#Argsci ty：(),@param=.", max_size=200))
def test_nothing_that_anybody_writes_makes_it_fail(text: str) -> None:
    described = read(text, NAMES)
    assert len(described.text) <= 3 * len(inspect.cleandoc(text)) + 20


@pytest.mark.parametrize(
    "docstring",
    [
        "W.\n\nArgs:\n    city:: the city\n",
        "W.\n\nArgs:\n    city :: the city\n",
        "W.\n\nArgs:\n    city (str)::: the city\n",
        "W.\n\nArgs:\n    `city`:: the city\n",
        "W.\n\nArgs::\n    city: the city\n",
        "W.\n\nArgs::\n\n    city:: the city\n",
        "W.\n\n:param city:: the city\n",
        "W.\n\n:param str city:: the city\n",
        "W.\n\nParameters\n----------\ncity:: str\n    the city\n",
    ],
)
def test_colons_too_many_are_no_part_of_the_text(docstring: str) -> None:
    found = read(docstring, ["city"])
    assert (found.text, found.arguments) == ("W.", {"city": "the city"})


@pytest.mark.parametrize(
    "text", ["", ":", ".", "-", "...", "…", "?", "TODO", "todo.", "TBD", "_description_"]
)
def test_a_text_that_says_nothing_is_none(text: str) -> None:
    assert read(f"W.\n\nArgs:\n    city: {text}\n", ["city"]).arguments == {}
    assert read(f"W.\n\n:param city: {text}\n", ["city"]).arguments == {}


@pytest.mark.parametrize("text", ["description", "Todo list to add to", "日", "C", "1"])
def test_a_short_text_is_one(text: str) -> None:
    assert read(f"W.\n\nArgs:\n    city: {text}\n", ["city"]).arguments == {"city": text}


@pytest.mark.parametrize(
    "docstring",
    [
        "W.\n\nArgs:\n    city: old\n    city: new\n    n: x\n",
        "W.\n\nArgs:\n    city: old\n    n: x\n\nParameters:\n    city: new\n",
        "W.\n\n:param city: old\n:param n: x\n:param city: new\n",
        "W.\n\nArgs:\n    city: old\n    n: x\n\n:param city: new\n",
    ],
)
def test_of_two_texts_the_last_is_taken_and_it_is_told(docstring: str) -> None:
    found = read(docstring, ["city", "n"])
    assert (found.arguments, found.twice) == ({"city": "new", "n": "x"}, ("city",))


def test_an_argument_that_is_named_first_and_described_then_is_not_described_twice() -> None:
    assert read("W.\n\nArgs:\n    city:\n\n:param city: a\n", ["city"]).twice == ()


def test_the_linter_tells_of_an_argument_without_words_and_of_one_with_two_texts() -> None:
    def weather(city: str, days: int) -> str:
        """Weather.

        Args:
            city:: ...
            days: how many
            days: how often
        """
        return city

    assert Tool(weather).lint() == [
        "weather: city: no description; a line in the docstring tells the model what to send",
        "weather: days: described more than once in the docstring; the model gets the last text",
    ]
