"""Connections: where a session is dialled, as whom, and how whole messages get in and out.

``contract`` is what a session needs of a transport; users may bring their own. ``websocket`` is the default: it uses
``websockets``, with one adapter for asyncio and one for trio. ``endpoint`` and ``credentials`` decide the URL and the
headers of each dial.

In: an endpoint, frames to send.
Out: received messages, and ``Gone(code, reason)`` at the end of a connection, whatever ended it.
Raises: the errors of a dial, which ``websocket_errors`` makes of those of ``websockets``. Nothing here knows what a
frame means.
"""
