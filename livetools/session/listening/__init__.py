"""Code that follows a session: observers, taps on its frames, and the hooks ``on_input`` and ``on_output``.

``listeners`` has those who hear events, sound and texts, and those who hear frames; ``frame_tap`` adds to them from
outside. ``guardrails`` runs the hooks that check the words and may withhold them.

In: events, user input, frames. Out: nothing, except what a guardrail withholds.
A listener that raises is logged and not called again; the session is not affected.
"""
