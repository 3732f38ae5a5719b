"""The metrics of sessions, in OpenTelemetry's GenAI conventions."""

from __future__ import annotations

from typing import Final

from opentelemetry import context, metrics
from opentelemetry.context import Context

from livetools.events import Usage

from .attributes import Attributes, by_kind

#: The conventions' boundaries of durations, in seconds, and of tokens.
_SECONDS: Final = tuple(0.01 * 2**n for n in range(14))
TOKENS: Final = tuple(4**n for n in range(14))

_SLOW: Final = _SECONDS[0]  # from which on the runs of tools have exemplars
_NO_SPAN: Final = context.set_value("livetools", True, Context())  # an empty one would mean the current one


class Instruments:
    """One set of instruments, for any number of sessions."""

    def __init__(self, meter: metrics.Meter) -> None:
        def seconds(name: str, description: str) -> metrics.Histogram:
            return meter.create_histogram(
                name, unit="s", description=description, explicit_bucket_boundaries_advisory=_SECONDS
            )

        self._tool = seconds("gen_ai.execute_tool.duration", "The duration of a single tool execution.")
        self.turn = seconds(
            "gen_ai.client.operation.duration", "From the end of what the user says to the end of the turn."
        )
        self.first_output = seconds(
            "gen_ai.client.operation.time_to_first_chunk",
            "From the end of what the user says to the first sound or word of the answer.",
        )
        self.session = seconds("gen_ai.invoke_agent.duration", "The duration of a session.")
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKENS,
        )
        self._cost = meter.create_counter(
            "livetools.cost", unit="{USD}", description="The price of the tokens, where it is known."
        )

    def ran(self, seconds: float, tool: str, error_type: str | None, below: Context | None) -> None:
        """Count a run of a tool. ``below``: the context of its span, if it has one, for an exemplar.

        An exemplar leads from a bucket to a trace, and costs nearly as much as the count: only who asks why something
        was slow needs one. Every attribute costs a tenth of a span: that it is a function says nothing here.
        """
        attributes: Attributes = {"gen_ai.tool.name": tool}
        if error_type is not None:
            attributes["error.type"] = error_type
        self._tool.record(seconds, attributes, below if seconds >= _SLOW else _NO_SPAN)

    def used(self, usage: Usage, attributes: Attributes) -> None:
        """Count the tokens of a turn, and their price."""
        for kind, modality, count in by_kind(usage):
            labels = {**attributes, "gen_ai.token.type": kind, "gen_ai.token.modality": modality}
            self._tokens.record(count, labels)
        if (cost := usage.cost) is not None:
            self._cost.add(cost, attributes)
