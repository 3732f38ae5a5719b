"""``livetools record`` and ``livetools replay``: conversations in a file."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import anyio
import typer

from .options import PORT
from .serve import announcement
from .waiting import explained, until_stopped

TLS = typer.Option("--tls", help="wss:// with a certificate of its own; google-genai needs it.")


def record(
    file: Annotated[Path, typer.Argument(help="Where to write: JSON lines, a frame a line.")],
    upstream: Annotated[
        str, typer.Option(help="Whom to pass it on to.")
    ] = "https://generativelanguage.googleapis.com",
    port: Annotated[int, PORT] = 8765,
    tls: Annotated[bool, TLS] = False,
    media: Annotated[bool, typer.Option(help="Keep sound and pictures.")] = True,
) -> None:
    """Stand between a client and the service, and write down what they say.

    Point the client at the address that is shown. Keys pass through and are never written. Ctrl-C stops it.
    """
    from livetools.testing import Recording, RecordingProxy

    async def main() -> None:
        with Recording(file, media=media) as recording:
            async with RecordingProxy(upstream, recording, tls=tls, port=port) as proxy:
                lines = announcement(proxy, f"recording into {file}, between {proxy.url} and {upstream}")
                await until_stopped(lambda: typer.echo("\n".join(lines)))
            for line in proxy.log:
                typer.echo(f"! {line}", err=True)
            typer.echo(f"{len(recording.frames)} frames in {file}")

    with explained(f"port {port}"):
        with contextlib.suppress(KeyboardInterrupt):
            anyio.run(main)


def replay(
    file: Annotated[Path, typer.Argument(help="A recording.")],
    port: Annotated[int, PORT] = 8765,
    tls: Annotated[bool, TLS] = False,
    pace: Annotated[float, typer.Option(help="1 keeps the recorded times, 0 waits for nothing.")] = 0.0,
) -> None:
    """Play a recording: say what the server said, and check that the client says what it said then.

    Ctrl-C stops it; it exits with 1, and the differences, if the client said something else.
    """
    from livetools.testing import FakeLiveServer

    with explained(f"port {port}"):
        server = FakeLiveServer.replay(file, pace=pace, tls=tls, port=port).start()
    lines = announcement(server, f"playing {file} on {server.url}")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            anyio.run(until_stopped, lambda: typer.echo("\n".join(lines)))
    finally:
        server.stop(check=False)
    for complaint in server.journal.complaints:
        typer.secho(complaint, fg=typer.colors.RED, err=True)
    if server.journal.complaints:
        raise typer.Exit(1)
