"""Turns: whether the model is expected to speak, when a question is answered, when silence is a stall.

``table`` is the state table of turns. ``exchange`` is one ``ask`` and what it collects. ``stale`` recognises empty
turns that belong to an earlier connection. ``quiet`` tells when the model may speak without being asked.

In: what was sent, what the model said, ends of turns, open calls, the time.
Out: the end of an exchange, a stall, and whether now is a moment to send what can wait.
"""
