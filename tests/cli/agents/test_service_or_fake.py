"""Where a command talks to."""

from __future__ import annotations

import pytest

from livetools import ConfigError
from livetools.cli.agents.service_or_fake import service_or_fake
from livetools.testing import FakeLiveServer


def test_a_key_in_the_environment_is_the_way_to_the_service(monkeypatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
    with service_or_fake(False) as endpoint:
        assert (endpoint.fake, endpoint.options, endpoint.notice) == (False, {}, "")


def test_without_one_a_fake_is_started_and_said_to_be_one():
    with service_or_fake(False) as endpoint:
        assert endpoint.fake
        assert endpoint.options["base_url"].startswith("ws://127.0.0.1:")
        assert "pretend model" in endpoint.notice
        assert "The service cannot be asked, so a pretend model answers: no API key" in endpoint.notice


def test_a_key_in_a_variable_that_nobody_reads_is_named(monkeypatch):
    monkeypatch.setenv("GEMINI_KEY", "a-secret-key")
    with service_or_fake(False) as endpoint:
        assert "GEMINI_KEY is set, but nothing reads it" in endpoint.notice
        assert "a-secret-key" not in endpoint.notice


@pytest.mark.parametrize("url", ["https://example.com", "http://example.com", "nonsense"])
@pytest.mark.parametrize("named", ["argument", "environment", "environment of Vertex AI"])
def test_an_endpoint_that_is_named_is_never_replaced(monkeypatch, named, url):
    if named == "environment":
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
    elif named != "argument":
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", url)
    with service_or_fake(False, url if named == "argument" else None) as endpoint:
        assert not endpoint.fake
        assert endpoint.options == ({"base_url": url} if named == "argument" else {})


def test_a_fake_and_an_endpoint_are_one_too_many():
    with pytest.raises(ConfigError, match="only one of them"), service_or_fake(True, FakeLiveServer.__name__):
        pass
