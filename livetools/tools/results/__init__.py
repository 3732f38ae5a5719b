"""Results: what a tool returned or raised becomes a JSON object for the model, and media beside it.

``outcomes`` makes the outcome of a call. ``to_json`` turns any Python value into JSON that a model can read, ``media``
recognises images, sound and files and makes parts of them, ``truncation`` cuts a response that is too long.
``tool_result`` is ``ToolResult``: a return value with scheduling, media, a hand-off, or the end of the session.

In: any Python value, or an exception.
Out: an ``Outcome`` with a JSON object and parts. Nothing raises: a call without an answer leaves the model waiting.
"""
