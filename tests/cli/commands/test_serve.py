"""``livetools serve``."""

from __future__ import annotations

import io
import json
import signal
import socket
import urllib.request
from pathlib import Path

import anyio
import pytest
from rich.console import Console

from livetools import AudioChunk, TurnComplete, connect
from livetools.cli.commands.serve import announcement, curl, table
from livetools.testing import FakeLiveServer
from livetools.testing.net.urls import own_address
from livetools.testing.pretend import Pretend


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return "12 °C, rain"


def ask(base_url: str, question: str) -> str:
    async def main() -> str:
        async with connect("gemini-3.8-live", tools=[get_weather], base_url=base_url) as session:
            return str(await session.ask(question))

    return anyio.run(main)


def test_it_serves_a_pretend_model_and_stops_cleanly(program):
    served = program("serve", "--port", "0", "--log", "--pace", "0")
    assert ask(served.url(), "Weather in Oslo?") == "get_weather says: 12 °C, rain."
    assert '"city": "Oslo"' in served.until("toolCall")
    status, out, err = served.end()
    assert (status, err) == (0, "")
    assert out.endswith("stopped\n")


def test_tls_spoken_to_a_plain_port_is_told_with_the_option_that_helps(program):
    served = program("serve", "--port", "0")
    port = int(served.url().rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01")
        assert "livetools serve --tls" in served.until("to a plain port")


def test_a_polite_kill_is_a_clean_stop_too(program):
    served = program("serve", "--port", "0")
    served.url()
    status, out, err = served.end(signal.SIGTERM)
    assert (status, err) == (0, "")
    assert "stopped" in out


def test_rules_from_a_file_make_the_model(program, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "rules:\n  - when: sun in (?P<town>\\w+)\n    call: get_weather\n    say: 'In {town}: {output}'\n"
    )
    served = program("serve", "--port", "0", "--rules", rules, "--pace", "0")
    assert ask(served.url(), "is there sun in Bergen") == "In Bergen: 12 °C, rain"


def test_generate_content_is_on_the_same_port(program):
    served = program("serve", "--port", "0", "--rest")
    url = served.url()
    command = served.until("curl")
    body = command.split("'")[1].encode()
    assert command.endswith(f"{url}/v1beta/models/gemini-3.8-flash:generateContent")
    headers = {"Content-Type": "application/json", "x-goog-api-key": "fake"}
    request = urllib.request.Request(command.split()[-1], body, headers)
    with urllib.request.urlopen(request, timeout=10) as response:
        answer = json.load(response)
    assert "pretend model" in answer["candidates"][0]["content"]["parts"][0]["text"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--rules", "nowhere.yaml"], "--rules: nowhere.yaml: No such file"),
        (["--rules", "broken.yaml"], "--rules: broken.yaml is not YAML: "),
        (["--rules", "latin.yaml"], "--rules: latin.yaml is not YAML: "),
        (["--rules", "date.yaml"], "--rules: date.yaml is not YAML: "),
        (["--rules", "tag.yaml"], "--rules: tag.yaml is not YAML: "),
        (["--rules", "wrong.yaml"], "--rules: wrong.yaml: rule 1: `call` is the name of a function"),
        (["--fault", "nonsense"], "--fault: no fault is called 'nonsense'"),
        (["--fault", "drop=much"], "--fault: fault drop takes a share"),
        (["--fault", "drop=2"], "--fault: fault drop takes a share"),
        (["--fault", "drop"], "--fault: fault drop takes a share"),
        (["--pace", "nan"], "--pace: nan is not a factor"),
        (["--pace", "-1"], "--pace: -1.0 is not a factor"),
        (["--pace", "inf"], "--pace: inf is not a factor"),
        (["--profile", "nomodel"], "--profile: no model family has the name 'nomodel'; there are gemini-"),
    ],
)
def test_an_option_that_is_wrong_is_told_in_one_line(run, tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    Path("broken.yaml").write_text("rules: [\n  - {when: 'a'\n")
    Path("latin.yaml").write_bytes(b"rules: \xff")
    Path("date.yaml").write_text("rules: [{when: 2024-13-45}]")
    Path("tag.yaml").write_text("rules: !!timestamp soon")
    Path("wrong.yaml").write_text("rules: [{when: a, call: [b]}]")
    result = run("serve", "--port", "0", *args)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"livetools: {words}")
    assert result.stderr.count("\n") == 1


