"""@tool and Tool: what comes back, what is refused, and what the model gets."""

from __future__ import annotations

import concurrent.futures
import copy
import dataclasses
import functools
import gc
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from livetools.errors import ToolDefinitionError, ToolError
from livetools.tools import Tool, ToolContext, as_tools, tool
from livetools.tools.tool_cache import compiled

pytestmark = pytest.mark.anyio


def add(a: int, b: int = 10) -> int:
    """Adds two numbers."""
    return a + b


async def test_the_decorator_returns_the_very_function() -> None:
    def f(x: int) -> int:
        return x

    assert tool(f) is f
    assert tool(name="g", timeout=3)(f) is f
    assert f(1) == 1


async def test_a_plain_function_is_declared_and_called() -> None:
    t = Tool(add)
    assert (t.name, t.description, t.kind, t.handler) == ("add", "Adds two numbers.", "sync", add)
    assert t.declaration() == {
        "name": "add",
        "description": "Adds two numbers.",
        "parameters": {
            "type": "OBJECT",
            "properties": {"a": {"type": "INTEGER"}, "b": {"type": "INTEGER", "default": 10}},
            "required": ["a"],
        },
    }
    assert await t.call({"a": 1}) == {"output": 11}
    assert await t.call({"a": 1.0, "b": "2"}) == {"output": 3}


async def test_the_kinds_of_functions_all_run() -> None:
    async def one(x: int) -> int:
        return x

    def many(x: int) -> Iterator[int]:
        yield from range(x)

    async def stream(x: int) -> AsyncIterator[int]:
        for i in range(x):
            yield i

    class Adder:
        """Adds."""

        def __call__(self, x: int) -> int:
            return x + 1

        async def method(self, x: int) -> int:
            return x + 2

    kinds = {Tool(f).kind: await Tool(f).call({"x": 2}) for f in (one, many, stream, Adder(), Adder().method)}
    assert kinds == {
        "async": {"output": 4},
        "generator": {"output": [0, 1]},
        "async_generator": {"output": [0, 1]},
        "sync": {"output": 3},
    }
    assert Tool(Adder()).name == "adder"
    assert Tool(Adder()).description == "Adds."


async def test_only_a_tool_error_is_told_to_the_model() -> None:
    def boom() -> None:
        raise RuntimeError("s3cret")

    def no() -> None:
        raise ToolError("no such city")

    assert await Tool(boom).call({}) == {"error": "boom failed"}
    assert await Tool(no).call({}) == {"error": "no such city"}


async def test_a_context_is_filled_in_and_hidden() -> None:
    def who(greeting: str, context: ToolContext[dict[str, str]]) -> str:
        return f"{greeting} {context.deps['name']} ({context.call.args['greeting']})"

    t = Tool(who)
    assert list(t.declaration()["parameters"]["properties"]) == ["greeting"]
    assert await t.call({"greeting": "hi"}, deps={"name": "Ada"}) == {"output": "hi Ada (hi)"}


@pytest.mark.parametrize("target", [functools.partial(add, 1), print, add.__get__(1), int])
async def test_what_cannot_bear_options_is_told_of_the_other_way(target: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"Tool\(f, name="):
        tool(target)


class Town:
    """A town."""

    def __init__(self, name: str) -> None:
        self.name = name

    @tool(timeout=5)
    def weather(self, day: str = "today") -> str:
        """Weather here.

        Args:
            day: which day
        """
        return f"{self.name} {day}"

    @tool(name="founded")
    @classmethod
    def found(cls, name: str) -> str:
        return cls(name).name

    @classmethod
    @tool
    def found_inside(cls, name: str) -> str:
        return cls(name).name

    @staticmethod
    @tool
    def length(text: str) -> int:
        return len(text)

    @tool
    @staticmethod
    def double(text: str) -> str:
        return text * 2


async def test_methods_of_every_kind_are_decorated_in_the_class_and_passed_bound() -> None:
    town = Town("Oslo")
    assert await Tool(town.weather).call({}) == {"output": "Oslo today"}
    assert Tool(town.weather).options["timeout"] == 5
    assert Tool(town.weather).declaration()["parameters"]["properties"] == {
        "day": {"type": "STRING", "description": "which day", "default": "today"}
    }
    assert await Tool(Town.found).call({"name": "Rome"}) == {"output": "Rome"}
    assert Tool(Town.found).name == "founded"
    assert await Tool(Town.found_inside).call({"name": "Rome"}) == {"output": "Rome"}
    assert await Tool(Town.length).call({"text": "abc"}) == {"output": 3}
    assert await Tool(town.double).call({"text": "ab"}) == {"output": "abab"}
    with pytest.raises(ToolDefinitionError, match=r"pass instance\.weather, not the class's"):
        Tool(Town.weather)


