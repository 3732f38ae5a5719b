"""The log of a fake server: frames, calls and complaints. It checks that every call was answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from livetools.errors import LiveToolsError
from livetools.log import get_logger

from .model.fake_call import FakeCall
from .wire import Frame

log = get_logger("livetools.testing")

_SHOWN = 60  # frames in a failure's text
RUN = 3  # frames of nothing but media in a row, beyond which they are counted: a microphone sends fifty a second
FRAMES = "→ from the client, ← from the server"  # how a transcript begins


@dataclass(frozen=True, slots=True)
class Failure:
    """What raised that should not have, and what it raised.

    ``scripted``: it was a script, so the conversation was not as the test has it.
    """

    who: str
    error: Exception
    scripted: bool = False

    def __str__(self) -> str:
        return f"{self.who} raised {type(self.error).__name__}: {self.error}"


@dataclass(slots=True)
class Log:
    """The server's memory.

    ``late`` are calls answered after their cancellation, ``errors`` what the model, or a hook of the test's,
    raised, ``complaints`` what a replay found different, ``unplayed`` what scripts still waited for at the end.
    """

    frames: list[Frame] = field(default_factory=list)
    calls: list[FakeCall] = field(default_factory=list)
    late: list[FakeCall] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    unplayed: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    limit: int | None = None  # frames, calls and lines that are kept, about; None keeps all

    def note(self, text: str) -> None:
        """A line that says why: in ``lines`` and under the logger ``livetools.testing``."""
        self.lines.append(text)
        if self.limit is not None and len(self.lines) > 2 * self.limit:
            del self.lines[: -self.limit]
        log.info("%s", text)

    def fail(self, who: str, error: Exception, *, scripted: bool = False) -> None:
        """Keep what was raised; a server that runs long logs it, and continues."""
        failure = Failure(who, error, scripted)
        if self.limit is None:
            self.errors.append(failure)
        self.note(str(failure))

    def keep(self, frame: Frame) -> None:
        """Enter a frame; beyond ``limit`` the oldest frames and settled calls go, for a server that runs long."""
        self.frames.append(frame)
        if self.limit is None:
            return
        if len(self.frames) > 2 * self.limit:
            del self.frames[: -self.limit]
        if len(self.calls) > 2 * self.limit:
            settled = {call for call in self.calls[: -self.limit] if call.state != "open"}
            self.calls = [call for call in self.calls if call not in settled]

    def lost(self) -> str | None:
        """Why a test is lost already: the model raised. ``None`` on a server that runs long, which continues."""
        return str(self.errors[0]) if self.errors else None

    def explains(self, error: BaseException) -> bool:
        """Whether what was raised here is why a test met ``error``, and should be shown in its place.

        A script that fails ends the test; of a model that fails the client learns no more than that the service did.
        """
        if not isinstance(error, Exception) or not self.errors:
            return False
        return isinstance(error, LiveToolsError) or any(failure.scripted for failure in self.errors)

    def unanswered(self) -> list[FakeCall]:
        """The calls that wait for an answer, or whose connection the client closed without one."""
        return [call for call in self.calls if call.state == "open"]

    def assert_all_answered(self) -> None:
        """Raise ``AssertionError`` with every fault and the frames; an error of the model is its cause.

        Faults are errors of the model, which come first, calls left unanswered, answers after a
        cancellation, differences from a recording, and scripts that were not played out.
        """
        __tracebackhide__ = True
        faults = [str(failure) for failure in self.errors]
        faults += [f"never answered: {call}" for call in self.unanswered()]
        faults += [f"answered after its cancellation: {call}" for call in self.late]
        faults += self.complaints + self.unplayed
        if faults:
            cause = self.errors[0].error if self.errors else None
            raise AssertionError("\n".join([*faults, "", self.transcript()])) from cause

    def transcript(self) -> str:
        """The last frames of both directions and the log, a line each, media cut."""
        lines = [f"frames ({len(self.frames)}; {FRAMES}):"]
        runs = _runs(self.frames)
        if earlier := sum(map(len, runs[:-_SHOWN])):
            lines.append(f"  … {earlier} earlier ones")
        for run in runs[-_SHOWN:]:
            lines.append(f"  {run[0]}")
            if len(run) > 1:
                lines.append(f"  … {len(run) - 1} more with nothing but media")
        if self.lines:
            lines += ["log:", *(f"  {line}" for line in self.lines)]
        return "\n".join(lines)


def _runs(frames: list[Frame]) -> list[list[Frame]]:
    """The frames one by one, but for long rows of media, which are together."""
    runs: list[list[Frame]] = []
    row = 0  # frames of media until now
    for frame in frames:
        row = row + 1 if _is_media(frame) else 0
        if row > RUN:
            # The first of the row is shown, so that the kind of media can be seen.
            if row == RUN + 1:
                runs[-RUN:] = [[one for run in runs[-RUN:] for one in run]]
            runs[-1].append(frame)
        else:
            runs.append([frame])
    return runs


def _is_media(frame: Frame) -> bool:
    """Whether there is nothing but sound or pictures in it."""
    for key in ("realtimeInput", "realtime_input"):
        if isinstance(given := frame.message.get(key), dict):
            return bool(given) and given.keys() <= {"audio", "video", "mediaChunks", "media_chunks"}
    content = frame.message.get("serverContent")
    if frame.message.keys() != {"serverContent"} or not isinstance(content, dict):
        return False
    if content.keys() != {"modelTurn"} or not isinstance(content["modelTurn"], dict):
        return False
    parts = content["modelTurn"].get("parts") or [{}]
    return all(isinstance(part, dict) and part.keys() == {"inlineData"} for part in parts)
