"""Writes the report: one self-contained page with every conversation and its timeline."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from .recording.conversation_record import CallRecord, Conversation
from .running.repeated_runs import Result, Round

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
a { color: inherit; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
"""

#: The class and the sign of a verdict: passed, failed, skipped.
_MARKS = {True: ("pass", "✓"), False: ("fail", "✗"), None: ("soft", "skipped")}

WIDTH, ROW, LEFT = 900.0, 20.0, 150.0


def page(results: Iterable[Result], title: str) -> str:
    """The page as HTML: nothing in it is loaded from elsewhere."""
    several = list(results)
    rows = "".join(_row(result, number) for number, result in enumerate(several, 1))
    body = "".join(_section(result, number) for number, result in enumerate(several, 1))
    whole = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f'<h1>Evals of {escape(title)}</h1><p class="soft">{_sum(several)}</p><table><tr><th>Eval</th>'
        f"<th>Passed</th><th>95 % interval</th><th>Fails at</th></tr>{rows}</table>{body}</body></html>\n"
    )
    return whole.encode(errors="replace").decode()  # what a model says may hold half of a character


def _sum(results: Sequence[Result]) -> str:
    """All conversations together: how many passed, how long they took, and what they cost."""
    rounds = [each for result in results for each in result.rounds]
    passed = sum(each.passed for each in rounds)
    seconds = sum(each.conversation.seconds for each in rounds)
    tokens = sum(each.conversation.usage.total_tokens for each in rounds)
    costs = [each.conversation.cost for each in rounds if each.conversation.cost is not None]
    return ", ".join(
        [f"{passed} of {len(rounds)} conversations passed", *_facts(seconds, tokens, sum(costs))]
    )


def _facts(seconds: float, tokens: int, cost: float | None) -> list[str]:
    price = [f"${cost:.4f}"] if cost else []
    return [f"{seconds:.1f} s", *([f"{tokens} tokens"] if tokens else []), *price]


def _row(result: Result, number: int) -> str:
    low, high = result.confidence
    kind = "pass" if result.rate == 1 else "fail"
    failed = Counter(v.expectation for each in result.rounds for v in each.verdicts if v.passed is False)
    worst = "".join(f"<div>{escape(name)} ({times} ×)</div>" for name, times in failed.most_common(3))
    return (
        f'<tr><td><a href="#eval-{number}">{escape(result.name)}</a></td><td class="{kind}">{result.passed} of '
        f"{len(result.rounds)} ({result.rate:.0%})</td><td>{low:.0%} to {high:.0%}</td><td>{worst}</td></tr>"
    )


def _section(result: Result, number: int) -> str:
    rounds = "".join(_round(each, number) for number, each in enumerate(result.rounds, 1))
    return f'<h2 id="eval-{number}">{escape(result.name)}</h2>{rounds}'


def _round(each: Round, number: int) -> str:
    kind, word = ("pass", "passed") if each.passed else ("fail", "failed")
    verdicts = "".join(
        f'<tr><td class="{_MARKS[v.passed][0]}">{_MARKS[v.passed][1]}</td>'
        f"<td>{escape(v.expectation)}</td><td>{'' if v.score is None else f'{v.score:.2f}'}</td>"
        f"<td>{escape(v.why)}</td></tr>"
        for v in each.verdicts
    )
    conversation = each.conversation
    facts = ", ".join(_facts(conversation.seconds, conversation.usage.total_tokens, conversation.cost))
    return (
        f'<details{"" if each.passed else " open"}><summary>Round {number}: <span class="{kind}">{word}</span> '
        f'<span class="soft">{facts}</span></summary><table>{verdicts}</table>{_timeline(conversation)}'
        f"<pre>{escape(conversation.render())}</pre></details>"
    )


def _timeline(conversation: Conversation) -> str:
    """Turns and calls as bars, over seconds; notes (faults, barge-ins) as dashed marks with their text below."""
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
    axis = "".join(
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height:g}" stroke="var(--line)"/>'
        f'<text x="{x + 3:.1f}" y="{height + 11:g}">{seconds:g} s</text>'
        for seconds in _ticks(whole)
        for x in [LEFT + seconds * scale]
    )
    marks = "".join(
        f'<line x1="{LEFT + note.at * scale:.1f}" x2="{LEFT + note.at * scale:.1f}" y1="0" y2="{height:g}" '
        f'stroke="var(--fail)" stroke-dasharray="3 3"/>'
        f"{_label(LEFT + note.at * scale, height + 12 + ROW * n, note.text)}"
        for n, note in enumerate(conversation.notes, 1)
    )
    below = height + 16 + ROW * len(conversation.notes)
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {below:g}" role="img" aria-label="Timeline of {whole:.1f} seconds">'
        f"{axis}{''.join(bars)}{marks}</svg>"
    )


def _label(x: float, y: float, text: str) -> str:
    """A text beside a mark: to its right, or to its left where the page ends."""
    side = f'x="{x - 3:.1f}" text-anchor="end"' if x > 0.6 * WIDTH else f'x="{x + 3:.1f}"'
    return f'<text {side} y="{y:g}">{escape(text)}</text>'


def _ticks(whole: float) -> list[float]:
    """The seconds that the axis names: round ones, six at most."""
    rough = whole / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough)
    return [round(n * step, 6) for n in range(int(whole / step) + 1)]


def _bar(row: int, name: str, began: float, ended: float, scale: float, colour: str, title: str) -> str:
    width = max(2.0, (ended - began) * scale)
    return (
        f'<text x="0" y="{row * ROW + 15:g}">{escape(name[:22])}</text><rect x="{LEFT + began * scale:.1f}" '
        f'y="{row * ROW + 4:g}" width="{width:.1f}" height="{ROW - 7:g}" rx="3" fill="{colour}">'
        f"<title>{escape(title)}</title></rect>"
    )


def _call(call: CallRecord) -> str:
    return f"{call.state}: {call.name}({', '.join(f'{k}={v!r}' for k, v in call.args.items())})"
