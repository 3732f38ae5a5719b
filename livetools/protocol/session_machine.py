"""The machine of a session: inputs, outputs, and the wiring between the tables. Pure and synchronous.

Every input carries the time. Inputs from the network carry the number of their link; an input from a link that was
replaced does nothing. After each input the shell takes what follows, in this order: ``actions`` (what must be done
at once), ``frames`` (what is written, once the events are shown: the one await), ``events`` (what the user sees).

Beside the invariants of the ledger:

6. An unknown message, field or value is an event, never an exception; a frame that does not validate still gives up
   its calls.
7. No frame from the server can make the session silent: ``stats()`` names who owes each thing that is owed.
8. After ``tick(now)``, ``wake_at() > now``.
"""

from __future__ import annotations

import random as chance
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from livetools.errors import LocalProtocolError
from livetools.events import Call, Event, Interrupted, Reconnected, Reconnecting
from livetools.protocol.calls.driver_actions import Close, Dial, EndSession, Hangup, Hurry, Outcome
from livetools.protocol.connection.connection_states import READABLE, LinkState
from livetools.protocol.connection.dials_and_moves import Begin, Consequence, Lose, SendSetup
from livetools.protocol.connection.reconnect_policy import ReconnectPolicy
from livetools.protocol.input.audio_format import silence
from livetools.protocol.input.input_queue import Item
from livetools.protocol.input.resend import OutFrame, Receipt
from livetools.protocol.transcript.transcript import Transcript
from livetools.protocol.turns.exchange import Exchange
from livetools.setup.plan_fields import Plan

from .connection import close_codes
from .messages import outgoing
from .send import says_something
from .view import View

# Every input passes it: asked of its class, a member of an enum costs ten times as much.
_LEAVING, _SETUP = LinkState.LEAVING, LinkState.SETUP

#: Why a change that takes another connection cannot be made, and what to do.
NO_DIAL = (
    "no other connection can be opened: reconnect is off, or its dials are used up; "
    "connect(reconnect=ReconnectPolicy(budget=...)) allows more"
)


