"""Durable tools: a process that is killed in the middle of a call is followed by another, which finishes that call.

::

    durable = Durable("sqlite:///durable.sqlite")       # several machines: "postgresql://..."

    @durable.tool()
    def book(table: int) -> str:
        '''Book a table.'''
        number = reserve(table)                         # functions with @DBOS.step(): each is done once
        confirm(number)
        return f"table {table} is booked: {number}"

    with durable:
        async with connect(MODEL, tools=[book], handle_store=durable.store(FileHandleStore("handle"))) as session: ...

A call is a workflow of DBOS with the id ``<conversation key>/<call id>``; ``DBOS.workflow_id`` is that id inside of it.
The key is kept beside the handle: a session that resumes with the handle attaches to the runs of the one before, and a
new session has a new key. What holds:

- A step whose end was recorded never runs again; the function around the steps does, and must do the same each time.
- A step that was killed before its end was recorded runs again, unless it is a transaction of DBOS's. What it does
  outside must be idempotent by a key: ``DBOS.workflow_id`` and the step's name.
- Every process holds a lease. When a process dies, another one takes over its runs after the lease has ended, never
  earlier: runs of a living process would run twice. A process that pauses for longer than its lease (on a machine that
  sleeps) may continue after another has taken over. Then a step may run twice, and only idempotency helps.
- The database holds arguments, results and the texts of ``ToolError``: as JSON where they are JSON, pickled elsewhere.
  A user who can write to it can run code in the processes that share it. A SQLite file is readable by its owner only.
- A result reaches the model once: as the answer, or as a text in the session that continues. If the process dies before
  a handle that includes the result is saved, the result is sent again, to a model that does not know it.

Needs ``pip install 'PATH/TO/CLONE[durable]'``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
import logging
import os
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Waiting
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

import anyio.to_thread

from livetools.log import get_logger
from livetools.setup.install_hints import install

try:
    import sqlalchemy as sa
    from dbos import DBOS, SetWorkflowID

    from .durable_values import JsonOrPickle
except ImportError as error:
    raise ImportError(f"durable tools need dbos: {install('durable')}") from error

from livetools.errors import ConfigError, ConnectFailed, LocalProtocolError, ToolDefinitionError, ToolError
from livetools.events import Call, Event, HandleUpdate, Reconnected, ToolCancelled, ToolFinished
from livetools.session.frame_log import detail
from livetools.session.handle_store import HandleStore
from livetools.session.handlers.threads import DaemonThreads
from livetools.session.listening.frame_tap import listen
from livetools.session.session import Session
from livetools.setup.secrecy import place
from livetools.tools import Tool, ToolContext
from livetools.tools.results.outcomes import tool_error

from .leases import Leases
from .shared.option_checks import A_YEAR, checked_seconds

log = get_logger("livetools.calls")

#: Seconds between two looks whether a call was taken back.
_LOOK = 0.2
#: Calls that are remembered as known to the model.
_REMEMBERED = 512
#: Runs whose results are of no use: the model took the call back.
USELESS = frozenset({"CANCELLED"})
#: What a call without an id of the service's is called here; another process would give the same to another call.
UNNAMED = "unnamed-"


class _House:
    """What the stores of a :class:`Durable` know of it."""

    def __init__(self) -> None:
        self.names: set[str] = set()  # of the tools
        self.entered = False  # there is a connection to the database

    def check_entered(self) -> None:
        """Raise ``ConfigError`` if there is no connection to the database."""
        if not self.entered:
            raise ConfigError("durable tools need their database: open the session inside of `with durable:`")


class Durable:
    """The durable tools of one process, and its connection to the database. Enter it before any session is opened.

    ``lease``: seconds after which a process that says nothing counts as dead. ``name``: processes of one name share
    their runs. ``version``: runs are taken over only by processes of the same version; by default it changes with the
    source of the tools. One object a process: DBOS is one.

    ::

        durable = Durable("postgresql://db/agents", lease=10)

        @durable.tool()
        def book(table: int) -> str:
            '''Book a table.'''
            return f"table {table} is booked: {reserve(table)}"  # reserve: @DBOS.step()

        with durable:
            store = durable.store(FileHandleStore("handle"))
            async with connect(MODEL, tools=[book], handle_store=store) as session:
                print(await session.ask("Book table 4."))
    """

    def __init__(
        self,
        database: str = "sqlite:///durable.sqlite",
        *,
        name: str = "livetools",
        lease: float = 30.0,
        version: str | None = None,
    ) -> None:
        checked_seconds(lease, "lease", most=A_YEAR)
        self.executor_id = uuid.uuid4().hex
        self._database, self._name, self._version = database, name, version
        self._leases = Leases(database, self.executor_id, lease, self._take_over)
        self._sources: list[str] = []
        self._stores: WeakKeyDictionary[object, _Store] = WeakKeyDictionary()
        self._threads = DaemonThreads()
        self._house = _House()

    def __enter__(self) -> Self:
        """Connect to the database. Raises ``ConnectFailed`` where that cannot be done, and ``ConfigError`` where the
        installed dbos cannot take over the runs of another process."""
        if not hasattr(DBOS, "_recover_pending_workflows"):
            raise ConfigError(f"this dbos cannot take over the runs of another process: {install('durable')}")
        private(self._database)
        with explained(self._database):
            self._launch()
        self._house.entered = True
        return self

    def _launch(self) -> None:
        version = self._version or hashlib.sha256("\n".join(sorted(self._sources)).encode()).hexdigest()
        DBOS(
            config={
                "name": self._name,
                "system_database_url": self._database,
                "executor_id": self.executor_id,
                "application_version": version,
                "log_level": "ERROR",
                "serializer": JsonOrPickle(),
            }
        )
        try:
            DBOS.launch()
            self._leases.begin()
        except BaseException:
            DBOS.destroy()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Let go: what still runs is taken over by another process when the lease has ended."""
        self._house.entered = False
        self._leases.end()
        DBOS.destroy()
        self._threads.shutdown()

    def tool(self, **options: Any) -> Callable[[Callable[..., Any]], Tool]:  # ToolOptions, and a name
        """A decorator: the function, plain or async, is a workflow, and a :class:`~livetools.Tool`.

        ``options``: as of ``@tool``. It takes no ``ToolContext``, because it may run in a process without its session.
        Its result is stored as JSON, or pickled if it is not JSON.
        """

        def decorate(function: Callable[..., Any]) -> Tool:
            inner = Tool(function, **{key: value for key, value in options.items() if key == "name"})
            made = Tool(self._handler(function, inner), **{**options, "name": inner.name})
            self._house.names.add(inner.name)
            return made

        return decorate

    def store(self, inner: HandleStore) -> HandleStore:
        """A handle store that keeps the conversation's key beside the handle, in ``inner``: one for each session."""
        return _Store(self._house, inner, self._left, self._stores.__setitem__)

    def check_store(self, store: object) -> None:
        """Raise ``ConfigError`` if :meth:`store` did not make ``store``: the runs of the tools would have no name."""
        if not (isinstance(store, _Store) and store.house is self._house):
            names = ", ".join(sorted(self._house.names))
            raise ConfigError(
                f"{names}: durable tools need connect(handle_store=durable.store(...)), which names their runs"
            )

    def _handler(self, function: Callable[..., Any], inner: Tool) -> Callable[..., Any]:
        try:
            self._sources.append(inspect.getsource(function))
        except OSError:
            self._sources.append(inner.name)
        signature = inspect.signature(function)
        if any("ToolContext" in str(p.annotation) for p in signature.parameters.values()):
            raise ToolDefinitionError(
                f"{inner.name}: a durable tool takes no ToolContext: it may outlive its session"
            )
        workflow = _workflow(function, inner)

        @functools.wraps(function)
        def handler(*, livetools_context: ToolContext, **arguments: object) -> object:
            return self._run(workflow, livetools_context)

        context = inspect.Parameter(
            "livetools_context", inspect.Parameter.KEYWORD_ONLY, annotation=ToolContext
        )
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values()]
        handler.__signature__ = signature.replace(parameters=[*parameters, context])  # type: ignore[attr-defined]
        handler.check_store = self.check_store  # type: ignore[attr-defined]  # connect() asks it
        handler.__annotations__ = {**function.__annotations__, "livetools_context": ToolContext}
        return handler

    def _run(self, workflow: Callable[..., Any], context: ToolContext) -> object:
        """Start the run of this call, or attach to it, and wait for its end."""
        self._house.check_entered()
        call, session = context.call, context.session
        store = None if session is None else self._stores.get(session)
        if session is not None and store is None:
            raise ConfigError(
                f"{call.name} is durable: connect(handle_store=durable.store(...)) names its runs"
            )
        key = uuid.uuid4().hex if store is None else store.key
        again = f"-{uuid.uuid4().hex}" if call.id.startswith(UNNAMED) else ""
        with SetWorkflowID(f"{key}/{call.id}{again}"):
            run = DBOS.start_workflow(workflow, dict(call.args))
        ended: Future[object] = self._threads.submit(run.get_result)
        while True:
            try:
                return result_of(ended.result(_LOOK))
            except Waiting:
                if not context.cancelled:
                    continue
            if isinstance(session, Session) and session.stats()["line"] != "closed":
                DBOS.cancel_workflow(run.get_workflow_id())
            raise ToolError("cancelled")  # the session has ended, and another may continue: the run does

    def _take_over(self, executor: str) -> bool:
        """Continue the runs of a process whose lease has ended. Whether none is left."""
        # It takes a run only if it is still that process's. The public `resume_workflow` would begin a second time
        # what another process has taken over a moment ago.
        DBOS._recover_pending_workflows([executor])
        return not DBOS.list_workflows(executor_id=executor, status=["PENDING"], limit=1)

    def _left(self, key: str, told: Collection[str]) -> list[Call]:
        """The calls of this conversation whose results its state does not hold."""
        runs = DBOS.list_workflows(workflow_id_prefix=f"{key}/", sort_desc=False)
        calls = []
        for run in runs:
            id, name = run.workflow_id.partition("/")[2], run.name.removeprefix(PREFIX)
            if id in told or id.startswith(UNNAMED) or run.status in USELESS or run.input is None:
                continue
            calls.append(Call(id, name, run.input["args"][0]))
        return calls


