"""The connection: dials and setup, planned moves at a goAway, what closes and HTTP statuses mean, retries, parking.

``connection_states`` is the state table; ``dials_and_moves`` carries out its transitions. ``close_codes`` says what a
close means and whether to retry, ``http_statuses`` the same of a status; ``reconnect_policy`` says how often and how
fast. ``parking`` says when nothing would be lost by leaving.

In: opened and closed connections, goAway, handles, the time, and a snapshot of what the session is in the middle of.
Out: actions (dial, hang up, end) and events (reconnecting, reconnected).
"""
