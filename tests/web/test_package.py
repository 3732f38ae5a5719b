"""The client as a package: packed, installed, bundled, and used from a page of another site."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.testclient import TestClient
from support.browser import serving

import livetools
from livetools.integrations.starlette import relay
from livetools.testing import FakeLiveServer
from livetools.web import BUILT

WEB = BUILT.parent
ESBUILD = WEB / "node_modules" / ".bin" / "esbuild"
TSC = WEB / "node_modules" / ".bin" / "tsc"
APP = """
import { LiveClient } from "livetools-web";
(window as any).live = new LiveClient({ url: "URL" });
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project into which the packed client was unpacked, as npm does."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("project")
    source = folder / "source"
    shutil.copytree(WEB, source, ignore=shutil.ignore_patterns("node_modules", "page"))
    packing = [npm, "pack", "--json", "--pack-destination", str(folder)]
    packed = subprocess.run(packing, cwd=source, check=True, capture_output=True, text=True, timeout=60)
    [about] = json.loads(packed.stdout)
    installed = folder / "node_modules" / "livetools-web"
    installed.mkdir(parents=True)
    unpacking = ["tar", "-xzf", str(folder / about["filename"]), "--strip-components=1", "-C", str(installed)]
    subprocess.run(unpacking, check=True, timeout=60)
    return folder


def test_the_package_is_imported_outside_of_a_browser(project: Path) -> None:
    program = "import { LiveClient, LiveError } from 'livetools-web'; console.log(typeof LiveClient, typeof LiveError);"
    (project / "main.mjs").write_text(program, encoding="utf-8")
    ran = subprocess.run(["node", "main.mjs"], cwd=project, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "function function\n", ran.stderr


@pytest.mark.parametrize("resolution", ["bundler", "nodenext"])
def test_the_package_has_types(project: Path, resolution: str) -> None:
    if not TSC.exists():
        pytest.skip("the compiler is not installed: cd livetools/web && npm ci")
    (project / "use.ts").write_text(
        """
        import { LiveClient, type Device, type Ready } from "livetools-web";
        const live = new LiveClient({ url: "/live/" });
        const ready: Promise<Ready> = live.connect();
        const all: Promise<Device[]> = live.microphones();
        const off: () => void = live.tool("show_map", ({ city }) => city);
        live.on("ApprovalRequested", ({ timeout }) => { const seconds: number | null = timeout; });
        live.on("playback", ({ canPlay }) => { const can: boolean = canPlay; });
        // @ts-expect-error there is no such event
        live.on("Approval", () => {});
        """,
        encoding="utf-8",
    )
    module = "esnext" if resolution == "bundler" else "nodenext"
    options = ["--strict", "--noEmit", "--module", module, "--moduleResolution", resolution]
    options += ["--lib", "es2022,dom,dom.iterable", "--target", "es2022", "--skipLibCheck", "false"]
    (project / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    ran = subprocess.run([TSC, *options, "use.ts"], cwd=project, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout


def bundle(project: Path, url: str, kind: str) -> Path:
    if not ESBUILD.exists():
        pytest.skip("esbuild is not installed: cd livetools/web && npm ci")
    (project / "app.ts").write_text(APP.replace("URL", url), encoding="utf-8")
    site = project / "site"
    (site / "assets").mkdir(parents=True, exist_ok=True)
    bundling = [ESBUILD, "app.ts", "--bundle", f"--format={kind}", "--minify", "--outfile=site/assets/app.js"]
    subprocess.run([*bundling, "--log-level=error"], cwd=project, check=True, timeout=60)
    script = '<script type="module" src="assets/app.js">' if kind == "esm" else '<script src="assets/app.js">'
    (site / "index.html").write_text(
        f"<!doctype html><link rel=icon href=data:,>{script}</script>", encoding="utf-8"
    )
    return site


@pytest.mark.parametrize("kind", ["esm", "iife"])
def test_a_bundle_has_a_microphone(model: FakeLiveServer, tab: Any, project: Path, kind: str) -> None:
    """Nothing but the websocket is the relay's: the audio thread's module is in the bundle."""
    live = relay(functools.partial(livetools.connect, "gemini-3.8-live", **model.options))
    files = StaticFiles(directory=bundle(project, "/live/", kind), html=True)
    app = Starlette(routes=[WebSocketRoute("/live/", live), Mount("/", files)])
    with serving(app) as address, tab(address) as page:
        page.run("live.connect()")
        page.run("return live.openMicrophone();")
        deadline = time.monotonic() + 30
        while not heard(model):
            assert time.monotonic() < deadline, "nothing is heard"
            page.page.wait_for_timeout(20)


def heard(model: FakeLiveServer) -> list[object]:
    return [each for frame in model.frames if "audio" in (each := frame.message.get("realtimeInput", {}))]


def test_modules_are_shared_with_the_sites_that_may_connect_and_with_no_other() -> None:
    live = relay(functools.partial(livetools.connect, "gemini-3.8-live"), origins=["https://example.org"])
    client = TestClient(Starlette(routes=[Mount("/live", live)]))
    for origin, shared in [
        ("https://example.org", True),
        ("https://example.org:443", True),
        ("https://elsewhere.org", False),
    ]:
        answer = client.get("/live/client.js", headers={"origin": origin})
        assert answer.status_code == 200
        assert answer.headers.get("access-control-allow-origin") == (origin if shared else None)
    assert "access-control-allow-origin" not in client.get("/live/client.js").headers