PREFIX = "livetools."


def _workflow(function: Callable[..., Any], inner: Tool) -> Callable[..., Any]:
    """What DBOS runs, and runs again: the arguments are those of the model, as JSON.

    It returns what the function raised, too: DBOS logs the text of what a workflow raises, which may hold anything.
    """

    def bound(args: dict[str, Any]) -> functools.partial[Any]:
        positional, keyword = inner.bind(args, ToolContext(call=Call("", inner.name, args)))
        return functools.partial(function, *positional, **keyword)

    if inspect.iscoroutinefunction(function):

        async def run_async(args: dict[str, Any]) -> dict[str, Any]:
            try:
                return {"value": await bound(args)()}
            except Exception as error:
                return _raised(error, inner.name)

        durable: Callable[..., Any] = DBOS.workflow(name=PREFIX + inner.name)(run_async)
        return durable

    def run(args: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"value": bound(args)()}
        except Exception as error:
            return _raised(error, inner.name)

    durable = DBOS.workflow(name=PREFIX + inner.name)(run)
    return durable  # noqa: RET504  # typed above, for environments without DBOS


def _raised(error: Exception, name: str) -> dict[str, Any]:
    """What is kept of an exception: the text of a ``ToolError``; nothing of any other."""
    if (meant := tool_error(error)) is not None:
        return {"tool_error": str(meant)}
    log.error("the durable tool %s failed: %s", name, place(error), exc_info=detail(error))
    return {"failed": type(error).__name__}


