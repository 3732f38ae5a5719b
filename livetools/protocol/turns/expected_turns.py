"""The queue of turns: which are expected, what ends an exchange, when silence is a stall.

``turnComplete`` ends a turn, but a NON_BLOCKING call may end its turn by itself and bring another with its answer.
Where a BLOCKING call does so, nothing else is answered before it: what comes with the answer is taken for the rest of
the same turn. With background reasoning ``IDLE`` ends a turn. So the turns that are expected stand in a queue
(``Expected``), beside one state that says what the model does now (see ``turn_states``).

A turn that ends is the first of the queue. Some turns may never come: of a question that was given up or has stalled,
of a text that may start none, about a response that the model has perhaps spoken of already, of one of two texts that
are answered together. Nobody waits for any but the last kind (``until``). Where several questions were written before a
turn began, its end may be that of all (``doubtful``): if it is quiet behind it, they are over, and the whole turn was
the answer. If not, the next turn is the next question's: a late answer to what was given up is never another's.
"""

from __future__ import annotations

from itertools import islice, takewhile
from math import inf

from livetools.errors import ConcurrencyError
from livetools.events import Call, Stalled

from .after_resumption import AfterResumption
from .exchange import Exchange, Expected
from .turn_states import TABLE as MOVES
from .turn_states import UNDER_WAY, Model, TurnEvent

#: If another turn may or may not come: seconds of silence after which it is no longer expected.
QUIET_SETTLES = 2.0
#: The same where two questions are waited for: a model may think for longer between two answers.
PAUSE = 3.0
#: The same behind the empty turn that confirms the errors for lost calls: it is hardly the answer to a question.
CONFIRMED = 10.0


