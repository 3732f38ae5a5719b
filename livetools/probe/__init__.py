"""Asks the service itself how a model behaves, one small conversation for each fact of a :class:`ModelProfile`.

``experiments`` is the table: which facts, what is sent, how the outcome is read. ``runner`` plays it on raw
connections, without a session, because a session would follow the profile that is to be tested. ``report`` compares
the answers with the known profile and writes one to paste; ``price`` says beforehand what it costs.

In: an endpoint, a dialer, a clock, a model's name.
Out: for each fact an ``Answer`` with what was seen, or ``Undecided`` with the reason.
Raises: the errors of a dial, and of a close that says that the key, the quota or the model is at fault.
"""

from .cost_estimate import Estimate, estimate
from .experiment_types import Answer, Experiment, Facts, Step, Talk, Undecided
from .experiments import EXPERIMENTS, NOT_PROBED
from .report import Report
from .runner import Probe

__all__ = [
    "EXPERIMENTS",
    "NOT_PROBED",
    "Answer",
    "Estimate",
    "Experiment",
    "Facts",
    "Probe",
    "Report",
    "Step",
    "Talk",
    "Undecided",
    "estimate",
]
