"""``attach`` and ``declare``: tools, approvals and hand-offs beside a session that google-genai has opened and keeps.

The SDK keeps the connection, the turns and the user's input. This folder reads the calls out of its messages, which
pass through unchanged, runs the tools and writes the responses. ``attached_machine`` is the pure part, as
``livetools.protocol`` is for a session of our own; ``sdk_session`` alone knows the SDK's session object.

In: an open session of google-genai, and tools.
Out: the SDK's own messages, and the answers to their calls.
"""