class Turns:
    """The queue of expected turns. Every method is an input; ``idle`` and ``exchange`` are what they come to."""

    def __init__(self, stall_timeout: float, status_signal: bool) -> None:
        self.stall_timeout = stall_timeout
        self.status_signal = status_signal
        self.exchange: Exchange | None = None
        self.ends = 0
        self.stale = AfterResumption()  # what a resumed session may spend a turn on
        self._heard = False  # the model said something since the last answer
        self._progress = 0.0
        self._works_until = 0.0  # the model has shown by then that it works, or its sound plays until then
        self._stalled = False
        self._clear()

    def _clear(self) -> None:
        """Nothing is expected on a connection that has just begun."""
        # A generation never continues on another connection, and its turnComplete never comes (pydantic-ai 2.68).
        self.model = Model.IDLE
        self.most = 0  # turns that may come: each answer that the model did not stand still for may bring one
        self.spoken_to = False  # the user was heard to speak since the last turn ended
        self._queue: list[Expected] = []  # a few: a deque takes ten times the memory
        self._known = 0  # of the queue, the turns that were expected when the turn under way began
        self._standing: set[int] = set()  # runs that block the model
        self._halting = self._halted = False  # one of those will end its turn by itself, or has
        # Runs whose answers are still to be spoken of; true: the call had ended its turn.
        self._unspoken: dict[int, bool] = {}
        self._ended_answer = False  # the turn that ended last was expected to speak of an answer
        self._cutting = False  # an answer was sent that may itself cut the model off
        self._patience = inf  # seconds of quiet that settle what is in doubt
        self._spoken = False  # what is in doubt is whether the answers have been spoken of

    # Facts

    @property
    def under_way(self) -> bool:
        """Whether the model is in the middle of a turn, which will end."""
        return self.model in UNDER_WAY

    @property
    def idle(self) -> bool:
        """Nothing that anybody waits for is expected from the model."""
        # CALLING does not count: the ledger has the open call, and its answer will put a turn into the queue.
        if self.model in UNDER_WAY:
            return False
        for turn in self._queue:  # noqa: SIM110 - asked five times a call, and a generator costs more than the loop
            if turn.answer or turn.until == inf:
                return False
        return True

    @property
    def ahead(self) -> int:
        """Turn ends that come before the model can read what is written now."""
        # A turn under way may have no place yet: then the queue is empty, and it counts as one.
        return len(self._queue) or int(self.model in UNDER_WAY)

    @property
    def ends_at_most(self) -> int:
        """How many turn ends may still come: at least as many as are expected."""
        return max(self.most, self.ahead)

    @property
    def owed(self) -> bool:
        """Whether the model is still to speak of an answer."""
        return any(turn.answer for turn in self._queue)

    def waiting_for(self) -> str:
        """What is expected, in words."""
        if self.owed:
            return "the model's words on a function response"
        if self.under_way:
            return "the end of the model's turn"
        return "" if self.idle else "the model's answer to the user's turn"

    # What the user does

    def ask(self) -> Exchange:
        """Begin an exchange; its prompt is still to be written. Raises ``ConcurrencyError`` while one is under way."""
        if self.exchange is not None:
            raise ConcurrencyError("ask() while another exchange is under way; await that one first")
        self.exchange = Exchange()
        return self.exchange

    def last(self) -> Expected | None:
        """The turn that ends before the model can speak of what is written now; ``None``: none is expected."""
        if self.under_way and not self._queue:
            self._queue.append(Expected())
        return self._queue[-1] if self._queue else None

    def prompted(
        self, now: float, exchange: Exchange | None = None, *, doubtful: bool = False
    ) -> tuple[Expected | None, Expected]:
        """A user turn was written, for this exchange or for none; ``doubtful``: it may start no turn at all.

        Returns the turn before its answer, and that.
        """
        self.most = self.ends_at_most + 1
        # A turn that is under way ends first, and its end must not be taken for the answer to this prompt.
        self._place(now)
        turn = Expected(prompt=True)
        self._queue.append(turn)
        if exchange is not None and exchange is self.exchange:
            exchange.turn = turn
            if self._queue[0] is turn:  # no turn ends before its answer
                exchange.listen(sure=True)
        elif doubtful:
            turn.until = now + QUIET_SETTLES
        elif exchange is not None:
            turn.until = now + self.stall_timeout  # it was given up before it was written
        self._moved(now)
        return (self._queue[-2] if len(self._queue) > 1 else None), turn

    def began(self, restored: bool, errors: int) -> None:
        """A session is open, resumed or new. The model gets so many errors for lost calls, and may speak of each."""
        self.most += errors
        self.stale.began(restored, bool(errors))

    def heard_out(self, now: float) -> None:
        """The microphone is off: the model may answer what it has heard, with a turn that nobody waits for."""
        if self.model is Model.IDLE:  # else it does so already
            self.most = self.ends_at_most + 1
            self._queue.append(Expected(until=now + QUIET_SETTLES))
            self._moved(now)

    def heard_user(self) -> None:
        """The service has heard the user speak: the turn under way, or the next one, may be on that."""
        self.spoken_to = True

    def give_up(self, exchange: Exchange, now: float) -> None:
        """Nobody waits for it any more: another may begin. Its answer may still come."""
        if exchange is self.exchange:
            if exchange.turn is not None:
                exchange.turn.until = now + self.stall_timeout
            exchange.done, self.exchange = True, None

    # What the model does

    def content(self, now: float, seconds: float = 0.0) -> None:
        """The model said something; ``seconds`` of audio of it."""
        if self.model is not Model.SPEAKING:
            self._do(TurnEvent.OUTPUT)
        self._heard = True
        self._halting = self._halting and bool(self._standing)  # it continues: this call has ended no turn
        if self.exchange is not None and self.exchange.listens:
            self.exchange.heard = True
        # Sound comes faster than it plays; turnComplete is held back until it would have played (measured, ±30 ms).
        self._works_until = max(self._works_until, now) + seconds
        self._moved(now)

    def worked(self, now: float) -> None:
        """The model has shown that it works, and said nothing: no stall, though nothing else moves."""
        self._works_until = max(self._works_until, now)
        self._stalled = False

    def called(self, run: int, call: Call, ends_turn: bool, now: float, blocks: bool = False) -> None:
        """The model made a call; ``ends_turn``: its turn ends with it, and another begins at the answer; ``blocks``:
        nothing else is answered before."""
        if self.status_signal:  # only IDLE ends a turn: a call neither begins, ends nor halts it
            self.stale.untried = False
        elif blocks or not ends_turn:
            self._do(TurnEvent.STAND)
            self._standing.add(run)
            self._halting = self._halting or ends_turn  # its own turnComplete is still to come
        else:
            self._do(TurnEvent.OUTPUT)
        if self.exchange is not None and self.exchange.listens:
            self.exchange.call(run, call)
        self._moved(now)

    def interrupted(self, now: float) -> None:
        """``interrupted``: the model was cut off; the end of its turn follows."""
        self._halting = self._halted = False  # one turnComplete follows, and that ends the turn
        self._known = 0  # a text that was written since has cut it off: it is not the answer to that
        # An answer with INTERRUPT has cut the model off, not the user: the exchange continues with the turn about it.
        self.cut_off(now, by_user=not self._cutting)
        if self._cutting:
            self._cutting = self._heard = False  # what was heard is not what the answer brings

    def cut_off(self, now: float, by_user: bool = True) -> None:
        """The model is cut off. ``by_user``: the exchange under way is interrupted; else an answer with INTERRUPT has
        done it, and the exchange continues.

        The model itself may read of it later: a call that ends its turn still does so.
        """
        if by_user and self.exchange is not None and self.exchange.sure:
            self.exchange.interrupted = True
        self._works_until = now
        self._moved(now)

    def complete(self, status: str | None, now: float, *, explained: bool = False) -> None:
        """``turnComplete``, with the status that stood beside it; ``explained``: and why the turn has ended."""
        self._moved(now)
        if status == "IN_PROGRESS":
            self._do(TurnEvent.GO_ON)  # a filler: the turn continues
        elif self._halting:
            self._halting, self._halted = False, True  # the end of the call's own generation
            self._do(TurnEvent.HALT)
        else:
            if explained:  # a turn that says why it is empty is an answer
                self.stale.untried = False
            # Nothing came in this turn, and errors for lost calls were written: it confirms those, and answers nothing.
            if self.model is Model.IDLE and self.stale.closes:
                self._closed_lost(now)
            else:
                self._end(now)

    def status(self, status: str, now: float) -> bool:
        """A status without a turn end. Whether it ended a turn: IDLE does, unless ``turnComplete`` has done so
        before."""
        if status == "IDLE" and not self.under_way:  # it only repeats what turnComplete has said
            return False
        self._moved(now)
        if status == "IDLE":
            self._end(now)
        elif status == "IN_PROGRESS":
            self._do(TurnEvent.BUSY)
        return status == "IDLE"

    # What becomes of calls

    def answered(self, run: int, scheduling: str | None, now: float, last: bool = True) -> Expected | None:
        """An answer was written, the last one for its call or not. The turn that will speak of it."""
        self._moved(now)
        turn = None
        # A call that blocks the model is spoken of in the turn that it stopped, whose one end is counted already.
        apart = run not in self._standing
        if apart:
            self.most = self.ends_at_most + 1
        # SILENT is ignored for a BLOCKING call: the model stood still for the answer, and speaks of it.
        if scheduling != "SILENT" or not apart:
            turn = self._mark(apart and not self.status_signal, now)
            if scheduling == "INTERRUPT" and self.model is Model.SPEAKING:
                self._cutting = True
            self._heard = False
            self._unspoken[run] = apart
        if last:
            self._close(run)
        return turn

    def taken_back(self, run: int, now: float) -> None:
        """The server has cancelled this call: it does not speak of an answer to it."""
        self._unspoken.pop(run, None)
        self._standing.discard(run)
        if not (self._unspoken or self._standing):
            self._halting = False
            self._forget_answers()
            self._do(TurnEvent.CALLED_OFF)
            if self._halted and self._queue:  # it continues its turn, or had ended it with the call
                self._queue[0].doubtful, self._patience = True, PAUSE
        self._moved(now)
        self._close(run)

    def _close(self, run: int) -> None:
        """Nothing is owed for this call any more."""
        self._standing.discard(run)
        if self.exchange is not None:
            self.exchange.calls.discard(run)
            self._settle()

    def lost(self, now: float, again: bool, speech: bool = False) -> bool:
        """The connection is gone; ``again``: the exchange's prompt will be written again; ``speech``: audio went out on
        it, and may have begun a turn. Whether a turn was cut."""
        cut = self.under_way or self.owed or (not again and not self.idle)
        # A model at work may have made a call that nobody has read: a resumed session would wait for it.
        self.stale.lost(busy=self.model is not Model.IDLE or bool(self._queue) or speech)
        self._clear()
        self._works_until = now
        if (exchange := self.exchange) is not None and exchange.turn is not None:
            exchange.unanswered()
            # Its prompt was read, and the generation that answers it does not continue (pydantic-ai 2.68).
            if not again:
                self._over(exchange, interrupted=True)
        self._moved(now)
        return cut

    # Time

    def settle_doubts(self, now: float) -> None:
        """Settle what is in doubt, if it has been quiet for long enough."""
        if now < self._progress + QUIET_SETTLES:
            return  # nothing is settled earlier than that
        while self._queue and self._settles_at() <= now:
            doubted = self._patience < inf
            if doubted and self.stale.swallows:  # perhaps spent on a lost call: see stale
                self._spend(now)
                break
            # What is in doubt is whether the answers were spoken of: the silence says that they were.
            if self._spoken:
                self._forget_answers()
            for turn in self._queue:
                turn.over = (turn.doubtful and not turn.answer) if doubted else turn.until <= now
            self._queue = [turn for turn in self._queue if not turn.over]
            self._patience, self._spoken = inf, False
            self._settle()

    def tick(self, now: float, served: bool) -> Stalled | None:
        """The event if the silence has become a stall; ``served``: a call is open that blocks the model."""
        self.settle_doubts(now)
        if self.idle or self._stall_at(served) > now:
            return None
        self._stalled = True
        exchange, stalled = self.exchange, Stalled(self.waiting_for(), now - self._progress)
        if exchange is None or not exchange.calls:  # what did not come by now is not counted on
            self._give_up_all(now)
            if exchange is not None and exchange.turn is not None:
                exchange.stalled = stalled
                self._over(exchange)
            self.settle_doubts(now)
        return stalled

    def wake_at(self, served: bool) -> float:
        """When ``tick`` has something to do; ``served``: a call is open that blocks the model."""
        idle = self.idle
        stall_at = inf if idle else self._stall_at(served)
        # Where somebody waits for the model, silence settles what is in doubt, and nothing else.
        return min(self._settles_at(), stall_at) if idle or self._patience < inf else stall_at

    # The table

    def _do(self, on: TurnEvent) -> None:
        if (to := MOVES.get((self.model, on))) is not None:
            was, self.model = self.model, to
            if was is Model.IDLE:
                self._begin()

    def _begin(self) -> None:
        """A turn begins."""
        self._known = len(self._queue)
        self._patience, self._spoken = inf, False
        self.stale.untried = False  # what begins with words is no confirmation
        exchange = self.exchange
        if exchange is None or exchange.turn is None or exchange.sure:
            return
        first = self._queue[0]
        if first is exchange.turn:
            if first.answer and not self._ended_answer and exchange.called(self._unspoken):
                # The turn before it has made the call, and this one speaks of the answer: both are the exchange's.
                exchange.sure = True
            else:
                exchange.listen(sure=True, calls=exchange.listens and first.answer)
        # None of the turns in front of it is certain to be another's alone: this one may be its answer already.
        elif all(turn.shares for turn in takewhile(lambda turn: turn is not exchange.turn, self._queue)):
            exchange.listen(sure=False)

    def _place(self, now: float) -> None:
        """The turn under way gets a place in the queue, if it has none: audio may have begun it."""
        if self.model is Model.IDLE:
            return
        if self._queue:
            first = self._queue[0]
            asked = self.exchange is not None and first is self.exchange.turn
            if asked or not (self.spoken_to and first.prompt):
                return  # else the turn under way may be on what the user said, and not on what was written
        # CALLING may get no end, if the call is taken back: then nobody waits for it.
        under_way = Expected(until=now + self.stall_timeout if self.model is Model.CALLING else inf)
        if self._queue:  # a response to its own call is spoken of in it
            under_way.answer, self._queue[0].answer = self._queue[0].answer, False
        self._queue.insert(0, under_way)
        self._known += 1  # the turn under way is one of them

    def _pop(self, empty: bool) -> None:
        """Take the turn that has ended off the queue, and doubt those behind it that it may have answered too.
        ``empty``: nothing was said in it, and nothing tells when it began."""
        # What was expected when it began may be answered by it; what was written since is not.
        known, self._known = self._known, 0
        if not self._queue:
            return
        ended = self._queue.pop(0)
        ended.over, self._ended_answer = True, ended.answer
        ended.spent = empty and self.stale.swallows
        # A turn that only speaks of an answer, and was certain to come, answers no question behind it.
        if ended.answer and ended.wanted and not (ended.prompt or ended.doubtful):
            known = 0
        elif empty and ended.doubtful:  # it was perhaps over already, and this was the end of the next
            known = 2 + sum(1 for _ in takewhile(lambda turn: turn.doubtful, self._queue))
        perhaps = list(takewhile(lambda turn: turn.shares, islice(self._queue, max(0, known - 1))))
        for turn in perhaps:
            turn.doubtful = True
        if perhaps:
            self._patience = PAUSE if sum(turn.wanted for turn in (ended, *perhaps)) > 1 else QUIET_SETTLES
        # The exchange may be answered with this empty turn: what it heard before was not its own.
        exchange = self.exchange
        if empty and exchange is not None and not exchange.sure and exchange.turn in (ended, *perhaps):
            exchange.listen(sure=exchange.turn is ended)

    def _give_up_all(self, now: float) -> None:
        """Nobody waits for what is in the queue."""
        # A turn that is under way may still end late: that end must not count for the next question.
        if self.under_way:
            self._place(now)
        self._do(TurnEvent.END)
        for turn in self._queue:
            turn.answer, turn.until = False, min(turn.until, now + self.stall_timeout)  # it may come late
        self._unspoken.clear()
        self._known = 0
        self._halting = self._halted = False

    # Inside

    def _mark(self, apart: bool, now: float) -> Expected:
        """Find the turn that will speak of an answer, or expect one more. ``apart``: not the turn that the call has
        stopped."""
        # An answer to a call that ended its turn is spoken of behind the turn that is under way (which may stand still
        # for another call, or has just been given that one's answer), or that certainly comes.
        behind = apart and (
            self.model in (Model.SPEAKING, Model.CALLING)
            or bool(self._standing)
            or any(turn.prompt and turn.wanted and not turn.doubtful for turn in self._queue)
        )
        place = 1 if behind else 0
        while len(self._queue) <= place:
            self._queue.append(Expected())
        turn = self._queue[place]
        if apart and turn.prompt and not turn.answer:  # that may be the question's alone
            self._queue.append(Expected(until=now + QUIET_SETTLES))
        turn.answer = True
        return turn

    def _forget_answers(self) -> None:
        """No turn is expected any more only because it would speak of an answer."""
        self._unspoken.clear()
        # A question's own turn still comes.
        self._queue = [turn for turn in self._queue if turn.prompt or not turn.answer]
        for turn in self._queue:
            turn.answer = False

    def _end(self, now: float) -> None:
        """A turn of the model has ended: take it off the queue, and see what is in doubt now."""
        # This turn ended before the model spoke of the answer: the IDLE may belong to the call itself, or one turn may
        # have covered both we expected.
        crossed = self.status_signal and self.owed and not self._heard
        self.most = max(0, self.ends_at_most - 1)
        marks = [turn.answer for turn in self._queue] if crossed else []
        self._patience = inf
        empty = self.model is Model.IDLE and not self._known
        # A turn that audio began may have no place: else its end would remove the question's.
        self._place(now)
        self._do(TurnEvent.END)
        self._pop(empty)
        if crossed:
            self._slide(marks)
        # Nothing was said, and there are more answers: the second may have cut this turn short, and bring its own.
        several = sum(self._unspoken.values()) > 1
        # Somebody waits, and a call that blocks may have ended its turn by itself: that end and the answer have crossed
        # (adk#4902), and the words on it are still to come.
        asked = self.exchange
        if asked is not None and asked.turn is not None and asked.turn.over and not asked.interrupted:
            several = several or not (self._queue or all(self._unspoken.values()))
        silent = self._ended_answer and not self._heard and several
        another = silent and not crossed and not self.owed
        if another:
            self._queue.insert(0, Expected(answer=True))
        self._spoken = self.owed and (crossed or another or self._heard)
        if self._spoken and self._patience == inf:
            self._patience = QUIET_SETTLES
        if self._spoken:
            for turn in self._queue:
                turn.doubtful = turn.doubtful or (turn.answer and not turn.prompt)
        if not self.owed:
            self._unspoken.clear()
        self._cutting = self.spoken_to = self._halted = False
        self.ends += 1
        # The user has cut the answer off: the exchange ends with this turn, even if more is owed.
        if (exchange := self.exchange) is not None and exchange.sure and exchange.interrupted:
            self._over(exchange)
        self._settle()
        self.stale.untried = False

    def _closed_lost(self, now: float) -> None:
        """An empty turn has closed the exchange of calls that were answered with errors: it is not in the queue."""
        self.most = max(0, self.ends_at_most - 1)
        self.ends += 1
        # What was written first may have been spent on a lost call that nobody knew of: then it gets no answer.
        if self._queue:
            self._queue[0].doubtful, self._patience = True, PAUSE if self.stale.unseen else CONFIRMED
        self.stale.closed()

    def _slide(self, marks: list[bool]) -> None:
        """The turn that ended spoke of no answer: each is spoken of one turn later than was expected."""
        for at, marked in enumerate(marks):
            if at < len(self._queue):
                self._queue[at].answer = marked
            elif marked:
                self._queue.append(Expected(answer=True))
        self._queue = [turn for turn in self._queue if turn.prompt or turn.answer]

    def _spend(self, now: float) -> None:
        """What was written first is taken for spent; a model that thinks for so long may still answer it."""
        spent, exchange = self._queue[0], self.exchange
        spent.spent, spent.doubtful, spent.until = True, False, now + self.stall_timeout
        self._patience = inf
        if exchange is not None and exchange.turn is spent:
            exchange.unanswered()

    def _settle(self) -> None:
        """See whether the exchange is over, or its turn is the next one."""
        exchange = self.exchange
        if exchange is None or exchange.turn is None:
            return
        # An empty first turn of a resumed session was perhaps spent on a lost call, and not on this text.
        if exchange.turn.over and self.stale.swallows and not exchange.heard:
            exchange.unanswered()
        elif exchange.turn.over:
            exchange.sure = exchange.listens = exchange.changed = True
            if self.model is Model.IDLE and not exchange.calls and not self.owed:
                self._over(exchange)
        elif not exchange.sure and self._queue[0] is exchange.turn and not exchange.turn.doubtful:
            exchange.listen(sure=True)

    def _over(self, exchange: Exchange, interrupted: bool = False) -> None:
        exchange.end(interrupted)
        self.exchange = None

    def _moved(self, now: float) -> None:
        self._progress = now
        self._stalled = False

    def _settles_at(self) -> float:
        """When what is in doubt is settled, if nothing comes until then."""
        if self._patience < inf:
            return self._progress + self._patience
        if not self._queue or not self.idle:
            return inf
        return max(self._progress + QUIET_SETTLES, min(turn.until for turn in self._queue))

    def _stall_at(self, served: bool) -> float:
        """When a silence since the last word has become too long."""
        # While a BLOCKING call is open the silence is ours, not the model's.
        if served or self._stalled:
            return inf
        return max(self._progress, self._works_until) + self.stall_timeout
