"""``livetools eval``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SHOP = '''
from functools import partial
import livetools
from livetools.evals import Called, Eval

def price(item: str) -> str:
    """The price of an item."""
    return f"{item} costs 3 kr"

agent = partial(livetools.connect, "gemini-3.8-live", tools=[price])
'''

YAML = """
agent: shop.py
evals:
  - name: tells a price
    caller: the price of the item "cod"
    expect: [{called: price, with: {item: cod}}]
  - name: sings
    caller: hello
    expect: [{said: la la la}]
"""


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    file = tmp_path / "evals.yaml"
    file.write_text(YAML, encoding="utf-8")
    return file


def test_each_eval_passes_or_fails_with_its_conversation(run, evals, tmp_path):
    result = run("eval", "--fake", evals, "--report", tmp_path / "report.html")
    assert result.exit_code == 1
    assert "pretend model" in result.stdout
    assert "pass  tells a price\n" in result.stdout
    assert "FAIL  sings\n" in result.stdout
    assert "failed: says /la la la/: it said: " in result.stdout
    assert "caller: hello" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed"
    assert "tells a price" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_repeats_give_a_rate_with_its_interval(run, evals):
    result = run("eval", "--fake", evals, "--repeat", "2")
    assert "pass  tells a price  2 of 2 (95 %: 34% to 100%)" in result.stdout
    assert "FAIL  sings  0 of 2" in result.stdout
    assert "2: failed: says" in result.stdout


def test_a_python_file_holds_evals_too(run, evals):
    file = evals.parent / "shop.py"
    file.write_text(
        f"{SHOP}\nevals = [Eval('prices', agent, 'the price of the item \"cod\"', [Called('price')])]\n",
        encoding="utf-8",
    )
    result = run("eval", "--fake", file)
    assert result.exit_code == 0, result.output
    assert "1 passed, 0 failed" in result.stdout


def test_the_pretend_judge_is_the_fakes_rest_side(run, evals):
    (evals.parent / "rules.yaml").write_text(
        'rules: [{when: "rubric: kind", say: \'{"score": 0.9, "reasons": "kind"}\'}]\n', encoding="utf-8"
    )
    evals.write_text(
        "agent: shop.py\njudge: gemini-3.8-flash\nrules: rules.yaml\n"
        "evals: [{name: kind, caller: hello, expect: [{judged: kind}]}]\n",
        encoding="utf-8",
    )
    result = run("eval", "--fake", evals)
    assert result.exit_code == 0, result.output


def test_a_rubric_that_the_pretend_judge_cannot_score_is_skipped_and_named(run, evals, tmp_path):
    evals.write_text(
        "agent: shop.py\njudge: gemini-3.8-flash\n"
        "evals: [{name: kind, caller: hello, expect: [{judged: kind}]}]\n",
        encoding="utf-8",
    )
    result = run("eval", "--fake", evals, "--repeat", "2", "--report", tmp_path / "report.html")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("skipped: judged at least 0.7: kind: the pretend judge gives no score\n") == 1
    assert result.stdout.splitlines()[-1] == "2 passed, 0 failed; 2 expectations skipped"
    assert run("eval", "--fake", evals).stdout.splitlines()[-1] == "1 passed, 0 failed; 1 expectation skipped"
    assert '<td class="soft">skipped</td>' in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda file: file.unlink(), "there is no file"),
        (lambda file: file.write_text("evals: 5"), "expected a mapping with a list `evals`"),
        (lambda file: file.write_text("evals: [}"), "evals.yaml is not YAML"),
        (lambda file: file.write_bytes(b"\xff\xfe\x00"), "evals.yaml is not YAML"),
        (lambda file: (file.parent / "shop.py").write_text("1 / 0"), "ZeroDivisionError"),
        (lambda file: (file.parent / "shop.py").write_text("def f(): 'F.'"), "is not an agent"),
        (lambda file: file.write_text(f"rules: nope.yaml\n{YAML}"), "rules: there is no file"),
    ],
    ids=["no file", "no evals", "no YAML", "no text", "broken agent", "no agent", "no rules"],
)
def test_what_cannot_be_played_is_a_usage_error(run, evals, change, words):
    change(evals)
    result = run("eval", "--fake", evals)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_a_python_file_without_evals_is_told(run, evals):
    result = run("eval", "--fake", evals.parent / "shop.py")
    assert result.exit_code == 2
    assert "has no evals" in result.stderr


def test_a_report_that_cannot_be_written_is_a_usage_error_before_anything_is_played(run, evals, tmp_path):
    result = run("eval", "--fake", evals, "--report", tmp_path / "missing" / "report.html")
    assert result.exit_code == 2
    assert "--report" in result.output
    assert "cannot write" in result.output
    assert "tells a price" not in result.output


def test_the_report_is_written_though_a_conversation_breaks(run, evals, tmp_path):
    file = evals.parent / "shop.py"
    file.write_text(
        f"""{SHOP}
class Breaks:
    async def next(self, conversation):
        raise RuntimeError("the caller broke")

evals = [Eval("breaks", agent, Breaks()), Eval("prices", agent, 'the price of the item "cod"')]
""",
        encoding="utf-8",
    )
    result = run("eval", "--fake", file, "--report", tmp_path / "report.html")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed"
    assert "the caller broke" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_offline_the_pretend_model_plays_the_person(run, evals):
    evals.write_text(
        "agent: shop.py\nevals: [{name: asks, caller: {persona: 'the price of the item \"cod\"'},"
        " expect: [{called: price}]}]\n",
        encoding="utf-8",
    )
    result = run("eval", "--fake", evals)
    assert result.exit_code == 0, result.output


def test_ctrl_c_says_at_once_who_ended_the_run_and_the_report_has_what_was_played(evals, program, tmp_path):
    (evals.parent / "shop.py").write_text(
        SHOP.replace("def price", "async def price").replace(
            'return f"', "print('it runs', flush=True); import asyncio; await asyncio.sleep(60); return f\""
        ),
        encoding="utf-8",
    )
    running = program("eval", evals, "--fake", "--report", tmp_path / "report.html")
    running.until("it runs")
    code, _, err = running.end()
    assert code == 130
    assert "Ctrl-C: you interrupted the run." in err
    assert "Traceback" not in err
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_run_that_does_not_begin_leaves_no_report(run, tmp_path):
    result = run("eval", tmp_path / "nowhere.yaml", "--report", tmp_path / "report.html")
    assert result.exit_code == 2
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("module", "expectation"), [("py3langid", "language: en"), ("genai_prices", "cost: 1.0")]
)
def test_an_extra_that_is_missing_is_told_before_anything_is_played(
    run, evals, monkeypatch, module, expectation
):
    monkeypatch.setitem(sys.modules, module, None)
    evals.write_text(YAML.replace("said: la la la", expectation), encoding="utf-8")
    result = run("eval", "--fake", evals)
    assert result.exit_code == 2
    assert "(sings)" in result.stderr
    assert "pip install 'PATH/TO/CLONE[evals]'" in result.stderr
    assert "tells a price" not in result.output


@pytest.mark.parametrize("name", ["prise", "order_pizza"], ids=["a slip", "no such tool"])
def test_a_tool_that_the_agent_does_not_have_is_a_usage_error_after_the_others_were_played(run, evals, name):
    evals.write_text(YAML.replace("said: la la la", f"called: {name}"), encoding="utf-8")
    result = run("eval", "--fake", evals)
    assert result.exit_code == 2
    assert "pass  tells a price\n" in result.stdout
    assert f"the agent has no tool {name}; it has price" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 passed, 1 failed"
