"""What every known close means."""

from __future__ import annotations

import json
import pathlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livetools.errors import (
    AuthenticationError,
    InvalidRequest,
    LiveToolsError,
    ModelNotFound,
    QuotaExceeded,
    ServerError,
    SessionClosed,
    SetupRejected,
)
from livetools.protocol.connection.close_codes import CLOSE_RULES, classify, crossed, error
from livetools.protocol.connection.http_statuses import http_error
from livetools.setup.secrecy import scrub

ROWS = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parents[1] / "frames_recorded.jsonl").read_text("utf-8").splitlines()
]
CLOSES = [tuple(row["close"]) for row in ROWS if "close" in row]

# class, retry while a turn is going on, retry in setup: the closes, with the service's own reasons
TABLE: list[tuple[type[LiveToolsError], str, str, list[tuple[int, str]]]] = [
    (
        AuthenticationError,
        "no",
        "no",
        [
            (1007, "API key not valid. Please pass a valid API key."),
            (1007, "API Key not found. Please pass a valid API key."),
            (1007, "API key expired. Please renew the API key."),
            (1008, "Method doesn't allow unregistered callers (callers without established identity)."),
            (1008, "Generative Language API has not been used in project 3052 before or it is disabled."),
            (1008, "Your project has been denied access."),
            (1011, "Token has been used too many times"),
            (1011, "auth token has expired"),
            (1011, "Token has expired"),
        ],
    ),
    (
        ModelNotFound,
        "no",
        "no",
        [
            (1007, "gemini-2.0-flash-exp is not supported in the live api."),
            (1008, "models/gemini-nope-live is not found for API version v1beta, or is not supported for"),
            (1008, "Publisher Model `projects/…` was not found or your project does not have access to it"),
        ],
    ),
    (
        QuotaExceeded,
        "no",
        "no",
        [
            (1008, "Quota exceeded for quota metric 'x'"),
            (1011, "You exceeded your current quota, please check your plan"),
            (1011, "Your prepayment credits are depleted. Please go to"),
        ],
    ),
    (
        QuotaExceeded,
        "once",
        "no",
        [
            (1011, "Resource has been exhausted (e.g. check quota)."),
        ],
    ),
    (
        InvalidRequest,
        "no",
        "no",
        [
            (1007, "Request contains an invalid argument."),
            (1007, "Invalid JSON payload received. Unknown name \"x\" at 'setup': Cannot find field."),
            (1007, "Invalid value at 'setup.generation_config.media_resolution'"),
            (1007, "setup must be the first message and only the first"),
            (1007, "Precondition check failed."),
            (
                1007,
                "Explicit activity control is not supported when automatic activity detection is enabled.",
            ),
            (1007, "realtime_input.media_chunks is deprecated. Use audio, video, or text instead."),
            (1007, "Sample rate changed from previously 24000 to 16000, which is not supported."),
            (1007, "Cannot extract voices from a non-audio request."),
            (1007, "The requested combination of response modalities (TEXT) is not supported by the model."),
            (1007, "Requested voice api_name 'Pika' is not available for model models/x"),
            (1007, "Unsupported language code 'es-419' for model models/x"),
            (1007, "Invalid function name. Must start with a letter or an underscore."),
            (1007, "the system instruction has 94 tokens, user system instruction has 41942"),
            (1007, "User location is not supported for the API use."),
            (1007, "Thinking level is not supported for this model"),
            (1007, "BLOCKING function calls are not supported for this model"),
            (1007, "Function response scheduling is not supported for this model"),
            (1007, "Code Execution tool is not supported for this model"),
            (1009, "message too big"),
        ],
    ),
    (
        InvalidRequest,
        "fresh",
        "fresh",
        [
            (1007, "Invalid session handle"),
            (1008, "BidiGenerateContent session not found"),
        ],
    ),
    (
        InvalidRequest,
        "yes",
        "no",
        [
            (1008, "Operation is not implemented, or supported, or enabled."),
        ],
    ),
    (
        ServerError,
        "yes",
        "fresh",
        [
            (1008, "Requested entity was not found."),
        ],
    ),
    (
        ServerError,
        "yes",
        "yes",
        [
            (1011, "Internal error encountered."),
            (1011, "Internal error occurred."),
            (1011, "The service is currently unavailable."),
            (1011, "Deadline expired before operation could complete."),
            (1011, "Thread was cancelled when writing StartStep status"),
        ],
    ),
    (
        SessionClosed,
        "yes",
        "yes",
        [
            (1008, "The operation was aborted."),
            (
                1008,
                "Connection aborted because the client failed to close the connection after receiving a GoAway si",
            ),
            (1011, "keepalive ping timeout"),
            (1006, ""),
            (1001, ""),
        ],
    ),
    (
        SessionClosed,
        "no",
        "no",
        [
            (1000, ""),
            (1000, "The operation was cancelled."),
        ],
    ),
    (
        SessionClosed,
        "once",
        "once",
        [
            (4000, "a proxy's own"),
        ],
    ),
]
KNOWN = [(code, reason, kind, later, setup) for kind, later, setup, rows in TABLE for code, reason in rows]


