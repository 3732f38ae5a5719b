"""``livetools serve``."""

from __future__ import annotations

import io
import json
import signal
import urllib.request

import anyio
import pytest
from rich.console import Console

from livetools import connect
from livetools.cli.serve import announcement, curl, table
from livetools.testing import FakeLiveServer
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
    served = program("serve", "--port", "0", "--log")
    assert ask(served.url(), "Weather in Oslo?") == "get_weather says: 12 °C, rain."
    assert '"city": "Oslo"' in served.until("toolCall")
    status, out, err = served.end()
    assert (status, err) == (0, "")
    assert out.endswith("stopped\n")


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
    served = program("serve", "--port", "0", "--rules", rules)
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
        (["--rules", "nowhere.yaml"], "nowhere.yaml: No such file"),
        (["--fault", "nonsense"], "no fault is called 'nonsense'"),
        (["--fault", "drop=much"], "fault drop: 'much' is no number"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(run, args, words):
    result = run("serve", "--port", "0", *args)
    assert result.exit_code == 1
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_a_port_that_is_taken_is_named(program):
    server = FakeLiveServer().start()
    try:
        _, err = program("serve", "--port", server.port).process.communicate(timeout=20)
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
    (row,) = [line for line in out.getvalue().splitlines() if "gemini-3.8-live" in line]
    cells = [cell.strip() for cell in row.strip("│").split("│")]
    assert cells[1:] == ["gemini-3.8-live", "gone", "1", "1", "get_weather says: 12 °C, rain."]
