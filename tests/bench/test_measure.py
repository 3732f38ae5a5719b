"""bench/measure.py and bench/worker.py: what is calculated from what the clients tell."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path, str(BENCH)])
    import measure

    return measure


@pytest.fixture
def worker(measure: ModuleType) -> ModuleType:
    import worker

    return worker


CLOCKS = {"process_time": lambda: 0.0, "perf_counter": lambda: 0.0}


class Told:
    """A worker that tells made-up costs: twice as much in each round as in the one before."""

    def __init__(self, measure: ModuleType, name: str, each: float) -> None:
        self.client = next(client for client in measure.CLIENTS if client.name == name)
        self.jobs, self.each = ["day"], each
        self.asked: list[tuple[int, int]] = []

    def do(self, job: str, n: int, p: int) -> dict[str, Any]:
        times = self.asked.count((n, p))
        self.asked.append((n, p))
        cpu = self.each * 2**times * n * p
        return {"cpu": cpu, "longest": 0.05, "stopped": cpu / 4}


def test_a_round_of_the_day_tells_the_cost_of_a_call_the_longest_stop_and_the_share(
    measure: ModuleType,
) -> None:
    told = {"cpu": 2.0, "longest": 0.05, "stopped": 0.5}
    assert measure.day_figures(told, 10_000) == pytest.approx((200.0, 50.0, 25.0))


def test_the_ratios_of_the_day_are_made_within_a_round(measure: ModuleType) -> None:
    clients = [Told(measure, "floor", 1e-4), Told(measure, "livetools", 3e-4)]
    rows = measure.day(clients, lambda _: None, 2, {200: 6})
    cpu, longest, share = rows
    assert cpu.name == "a call, 200 sessions"
    assert cpu.values == {"floor": pytest.approx([100, 200]), "livetools": pytest.approx([300, 600])}
    assert cpu.ratios("livetools") == pytest.approx([3.0, 3.0])
    assert longest.values["livetools"] == pytest.approx([50.0, 50.0])
    assert share.values["livetools"] == pytest.approx([25.0, 25.0])
    assert longest.ratios("livetools") == []


def test_the_first_round_of_the_day_warms_up_with_one_session(measure: ModuleType) -> None:
    client = Told(measure, "floor", 1e-4)
    measure.day([client], lambda _: None, 1, {1: 8, 20: 4})
    assert client.asked == [(8, 1), (8, 1), (4, 20)]


def test_a_framework_has_one_session_in_the_day_and_fewer_calls(measure: ModuleType) -> None:
    client = Told(measure, "pydantic-ai", 1e-3)
    measure.day([client], lambda _: None, 1, {1: 8, 20: 4})
    assert client.asked == [(2, 1), (2, 1)]


def test_a_client_that_has_failed_once_is_missing_in_all_rows_of_its_size(measure: ModuleType) -> None:
    client = Told(measure, "floor", 1e-4)

    def fail(job: str, n: int, p: int) -> dict[str, Any]:
        if p == 1:
            raise measure.Missing("no more")
        return {"cpu": 1.0, "longest": 0.0, "stopped": 0.0}

    client.do = fail  # type: ignore[method-assign]
    rows = measure.day([client], lambda _: None, 1, {1: 8, 20: 4})
    assert [row.missing for row in rows] == [{"floor": "no more"}, {}] * 3
    assert [list(row.values) for row in rows] == [[], ["floor"]] * 3


def test_every_client_of_a_framework_says_what_it_imports(measure: ModuleType) -> None:
    assert measure.IMPORTS.keys() == {client.name for client in measure.CLIENTS} - {"floor", "attach"}
    assert measure.IMPORTS["livetools"].endswith("livetools.connect")


def test_the_meter_tells_the_stops_of_a_collector_that_runs(
    worker: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.25, 1.0, 1.5])
    meter = worker.Meter()
    monkeypatch.setattr(gc, "collect", lambda: 0)
    with meter.collecting():
        assert gc.isenabled()
        gc.disable()  # only the stops that follow
        stops = gc.callbacks[-1]
        monkeypatch.setattr(worker, "time", SimpleNamespace(thread_time=lambda: next(clock), **CLOCKS))
        for phase in ("start", "stop") * 2:
            stops(phase, {})
    assert (meter.told["longest"], meter.told["stopped"]) == (0.5, 0.75)
    assert stops not in gc.callbacks
    assert gc.isenabled()


def test_the_meter_keeps_the_collector_off_unless_it_is_asked(worker: ModuleType) -> None:
    with worker.Meter() as meter:
        assert not gc.isenabled()
    assert gc.isenabled()
    assert "longest" not in meter.told