@pytest.mark.parametrize(("code", "reason", "kind", "later", "in_setup"), KNOWN)
def test_a_known_close_has_its_class_and_its_retry(
    code: int, reason: str, kind: type[LiveToolsError], later: str, in_setup: str
) -> None:
    verdict = classify(code, reason, phase="turn")
    assert (verdict.error_class, verdict.retry) == (kind, later)
    assert classify(code, reason, phase="setup").retry == in_setup


@pytest.mark.parametrize(("code", "reason"), CLOSES)
def test_every_recorded_close_is_in_the_table(code: int, reason: str) -> None:
    assert any(code == known and reason[:30] == text[:30] for known, text, *_ in KNOWN)


@pytest.mark.parametrize(("code", "reason"), CLOSES)
def test_a_reason_is_known_in_any_case_and_cut_at_123_bytes(code: int, reason: str) -> None:
    expected = classify(code, reason, phase="turn")
    assert classify(code, reason.upper(), phase="turn") == expected
    assert classify(code, reason.encode()[:123].decode(errors="ignore"), phase="turn") == expected


def test_an_unknown_entity_in_setup_is_the_handle_and_later_a_hiccup() -> None:
    assert classify(1008, "Requested entity was not found.", phase="setup").retry == "fresh"
    later = classify(1008, "Requested entity was not found.", phase="tool")
    assert (later.error_class, later.retry) == (ServerError, "yes")


@pytest.mark.parametrize(
    "reason",
    [
        "CONTENT_TYPE_AUDIO is not supported for this model configuration",
        "The audio content type (CONTENT_TYPE_AUDIO) is not supported for this model configuration.",
        "Input audio must be 16khz s16le pcm, mono channel",
        "Request contains an invalid audio format.",
    ],
)
def test_audio_that_was_fine_for_minutes_is_tried_once_more(reason: str) -> None:
    assert classify(1007, reason, phase="turn").retry == "once"
    assert classify(1007, reason, phase="setup").retry == "no"


@pytest.mark.parametrize("code", [1007, 1008])
def test_a_setup_refused_for_an_unknown_reason_is_setup_rejected(code: int) -> None:
    refused = error(code, "The moon is in the wrong house.", "setup")
    assert type(refused) is SetupRejected
    assert "The moon is in the wrong house." in str(refused)
    assert "suspect" in str(refused)
    assert ".." not in str(refused)
    assert classify(code, "The moon is in the wrong house.", phase="turn").error_class is not SetupRejected


def test_an_error_carries_what_is_known() -> None:
    closed = error(1011, "Internal error encountered.", "tool")
    assert type(closed) is ServerError
    assert (closed.code, closed.reason, closed.phase) == (1011, "Internal error encountered.", "tool")
    assert closed.retryable
    assert error(1008, "The operation was aborted.", "idle").advice == ""  # type: ignore[attr-defined]
    assert error(1007, "API key expired.", "idle").advice.startswith("Check the API key")  # type: ignore[attr-defined]
    assert not error(1007, "API key not valid.", "setup").retryable  # type: ignore[attr-defined]


