"""``livetools doctor``: checks that the model can be reached, and that a function call makes the round trip."""

from __future__ import annotations

import os
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio
import typer

from livetools.cli.agents.common_options import (
    BASE_URL,
    DEFAULT_MODEL,
    MODEL_OPTION,
    THINKING,
    checked_seconds,
    thinking_config,
)
from livetools.errors import (
    AuthenticationError,
    ConfigError,
    ConnectFailed,
    LiveToolsError,
    ModelNotFound,
    RemoteProtocolError,
    SessionClosed,
)
from livetools.session.connect import connect
from livetools.setup.model_profiles import find
from livetools.transport.endpoint import Endpoint, Given, resolve

_FORMATS: tuple[Literal["tool_response", "client_content"], ...] = ("tool_response", "client_content")
_KEYS = ("output", "result", "content")
SECRET = ("GOOGLE_API_KEY", "GEMINI_API_KEY")  # in the order in which they count
_PLAIN = (
    "GOOGLE_GENAI_USE_ENTERPRISE",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_GENAI_API_VERSION",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
)
QUESTION = "Call the function get_code now, and tell me the code that it returns."


@dataclass(frozen=True, slots=True)
class DoctorLine:
    """One line of the report. ``ok`` is ``None`` for what is only said; ``hint`` is the next thing to try."""

    ok: bool | None
    text: str
    hint: str = ""


def doctor(
    model: Annotated[str, MODEL_OPTION] = DEFAULT_MODEL,
    base_url: Annotated[str | None, BASE_URL] = None,
    thinking: Annotated[str | None, THINKING] = None,
    timeout: Annotated[
        float, typer.Option(help="How many seconds an answer may take.", callback=checked_seconds)
    ] = 30.0,
) -> None:
    """Check the environment, the endpoint, the key and the model, and whether a function call works.

    It tries a call in both reply formats and with each response key. Exits with 1 if something is wrong, and says
    for each fault what to try next.
    """
    options = {"base_url": base_url, "config": thinking_config(thinking)}
    faults = 0

    async def main() -> None:
        nonlocal faults
        async for finding in examine(model, options, timeout):
            faults += finding.ok is False
            _print(finding)

    anyio.run(main)
    if faults:
        raise typer.Exit(1)


def _print(finding: DoctorLine) -> None:
    mark, color = {True: ("✔", typer.colors.GREEN), False: ("✘", typer.colors.RED), None: ("·", None)}[
        finding.ok
    ]
    typer.secho(f"{mark} {finding.text}", fg=color)
    if finding.hint:
        typer.echo(f"  → {finding.hint}")


async def examine(model: str, options: Mapping[str, Any], timeout: float) -> AsyncIterator[DoctorLine]:
    """The report, a finding at a time; it ends where nothing further can be found out.

    ``options`` are connect's (of several types), ``timeout`` the seconds that an answer may take.
    """
    for finding in environment(os.environ):
        yield finding
    try:
        endpoint = resolve(Given(base_url=options.get("base_url")))
    except ConfigError as error:
        yield DoctorLine(False, "the settings name an endpoint and a key", str(error))
        return
    yield DoctorLine(None, f"endpoint: {_place(endpoint)}")
    opened = True
    keyed = endpoint.vertexai or endpoint.api_key is not None
    async for finding in _opening(model, options, keyed):
        opened = opened and finding.ok is not False
        yield finding
    if opened and not find(model).known:
        yield DoctorLine(
            None,
            f"livetools knows nothing of {model}, and assumes that it supports everything",
            f"`livetools probe {model}` asks the service how it behaves; it shows its price first",
        )
    if opened:
        for reply_format in _FORMATS:
            for key in _KEYS:
                yield await round_trip(model, options, reply_format, key, timeout)


