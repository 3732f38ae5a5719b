"""The price of tokens, from the lists of ``genai-prices``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Counted(Protocol):
    """What has a price: :class:`~.events.Usage`."""

    @property
    def model(self) -> str: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def response_tokens(self) -> int: ...
    @property
    def thoughts_tokens(self) -> int: ...
    @property
    def tool_use_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def total_tokens(self) -> int: ...
    @property
    def modalities(self) -> Mapping[str, int]: ...


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


def dollars(usage: Counted) -> float | None:
    """The price of these tokens in US dollars; ``None`` where it cannot be told.

    Thoughts are billed as output, and what tools bring as input (ai.google.dev/pricing, 2026-09).
    """
    if not (usage.model and usage.total_tokens):
        return None
    if not load():
        return None
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    kinds = {name: usage.modalities[kind] for kind, name in PRICED.items() if usage.modalities.get(kind)}
    counted = Priced(
        input_tokens=usage.prompt_tokens + usage.tool_use_tokens,
        output_tokens=usage.response_tokens + usage.thoughts_tokens,
        cache_read_tokens=usage.cached_tokens or None,
        **kinds,
    )
    try:
        price = calc_price(counted, usage.model.rpartition("/")[2], provider_id="google")
    except (LookupError, ValueError):  # an unknown model; kinds that do not add up
        return None
    return float(price.total_price)
