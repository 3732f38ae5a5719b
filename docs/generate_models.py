"""The pages of the models: the facts of ``livetools/setup/model_profiles.py``, with the dates beside them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

import livetools
from livetools.probe import NOT_PROBED
from livetools.setup import model_profiles
from livetools.setup.model_profiles import ModelProfile

SOURCE = Path(model_profiles.__file__).read_text(encoding="utf-8")
ORDER = [
    "gemini-3.8-live",
    "gemini-3.8-live-extended-thinking",
    "gemini-3.1-flash-live",
    "gemini-2.5 native audio",
    "half-cascade",
    "gemini-3.5-live-translate",
    "gemini-3.5-transcribe-live",
]
GIVEN_BY_THE_LOOK_UP = ("family", "known", "vertex")


@dataclass(frozen=True)
class Family:
    """What the source says of one family: its profile as it is written, the remark above it, and those beside."""

    profile: ModelProfile
    remark: str
    remarks: Mapping[str, str]


def pages() -> dict[str, str]:
    """Every page of a model, and the page that lists them, by its path in docs/."""
    found = families()
    if left := set(found) - set(ORDER):
        raise ValueError(f"no page for {', '.join(sorted(left))}: add it to ORDER, and to zensical.toml")
    made = {f"models/{slug(name)}.md": page(found[name]) for name in ORDER}
    return {"models/index.md": overview([found[name] for name in ORDER]), **made}


def slug(family: str) -> str:
    return family.replace(" ", "-")


def names(family: str) -> list[str]:
    """The beginnings of models' names that are of this family."""
    return [name for name in model_profiles.families() if model_profiles.find(name).family == family]


def comments() -> dict[int, str]:
    """Line → the comment that ends it, or stands alone on it."""
    tokens = tokenize.generate_tokens(io.StringIO(SOURCE).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}


def families() -> dict[str, Family]:
    """The families in the source, each with its remarks; one that is made from another has that one's too."""
    told, lines = comments(), SOURCE.splitlines()
    made: dict[str, Family] = {}  # by the name of the variable
    for node in ast.parse(SOURCE).body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call() as call) if name.startswith("_"):
                profile = getattr(model_profiles, name)
                if isinstance(profile, ModelProfile):
                    base = [made[arg.id].remarks for arg in call.args if isinstance(arg, ast.Name)]
                    made[name] = Family(
                        profile,
                        " ".join(above(node.lineno, told, lines)),
                        {**(base[0] if base else {}), **dict(beside(call, told))},
                    )
    return {family.profile.family: family for family in made.values()}


def above(line: int, told: Mapping[int, str], lines: list[str]) -> list[str]:
    """The comment that ends right above this line."""
    first = line - 1
    while first in told and lines[first - 1].startswith("#"):
        first -= 1
    return [told[number] for number in range(first + 1, line)]


