"""Code that follows a session without being part of it.

``observers`` are hooks for a whole session, ``listener`` and ``tap`` follow its events, sound and frames.
``guardrails`` runs the hooks that check what is said and may withhold it.

In: events, user input, frames. Out: nothing, except what a guardrail withholds.
A listener that raises is logged and not called again; it never costs the session anything.
"""
