"""The record of a session: who said what and in which order, calls, tokens.

``transcript`` keeps the conversation within a bound of bytes and gives it back as ``contents``, in the order that a new
session accepts. ``contents`` has the steps and makes the JSON of them, ``placing`` puts the steps in order.
``spoken_text`` finds the words of an answer.

In: events and sent text, as they happen.
Out: ``contents``, text, and statistics. Nothing here influences the session.
"""
