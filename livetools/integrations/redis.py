"""Keeps the handle of a session in Redis, so that another process, on any machine, can resume the conversation.

::

    store = RedisHandleStore("redis://localhost", key=f"conversation:{user_id}")
    async with livetools.connect(model, handle_store=store) as session: ...

One key is one conversation, used by one session at a time: two sessions with the same key overwrite each other's
handle. Needs the extra ``redis``.
"""

from __future__ import annotations

import math
from functools import partial

import anyio.to_thread

from livetools.setup.install_hints import install

try:
    import redis
    from redis.asyncio import Redis as AsyncRedis
    from redis.asyncio import RedisCluster as AsyncCluster
except ImportError as error:
    raise ImportError(f"RedisHandleStore needs redis-py: {install('redis')}") from error

from livetools.errors import ConfigError

from .shared.option_checks import A_YEAR, checked_seconds, checked_text

#: Seconds that a handle is good for, once its connection has ended (ai.google.dev, session management, 2026-09).
LIFETIME = 2 * 3600.0
#: Seconds that a client made from a URL waits for the server.
_PATIENCE = 5.0


class RedisHandleStore:
    """Keeps the newest handle under ``key``, for ``lifetime`` seconds after it was saved.

    ``client`` is a URL (``redis://``, ``rediss://``, ``unix://``), or a redis-py client, which you close yourself:
    ``redis.Redis`` (used in a thread; for asyncio and trio) or ``redis.asyncio.Redis`` (for asyncio), or a
    ``RedisCluster`` of either. Anybody who can read the key can resume the conversation. Raises ``ConfigError`` for a
    ``lifetime`` that is not a number of seconds above 0, or is more than a year, for a ``key`` that is no text, and for
    a ``client`` of another kind.

    ::

        store = RedisHandleStore("redis://localhost", key="conversation:ann", lifetime=7200)
        session = connect(MODEL, handle_store=store)  # entering it resumes the conversation, if there is one
        print(session.model)
    """

    def __init__(
        self,
        client: str | redis.Redis | redis.RedisCluster | AsyncRedis | AsyncCluster,
        key: str,
        *,
        lifetime: float = LIFETIME,
    ) -> None:
        checked_seconds(lifetime, "lifetime", most=A_YEAR)
        checked_text(key, "key")
        if not key:
            raise ConfigError(f"key={key!r:.40}: expected a text, such as 'conversation:ann'")
        if not isinstance(client, str | redis.Redis | redis.RedisCluster | AsyncRedis | AsyncCluster):
            raise ConfigError(f"client is a {type(client).__name__}: expected a URL, or a client of redis-py")
        if isinstance(client, str):
            client = redis.Redis.from_url(client, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE)
        self._client, self.key, self._lifetime = client, key, math.ceil(lifetime)

    async def load(self) -> str | None:
        """The handle that was saved last, unless its time is up. Raises ``redis.RedisError``.

        Cancelling waits for Redis's answer where the client is a synchronous one.
        """
        client = self._client
        if isinstance(client, AsyncRedis | AsyncCluster):
            handle = await client.get(self.key)
        else:
            handle = await anyio.to_thread.run_sync(client.get, self.key)
        return handle.decode(errors="replace") if isinstance(handle, bytes) else handle

    async def save(self, handle: str) -> None:
        """Keep this handle in place of the last one. Raises ``redis.RedisError``; cancelling as in :meth:`load`."""
        client = self._client
        if isinstance(client, AsyncRedis | AsyncCluster):
            await client.set(self.key, handle, ex=self._lifetime)
        else:
            await anyio.to_thread.run_sync(partial(client.set, self.key, handle, ex=self._lifetime))
