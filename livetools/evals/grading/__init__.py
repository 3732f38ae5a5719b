"""Grades a recorded conversation: by its calls, by its words, or by a model that reads it.

``expectations`` has a class for each thing that an eval can expect. ``argument_matching`` compares the arguments of a
call: by value, by a matcher, or by a JSON Schema. ``judge`` asks a Gemini model for its opinion, and knows whether
models are pretend ones in this run, as they are offline.

In: a ``Conversation``, and what is expected of it.
Out: a ``Verdict`` for each expectation, which says why the conversation does not meet it.
"""
