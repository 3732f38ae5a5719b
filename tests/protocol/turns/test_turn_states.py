"""The table of turns as data: what holds of every state of the model."""

from __future__ import annotations

import pytest

from livetools.protocol.turns.turn_states import TABLE, UNDER_WAY, Model, TurnEvent


@pytest.mark.parametrize("state", Model)
def test_the_end_of_a_turn_leaves_the_model_idle_and_a_halt_leaves_its_call(state: Model) -> None:
    assert TABLE.get((state, TurnEvent.END), state) is Model.IDLE
    assert TABLE.get((state, TurnEvent.HALT), Model.CALLING) is Model.CALLING


def test_every_move_leads_to_another_state() -> None:
    assert not [(state, on) for (state, on), to in TABLE.items() if to is state]


def test_a_model_that_waits_for_an_answer_is_not_in_the_middle_of_a_turn() -> None:
    assert {Model.SPEAKING, Model.THINKING} == UNDER_WAY
