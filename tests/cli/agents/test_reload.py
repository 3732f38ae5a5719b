"""``--reload``: a session takes on the tools of a file that was saved."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

import livetools
from livetools.cli.agents.load_agent import load
from livetools.cli.agents.reload import folder_of, follow, loaded, update
from livetools.testing import FakeLiveServer

TOOL = "def {name}(x: int) -> int:\n    'Does it.'\n    return x\n"
AGENT = (
    "from functools import partial\nimport livetools\n"
    + TOOL
    + "agent = partial(livetools.connect, 'gemini-3.8-live', tools=[{name}], instructions='Be {name}.')\n"
)


@pytest.mark.anyio
@pytest.mark.parametrize("text", [TOOL, AGENT], ids=["functions", "an agent"])
async def test_the_session_has_the_new_tools(tmp_path, text):
    file = tmp_path / "shop.py"
    file.write_text(text.format(name="first"))
    server = FakeLiveServer()

    @server.model
    async def model(turn):
        response = await turn.call("second", x=2)
        await turn.say(f"It is {response['output']}.")

    async with server:
        async with livetools.connect("gemini-3.8-live", **server.options) as session:
            file.write_text(text.format(name="second"))
            await update(await loaded(str(file)), session)
            assert list(session.tools) == ["second"]
            assert str(await session.ask("go")) == "It is 2."


@pytest.mark.anyio
async def test_instructions_that_were_chosen_stay(tmp_path):
    file = tmp_path / "shop.py"
    file.write_text(AGENT.format(name="second"))
    async with FakeLiveServer() as server:
        for own, instructions in ((True, "Be second."), (False, "Rhyme.")):
            async with livetools.connect(
                "gemini-3.8-live", instructions="Rhyme.", **server.options
            ) as session:
                await update(await loaded(str(file)), session, instructions=own)
                assert list(session.tools) == ["second"]
                await session.ask("hello")
                told = server.sessions[-1].setup["systemInstruction"]
                assert told["parts"][0]["text"] == instructions


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=False)
async def test_a_file_that_is_saved_is_followed_and_a_broken_one_told(tmp_path):
    file = tmp_path / "shop.py"
    file.write_text(TOOL.format(name="first"))
    told: list[str] = []
    heard = anyio.Event()

    def notice(text: str) -> None:
        told.append(text)
        heard.set()

    async with FakeLiveServer() as server:
        async with livetools.connect(
            "gemini-3.8-live", tools=load(str(file)).tools, **server.options
        ) as session:
            async with anyio.create_task_group() as group:
                group.start_soon(follow, str(file), session, notice)
                while not told:  # what is saved before the folder is watched is not seen
                    file.write_text("1 / 0")
                    with anyio.move_on_after(1):
                        await heard.wait()
                group.cancel_scope.cancel()
            assert list(session.tools) == ["first"]
    assert "shop.py: " in told[0]
    assert "ZeroDivisionError" in told[0]


def test_the_folder_of_a_file_or_of_a_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert folder_of("deep/shop.py:agent") == tmp_path / "deep"
    assert folder_of("shop.py") == tmp_path
    assert folder_of("package.shop:agent") == Path.cwd()
