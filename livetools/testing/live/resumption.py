"""Finds the conversation that a setup resumes, or begins one."""

from __future__ import annotations

from livetools.setup.model_profiles import ModelProfile
from livetools.testing.service import Service
from livetools.testing.wire import Message

from .conversation_script import ConversationScript, User, play
from .fake_session import FakeSession
from .hang_detection import outwait


class SessionRegistry:
    """The conversations of one server, in the order of their beginnings, and the script that they follow."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.sessions: list[FakeSession] = []
        self.script: ConversationScript | None = None
        self._users: dict[FakeSession, User] = {}  # of the conversations that follow a script

    def resumable(self, setup: Message) -> FakeSession | None:
        """The conversation of the handle that this setup brings, if it is known and has not expired."""
        handle = _handle(setup)
        session = next((each for each in self.sessions if handle in each.handles), None)
        if session is None or session.ended_at is None:
            return session
        age = self.service.clock.now() - session.ended_at
        return session if age <= self.service.limits.keeps(vertex=session.profile.vertex) else None

    def admit(self, setup: Message, profile: ModelProfile) -> FakeSession:
        """The conversation that this setup resumes, or a new one.

        A script continues with a client that reconnects without a handle, and learns which client that is.
        """
        session = self.resumable(setup)
        if session is not None:
            session.history.restore(session.handles[_handle(setup)])
        elif self.script is not None and (session := self._forsaken()) is not None:
            session.history.forget(after=0)
        if session is None:
            return self._new(setup, profile)
        session.resume(setup, profile)
        if (user := self._users.get(session)) is not None:
            user.arrived(with_handle=bool(_handle(setup)))
        return session

    def _forsaken(self) -> FakeSession | None:
        """The first conversation whose script waits for a client that has gone."""
        return next((s for s, user in self._users.items() if not user.done and s.connection is None), None)

    def _new(self, setup: Message, profile: ModelProfile) -> FakeSession:
        session = FakeSession(self.service, setup, profile)
        self.sessions.append(session)
        self._forget()
        if self.script is not None:
            user = self._users[session] = User(session)
            session.script = user.hear
            self.service.start_task(self._play, self.script, user)
        return session

    async def _play(self, script: ConversationScript, user: User) -> None:
        await play(script, user)
        await outwait(self.service, user.session, lambda: all(each.done for each in self._users.values()))

    def _forget(self) -> None:
        """On a server that runs long the oldest conversations go, of those whose client has gone."""
        limit = self.service.log.limit
        if limit is not None and len(self.sessions) > 2 * limit:
            kept = [each for each in self.sessions[:-limit] if each.connection is not None]
            self.sessions = kept + self.sessions[-limit:]
            self._users = {each: self._users[each] for each in self.sessions if each in self._users}

    # -- whether the script was played

    async def at_rest(self) -> None:
        """Return when every script has ended, or waits for its user."""
        for user in list(self._users.values()):
            await user.at_rest()

    def unplayed(self) -> list[str]:
        """The scripts that were not played out, a line each: what they still wait for."""
        if self.script is None:
            return []
        if not self._users:
            return ["the script was not played: no client began a conversation"]
        return [
            f"the script was not played out: it waits for {user.unplayed}"
            for user in self._users.values()
            if user.unplayed is not None
        ]


def _handle(setup: Message) -> str:
    """The handle that a setup brings; empty for none."""
    return str((setup.get("sessionResumption") or {}).get("handle") or "")
