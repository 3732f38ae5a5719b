"""The record of a session: what was said by whom, which calls were made, how long things took.

``transcript`` keeps the conversation within a bound of bytes and gives it back as ``contents``, in the order that a new
session accepts. ``steps`` are its parts. ``words`` finds the spoken text of an answer. ``latency`` measures, and
``token_count`` adds up.

In: events and sent text, as they happen.
Out: ``contents``, text, and statistics. Nothing here influences the session.
"""