class RunFailed(Exception):
    """The run of a durable tool has failed, in this process or another, whose log says where."""


def result_of(kept: Any) -> Any:
    """The result of a run, by what its workflow returned. Raises what the function raised."""
    match kept:
        case {"value": value}:
            return value
        case {"tool_error": text}:
            raise ToolError(text)
    raise RunFailed(kept["failed"])


def private(database: str) -> None:
    """Make a file of SQLite its owner's alone, before anything is written to it. Raises ``ConfigError``."""
    try:
        url = sa.make_url(database)
    except sa.exc.ArgumentError:
        raise ConfigError(
            "the database's URL is not valid: sqlite:///FILE, or postgresql://HOST/NAME"
        ) from None
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return
    try:
        os.close(os.open(url.database, os.O_CREAT | os.O_RDWR, 0o600))
        os.chmod(url.database, 0o600)
    except OSError as error:
        raise ConfigError(f"the database {url.database} cannot be opened: {error.strerror}") from None


@contextlib.contextmanager
def explained(database: str) -> Iterator[None]:
    """A database that cannot be reached is a ``ConnectFailed``; DBOS's own words of it are not printed."""
    logger = logging.getLogger("dbos")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        url = sa.make_url(database)
        where = url.host or url.database or "it"
        raise ConnectFailed(
            f"the database of the durable tools cannot be used ({type(error).__name__}): check that {where} exists, "
            "and the name, user and password in its URL"
        ) from None
    finally:
        logger.disabled = before


