"""The credentials of a dial: an API key, an ephemeral token, Google Cloud credentials, or none. Read for every dial.

Nothing here shows a secret: not in a repr, not in an exception, not as the cause of one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import anyio.to_thread

from livetools.errors import ConfigError, ConnectFailed, LiveToolsError
from livetools.log import get_logger

log = get_logger("livetools.session")

KeySource: TypeAlias = str | Callable[[], str | Awaitable[str]]

EPHEMERAL = "auth_tokens/"
#: The variables of the environment that hold a key; the first that is set is used.
KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
#: Names that people give a key, and that nobody reads.
_NO_KEYS = re.compile(
    r"(?i)(google|gemini|genai|palm)(_(ai|genai|gemini|studio|generative|cloud))*_?(api)?_?(key|token)|api_key"
)
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class Identity:
    """Where the headers of a dial come from: these are the same each time; none, where a gateway adds its own."""

    ephemeral = False  # whether they are known, before the dial, to hold an ephemeral token

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self._headers = headers or {}

    async def grant(self) -> Mapping[str, str]:
        """Fetch them, fresh. Raises a ``LiveToolsError`` that holds no secret; safe to cancel."""
        return self._headers

    async def renew(self, refused: Mapping[str, str]) -> bool:
        """The service did not accept these headers (HTTP 401). Whether ``grant`` may now give better ones."""
        return False


class Keyed(Identity):
    """An API key or an ephemeral token, or a callable (sync or async) that gives one at each dial."""

    def __init__(self, source: KeySource) -> None:
        self._source = source if callable(source) else checked(source)
        self.ephemeral = isinstance(self._source, str) and self._source.startswith(EPHEMERAL)

    async def grant(self) -> Mapping[str, str]:
        key: Any = self._source
        if callable(key):
            try:
                key = key()
                # Asked of the value, not of the function: a lambda may return a coroutine.
                key = await key if inspect.isawaitable(key) else key
            except Exception as error:  # its text may quote the key
                why = f"api_key() raised {type(error).__name__}; the session was not dialled"
                raise ConnectFailed(why) from None
            key = checked(key)
        return {"Authorization": f"Token {key}"} if key.startswith(EPHEMERAL) else {"x-goog-api-key": key}


def checked(key: object) -> str:
    """``key`` without the blanks around it. Raises :class:`ConfigError`, without its value, if it can be none."""
    if not isinstance(key, str):
        raise ConfigError(f"api_key is a {type(key).__name__}: pass a string, or a callable that returns one")
    key = key.strip()
    if not key:
        raise ConfigError("api_key is empty")
    if " " in key or not key.isascii() or not key.isprintable():
        raise ConfigError(
            "api_key holds blanks, line breaks or other characters that no key has (it is ASCII): pass the key"
            " alone, not its file or line"
        )
    return key


def no_key(environ: Mapping[str, str]) -> str:
    """What to do about an API key that is missing."""
    text = f"no API key: pass api_key=, or set {KEYS[1]} or {KEYS[0]} (neither holds one)"
    strays = [name for name in environ if _NO_KEYS.fullmatch(name) and name not in KEYS and environ[name]]
    if len(strays) == 1:
        text += f". {strays[0]} is set, but nothing reads it: rename it to {KEYS[1]}"
    elif strays:
        text += f". {', '.join(sorted(strays))} are set, but nothing reads them: rename one to {KEYS[1]}"
    return f"{text}. Keys are made at https://aistudio.google.com/apikey. `livetools serve` is a fake that needs none"


class GoogleCloud(Identity):
    """google-auth credentials (``None``: the application's default ones), refreshed in a thread when due.

    A token can be refused before it expires (it was revoked, the clock of this machine is wrong), so :meth:`renew`
    refreshes it whatever its credentials say of it, as google-auth's own transports do.
    """

    def __init__(self, credentials: object | None) -> None:
        self._credentials = credentials
        self._lock = anyio.Lock()

    async def grant(self) -> Mapping[str, str]:
        async with self._lock:
            return await anyio.to_thread.run_sync(self._fresh, abandon_on_cancel=True)

    async def renew(self, refused: Mapping[str, str]) -> bool:
        async with self._lock:
            # The token in use now is another one than the service has refused.
            if refused.get("Authorization") != f"Bearer {getattr(self._credentials, 'token', None)}":
                return True  # another session with these credentials has refreshed them meanwhile
            try:
                await anyio.to_thread.run_sync(_refresh, self._credentials, abandon_on_cancel=True)
            except LiveToolsError as error:
                log.warning("after HTTP 401: %s", error)
                return False
            return True

    def _fresh(self) -> Mapping[str, str]:
        if self._credentials is None:
            self._credentials, _ = application_default()
        credentials = self._credentials
        # Only what is due is refreshed: that takes a request to Google, before each dial.
        if not getattr(credentials, "token", None) or getattr(credentials, "expired", False):
            _refresh(credentials)
        if not (token := getattr(credentials, "token", None)):
            raise ConnectFailed(f"{type(credentials).__name__} gave no access token")
        headers = {"Authorization": f"Bearer {token}"}
        # User credentials name the project whose quota is used; service accounts have one of their own.
        if quota := getattr(credentials, "quota_project_id", None):
            headers["x-goog-user-project"] = str(quota)
        return headers


def _refresh(credentials: object) -> None:
    from google.auth.transport.requests import Request

    refresh = getattr(credentials, "refresh", None)
    if not callable(refresh):
        raise ConfigError(f"credentials is a {type(credentials).__name__}: expected google-auth Credentials")
    try:
        refresh(Request())
    except Exception as error:  # the text of google-auth may quote what the token server said
        raise ConnectFailed(
            f"Google credentials could not be refreshed ({type(error).__name__}): "
            "`gcloud auth application-default login`, or pass credentials="
        ) from None


def application_default() -> tuple[object, str | None]:
    """The application's default credentials and their project, as ``google.auth.default`` finds them. Blocks.

    Raises :class:`ConfigError` where there are none.
    """
    import google.auth
    import google.auth.exceptions

    try:
        credentials, project = google.auth.default(scopes=[SCOPE])
    except google.auth.exceptions.GoogleAuthError as error:
        raise ConfigError(
            f"no Google Cloud credentials were found ({type(error).__name__}): pass credentials=, set "
            "GOOGLE_APPLICATION_CREDENTIALS, or run `gcloud auth application-default login`"
        ) from None
    return credentials, project
