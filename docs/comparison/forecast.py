"""What every agent of this page asks for the weather. It takes half a second; ``FAILS`` makes it raise."""

import asyncio
import os
from pathlib import Path

runs = Path(os.environ.get("RUNS", os.devnull))


def count(city: str) -> None:
    with runs.open("a") as file:
        file.write(f"{city}\n")


async def forecast(city: str) -> str:
    count(city)
    if "FAILS" in os.environ:
        raise RuntimeError("db.internal: password hunter2 was refused")
    await asyncio.sleep(0.5)
    return "12 °C, rain"
