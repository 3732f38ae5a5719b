"""Resolves where a session is dialled and as whom: from arguments, a google-genai client, then the environment.

The variables are google-genai 3.6.1's: ``GOOGLE_API_KEY`` before ``GEMINI_API_KEY``,
``GOOGLE_GENAI_USE_ENTERPRISE`` before ``GOOGLE_GENAI_USE_VERTEXAI``, ``GOOGLE_CLOUD_PROJECT``,
``GOOGLE_CLOUD_LOCATION``, ``GOOGLE_GEMINI_BASE_URL``, ``GOOGLE_VERTEX_BASE_URL``, ``GOOGLE_GENAI_API_VERSION``.
A key goes into a header, never into the URL, and over ``ws://`` to this machine only.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import UNAUTHORIZED
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from livetools.errors import AuthenticationError, ConfigError
from livetools.setup.config_fields import both_set
from livetools.setup.secrecy import Secrets

from .credentials import EPHEMERAL, KEYS, GoogleCloud, Identity, Keyed, KeySource, application_default, no_key

#: Of Vertex AI, by location. The other locations' begin with their name.
_VERTEX_HOSTS = {"global": "aiplatform", "us": "aiplatform.us.rep", "eu": "aiplatform.eu.rep"}
PLACEHOLDER = "loopback-needs-no-key"

_GOOGLE_CLOUD = (
    "Vertex AI does not accept the credentials: log in again (`gcloud auth application-default login`) or pass "
    "connect(credentials=...), and see that its API is enabled in this project and that the account may use it "
    "(roles/aiplatform.user)"
)

_METHODS = ("BidiGenerateContent", "BidiGenerateContentConstrained")
#: The headers that google-genai sends by itself, and that say nothing about this session.
_SDK_HEADERS = frozenset({"content-type", "x-goog-api-key", "user-agent", "x-goog-api-client"})


@dataclass
class Given:
    """The options of an endpoint, as in ``connect``; of several sources the first one that gives an option wins.

    ``project`` and ``location`` are Vertex AI's; ``warnings`` are for the log.
    """

    api_key: KeySource | None = field(default=None, repr=False)
    vertexai: bool | None = None
    project: str | None = None
    location: str | None = None
    credentials: object | None = field(default=None, repr=False)
    base_url: str | None = None
    api_version: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # of the user's own
    warnings: tuple[str, ...] = ()


@dataclass
class Endpoint(Given):
    """Where to dial, and as whom: the options, completed."""

    base: str = ""  # wss://host/prefix, or a whole URL that ends in the method
    identity: Identity = field(default_factory=Identity, repr=False)
    asked: bool = False  # the version was asked for: an ephemeral token does not change it

    @property
    def url(self) -> str:
        """The URL, as far as it is known before a callable has given its key."""
        return self._url(self.identity.ephemeral)

    async def target(self) -> Secrets:
        """The ``url`` and fresh ``headers`` for one dial.

        Raises a ``LiveToolsError`` without a secret when credentials cannot be had. Safe to cancel.
        """
        granted = await self.identity.grant()
        ephemeral = granted.get("Authorization", "").startswith(f"Token {EPHEMERAL}")
        headers = {name: value for name, value in granted.items() if not self._has(name)}
        return Secrets(url=self._url(ephemeral), headers={**headers, **self.headers})

    async def renew(self, target: Secrets, error: AuthenticationError) -> bool:
        """The dial of ``target`` was refused. Whether another dial can show newer credentials."""
        own = self._has("authorization")
        return error.code == UNAUTHORIZED and not own and await self.identity.renew(target.headers)

    def advised(self, error: AuthenticationError) -> AuthenticationError:
        """``error`` with advice for Google Cloud's credentials, where these were shown and not an API key."""
        if not isinstance(self.identity, GoogleCloud):
            return error
        return AuthenticationError(error.code, error.reason, error.phase, error.retryable, _GOOGLE_CLOUD)

    def _has(self, header: str) -> bool:
        """Whether the user's own headers have this one, in whatever case."""
        return header.lower() in map(str.lower, self.headers)

    def _url(self, ephemeral: bool) -> str:
        parts = urlsplit(self.base)
        # A whole URL was given, which may be of a gateway with paths of its own.
        if parts.path.endswith(_METHODS):
            return self.base
        if self.vertexai:
            service = f"google.cloud.aiplatform.{self.api_version}.LlmBidiService/BidiGenerateContent"
        else:
            version = "v1alpha" if ephemeral and not self.asked else self.api_version
            method = _METHODS[ephemeral]
            service = f"google.ai.generativelanguage.{version}.GenerativeService.{method}"
        return urlunsplit(parts._replace(path=f"{parts.path}/ws/{service}"))


