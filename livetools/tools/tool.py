"""``@tool`` and ``Tool``: what a model can call."""

from __future__ import annotations

import copy
import functools
import inspect
import re
import types
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, overload

from typing_extensions import Unpack

from livetools.errors import ToolDefinitionError
from livetools.events import Call
from livetools.log import get_logger
from livetools.setup.plan_fields import ToolSpec

from .definition import docstrings
from .definition.annotations import is_method, place_of
from .definition.foreign_declarations import declaration_of
from .definition.tool_options import DEFAULTS, TOOL_NAME, ToolOptions, resolve
from .hooks import Hooks
from .interface.context import SessionLike, ToolContext
from .results import outcomes
from .schemas import live_subset
from .schemas.keywords import tidy
from .validation.signature import Signature

log = get_logger("livetools.tools")

Target = TypeVar("Target")
_Kind: TypeAlias = Literal["sync", "async", "generator", "async_generator", "declared"]

PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Decorator(Protocol):
    """What ``@tool(...)`` gives: a decorator that returns what it gets, typed as before."""

    def __call__(self, target: Target, /) -> Target: ...


class ToolMark(NamedTuple):
    """What ``@tool`` leaves on a function: its options, checked, and its annotations, resolved."""

    options: Mapping[str, Any]
    hints: Mapping[str, Any]

    def __reduce__(self) -> tuple[type[ToolMark], tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """Without the executor. A cluster pickles a function of ``__main__`` by value, with its mark, to run it there;
        the executor that brings it holds connections and locks, and stays here."""
        return ToolMark, (
            {key: value for key, value in self.options.items() if key != "executor"},
            self.hints,
        )

    def __copy__(self) -> ToolMark:
        return self

    def __deepcopy__(self, memo: object) -> ToolMark:
        return self


MARK = "__livetools__"
UNMARKED = ToolMark({}, {})


@overload
def tool(target: Target, /) -> Target: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Decorator: ...
def tool(target: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Set the options of a tool on a function, and check that the function can be a tool.

    Returns the same function: you can call and test it as before. Works on functions, coroutine functions, generators,
    methods, ``staticmethod`` and ``classmethod`` objects, and objects with ``__call__``. If ``@tool`` is applied twice,
    the outer options win. Without options it only moves errors from ``connect`` to the import.

    What the model reads: ``name``, ``description``; ``behavior``: ``"blocking"``, ``"non_blocking"`` (the model keeps
    talking) or ``"background"`` (the result follows as text); ``scheduling`` of a non-blocking answer: ``"interrupt"``,
    ``"when_idle"``, ``"silent"``.

    How it runs: ``timeout`` in seconds; ``concurrency``, the number of calls at once; ``executor`` for a sync function;
    ``duplicates="join"``, one run for equal calls; ``cancellable``; ``undo(call, result)`` or ``undo(call, result,
    context)`` for a cancelled call; ``max_result_bytes``; ``retries``, how often the model may correct a call.

    Who must approve: ``approval=True``, a person, each time (``ApprovalRequested``, ``session.approve``); or a function
    ``approval(args)`` or ``approval(args, context)`` that says whether a person must. After ``approval_timeout``
    seconds the call is refused.

    ``ToolOptions`` (``livetools/tools/definition/tool_options.py``) describes each option.

    Raises ``ToolDefinitionError``, which names the file, the function and the parameter, for a type that cannot be
    declared, and for partials, built-ins, bound methods and classes, which cannot hold options: use ``Tool(f, ...)``
    for those. An annotation that names something defined further down is checked later, in ``Tool`` or ``connect``.

    ::

        @tool(timeout=10, approval=True)
        def book_table(name: str, guests: int) -> str:
            \"\"\"Book a table in somebody's name.\"\"\"
            return f"table 4, {name}, {guests} guests"

        print(book_table("Ann", 4))  # it is still the function
    """
    if target is None:
        return functools.partial(_mark, options=options)
    return _mark(target, options)


def _mark(target: Any, options: Mapping[str, Any]) -> Any:
    inner = target.__func__ if isinstance(target, staticmethod | classmethod) else target
    place = place_of(inner)
    if not callable(inner):
        raise ToolDefinitionError(
            f"{place}: a {type(inner).__name__} cannot be called; @tool decorates functions"
        )
    if isinstance(inner, type | functools.partial | types.MethodType) or not hasattr(inner, "__dict__"):
        kind = "class" if isinstance(inner, type) else type(inner).__name__
        raise ToolDefinitionError(
            f"{place}: a {kind} has no place for the options of a tool: pass Tool(f, name=..., ...) instead"
        )
    kept = {**mark_of(inner).options, **resolve(options, place)}
    method = isinstance(target, classmethod) or is_method(inner)
    hints: Mapping[str, Any] = {}
    try:
        signature = Signature(inner, _name(inner, kept), method=method)
        signature.check()
        hints = signature.hints
    except ToolDefinitionError as error:
        if not isinstance(error.__cause__, NameError):  # what it names may be defined further down
            raise
    setattr(inner, MARK, ToolMark(kept, hints))
    return target


def mark_of(target: object) -> ToolMark:
    """What ``@tool`` left on ``target``, if it did."""
    mark = getattr(target, MARK, UNMARKED)
    return mark if isinstance(mark, ToolMark) else UNMARKED


class Tool:
    """Something that a model can call: a declaration, and usually a handler that serves its calls.

    ``target`` is a callable, or a declaration: google-genai's ``FunctionDeclaration``, or a dict in the style of
    Gemini, OpenAI, Anthropic or MCP. ``handler`` serves the calls of a declaration. Without one, each call comes as a
    ``ToolStarted`` event, and ``session.respond`` answers it. Options given here override those of ``@tool``.

    Attributes: ``name``; ``handler`` (``None``: only declared); ``kind``, how the handler runs; ``options``, every
    option except ``name`` and ``description``, with defaults, but ``timeout`` only if it was given; ``hooks`` of its
    toolset.

    Raises ``ToolDefinitionError`` for a type that cannot be declared.

    ::

        made = Tool(get_weather, name="weather", timeout=5)
        print(made.declaration())
        print(await made.call({"city": "Oslo"}))  # {'output': '12 °C, rain'}
    """

    def __init__(
        self, target: Any, handler: Callable[..., Any] | None = None, **options: Unpack[ToolOptions]
    ) -> None:
        self._declared = declared = declaration_of(target)
        self.handler = _handler(target, handler, declared)
        self.kind: _Kind = _kind(self.handler)
        self.hooks: tuple[Hooks, ...] = ()
        place = f"the declaration {declared['name']!r}" if declared else place_of(target)
        given = _given(declared, mark_of(self.handler), resolve(options, place))
        self.name = _name(self.handler, given)
        self._description: str | None = given.pop("description", None)
        self.options: Mapping[str, Any] = {**DEFAULTS, **{k: v for k, v in given.items() if k != "name"}}
        self._signature: Signature | None = None
        if self.handler is not None:
            self._signature = Signature(self.handler, self.name, hints=mark_of(self.handler).hints)
            self._check(self._signature)

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, kind={self.kind!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tool):
            return NotImplemented
        return self is other or self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash(self.name)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, copies and comparisons: what it was made of. A handler is pickled by its name, as functions
        are."""
        kept = ("_declared", "handler", "kind", "hooks", "name", "_description", "options")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)
        handler = self.handler
        hints = mark_of(handler).hints
        self._signature = None if handler is None else Signature(handler, self.name, hints=hints)

    def _check(self, signature: Signature) -> None:
        executor = self.options["executor"]
        if executor is not None and self.kind != "sync":
            raise signature.error(f"executor= runs sync functions, and this one is {self.kind!r}")
        if signature.context and any("ProcessPool" in c.__name__ for c in type(executor).__mro__):
            raise signature.error(
                f"{signature.context!r} is a ToolContext, which cannot cross into another process: take it out, or "
                "use an executor of threads"
            )
        if self._declared is None:
            signature.check()
            return
        offered = self._json_schema.get("properties") or {}
        needed = [a.name for a in signature.arguments.values() if a.required and a.name not in offered]
        refused = [] if signature.open else [n for n in offered if n not in signature.arguments]
        if needed or refused:
            what = f"needs {', '.join(needed)}" if needed else f"does not take {', '.join(refused)}"
            raise signature.error(f"the handler {what}; the declaration of {self.name!r} says otherwise")

    @property
    def description(self) -> str:
        """The description that the model reads."""
        return self._documented.text if self._description is None else self._description

    @functools.cached_property
    def _documented(self) -> docstrings.Described:
        if self.handler is None or self._signature is None:
            return docstrings.read(None)
        names = {*self._signature.arguments, self._signature.context or ""}
        read = [docstrings.read(text, names) for text in docstrings.of(self.handler)]
        arguments = {name: text for one in reversed(read) for name, text in one.arguments.items()}
        described = next((one for one in read if one.text), docstrings.Described("", {}))
        return described._replace(arguments=arguments)

    @functools.cached_property
    def _json_schema(self) -> Mapping[str, Any]:
        if self._declared is not None:
            return tidy(self._declared["parameters"] or {})
        assert self._signature is not None  # what is not declared has a handler
        made = copy.deepcopy(dict(self._signature.json_schema()))
        for name, text in self._documented.arguments.items():
            if name in made.get("properties", {}):
                made["properties"][name].setdefault("description", text)
        return made

    @functools.cached_property
    def _reduced(self) -> tuple[dict[str, Any] | None, list[str]]:
        return live_subset.parameters(self._json_schema)

    def declaration(self, dialect: Literal["schema", "json_schema"] = "schema") -> dict[str, Any]:
        """The function declaration, without ``behavior``, which a session's plan adds. A new dict each time.

        ``"schema"``: ``parameters``, in the OpenAPI subset that every Live model reads. ``"json_schema"``:
        ``parametersJsonSchema``, which several ignore. A function without arguments has neither.
        """
        made: dict[str, Any] = {"name": self.name}
        if self.description:
            made["description"] = self.description
        if dialect == "json_schema":
            if self._reduced[0] is not None:
                made["parametersJsonSchema"] = copy.deepcopy(dict(self._json_schema))
        elif dialect == "schema":
            if self._reduced[0] is not None:
                made["parameters"] = copy.deepcopy(self._reduced[0])
        else:
            raise ValueError(f"dialect={dialect!r} should be 'schema' or 'json_schema'")
        return made

    def spec(self) -> ToolSpec:
        """What a session's plan must know of this tool; the same object each time."""
        return self._spec

    @functools.cached_property
    def _spec(self) -> ToolSpec:
        generator = self.kind in ("generator", "async_generator")
        return ToolSpec(self.declaration(), self.options, generator, self.handler is not None)

    def lint(self) -> list[str]:
        """Warnings about the declaration, a line each: what the model is not told, or may misread."""
        properties = self._json_schema.get("properties") or {}
        lines = list(self._reduced[1])
        if re.search(r"[-.:]", self.name):
            lines.append("models stumble over dashes, dots and colons in a name (google/adk-python#1698)")
        if not self.description:
            lines.append("no description; a docstring tells the model when to call it")
        for name in properties:
            if not PARAMETER.fullmatch(name):
                lines.append(
                    f"{name}: the service documents [A-Za-z_][A-Za-z0-9_]* for the names of parameters"
                )
            if not _described(properties[name], self._json_schema):
                lines.append(f"{name}: no description; a line in the docstring tells the model what to send")
        if self._declared is None and self._signature is not None:
            known = {*properties, self._signature.context}
            described = (name for name in self._documented.arguments if name not in known)
            lines.extend(f"{name}: in the docstring, but no parameter" for name in described)
            lines.extend(
                f"{name}: described more than once in the docstring; the model gets the last text"
                for name in self._documented.twice
            )
            lines.extend(
                f"the section {heading!r} of the docstring was not read: write `name: text` lines, indented, under it"
                for heading in self._documented.unread
            )
        return [f"{self.name}: {line}" for line in lines]

    def bind(
        self, args: Mapping[str, Any], context: ToolContext[Any] | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call's arguments, validated, as positional and keyword arguments of :attr:`handler`.

        Raises ``InvalidArguments``, a ``ToolError`` whose text tells the model which argument is wrong and
        why.
        """
        if self._signature is None:
            return (), dict(args)
        return self._signature.bind(args if self._declared is None else self._read(args), context)

    def _read(self, args: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments of a declared tool, by its schema; a function's own parameters say how they are read."""
        if self._declared is None:
            return args
        from .validation.schema_validator import read  # most programs declare nothing

        return read(self._json_schema, args, self.name)

    @functools.cached_property
    def takes_context(self) -> bool:
        """Whether the handler has a parameter for a :class:`ToolContext`."""
        return self._signature is not None and self._signature.context is not None

    def context(
        self,
        *,
        call: Call,
        deps: Any = None,
        session: SessionLike | None = None,
        report: Callable[[object], Awaitable[None]] | None = None,
    ) -> ToolContext[Any]:
        """The surroundings of one call, of the class that the handler asks for.

        Where a subclass of ``ToolContext`` cannot be made, that is logged, and it is a plain one.
        """
        more = {} if report is None else {"report": report}
        kind = ToolContext if self._signature is None else self._signature.context_type
        try:
            return kind(call=call, deps=deps, session=session, **more)
        except Exception as error:
            log.error("the %s of %s cannot be made", kind.__name__, self.name, exc_info=error)
            return ToolContext(call=call, deps=deps, session=session, **more)

    def arguments(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The call's arguments, validated, by the names of the parameters; defaults are filled in.

        Of a tool that is only declared they are as they came. Raises ``InvalidArguments``.
        """
        return dict(args) if self._signature is None else self._signature.validated(self._read(args))

    async def call(self, args: Mapping[str, Any], deps: Any = None) -> dict[str, Any]:
        """Run the tool offline, on asyncio or trio; returns the response object that a model would get.

        A sync function runs in a worker thread, a generator's yields are gathered into a list, ``timeout``
        holds. An exception of the tool becomes a response. Cancelling cancels an async tool, and abandons a
        sync one to its thread.
        """
        if self.handler is None:
            return outcomes.failure(f"{self.name} is only declared; it has no handler")
        from .run_offline import run  # it imports anyio, which a declaration does not need

        context = self.context(call=Call("offline", self.name, dict(args)), deps=deps)
        try:
            positional, keyword = self.bind(args, context)
            call = functools.partial(self.handler, *positional, **keyword)
            value = await run(self.kind, call, self.options.get("timeout"))
        except Exception as error:
            context.mark_cancelled()  # a thread that was abandoned looks at it
            log.debug("%s failed: %s", self.name, type(error).__name__)
            stop = self.options["retries"] == 0
            return dict(outcomes.error_outcome(error, self.name, stop).response)
        return dict(outcomes.outcome(value, max_bytes=self.options["max_result_bytes"]).response)

    def _copy(self) -> Tool:
        """A copy that shares what was compiled."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def _for_handler(self, handler: Callable[..., Any] | None) -> Tool:
        """A copy for a handler that takes and says the same: another object's method, a closure of the same code."""
        other = self._copy()
        other.handler = handler
        return other

    def _is_alike(self, other: Tool) -> bool:
        """Whether this tool and another, whose functions have the same docstring, can share what was compiled."""
        mine, theirs = self._signature, other._signature
        same = (self.name, self.kind, self.hooks) == (other.name, other.kind, other.hooks)
        return (
            same
            and self.options == other.options
            and self._description == other._description
            and self._declared is other._declared
            and mine is not None
            and theirs is not None
            and mine.is_alike(theirs)
        )

    def replace(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        hooks: tuple[Hooks, ...] | None = None,
    ) -> Tool:
        """A copy under another name or description, or with other hooks. Raises ``ToolDefinitionError``."""
        other = self._copy()
        other.__dict__.pop("_spec", None)
        if name is not None:
            other.name = _name(self.handler, {"name": name})
            other._signature = self._signature and self._signature.renamed(name)
        if description is not None:
            other._description = description
        if hooks is not None:
            other.hooks = hooks
        return other


def _described(schema: object, root: Mapping[str, Any]) -> bool:
    """Whether a parameter has a description that the model reads: its own, or that of its type."""
    if not isinstance(schema, Mapping):
        return False
    if schema.get("description"):
        return True
    ref = schema.get("$ref")
    if isinstance(ref, str):
        kind, _, name = ref.removeprefix("#/").partition("/")
        return _described(root.get(kind, {}).get(name), {})
    members = [one for word in ("anyOf", "oneOf", "allOf") for one in schema.get(word) or ()]
    return any(_described(one, root) for one in members)


def _handler(target: Any, handler: Any, declared: object) -> Callable[..., Any] | None:
    if declared is not None:
        if handler is not None and not callable(handler):
            raise ToolDefinitionError(f"handler={handler!r} cannot be called")
        return handler  # type: ignore[no-any-return]  # a callable, or None
    if not callable(target):
        raise ToolDefinitionError(
            f"a {type(target).__name__} is neither a function nor a function declaration"
        )
    if handler is not None:
        raise ToolDefinitionError(
            f"{place_of(target)}: a function serves itself; handler= is for a declaration"
        )
    return target  # type: ignore[no-any-return]  # a callable


def _given(declared: Mapping[str, Any] | None, mark: ToolMark, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options: those given, before ``@tool``'s, but a declaration's name and description before these."""
    if declared is None:
        return {**mark.options, **options}
    own = {k: v for k, v in declared.items() if k != "parameters" and v is not None}
    behavior = resolve({"behavior": own.pop("behavior", None)}, f"the declaration {own['name']!r}")
    return {**behavior, **mark.options, **own, **options}


def _name(target: Any, options: Mapping[str, Any]) -> str:
    """The name for the model: the option, or the function's, or of an object its class's. Checked."""
    name = options.get("name")
    if name is None:
        plain = target.func if isinstance(target, functools.partial) else target
        name = getattr(plain, "__name__", None) or _snake(type(plain).__name__)
    if not TOOL_NAME.fullmatch(name):
        place = "" if target is None else f"{place_of(target)}: "
        raise ToolDefinitionError(
            f"{place}{name!r} is not a valid name for a tool: a letter or an underscore first, then letters, digits "
            "and _ . : -, at most 64 characters in all. Give it one: name='...'"
        )
    return str(name)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _kind(handler: Any) -> _Kind:
    """How a handler runs, from its type; partials, methods and objects with ``__call__`` are looked into."""
    if handler is None:
        return "declared"
    plain = handler
    while isinstance(plain, functools.partial):
        plain = plain.func
    if not inspect.isroutine(plain) and not isinstance(plain, type):
        plain = plain.__call__
    if inspect.isasyncgenfunction(plain):
        return "async_generator"
    if inspect.isgeneratorfunction(plain):
        return "generator"
    return "async" if inspect.iscoroutinefunction(plain) else "sync"
