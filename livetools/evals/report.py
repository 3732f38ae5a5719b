"""The report: one page, by itself, with every conversation and its timeline."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .record import CallRecord, Conversation
from .runs import Result, Round

STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c2024; --soft: #60646c; --line: #d9d9e0;
  --pass: #18794e; --fail: #ce2c31; --turn: #0d74ce; --call: #8347b9; }
@media (prefers-color-scheme: dark) { :root { --ground: #111113; --ink: #edeef0; --soft: #b0b4ba; --line: #43484e;
  --pass: #3dd68c; --fail: #ff9592; --turn: #70b8ff; --call: #d19dff; } }
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line); padding: .3rem .5rem;
  text-align: left; vertical-align: top; }
.pass { color: var(--pass); } .fail { color: var(--fail); } .soft { color: var(--soft); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; } pre { overflow-x: auto; white-space: pre-wrap; } svg { width: 100%; height: auto; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
"""

WIDTH, ROW, LEFT = 900.0, 20.0, 150.0


def page(results: Iterable[Result], title: str) -> str:
    """The page as HTML: nothing in it is loaded from elsewhere."""
    several = list(results)
    rows = "".join(_row(result) for result in several)
    body = "".join(_section(result) for result in several)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>Evals of {escape(title)}</h1><table><tr><th>Eval</th><th>Passed</th><th>95 % interval</th></tr>"
        f"{rows}</table>{body}</body></html>\n"
    )


def _row(result: Result) -> str:
    low, high = result.confidence
    kind = "pass" if result.rate == 1 else "fail"
    return (
        f'<tr><td>{escape(result.name)}</td><td class="{kind}">{result.passed} of {len(result.rounds)}</td>'
        f"<td>{low:.0%} to {high:.0%}</td></tr>"
    )


def _section(result: Result) -> str:
    rounds = "".join(_round(each, number) for number, each in enumerate(result.rounds, 1))
    return f"<h2>{escape(result.name)}</h2>{rounds}"


def _round(each: Round, number: int) -> str:
    kind, word = ("pass", "passed") if each.passed else ("fail", "failed")
    verdicts = "".join(
        f'<tr><td class="{"pass" if v.passed else "fail"}">{"✓" if v.passed else "✗"}</td>'
        f"<td>{escape(v.expectation)}</td><td>{'' if v.score is None else f'{v.score:.2f}'}</td>"
        f"<td>{escape(v.why)}</td></tr>"
        for v in each.verdicts
    )
    conversation = each.conversation
    tokens = f"{conversation.usage.total_tokens} tokens" if conversation.usage.total_tokens else ""
    price = "" if conversation.cost is None else f"{conversation.cost:.4f} $"
    facts = ", ".join(part for part in (f"{conversation.seconds:.1f} s", tokens, price) if part)
    return (
        f'<details{"" if each.passed else " open"}><summary>Round {number}: <span class="{kind}">{word}</span> '
        f'<span class="soft">{facts}</span></summary><table>{verdicts}</table>{_timeline(conversation)}'
        f"<pre>{escape(conversation.render())}</pre></details>"
    )


def _timeline(conversation: Conversation) -> str:
    """Turns and calls as bars, over seconds; notes as marks."""
    whole = max(conversation.seconds, 0.001)
    scale = (WIDTH - LEFT - 10) / whole
    bars = [
        _bar(n, f"turn {n + 1}", turn.began, turn.ended or whole, scale, "var(--turn)", turn.said)
        for n, turn in enumerate(conversation.turns)
    ]
    bars += [
        _bar(n, call.name, call.began, call.ended or whole, scale, "var(--call)", _call(call))
        for n, call in enumerate(conversation.calls, len(bars))
    ]
    height = ROW * len(bars) + 8
    marks = "".join(
        f'<line x1="{LEFT + note.at * scale:.1f}" x2="{LEFT + note.at * scale:.1f}" y1="0" y2="{height:g}" '
        f'stroke="var(--fail)" stroke-dasharray="3 3"><title>{escape(note.text)}</title></line>'
        for note in conversation.notes
    )
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="Timeline of {whole:.1f} seconds">'
        f"{''.join(bars)}{marks}</svg>"
    )


def _bar(row: int, name: str, began: float, ended: float, scale: float, colour: str, title: str) -> str:
    width = max(2.0, (ended - began) * scale)
    return (
        f'<text x="0" y="{row * ROW + 15:g}">{escape(name[:22])}</text><rect x="{LEFT + began * scale:.1f}" '
        f'y="{row * ROW + 4:g}" width="{width:.1f}" height="{ROW - 7:g}" rx="3" fill="{colour}">'
        f"<title>{escape(title)}</title></rect>"
    )


def _call(call: CallRecord) -> str:
    return f"{call.state}: {call.name}({', '.join(f'{k}={v!r}' for k, v in call.args.items())})"