def test_what_we_know_of_a_cause_is_told_and_judges_nothing() -> None:
    closed = error(1006, "", "tool", "the event loop was blocked while check_billing ran")
    assert type(closed) is SessionClosed
    assert "while check_billing ran" in str(closed)


def test_a_modality_that_the_model_refuses_is_advised() -> None:
    assert "AUDIO" in str(error(1007, "Cannot extract voices from a non-audio request.", "setup"))


def test_every_rule_can_be_reached() -> None:
    in_session = {text for rule in CLOSE_RULES if rule.when == "session" for text in rule.texts}
    for rule in CLOSE_RULES:
        for text in rule.texts:
            setup = rule.when == "setup" or (rule.when == "always" and text in in_session)
            verdict = classify(1008, f"… {text.title()} …", phase="setup" if setup else "turn")
            assert (verdict.error_class, verdict.retry) == (rule.error_class, rule.retry), text


def test_advice_is_one_sentence_without_a_full_stop() -> None:
    for rule in CLOSE_RULES:
        assert not rule.advice.endswith(".")
        assert rule.one_of == rule.one_of.lower()


@given(st.integers(), st.text(), st.sampled_from(["connect", "setup", "idle", "turn", "tool", ""]))
@settings(derandomize=True, max_examples=300)
def test_no_close_is_without_a_verdict_and_an_error(code: int, reason: str, phase: str) -> None:
    verdict = classify(code, reason, phase=phase)
    assert verdict.retry in ("no", "yes", "fresh", "once")
    assert type(error(code, reason, phase)) is verdict.error_class


@pytest.mark.parametrize(
    "text",
    [
        "key AIzaSyD-abcdefghijklmnopqrstuvwxyz012345 refused",
        "wss://host/ws?key=supersecret0123456789&alt=sse",
        "wss://host/ws?access_token=supersecret0123456789",
        "Authorization: Bearer supersecret0123456789",
        "Authorization: Token auth_tokens/supersecret0123456789",
        "auth_tokens/supersecret0123456789 has expired",
        "ya29.supersecret0123456789",
        "x-goog-api-key: supersecret",
    ],
)
def test_no_secret_survives_in_a_text(text: str) -> None:
    for shown in (scrub(text), str(error(1008, text, "setup")), str(http_error(400, text))):
        assert "supersecret" not in shown
        assert "abcdefghijklmnop" not in shown
        assert "[secret]" in shown


@pytest.mark.parametrize("reason", [reason for _, reason in CLOSES if reason])
def test_a_reason_without_secrets_is_kept_as_it_came(reason: str) -> None:
    assert scrub(reason) == reason


@pytest.mark.parametrize(
    ("reason", "meant"),
    [
        (
            "models/gemini-3.8-lvie is not found for API version v1beta, or is not supported for",
            "gemini-3.8-live",
        ),
        (
            "models/Gemini-3.8-Liv is not found for API version v1beta, or is not supported for",
            "gemini-3.8-live",
        ),
        ("models/gemini-3.1-flash is not found for API version v1beta", "gemini-3.1-flash-live"),
        ("gemini-38-live is not supported in the live api.", "gemini-3.8-live"),
        (
            "Publisher Model `projects/p/locations/us/publishers/google/models/gemini-3.8-livee` was not found",
            "gemini-3.8-live",
        ),
        (
            "models/gemini-3.8-live is not found for API version v1beta",
            None,
        ),  # it is right, and not served here
        ("models/gemini-2.5-flash-native-audio-preview-99 is not found for API version v1beta", None),
        ("models/claude is not found for API version v1beta", None),
        ("Publisher Model was not found", None),
    ],
)
def test_a_name_that_is_almost_a_models_is_told_in_the_advice(reason, meant):
    told = error(1008, reason, "setup")
    assert isinstance(told, ModelNotFound)
    hint = f"Did you mean {meant}? Check the model's name" if meant else "Check the model's name"
    assert told.advice.startswith(hint)


def test_a_close_says_that_media_met_a_call() -> None:
    reason = "Operation is not implemented, or supported, or enabled."
    assert crossed(1008, reason)
    assert not crossed(1007, reason)
    assert not crossed(1008, "The operation was aborted.")
