"""``Toolset``: an immutable group of tools; every operation returns a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from livetools.errors import ConfigError
from livetools.setup.did_you_mean import explains_keywords

from .accepted_tools import as_tools, distinct
from .hooks import Hooks, check_hooks
from .interface.accepted_types import ToolLike
from .tool import Tool


@explains_keywords(
    **dict.fromkeys(("tools", "items", "functions"), "Toolset(first, second)"),
    prefix="Toolset(...).prefix(...)",
    filter="Toolset(...).filter(...)",
    rename="Toolset(...).rename(...)",
)
class Toolset:
    """A group of tools, to filter, rename and pass together: ``tools=[...]`` takes a toolset like a single tool.
    Immutable.

    ``items``: whatever ``tools=`` takes. ``hooks`` see the calls of these tools only, after the session's hooks. Raises
    ``ConfigError`` for two tools with the same name.

    ::

        house = Toolset(get_weather, book_table, name="house")
        quiet = house.filter(lambda one: one.name != "book_table").prefix("our_")
        print([one.name for one in quiet])  # ['our_get_weather']
    """

    __slots__ = ("_tools", "name")

    def __init__(self, *items: ToolLike, name: str | None = None, hooks: Sequence[Hooks] = ()) -> None:
        self.name = name
        tools, hooks = as_tools(items), check_hooks(hooks, calls_only="a toolset")
        self._tools = tuple(t.replace(hooks=(*hooks, *t.hooks)) for t in tools) if hooks else tuple(tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __getitem__(self, name: str) -> Tool:
        """The tool of this name. Raises ``KeyError``."""
        for tool in self._tools:
            if tool.name == name:
                return tool
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(tool.name == name for tool in self._tools)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Toolset):
            return NotImplemented
        return self.name == other.name and self._tools == other._tools

    def __hash__(self) -> int:
        return hash(self._tools)

    def __repr__(self) -> str:
        names = ", ".join(tool.name for tool in self._tools)
        return f"Toolset({self.name!r}: {names})" if self.name else f"Toolset({names})"

    def __add__(self, other: Toolset) -> Toolset:
        """Both; raises ``ConfigError`` where they have a name in common."""
        if not isinstance(other, Toolset):
            return NotImplemented
        return self._with(distinct([*self, *other]))

    def merge(self, *others: Any) -> Toolset:
        """These tools and more, whatever ``tools=`` takes. Raises ``ConfigError`` for two of one name."""
        return self._with(distinct([*self, *as_tools(others)]))

    def filter(self, keep: Callable[[Tool], bool]) -> Toolset:
        """Only the tools for which ``keep(tool)`` is true."""
        return self._with([tool for tool in self if keep(tool)])

    def prefix(self, prefix: str) -> Toolset:
        """Every tool as ``prefix`` + its name. Raises ``ToolDefinitionError`` for a name beyond the rule."""
        return self._with([tool.replace(name=prefix + tool.name) for tool in self])

    def rename(self, names: Mapping[str, str]) -> Toolset:
        """Tools by other names, ``{old: new}``. Raises ``ConfigError`` for an old one that is not here."""
        unknown = [old for old in names if old not in self]
        if unknown:
            raise ConfigError(f"no tool {', '.join(unknown)} in {self!r}")
        return self._with(distinct([t.replace(name=names.get(t.name, t.name)) for t in self]))

    def _with(self, tools: Sequence[Tool]) -> Toolset:
        made = Toolset(name=self.name)
        made._tools = tuple(tools)
        return made
