"""One websocket connection, below its messages: pure, without a socket and an event loop.

``framing`` cuts messages out of bytes and makes frames of them; ``pongs`` knows what came behind which pong, and when a
ping is sent; ``silence`` knows when a line that says nothing is dead.

In: bytes, pongs, and the time, from the adapters of asyncio and trio.
Out: messages, frames, pings, and whether the line counts as dead.
"""
