"""What tokens cost."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from livetools.events import Usage
from livetools.protocol.messages.to_events import usage

LIVE = "models/gemini-3.8-live"
MILLION = 1_000_000


@pytest.mark.parametrize(
    ("tokens", "price"),
    [
        (Usage(prompt_tokens=MILLION, total_tokens=MILLION, model=LIVE), 0.75),
        (Usage(response_tokens=MILLION, total_tokens=MILLION, model=LIVE), 4.5),
        (Usage(thoughts_tokens=MILLION, total_tokens=MILLION, model=LIVE), 4.5),
        (Usage(tool_use_tokens=MILLION, total_tokens=MILLION, model=LIVE), 0.75),
        (Usage(MILLION, 0, MILLION, modalities={"prompt_audio": MILLION}, model=LIVE), 3.0),
        (Usage(0, MILLION, MILLION, modalities={"response_audio": MILLION}, model=LIVE), 12.0),
        (Usage(MILLION, 0, MILLION, modalities={"prompt_audio": MILLION // 2}, model=LIVE), 1.875),
    ],
    ids=["text in", "text out", "thoughts", "tools", "audio in", "audio out", "half of it audio"],
)
def test_each_kind_of_token_has_its_price(tokens, price):
    assert tokens.cost == pytest.approx(price)


@pytest.mark.parametrize(
    "model",
    [
        "models/gemini-3.1-flash-live-preview",
        "models/gemini-2.5-flash-native-audio-preview-12-2025",
        "projects/p/locations/us-central1/publishers/google/models/gemini-live-2.5-flash",
    ],
)
def test_the_families_have_prices(model):
    assert Usage(1000, 1000, 2000, model=model).cost > 0


@pytest.mark.parametrize(
    "tokens",
    [
        Usage(model=LIVE),
        Usage(1, 1, 2),
        Usage(1, 1, 2, model="models/nobody-knows-this-one"),
        Usage(1, 1, 2, modalities={"response_audio": 5}, model=LIVE),
        Usage(-1, 1, 2, model=LIVE),
    ],
    ids=[
        "nothing was counted",
        "no model",
        "an unknown model",
        "kinds that do not add up",
        "less than nothing",
    ],
)
def test_what_cannot_be_told_is_none(tokens):
    assert tokens.cost is None


def test_without_the_package_there_is_no_price(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Usage(1, 1, 2, model=LIVE).cost is None


def test_the_kinds_are_read_in_either_casing_and_summed():
    gemini = usage(
        {
            "promptTokenCount": 522,
            "responseTokenCount": 42,
            "totalTokenCount": 564,
            "promptTokensDetails": [
                {"modality": "TEXT", "tokenCount": 332},
                {"modality": "AUDIO", "tokenCount": 165},
            ],
            "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 42}],
        }
    )
    vertex = usage(
        {
            "prompt_token_count": 8,
            "total_token_count": 8,
            "prompt_tokens_details": [{"modality": "AUDIO", "token_count": 8}, {"modality": 5}, "x", {}],
            "candidates_tokens_details": "none",
        }
    )
    assert gemini.modalities == {"prompt_text": 332, "prompt_audio": 165, "response_audio": 42}
    total = replace(gemini, model=LIVE) + vertex
    assert total.modalities == {"prompt_text": 332, "prompt_audio": 173, "response_audio": 42}
    assert (total.model, total.prompt_tokens) == (LIVE, 530)
