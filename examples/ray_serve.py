"""The relay on Ray Serve, which starts replicas, spreads them over machines and replaces them.

Start it with `serve run examples.ray_serve:live` beside a Redis (REDIS_URL), and open http://127.0.0.1:8000/live/.

Ray stops a replica without telling it, and its proxy keeps a websocket with the replica that accepted it. So before you
roll out, call `POST /live/drain` until each replica has answered: each then parks its conversations. For a great number
of pages, uvicorn behind a load balancer carries far more: see docs/scale.md.
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
    """The store of a conversation's handle, from which any replica can resume it."""
    return RedisHandleStore(REDIS, f"handle:{conversation}")


def build() -> FastAPI:
    """The app of one replica. Made in the replica, because it cannot be pickled."""
    agent = partial(connect, "gemini-3.8-live", tools=[get_weather], base_url=MODEL_URL)
    drain = Drain(within=60)
    app = FastAPI(lifespan=drain.lifespan)
    app.mount("/live", relay(agent, stores=store, drain=drain, drain_token=os.environ.get("DRAIN_TOKEN")))
    return app


@serve.deployment(num_replicas=2, max_ongoing_requests=200)
@serve.ingress(build)
class Live:
    """A replica. `max_ongoing_requests` limits its pages: each websocket is one long request."""


live = Live.bind()
