"""``livetools probe``, against a service that is not ours."""

from __future__ import annotations

import pytest
from support.raw_service import LIVE_3_8, RawService, serving
from support.virtual import Hurried

from livetools.cli.commands import probe as command
from livetools.cli.commands.probe import price
from livetools.probe import EXPERIMENTS, NOT_PROBED, Probe
from livetools.setup.model_profiles import ModelProfile, find

KEY = "AIza-this-key-is-nobodys-business"


@pytest.fixture(autouse=True)
def _few_and_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiments of three lines of the table, in hurried time."""
    few = tuple(
        e for e in EXPERIMENTS if {"thinking_level", "compression", "needs_name", "blocking"} & {*e.fields}
    )

    def made(model: str, endpoint: object) -> Probe:
        return Probe(model, endpoint, clock=Hurried(), experiments=few)

    monkeypatch.setattr(command, "Probe", made)


def test_it_reports_what_differs_and_prints_a_profile_that_can_be_pasted(run, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    with serving(RawService({**LIVE_3_8, "compression": "refused"})) as service:
        result = run("probe", "gemini-3.8-live", "--base-url", service.url, "--yes")
    assert result.exit_code == 0, result.output
    assert (
        "≠ compression = 'refused', not 'honoured': 1007 Request contains an invalid argument."
        in result.stdout
    )
    assert (
        "✔ thinking_level = 'refused': 1007 Thinking level is not supported for this model" in result.stdout
    )
    assert "7 facts agree with the profile of gemini-3.8-live; 1 differs." in result.stdout
    assert f"  voices: {NOT_PROBED['voices']}" in result.stdout
    assert "# probed 20" in result.stdout
    made = eval(result.stdout[result.stdout.index("ModelProfile(") :], {"ModelProfile": ModelProfile})
    known = find("gemini-3.8-live")
    assert made.compression == "refused"
    assert {n for n in made.__slots__ if getattr(made, n) != getattr(known, n)} == {"compression"}
    assert "nobodys" not in result.output


def test_an_unknown_model_is_compared_with_the_defaults(run):
    with serving(RawService(LIVE_3_8)) as service:
        result = run("probe", "gemini-9-live", "--base-url", service.url, "--yes")
    assert "≠ default_behavior = 'NON_BLOCKING', not 'BLOCKING'" in result.stdout
    assert "agree with the defaults, for the model is unknown" in result.stdout
    assert "    family='gemini-9-live'," in result.stdout


@pytest.mark.parametrize("said", ["n\n", "\n"])
def test_the_price_is_shown_first_and_nothing_is_sent_without_a_yes(run, said):
    with serving(RawService(LIVE_3_8)) as service:
        result = run("probe", "gemini-3.8-live", "--base-url", service.url, input=said)
    assert result.exit_code == 1
    assert result.stdout.startswith(price("gemini-3.8-live"))
    assert "Continue? [y/N]" in result.stdout
    assert service.setups == []


def test_a_yes_begins(run):
    with serving(RawService(LIVE_3_8)) as service:
        result = run("probe", "gemini-3.8-live", "--base-url", service.url, input="y\n")
    assert result.exit_code == 0
    assert service.setups


def test_a_refused_key_is_one_line_without_the_key(run, monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    closes = (1007, "API key not valid. Please pass a valid API key.")
    with serving(RawService(LIVE_3_8, closes=closes)) as service:
        result = run("probe", "gemini-3.8-live", "--base-url", service.url, "--yes")
    assert result.exit_code == 1
    assert "API key not valid" in result.stderr
    assert "nobodys" not in result.output


def test_an_endpoint_that_nobody_serves_is_one_line(run):
    result = run("probe", "gemini-3.8-live", "--base-url", "ws://127.0.0.1:1", "--yes")
    assert result.exit_code == 1
    assert "nobody listens on 127.0.0.1:1" in result.stderr


def test_a_probe_costs_a_few_cents():
    assert "About 5 US cents (an estimate: 48 short sessions" in price("somebody-elses-model")
