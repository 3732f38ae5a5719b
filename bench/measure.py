"""What is measured: each function takes the processes it needs, and gives values by client."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from instructions import count
from processes import CLIENTS, Client, Missing, Worker, environment, interpreter

ROUNDS = 5
FLOOR = CLIENTS[0].name
#: Until what opens a session is there. livetools and google-adk import most of themselves when a name is first used.
IMPORTS = {
    "livetools": "import livetools; livetools.connect",
    "google-genai": "import google.genai; google.genai.Client",
    "pydantic-ai": "from pydantic_ai import Agent; from pydantic_ai.realtime.google import GoogleRealtimeModel",
    "google-adk": "from google.adk.agents import Agent, LiveRequestQueue; from google.adk.runners import Runner",
    "livekit-agents": (
        "from livekit.agents import AgentSession; from livekit.plugins.google.realtime import RealtimeModel"
    ),
    "pipecat-ai": "from pipecat.services.google.gemini_live.llm import GeminiLiveLLMService",
}
ENDURANCE = 10_000


@dataclass
class Row:
    """One line of the table. ``values``: of each client, one a round; ``against``: the client that ratios are to, or
    empty where a ratio would say nothing."""

    name: str
    unit: str
    against: str = FLOOR
    values: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def median(self, client: str) -> float | None:
        """The median of its rounds."""
        return statistics.median(self.values[client]) if self.values.get(client) else None

    def ratios(self, client: str) -> list[float]:
        """To the one it is compared with, round by round."""
        theirs = self.values.get(self.against, [])
        return [a / b for a, b in zip(self.values.get(client, []), theirs, strict=False) if b]


@dataclass(frozen=True)
class Job:
    """An operation: how it is asked for, how often a round, and which of the figures is told, times ``scale``."""

    name: str
    unit: str
    job: str
    n: int
    p: int = 1
    figure: str = "cpu"
    scale: float = 1e6
    each: bool = True  # an operation, not all of them


JOBS = (
    Job("a call", "µs CPU", "calls", 400),
    Job("a call of 100 in a message", "µs CPU", "calls", 1000, 100),
    Job("8 calls of 100 ms in a message", "ms", "pause", 8, 8, "wall", 1e3, each=False),
    Job("100 ms of sound in", "µs CPU", "audio", 400),
    Job("20 ms of sound out", "µs CPU", "send", 800),
    Job("ask", "µs CPU", "ask", 150),
)
#: Frameworks do each of them less often: they take longer.
SLOW = 4


def workers(
    port: int, clients: Iterable[Client], say: Callable[[str], None]
) -> tuple[list[Worker], dict[str, str]]:
    """Those that can be had here, and why the others cannot. Environments that are not there are made side by side."""

    def start(client: Client) -> Worker | str:
        try:
            return Worker(client, port)
        except (Missing, OSError, subprocess.SubprocessError) as error:
            say(f"missing: {client.name}: {error}")
            return str(error)

    wanted = list(clients)
    with ThreadPoolExecutor(4) as pool:
        found = dict(zip((client.name for client in wanted), pool.map(start, wanted), strict=True))
    ready = [worker for worker in found.values() if isinstance(worker, Worker)]
    return ready, {name: why for name, why in found.items() if isinstance(why, str)}


def belongs(client: Client, group: str) -> bool:
    """Whether its operations are measured in this group: frameworks take so much longer that they have their own."""
    if group == "frameworks":
        return bool(client.needs) or client.name in (FLOOR, "livetools", "google-genai")
    return not client.needs


def attempt(worker: Worker, rows: list[Row], job: str, n: int, p: int = 1) -> dict[str, Any] | None:
    """What a job has told; None where the client cannot do it. One that has failed is missing in these rows."""
    name = worker.client.name
    if job not in worker.jobs or name in rows[0].missing:
        return None
    try:
        return worker.do(job, n, p)
    except Missing as error:
        for row in rows:
            row.missing[name] = str(error)
            row.values.pop(name, None)
        return None


def operations(
    ready: list[Worker], missing: dict[str, str], say: Callable[[str], None], rounds: int
) -> list[Row]:
    """Every operation of every client, in turn, some rounds; a first one warms up."""
    rows = [Row(job.name, job.unit, missing=dict(missing)) for job in JOBS]
    for number in range(rounds + 1):
        say(f"operations, round {number} of {rounds}")
        for job, row in zip(JOBS, rows, strict=True):
            for worker in ready:
                times = max(job.p, job.n // SLOW // job.p * job.p) if worker.client.needs else job.n
                told = attempt(worker, [row], job.job, times, job.p)
                if number and told is not None:
                    value = told[job.figure] * job.scale / (times if job.each else 1)
                    row.values.setdefault(worker.client.name, []).append(value)
    return rows


#: Sessions in one process, and the calls that each answers in a round: with fewer calls in 200 sessions, the collector
#: may never come to look through everything.
DAY = {1: 400, 20: 100, 200: 60}


def day(
    ready: list[Worker], say: Callable[[str], None], rounds: int, sizes: Mapping[int, int] = DAY
) -> list[Row]:
    """Calls as users make them: the microphone is open, and the garbage collector runs. Frameworks: one session."""

    def of_each_size(name: str, unit: str, against: str = "") -> list[Row]:
        return [Row(f"{name}, {n} session{'s' * (n > 1)}", unit, against) for n in sizes]

    cpu = of_each_size("a call", "µs CPU", FLOOR)
    longest = of_each_size("longest stop of the collector", "ms CPU")
    share = of_each_size("the collector's share of the CPU time", "%")
    for number in range(rounds + 1):
        say(f"day, round {number} of {rounds}")
        for (sessions, each), *rows in zip(sizes.items(), cpu, longest, share, strict=True):
            if sessions > 1 and not number:
                continue  # one is enough to warm up
            for worker in ready:
                if worker.client.needs and sessions > 1:
                    continue
                calls = max(1, each // SLOW) if worker.client.needs else each
                told = attempt(worker, rows, "day", calls, sessions)
                if number and told is not None:
                    for row, value in zip(rows, day_figures(told, calls * sessions), strict=True):
                        row.values.setdefault(worker.client.name, []).append(value)
    return [*cpu, *longest, *share]


def day_figures(told: Mapping[str, float], calls: int) -> tuple[float, float, float]:
    """Of a round: microseconds of CPU a call, milliseconds of the collector's longest stop, its share in percent."""
    return told["cpu"] / calls * 1e6, told["longest"] * 1e3, 100 * told["stopped"] / told["cpu"]


