"""Classifies the end of a connection: close code and reason → error class, whether to retry, what to try next.

The service has no error message on the wire: after the upgrade it says everything in the close frame, cut
at 123 bytes (observed 2026-09-10 and 2026-09-17). One code covers many causes, so the reason decides, by
the first telling substring in :data:`CLOSE_RULES`, and the code only where no rule knows the reason.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from msgspec import Struct

from livetools.errors import (
    AuthenticationError,
    ConnectFailed,
    InvalidRequest,
    LiveToolsError,
    ModelNotFound,
    QuotaExceeded,
    RemoteProtocolError,
    ServerError,
    SessionClosed,
    SetupRejected,
)
from livetools.protocol.calls.driver_actions import Close
from livetools.setup.did_you_mean import near_names
from livetools.setup.model_profiles import families
from livetools.setup.secrecy import scrub

Retry: TypeAlias = Literal["no", "yes", "fresh", "once"]
"""``"yes"``: dial again, with the handle. ``"fresh"``: dial again without it, it is not known any more.
``"once"``: dial again, but give up if the same reason comes back. ``"no"``: it would end the same way."""


class Diagnosis(Struct, frozen=True):
    """What a close means. ``advice`` is one sentence without a full stop, or ``""``."""

    error_class: type[LiveToolsError]
    retry: Retry
    advice: str = ""


class _Row(Struct, frozen=True):
    """A close whose reason holds one of these texts (lower case, between ``|``) means this, in the given part of a
    session's life.
    """

    one_of: str
    error_class: type[LiveToolsError]
    retry: Retry
    advice: str = ""
    when: Literal["always", "setup", "session"] = "always"  # "setup": not up yet; "session": up

    @property
    def texts(self) -> list[str]:
        """Each of them."""
        return self.one_of.split("|")


KEY = "check the API key: GEMINI_API_KEY, GOOGLE_API_KEY or connect(api_key=...)"
_CREDENTIALS = "check the credentials: they are not accepted"
_TOKEN = "create a new ephemeral token: this one has expired or has no uses left"
_PROJECT = "check the project: the API must be enabled, and the project allowed to use it"
_MODEL = "check the model's name and region: live models list bidiGenerateContent as a method"
BILLING = "check quota and billing of the project, or wait until the quota is renewed"
_HANDLE = "connect without a handle: this one is unknown, expired, or of another model"
_AUDIO = "set response_modalities to AUDIO: this model speaks"
_THINKING = "set thinking_level where the model wants it, thinking_budget on 2.5, neither on 3.8"
_GATE = "send no audio while a blocking call is open: leave input_gate at 'auto'"
_LACKS = "leave out what this model does not support"
_PREVIEW = "try a newer model if this comes back: some preview models stop accepting audio"
_MESSAGE = "raise the limit, connect(transport=WebSocket(max_message=...)), or ask the model for less at once"
_SUSPECTS = "the service does not say what: suspect the optional fields of the config, then the tools"
#: What 2.5 closes with where sound or pictures met a blocking call; and unknown fields of a setup.
_CROSSED = "operation is not implemented"

CLOSE_RULES: tuple[_Row, ...] = (
    # the key, the token, the project
    # The first rule that fits holds, so the special texts come before the general ones: "unregistered callers" speaks
    # of an API key too, and "permission" and "quota" occur in many reasons.
    _Row("unregistered callers", AuthenticationError, "no", f"no key reached the service; {KEY}"),
    _Row("api key", AuthenticationError, "no", KEY),
    _Row("token has been used too many times|token has expired", AuthenticationError, "no", _TOKEN),
    _Row("authentication credentials|unauthenticated", AuthenticationError, "no", _CREDENTIALS),
    _Row("not been used in project|has been denied access|permission", AuthenticationError, "no", _PROJECT),
    # the model
    _Row("is not found for api version|publisher model", ModelNotFound, "no", _MODEL),
    _Row("not supported for bidigeneratecontent|not supported in the live api", ModelNotFound, "no", _MODEL),
    # quota; in a healthy session an exhausted resource may be a burst, and one dial tells
    _Row("resource has been exhausted", QuotaExceeded, "once", BILLING, "session"),
    _Row("resource has been exhausted|quota", QuotaExceeded, "no", BILLING),
    _Row("prepayment|billing|spending cap|spend cap", QuotaExceeded, "no", BILLING),
    # handles; the first text also comes after a toolResponse on 2.5, where the handle is good
    # (discuss.ai.google.dev/t/109319)
    _Row("requested entity was not found", InvalidRequest, "fresh", f"{_HANDLE}; or {_MODEL}", "setup"),
    _Row("requested entity was not found", ServerError, "yes"),
    _Row("bidigeneratecontent session not found|invalid session handle", InvalidRequest, "fresh", _HANDLE),
    # the line's age (about 590 s) and its silence; audio while a blocking call is open on 2.5 (js-genai#1236)
    _Row("aborted", SessionClosed, "yes"),
    _Row(_CROSSED, InvalidRequest, "yes", _GATE, "session"),
    _Row(_CROSSED, InvalidRequest, "no", _LACKS),
    # seen in sessions that had been healthy for minutes (adk-python#4587, adk-python#5552, python-genai#182,
    # hkjarral/AVA-AI-Voice-Agent-for-Asterisk#496)
    _Row("content_type_audio", ServerError, "once", _PREVIEW, "session"),
    _Row("content_type_audio", InvalidRequest, "no", "leave audio out: this model takes none as configured"),
    _Row("audio format|input audio", ServerError, "once", "send 16-bit little-endian mono PCM", "session"),
    _Row("application/json isn", ServerError, "once", "leave code execution out if this comes back"),
    # what was asked for and is not accepted
    _Row("extract voices from a non-audio|combination of response modalities", InvalidRequest, "no", _AUDIO),
    _Row("voice api_name", InvalidRequest, "no", "choose one of the prebuilt voices of this model"),
    _Row("unsupported language code", InvalidRequest, "no", "leave the language code out"),
    _Row("user location", InvalidRequest, "no", "the service is not available where this machine is"),
    _Row("setup must be the first message", InvalidRequest, "no", "send the setup first, and once"),
    _Row("invalid function name", InvalidRequest, "no", "rename the tool: letters, digits and _, at most 64"),
    _Row("system instruction has", InvalidRequest, "no", "shorten the instructions"),
    _Row("blocking function calls", InvalidRequest, "no", "declare the tools with behavior='non_blocking'"),
    _Row("scheduling is not supported", InvalidRequest, "no", "leave scheduling out for this model"),
    _Row("thinking level|thinking budget", InvalidRequest, "no", _THINKING),
    _Row("tool is not supported for this model", InvalidRequest, "no", "leave that built-in tool out"),
    _Row("explicit activity control", InvalidRequest, "no", "disable automatic detection for that"),
    _Row("media_chunks is deprecated", InvalidRequest, "no", "send audio and video in their own fields"),
    _Row("sample rate changed", InvalidRequest, "no", "send all audio of a session at one rate"),
    _Row("precondition check failed", InvalidRequest, "no", "an activity must not be empty"),
    _Row("unknown name", InvalidRequest, "no", "leave that field out, or try another api_version (v1alpha)"),
    _Row("invalid value at", InvalidRequest, "no", "correct that field: its type or value is not accepted"),
    _Row("invalid json payload", InvalidRequest, "no", "send valid JSON: NaN and Infinity are not"),
    _Row("request contains an invalid argument", InvalidRequest, "no", _SUSPECTS, "setup"),
    # what we ourselves closed for
    _Row("exceeds max_message", SessionClosed, "no", _MESSAGE),
    # the service itself, and the line
    # Only while the setup is under way: later it is an ordinary 1011. 3.1 says it instead of refusing TEXT.
    _Row("internal error", ServerError, "yes", f"if it comes back at once, {_AUDIO}", "setup"),
    _Row("keepalive ping timeout", SessionClosed, "yes", "leave ping_interval at None: pongs may take 30 s"),
    # adk-python#3918: after long calls, and once at exactly 58 minutes of a session.
    _Row("deadline expired", ServerError, "yes", "answer calls sooner: the service waits 30 s to 5 min"),
)

_CODES: dict[int, Diagnosis] = {
    1000: Diagnosis(SessionClosed, "no"),  # clean, unless the machine knows better (a goAway, an open call)
    **dict.fromkeys((1001, 1006), Diagnosis(SessionClosed, "yes")),
    1007: Diagnosis(InvalidRequest, "no", "the service does not say what: suspect what was sent last"),
    1009: Diagnosis(InvalidRequest, "no", "a message was too big: shorten results with max_result_bytes"),
    **dict.fromkeys((1011, 1012, 1013, 1014), Diagnosis(ServerError, "yes")),
}
_OTHER = Diagnosis(SessionClosed, "once")  # 1002, 1003, 1005, 1008, 3000 to 4999: reasons yet unseen, proxies
REFUSED = Diagnosis(SetupRejected, "no", _SUSPECTS)


def classify(code: int, reason: str, *, phase: str) -> Diagnosis:
    """What this close means in this phase (``connect``, ``setup``, ``idle``, ``turn``, ``tool``).

    1000 is clean whatever its reason ("The operation was cancelled." comes with it as well).
    """
    if code == 1000:
        return _CODES[1000]
    setup = phase in ("connect", "setup")
    if verdict := known(reason, setup):
        return verdict
    # With these codes a setup was understood and refused: a reason that no rule knows is still no reason to try again.
    if setup and code in (1007, 1008):
        return REFUSED
    return _CODES.get(code, _OTHER)


def error(code: int, reason: str, phase: str, note: str = "") -> LiveToolsError:
    """The error of this close, with its reason, from which secrets are removed; ``note`` is added, and judges
    nothing."""
    text = f"{reason} ({note})".strip() if note else reason
    return make_error(classify(code, reason, phase=phase), code, scrub(text), phase)


def in_words(close: Close) -> str:
    """How a connection ended, for a log: its code and reason, from which secrets are removed."""
    unsaid = "the line broke" if close.code == 1006 else "no reason was given"
    reason = scrub(" ".join(close.reason.split())) or unsaid
    return f"closed with {close.code}: {reason.rstrip('.')}{f' ({close.note})' if close.note else ''}"


def judge(close: Close, phase: str, *, planned: bool) -> tuple[LiveToolsError | None, Retry]:
    """The error of this close (``None``: a clean end), and whether it is worth another dial.

    ``planned``: the connection was to be replaced, or a call is open. Then a clean end is a drop like another.
    """
    # There never was a websocket: the cause is known better than by any code. What may be different next time is
    # retried.
    if close.error is not None:
        raised = close.error
        if not isinstance(raised, LiveToolsError):
            raised = ConnectFailed(f"could not connect: {raised}")
        final = isinstance(raised, RemoteProtocolError | SetupRejected)
        final = final or (isinstance(raised, SessionClosed) and not raised.retryable)
        return raised, "no" if final else "yes"
    ended = error(close.code, close.reason, phase, close.note)
    # A clean end before setupComplete is no clean end: the session was never open.
    if close.code == 1000 and phase not in ("connect", "setup"):
        return (ended, "yes") if planned else (None, "no")
    return ended, classify(close.code, close.reason, phase=phase).retry


def crossed(code: int, reason: str) -> bool:
    """Whether a session was closed for sound or pictures that met a blocking call."""
    return code == 1008 and _CROSSED in reason.lower()


def over() -> SessionClosed:
    """The error for a verb on a session that was closed in order."""
    return SessionClosed(1000, "", "", False, "The session was closed; open another")


def known(reason: str, setup: bool) -> Diagnosis | None:
    """What this reason means, if a rule knows it; ``setup``: the session is not up yet."""
    reason, elsewhere = reason.lower(), "session" if setup else "setup"
    for rule in CLOSE_RULES:
        if rule.when != elsewhere and any(text in reason for text in rule.texts):
            return Diagnosis(rule.error_class, rule.retry, rule.advice)
    return None


def make_error(verdict: Diagnosis, code: int, reason: str, phase: str) -> LiveToolsError:
    """The error of this verdict, with advice."""
    advice = verdict.advice[:1].upper() + verdict.advice[1:]
    if verdict.error_class is ModelNotFound and (name := _meant(reason)):
        advice = f"Did you mean {name}? {advice}"
    if issubclass(verdict.error_class, SessionClosed):
        return verdict.error_class(code, reason, phase, verdict.retry != "no", advice)
    said = reason.rstrip(".") or "it gave no reason"
    return verdict.error_class(f"the service refused the session with {code}: {said}. {advice}")


def _meant(reason: str) -> str | None:
    """The model whose name is almost the one that this reason speaks of; ``None`` where the name is right."""
    found = re.search(r"models/([\w.-]+)|^([\w.-]+) is not", reason)
    name: str = (found[1] or found[2]).lower() if found else ""
    for near in near_names(name, families(), cutoff=0.8):
        if name != near and not name.startswith(f"{near}-"):  # a date or a size follows a family's name
            return near
    return None
