"""JSON on the wire: server messages in, client messages out. Pure functions, no state of the session.

``frames`` parses a message and never raises: a message that does not validate still gives up its calls, by ``salvage``.
``content`` makes events of what the server says. ``partial_calls`` joins calls whose arguments arrive in pieces.
``outgoing`` writes every message that is sent.

In: bytes from a connection; values to send.
Out: a ``ServerMessage`` and events; bytes.
"""