async def test_an_object_bears_its_own_options() -> None:
    class Greeter:
        def __call__(self, name: str) -> str:
            return f"hi {name}"

    one, other = Greeter(), Greeter()
    assert tool(name="greet")(one) is one
    assert (Tool(one).name, Tool(other).name) == ("greet", "greeter")


async def test_options_are_kept_and_the_later_win() -> None:
    @tool(timeout=3, concurrency=2)
    def f() -> None: ...

    tool(timeout=4)(f)
    assert (Tool(f).options["timeout"], Tool(f).options["concurrency"]) == (4, 2)
    assert Tool(f, timeout=5, description="other").options["timeout"] == 5
    assert Tool(f, description="other").description == "other"


def made_elsewhere() -> Any:
    @dataclasses.dataclass
    class Local:
        x: int

    @tool
    def f(it: Local) -> int:
        return it.x

    return f


async def test_annotations_of_a_scope_that_is_gone_were_kept_by_the_decorator() -> None:
    assert await Tool(made_elsewhere()).call({"it": {"x": 3}}) == {"output": 3}


@tool
def early(it: Late) -> int:
    return it.x


@dataclasses.dataclass
class Late:
    x: int


async def test_a_class_that_is_defined_further_down_is_found_later() -> None:
    assert await Tool(early).call({"it": {"x": 3}}) == {"output": 3}


async def test_a_class_that_is_never_defined_is_an_error_in_the_end() -> None:
    def f(it: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821  # that is the point

    tool(f)
    with pytest.raises(
        ToolDefinitionError, match=r"test_tool\.py:\d+, .*f: the annotation of 'it' cannot be resolved"
    ):
        Tool(f)


@pytest.mark.parametrize("decorated", [True, False])
async def test_an_annotation_that_no_schema_can_say_is_refused_at_once(decorated: bool) -> None:
    def f(callback: Callable[[], None]) -> None: ...

    with pytest.raises(
        ToolDefinitionError,
        match=r"test_tool\.py:\d+, .*f: parameter 'callback': Callable\[\[\], None\] cannot be",
    ):
        tool(f) if decorated else Tool(f)


@pytest.mark.parametrize(
    ("target", "options", "text"),
    [
        (lambda: 0, {}, "'<lambda>' is not a valid name for a tool"),
        (add, {"name": "1st"}, "'1st' is not a valid name for a tool"),
        (add, {"name": "a" * 65}, "at most 64 characters"),
        (add, {"name": "ünï"}, "is not a valid name for a tool"),
        (add, {"handler": add}, "a function serves itself"),
        (5, {}, "a int is neither a function nor a function declaration"),
        ({"name": "f"}, {"handler": 5}, "handler=5 cannot be called"),
    ],
)
async def test_what_cannot_be_a_tool_is_refused(target: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ToolDefinitionError, match=text):
        Tool(target, **options)


async def test_a_function_in_another_process_gets_no_context() -> None:
    class ProcessPoolExecutor:  # the name is what is looked at; a real one would start processes
        def submit(self) -> None: ...

    pool: Any = ProcessPoolExecutor()

    def f(context: ToolContext) -> None: ...

    async def g() -> None: ...

    with pytest.raises(ToolDefinitionError, match="'context' is a ToolContext, which cannot cross"):
        Tool(f, executor=pool)
    with pytest.raises(ToolDefinitionError, match="executor= runs sync functions, and this one is 'async'"):
        Tool(g, executor=pool)
    assert Tool(add, executor=pool).options["executor"] is pool


async def test_lint_says_what_a_model_will_not_know() -> None:
    def rough(x, größe: int = 0, **rest: int) -> None:  # type: ignore[no-untyped-def]  # that is the point
        """Does.

        Args:
            x: something
            gone: not here any more
        """

    def described(x: int) -> None:
        """Does.

        Args:
            x: something
        """

    assert Tool(described).lint() == []
    assert Tool(add).lint() == [
        "add: a: no description; a line in the docstring tells the model what to send",
        "add: b: no description; a line in the docstring tells the model what to send",
    ]
    assert Tool(rough, name="be-rough").lint() == [
        "be-rough: x: no type hint; declared as string, number or boolean",
        "be-rough: the arguments: further properties are accepted, but cannot be declared",
        "be-rough: models stumble over dashes, dots and colons in a name (google/adk-python#1698)",
        "be-rough: größe: the service documents [A-Za-z_][A-Za-z0-9_]* for the names of parameters",
        "be-rough: größe: no description; a line in the docstring tells the model what to send",
        "be-rough: gone: in the docstring, but no parameter",
    ]
    assert Tool(lambda: 0, name="f").lint() == [
        "f: no description; a docstring tells the model when to call it"
    ]


async def test_the_other_dialect_is_plain_json_schema() -> None:
    assert Tool(add).declaration("json_schema")["parametersJsonSchema"] == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 10}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert "parametersJsonSchema" not in Tool(made_elsewhere, name="f").declaration("json_schema")
    with pytest.raises(ValueError, match="dialect='openapi'"):
        Tool(add).declaration("openapi")  # type: ignore[arg-type]  # that is the point