class _Store:
    """The handle, the key of its conversation, and the calls whose results that handle holds, as one text."""

    def __init__(
        self,
        house: _House,
        inner: HandleStore,
        left: Callable[[str, Collection[str]], list[Call]],
        serve: Callable[[object, _Store], None],
    ) -> None:
        self.house, self._inner, self._left, self._serve = house, inner, left, serve
        self._new_key()

    def _new_key(self) -> None:
        self.key = uuid.uuid4().hex
        # Calls that the state of the newest handle knows of.
        self.told: deque[str] = deque(maxlen=_REMEMBERED)
        self._finished: list[str] = []  # since
        self._at: dict[str, tuple[str, list[str]]] = {}  # what belongs to a handle that is still to be saved

    async def load(self) -> str | None:
        """See :class:`HandleStore`."""
        text = await self._inner.load()
        try:
            kept: Any = json.loads(text or "")
            self.key, handle = str(kept["key"]), str(kept["handle"])
            self.told = deque(map(str, kept["told"]), maxlen=_REMEMBERED)
        except (ValueError, TypeError, KeyError, RecursionError):
            return text  # a plain handle: its calls have no key
        return handle

    async def save(self, handle: str) -> None:
        """See :class:`HandleStore`."""
        key, told = self._at.pop(handle, (self.key, list(self.told)))
        await self._inner.save(json.dumps({"key": key, "handle": handle, "told": told}))

    async def left(self) -> Sequence[Call]:
        """See :class:`~livetools.session.handle_store.ConversationStore`."""
        self.house.check_entered()
        return await anyio.to_thread.run_sync(self._left, self.key, self.told)

    def follow(self, session: object) -> None:
        """See :class:`~livetools.session.handle_store.ConversationStore`."""
        self.house.check_entered()
        assert isinstance(session, Session)
        self._serve(session, self)
        listen(session, functools.partial(self._event, session))

    def _event(self, session: Session, event: Event) -> None:
        match event:
            case Reconnected(state_restored=False):
                self._new_key()
            case ToolFinished(call=call) | ToolCancelled(call) if call.name in self.house.names:
                self._finished.append(call.id)
            case HandleUpdate(handle):
                if self._finished and not _unsaved(session):  # else a result may be on its way
                    self.told.extend(self._finished)
                    self._finished.clear()
                self._at = {handle: (self.key, list(self.told))}


def _unsaved(session: Session) -> bool:
    """Whether the newest handle does not hold all of it."""
    try:
        return bool(session.unsaved)
    except LocalProtocolError:  # it is only just being opened
        return True
