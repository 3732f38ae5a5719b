"""Who is alive: each process renews a lease in the database, and looks whether that of another has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import sqlalchemy as sa

from livetools.log import get_logger

log = get_logger("livetools.calls")

_TABLE = sa.Table(
    "livetools_leases",
    sa.MetaData(),
    sa.Column("executor_id", sa.String(64), primary_key=True),
    sa.Column("until", sa.Float, nullable=False),
)


class Leases:
    """The lease of this process, renewed three times in its length by a thread. The database's clock counts.

    ``take_over(executor)`` is called for each other process whose lease has ended, until it says that nothing of it is
    left. Several processes may do so at once.
    """

    def __init__(
        self, database: str, executor_id: str, seconds: float, take_over: Callable[[str], bool]
    ) -> None:
        self._database, self._id, self._seconds = database, executor_id, seconds
        self._take_over = take_over
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Take the lease: from now on it is renewed. Raises what the database raises."""
        url = _url(self._database)
        # DBOS writes to it too.
        wait = {"timeout": 30} if url.drivername.startswith("sqlite") else {}
        self._engine = sa.create_engine(url, connect_args=wait)
        self._make_table()
        self._renew()
        self._thread = threading.Thread(target=self._run, name="livetools lease", daemon=True)
        self._thread.start()

    def _make_table(self) -> None:
        try:
            _TABLE.metadata.create_all(self._engine)
        except sa.exc.DBAPIError:  # another process that starts just now has made it after we looked
            if not sa.inspect(self._engine).has_table(_TABLE.name):
                raise

    def end(self) -> None:
        """Stop renewing it, so that it expires: what this process runs may continue for a moment."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._engine.dispose()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds / 3):
            try:
                self._renew()
                for executor in self._ended():
                    if self._take_over(executor):
                        self._forget(executor)
            except Exception:  # the database is away: it is tried again
                log.exception("the lease of this process could not be renewed")

    def _renew(self) -> None:
        with self._engine.begin() as connection:
            until = self._now(connection) + self._seconds
            mine = _TABLE.c.executor_id == self._id
            if not connection.execute(_TABLE.update().where(mine).values(until=until)).rowcount:
                connection.execute(_TABLE.insert().values(executor_id=self._id, until=until))

    def _ended(self) -> list[str]:
        """Never this process itself, which may have been stopped for longer than its lease since it renewed that."""
        with self._engine.begin() as connection:
            over = (_TABLE.c.until < self._now(connection)) & (_TABLE.c.executor_id != self._id)
            return list(connection.execute(sa.select(_TABLE.c.executor_id).where(over)).scalars())

    def _forget(self, executor: str) -> None:
        with self._engine.begin() as connection:
            over = _TABLE.c.until < self._now(connection)
            connection.execute(_TABLE.delete().where(_TABLE.c.executor_id == executor, over))

    def _now(self, connection: sa.Connection) -> float:
        """Of one clock for all: the database's, or this machine's for a file on it."""
        if connection.dialect.name == "sqlite":
            return time.time()
        return float(connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


def _url(database: str) -> sa.URL:
    """The URL as DBOS reads it: PostgreSQL through psycopg 3."""
    url = sa.make_url(database)
    return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgres", "postgresql") else url
