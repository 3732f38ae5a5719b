"""The example on Ray Serve, in an environment of its own: ``pytest -m peers``, for Ray is large.

``LIVETOOLS_PEERS`` names a folder that is kept, so that the next run finds it there.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from livetools.testing import FakeLiveServer

ROOT = Path(__file__).parents[2]


def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as port:
        return int(port.getsockname()[1])


@pytest.mark.peers
@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
def test_a_page_on_ray_serve_is_answered_and_told_to_come_again_by_the_drain(tmp_path: Path) -> None:
    async def model(turn: Any) -> None:
        weather = await turn.call("get_weather", city=turn.text)
        await turn.say(weather["output"])

    python = Path(os.environ.get("LIVETOOLS_PEERS", tmp_path)) / "ray" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "ray[serve]", "fastapi", "-e", f"{ROOT}[web,redis]"], check=True)
    redis_port, port = free(), free()
    server = FakeLiveServer(model).start()
    redis = subprocess.Popen(
        ["redis-server", "--port", str(redis_port), "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    environment = {
        **os.environ, "MODEL_URL": server.url, "REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
        "DRAIN_TOKEN": "secret", "PYTHONPATH": str(ROOT / "examples"), "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled", "RAY_raylet_start_wait_time_s": "300",
    }  # fmt: skip
    try:
        done = subprocess.run(
            [python, Path(__file__).with_name("use_ray_serve.py"), str(port)],
            env=environment, capture_output=True, text=True, timeout=400, check=False,
        )  # fmt: skip
    finally:
        redis.terminate()
        redis.wait()
        server.stop(check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    assert seen == {"said": "12 °C and rain in Oslo", "code": 1012}
