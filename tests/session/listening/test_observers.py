"""Hooks that follow a whole session: what they are told, and that they cost it nothing when they fail."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from livetools import Call, SessionStarted
from livetools.events import Event
from livetools.tools import Hooks

pytestmark = pytest.mark.anyio

Opened = Callable[..., Any]
OPENED: ContextVar[str] = ContextVar("opened", default="")


ERROR = RuntimeError("the pen is empty")


class Diary(Hooks):
    """Notes everything; raises where it is told to."""

    def __init__(self, fails: str = "", error: BaseException = ERROR) -> None:
        self.fails, self.error, self.notes = fails, error, list[object]()

    def on_session(self, session: Any) -> Diary:
        OPENED.set("by the hook")
        self._note("session", session)
        return self

    def event(self, event: Event) -> None:
        self._note("event", event)

    def typed(self, text: str) -> None:
        self._note("typed", text)

    def ended(self, error: Exception | None) -> None:
        self._note("ended", error)

    def _note(self, kind: str, what: object) -> None:
        self.notes.append((kind, what))
        if kind == self.fails:
            raise self.error


async def test_it_is_told_of_every_event_of_what_is_typed_and_of_the_end(opened: Opened) -> None:
    diary = Diary()
    async with opened(hooks=[diary, Hooks]) as line:
        await line.session.send_text("hello")
        session = line.session
    kinds = [kind for kind, _ in diary.notes]  # type: ignore[misc]
    assert diary.notes[0] == ("session", session)
    assert ("event", SessionStarted()) in diary.notes
    assert ("typed", "hello") in diary.notes
    assert diary.notes[-1] == ("ended", None)
    assert kinds.count("ended") == 1


async def test_handlers_see_the_context_variables_that_it_sets_and_the_user_does_not(opened: Opened) -> None:
    async def look() -> str:
        return OPENED.get()

    async with opened(tools=[look], hooks=[Diary()]) as line:
        line.call({"id": "c1", "name": "look", "args": {}})
        (response,) = await line.responses(1)
    assert response["response"] == {"output": "by the hook"}
    assert OPENED.get() == ""


@pytest.mark.parametrize("error", [ERROR, SystemExit(1)], ids=["an error", "an exit"])
@pytest.mark.parametrize("fails", ["session", "event", "typed", "ended"])
async def test_one_that_raises_is_logged_once_and_left_out(
    opened: Opened, fails: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    diary, other = Diary(fails, error), Diary()
    async with opened(hooks=[diary, other]) as line:
        await line.session.send_text("one")
        await line.session.send_text("two")
    assert [kind for kind, _ in diary.notes].count(fails) == 1  # type: ignore[misc]
    assert caplog.text.count("Diary failed") == 1
    assert [what for kind, what in other.notes if kind == "typed"] == ["one", "two"]  # type: ignore[misc]
    assert other.notes[-1] == ("ended", None)


async def test_what_could_hear_nothing_is_told_in_the_log(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    class Later(Diary):
        def on_session(self, session: Any) -> Any:
            return [super().on_session(session)]

    async with opened(hooks=[Diary(), Later()]):
        pass
    assert "Later.on_session returned what hears nothing: it has no event, typed" in caplog.text
    assert "Diary.on_session" not in caplog.text


def test_hooks_follow_nothing_unless_they_say_so() -> None:
    class Plain(Hooks):
        def before(self, call: Call) -> None:
            """Look at it."""

    plain: Any = Plain()
    assert plain.on_session(object()) is None
    assert plain.elsewhere(Call("c", "f"), len) is len
