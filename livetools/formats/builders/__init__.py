"""Builders: JSON in the form that the service expects, from plain values.

``function_responses`` builds answers to calls, for Live and for ``generateContent``; it also checks one, by the same
knowledge. ``generate_content`` builds what ``generateContent`` returns: texts, calls, refusals, errors, streams.

In: texts, values, calls.
Out: dicts, ready for ``json.dumps``, which pass the checks.
"""
