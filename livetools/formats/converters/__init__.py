"""Converters: from one form of the same thing to another.

``openai_and_anthropic`` converts tools, calls and results between Gemini's format and those of OpenAI and Anthropic.
``repair_conversation`` makes of a list of contents one that the service accepts, without inventing results.

In: JSON in one format, or a conversation with gaps.
Out: JSON in the other, or the repaired conversation, with what was lost or changed.
"""