def imports(port: int, rounds: int) -> Row:
    """CPU time until what opens a session is imported, in a fresh process, whose files are in memory."""
    row = Row("import to a usable `connect`", "ms CPU", against="google-genai")
    code = "import time; t = time.process_time(); {}; print(time.process_time() - t)"
    for number in range(rounds + 1):
        for client in CLIENTS:
            if client.name not in IMPORTS or client.name in row.missing:
                continue
            try:
                command = [interpreter(client), "-c", code.format(IMPORTS[client.name])]
                done = subprocess.run(
                    command, capture_output=True, text=True, check=True, env=environment(port)
                )
                took = float(done.stdout.split()[-1])
            except (Missing, OSError, subprocess.SubprocessError, IndexError) as error:
                row.missing[client.name] = str(error)[:200]
                continue
            if number:
                row.values.setdefault(client.name, []).append(took * 1e3)
    return row


def memory(port: int, sessions: int = 1000) -> list[Row]:
    """Memory that many sessions take in one process: idle, and after calls and sound."""
    rows = [Row(f"memory a session, of {sessions:,}, {what}", "KiB") for what in ("idle", "talking")]
    for client in CLIENTS:
        try:
            worker = Worker(client, port)
        except (Missing, OSError, subprocess.SubprocessError):
            continue
        try:
            if "sessions" in worker.jobs:
                told = worker.do("sessions", sessions)
                for row, what in zip(rows, ("idle", "talking"), strict=True):
                    row.values[client.name] = [told[what] / 1024]
        except Missing as error:
            for row in rows:
                row.missing[client.name] = str(error)
        finally:
            worker.close()
    return rows


#: How much of a core the talking sessions take of which is told how many a core holds, and how long a call's answer may
#: take then, in milliseconds.
BUSY, PATIENCE = 0.75, 20.0
TRIES = 3  # with fewer and fewer of them


def talking(ready: list[Worker], say: Callable[[str], None], rounds: int = 3, seconds: int = 5) -> list[Row]:
    """Conversations of 50 pieces of sound a second up, 10 down, and a call every five seconds: as many as take three
    quarters of a core, or fewer, where the answers of their calls come late then."""
    each = Row("talking sessions a core", "sessions", against="google-genai")
    delay = Row("p99 of a call's answer meanwhile", "ms")
    floor = next(worker for worker in ready if worker.client.name == FLOOR)
    for worker in (worker for worker in ready if "talk" in worker.jobs):
        name, taken = worker.client.name, 20
        for length in (2, 2):  # few sessions cost more each: the process sleeps and wakes for every message
            told = worker.do("talk", taken, length)
            taken = max(10, int(BUSY * told["spoken"] / told["cpu"]))
        for _ in range(TRIES):
            say(f"{name}: {taken} sessions talk")
            values, late = [], []
            for _ in range(rounds):
                floor.do("waits", 0)
                told = worker.do("talk", taken, seconds)
                values.append(told["spoken"] / told["cpu"])
                late.append(percentile(floor.do("waits", 0)["waits"]) * 1e3)
            if statistics.median(late) <= PATIENCE:
                break
            taken = max(10, int(taken * 0.75))
        each.values[name], delay.values[name] = values, late
    return [each, delay]


