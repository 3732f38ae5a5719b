"""Says what is wrong with the arguments of a call, in words that a model can act on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from livetools.errors import ToolError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

MOST = 6  # problems in one message; a model corrects the call as a whole anyway


#: How many problems are explained one by one. A list of 300,000 would block the event loop for seconds.
MANY = 1000


class InvalidArguments(ToolError):
    """The arguments of a call do not fit. Its text is for the model: which of them, and what each should be."""


def explain(
    name: str, error: ValidationError, args: Mapping[str, Any], takes: Sequence[str]
) -> InvalidArguments:
    """The error for the model: at most six problems, no more than a short echo of a value."""
    if (count := error.error_count()) > MANY:
        return InvalidArguments(
            f"Invalid arguments for {name}: {count} values do not fit. {_takes(name, takes)}"
        )
    problems: dict[str, list[_Problem]] = {}  # a union has an error for each of its members, at one place
    for detail in error.errors(include_url=False):
        place, value = _place(detail, args)
        problems.setdefault(place, []).append(_problem(detail, value))
    lines = [_line(place, found) for place, found in list(problems.items())[:MOST]]
    if len(problems) > MOST:
        lines.append(f"and {len(problems) - MOST} more")
    return invalid(name, lines, takes)


def invalid(name: str, lines: Sequence[str], takes: Sequence[str]) -> InvalidArguments:
    """The error for the model, of what is wrong at each place."""
    return InvalidArguments(f"Invalid arguments for {name}: {'; '.join(lines)}. {_takes(name, takes)}")


def unknown(name: str, args: Mapping[str, Any], takes: Sequence[str]) -> InvalidArguments:
    """The error for a call with more arguments than there are parameters."""
    strange = [each for each in args if each not in takes]
    lines = [f"{_shortened(each)} is not known" for each in strange[:MOST]]
    return InvalidArguments(
        f"Invalid arguments for {name}: {'; '.join(lines)}; and {len(strange) - MOST} more. {_takes(name, takes)}"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:38]}…"


def _takes(name: str, takes: Sequence[str]) -> str:
    return f"{name} takes {', '.join(takes)}." if takes else f"{name} takes no arguments."


def _line(place: str, found: list[_Problem]) -> str:
    """What is wrong at one place, once for all kinds of value that is possible there."""
    kinds = list(dict.fromkeys(p.wanted for p in found if p.wanted))
    others = list(dict.fromkeys(p.text for p in found if not p.wanted))
    echo = next((p.echo for p in found if p.echo), "")
    if (
        echo in kinds
    ):  # what it is, is one of the kinds: it is wrong in some other way, which pydantic has told
        others += [p.text for p in found if p.wanted == echo]
        kinds.remove(echo)
    said = [f"should be {' or '.join(kinds)}{f', not {echo}' if echo else ''}"] if kinds else []
    return f"{place} {', or '.join([*said, *others])}"


def _place(detail: ErrorDetails, args: Mapping[str, Any]) -> tuple[str, object]:
    """The path of the error in the arguments, and the value at that path.

    pydantic's location also names members of unions and validators; those are not in the arguments and are
    skipped.
    """
    value: Any = args
    path = ""
    for before, step in zip(("", *detail["loc"]), detail["loc"], strict=False):
        if isinstance(value, Mapping) and step in value:
            value, path = value[step], f"{path}.{step}" if path else str(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value, path = value[step], f"{path}[{step}]"
        elif step == "[key]" and before:  # members of a union may follow
            return f"the key {echo_of(before)} of {_without(path, before)}", before
    if detail["type"] in _MISSING:
        last = detail["loc"][-1]
        path = f"{path}[{last}]" if isinstance(last, int) else f"{path}.{last}" if path else str(last)
    return path, value


def _without(path: str, key: object) -> str:
    """The path of what holds the key."""
    return path.removesuffix(f".{key}")


_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a finite number",
    "decimal": "a number",
    "bool": "true or false",
    "string": "text",
    "bytes": "base64 text",
    "list": "an array",
    "tuple": "an array",
    "set": "an array",
    "frozen_set": "an array",
    "iterable": "an array",
    "dict": "an object",
    "mapping": "an object",
    "model": "an object",
    "dataclass": "an object",
    "typed_dict": "an object",
    "named_tuple": "an array",
    "none": "null",
    "date_from": "a date such as 2026-01-31",
    "date": "a date such as 2026-01-31",
    "datetime_from": "a date and time such as 2026-01-31T09:30:00Z",
    "datetime": "a date and time such as 2026-01-31T09:30:00Z",
    "time": "a time such as 09:30:00",
    "time_delta": "a duration such as PT90S",
    "uuid": "a UUID",
    "url": "a URL",
}
"""pydantic's error types (without their ending) → what the value should have been."""

