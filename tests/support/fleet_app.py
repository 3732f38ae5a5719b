"""What each process of the fleet serves: ``python fleet_app.py MODEL_URL REDIS_URL``.

It imports once, and forks: ``start PORT`` on its standard input answers with the id of a process that serves the port,
``wait ID`` with the exit code of one that has ended.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys

import redis
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

import livetools
from livetools.integrations.drain import Drain
from livetools.integrations.redis import RedisHandleStore
from livetools.integrations.starlette import relay

MODEL_URL, REDIS_URL = sys.argv[1:]
client = redis.Redis.from_url(REDIS_URL)


async def order(number: str) -> str:
    """Take an order."""
    client.incr(f"runs:{number}")
    await asyncio.sleep(0.15)
    client.incr(f"done:{number}")
    return number


drain = Drain(within=10)
agent = functools.partial(livetools.connect, "gemini-3.8-live", tools=[order], base_url=MODEL_URL)
live = relay(
    agent, stores=lambda token: RedisHandleStore(client, f"handle:{token}"), drain=drain, drain_token="secret"
)
app = Starlette(routes=[Mount("/live", live)], lifespan=drain.lifespan)


def main() -> None:
    for line in sys.stdin:
        command, number = line.split()
        if command == "wait":
            print(os.waitstatus_to_exitcode(os.waitpid(int(number), 0)[1]), flush=True)
        elif (pid := os.fork()) == 0:
            uvicorn.run(app, port=int(number), log_level="warning", ws="websockets-sansio", loop="asyncio")
            os._exit(0)
        else:
            print(pid, flush=True)


if __name__ == "__main__":
    main()
