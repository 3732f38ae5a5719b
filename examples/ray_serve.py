"""Pages on Ray Serve: replicas that Ray starts, spreads over machines and replaces.

Start it with `serve run examples.ray_serve:live` beside a Redis (REDIS_URL), and open http://127.0.0.1:8000/live/.

Ray calls nothing in a replica before it takes it away, and its proxy keeps a websocket with the replica that took it.
So whoever rolls out asks the replicas to let their conversations go first: `POST /live/drain`, until each has answered.
Where pages come in great numbers, uvicorn behind a balancer carries far more: see docs/scale.md.
"""

import os
from functools import partial

from fastapi import FastAPI
from ray import serve

from livetools import connect
from livetools.integrations.drain import Drain
from livetools.integrations.redis import RedisHandleStore
from livetools.integrations.starlette import relay

REDIS = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
MODEL_URL = os.environ.get("MODEL_URL")  # of a pretend model; None: the service


def get_weather(city: str) -> str:
    """Current weather in a city."""
    return f"12 °C and rain in {city}"


def store(conversation: str) -> RedisHandleStore:
    """Where the handle of a conversation is kept, for whichever replica goes on with it."""
    return RedisHandleStore(REDIS, f"handle:{conversation}")


def build() -> FastAPI:
    """The app of one replica: made in it, for what it holds cannot be pickled."""
    agent = partial(connect, "gemini-3.8-live", tools=[get_weather], base_url=MODEL_URL)
    drain = Drain(within=60)
    app = FastAPI(lifespan=drain.lifespan)
    app.mount("/live", relay(agent, stores=store, drain=drain, drain_token=os.environ.get("DRAIN_TOKEN")))
    return app


@serve.deployment(num_replicas=2, max_ongoing_requests=200)
@serve.ingress(build)
class Live:
    """A replica. `max_ongoing_requests` are its pages: each one's websocket is a request that lasts."""


live = Live.bind()
