"""Makes a tool of a function once, however many sessions it is passed to.

Making one takes a millisecond or more. A program that opens a session for each of its users would spend that on every
tool each time. Where its functions are closures, made again for each user, it helps nobody that each keeps its own.
"""

from __future__ import annotations

import types
from typing import Any
from weakref import WeakKeyDictionary

from .definition.annotations import owner_of
from .tool import MARK, Tool

#: The attribute of a function under which it keeps what was made of it.
COMPILED = "__livetools_tool__"

#: By their code: the docstring of the first of those functions, and its tool without the function.
_twins: WeakKeyDictionary[types.CodeType, tuple[str | None, Tool]] = WeakKeyDictionary()


class _Compiled(dict[object, tuple[object, Tool]]):
    """What a function keeps of the tools that were made of it. It stays here when the function is pickled by value."""

    def __reduce__(self) -> tuple[type[_Compiled], tuple[()]]:
        return _Compiled, ()


def compiled(target: Any) -> Tool:
    """``Tool(target)``, made once for a function, and for a method once for all objects of a class.

    What was made is kept by the function itself, and made again if the function was changed. Closures of the same code
    share what was compiled where they take the same: the same types, and the same objects as defaults.
    """
    function = target.__func__ if isinstance(target, types.MethodType) else target
    if not isinstance(function, types.FunctionType):
        return Tool(target)
    owner = owner_of(target)
    kept: _Compiled = vars(function).setdefault(COMPILED, _Compiled())
    state = _state(function)
    known, made = kept.get(owner, (None, None))
    if made is None or known != state:  # a wrapper has got the other's by functools.wraps
        made = _made(target, function)
        # It must not keep the object alive.
        prototype = made if function is target else made._for_handler(None)
        vars(function)[COMPILED] = _Compiled({**kept, owner: (state, prototype)})
        return made
    return made if function is target else made._for_handler(target)


def _made(target: Any, function: types.FunctionType) -> Tool:
    made = Tool(target)
    if function is not target or function.__closure__ is None:
        made.spec()
        return made
    doc, twin = _twins.get(function.__code__, (None, None))
    if twin is not None and doc == function.__doc__ and made._is_alike(twin):
        return twin._for_handler(target)
    made.spec()
    _twins[function.__code__] = function.__doc__, made._for_handler(None)
    return made


def _state(function: types.FunctionType) -> object:
    """All that a tool is made of."""
    parts = (
        function.__code__,
        function.__doc__,
        function.__name__,
        function.__defaults__,
        function.__kwdefaults__,
    )
    return id(function), *parts, dict(function.__annotations__), vars(function).get(MARK)
