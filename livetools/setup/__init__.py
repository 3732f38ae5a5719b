"""From what a user passes to what is sent first: checks, defaults and the setup message. Pure.

``plan`` joins a model's profile with the options of ``connect`` and the declarations of its tools. Everything that the
service would refuse is refused here, before a connection is dialled.

In: a model name, a config (google-genai's, or its dict), options, function declarations.
Out: a ``Plan``: the setup message, a ``CallPolicy`` for each tool, and every decision that depends on the model.
Raises: ``ConfigError``, which says what to write instead.

``profiles`` holds the facts about each model family, with their dates; only ``plan`` reads them.
``sdk`` holds what google-genai's types and converters say.
"""
