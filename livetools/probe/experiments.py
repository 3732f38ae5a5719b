"""The table of experiments: each line decides some fields of a profile, by one or more short conversations.

The order matters: what a later line needs, an earlier one has found. What no line decides is in :data:`NOT_PROBED`.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import setup_experiments, turn_experiments
from .call_experiments import CALLS
from .experiment_types import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (*setup_experiments.SETUPS, *turn_experiments.TURNS, *CALLS)

#: Field → why no experiment decides it.
NOT_PROBED: Mapping[str, str] = {
    "states_behavior": "a choice of livetools, not of the service",
    "media": "the model may accept a picture and guess what it shows; a person has to look",
    "answers_lost": "needs a call whose connection is lost, and a judgement of the turns after it",
    "closes_lost": "needs a call whose connection is lost, and a judgement of the turns after it",
    "idle_tools": "a tool that is accepted but never used looks like one that was not needed",
    "stream_end_ends_turn": "needs recorded speech",
    "voices": "one session for each of 30 voices; an unknown voice closes with a clear reason",
    "avatar": "needs the name of an avatar that this project may use",
    "everywhere": "a matter of the region; `ModelNotFound` says so",
    "window": "would cost a whole context of tokens",
    "seed": "several ways work on some models; which one keeps function parts takes a judgement",
    "seed_functions": "as `seed`",
    "seed_ends_with_user": "as `seed`",
}
