"""Ephemeral tokens: how often, how long, and for what."""

from __future__ import annotations

from livetools.testing.auth.ephemeral_tokens import Tokens


def test_a_token_is_spent_by_opening_and_not_by_resuming():
    tokens = Tokens()
    name = tokens.mint("auth_tokens/a", now=0.0, uses=1)
    assert tokens.fault(name, 0.0) is None
    tokens.spend(name, {"sessionResumption": {"handle": "h"}})
    assert tokens.fault(name, 0.0) is None
    tokens.spend(name, {})
    fault = tokens.fault(name, 0.0)
    assert fault is not None
    assert (fault.code, fault.reason) == (1011, "Token has been used too many times")


def test_zero_uses_are_any_number():
    tokens = Tokens()
    name = tokens.mint("auth_tokens/a", now=0.0, uses=0)
    for _ in range(5):
        tokens.spend(name, {})
    assert tokens.fault(name, 0.0) is None


def test_a_constrained_field_replaces_the_clients():
    tokens = Tokens()
    name = tokens.mint("auth_tokens/a", now=0.0, setup={"model": "models/locked"})
    assert tokens.constrain(name, {"model": "models/mine", "labels": {}}) == {
        "model": "models/locked",
        "labels": {},
    }
    assert tokens.constrain("a-key", {"model": "models/mine"}) == {"model": "models/mine"}


def test_an_unknown_token_is_no_key_and_a_key_is_no_token():
    fault = Tokens().fault("auth_tokens/none", 0.0)
    assert fault is not None
    assert fault.code == 1007
    assert Tokens().fault("AIza", 0.0) is None
    assert Tokens().fault(None, 0.0) is None
