"""JSON on the wire: messages of the server parsed and made into events, messages of ours written.

``incoming`` parses and never raises: a message that does not validate still gives up its calls, by ``salvage``.
``to_events`` makes events of what the server says. ``partial_calls`` joins calls whose arguments arrive in pieces.
``outgoing`` writes every message that is sent. Pure functions, no state of the session.

In: bytes from a connection; values to send.
Out: a ``ServerMessage`` and events; bytes.
"""