def environment(environ: Mapping[str, str]) -> Iterator[DoctorLine]:
    """The settings without secrets; of a key, the last four characters."""
    keys = [name for name in SECRET if environ.get(name)]
    for name in keys:
        used = "used" if name == keys[0] else f"not used: {keys[0]} comes first"
        yield DoctorLine(None, f"{name} is set (…{_tail(environ[name])}), {used}")
    if not keys:
        yield DoctorLine(None, f"neither {' nor '.join(SECRET)} is set")
    for name in _PLAIN:
        if environ.get(name):
            yield DoctorLine(None, f"{name}={_open(environ[name])}")
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        # OpenSSL reads several folders, as PATH has them, and passes over those that do not exist.
        if (path := environ.get(name)) and not any(map(os.path.exists, (path, *path.split(os.pathsep)))):
            yield DoctorLine(False, f"{name} names {path}, which does not exist", f"Correct or unset {name}.")


def _tail(key: str) -> str:
    """The last four characters of a key; nothing of a short key, because they would be most of it."""
    return key[-4:] if len(key) >= 16 else ""


def _open(url: str) -> str:
    """A URL without its possible secrets: a user's password, and the values of the query."""
    return re.sub(r"([?&][^=&]*=)[^&]*", r"\1…", re.sub(r"//[^/@]*@", "//…@", url))


def _place(endpoint: Endpoint) -> str:
    where = f", project {endpoint.project}, location {endpoint.location}" if endpoint.project else ""
    return f"{'Vertex AI' if endpoint.vertexai else 'Gemini API'}, {_open(endpoint.url)}{where}"


async def _opening(model: str, options: Mapping[str, Any], keyed: bool) -> AsyncIterator[DoctorLine]:
    """Whether a session can be opened; if not, how far it came. ``keyed``: there is a key, or an account."""
    endpoint, live = "the endpoint answers", f"{model} exists and is a Live model"
    key = "the key is accepted" if keyed else "the endpoint needs no key"
    try:
        async with connect(model, reconnect=False, **options):
            pass
    except (ConnectFailed, RemoteProtocolError) as error:
        yield DoctorLine(False, endpoint, f"{error}. Look at the host, the proxy and the network.")
    except AuthenticationError as error:
        yield DoctorLine(True, endpoint)
        yield DoctorLine(False, key, str(error))
    except ModelNotFound as error:
        yield DoctorLine(True, endpoint)
        yield DoctorLine(False, live, str(error))
    except SessionClosed as error:
        yield DoctorLine(True, endpoint)
        yield DoctorLine(False, "a session can be opened", str(error))
    except LiveToolsError as error:
        yield DoctorLine(False, "a session can be opened", str(error))
    else:
        for text in (endpoint, key, live):
            yield DoctorLine(True, text)


async def round_trip(
    model: str,
    options: Mapping[str, Any],
    reply_format: Literal["tool_response", "client_content"],
    key: str,
    timeout: float,
) -> DoctorLine:
    """Whether the model calls a function, accepts its answer and speaks about it, in this form."""
    what = f"a function call, answered by {reply_format} under {key!r}"
    code = str(random.randint(1000, 9999))  # what the model cannot know but from the function
    called = False

    def get_code() -> str:
        """The code of this moment."""
        nonlocal called
        called = True
        return code

    try:
        session = connect(
            model, tools=[get_code], reply_format=reply_format, response_key=key, reconnect=False, **options
        )
    except ConfigError as error:
        return DoctorLine(None, f"{what}: not for this model", str(error))
    try:
        async with session:
            said = str(await session.ask(QUESTION, timeout=timeout))
    except TimeoutError:
        return DoctorLine(
            False, what, f"no answer in {timeout:g} s: {_waiting(called)}. Try --timeout, or another model"
        )
    except LiveToolsError as error:
        return DoctorLine(False, what, str(error))
    if not called:
        return DoctorLine(
            False, what, f"the model did not call the function; it said {said!r}. Try again, or another model"
        )
    if code not in re.sub(r"\D", "", said):
        return DoctorLine(
            False,
            what,
            f"the function was called and answered, but the model said {said!r}. Use another form",
        )
    return DoctorLine(True, what)


def _waiting(called: bool) -> str:
    return (
        "the function was called, and the model was silent after it"
        if called
        else "the function was not called"
    )
