"""The ``live_server`` fixture, in tests that pytest runs in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.apart import run_pytest

APP = """
    import os, ssl
    import pytest

    MODEL = "gemini-live-2.5-flash-preview"
    CONFIG = {
        "response_modalities": ["TEXT"],
        "tools": [{"function_declarations": [{"name": "get_weather"}]}],
    }

    async def app(answer=True):
        from google import genai  # here: not every test needs it, and it takes a second
        from google.genai import types

        text = ""
        async with genai.Client().aio.live.connect(model=MODEL, config=CONFIG) as session:
            await session.send_client_content(turns={"role": "user", "parts": [{"text": "Weather?"}]})
            async for message in session.receive():
                text += message.text or ""
                for call in (message.tool_call.function_calls if message.tool_call else []):
                    if not answer:
                        return text
                    reply = types.FunctionResponse(id=call.id, name=call.name, response={"output": "12 °C"})
                    await session.send_tool_response(function_responses=[reply])
        return text

    def script(server):
        @server.model
        async def model(turn):
            weather = await turn.call("get_weather", city="Oslo")
            await turn.say(f"It is {weather['output']}.")
"""


@pytest.fixture
def run(tmp_path: Path):
    """Run a file of tests in a process of its own; its exit status and output."""

    def runner(test: str, *options: str) -> tuple[int, str]:
        path = tmp_path / "test_it.py"
        path.write_text(textwrap.dedent(APP) + textwrap.dedent(test))
        done = run_pytest("-q", *options, path, cwd=tmp_path, env={**os.environ, "COLUMNS": "400"})
        return done.returncode, done.stdout

    return runner


def test_an_unmodified_program_meets_the_fake_under_each_kind_of_async_test(run):
    status, output = run(
        """
        @pytest.mark.anyio
        @pytest.mark.parametrize("anyio_backend", ["asyncio"])
        async def test_under_anyio(live_server):
            script(live_server)
            assert await app() == "It is 12 °C."

        @pytest.mark.asyncio
        async def test_under_pytest_asyncio(live_server):
            script(live_server)
            assert await app() == "It is 12 °C."

        class TestInAClass:
            @pytest.mark.asyncio
            async def test_a_method(self, live_server):
                script(live_server)
                assert await app() == "It is 12 °C."

        @pytest.mark.trio
        async def test_under_pytest_trio(live_server):
            from websockets.trio.client import connect
            path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
            async with connect(live_server.url + path, ssl=live_server.ssl_context) as socket:
                await socket.send('{"setup": {"model": "models/gemini-3.8-live"}}')
                assert b"setupComplete" in await socket.recv()

        def test_a_sync_one(live_server):
            import anyio
            script(live_server)
            assert anyio.run(app) == "It is 12 °C."

        @pytest.fixture
        async def answer(live_server):
            script(live_server)
            return await app()

        @pytest.mark.anyio
        @pytest.mark.parametrize("anyio_backend", ["asyncio"])
        async def test_with_an_async_fixture_that_uses_the_server(answer):
            assert answer == "It is 12 °C."
        """
    )
    assert status == 0, output
    assert "6 passed" in output


def test_livetools_finds_the_fake_by_the_environment_or_by_its_options(run):
    status, output = run(
        """
        import livetools

        def get_weather(city: str) -> str:
            return "12 °C"

        @pytest.mark.anyio
        @pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
        @pytest.mark.parametrize("given", [False, True])
        async def test_the_weather_is_spoken(live_server, given):
            script(live_server)
            options = live_server.options if given else {}
            async with livetools.connect("gemini-3.8-live", tools=[get_weather], **options) as session:
                assert str(await session.ask("Weather in Oslo?")) == "It is 12 °C."
        """
    )
    assert status == 0, output
    assert "4 passed" in output


def test_an_unanswered_call_fails_the_test_and_the_report_shows_both_directions(run):
    status, output = run(
        """
        @pytest.mark.asyncio
        async def test_forgetful(live_server):
            script(live_server)
            await app(answer=False)

        def test_forgetful_and_sync(live_server):
            import anyio
            script(live_server)
            anyio.run(app, False)
        """
    )
    assert status == 1, output
    assert "2 failed" in output
    assert "error" not in output.splitlines()[-1]
    assert "never answered: get_weather" in output
    assert '#1 → {"setup"' in output
    assert '#1 ← {"toolCall"' in output


def test_a_body_that_raises_is_told_as_it_is_and_not_as_unanswered_calls(run):
    status, output = run(
        """
        @pytest.mark.asyncio
        async def test_broken(live_server):
            script(live_server)
            await app(answer=False)
            raise RuntimeError("the test's own")
        """
    )
    assert status == 1
    assert "RuntimeError: the test's own" in output
    assert "never answered" not in output


def test_a_script_that_raises_ends_the_test_at_once_and_the_report_shows_where(run):
    status, output = run(
        """
        import livetools

        @pytest.mark.asyncio
        async def test_broken(live_server):
            @live_server.conversation
            async def script(user):
                turn = user.says("Weather?")
                await turn.say("never awaited")

            async with livetools.connect("gemini-3.8-live") as session:
                await session.ask("Weather?")
        """,
        "-W",
        "ignore::RuntimeWarning",
    )
    assert status == 1
    assert "AssertionError: the pretend model raised AttributeError" in output
    assert re.search(r'> +await turn.say\("never awaited"\)', output)


def test_tests_that_prove_nothing_fail_and_say_why(run):
    status, output = run(
        """
        import anyio, livetools

        async def ask(*questions):
            async with livetools.connect("gemini-3.8-live") as session:
                for question in questions:
                    await session.ask(question)

        def played(server, *words):
            @server.conversation
            async def script(user):
                for text in words:
                    turn = await user.says(text)
                    await turn.say("Yes.")

        @pytest.mark.asyncio
        async def test_left_early(live_server):
            played(live_server, "one", "two")
            await ask("one")

        def test_left_early_and_sync(live_server):
            played(live_server, "one", "two")
            anyio.run(ask, "one")

        @pytest.mark.asyncio
        async def test_never_comes(live_server):
            played(live_server, "one")

        def test_never_comes_and_sync(live_server):
            played(live_server, "one")

        @pytest.mark.asyncio
        async def test_speaks_on(live_server):
            played(live_server, "one")
            await ask("one", "two")

        def test_says_something_else_and_sync(live_server):
            played(live_server, "expected words")
            anyio.run(ask, "other words")

        @pytest.mark.asyncio
        async def test_is_played(live_server):
            played(live_server, "one", "two")
            await ask("one", "two")
        """,
        "-rf",
        "--tb=no",
    )
    assert status == 1
    assert "6 failed, 1 passed" in output
    told = dict(
        line.split("::")[1].split(" - ", 1) for line in output.splitlines() if line.startswith("FAILED")
    )
    for name, words in {
        "test_left_early": "the script was not played out: it waits for the user to say 'two'",
        "test_left_early_and_sync": "the script was not played out: it waits for the user to say 'two'",
        "test_never_comes": "the script was not played: no client began a conversation",
        "test_never_comes_and_sync": "the script was not played: no client began a conversation",
        "test_speaks_on": "the user says 'two', and the script has ended",
        "test_says_something_else_and_sync": "the user says 'other words', the script expects 'expected words'",
    }.items():
        assert words in told[name]
        assert "suspect" not in told[name]


def test_pytest_starts_without_importing_what_the_fixtures_need():
    code = """
