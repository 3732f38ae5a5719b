"""``@tool`` and ``Tool``: what a model can call."""

from __future__ import annotations

import copy
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, overload

from typing_extensions import Unpack

from livetools.protocol.errors import ToolDefinitionError

from . import adapt, docstrings, results, schema
from .annotations import function_of, is_method, place_of
from .context import ToolContext
from .hooks import Hooks
from .options import DEFAULTS, ToolOptions, resolve
from .signature import Signature

Target = TypeVar("Target")
Kind: TypeAlias = Literal["sync", "async", "generator", "async_generator", "declared"]

MARK = "__livetools__"  # the one attribute that @tool leaves on a function: its options, checked
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Decorator(Protocol):
    """What ``@tool(...)`` gives: a decorator that returns what it gets, typed as before."""

    def __call__(self, target: Target, /) -> Target: ...


@overload
def tool(target: Target, /) -> Target: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Decorator: ...
def tool(target: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Give a function the options of a tool, and check that it can be one.

    Returns exactly what it got: the function can be called, tested and read as before. Works on functions,
    coroutine functions, generators, methods, ``staticmethod`` and ``classmethod`` objects, and on objects
    with ``__call__``. See :class:`ToolOptions` for the options; without any, the decorator changes nothing
    but moves the errors from ``connect`` to the import.

    Raises ``ToolDefinitionError``, naming the file, the function and the parameter, for what no model can be
    told of, and for what has no place to keep the options (partials, built-ins, bound methods, classes): use
    ``Tool(f, ...)`` for those. An annotation that names something defined further down is looked at in
    ``connect``.
    """
    if target is None:
        return functools.partial(_mark, options=options)
    return _mark(target, options)


def _mark(target: Any, options: Mapping[str, Any]) -> Any:
    inner = target.__func__ if isinstance(target, staticmethod | classmethod) else target
    place = place_of(inner)
    kept = {**getattr(inner, MARK, {}), **resolve(options, place)}
    if not callable(inner):
        raise ToolDefinitionError(
            f"{place}: a {type(inner).__name__} cannot be called; @tool goes on a function"
        )
    try:
        if isinstance(inner, type | functools.partial):
            raise AttributeError
        setattr(inner, MARK, kept)
    except (AttributeError, TypeError):
        kind = "class" if isinstance(inner, type) else type(inner).__name__
        raise ToolDefinitionError(
            f"{place}: a {kind} has no place for the options of a tool: pass Tool(f, name=..., ...) instead"
        ) from None
    _check(target, inner, kept)
    return target


def _check(target: Any, inner: Any, options: Mapping[str, Any]) -> None:
    """What can be known at decoration. A method's first parameter is not the model's."""
    method = isinstance(target, classmethod) or is_method(target)
    try:
        Signature(inner, _name(inner, options), method=method).check()
    except ToolDefinitionError as error:
        if not isinstance(error.__cause__, NameError):  # what it names may be defined further down
            raise


def _name(target: Any, options: Mapping[str, Any]) -> str:
    """The name for the model: the option, the function's, the class's of an object, checked."""
    name = options.get("name")
    if name is None:
        plain = target.func if isinstance(target, functools.partial) else target
        name = getattr(plain, "__name__", None) or _snake(type(plain).__name__)
    if not NAME.fullmatch(name):
        raise ToolDefinitionError(
            f"{place_of(target)}: {name!r} is no name for a tool: a letter or an underscore first, then "
            f"letters, digits and _ . : -, at most 64 characters in all. Give it one: name='...'"
        )
    return str(name)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Tool:
    """Something a model can call: a declaration, and (mostly) a handler for it.

    ``target`` is a callable, or a declaration: google-genai's ``FunctionDeclaration``, an OpenAI, Anthropic
    or MCP style dict. ``handler`` serves the calls of a declaration; without one the session hands each call
    out (``ToolStarted``) and ``session.respond`` answers it. Options given here win over those of ``@tool``.

    ``name``, ``description``; ``handler`` (``None``: only declared); ``kind`` (how the handler runs);
    ``options`` (every option but ``name`` and ``description``, resolved; ``timeout`` only if it was given);
    ``hooks`` (of the toolset it came from). Raises ``ToolDefinitionError``.
    """

    def __init__(
        self, target: Any, handler: Callable[..., Any] | None = None, **options: Unpack[ToolOptions]
    ) -> None:
        declared = adapt.declaration_of(target)
        place = (
            place_of(handler or target)
            if declared is None or handler
            else f"the declaration {declared['name']!r}"
        )
        if declared is None and not callable(target):
            raise ToolDefinitionError(
                f"a {type(target).__name__} is neither a function nor a function declaration"
            )
        if declared is None and handler is not None:
            raise ToolDefinitionError(
                f"{place}: a function is its own handler; handler= serves a declaration"
            )
        self.handler: Callable[..., Any] | None = target if declared is None else handler
        given = {**getattr(self.handler, MARK, {}), **resolve(options, place)}
        self._declared = declared
        if declared is not None:
            given = {**declared, **given, "name": options.get("name", declared["name"])}
            given.pop("parameters", None)
            given = {k: v for k, v in given.items() if v is not None}
        self.name = _name(self.handler, given)
        self.kind: Kind = _kind(self.handler)
        self.hooks: tuple[Hooks, ...] = ()
        self._given_description: str | None = given.get("description")
        self.options: Mapping[str, Any] = {
            **DEFAULTS,
            **{k: v for k, v in given.items() if k not in ("name", "description")},
        }
        self._signature = None if self.handler is None else Signature(self.handler, self.name)
        self._check_executor(place)
        if declared is None and self._signature is not None:
            self._signature.check()
        elif self._signature is not None:
            self._check_handler(self._signature)

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, kind={self.kind!r})"

    @property
    def description(self) -> str:
        """What the model is told that it does."""
        return self._given_description if self._given_description is not None else self._documented.text

    @functools.cached_property
    def _documented(self) -> docstrings.Described:
        return docstrings.read(None if self.handler is None else _docstring(self.handler))

    def replace(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        hooks: tuple[Hooks, ...] | None = None,
    ) -> Tool:
        """A copy under another name or description, or with other hooks."""
        other = copy.copy(self)
        if name is not None:
            other.name = _name(self.handler, {"name": name})
            if other._signature is not None:
                other._signature = other._signature.renamed(name)
        if description is not None:
            other._given_description = description
        if hooks is not None:
            other.hooks = hooks
        return other

    def declaration(self, dialect: Literal["schema", "json_schema"] = "schema") -> dict[str, Any]:
        """The function declaration, without ``behavior``, which the session's plan adds. A new dict each
        time.

        ``"schema"``: ``parameters``, in the OpenAPI subset that every Live model reads. ``"json_schema"``:
        ``parametersJsonSchema``, which several ignore. A function without arguments has neither.
        """
        made: dict[str, Any] = {"name": self.name}
        if self.description:
            made["description"] = self.description
        if dialect == "schema":
            reduced, _ = self._reduced
            if reduced is not None:
                made["parameters"] = copy.deepcopy(reduced)
        elif dialect == "json_schema":
            if self._json_schema.get("properties") or self._json_schema.get("additionalProperties"):
                made["parametersJsonSchema"] = copy.deepcopy(self._json_schema)
        else:
            raise ValueError(f"dialect={dialect!r} should be 'schema' or 'json_schema'")
        return made

    @functools.cached_property
    def _json_schema(self) -> dict[str, Any]:
        if self._declared is not None:
            return dict(self._declared["parameters"] or {})
        assert self._signature is not None  # what is not declared has a handler
        made = self._signature.json_schema()
        for name, text in self._documented.arguments.items():
            if name in made.get("properties", {}):
                made["properties"][name].setdefault("description", text)
        return made

    @functools.cached_property
    def _reduced(self) -> tuple[dict[str, Any] | None, list[str]]:
        return schema.parameters(self._json_schema)

    def lint(self) -> list[str]:
        """What the model will not know, or may stumble over, a line each. Empty for a tool that is told
        whole.
        """
        lines = [f"{self.name}: {line}" for line in self._reduced[1]]
        properties = self._json_schema.get("properties", {})
        if re.search(r"[-.:]", self.name):
            lines.append(
                f"{self.name}: models stumble over dashes, dots and colons in names (google/adk-python#1698)"
            )
        if not self.description:
            lines.append(f"{self.name}: no description; a docstring tells the model when to call it")
        lines.extend(f"{self.name}: {name!r} is no name that the service documents for a parameter"
                     for name in properties if not PARAMETER.fullmatch(name))  # fmt: skip
        if self._declared is None:
            lines.extend(f"{self.name}: the docstring describes {name!r}, which is no parameter"
                         for name in self._documented.arguments if name not in properties
                         and name != getattr(self._signature, "context", None))  # fmt: skip
        return lines

    def bind(
        self, args: Mapping[str, Any], context: ToolContext[Any] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call's arguments, validated, as positional and keyword arguments of :attr:`handler`.

        Raises ``InvalidArguments``, a ``ToolError`` whose text tells the model which argument is wrong and
        why.
        """
        if self._signature is None:
            return (), dict(args)
        return self._signature.bind(args, context)

    async def call(self, args: Mapping[str, Any], deps: Any = None) -> dict[str, Any]:
        """Run the tool offline and return the response object that the model would get; never raises for a
        tool.

        On asyncio and trio. A sync function runs in a worker thread; a generator's yields are gathered into a
        list. Cancelling it cancels an async tool, and abandons a sync one to its thread.
        """
        if self.handler is None:
            return results.failure(f"{self.name} is only declared and has no handler")
        from .offline import run

        return await run(self, args, deps)

    def _check_executor(self, place: str) -> None:
        executor = self.options["executor"]
        if executor is None or self._signature is None:
            return
        if self.kind != "sync":
            raise ToolDefinitionError(f"{place}: executor= runs sync functions; this is an {self.kind} one")
        if self._signature.context and any("ProcessPool" in c.__name__ for c in type(executor).__mro__):
            raise ToolDefinitionError(
                f"{place}: {self._signature.context!r} is a ToolContext, which cannot cross into another "
                "process; take it out, or use threads"
            )

    def _check_handler(self, signature: Signature) -> None:
        """A handler must take what its declaration offers, and need no more."""
        offered = self._json_schema.get("properties", {})
        needed = [a.name for a in signature.arguments.values() if a.required and a.name not in offered]
        refused = [] if signature.open else [n for n in offered if n not in signature.arguments]
        if needed or refused:
            what = f"needs {', '.join(needed)}" if needed else f"does not take {', '.join(refused)}"
            raise signature.error(f"the handler {what}; the declaration of {self.name!r} says otherwise")


def _kind(handler: Any) -> Kind:
    """How a handler runs, by what it is made of: partials, methods and objects with ``__call__`` too."""
    if handler is None:
        return "declared"
    plain = handler
    while isinstance(plain, functools.partial):
        plain = plain.func
    if not inspect.isroutine(plain) and not isinstance(plain, type):
        plain = type(plain).__call__
    if inspect.isasyncgenfunction(plain):
        return "async_generator"
    if inspect.isgeneratorfunction(plain):
        return "generator"
    return "async" if inspect.iscoroutinefunction(plain) else "sync"


def _docstring(handler: Any) -> str | None:
    """The function's own docstring; of an object with ``__call__`` that, or its class's."""
    if isinstance(handler, type):
        return inspect.getdoc(handler)
    own = inspect.getdoc(function_of(handler))
    if own or inspect.isroutine(handler) or isinstance(handler, functools.partial):
        return own
    return inspect.getdoc(type(handler))
