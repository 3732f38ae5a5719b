"""The table of turns as data: what holds of every state of the model."""

from __future__ import annotations

import pytest

from livetools.protocol.turns.turn_states import TABLE, UNDER_WAY, Model, TurnEffect, TurnEvent


@pytest.mark.parametrize("state", Model)
def test_a_lost_connection_leaves_nothing_expected_in_any_state(state: Model) -> None:
    assert TABLE[state, TurnEvent.LOSE] == (Model.IDLE, (TurnEffect.CLEAR,))


@pytest.mark.parametrize("state", Model)
def test_a_user_turn_is_expected_to_be_answered_behind_the_turn_under_way(state: Model) -> None:
    then, effects = TABLE[state, TurnEvent.PROMPT]
    assert then is state
    assert effects[-1] is TurnEffect.EXPECT
    assert (TurnEffect.PLACE in effects) is (state is not Model.IDLE)


@pytest.mark.parametrize("state", Model)
def test_the_end_of_a_turn_takes_the_first_of_the_queue_and_a_halt_takes_none(state: Model) -> None:
    then, effects = TABLE[state, TurnEvent.END]
    assert then is Model.IDLE
    assert effects[-1] is TurnEffect.POP
    assert TABLE.get((state, TurnEvent.HALT), (Model.CALLING, ())) == (Model.CALLING, ())


def test_a_model_that_waits_for_an_answer_is_not_in_the_middle_of_a_turn() -> None:
    assert {Model.SPEAKING, Model.THINKING} == UNDER_WAY
