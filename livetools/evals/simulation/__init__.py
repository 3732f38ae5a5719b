"""Simulates the user, and what goes wrong on the user's side.

``callers`` are a script, and a persona that a Gemini model plays, in text or in speech. ``client_faults`` are a lost
connection, a slow tool, and a caller who interrupts: they work against any server, the real one too.

In: what the caller says, or is to achieve; the conversation so far; which faults are wanted.
Out: the caller's next utterance; a transport and hooks that do what the faults say.
"""
