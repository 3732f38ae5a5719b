"""``livetools doctor``, against the fake."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from livetools import ModelProfile
from livetools.cli.commands.doctor import environment
from livetools.testing import FakeLiveServer, Turn
from livetools.testing.pretend import Pretend

FORMS = [
    f"{f} under '{k}'" for f in ("tool_response", "client_content") for k in ("output", "result", "content")
]


@pytest.fixture
def serve() -> Iterator[Callable[..., FakeLiveServer]]:
    servers = []

    def serve(*args: object, **kwargs: object) -> FakeLiveServer:
        servers.append(FakeLiveServer(*args, **kwargs).start())
        return servers[-1]

    yield serve
    for server in servers:
        server.stop(check=False)


def test_everything_is_well(run, serve):
    server = serve(Pretend())
    result = run("doctor", "--base-url", server.http_url)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "neither GOOGLE_API_KEY nor GEMINI_API_KEY is set" in lines[0]
    assert f"endpoint: Gemini API, {server.url}/ws/" in lines[1]
    assert lines[2:5] == [
        "✔ the endpoint answers",
        "✔ the endpoint needs no key",
        "✔ gemini-3.8-live exists and is a Live model",
    ]
    assert lines[5:] == [f"✔ a function call, answered by {form}" for form in FORMS]
    keys = [next(iter(c.response)) for c in server.calls]
    assert keys == ["output", "result", "content"] * 2


@pytest.mark.parametrize(
    ("set_", "told"),
    [(None, "✘ the endpoint needs no key"), ("the-good-one", "✔ the key is accepted")],
    ids=["no key", "the key"],
)
def test_a_key_is_told_of_only_where_there_is_one(run, serve, monkeypatch, set_, told):
    server = serve(Pretend(), api_keys=["the-good-one"])
    if set_ is not None:
        monkeypatch.setenv("GEMINI_API_KEY", set_)
    assert told in run("doctor", "--base-url", server.url).stdout.splitlines()


def test_a_form_that_the_model_refuses_is_no_fault(run, serve):
    server = serve(Pretend())
    result = run("doctor", "--base-url", server.url, "--model", "gemini-3.1-flash-live")
    assert result.exit_code == 0
    assert result.stdout.count("✔ a function call") == 3
    assert result.stdout.count("not for this model") == 3


def test_a_model_that_must_think_is_told_how_much(run, serve):
    server = serve(Pretend())
    model = "gemini-3.8-live-extended-thinking"
    bare = run("doctor", "--base-url", server.url, "--model", model)
    assert bare.exit_code == 1
    assert "wants a thinking level" in bare.stdout
    told = run("doctor", "--base-url", server.url, "--model", model, "--thinking", "low")
    assert told.exit_code == 0
    assert told.stdout.splitlines()[4:] == [
        f"✔ {model} exists and is a Live model",
        *(f"✔ a function call, answered by {form}" for form in FORMS),
    ]
    assert server.sessions[0].setup["generationConfig"]["thinkingConfig"] == {"thinkingLevel": "LOW"}


def test_without_a_key_there_is_no_way(run):
    result = run("doctor")
    assert result.exit_code == 1
    assert "✘ the settings name an endpoint and a key" in result.stdout
    assert "GEMINI_API_KEY" in result.stdout
    assert "✔" not in result.stdout


def test_nobody_listens(run):
    result = run("doctor", "--base-url", "ws://127.0.0.1:1")
    assert result.exit_code == 1
    assert "✘ the endpoint answers" in result.stdout
    assert "nobody listens on 127.0.0.1:1" in result.stdout


def test_a_bad_key_is_told_by_its_last_four_characters_at_most(run, serve, monkeypatch):
    server = serve(Pretend(), api_keys=["the-good-one"])
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-this-is-no-good-key")
    monkeypatch.setenv("GOOGLE_API_KEY", "short")
    result = run("doctor", "--base-url", server.url)
    assert result.exit_code == 1
    assert "GOOGLE_API_KEY is set (…), used" in result.stdout
    assert "GEMINI_API_KEY is set (…-key), not used" in result.stdout
    assert "✔ the endpoint answers" in result.stdout
    assert "✘ the key is accepted" in result.stdout
    assert "short" not in result.stdout
    assert "no-good" not in result.stdout


def test_an_unknown_model_is_found_out(run, serve):
    server = serve(Pretend())
    result = run("doctor", "--base-url", server.url, "--model", "gemini-9-live")
    assert result.exit_code == 1
    assert "✘ gemini-9-live exists and is a Live model" in result.stdout


def test_a_model_that_does_not_call_is_told(run, serve):
    server = serve()  # an echo
    result = run("doctor", "--base-url", server.url)
    assert result.exit_code == 1
    assert result.stdout.count("the model did not call the function; it said") == 6


def test_a_model_that_is_deaf_to_the_answer_is_told(run, serve):
    async def deaf(turn: Turn) -> None:
        await turn.call("get_code")
        await turn.say("Something.")

    server = serve(deaf)
    result = run("doctor", "--base-url", server.url)
    assert result.exit_code == 1
    assert "the function was called and answered, but the model said 'Something.'" in result.stdout


def test_a_model_that_is_silent_is_told(run, serve):
    async def silent(turn: Turn) -> None:
        await turn.call("get_code")
        await turn.session.service.clock.sleep_until(turn.session.service.clock.now() + 60)

    server = serve(silent)
    result = run("doctor", "--base-url", server.url, "--timeout", "0.05")
    assert result.exit_code == 1
    assert "no answer in 0.05 s: the function was called, and the model was silent after it" in result.stdout


def test_a_file_of_authorities_that_does_not_exist_is_a_fault_that_names_the_variable(tmp_path):
    wrong, right = str(tmp_path / "nowhere.pem"), tmp_path / "ca.pem"
    right.write_text("")
    faults = [
        f for f in environment({"SSL_CERT_FILE": wrong, "SSL_CERT_DIR": str(tmp_path)}) if f.ok is False
    ]
    assert [f.text for f in faults] == [f"SSL_CERT_FILE names {wrong}, which does not exist"]
    assert all(finding.ok is None for finding in environment({"SSL_CERT_FILE": str(right)}))


def test_what_is_set_is_told_without_what_may_be_secret():
    told = [
        finding.text
        for finding in environment(
            {
                "GOOGLE_CLOUD_PROJECT": "mine",
                "HTTPS_PROXY": "http://me:password@proxy:3128",
                "GOOGLE_GEMINI_BASE_URL": "https://example.com/?key=abc&x=1",
            }
        )
    ]
    assert "GOOGLE_CLOUD_PROJECT=mine" in told
    assert "HTTPS_PROXY=http://…@proxy:3128" in told
    assert "GOOGLE_GEMINI_BASE_URL=https://example.com/?key=…&x=…" in told


def test_a_probe_is_offered_for_a_model_that_livetools_does_not_know(run, serve):
    server = serve(Pretend(), profile=ModelProfile())
    result = run("doctor", "--base-url", server.url, "--model", "gemini-9-live")
    assert "· livetools knows nothing of gemini-9-live" in result.stdout
    assert "→ `livetools probe gemini-9-live` asks the service" in result.stdout
    known = run("doctor", "--base-url", server.url, "--model", "gemini-3.8-live")
    assert "livetools probe" not in known.stdout


def test_of_several_folders_of_authorities_one_that_exists_is_enough(tmp_path):
    def faults(*folders):
        environ = {"SSL_CERT_DIR": os.pathsep.join(map(str, folders))}
        return [f.text for f in environment(environ) if f.ok is False]

    assert faults(tmp_path / "nowhere", tmp_path) == []
    assert faults(tmp_path / "a", tmp_path / "b") == [
        f"SSL_CERT_DIR names {tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}, which does not exist"
    ]
