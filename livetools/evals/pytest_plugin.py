"""The pytest plugin: the ``live_eval`` fixture.

::

    async def test_booking(live_eval):
        await live_eval(agent, "A table for 4 in the name of Ann", expect=[Called("book_table", {"guests": 4})])

Conversations are played against a fake server in the test's own loop, ``live_eval.server``, whose model is the
pretend one unless the test sets another (``@live_eval.server.model``). ``pytest --live-eval=service`` plays them
against the service that the environment names.

pytest loads this module in every project that has livetools installed: it imports nothing before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from livetools.session.agents import AgentLike
    from livetools.testing import FakeLiveServer

    from .grading.expectations import Expectation
    from .grading.judge import Judge
    from .recording.conversation_record import Conversation
    from .simulation.callers import Caller, Utterance
    from .simulation.client_faults import ClientFault

#: The property of a test's report that names an expectation that was skipped: pytest-xdist hands it on.
SKIPPED = "live_eval"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--live-eval``."""
    parser.addoption(
        "--live-eval",
        choices=("fake", "service"),
        default="fake",
        help="what live_eval plays against: a fake server (the default), or the service of the environment",
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:  # pytest's, which has no public class
    """Name the expectations that were skipped: their tests have passed, and would not show it."""
    lines = [
        f"{report.nodeid}: {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, value in report.user_properties
        if name == SKIPPED
    ]
    if lines:
        terminalreporter.section("live_eval: expectations that were skipped")
        for line in dict.fromkeys(lines):
            terminalreporter.line(line)


class LiveEval:
    """Plays a conversation and fails the test with it, where an expectation is not met.

    ``skip`` is called with each expectation that was skipped, and why.
    """

    def __init__(self, server: FakeLiveServer | None, skip: Callable[[str], object]) -> None:
        import anyio

        self._server, self._skip = server, skip
        self._turn = anyio.Lock()  # one conversation after another: they have one server

    @property
    def server(self) -> FakeLiveServer:
        """The fake server, whose model a test may set. With ``--live-eval=service`` the test is skipped."""
        if self._server is None:
            pytest.skip("this test sets the model of the fake server, and runs against the service")
        return self._server

    async def __call__(
        self,
        agent: AgentLike,
        caller: Caller | str | Utterance | Sequence[str | Utterance],
        *,
        expect: Sequence[Expectation] = (),
        faults: Sequence[ClientFault] = (),
        approve: Any = True,  # as of Eval: bool or names
        timeout: float = 60.0,
        patience: float = 10.0,
        judge: Judge | None = None,
    ) -> Conversation:
        """Play one conversation; the arguments are those of :class:`~.playing.Eval`.

        Raises ``AssertionError``, with the conversation in it, where an expectation is not met or a turn is not
        answered. ``Judged`` needs a ``judge``: without one it is skipped, and pytest's summary says so. Against the
        fake server, personas and judges that were given no client are played by the pretend model.
        """
        from .grading.judge import offline
        from .running.playing import Eval, play
        from .running.repeated_runs import judge_round

        case = Eval("live_eval", agent, caller, expect, faults, approve, timeout, patience)
        if self._server is None:
            played = await judge_round(case, await play(case), judge)
        else:
            async with self._turn, self._server as server:
                with offline(server.http_url):
                    played = await judge_round(case, await play(case, **server.options), judge)
        assert played.passed, f"\n{played}"
        for line in played.skipped:
            self._skip(line)
        return played.conversation


@pytest.fixture
def live_eval(request: pytest.FixtureRequest) -> LiveEval:
    """Plays conversations with an agent, and judges them.

    ::

        async def test_booking(live_eval):
            conversation = await live_eval(agent, "A table for 4", expect=[Called("book_table", {"guests": 4})])
            assert "booked" in conversation.turns[-1].text
    """
    node: pytest.Item = request.node

    def skip(line: str) -> None:
        node.user_properties.append((SKIPPED, line))

    if request.config.getoption("--live-eval") == "service":
        return LiveEval(None, skip)
    from livetools.testing import FakeLiveServer
    from livetools.testing.pretend import Pretend

    return LiveEval(FakeLiveServer(Pretend()), skip)