def resolve(
    given: Given,
    *,
    client: object | None = None,
    http_options: Mapping[str, Any] | None = None,  # configuration.http_options: any JSON
    v1alpha: bool = False,
    allow_insecure: bool = False,
    environ: Mapping[str, str] = os.environ,
    default: Callable[[], tuple[object, str | None]] = application_default,
) -> Endpoint:
    """Decide where and as whom to dial, from what ``connect`` was given; what is found elsewhere is put into it.

    ``client`` is a google-genai client. ``http_options`` is the config's (``baseUrl``, ``apiVersion``, ``headers``),
    ``v1alpha`` whether the config asks for what only that version takes, ``environ`` the environment
    (``os.environ``). ``default`` finds Google Cloud's default credentials; it is called only for a Vertex AI session
    that names no project.

    Raises :class:`ConfigError` for what is given twice or cannot be, and where there is no key, naming the
    variables that were looked at. No text of it holds a key.
    """
    for name, key in (("base_url", "baseUrl"), ("api_version", "apiVersion")):
        if (configured := (http_options or {}).get(key)) is not None:
            if getattr(given, name) is not None:
                raise both_set(name, f"config.http_options.{name}")
            setattr(given, name, configured)
    given.headers = _checked_headers((http_options or {}).get("headers") or {})
    if client is not None:
        _add_client(given, client)
    else:
        _add_environment(given, environ)
    host = "generativelanguage"
    if given.vertexai:
        _complete_vertex(given, default)
        host = _VERTEX_HOSTS.get(given.location or "global", f"{given.location}-aiplatform")
    usual = f"https://{host}.googleapis.com"
    base, loopback = websocket_url(usual if given.base_url is None else given.base_url, allow_insecure)
    identity = _identity(given, loopback, environ)
    asked = given.api_version is not None
    given.api_version = _version(given, v1alpha or identity.ephemeral, environ)
    return Endpoint(**vars(given), base=base, identity=identity, asked=asked)


def _version(given: Given, early: bool, environ: Mapping[str, str]) -> str:
    """The version of the API. ``early``: only v1alpha has what is asked for."""
    # What was asked for is kept, even where only v1alpha would do: the plan refuses that with a reason.
    version = given.api_version
    if version is None:
        newest = "v1alpha" if early and not given.vertexai else None
        version = newest or environ.get("GOOGLE_GENAI_API_VERSION") or "beta"
    if version == "beta":
        version = "v1beta1" if given.vertexai else "v1beta"
    if not re.fullmatch(r"[A-Za-z0-9]+", version):
        raise ConfigError(f"api_version={version!r}: expected v1beta, v1alpha, v1 (Vertex AI: v1beta1, v1)")
    return version


def _checked_headers(headers: Mapping[str, Any]) -> dict[str, str]:
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", str(name)):
            raise ConfigError(f"config.http_options.headers: {name!r} is not a header's name")
        if not isinstance(value, str) or not value.isascii() or not value.isprintable():
            raise ConfigError(f"config.http_options.headers: the value of {name} is not a header's value")
    return dict(headers)


# Who said it: a client, or the arguments and the environment


def _add_client(given: Given, client: object) -> None:
    """Add what a ``google.genai.Client`` knows, under the base_url, version and headers given beside it.

    The client shows only ``vertexai`` openly; the rest is read where google-genai 3.x keeps it.
    """
    # These say as whom the client dials. Where it dials may still be said beside it: base_url, version, headers.
    own = ("api_key", "credentials", "project", "location", "vertexai")
    if doubled := [name for name in own if getattr(given, name) is not None]:
        raise ConfigError(f"client= and {doubled[0]}= are both set: pass only client=")
    inner = getattr(client, "_api_client", None)
    options = getattr(inner, "_http_options", None)
    if inner is None or options is None or not hasattr(inner, "api_key"):
        raise ConfigError(f"client is {type(client)}, not google-genai's of version 3: pass api_key= instead")
    headers = {k: v for k, v in (options.headers or {}).items() if k.lower() not in _SDK_HEADERS}
    version = options.api_version
    if not inner.vertexai and version == "v1":
        version = None  # google-genai's own default, and not what Live is served best by
    given.vertexai = bool(inner.vertexai)
    given.api_key, given.credentials = inner.api_key or None, getattr(inner, "_credentials", None)
    if given.vertexai:
        given.project, given.location = inner.project, inner.location
    given.base_url = given.base_url or options.base_url
    given.api_version = given.api_version or version
    given.headers = {**headers, **given.headers}


