"""Writes a conversation as a pytest test: a script for ``live_server``, and the questions that the user asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path

from livetools.testing import Recording
from livetools.testing.wire import Frame

from .agent import Choices
from .scripting import Script, script_of

#: Where a recording that stays in memory is not written.
NOWHERE = Path("in-memory.jsonl")

TEST = '''\
"""{title}, {origin}. Run it with pytest; it needs the extras cli and testing."""

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
{script}
        over.set()

    session = sessions(TARGET, {choices}, {{}})()  # to where the fixture's environment points
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
                refused = (call.name, dict(call.args)) in REFUSED
                await (session.refuse(call) if refused else session.approve(call))"""

ANSWER = """
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
    recording = Recording(NOWHERE)
    for frame in frames:
        recording.add(frame)
    script = script_of(recording.frames)
    if not script.questions:
        raise ValueError("no question has been answered yet: there is nothing to test")
    names = [*(f"past{n}" for n in _past(script)), "over"]
    imports, constants = _head(subject)
    about = subject.target or subject.choices.model or "a model"
    return TEST.format(
        title=f"A conversation with {about}".replace("\\", "/").replace('"', "'"),
        origin=subject.origin.replace("\\", "/").replace('"', "'"),
        imports="\n".join(imports),
        constants="\n".join(constants) + (_deciding(subject, script) if subject.asks_person else ""),
        events=", ".join(names),
        made=", ".join(["anyio.Event()"] * len(names)),
        script="\n".join(f"        {line}" for line in script.lines),
        choices=_choices(subject.choices),
        deciding=", anyio.create_task_group() as group" if subject.asks_person else "",
        asking="\n".join(f"        {line}" for line in _asking(script, subject.asks_person)),
    )


def _head(subject: Subject) -> tuple[list[str], list[str]]:
    """The imports, and the constants below them: the target stands with its whole path, wherever the test lies."""
    imports = ["import anyio", "import pytest", ""]
    if subject.asks_person:
        imports.append("import livetools")
    imports.append("from livetools.cli.agent import Choices, sessions")
    if subject.choices.config is not None:
        imports = ["from pathlib import Path", "", *imports]
    target = subject.target
    if target is None:
        return imports, ["TARGET = None"]
    place, colon, names = (target, "", "") if target.endswith(".py") else target.rpartition(":")
    if place.endswith(".py"):
        return imports, [f"TARGET = {f'{Path(place).resolve()}{colon}{names}'!r}"]
    return ["import sys", "", *imports], [f"sys.path.insert(0, {str(Path.cwd())!r})", f"TARGET = {target!r}"]


def _choices(choices: Choices) -> str:
    """The options that were given, as they are written in Python."""
    given = {each.name: getattr(choices, each.name) for each in fields(choices)}
    written = [f"{name}={_written(value)}" for name, value in given.items() if value is not None]
    return f"Choices({', '.join(written)})"


def _written(value: object) -> str:
    return f"Path({str(value.resolve())!r})" if isinstance(value, Path) else repr(value)


def _deciding(subject: Subject, script: Script) -> str:
    """The part of the person: what was refused, and what was answered in the place of a function."""
    constants, cases = [], ""
    if subject.asks_approval:
        constants.append(f"REFUSED = {[(name, dict(args)) for name, args in script.refused]!r}")
        cases += APPROVE
    if subject.declared_only:
        told = [
            (name, dict(args), dict(body))
            for name, args, body in script.answered
            if name in subject.declared_only
        ]
        constants.append(f"ANSWERS = {told!r}  # name, arguments, response")
        cases += ANSWER
    return DECIDE.format(constants="\n".join(["", *constants]), cases=cases)


def _past(script: Script) -> list[int]:
    """The numbers of the questions after whose answer the script goes on; after the last all is ``over``."""
    return [n for n, question in enumerate(script.questions[:-1], 1) if question.goes_on]


def _asking(script: Script, deciding: bool) -> list[str]:
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
