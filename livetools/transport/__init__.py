"""Connections to the service: its URL, keys and credentials, proxies, and the websocket on asyncio and on trio.

``contract`` is what a session needs of a transport; users may bring their own. ``websocket`` is the default, by
``websockets``: its connections are in ``on_asyncio`` and ``on_trio``, what both share is in ``websocket_connection``.
``line`` is the websocket protocol below messages, ``loop`` what the two event loops do differently. ``endpoint`` and
``credentials`` decide the URL and the headers of each dial, ``proxy_and_address`` the way that it goes;
``setup_timeout`` says how far it got.

In: an endpoint, frames to send. Nothing here knows what a frame means.
Out: received messages, and ``Gone(code, reason)`` at the end of a connection, whatever ended it.
Raises: the errors of a dial, which ``connection_errors`` makes of those of ``websockets``.
"""
