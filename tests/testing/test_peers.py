"""Clients that nobody here wrote, unmodified. `pytest -m peers` installs each into a folder of its own.

``LIVETOOLS_PEERS`` names a folder that is kept, so that the next run finds them there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from livetools.testing import FakeLiveServer

pytestmark = pytest.mark.peers

HERE = Path(__file__).parent / "peers"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    kept = os.environ.get("LIVETOOLS_PEERS")
    return Path(kept) if kept else tmp_path_factory.mktemp("peers")


def run(command, server, **environment):
    """Run a client to its end; the JSON object of its last line."""
    env = dict(os.environ) | environment | {"FAKE_URL": server.http_url}
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
        env.pop(name, None)
    if server.ca_file:
        env |= {
            "SSL_CERT_FILE": server.ca_file,
            "GOOGLE_GEMINI_BASE_URL": server.http_url,
            "GOOGLE_API_KEY": "fake",
        }
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60, check=False)
    except subprocess.TimeoutExpired as error:
        said = f"{(error.stdout or b'').decode()}{(error.stderr or b'').decode()}"
        pytest.fail(f"{error}\n{said}\n{server.service.log.transcript()}")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{server.service.log.transcript()}"
    return json.loads(done.stdout.strip().splitlines()[-1])


async def pretend(turn):
    """What each client's program asks for."""
    if turn.text == "fail":
        await turn.close(1011, "Internal error encountered.")
    elif turn.text == "slow":
        await turn.call("slow")
    elif "work" in turn.text:
        answer = await turn.call("work", n=3)
        await turn.say(f"It is {next(iter(answer.values()))}.")
    else:
        await turn.say(f"You said {turn.text}.")


@pytest.fixture
def server(request):
    """A server in a thread, with TLS unless a test says otherwise."""
    fake = FakeLiveServer(pretend, tls=getattr(request, "param", True)).start()
    yield fake
    fake.stop(check=False)


@pytest.fixture
def node(folder):
    """A program of this folder under Node, with the official SDK installed."""
    if shutil.which("npm") is None:
        pytest.skip("no npm")

    def command(package, script):
        home = folder / f"node-{package.rpartition('@')[2]}"
        if not (home / "node_modules" / package.rpartition("@")[0]).exists():
            home.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["npm", "install", "--silent", "--no-audit", "--no-fund", package], cwd=home, check=True
            )
        shutil.copy(HERE / script, home / script)
        return ["node", str(home / script)]

    return command


@pytest.fixture
def python(folder):
    """A program of this folder in an environment of its own."""

    def command(package, script):
        home = folder / script.removesuffix(".py")  # the programs are not called as the packages they import
        if not (home / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            subprocess.run([str(home / "bin" / "pip"), "install", "-q", package], check=True)
        return [str(home / "bin" / "python"), str(HERE / script)]

    return command


@pytest.mark.parametrize("server", [False], indirect=True)
@pytest.mark.parametrize("version", ["3.3.0", "2.32.0"])
def test_google_genai_for_javascript(node, server, version):
    command = node(f"@google/genai@{version}", "google_genai.mjs")
    saw = run(command, server, MODEL="gemini-3.8-live")
    assert saw["said"] == ["It is done.", "You said never mind.", "You said still there?."]
    assert saw["cancelled"] == [call.id for call in server.calls if call.name == "slow"]
    assert saw["interrupted"] == 1
    assert saw["closes"][-1] == [1011, "Internal error encountered."]
    assert [len(session.connections) for session in server.sessions] == [2]
    server.assert_all_answered()


@pytest.mark.parametrize(
    ("package", "script"),
    [
        ("google-adk==2.13.0", "use_google_adk.py"),  # brings google-genai 2.34.0
        ("pydantic-ai-slim[google,realtime]==2.68.0", "use_pydantic_ai.py"),  # brings google-genai 2.34.0
        ("livekit-agents[google]==1.8.9", "use_livekit_agents.py"),  # brings google-genai 3.6.1
    ],
)
def test_a_framework_for_python(python, server, package, script):
    saw = run(python(package, script), server)
    assert saw == {"said": "It is done.You said again.", "called": [3]}
    server.assert_all_answered()