def test_listening_everywhere_is_told_with_addresses_that_can_be_used(program):
    served = program("serve", "--host", "0.0.0.0", "--port", "0", "--pace", "0")
    url = served.url()
    assert url.startswith("http://127.0.0.1:")
    warning = served.until("other machines can connect to it")
    assert ask(url, "hello")
    if (address := own_address()) is not None:
        assert f"at http://{address}:{url.rpartition(':')[2]};" in warning
        socket.create_connection((address, int(url.rpartition(":")[2])), 5).close()
    assert served.end()[:1] == (0,)


def test_this_machine_alone_is_not_warned_of(program):
    served = program("serve", "--port", "0")
    served.url()
    assert "!" not in served.end()[1]


def test_its_authority_is_the_same_the_next_time(program, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    trusted = []
    for _ in range(2):
        served = program("serve", "--port", "0", "--tls")
        assert served.url().startswith("https://localhost:")
        file = Path(served.until("SSL_CERT_FILE").partition("=")[2])
        assert served.end()[0] == 0
        trusted.append((file, file.read_text()))
    assert trusted[0] == trusted[1]
    assert trusted[0][0] == tmp_path / "livetools" / "ca.pem"


@pytest.mark.parametrize(
    ("long", "pace", "factor"),
    [(False, [], 1.0), (True, ["--pace", "0"], 0.0), (True, ["--pace", "0.02"], 0.02)],
    ids=["the default", "at once", "a factor"],
)
def test_a_turn_ends_when_its_sound_would_have_been_played(program, tmp_path, long, pace, factor):
    """``long``: more than a minute of sound, of which a quarter passes on no machine while it is sent."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(f"rules:\n  - when: hello\n    say: {'Hello there. ' * (100 if long else 2)}\n")
    served = program("serve", "--port", "0", "--rules", rules, *pace)
    url = served.url()

    async def main() -> tuple[float, float, float]:
        """Seconds of sound, until the last of it came, and until the turn had ended."""
        config = {"response_modalities": ["AUDIO"]}
        async with connect("gemini-3.8-live", base_url=url, config=config) as session:
            began, sound, last = anyio.current_time(), 0.0, 0.0
            await session.send_text("hello")
            async for event in session:
                if isinstance(event, AudioChunk):
                    sound, last = sound + len(event.data) / 2 / event.rate, anyio.current_time() - began
                if isinstance(event, TurnComplete):
                    break
            return sound, last, anyio.current_time() - began

    sound, last, ended = anyio.run(main)
    assert sound > (60.0 if long else 1.0)
    assert ended > sound * factor * 0.95
    if long:
        assert last < sound / 4, "the sound itself waits for nothing"
        assert ended < sound / 4, "the factor is that of the command line, and not 1"


def test_a_port_that_is_taken_is_named(program):
    server = FakeLiveServer().start()
    try:
        _, err = program("serve", "--port", server.port).rest()
    finally:
        server.stop()
    assert f"livetools: 127.0.0.1:{server.port}: " in err


def test_a_port_that_cannot_be_is_said(run):
    for command in (["serve"], ["web"], ["record", "file"]):
        result = run(*command, "--port", "99999")
        assert result.exit_code == 2
        assert "--port" in result.stderr


@pytest.mark.anyio
async def test_the_announcement_is_what_a_program_needs():
    async with FakeLiveServer() as plain, FakeLiveServer(tls=True) as safe:
        assert announcement(plain, "here")[:2] == ["here", f"export GOOGLE_GEMINI_BASE_URL={plain.http_url}"]
        assert "--tls" in announcement(plain, "here")[2]
        assert announcement(safe, "here")[1:] == [
            f"export GOOGLE_GEMINI_BASE_URL={safe.http_url}",
            f"export SSL_CERT_FILE={safe.ca_file}",
        ]
        assert f"--cacert {safe.ca_file}" in curl(safe)


def test_the_table_shows_sessions_turns_and_calls():
    server = FakeLiveServer(Pretend()).start()
    try:
        ask(server.url, "Weather in Oslo?")
        out = io.StringIO()
        Console(file=out, width=120).print(table(server))
    finally:
        server.stop()
    assert f"{server.url}: 1 session " in out.getvalue()
    (row,) = [line for line in out.getvalue().splitlines() if "gemini-3.8-live" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[1:] == ["gemini-3.8-live", "gone", "1", "1", "get_weather says: 12 °C, rain."]