async def test_a_declaration_is_a_new_one_each_time() -> None:
    t = Tool(add)
    t.declaration()["parameters"]["properties"].clear()
    assert t.declaration()["parameters"]["properties"]


async def test_a_spec_tells_the_plan_what_it_must_know() -> None:
    def many() -> Iterator[int]:
        yield 1

    spec = Tool(many, behavior="non_blocking").spec()
    assert (spec.declaration, spec.generator, spec.handled) == ({"name": "many"}, True, True)
    assert spec.options["behavior"] == "NON_BLOCKING"
    assert not Tool({"name": "f"}).spec().handled


async def test_an_object_that_has_every_attribute_is_still_a_callable() -> None:

    class Everything:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return 1

        def __call__(self, x: int) -> int:
            return x

    assert await Tool(Everything(), name="f").call({"x": 1}) == {"output": 1}


async def test_a_function_is_compiled_once_and_again_when_it_was_changed() -> None:
    def f(x: int) -> int:
        """One."""
        return x

    made = compiled(f)
    assert compiled(f) is made
    assert made.spec() is made.spec()
    f.__doc__ = "Two."
    assert compiled(f).description == "Two."
    f.__annotations__["x"] = str
    assert compiled(f).declaration()["parameters"]["properties"]["x"]["type"] == "STRING"
    f.__defaults__ = ("a",)
    assert "required" not in compiled(f).declaration()["parameters"]
    tool(name="other")(f)
    assert compiled(f).name == "other"
    assert made.description == "One.", "what was made does not change"
    assert compiled(f) is compiled(f)


async def test_a_wrapper_is_compiled_by_itself() -> None:
    def inner(x: int) -> int:
        """Inner."""
        return x

    compiled(inner)

    @functools.wraps(inner)
    def outer(x: int) -> int:
        return inner(x) + 1

    assert compiled(outer).handler is outer
    assert await compiled(outer).call({"x": 1}) == {"output": 2}
    assert await compiled(inner).call({"x": 1}) == {"output": 1}


class Counter:
    def __init__(self, start: int) -> None:
        self.start = start

    def add(self, x: int) -> int:
        """Adds."""
        return self.start + x


class Loud(Counter):
    """Another class, whose scope the annotations are looked up in."""


async def test_a_method_is_compiled_once_a_class_and_keeps_no_object_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled(Counter(0).add), compiled(Loud(0).add)
    made: list[object] = []
    monkeypatch.setattr(Tool, "_check", lambda *args: made.append(args))
    first, second = Counter(1), Counter(2)
    for n, one in ((1, first), (2, second), (3, Loud(3))):
        assert await compiled(one.add).call({"x": 10}) == {"output": 10 + n}
    assert made == []
    gone = weakref.ref(first)
    del first, one
    gc.collect()
    assert gone() is None


def test_a_function_that_is_compiled_can_be_collected() -> None:
    def make() -> weakref.ref[object]:
        def f(x: int) -> int:
            return x

        compiled(f).declaration()
        return weakref.ref(f)

    gone = make()
    gc.collect()
    assert gone() is None


