"""What google-genai's types say of names and values in a configuration and in messages, without importing it.

``generated_tables`` reads ``tables.json``: types, enums, and what google-genai's converter to each API refuses or
renames. ``config_values`` checks a configuration by it. ``camel_case`` is the way to and from ``snake_case``.

In: the fields of a configuration or of a message.
Out: the same fields, read as google-genai's types read them. Raises ``ConfigError`` for what they refuse.
"""
