"""Which conversation a setup begins or resumes, and how long handles and connections last."""

from __future__ import annotations

from dataclasses import dataclass

from livetools.protocol.profiles import ModelProfile

from .conversation import Script, User, play
from .roles import Server
from .session import FakeSession
from .wire import Message


@dataclass(frozen=True, slots=True)
class _Handle:
    session: FakeSession
    contents: int  # of the history, when it was given: a resumption knows no more


class Lobby:
    """The conversations of one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sessions: list[FakeSession] = []
        self.script: Script | None = None
        self._handles: dict[str, _Handle] = {}

    def new_handle(self, session: FakeSession) -> str:
        """A handle that resumes this conversation as it stands now."""
        digits = f"{self.server.chance.getrandbits(128):032x}"
        handle = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        self._handles[handle] = _Handle(session, len(session.history))
        return handle

    def resumable(self, handle: str) -> FakeSession | None:
        """The conversation of a handle that is known and has not expired."""
        known = self._handles.get(handle)
        if known is None:
            return None
        ended, vertex = known.session.ended_at, known.session.profile.vertex
        expired = ended is not None and self.server.clock.now() - ended > self.server.limits.keeps(
            vertex=vertex
        )
        return None if expired else known.session

    def admit(self, setup: Message, profile: ModelProfile) -> FakeSession:
        """The conversation that this setup resumes, or a new one.

        A script goes on with a client that comes back without its handle: it is told which it was.
        """
        handle = (setup.get("sessionResumption") or {}).get("handle")
        session = self.resumable(str(handle)) if handle else None
        if handle and session is not None:
            session.history.forget(after=self._handles[handle].contents)
        elif self.script is not None:
            session = next((each for each in self.sessions if each.forsaken), None)
            if session is not None:
                session.history.forget(after=0)
        if session is None:
            return self._new(setup, profile)
        session.resume(setup, profile)
        if session.floor.user is not None:
            session.floor.user.arrived(with_handle=bool(handle))
        return session

    async def at_rest(self) -> None:
        """Return when every script has ended, or waits for its user."""
        for user in self._users():
            await user.at_rest()

    def unplayed(self) -> list[str]:
        """The scripts that were not played out, a line each: what they still wait for."""
        if self.script is None:
            return []
        if not self._users():
            return ["the script was not played: no client began a conversation"]
        return [
            f"the script was not played out: it waits for {user.unplayed}"
            for user in self._users()
            if user.unplayed is not None
        ]

    def _users(self) -> list[User]:
        return [each.floor.user for each in self.sessions if isinstance(each.floor.user, User)]

    def _new(self, setup: Message, profile: ModelProfile) -> FakeSession:
        session = FakeSession(self.server, setup, profile)
        self.sessions.append(session)
        if self.script is not None:
            session.floor.user = User(session)
            self.server.listener.start_task(play, self.script, session.floor.user)
        return session
