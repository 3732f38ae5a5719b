"""One websocket line, below its messages: framing, pings and pongs, and when silence means that it is dead.

``framing`` cuts messages out of bytes and makes frames of them; ``pings`` knows when a ping is sent and what came
behind which pong; ``silence`` knows when a line that says nothing is dead. Pure: no socket, no event loop.

In: bytes, pongs, and the time, from the adapters of asyncio and trio.
Out: messages, frames, pings, and whether the line counts as dead.
"""