MEMBER = re.compile(r"<[\w.]+: ([^<>]*)>")  # of an enum, as pydantic writes it: the model knows its value

_MISSING = (
    "missing",
    "missing_argument",
    "missing_keyword_only_argument",
    "missing_positional_only_argument",
)

TEMPLATES = {
    "set_item_not_hashable": "a simple value",
    "path_type": "a path",
    "complex_type": "a complex number such as 1+2j",
    "complex_str_parsing": "a complex number such as 1+2j",
    "json_type": "text that holds JSON",
    "json_invalid": "text that holds JSON",
    "recursion_loop": "something that does not hold itself",
    "enum": "one of {expected}",
    "literal_error": "one of {expected}",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "string_too_short": "text of at least {min_length} characters",
    "string_too_long": "text of at most {max_length} characters",
    "string_pattern_mismatch": "text that matches {pattern}",
    "string_not_ascii": "text of ASCII characters",
    "bytes_too_short": "base64 of at least {min_length} bytes",
    "bytes_too_long": "base64 of at most {max_length} bytes",
    "date_past": "a date in the past",
    "date_future": "a date in the future",
    "datetime_past": "a date and time in the past",
    "datetime_future": "a date and time in the future",
    "url_scheme": "a URL that begins with {expected_schemes}",
    "url_too_long": "a URL of at most {max_length} characters",
    "uuid_version": "a UUID of version {expected_version}",
    "decimal_max_digits": "a number of at most {max_digits} digits",
    "decimal_max_places": "a number of at most {decimal_places} decimal places",
    "decimal_whole_digits": "a number of at most {whole_digits} digits before its decimal point",
    "too_short": "of at least {min_length} items",
    "too_long": "of at most {max_length} items",
    "union_tag_invalid": "an object whose {discriminator} is one of {expected_tags}",
    "union_tag_not_found": "an object with {discriminator}",
}


class _Problem(NamedTuple):
    """What pydantic found: ``wanted`` and ``echo`` where another kind of value was, else only ``text``."""

    text: str
    wanted: str = ""
    echo: str = ""


def _problem(detail: ErrorDetails, value: object) -> _Problem:
    kind, ctx = detail["type"], detail.get("ctx", {})
    if kind in _MISSING:
        return _Problem("is missing")
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return _Problem("is not known")
    if kind in ("value_error", "assertion_error"):
        return _Problem(f"is not accepted: {ctx.get('error', detail['msg'])}")
    text = detail["msg"].removeprefix("Input ")
    text = text if text.startswith("should ") else f"is not accepted: {text}"
    wanted = TEMPLATES.get(kind)
    if wanted is not None:
        wanted = MEMBER.sub(
            r"\1", wanted.format_map({k: str(v).replace(" or ", ", ") for k, v in ctx.items()})
        )
    else:
        wanted = next((text for stem, text in _BY_LENGTH if kind.startswith(stem)), None)
    if wanted is None:
        return _Problem(text)
    echo = echo_of(value)
    if kind in ("too_short", "too_long") and isinstance(value, list | Mapping):
        echo = str(len(value))
    elif kind in TEMPLATES and echo in wanted:
        echo = ""  # the value has the wanted type: the text says what is wrong with it
    return _Problem(text, wanted, echo)


_BY_LENGTH = sorted(((f"{stem}_", text) for stem, text in _WANTED.items()), key=lambda pair: -len(pair[0]))


def echo_of(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return _shortened(json.dumps(value, ensure_ascii=False, default=str))
