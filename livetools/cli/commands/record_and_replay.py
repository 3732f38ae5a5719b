"""``livetools record`` and ``livetools replay``: conversations in a file."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import anyio
import typer

from livetools.cli.agents.common_options import PORT
from livetools.cli.process.errors_and_signals import explained, refuse, until_stopped, usable
from livetools.cli.recordings.save_recording import opened, test_of
from livetools.cli.terminal.printing import printable
from livetools.errors import ConfigError
from livetools.transport.endpoint import websocket_url

from .serve import announcement, authority_place

EXISTS = "--force overwrites it, --append adds to it"
TLS = typer.Option("--tls", help="Serve wss:// with a self-made certificate; google-genai's client needs it.")


def record(
    file: Annotated[Path, typer.Argument(help="The file to write: JSON lines, one frame per line.")],
    upstream: Annotated[
        str, typer.Option(help="The service to pass everything on to.")
    ] = "https://generativelanguage.googleapis.com",
    port: Annotated[int, PORT] = 8766,
    tls: Annotated[bool, TLS] = False,
    media: Annotated[bool, typer.Option(help="Record audio and images.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Append to a recording that exists.")] = False,
) -> None:
    """Record what a client and the service send each other, as a proxy between them.

    Point the client at the address that it prints. Keys pass through and are never written; session handles are
    written as handle-1, handle-2 and so on. Only you may read the file. Ctrl-C stops it.
    """
    from livetools.testing import Recording, RecordingProxy

    with usable("--upstream"):
        _upstream(upstream)
    if force and append:
        refuse("--force overwrites the file and --append adds to it: pass only one of them")
    recording = Recording(file, media=media, mode="w" if force else "a" if append else "x")

    async def main() -> None:
        proxy = RecordingProxy(upstream, recording, tls=tls, port=port)
        proxy.authority = authority_place()
        try:
            lines = announcement(proxy, f"recording into {file}, between {proxy.url} and {upstream}")
            with opened(recording, EXISTS):  # last: until here nothing was touched
                async with proxy:
                    await until_stopped(lambda: typer.echo("\n".join(lines)))
        finally:
            await proxy.listener.close()
        for line in proxy.log:
            typer.echo(f"! {line}", err=True)
        typer.echo(f"{recording.count} frame{'s' * (recording.count != 1)} in {file}")

    with explained(f"port {port}"):
        with contextlib.suppress(KeyboardInterrupt):
            anyio.run(main)


def _upstream(url: str) -> None:
    """Raise ``ConfigError`` for what cannot be the address of a service."""
    try:
        websocket_url(url)
    except ConfigError as error:
        raise ConfigError(str(error).removeprefix("base_url: ")) from None


def replay(
    file: Annotated[Path, typer.Argument(help="A recording.", exists=True, dir_okay=False)],
    target: Annotated[
        str | None,
        typer.Argument(help="For --as-test: FILE.py, FILE.py:tools or FILE.py:agent.", show_default=False),
    ] = None,
    port: Annotated[int, PORT] = 8767,
    tls: Annotated[bool, TLS] = False,
    pace: Annotated[float, typer.Option(help="1 keeps the recorded times, 0 does not wait.", min=0.0)] = 0.0,
    test: Annotated[
        bool, typer.Option("--as-test", help="Print a pytest test that repeats the conversation.")
    ] = False,
) -> None:
    """Replay a recording to a client: send what the server sent, and check that the client sends what it sent.

    Ctrl-C stops it. It exits with 1 and prints the differences if the client sent something else or did not connect.

    With --as-test it only prints the conversation as a test for `live_server`, with the agent or the tools of TARGET.
    """
    from livetools.testing import FakeLiveServer, Recording

    if test:
        return typer.echo(printable(test_of(file, target)), nl=False)
    if target is not None:
        refuse("TARGET is for --as-test: without --as-test, any client that connects gets the recording")
    with usable("FILE"):
        Recording.load(file)
    with explained(f"port {port}"):
        server = FakeLiveServer.replay(file, pace=pace, tls=tls, port=port)
        server.authority = authority_place()
        server.start()
    lines = announcement(server, f"playing {file} on {server.url}")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            anyio.run(until_stopped, lambda: typer.echo("\n".join(lines)))
    finally:
        server.stop(check=False)
    log = server.service.log
    for complaint in log.complaints or log.unplayed:
        typer.secho(complaint, fg=typer.colors.RED, err=True)
    if log.complaints or log.unplayed:
        raise typer.Exit(1)
    return typer.echo("played to the end: the client sent what the recording has")