def beside(call: ast.Call, told: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Each field that is set with a comment at the end of its line, or of its last."""
    for keyword in call.keywords:
        value = keyword.value
        if remark := told.get(value.lineno) or told.get(value.end_lineno or 0):
            yield str(keyword.arg), remark


def meanings() -> dict[str, tuple[str, str]]:
    """Field → the group it stands in, and what the class says of it."""
    told, lines = comments(), SOURCE.splitlines()
    base, profile = (n for n in ast.parse(SOURCE).body if isinstance(n, ast.ClassDef))
    group, found = "what it is", {}
    for node in (*profile.body, *base.body):  # the base has the same groups
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if lines[node.lineno - 2].strip().startswith("#"):
                group = told[node.lineno - 1]
            found[node.target.id] = (group, told.get(node.lineno) or told.get(node.end_lineno or 0, ""))
    return found


def written(value: object) -> str:
    """A field's value as a page shows it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "–"
        case frozenset() if len(value) > 10:
            return f"{len(value)} of them: {', '.join(sorted(map(str, value)))}"
        case frozenset():
            return ", ".join(f"`{item}`" for item in sorted(map(str, value))) or "none"
        case (int() as code, str() as reason):
            return f"{code} “{reason}”"
        case int():
            return f"{value:,}".replace(",", " ")
        case str():
            return f"`{value}`"
        case _:
            return str(value)


def defaults() -> dict[str, object]:
    """What is taken to hold of a model that nobody has measured."""
    return {f.name: f.default for f in fields(ModelProfile) if f.default is not MISSING}


def page(family: Family) -> str:
    """One model's page."""
    name = family.profile.family
    gemini, vertex = (model_profiles.find(names(name)[0], vertex=on) for on in (False, True))
    rows: dict[str, list[str]] = {}
    for field, (group, meaning) in meanings().items():
        if field not in GIVEN_BY_THE_LOOK_UP:
            here, there = getattr(gemini, field), getattr(vertex, field)
            value = written(here) + (f"; on Vertex AI {written(there)}" if there != here else "")
            remark = family.remarks.get(field, "")
            rows.setdefault(group, []).append(
                row(
                    f"`{field}`",
                    upper(linked(spelt(meaning))),
                    value,
                    evidence(field, here, remark),
                    checked(field, remark),
                )
            )
    tables = [
        f"## {upper(group)}\n\n" + table(["Field", "Means", "Value", "Evidence", "Probe"], lines)
        for group, lines in rows.items()
    ]
    return "\n\n".join([head(family, gemini), *tables]) + "\n"


#: What `livetools probe` writes beside a fact that it has seen.
PROBED = re.compile(r"probed (\d{4}-\d\d-\d\d): ")


def evidence(field: str, value: object, remark: str) -> str:
    """Where a fact is from: what is said beside it, else the sources of the family; a default may have none."""
    if remark:
        return linked(remark)
    return "default" if value == defaults()[field] else "the sources above"


def checked(field: str, remark: str) -> str:
    """When a probe saw a fact; whether one can."""
    if seen := PROBED.match(remark):
        return f"confirmed {seen[1]}"
    return "cannot tell" if field in NOT_PROBED else "not yet"


def confirmed(family: Family) -> str:
    """How many of the facts of a family the service itself has confirmed."""
    able = [field for field in meanings() if field not in {*GIVEN_BY_THE_LOOK_UP, *NOT_PROBED}]
    seen = [field for field in able if PROBED.match(family.remarks.get(field, ""))]
    count = f"{len(seen)} of them" if seen else "none of them yet"
    return (
        f"`livetools probe MODEL` can ask the service about {len(able)} of these facts "
        f"([A model that livetools does not know]({TROUBLE})). It has confirmed {count}. "
        "The rest is from public reports, with the evidence in the tables. Where that says *default*, no report is "
        "noted, and the value is a guess."
    )


TROUBLE = "../troubleshooting/index.md#a-model-that-livetools-does-not-know"


def head(family: Family, profile: ModelProfile) -> str:
    beginnings = ", ".join(f"`{name}…`" for name in names(family.profile.family))
    remark = f"\n\nSources: {linked(family.remark)}" if family.remark else ""
    return f"""# {family.profile.family}

Models whose names begin with {beginnings}. This page is generated from the profile that livetools uses
(`livetools/setup/model_profiles.py`). `session.profile` is that profile; `connect(profile=...)` replaces it.{remark}

{confirmed(family)}

{chr(10).join(f"- {line}" for line in sentences(profile))}"""


def sentences(p: ModelProfile) -> Iterator[str]:
    """What one needs to know before the tables."""
    yield f"It answers with {' or '.join(sorted(p.modalities)).lower()}."
    if not p.functions:
        yield "It takes no function declarations: `connect(tools=[...])` raises `ConfigError`."
        return
    name = names(p.family)[0]
    yield f"A tool without `behavior`: {declared(name, None)}. A generator: {declared(name, None, generator=True)}."
    for behavior in ("blocking", "non_blocking", "background"):
        yield f'`behavior="{behavior}"`: {declared(name, behavior)}.'
    yield (
        f"The service's own default, for a declaration without `behavior`, is {p.default_behavior}. livetools "
        + ("always says which one it wants." if p.states_behavior else "relies on it.")
    )
    if p.input_block:
        yield "Audio and video are dropped while a blocking call is open: they would disturb it (`input_gate`)."
    if p.content_mid_session == "refused":
        yield "`session.send_content` works only before the first turn; `send_text` works at any time."
    yield (
        "A dropped connection can be resumed." if p.resumption else "A dropped connection cannot be resumed."
    )


#: What the model does while a tool runs, by what livetools declares.
WAITS, TALKS = "the model waits for the answer", "the model keeps talking"


def declared(model: str, behavior: str | None, *, generator: bool = False) -> str:
    """What livetools makes of a tool's ``behavior`` on this model, by the plan that a session would follow."""

    def function() -> str:
        return ""

    def parts() -> Iterator[str]:
        yield ""

    options = {} if behavior is None else {"behavior": behavior}
    tool = livetools.Tool(parts if generator else function, name="f", **options)
    needs_level = model_profiles.find(model).thinking_level == "required"
    config = {"thinking_config": {"thinking_level": "LOW"}} if needs_level else None
    try:
        session = livetools.connect(model, tools=[tool], config=config, api_key="none")
    except livetools.ConfigError:
        return "raises `ConfigError`"
    policy = session.plan.policies["f"]
    if policy.background:
        return "answered at once that it is under way; the result follows as text"
    if behavior == "non_blocking" and policy.behavior == "BLOCKING":
        return f"left out with a warning; {WAITS}"
    return WAITS if policy.behavior == "BLOCKING" else TALKS


def behavior_table() -> str:
    """What each ``behavior`` becomes on each family that takes functions."""
    lines = []
    for family in families().values():
        name = names(family.profile.family)[0]
        if model_profiles.find(name).functions:
            cells = [declared(name, b) for b in (None, "blocking", "non_blocking", "background")]
            cells.insert(1, declared(name, None, generator=True))
            lines.append(
                row(f"[{family.profile.family}](../models/{slug(family.profile.family)}.md)", *cells)
            )
    headings = ["Model", "not given", "not given, a generator"]
    return table([*headings, '`"blocking"`', '`"non_blocking"`', '`"background"`'], lines)


def overview(found: list[Family]) -> str:
    """The page that compares them."""
    lines = []
    for family in found:
        p = model_profiles.find(names(family.profile.family)[0])
        lines.append(
            row(
                f"[{p.family}]({slug(p.family)}.md)",
                ", ".join(sorted(p.modalities)).lower(),
                declared(names(p.family)[0], None) if p.functions else "no functions",
                p.non_blocking if p.functions else "–",
                p.scheduling if p.functions else "–",
                written(p.input_block),
                p.text_channel.replace("_", " "),
                written(p.resumption),
            )
        )
    headings = [
        "Family",
        "Answers with",
        "While a tool runs, unless told otherwise",
        "Non-blocking",
        "Scheduling",
        "Input block",
        "Text goes as",
    ]
    return f"""# Models

What each family of Live models supports, and how it behaves, as far as it has been measured. livetools checks your
options against this table before it connects: an option for which the service would close raises `ConfigError`, and an
option that it would ignore is left out with a warning. Each page has the facts of a model, with evidence and date
where there are any.

{table([*headings, "Resumes"], lines)}

*Honoured*: the model acts on it. *Ignored*: the model accepts it and does nothing. *Refused*: the service closes the
connection. *Input block*: audio must not be sent while a blocking call is open.

A model that is in no family gets a profile that permits everything, and a warning in the log.
[`livetools probe`]({TROUBLE}) asks the service how it behaves, and prints a profile. If you know how it behaves, pass a
profile:

```python
import livetools
from dataclasses import replace

profile = livetools.ModelProfile(family="my-model", input_block=True, modalities=frozenset({{"AUDIO"}}))
session = livetools.connect("gemini-9-live", profile=profile)
assert session.profile.input_block
```
"""


def row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table(headings: list[str], lines: list[str]) -> str:
    return "\n".join([row(*headings), row(*["---"] * len(headings)), *lines])


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def spelt(text: str) -> str:
    """The text with the names of fields (``turnComplete``, ``FunctionResponse.scheduling``) as code."""
    return re.sub(r"\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)(?:\.\w+)*", r"`\g<0>`", text)


REPOSITORIES = {
    "python-genai": "googleapis/python-genai",
    "js-genai": "googleapis/js-genai",
    "adk": "google/adk-python",
    "pydantic-ai": "pydantic/pydantic-ai",
    "pipecat": "pipecat-ai/pipecat",
    "livekit": "livekit/agents",
    "openclaw": "openclaw/openclaw",
}


def linked(text: str) -> str:
    """The text with its references to issues (``pipecat#4448``) as links."""

    def link(match: re.Match[str]) -> str:
        repository = REPOSITORIES.get(match["name"])
        return (
            f"[{match[0]}](https://github.com/{repository}/issues/{match['number']})"
            if repository
            else match[0]
        )

    return re.sub(r"(?P<name>[\w-]+)#(?P<number>\d+)", link, text)