def percentile(values: list[float], share: float = 0.99) -> float:
    """What this share of the values does not exceed; 0 where there are none."""
    return sorted(values)[int(len(values) * share)] if values else 0.0


def endurance(worker: Worker, say: Callable[[str], None], rounds: int) -> list[Row]:
    """What livetools costs where there is much of something, against where there is little of it."""

    def cost(job: str, n: int, p: int = 1) -> float:
        return float(worker.do(job, n, p)["cpu"]) / n * 1e6

    many = Row(f"a call, {ENDURANCE:,} in a session, 100 at a time", "µs CPU", against="few")
    tools = Row("a call of one of 200 tools", "µs CPU", against="few")
    spanned = Row("a call with one span of OpenTelemetry's SDK", "µs CPU", against="few")
    traced = Row("a call that is traced", "µs CPU", against="few")
    answered = Row("a call that is traced, until it is answered", "µs CPU", against="few")
    for number in range(rounds):
        say(f"endurance, round {number + 1} of {rounds}")
        few = cost("calls", 1000, 100)
        many.values.setdefault("few", []).append(few)
        many.values.setdefault("livetools", []).append(cost("calls", ENDURANCE, 100))
        for row, job in ((tools, "many_tools"), (spanned, "one_span"), (traced, "traced")):
            row.values.setdefault("few", []).append(cost("calls", 400))
            row.values.setdefault("livetools", []).append(cost(job, 400))
        answered.values.setdefault("few", []).append(cost("answers", 400))
        answered.values.setdefault("livetools", []).append(cost("traced_answers", 400))
    turns = Row(f"a turn, after {ENDURANCE:,} others", "µs CPU", against="few")
    grown = Row(f"growth in the second half of {ENDURANCE:,} turns", "KiB")
    first = worker.do("turns", 100, 200)
    last = worker.do("turns", ENDURANCE, 200)
    turns.values = {"few": [first["cpu"] / 200 * 1e6], "livetools": [last["cpu"] / 200 * 1e6]}
    grown.values = {"livetools": [last["grown"] / 1024]}
    return [many, tools, spanned, traced, answered, turns, grown]


#: Under callgrind each takes some fifty times as long.
COUNTED = {
    "a call": ("calls", 200, 1),
    "a call of 100 in a message": ("calls", 400, 100),
    "100 ms of sound in": ("audio", 200, 1),
    "20 ms of sound out": ("send", 300, 1),
    "ask": ("ask", 60, 1),
    "a call with one span of OpenTelemetry's SDK": ("one_span", 200, 1),
    "a call that is traced, without metrics": ("traced_without_metrics", 200, 1),
    "a call that is traced": ("traced", 200, 1),
    "a call, until it is answered": ("answers", 200, 1),
    "a call that is traced, until it is answered": ("traced_answers", 200, 1),
    "a call of one of 200 tools": ("many_tools", 200, 1),
}


def instructions(port: int, say: Callable[[str], None]) -> list[Row]:
    """Thousands of instructions of each operation, of the clients that run in our own environment.

    Two clients at a time: instructions do not depend on neighbours.
    """
    rows = {name: Row(name, "thousand instructions") for name in COUNTED}

    def counted(client: Client) -> None:
        say(f"instructions: {client.name}")
        try:
            for name, number in count(client, port, COUNTED).items():
                rows[name].values[client.name] = [number / 1e3]
        except (Missing, OSError, subprocess.SubprocessError) as error:
            say(f"missing: instructions of {client.name}: {error}")
            for row in rows.values():
                row.missing[client.name] = str(error)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(counted, [client for client in CLIENTS if not client.needs]))
    return [row for row in rows.values() if row.values]


def plain(rows: list[Row]) -> list[dict[str, Any]]:
    """For JSON."""
    return [
        {"name": r.name, "unit": r.unit, "against": r.against, "values": r.values, "missing": r.missing}
        for r in rows
    ]
