"""The price of a conversation in US dollars, from the lists of ``genai-prices``."""

from __future__ import annotations

from collections.abc import Mapping
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


def estimate(model: str, counts: Mapping[str, int], kinds: Mapping[str, int]) -> float | None:
    """The price of the ``counts`` of a ``Usage``, of which ``kinds`` are not text. ``None``: no price is known."""
    lists = load()
    if lists is None:
        return None
    apart = {name: kinds[kind] for kind, name in PRICED.items() if kinds.get(kind)}
    # Thoughts are billed as output, and what tools bring as input (ai.google.dev/pricing, 2026-09).
    try:
        counted = lists.Usage(
            input_tokens=counts["prompt_tokens"] + counts["tool_use_tokens"],
            output_tokens=counts["response_tokens"] + counts["thoughts_tokens"],
            cache_read_tokens=counts["cached_tokens"] or None,
            **apart,
        )
        return float(lists.calc_price(counted, model.rpartition("/")[2], provider_id="google").total_price)
    except (LookupError, ValueError):  # an unknown model; counts below 0, or that do not add up
        return None
