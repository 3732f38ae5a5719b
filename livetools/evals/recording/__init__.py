"""The record of a conversation: what was said and called, and when, as the caller saw it.

``conversation_record`` is the record; the reports, the expectations and the judges read nothing else.
``event_recorder`` fills it while the conversation runs.

In: the events of a session, and the calls of its tools, in the order in which they happen.
Out: a ``Conversation`` of turns, calls and notes.
"""
