"""Turns of the model: which are expected, when ``ask`` is answered, stalls, quiet moments, ``idle``, ``max_seconds``.

``turn_states`` is the state table, ``expected_turns`` the queue, which also tells when a turn stalls. ``exchange`` is
one ``ask`` and what it collects. ``after_resumption`` recognises empty turns that belong to an earlier connection.
``speech_times`` hears who spoke when: it tells when the model may speak unasked, and measures latencies, which
``histogram`` counts. ``idle_and_max_seconds`` ends a session whose time is over.

In: what was sent, what the model said, ends of turns, open calls, the time.
Out: the end of an exchange, a stall, and whether now is a moment to send what can wait.
"""
