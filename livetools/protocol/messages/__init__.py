"""JSON on the wire: messages of the server parsed and made into events, messages of ours written.

``typed_decoders`` reads what nearly all messages are, and ``incoming`` every other one; it never raises: a message with
broken pieces still gives up its calls. ``field_values`` reads its objects by google-genai's types, ``lenient_json``
their JSON. ``to_events`` makes events of what the server says. ``partial_calls`` joins calls whose arguments arrive in
pieces.
``outgoing`` writes every message that is sent. Pure functions, no state of the session.

In: bytes from a connection; values to send.
Out: a ``ServerMessage`` and events; bytes.
"""