def _add_environment(given: Given, environ: Mapping[str, str]) -> None:
    """Add what the arguments leave open and the environment says."""
    if given.api_key is not None and given.credentials is not None:
        raise both_set("api_key", "credentials")
    if given.vertexai is None:
        names = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
        said = {name: environ[name].lower() in {"true", "1"} for name in names if name in environ}
        if len(set(said.values())) > 1:
            given.warnings += (f"{' and '.join(said)} contradict each other; the first is used",)
        given.vertexai = next(iter(said.values()), False)
    if not given.vertexai and (given.project or given.location or given.credentials is not None):
        raise ConfigError("project, location and credentials are Vertex AI's: pass vertexai=True as well")
    variable = "GOOGLE_VERTEX_BASE_URL" if given.vertexai else "GOOGLE_GEMINI_BASE_URL"
    if given.base_url is None and (named := environ.get(variable)):
        try:
            websocket_url(named, allow_insecure=True)
        except ConfigError as error:
            raise ConfigError(f"{variable} is set, and {error}") from None
        given.base_url = named
    keys = [environ[name] for name in KEYS if environ.get(name)]
    if given.api_key is None and len(keys) > 1:
        given.warnings += (f"{' and '.join(KEYS)} are both set; {KEYS[0]} is used",)
    project, location = environ.get("GOOGLE_CLOUD_PROJECT"), environ.get("GOOGLE_CLOUD_LOCATION")
    own = given.project or given.location or given.credentials is not None
    informed = _is_google(given.base_url) or (given.project and given.location)
    # Vertex AI: arguments go before the environment, a project before a key (google-genai).
    if given.api_key is None and keys and not (given.vertexai and (own or project or location)):
        given.api_key = keys[0]
    # A key of the express mode knows its project. A private gateway learns of none that it was not meant to know.
    elif given.vertexai and informed and (given.api_key is None or own):
        given.project = given.project or project or None
        given.location = given.location or location or None


# What it comes to


def _complete_vertex(given: Given, default: Callable[[], tuple[object, str | None]]) -> None:
    # A key of the express mode has a project of its own, and needs neither of the two.
    if _is_google(given.base_url) and given.api_key is None:
        given.location = given.location or "global"
        if not given.project:
            found, given.project = default()
            given.credentials = given.credentials or found
        if not given.project:
            raise ConfigError("Vertex AI needs a project: pass project=, or set GOOGLE_CLOUD_PROJECT")
    for name, shape in (("project", r"[a-z0-9.:-]+"), ("location", r"[a-z0-9-]+")):
        value = getattr(given, name)
        if value is not None and not re.fullmatch(shape, value, re.I):
            raise ConfigError(f"{name}={value!r} is not a {name} of Google Cloud")


def _identity(given: Given, loopback: bool, environ: Mapping[str, str]) -> Identity:
    """As whom to dial. Raises ``ConfigError`` where the Gemini API would be dialled without a key."""
    if given.api_key is not None:
        return Keyed(given.api_key)
    if not given.vertexai:
        if loopback:
            # A server on this machine needs no key. It gets a header all the same, as the service does.
            return Keyed(PLACEHOLDER)
        if {name.lower() for name in given.headers} & {"authorization", "x-goog-api-key"}:
            return Identity()
        raise ConfigError(no_key(environ))
    # Google itself is never asked without credentials; where none are given, the default ones are found at the dial.
    if given.credentials is not None or _is_google(given.base_url):
        return GoogleCloud(given.credentials)
    if loopback:
        return Identity({"Authorization": f"Bearer {PLACEHOLDER}"})
    # A gateway that gets no project has credentials of its own, in its headers (google-genai).
    return GoogleCloud(None) if given.project and given.location else Identity()


def _is_google(base_url: str | None) -> bool:
    # What is no URL is not one of Google's. websocket_url says so later.
    host = r"\s*\w+://[^/?#]*\.googleapis\.com(:\d+)?([/?#\s]|$)"
    return base_url is None or re.match(host, str(base_url), re.I) is not None


def websocket_url(text: str, allow_insecure: bool = False) -> tuple[str, bool]:
    """``base_url`` as a websocket's, without a slash at the end, and whether it is this machine.

    Raises :class:`ConfigError` for what is not a URL, for secrets in it, and for ``ws://`` to another machine.
    """
    try:
        parts = urlsplit(str(text).strip())  # of a config it may be anything
        _ = parts.port  # reading it is what raises
    except ValueError:  # such as http://[::1, and http://host:port
        parts = urlsplit("")
    scheme = parts.scheme.lower().replace("http", "ws")
    if scheme not in ("ws", "wss") or not parts.hostname:
        shown = text if re.fullmatch(r"[\w.:/-]*", str(text)) else "what was passed"
        like = "is not a URL like 'wss://host' or 'http://127.0.0.1:80' (ports go from 0 to 65535)"
        raise ConfigError(f"base_url: {shown!r} {like}")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("base_url holds a user name or password: pass WebSocket(headers=...) instead")
    if {name.lower() for name, _ in parse_qsl(parts.query)} & {"key", "api_key", "access_token", "token"}:
        raise ConfigError("base_url holds a key, and URLs end up in logs: pass api_key= instead")
    loopback = is_loopback(parts.hostname)
    if scheme == "ws" and not loopback and not allow_insecure:
        instead = "use wss://, or transport=WebSocket(allow_insecure=True)"
        raise ConfigError(f"base_url: ws:// would send the key to {parts.hostname} unencrypted; {instead}")
    path = parts.path.rstrip("/")
    return urlunsplit((scheme, parts.netloc, path, parts.query, "")), loopback


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine by its name: ``localhost``, 127.0.0.0/8, ``::1``. Nothing is resolved."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")