import sys
import livetools.evals.pytest_plugin
import livetools.testing.pytest_plugin
heavy = {
    "anyio", "google.genai", "pydantic", "trustme", "websockets",
    "livetools.evals.running.playing", "livetools.session.session", "livetools.testing.server",
} & set(sys.modules)
sys.exit(", ".join(heavy) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_a_model_raised_is_shown_once_and_without_the_fakes_own_frames(run, kind):
    """The frames and the traceback of the model stand in the failure itself."""
    status, output = run(f"""
        @pytest.mark.anyio
        {"async " if kind == "async" else ""}def test_it(live_server):
            @live_server.model
            async def model(turn):
                raise KeyError("oops")

            {"await app()" if kind == "async" else "import asyncio; asyncio.run(app())"}

        @pytest.fixture
        def anyio_backend():
            return "asyncio"
    """)
    assert status == 1
    assert output.count("frames (") == 1
    assert output.count("KeyError: 'oops'") == 2  # what was raised, and the sentence that says by whom
    assert "assert_all_answered()" not in output
    assert "contextlib.py" not in output


def test_a_model_without_async_is_refused_in_the_line_that_gives_it(run):
    status, output = run("""
        def test_it(live_server):
            @live_server.model
            def model(turn):
                turn.say("hello")
    """)
    assert status == 1
    assert "is not a coroutine function, and the fake server awaits it: async def model(turn): ..." in output
    assert ">       @live_server.model" in output
