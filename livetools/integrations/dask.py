"""Runs tools on a Dask cluster, so that long computations do not load the machine that talks.

::

    client = distributed.Client("tcp://scheduler:8786")

    @tool(executor=executor(client), timeout=300)
    def simulate(steps: int) -> float:
        '''Simulate something for many steps.'''
        ...

Start the scheduler with ``DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0``. By default it runs the call of a dead
worker again, up to three times; livetools runs a call at most once. Needs ``pip install 'PATH/TO/CLONE[dask]'``.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from functools import partial
from typing import Any, ParamSpec, Protocol, TypeVar

from livetools.errors import ConfigError

P = ParamSpec("P")
T = TypeVar("T")


class DaskClient(Protocol):
    """What is used of a ``distributed.Client``."""

    @property
    def asynchronous(self) -> bool: ...
    def submit(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any: ...
    def run_on_scheduler(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any: ...


def executor(client: DaskClient) -> Executor:
    """An executor for ``@tool(executor=...)``: each call is a task of the cluster, and runs once, on any free worker.

    The function and its arguments are pickled; it cannot take a ``ToolContext``. If the worker dies or the scheduler is
    gone, the model gets an error. A call that is cancelled or times out is withdrawn if no worker has begun it;
    otherwise it is abandoned, and its result ignored. livetools cannot tell which, so ``undo`` is called for both.

    You close ``client`` yourself. Raises ``ConfigError`` for an asynchronous client, and for a cluster whose
    ``distributed.scheduler.allowed-failures`` is not 0.

    ::

        client = distributed.Client("tcp://scheduler:8786")

        @tool(executor=executor(client), timeout=300)
        def simulate(steps: int) -> float:
            '''Simulate something for many steps.'''
            return model.run(steps)

        async with connect(MODEL, tools=[simulate]) as session:
            print(await session.ask("What is the result of a million steps?"))
    """
    if client.asynchronous:
        raise ConfigError(
            "the Dask client is asynchronous, and calls are handed over by threads: Client(...) without asynchronous="
        )

    def allowed(
        dask_scheduler: Any,
    ) -> int:  # in here it is pickled by value: the scheduler needs no livetools
        return int(dask_scheduler.allowed_failures)

    if failures := client.run_on_scheduler(allowed):
        raise ConfigError(
            f"distributed.scheduler.allowed-failures is {failures}: a call whose worker dies would run again. Start "
            "the scheduler with DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0"
        )
    return _DaskExecutor(client)


class _DaskExecutor(Executor):
    """Submits to a client. Dask's own executor merges equal calls, and takes some arguments for its own."""

    def __init__(self, client: DaskClient) -> None:
        self._client = client

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Hand it to the cluster."""
        name = f"{getattr(fn, '__name__', 'call')}-{uuid.uuid4().hex}"
        call = partial(fn, *args, **kwargs)
        remote = self._client.submit(call, key=name, pure=False, retries=0)
        return _Submitted(remote)


class _Submitted(Future[T]):
    """A task of the cluster, which may be abandoned at any time."""

    def __init__(self, remote: Any) -> None:
        super().__init__()
        self._remote = remote  # released by Dask as soon as nobody holds it
        self.set_running_or_notify_cancel()
        remote.add_done_callback(self._ended)

    def cancel(self) -> bool:
        """Withdraw it, or give it up. False: it may have begun."""
        if not self.done():
            self._end(error=CancelledError())
            self._remote.cancel()
        return False

    def _ended(self, remote: Any) -> None:
        if self.done():
            return  # it was abandoned
        try:
            value = remote.result()
        except BaseException as error:
            self._end(error=error)
        else:
            self._end(value)

    def _end(self, value: T | None = None, error: BaseException | None = None) -> None:
        with contextlib.suppress(InvalidStateError):  # the cancellation, or the end, was faster
            self.set_result(value) if error is None else self.set_exception(error)  # type: ignore[arg-type]
