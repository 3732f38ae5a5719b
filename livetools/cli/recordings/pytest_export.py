"""Writes a conversation as a pytest test: a script for ``live_server``, and the questions that the user asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from livetools.cli.agents.common_options import DEFAULT_MODEL
from livetools.cli.agents.load_agent import load, split
from livetools.cli.agents.open_sessions import Choices, config_of
from livetools.testing import Recording
from livetools.testing.wire import Frame

from .script_from_frames import ScriptLines, script_of

#: The name of a recording that stays in memory.
IN_MEMORY = Path("in-memory.jsonl")

TEST = '''\
"""{title}, {origin}. Run it with pytest.

It plays the model's part, and asserts what the tools returned and what the model said of it. Where a result differs
each time (the time of day, a number that is drawn), change its `assert`.
"""

{imports}

{constants}


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_the_conversation(live_server):
    {events} = {made}

    @live_server.conversation
    async def script(user):
        try:
{script}
        finally:  # also where an assert fails: nobody waits for what does not come
            {ending}

    session = {opening}  # to the fixture's fake server
    async with session{deciding}:
{asking}
'''

DECIDE = '''
{constants}


async def decide(session):
    """Do what the person did then."""
    async for event in session:
        match event:{cases}'''

APPROVE = """
            case livetools.ApprovalRequested(call):
                reasons = [why for name, args, why in REFUSED if (name, args) == (call.name, dict(call.args))]
                await (session.refuse(call, reasons[0]) if reasons else session.approve(call))"""

_ANSWER = """
            case livetools.ToolStarted(call):
                for told in [each for each in ANSWERS if each[:2] == (call.name, dict(call.args))][:1]:
                    ANSWERS.remove(told)
                    await session.respond(call, told[2])"""


@dataclass(frozen=True, slots=True)
class Subject:
    """Who was talked to: the target and the options of the command; ``asks_approval``: a tool may wait for a person;
    ``declared_only``: functions that a person answers; ``origin``: where the conversation comes from, for the head of
    the test."""

    target: str | None
    choices: Choices = field(default_factory=Choices)
    asks_approval: bool = False
    declared_only: frozenset[str] = frozenset()
    origin: str = "as it was held on the page of `livetools web`"

    @property
    def asks_person(self) -> bool:
        """Whether a person decides something while the conversation is held."""
        return self.asks_approval or bool(self.declared_only)


def as_test(frames: Iterable[Frame], subject: Subject) -> str:
    """The source of a test that holds this conversation with the agent again.

    Keys, tokens and handles are left out, as in a recording. Raises ``ValueError`` when no question has been answered
    yet.
    """
    recording = Recording(IN_MEMORY)
    for frame in frames:
        recording.add(frame)
    script = script_of(recording.frames)
    if not script.questions:
        raise ValueError("no question has been answered yet: there is nothing to test")
    names = [*(f"past{n}" for n in _past(script)), "over"]
    head, opening = _agent_of(subject)
    target = subject.target and subject.target.replace("\\", "/").rpartition("/")[2]
    about = target or subject.choices.model or "a model"
    return TEST.format(
        title=f"A conversation with {about}".replace('"', "'"),
        origin=subject.origin.replace("\\", "/").replace('"', "'"),
        imports="\n".join(head),
        constants=_deciding(subject, script) if subject.asks_person else "",
        events=", ".join(names),
        made=", ".join(["anyio.Event()"] * len(names)),
        script="\n".join(f"            {line}" for line in script.lines),
        ending="; ".join(f"{name}.set()" for name in names),
        opening=opening,
        deciding=", anyio.create_task_group() as group" if subject.asks_person else "",
        asking="\n".join(f"        {line}" for line in _asking(script, subject.asks_person)),
    )


def _agent_of(subject: Subject) -> tuple[list[str], str]:
    """The imports of the test, and the expression that opens its session.

    The test belongs beside the file of the agent, and finds it from its own folder. Instructions, voice and language
    are left out for an agent, which has its own: a scripted model reads none of them.
    """
    imports = ["import anyio", "import pytest", "", "import livetools"]
    if subject.target is None:
        return imports, _connect(subject.choices, "")
    loaded, (place, _) = load(subject.target), split(subject.target)
    is_file = place.endswith(".py") or "/" in place
    module = Path(place).stem if is_file else place
    where = (
        f"the folder of {Path(place).name}" if is_file else f"the folder that holds {place.partition('.')[0]}"
    )
    imports = [
        "import importlib",
        "import sys",
        "from pathlib import Path",
        "",
        *imports,
        "",
        f"sys.path.insert(0, str(Path(__file__).parent))  # {where}: change this if the test lies elsewhere",
        f"program = importlib.import_module({module!r})",
    ]
    names = [f"program.{name}" for name in loaded.names]
    if loaded.agent is not None:
        return imports, f"{names[0]}()"
    return imports, _connect(subject.choices, f"tools=[{', '.join(names)}]")


def _connect(choices: Choices, tools: str) -> str:
    """The call of ``connect`` that is equal to the options of the command."""
    given: dict[str, object] = {
        name: getattr(choices, name) for name in ("instructions", "voice", "language")
    } | {"config": config_of(choices) or None}
    options = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    return f"livetools.connect({', '.join(filter(None, [repr(choices.model or DEFAULT_MODEL), tools, *options]))})"


def _deciding(subject: Subject, script: ScriptLines) -> str:
    """The part of the person: what was refused, and what was answered in the place of a function."""
    constants, cases = [], ""
    if subject.asks_approval:
        refused = [(name, dict(args), why) for name, args, why in script.refused]
        constants.append(f"REFUSED = {refused!r}  # name, arguments, reason")
        cases += APPROVE
    if subject.declared_only:
        told = [
            (name, dict(args), dict(body))
            for name, args, body in script.answered
            if name in subject.declared_only
        ]
        constants.append(f"ANSWERS = {told!r}  # name, arguments, response")
        cases += _ANSWER
    return DECIDE.format(constants="\n".join(["", *constants]), cases=cases)


def _past(script: ScriptLines) -> list[int]:
    """The numbers of the questions after whose answer the script continues. The last one is followed by ``over``."""
    return [n for n, question in enumerate(script.questions[:-1], 1) if question.goes_on]


def _asking(script: ScriptLines, deciding: bool) -> list[str]:
    lines = ["group.start_soon(decide, session)"] if deciding else []
    for n, question in enumerate(script.questions, 1):
        lines.append(f"reply = await session.ask({question.text!r}){'  # spoken' if question.spoken else ''}")
        if question.interrupted or question.line_lost:
            lines.append("assert reply.interrupted")
        else:
            lines.append(f"assert [call.name for call in reply.calls] == {question.calls!r}")
            lines += [f"assert {text!r} in str(reply)" for text in question.answers]
        if n in _past(script):
            lines.append(f"await past{n}.wait()")
    lines += ["with anyio.fail_after(60):", "    await over.wait()  # what comes after the last answer"]
    return [*lines, "group.cancel_scope.cancel()"] if deciding else lines