class Machine(View):
    """One session. ``transcript`` has the conversation so far, which a new session must get again; ``left`` are calls
    that an earlier process of this conversation has not finished."""

    _error: Exception  # why it is over, once it is

    def __init__(
        self,
        plan: Plan,
        *,
        reconnect: ReconnectPolicy | None = None,
        random: Callable[[], float] = chance.random,
        transcript: Transcript,
        left: Sequence[Call] = (),
    ) -> None:
        super().__init__(plan, reconnect, random)
        self._watchers: tuple[Callable[[], None], ...] = ()  # called after every input
        self._left_before = left
        self._transcript = transcript
        self._history: tuple[bytes, ...] = ()  # what follows the setup that was sent last
        # There are 24 attributes. From the 30th on an object has a dict of its own, which is slower to ask.
        self._question: Item | None = None  # the text of the exchange that is under way

    # Inputs from the network

    def connect(self, now: float) -> None:
        """Begin."""
        self._do(self.connection.connect(now), now)

    def opened(self, link: int, now: float) -> None:
        """A socket is open (TCP, TLS, upgrade)."""
        self._do(self.connection.opened(link, self.to_come.snapshot(), now), now)

    def disconnected(self, link: int, close: Close, now: float) -> None:
        """A socket ended, or could not be opened."""
        self._do(self.connection.gone(link, close, self.to_come.snapshot(), now, self.calls.open()), now)
        self._after(now)

    def receive(self, link: int, data: bytes | str, now: float, *, overdue: bool = False) -> None:
        """A frame came. Nothing that a server sends raises.

        ``overdue``: ``tick`` is late, and the frame may have come before it was due: no silence is judged by it.
        """
        connection, reception = self.connection, self.reception
        if link == connection.current and connection.state in READABLE:  # else a socket that was replaced
            # The setup is completed before the rest of the frame is read: calls in it are of this session.
            if connection.state is _SETUP and reception.completes_setup(data):
                self._do(connection.completed(now), now)
            reception.receive(link, data, now, overdue)
            if reception.cuts_next:
                self.interrupt(now)
            self._after(now)

    # Inputs from the user

    def ask(self, text: str, now: float) -> tuple[Exchange, Receipt]:
        """Begin an exchange with this text. Raises ``ConcurrencyError`` while another is under way, and
        ``LocalProtocolError`` inside an activity, whose own end is the question."""
        if self.input.in_activity:
            raise LocalProtocolError("ask() inside activity(): leave the block first, or use send_text()")
        exchange = self.turns.ask()
        self.said.keep_sound()
        self._question = self.dispatch.text(text, exchange)
        return exchange, self._put(self._question, now)

    def send_text(self, text: str, now: float) -> Receipt:
        """A user turn; the receipt says when it was handed to a socket."""
        return self._put(self.dispatch.text(text, None), now)

    def generate_reply(self, instructions: str | None, now: float) -> Receipt:
        """The model speaks, though nobody has asked it to, at the next quiet moment."""
        return self._put(self.dispatch.reply(instructions), now, unasked=True)

    def take_back(self, receipt: Receipt) -> None:
        """The caller that asked for this reply no longer wants it; it may be too late."""
        self.dispatch.take_back(receipt)

    def leave(self, exchange: Exchange, now: float) -> None:
        """Nobody waits for this exchange any more: another may begin."""
        self.turns.give_up(exchange, now)

    def user_is_there(self, now: float) -> None:
        """The user is present, though nothing was said: the silence is counted from now on."""
        self.speech.present(now)

    @contextmanager
    def watched(self, tell: Callable[[], None]) -> Iterator[None]:
        """Call this after every input."""
        self._watchers = (*self._watchers, tell)
        try:
            yield
        finally:
            self._watchers = tuple(each for each in self._watchers if each is not tell)

    def send_content(self, turns: Sequence[Mapping[str, Any]], turn_complete: bool, now: float) -> Receipt:
        """Turns for the history. Raises ``LocalProtocolError`` where the model takes them only at the beginning."""
        # Sound prompts turns as well: the model is in one, or has ended one.
        begun = self.dispatch.conversing or self.turns.under_way or self.turns.ends
        if begun and self.plan.content_mid_session == "refused":
            raise LocalProtocolError(
                f"{self.plan.model} takes content only before the first turn; use send_text, or history= of connect"
            )
        frame = outgoing.client_content(turns, turn_complete)
        doubtful = not says_something(turns)
        item = Item("content", frame, Receipt(), None, turn_complete, doubtful, contents=tuple(turns))
        return self._put(item, now)

    def send_media(self, frame: bytes, kind: str, now: float) -> bool:
        """Audio or video; False: dropped by the input block, or as audio outside an activity."""
        if self.closed:
            return False
        self._now = now
        return self.input.media(Item(kind, frame), self.calls.blocking(), not self.connection.usable)

    def media_link(self) -> int | None:
        """The link that media may be written to past the queues: there is nothing to wait for, to keep or to count."""
        if self.closed or not (self.input.flowing and self.connection.usable) or self.dispatch:
            return None
        # While the block lasts the queue must see the media, and count what it drops.
        return None if self.input.input_block and self.calls.blocking() else self.connection.current

    def activity(self, start: bool, now: float) -> None:
        """Push-to-talk begins or ends. Raises ``LocalProtocolError`` where it cannot begin."""
        if self.closed:
            return
        if start and not self.plan.manual:
            raise LocalProtocolError(
                "activity() while the service detects speech by itself: it would close the session. Turn that off"
                " (config={'realtime_input_config': {'automatic_activity_detection': {'disabled': True}}}), or just"
                " send the audio"
            )
        if start and self.input.in_activity:
            raise LocalProtocolError("activity() inside an activity: leave it before the next begins")
        self._now = now
        self.speech.user(start, now)
        self.input.activity(start, outgoing.activity(start))

    def end_audio(self, now: float, rate: int | None = None) -> None:
        """The microphone is off; ``rate`` is that of what was said. Raises ``LocalProtocolError`` where activities
        say so.
        """
        if self.closed:
            return
        if self.plan.manual:
            raise LocalProtocolError(
                "end_audio() belongs to automatic activity detection, which the config turns off: the service would"
                " close the session. Leave the activity() block to end the speech"
            )
        self._now = now
        self.speech.asked(now)
        self.input.put(Item("end", outgoing.audio_stream_end()))
        # 3.8 ignores audioStreamEnd as the end of a turn: only silence ends it (openclaw#152830, 2026-09-19).
        if rate is not None:
            for pcm in silence(self.plan.closing_silence, rate):
                self.send_media(outgoing.audio(pcm, rate), "audio", now)

    def interrupt(self, now: float, answer: bool = False) -> None:
        """Cut the model's turn off: at the service where the model allows it, and always for the listeners here.

        ``answer``: the next one, where none is under way: the model is to speak to what it has heard, and nothing tells
        when it begins.
        """
        self._now = now
        if self.closed:
            return
        # Nothing is under way that could be cut off. With answer it is the next turn that nobody wants to hear.
        if self.turns.idle:
            if answer:
                self.reception.cut_off(next=True)
            return
        self.reception.cut_off()
        # 3.1 takes no clientContent in the middle of a session (1007, adk#5018): there only the listeners are spared
        # the rest.
        if self.plan.content_mid_session != "refused":
            self.input.put(Item("cut", outgoing.end_of_turn(False)))
        self.turns.cut_off(now)
        self.speech.cut_off(now)
        self._tell(Interrupted())

    def update(self, plan: Plan, frame: bytes | None, now: float, event: Event | None = None) -> Receipt:
        """Other instructions or tools: ``frame`` says so where the model takes it, else another connection does.

        Until that is open the model calls what it knows. ``event`` is emitted when the model has the change. Raises
        ``LocalProtocolError`` where there can be no other connection, before anything is changed.
        """
        receipt = Receipt()
        if frame is not None or self.closed:
            self.changes.want(plan)
            self.calls.use(plan)
            return self._put(Item("update", frame or b"", receipt, event=event), now)
        if self.connection.cannot_move:
            raise LocalProtocolError(f"{plan.model} takes no change within a connection, and {NO_DIAL}")
        self.changes.want(plan, (receipt, event))
        self.connection.go_away(inf, now)
        self._after(now)
        return receipt

    # Inputs from handlers

    def settled(self, run: int, outcome: Outcome, now: float) -> None:
        """A handler ended, however."""
        self.calls.settled(run, outcome, now)
        self._after(now)

    def progress(self, run: int, value: object, now: float, yielded: Outcome | None = None) -> None:
        """A tool reported; ``yielded``: the value is a part of its result."""
        self.calls.progress(run, value, now, yielded)
        self._after(now)

    def judge(self, run: int, verdict: bool | str | None, now: float) -> bool:
        """The word on a call that waits for approval: it may run, a person must decide (``True``), or it is refused
        with this text. False if it does not wait (any more)."""
        waited = self.calls.judge(run, verdict, now)
        self._after(now)
        return waited

    def decided(self, run: int, call: Call) -> None:
        """A hook has replaced the arguments of a call that has not run."""
        self.calls.decided(run, call)

    def give_up(self) -> None:
        """After the end: the shell waits no longer for handlers that run on; what they have done is undone."""
        self.calls.give_up()

    # Time

    def close(self, now: float) -> None:
        """The user is done."""
        self._do(self.connection.close(now), now)
        self._after(now)

    def park(self, now: float, within: float) -> float:
        """Close as soon as the newest handle holds everything, at the latest after ``within`` seconds. Returns the time
        by which it closes, for :meth:`stay`."""
        until = self.parking.begin(now, within)
        self._after(now)
        return until

    def stay(self, until: float) -> None:
        """The request that was to close it by ``until`` is withdrawn."""
        self.parking.call_off(until)

    def tick(self, now: float) -> None:
        """The clock has reached ``wake_at``: expire calls, tell stalls, redial."""
        if self.closed:
            return
        self.calls.tick(now)
        if (stalled := self.turns.tick(now, self.calls.blocking())) is not None:
            self._tell(stalled)
            # A turn that was cut off gets no end any more, which would have ended the suppression.
            if self.turns.idle:
                self.reception.stalled()
        self._do(self.connection.tick(self.to_come.snapshot(), now), now)
        self.parking.tick(now)
        self._after(now)

    def wake_at(self) -> float:
        """When ``tick`` is wanted next; may be early, never late."""
        if self.closed:
            return inf
        connection, calls = self.connection, self.calls
        # Writing an answer may have made it due, and only _after acts on it: so at once.
        if calls.end and self._end_due():
            return self._now
        at = min(connection.due, calls.due, self.turns.wake_at(calls.ledger.blocking > 0))
        if connection.state is _LEAVING:
            at = min(at, connection.wake_at(self.to_come.snapshot()))
        if self.limits.limited:
            at = min(at, self.limits.wake_at())
        if self.dispatch.since < inf:
            at = min(at, self.dispatch.wake_at(self._now))
        return at if self.parking.until == inf else min(at, self.parking.wake_at(self._now))

    # Outputs

    def frames(self) -> list[OutFrame]:
        """What is written now, in this order. The writer is responsible for what was taken."""
        return [] if self.closed else self.dispatch.frames(self._now)

    def events(self) -> Sequence[Event]:
        """What the user sees. Wakes the task that waits for the exchange, if it has changed, and who waits for all."""
        # Whether it flows again is known once the answers to BLOCKING calls are written.
        if self.input.untold and (self.closed or (self.connection.usable and not self.calls.blocking())):
            self.input.tell()
        exchange = None if self._question is None else self._question.exchange
        if exchange is not None and (exchange.changed or self.closed):  # who watches it must see the end, too
            exchange.report()
            if exchange.done:
                self._question = None
                self.said.clear()
        for tell in self._watchers:
            tell()
        return self._told.take(None if self.closed else self.to_come)

    # Inputs of the connection, and its decisions

    def _do(self, consequences: Iterable[Consequence], now: float) -> None:
        """Carry out what the connection decided."""
        self._now = now
        for what in consequences:
            match what:
                case Dial() | Hangup():
                    self.actions.append(what)
                case SendSetup(link, handle):
                    self._send_setup(link, handle)
                case Begin(first, restored):
                    self._began(first, restored, now)
                case Lose(close):
                    self._lost(close, now)
                case Reconnecting():
                    self._tell(what)
                case EndSession(error):
                    self._over(error, now)
                    self.actions.append(what)
        if self.changes.waiting and self.connection.cannot_move:  # a move was wanted, and there will be none
            self.changes.want(self.plan)
            self.changes.fail(LocalProtocolError(f"the change was not made: {NO_DIAL}"))

    def _send_setup(self, link: int, handle: str | None) -> None:
        plan = self.changes.send()
        contents = self._new_session() if handle is None else []
        # As initial history (3.1) turnComplete ends the seed without an answer. Elsewhere it would ask for one.
        complete = plan.seed == "initial_history"
        self._history = (outgoing.client_content(contents, complete),) if contents else ()
        message = plan.setup_message(handle, fresh=bool(contents))
        self.dispatch.begin(link, [outgoing.encode(message)])

    def _new_session(self) -> list[Mapping[str, Any]]:
        """A new session begins. Returns the conversation for its seed."""
        self.calls.new_session()
        if self.plan.seed == "none":
            return []
        # The first session gets the history of the options, with which the transcript begins; a later one the
        # conversation so far, less what is sent again.
        if self.connection.stood:
            self.input.new_session()
        plan = self.plan
        seed = self._transcript.seed(plan.seed_functions == "honoured", plan.seed_ends_with_user)
        return self.input.without(seed)

    def _began(self, first: bool, restored: bool, now: float) -> None:
        """A session is open."""
        if first:
            self.limits.begins(now)
            self._tell(self.reception.started)
        # Reconnected comes before what follows from it, such as ToolLost for the calls that are adopted.
        if not first or (self.plan.handle and not restored):
            self._tell(Reconnected(restored))
        for call in self._left_before if first and restored else ():
            self.calls.adopt(call, now)
        link = self.connection.current
        errors = self.calls.resumed(link) if restored and self.plan.answers_lost else []
        # Ahead of everything else: on 3.8 the first input would be spent on the lost calls otherwise, and go
        # unanswered.
        self.dispatch.begin(link, [*errors, *self._history])
        self.turns.began(restored, len(errors))
        if self.changes.waiting:
            self._changed(now)

    def _changed(self, now: float) -> None:
        """The connection that a change was waiting for is open."""
        plan, made = self.changes.made()
        self.calls.use(plan)
        for receipt, event in made:
            if event is not None:
                self._tell(event)
            receipt.end()
        if self.changes.waiting:  # it was changed again after the setup had gone out
            self.connection.go_away(inf, now)

    def _lost(self, close: Close, now: float) -> None:
        """Everything on the current link is gone; a generation that was under way never continues."""
        self.dispatch.lost()
        self.speech.lost()
        # Doubts are settled with what came by now, before the loss clears the turns.
        self.turns.settle_doubts(now)
        crossed = self.input.crossed(close)
        # Where the user marks speech, no turn begins without a prompt: the end of an activity is one.
        speech = self.input.streams and not self.input.manual
        # An answer that was received is paid, though the model has not spoken of it: asked again, it is given again.
        self.calls.read(frame for frame in self.outbox.sent if frame.safe)
        # In this order: the outbox knows what was not read, the calls and the input take their share of it, and the
        # turns ask whether the prompt of the exchange is in that.
        unread = self.outbox.lost(crossed=crossed, turned=self.reception.turned)
        self.calls.lose(now, unread)
        self.input.lose(unread, crossed=crossed)
        again = self.turns.exchange is not None and self._question in self.input.queue
        self.reception.lost(self.turns.lost(now, again, speech), now)

    def _over(self, error: Exception | None, now: float) -> None:
        """The session is over."""
        if self.to_come.names():  # who waits for that sees that it does not come
            self.said.hear(Interrupted())
        self.closed, self._error = True, error or close_codes.over()
        self.calls.close(now, self.outbox.sent)
        self.input.fail(self._error)
        self.dispatch.fail(self._error)
        self.changes.fail(self._error)

    # Inside

    def _put(self, item: Item, now: float, unasked: bool = False) -> Receipt:
        """Queue an item of the user's, or what the model is to say ``unasked``; after the end its receipt fails."""
        self._now = now
        assert item.receipt is not None
        if self.closed:
            item.receipt.end(self._error)
        elif unasked:
            self.dispatch.speak(item)
        else:
            self.input.put(item)
            self.speech.present(now)
            if item.prompts:
                self.speech.asked(now)
        return item.receipt

    def _end_due(self) -> EndSession | None:
        """The end that the calls want, where all that goes before it was said."""
        end = self.calls.end
        if end is not None and end.error is not None:  # the last error goes first
            return None if self.calls.replies.queue or self.outbox.writing else end
        return end if end and self.connection.usable and self.to_come.said() else None

    def _after(self, now: float) -> None:
        """What follows from any input."""
        self._now = now
        if self.closed:
            return
        # In this order: what is written again, and then the end or a move, which looks at what is to be written.
        for text in self.dispatch.untried:
            # Beside an exchange nothing else is asked again: its answer could not be told from that of the question.
            apart = self.turns.exchange in (None, text.exchange)
            if apart and text.answer is not None and text.answer.spent and text not in self.input.queue:
                self.input.again(text)
        # Most sessions have neither, and this is asked after every input.
        if (self.calls.end or self.limits.limited) and (end := self._end_due() or self.limits.due(now)):
            self._do(self.connection.close(now, end.error), now)
        elif self.parking.until < inf or self.connection.state is _LEAVING:
            self._leave_if_quiet(now)

    def _leave_if_quiet(self, now: float) -> None:
        """The connection is to be left, for good or for another one, as soon as that costs nothing."""
        connection = self.connection
        if self.outbox.awaited:  # it waits for the pongs
            self.actions.append(Hurry(connection.current))
        if self.parking.until < inf and self.parking.due(now):
            self._do(connection.close(now), now)
        elif connection.state is _LEAVING:
            self._do(connection.planned_move(self.to_come.snapshot(), now), now)
