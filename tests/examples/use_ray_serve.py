"""Runs the example on a Ray of its own, as a page: prints what it saw as JSON. Its environment has Ray."""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from pathlib import Path

import ray
from ray import serve
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from ray_serve import Live

PORT = int(sys.argv[1])


def drain() -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/live/drain", method="POST")
    request.add_header("Authorization", "Bearer secret")
    urllib.request.urlopen(request, timeout=20).close()


async def main() -> dict[str, object]:
    said, code = "", 0
    url = f"ws://127.0.0.1:{PORT}/live/"
    async with connect(url, subprotocols=["livetools.v1"], proxy=None) as page:
        await page.send('{"type": "text", "text": "Oslo"}')
        try:
            async for data in page:
                message = {"type": "sound"} if isinstance(data, bytes) else json.loads(data)
                if message["type"] == "OutputTranscript":
                    said += message["text"]
                elif message["type"] == "TurnComplete":
                    await asyncio.to_thread(drain)
        except ConnectionClosed:
            pass
        code = page.close_code or 0
    return {"said": said, "code": code}


ray.init(include_dashboard=False, num_cpus=4)
serve.start(http_options={"port": PORT})
serve.run(Live.options(num_replicas=1).bind())
print(json.dumps(asyncio.run(main())), flush=True)
serve.shutdown()
