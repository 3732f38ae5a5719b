"""docs/ephemeral-tokens.md: its program is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from httpx import ASGITransport, AsyncClient

import livetools
from livetools.testing import FakeLiveServer

PAGE = Path(__file__).parents[2] / "docs" / "ephemeral-tokens.md"
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # google-genai's


@pytest.mark.filterwarnings("ignore:The SDK's token creation")
async def test_the_token_of_the_recipe_opens_one_session_with_what_it_locks(monkeypatch):
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    async with FakeLiveServer(api_keys=["the-key"]) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.http_url)
        monkeypatch.setenv("GEMINI_API_KEY", "the-key")
        names: dict[str, object] = {}
        exec(compile(program, str(PAGE), "exec"), names)
        async with AsyncClient(transport=ASGITransport(app=names["app"]), base_url="http://test") as page:
            token = (await page.post("/token")).json()["token"]
        assert token.startswith("auth_tokens/")
        theirs = {"base_url": server.url, "api_key": token, "instructions": "Say what I want."}
        async with livetools.connect("gemini-3.8-live", **theirs) as session:
            assert str(await session.ask("Hello"))
        instruction = server.sessions[0].setup["systemInstruction"]["parts"][0]["text"]
        assert instruction == "You help people to choose a bicycle. Be brief."
        with pytest.raises(livetools.LiveToolsError):
            async with livetools.connect("gemini-3.8-live", **theirs):
                pass
