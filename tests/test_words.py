"""The words of the project: turns of phrase that readers stumbled over, and names that need an explanation.

Read are the comments and strings of the package, its TypeScript, the README and the documentation. A turn is found
across line breaks too. To forbid another one, add a regular expression and the better words.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from os.path import relpath
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "livetools"

#: Turns that no text has: the turn, and better words.
TURNS = {
    # Error messages, titles of rules and help texts.
    "it is one of": "must be one of",
    "say one of": "must be one of",
    "no name that is known is": "no similar argument exists",
    "are both given": "pass only one of them",
    r"stands in \w+ and in": "is set in both",
    "nothing is known of the model": "unknown model: assuming it supports everything",
    r"whatever `?behavior`? says": "ignores `behavior`: its calls always block",
    "is out of reach:": "cannot be reached:",
    "has nothing to serve": "defines no agent and no tools",
    "--append goes on with": "--append adds to",
    "is there, and is": "exists and is",
    "nobody is at one": "refused: approval needs an interactive terminal",
    "declared as one of the simple types": "no type hint; declared as string, number or boolean",
    r"what (?:a content says|is said) stands": "a content's text is inside `parts`",
    "scheduling stands": "`scheduling` is a sibling of `response`",
    "else use output": "otherwise use `output`",
    "uses up the next question": "answers the next question with an empty turn",
    "they do not count in comparisons": "equality ignores these fields",
    "lets the call of": "approves the call",
    "is it told again": "the result is sent again",
    "one that is not named counts as": "unlisted arguments fail the check",
    "who calls: the": "returns the caller's",
    # Docstrings and comments.
    "at no price": "costs nothing",
    "before its words can mean": "the earliest turn end at which output can prove that the frame was read",
    "may have eaten": "may not have delivered",
    "what stands by itself": "kinds that are sent again after a reconnect",
    "that it was written to has ended": "the service closed every connection on which it was sent",
    "is given up and told": "is dropped and reported",
    "that count as come": "treated as received",
    "when what was heard": "when the output just received",
    "whose move it is": "whose turn it is",
    r"what (?:a|the) \w+(?: \w+){0,4} entails": "handles …, or carries out …",
    "has read what it was sent": "has read our input",
    "still to be told": "not reported yet",
    "what went out for a call": "a response that was written",
    "though they be": "even if they are",
    "be spelt alike": "equal ids mean different calls",
    "waits for himself": "would deadlock",
    "was said knowing": "was sent after the peer had read",
    "before its weight matters": "its size does not matter",
    "the ground it rests on": "grounding metadata",
    "what may befall": "the faults that can happen to",
    "whether nothing may follow": "True if this is the last frame for a while",
    "takes away": "removes",
    "what takes the": "a function that removes the",
    "what is said of": "what describes",
    "that are none": "that are not",
    "afresh": "new, or again",
    "stands": "is, is set, is written, is open",
    "(?:is|are|was|were) told": "learns, receives, is reported",
    "told of": "reported",
    "for ever": "without end",
    "(?:goes|went) on(?! (?:functions|an enum))": "continues, resumes",
    "go on": "continue",
    "whoever": "the caller who, any client that",
    "whatever (?:it|is|they|the)": "any, of any kind, everything that",
    "(?:there )?is (?-i:none)": "does not exist, is not one",
    "is not there": "does not exist",
    "what is said": "the words",
    "anew": "again, new",
    "of no account": "ignored",
    "let be": "not changed",
    "(?:and the|and its|or its) like": "and others",
    "(?:is|are) given up": "is abandoned, is no longer waited for",
    "cannot be said": "cannot be declared",
}
#: Names of classes and modules, and the terms of the field.
NAMES = {
    "pen": "writer",
    "held": "outbox",
    "posted": "sent_message",
    "pump": "driver",
    "standing": "snapshot",
    "consult": "ask_approval",
    "opening": "assembly",
    "terms": "plan",
    "floor": "turn_queue",
    "ears": "input",
    "guest": "handshake",
    "lobby": "session_registry",
    "deeds": "fault_injection",
    "manners": "profile",
    "book": "call_registry",
    "journal": "log",
}
SKIPPED = {"node_modules", "dist", "site"}
WORDS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
#: What may be between two words of a turn: the end of a line, and what a comment or a quoted string has there.
BETWEEN = r"""(?:[\s#:*/"']|\b[rbf]{1,2}(?=["']))+"""


def texts() -> list[Path]:
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found += [path for suffix in ("*.py", "*.ts", "*.md") for path in PACKAGE.rglob(suffix)]
    return sorted(path for path in found if SKIPPED.isdisjoint(path.relative_to(ROOT).parts))


@cache
def words_of(path: Path) -> str:
    """The text of a file; of Python only comments and strings, each in its line."""
    text = path.read_text("utf-8")
    return _comments_and_strings(text) if path.suffix == ".py" else text


def _comments_and_strings(source: str) -> str:
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in WORDS:
            lines += [""] * (token.start[0] - len(lines))
            first, *rest = token.string.split("\n")
            lines[token.start[0] - 1] += " " + first
            lines += rest
    return "\n".join(lines)


def turn(text: str) -> re.Pattern[str]:
    """The pattern of a turn: whole words, any case, over the ends of lines."""
    return re.compile(rf"(?<![\w-]){text.replace(' ', BETWEEN)}(?!\w)", re.IGNORECASE)


def certain(text: str) -> list[str]:
    """What is in every text that has this turn, of a turn that is no more than words. Looking for it costs little."""
    return text.split() if re.fullmatch(r"[a-z' :-]+", text) else []


def found(turns: Mapping[str, str], paths: Iterable[Path]) -> Iterator[str]:
    patterns = [(certain(text), turn(text), better) for text, better in turns.items()]
    for path in paths:
        words = words_of(path)
        lower = words.lower()
        for parts, pattern, better in patterns:
            if not all(part in lower for part in parts):
                continue
            for match in pattern.finditer(words):
                line = words.count("\n", 0, match.start()) + 1
                said = " ".join(match[0].split())
                yield f"{relpath(path, ROOT)}:{line}: {said!r}: better {better!r}"


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower()


def test_no_text_has_a_turn_that_readers_stumbled_over():
    assert [*found(TURNS, texts())] == []


def test_no_class_and_no_module_has_a_name_that_needs_an_explanation():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        classes = [
            node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)
        ]
        names = [(path.stem, 1), *((snake(node.name), node.lineno) for node in classes)]
        wrong += [
            f"{path.relative_to(ROOT)}:{line}: {name}: better {NAMES[name]}"
            for name, line in names
            if name in NAMES
        ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.py", 'x = 1\n\n\ndef f():\n    """What may\n    befall it."""\n', 5),
        ("a.py", "x = 1  # what may\n# befall it\n", 1),
        ("a.py", 'raise ValueError(\n    "It is "\n    f"one of {x}"\n)\n', 2),
        ("a.py", 'raise ValueError(\n    f"{x}: it is one of {y}"\n)\n', 2),
        ("a.ts", "/**\n * It takes\n * away the handler.\n */\n", 2),
        ("a.md", "One line.\nThis takes away\nthe rest.\n", 2),
    ],
)
def test_a_turn_is_found_over_the_ends_of_lines(tmp_path, name, text, line):
    path = tmp_path / name
    path.write_text(text)
    (only,) = found(TURNS, [path])
    assert f"{name}:{line}: " in only


def test_code_and_longer_words_are_no_turn(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        'takes = away = stands = whoever = 1\nstands_alone = "understands; one-stands"  # withstands\n'
    )
    assert [*found(TURNS, [path])] == []
