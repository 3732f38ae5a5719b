"""The price of tokens, from the lists of ``genai-prices``."""

from __future__ import annotations

from collections.abc import Mapping

#: Which kinds of token have a price of their own, and what ``genai-prices`` calls them.
PRICED = {
    "prompt_audio": "input_audio_tokens",
    "prompt_image": "input_image_tokens",
    "prompt_video": "input_video_tokens",
    "cached_audio": "cache_audio_read_tokens",
    "response_audio": "output_audio_tokens",
    "response_image": "output_image_tokens",
}


def load() -> bool:
    """Load the price lists now, so that nothing waits for them later. Whether they are installed."""
    try:
        import genai_prices  # noqa: F401
    except ImportError:
        return False
    return True


def dollars(
    model: str, prompt: int, cached: int, response: int, modalities: Mapping[str, int]
) -> float | None:
    """The price of these tokens in US dollars; ``None`` where it cannot be told.

    ``prompt`` is all input, ``cached`` the part of it that was cached, ``response`` all output; ``modalities`` splits
    them, as in :class:`~.events.Usage`.
    """
    if not (model and load()):
        return None
    import genai_prices

    kinds = {name: modalities[kind] for kind, name in PRICED.items() if modalities.get(kind)}
    try:
        counted = genai_prices.Usage(
            input_tokens=prompt, output_tokens=response, cache_read_tokens=cached or None, **kinds
        )
        price = genai_prices.calc_price(counted, model.rpartition("/")[2], provider_id="google")
    except (LookupError, ValueError):  # an unknown model; counts below 0, or that do not add up
        return None
    return float(price.total_price)
