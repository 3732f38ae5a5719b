"""The probe against a service that knows nothing of livetools, and plays a table of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Any

import anyio
import pytest
from support.raw_service import GEMINI, LIVE_3_8, ONLY, VERTEX, RawService, serving
from support.virtual import Hurried, VirtualClock, run

from livetools.errors import AuthenticationError, ConnectFailed, ModelNotFound, QuotaExceeded
from livetools.probe import EXPERIMENTS, NOT_PROBED, Answer, Probe, Report, Undecided
from livetools.session import Clock
from livetools.setup.model_profiles import ModelProfile, families, find
from livetools.transport.endpoint import Given, resolve

MODELS = ("gemini-live-2.5-flash", "gemini-2.5-flash-native-audio", "gemini-3.1-flash-live", "gemini-3.8-live",
          "gemini-3.8-live-extended-thinking", "gemini-3.5-live-translate", "gemini-3.5-transcribe-live")  # fmt: skip
SILENT = {"gemini-3.5-live-translate", "gemini-3.5-transcribe-live"}  # they answer speech only
TABLES = {False: GEMINI, True: VERTEX}
KEY = "AIza-a-key-that-nobody-may-see"


def probed(model: str, service: RawService, *, vertex: bool = False, fields: Collection[str] = ()) -> Report:
    """The report of a probe, or of the experiments of some fields alone, in no time."""

    async def main() -> Report:
        async with service.running():
            return await report_of(model, service, VirtualClock(), vertex, fields)

    return run("asyncio", main)


async def report_of(
    model: str, service: RawService, clock: Clock, vertex: bool, fields: Collection[str]
) -> Report:
    experiments = tuple(e for e in EXPERIMENTS if not fields or {*fields} & {*e.fields})
    endpoint = resolve(Given(KEY, vertex, base_url=service.url), environ={})
    probe = Probe(model, endpoint, clock=clock, experiments=experiments)
    async for _ in probe.run():
        pass
    return Report(model, "2026-11-29", probe.known, probe.facts)


def wrong(report: Report, profile: ModelProfile) -> dict[str, Answer]:
    """What was found, and is not so in ``profile``."""
    return Report(report.model, report.date, profile, report.facts).differences()


@pytest.mark.parametrize("vertex", [False, True], ids=["gemini", "vertex"])
@pytest.mark.parametrize("model", MODELS)
def test_the_probe_of_a_model_that_livetools_knows_gives_its_profile_back(model, vertex):
    report = probed(model, RawService(TABLES[vertex][model]), vertex=vertex)
    assert report.differences() == {}
    assert report.profile() == find(model, vertex=vertex)
    least = 15 if model in SILENT else 36
    assert len(report.confirmed()) >= least


@pytest.mark.slow
@pytest.mark.parametrize("vertex", [False, True], ids=["gemini", "vertex"])
@pytest.mark.parametrize("model", families())
def test_the_probe_gives_the_profile_of_each_family_back(model, vertex):
    report = probed(f"models/{model}-001", RawService(TABLES[vertex][model]), vertex=vertex)
    assert report.differences() == {}
    assert report.profile() == find(model, vertex=vertex)


@pytest.mark.parametrize("model", MODELS)
def test_the_probe_of_an_unknown_model_finds_what_is_so(model):
    """Nothing that is sent depends on the profile."""
    service = RawService({**GEMINI[model], "tools": GEMINI[model]["tools"] - {"urlContext"}})
    report = probed("somebody-else-live", service)
    known = find(model)
    expected = {"builtin_tools"} if "urlContext" in known.builtin_tools else set()
    assert set(wrong(report, known)) == expected
    made = report.profile()
    assert made.family == "somebody-else-live"
    assert made.known
    for name, found in report.facts.items():
        if isinstance(found, Answer):
            assert getattr(made, name) in found.values


#: Field in the service's table → another behaviour → the fields in which it shows. In order: what fits first is taken.
CHANGES: list[tuple[str, Any, set[str]]] = [
    ("modalities", {"AUDIO", "TEXT", "VIDEO"}, {"modalities"}),
    ("modalities", {"AUDIO"}, {"modalities"}),
    ("text refusal", (1007, "Text is not for me."), {"refuses_text_with"}),
    ("answers with", "VIDEO", {"default_modality"}),
    ("level", "refused", {"thinking_level"}),
    ("level", "required", {"thinking_level"}),
    ("levels", {"LOW", "XHIGH"}, {"thinking_levels"}),
    ("budget", "refused", {"thinking_budget"}),
    ("budget", "taken", {"thinking_budget"}),
    ("proactivity", "refused", {"proactivity"}),
    ("proactivity", "taken", {"proactivity"}),
    ("proactivity", "always", {"proactivity"}),
    ("affective", "refused", {"affective_dialog"}),
    ("affective", "later", {"affective_dialog"}),
    ("affective", "never", {"affective_dialog"}),
    ("affective", "taken", {"affective_dialog"}),
    ("vad signal", "taken", {"explicit_vad_signal"}),
    ("vad signal", "refused", {"explicit_vad_signal"}),
    ("transparent", "taken", {"transparent"}),
    ("transparent", "refused", {"transparent"}),
    ("compression", "refused", {"compression"}),
    ("translation", "refused", {"translation"}),
    ("translation", "taken", {"translation"}),
    ("coverages", {ONLY}, {"turn_coverages"}),
    ("tools", {"googleSearch", "googleMaps"}, {"builtin_tools"}),
    ("functions", False, {"functions"}),
    ("functions", True, {"functions"}),
    ("mixes", False, {"mixes_search"}),
    ("mixes", True, {"mixes_search"}),
    ("unknown handle", (1007, "Invalid session handle"), {"unknown_handle"}),
    ("first handle", "asked", {"handle_at_setup"}),
    ("first handle", "always", {"handle_at_setup"}),
    ("first handle", "never", {"handle_at_setup"}),
    ("handle every", 0.7, {"handle_every"}),
    ("handle every", None, {"handle_every"}),
    ("gives handles", False, {"resumption"}),
    ("status", True, {"idle_signal"}),
    ("status", False, {"idle_signal"}),
    ("empty frames", True, {"empty_frames"}),
    ("empty frames", False, {"empty_frames"}),
    ("combines", True, {"combines"}),
    ("combines", False, {"combines"}),
    ("turn complete", False, {"turn_complete"}),
    ("content", "refused", {"content_mid_session", "text_channel"}),
    ("content", "honoured", {"content_mid_session", "text_channel"}),
    ("content", "ignored", {"content_mid_session"}),
    ("needs role", True, {"needs_role"}),
    ("needs role", False, {"needs_role"}),
    ("text interrupts", True, {"text_interrupts"}),
    ("text interrupts", False, {"text_interrupts"}),
    ("chunks", "taken", {"media_chunks"}),
    ("chunks", "refused", {"media_chunks"}),
    ("context update", "refused", {"context_update"}),
    ("context update", "ignored", {"context_update"}),
    ("context update", "honoured", {"context_update"}),
    ("empty turn", "refused", {"empty_turn"}),
    ("empty turn", "ignored", {"empty_turn"}),
    ("empty turn", "honoured", {"empty_turn"}),
    ("default behavior", "NON_BLOCKING", {"default_behavior"}),
    ("default behavior", "BLOCKING", {"default_behavior"}),
    ("blocking", "refused", {"blocking"}),
    ("blocking", "ignored", {"blocking"}),
    ("blocking", "honoured", {"blocking"}),
    ("non_blocking", "refused", {"non_blocking"}),
    ("non_blocking", "ignored", {"non_blocking"}),
    ("non_blocking", "honoured", {"non_blocking"}),
    ("call ends turn", True, {"call_ends_turn"}),
    ("call ends turn", False, {"call_ends_turn"}),
    ("ids", "uuid", {"call_ids"}),
    ("ids", "call", {"call_ids"}),
    ("ids", "none", {"call_ids"}),
    ("ids", "function-call", {"call_ids"}),
    ("sound meets call", "closes", {"input_while_blocked", "input_block"}),
    ("sound meets call", "nothing", {"input_while_blocked", "input_block"}),
    ("sound meets call", "cancels", {"input_block"}),
    ("text meets call", "waits", {"input_while_blocked"}),
    ("text meets call", "cancels", {"input_while_blocked"}),
    ("needs name", True, {"needs_name"}),
    ("needs name", False, {"needs_name"}),
    ("scheduling", "honoured", {"scheduling"}),
    ("scheduling", "ignored", {"scheduling"}),
    ("scheduling", "refused", {"scheduling"}),
    ("pieces", "honoured", {"will_continue"}),
    ("pieces", "ignored", {"will_continue"}),
    ("pieces", "refused", {"will_continue"}),
    ("json schema", "honoured", {"json_schema"}),
    ("json schema", "ignored", {"json_schema"}),
    ("json schema", "no call", {"json_schema"}),
    ("json schema", "refused", {"json_schema"}),
]  # fmt: skip


def shows(
    model: str, vertex: bool, behaves: Mapping[str, Any], name: str, other: Any, where: set[str]
) -> set[str]:
    """In which fields the change shows on this model; none, where it is no change, or cannot be seen there."""
    profile = find(model, vertex=vertex)
    match name, other:
        case _ if behaves[name] == other:
            return set()
        case _ if model in SILENT and not where & IN_SETUPS:
            return set()
        case "functions", True if model in SILENT:
            return where  # and nothing else: it makes no calls
        case "text refusal", _ if "TEXT" in behaves["modalities"]:
            return set()
        case "answers with", _ if model in SILENT:
            return set()
        case "levels", _ if behaves["level"] == "refused":
            return set()
        case "level", "required" if behaves["level"] == "refused":
            return where
        case "tools", tools if tools - profile.idle_tools == profile.builtin_tools:
            return set()
        case "mixes", _ if "googleSearch" not in behaves["tools"]:
            return set()
        case "proactivity", "refused" if behaves["proactivity"] == "always":
            return set()  # what is always on may refuse both values
        case "affective" | "json schema", _:
            return where if _verdict(other) != _verdict(behaves[name]) else set()
        case "first handle" | "gives handles" | "handle every", _:
            return _handles(behaves, name, other, profile)
        case "needs role", _ if behaves["content"] != "honoured":
            return set()
        case "content", "ignored" | "honoured" if behaves["content"] == "refused":
            return {"content_mid_session", "text_channel"}
        case "sound meets call" | "text meets call" | "call ends turn", _:
            return _disturbed(behaves, name, other)
    return where


IN_SETUPS = {
    "modalities", "refuses_text_with", "thinking_level", "thinking_levels", "thinking_budget", "proactivity",
    "affective_dialog", "explicit_vad_signal", "transparent", "compression", "translation", "turn_coverages",
    "builtin_tools", "functions", "mixes_search", "unknown_handle", "media_chunks",
}  # fmt: skip


def _verdict(word: str) -> str:
    return {"later": "refused", "never": "refused", "no call": "ignored"}.get(word, word)


def _handles(behaves: Mapping[str, Any], name: str, other: Any, profile: ModelProfile) -> set[str]:
    """No handles at all means none at the setup, and no rhythm."""
    if name == "gives handles":
        found = {"resumption"}
        found |= {"handle_at_setup"} if behaves["first handle"] != "never" else set()
        return found | ({"handle_every"} if behaves["handle every"] else set())
    if not behaves["gives handles"]:
        return set()
    return {"handle_at_setup"} if name == "first handle" else {"handle_every"}


def _disturbed(behaves: Mapping[str, Any], name: str, other: Any) -> set[str]:
    """What sound does comes before what text does: a call that sound has ended is not there any more."""
    if behaves["blocking"] == "refused":
        return set()
    if name == "call ends turn":
        return {"call_ends_turn"}

    def outcome(sound: str, text: str) -> tuple[bool, str]:
        if sound != "nothing":
            return True, sound
        return False, "cancels" if text == "cancels" else "accepted"

    before = outcome(behaves["sound meets call"], behaves["text meets call"])
    changed = {**behaves, name: other}
    after = outcome(changed["sound meets call"], changed["text meets call"])
    found = {"input_block"} if before[0] != after[0] else set()
    return found | ({"input_while_blocked"} if before[1] != after[1] else set())


def changes(model: str, vertex: bool) -> Iterator[tuple[str, Any, set[str]]]:
    behaves = TABLES[vertex][model]
    for name, other, where in CHANGES:
        if found := shows(model, vertex, behaves, name, other, where):
            yield name, other, found


def cases(models: tuple[str, ...], apis: tuple[bool, ...]) -> list[Any]:
    return [
        pytest.param(
            model, vertex, *change, id=f"{model}{'-vertex' if vertex else ''}-{change[0]}-{_id(change[1])}"
        )
        for model in models
        for vertex in apis
        for change in changes(model, vertex)
    ]


def _id(value: object) -> str:
    return "+".join(sorted(value)) if isinstance(value, set) else str(value)


#: What other experiments depend on.
NEEDED = {"builtin_tools", "functions", "blocking", "needs_name", "content_mid_session"}


def test_every_field_that_is_probed_is_changed_in_some_way():
    changed = {name for model in MODELS for _, _, where in changes(model, False) for name in where}
    assert changed == {name for experiment in EXPERIMENTS for name in experiment.fields}


@pytest.mark.parametrize(("model", "vertex", "name", "other", "where"), cases(("gemini-3.8-live",), (False,)))
def test_a_change_of_one_fact_is_found(model, vertex, name, other, where):
    service = RawService({**TABLES[vertex][model], name: other})
    report = probed(model, service, vertex=vertex, fields=where | NEEDED)
    assert set(report.differences()) == where


@pytest.mark.slow
@pytest.mark.parametrize(("model", "vertex", "name", "other", "where"), cases(MODELS, (False, True)))
def test_each_change_of_each_family_is_found(model, vertex, name, other, where):
    """It shows in its fields, and in no others."""
    report = probed(model, RawService({**TABLES[vertex][model], name: other}), vertex=vertex)
    assert set(report.differences()) == where


def test_every_field_is_probed_or_is_said_not_to_be():
    probing = [name for experiment in EXPERIMENTS for name in experiment.fields]
    given = ["family", "known", "vertex"]
    assert sorted([*probing, *NOT_PROBED, *given]) == sorted(field.name for field in fields(ModelProfile))


# -- what goes wrong


def test_the_probe_runs_on_trio():
    with serving(RawService(LIVE_3_8)) as service:
        wanted = {"proactivity", "blocking"}
        report = anyio.run(report_of, "gemini-3.8-live", service, Hurried(), False, wanted, backend="trio")
    assert report.differences() == {}
    assert report.confirmed().keys() >= wanted


def test_a_service_that_ends_every_connection_is_out_of_reach():
    with pytest.raises(ConnectFailed, match="ended the connection twice, without a reason: 1006"):
        probed("gemini-3.8-live", RawService(LIVE_3_8, fails=9))


def test_a_message_of_an_unseen_shape_spoils_its_experiment_alone():
    service = RawService({**LIVE_3_8, "ids": "strange"})
    report = probed("gemini-3.8-live", service)
    assert report.facts["call_ids"] == Undecided("its messages could not be read (AttributeError)")
    assert report.differences() == {}
    assert isinstance(report.facts["empty_turn"], Answer)


def test_a_connection_that_breaks_is_dialled_again():
    report = probed("gemini-3.8-live", RawService(LIVE_3_8, fails=1), fields={"modalities"})
    assert report.differences() == {}
    assert isinstance(report.facts["modalities"], Answer)


def test_an_experiment_that_breaks_leaves_the_others_alone():
    """1001 says nothing of what was sent: it is no refusal."""
    report = probed("gemini-3.8-live", RawService({**LIVE_3_8, "unknown handle": (1001, "Going away")}))
    assert report.facts["unknown_handle"] == Undecided("the connection broke: 1001 Going away")
    assert report.differences() == {}
    assert isinstance(report.facts["blocking"], Answer)


def test_a_failure_of_the_service_counts_as_a_refusal_when_it_comes_twice():
    report = probed(
        "gemini-3.1-flash-live", RawService(GEMINI["gemini-3.1-flash-live"]), fields={"modalities"}
    )
    assert report.facts["refuses_text_with"] == Answer(
        ((1011, "Internal error encountered."),), "1011 Internal error encountered."
    )


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (1007, "API key not valid. Please pass a valid API key.", AuthenticationError),
        (1008, "models/x is not found for API version v1beta, or is not supported", ModelNotFound),
        (1011, "You exceeded your current quota, please check your plan", QuotaExceeded),
    ],
)
def test_a_close_that_is_about_the_key_the_model_or_the_quota_ends_the_probe(code, reason, error):
    with pytest.raises(error):
        probed("gemini-3.8-live", RawService(LIVE_3_8, closes=(code, reason)))


def test_a_quota_that_ends_in_the_middle_ends_the_probe():
    service = RawService({**LIVE_3_8, "unknown handle": (1011, "You exceeded your current quota")})
    with pytest.raises(QuotaExceeded):
        probed("gemini-3.8-live", service)


def test_a_model_that_reads_no_realtime_text_is_asked_by_client_content():
    report = probed("gemini-3.8-live", RawService({**LIVE_3_8, "reads realtime text": False}))
    assert report.differences() == {}
    assert isinstance(report.facts["blocking"], Answer)


def test_the_settings_of_v1alpha_are_tried_there():
    service = RawService(GEMINI["gemini-2.5-flash-native-audio"])
    report = probed("gemini-2.5-flash-native-audio", service, fields={"proactivity", "affective_dialog"})
    assert report.differences() == {}
    assert sum("v1alpha" in path for path in service.paths) == 3


def test_no_reason_of_a_close_shows_a_key():
    reason = "Unknown key AIzaSyD-0123456789abcdef at 'setup'"
    report = probed("gemini-3.8-live", RawService({**LIVE_3_8, "unknown handle": (1007, reason)}))
    assert "AIzaSyD" not in report.source()
    assert KEY not in report.source()