def test_a_second_session_compiles_no_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    check = Tool._check
    monkeypatch.setattr(Tool, "_check", lambda self, signature: made.append(self) or check(self, signature))

    def f(x: int) -> None: ...

    def g(x: int) -> None: ...

    for _ in range(3):
        [one, two] = as_tools([f, g])
        assert (one.name, two.name) == ("f", "g")
    assert len(made) == 2


def test_a_renamed_tool_is_declared_under_its_new_name() -> None:
    made = compiled(add)
    assert made.replace(name="plus").spec().declaration["name"] == "plus"
    assert made.replace(description="Sums.").spec().declaration["description"] == "Sums."
    assert made.spec().declaration["name"] == "add"


def test_what_a_declaration_is_given_out_as_can_be_changed_without_harm() -> None:
    made = compiled(add)
    made.declaration()["parameters"]["properties"].clear()
    made.declaration("json_schema")["parametersJsonSchema"].clear()
    assert list(made.declaration()["parameters"]["properties"]) == ["a", "b"]


@pytest.mark.parametrize("wrong", [5, "x", None, []])
async def test_a_declaration_whose_properties_are_none_is_one_without_arguments(wrong: Any) -> None:
    declared = Tool(
        {"name": "f", "description": "Does.", "parameters": {"type": "object", "properties": wrong}}
    )
    assert "properties" not in (declared.declaration().get("parameters") or {})
    assert not [line for line in declared.lint() if "properties" in line]
    assert "error" in await Tool(declared.declaration(), handler=lambda: 1).call({"x": 1})


class Cluster(concurrent.futures.Executor):
    """An executor that holds what cannot be pickled, as clusters do."""

    def submit(self, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        raise NotImplementedError

    def __reduce__(self) -> str:
        raise TypeError("an executor cannot be pickled")


def test_a_decorated_function_is_pickled_by_value_without_its_executor_and_with_all_else() -> None:
    cloudpickle = pytest.importorskip("cloudpickle", reason="it comes with distributed")

    def make() -> (
        Any
    ):  # what has no name to be found by is pickled by value, as the functions of __main__ are
        @tool(executor=Cluster(), approval=True, timeout=5)
        def simulate(steps: int) -> float:
            """Simulate."""
            return steps * 1.5

        return simulate

    simulate = make()
    compiled(simulate)
    there = cloudpickle.loads(cloudpickle.dumps(simulate))
    assert there(7) == 10.5
    assert Tool(there).options["executor"] is None
    assert (Tool(there).options["approval"], Tool(there).options["timeout"]) == (True, 5)
    assert isinstance(Tool(simulate).options["executor"], Cluster)


def test_a_copy_of_an_object_keeps_the_whole_mark() -> None:
    class Counter:
        def __init__(self) -> None:
            self.many = 0

        def __call__(self, steps: int) -> int:
            """Count."""
            return steps

    marked = tool(executor=Cluster())(Counter())
    for copied in (copy.copy(marked), copy.deepcopy(marked)):
        assert isinstance(Tool(copied, name="count").options["executor"], Cluster)


def closures(user: str, kind: type = int, default: object = 3) -> Callable[..., str]:
    """A function of this user's: the same code each time."""

    def greet(times: object, days: object = default) -> str:
        """Greet somebody."""
        return f"{user} {times!r} {days!r}"

    greet.__annotations__["times"] = kind
    return greet


async def test_closures_of_the_same_code_share_what_was_compiled_and_run_as_themselves() -> None:
    anns, bobs = compiled(closures("Ann")), compiled(closures("Bob"))
    assert anns.spec() is bobs.spec()
    assert await anns.call({"times": 1}) == {"output": "Ann 1 3"}
    assert await bobs.call({"times": 2, "days": 4}) == {"output": "Bob 2 4"}


async def test_a_closure_that_takes_other_types_or_has_other_defaults_shares_nothing() -> None:
    for other in (closures("Bob", str), closures("Bob", default=True), closures("Bob", default=3.0)):
        compiled(closures("Ann"))
        assert compiled(other).spec() is not compiled(closures("Ann")).spec()
    assert await compiled(closures("Bob", str)).call({"times": "x"}) == {"output": "Bob 'x' 3"}


def test_a_closure_whose_tool_another_one_shares_is_kept_by_nobody() -> None:
    ann = closures("Ann")
    compiled(ann)
    gone = weakref.ref(ann)
    compiled(closures("Bob"))
    del ann
    gc.collect()
    assert gone() is None
