"""Connections to the service: its URL, keys and credentials, proxies, and the websocket on asyncio and on trio.

``contract`` is what a session needs of a transport; users may bring their own. ``websocket`` is the default, by
``websockets``; what both loops share is in ``websocket_connection``. ``endpoint`` and ``credentials`` decide the URL
and the headers of each dial, ``proxy_and_address`` the way that it goes.

In: an endpoint, frames to send. Nothing here knows what a frame means.
Out: received messages, and ``Gone(code, reason)`` at the end of a connection, whatever ended it.
Raises: the errors of a dial, which ``connection_errors`` makes of those of ``websockets``.
"""
