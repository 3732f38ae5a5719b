"""The parts of :func:`livetools.integrations.starlette.relay`, which connects pages to sessions.

``messages`` are the JSON messages between a page and the relay; ``typescript`` writes their types for the client.
``origin`` decides whether a page may open a websocket. ``page`` is one websocket of a page. ``relayed_session`` is a
session and the page that is attached to it. ``input`` carries out what the page sends, ``page_output`` makes what it
receives, and ``event_log`` keeps the events for a page that comes back. ``limits`` has the bounds of all of them.

In: the websocket of a page, an opener of sessions.
Out: the inputs of a session, and messages and sound for the page.
"""
