"""The price of tokens, from the lists of ``genai-prices``."""

from __future__ import annotations

from types import ModuleType

#: Which kinds of token have a price of their own, and what ``genai-prices`` calls them.
PRICED = {
    "prompt_audio": "input_audio_tokens",
    "prompt_image": "input_image_tokens",
    "prompt_video": "input_video_tokens",
    "cached_audio": "cache_audio_read_tokens",
    "response_audio": "output_audio_tokens",
    "response_image": "output_image_tokens",
}


def load() -> ModuleType | None:
    """``genai_prices``, with its lists: loaded now, so that nothing waits for them later. ``None``: not installed."""
    try:
        import genai_prices
    except ImportError:
        return None
    return genai_prices
