"""Walks the live objects of a session, and finds those of the core's own classes that hold each other in a circle.

An object holds another if the collector gets from the one to the other through containers, bound methods, closures and
partials. Classes, modules, the globals of functions, tasks and frames are passed over, and so are the objects of
libraries and of the event loop.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from functools import partial
from types import BuiltinMethodType, CellType, FunctionType, MethodType
from typing import Any

CORE = (
    "livetools.protocol",
    "livetools.setup",
    "livetools.session",
    "livetools.attach",
    "livetools.transport",
)
#: What is gone through: it holds what somebody put into it.
_CONTAINERS = (dict, list, tuple, set, frozenset, MethodType, BuiltinMethodType, CellType, partial)
_MORE = ("deque", "mappingproxy", "OrderedDict", "defaultdict", "dict_values", "method-wrapper")

#: Who holds whom it works for: without these there is no circle.
REPORTS = {
    ("Sockets", "Driver"): "what a connection brings is an input",
    ("ToolRunner", "Driver"): "what becomes of a handler is an input",
    ("Timer", "Driver"): "the time is an input",
    ("TaskTimer", "Driver"): "the time is an input",
    ("ToolRunner", "Session"): "a tool finds the session in its context",
    ("AsyncioFlow", "Driver"): "a message is an input in the very callback in which it comes",
    ("Pongs", "PushConnection"): "the next ping goes out when a pong comes, or when it is time",
    ("Pongs", "TrioConnection"): "the next ping goes out when a pong comes, or when it is time",
    ("Record", "Record"): "calls that are answered in one message know each other until then",
}


def is_core(object: Any) -> bool:
    """Whether it is an object of one of the core's own classes."""
    return type(object).__module__.startswith(CORE) and not isinstance(object, type)


def _inside(object: Any) -> Iterable[Any]:
    if isinstance(object, FunctionType):  # its closure and defaults, and not its globals
        return (object.__closure__, object.__defaults__, object.__kwdefaults__)
    return gc.get_referents(object)


def held_by(object: Any) -> Iterator[Any]:
    """The core's objects that this one holds, each once."""
    seen, waiting = {id(object)}, [object]
    while waiting:
        for held in _inside(waiting.pop()):
            if id(held) in seen:
                continue
            seen.add(id(held))
            if is_core(held):
                yield held
            elif isinstance(held, (*_CONTAINERS, FunctionType)) or type(held).__name__ in _MORE:
                waiting.append(held)


def walk(roots: Iterable[Any]) -> dict[int, tuple[Any, list[int]]]:
    """All objects of the core that the roots lead to: by id, each with the ids of those that it holds."""
    found: dict[int, tuple[Any, list[int]]] = {}
    waiting = list(roots)
    while waiting:
        object = waiting.pop()
        if id(object) not in found:
            held = list(held_by(object))
            found[id(object)] = object, [id(one) for one in held]
            waiting += held
    return found


def kind_of(object: Any) -> str:
    """The name of its class; drivers are all of one kind."""
    bases = {one.__name__ for one in type(object).__mro__}
    return "Driver" if "Driver" in bases else type(object).__name__


def names(roots: Iterable[Any]) -> tuple[set[tuple[str, str]], list[list[str]]]:
    """Who holds whom, by the names of their classes, and the circles that are left without ``REPORTS``."""
    found = walk(roots)
    kinds = {one: kind_of(object) for one, (object, _) in found.items()}
    edges = {(kinds[one], kinds[other]) for one, (_, held) in found.items() for other in held}
    graph = {
        one: [other for other in held if (kinds[one], kinds[other]) not in REPORTS]
        for one, (_, held) in found.items()
    }
    circles = [part for part in components(graph) if len(part) > 1 or part[0] in graph[part[0]]]
    return edges, sorted(sorted({kinds[one] for one in part}) for part in circles)


def components(graph: dict[int, list[int]]) -> list[list[int]]:
    """The strongly connected components (Tarjan), without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    made: list[list[int]] = []
    for root in graph:
        work = [] if root in index else [(root, iter(graph[root]))]
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    made.append(stack[at:])
                    for one in stack[at:]:
                        low[one] = len(graph) + 1
                    del stack[at:]
            elif following not in index:
                work.append((following, iter(graph[following])))
            elif following in stack:
                low[node] = min(low[node], index[following])
    return made
