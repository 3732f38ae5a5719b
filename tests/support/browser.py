"""A real browser with a pretend microphone and camera, and an app that it can reach."""

from __future__ import annotations

import math
import shutil
import threading
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

#: Without windows it has half as much to do, and the same engine.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")

#: What the browser does without: the last list counts, so what playwright leaves out is in it, too.
WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),  # two pages below the address bar of each window
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    "SpareRendererForSitePerProcess",  # a process for the next page, which each context starts and most never need
    "ThirdPartyStoragePartitioning",
)


@contextmanager
def serving(app: Any, port: int = 0) -> Iterator[str]:
    """The app on a port of its own, or on ``port``, in a thread: its address."""
    import uvicorn

    config = uvicorn.Config(
        app, port=port, log_level="error", ws="websockets-sansio", timeout_graceful_shutdown=1, loop="asyncio"
    )
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def told(*args: Any, **kwargs: Any) -> None:
        await startup(*args, **kwargs)
        started.set()

    server.startup = told  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert started.wait(60)
        yield "127.0.0.1:{1}".format(*server.servers[0].sockets[0].getsockname())
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.fixture(scope="session")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the pretend microphone hears, again and again: half a second of a tone, half a second of silence."""
    from livetools.audio import write_wav

    path = tmp_path_factory.mktemp("microphone") / "tone.wav"
    tone = (int(12000 * math.sin(2 * math.pi * 440 * n / 48000)) for n in range(24000))
    write_wav(path, array("h", tone).tobytes() + bytes(48000), rate=48000)
    return path


#: What ends the browser of this process, and the browser, while there is one.
_end = ExitStack()
_browsers: list[Any] = []


def close_browser() -> None:
    """Before a test of another kind: playwright has an event loop in this thread, and no async test may run."""
    _browsers.clear()
    _end.close()


@pytest.fixture(scope="module")
def chromium(spoken: Path) -> Any:
    """A browser with a pretend microphone and camera: the same for all tests that come one after another."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not _browsers:
        browser = _end.enter_context(playwright.sync_playwright()).chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--use-fake-device-for-media-stream",
                "--use-fake-ui-for-media-stream",
                f"--use-file-for-fake-audio-capture={spoken}",
                "--autoplay-policy=no-user-gesture-required",
                f"--disable-features={','.join(WITHOUT)}",
            ],
        )
        _end.callback(browser.close)
        _browsers.append(browser)
    return _browsers[0]
