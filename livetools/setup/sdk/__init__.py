"""What google-genai says of a configuration and of messages, without importing it.

``tables`` reads the generated ``tables.json``: types, enums, and what google-genai's converter to each API refuses or
renames. ``values`` checks a configuration by it. ``spelling`` is the way between ``snake_case`` and ``camelCase``.

In: the fields of a configuration or of a message.
Out: the same fields, read as google-genai's types read them. Raises ``ConfigError`` for what they refuse.
"""
