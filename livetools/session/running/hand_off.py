"""Changes instructions and tools while a session runs, and hands the conversation to another agent."""

from __future__ import annotations

from functools import partial

from livetools.errors import LiveToolsError
from livetools.events import Event, HandedOff
from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.input.resend import Receipt
from livetools.protocol.messages import outgoing
from livetools.protocol.session_machine import Machine
from livetools.setup.plan import replan
from livetools.tools import Agent, as_tools
from livetools.tools.results.outcomes import error_outcome

log = get_logger("livetools.session")


def change(machine: Machine, agent: Agent, now: float, event: Event | None = None) -> Receipt:
    """Plan the change and tell the machine, which emits ``event`` when the model has it.

    Raises ``ConfigError`` and ``LocalProtocolError`` before anything is changed.
    """
    made = None if agent.tools is None else as_tools(agent.tools)
    plan = replan(machine.next_plan, tools=made, instructions=agent.instructions)
    frame = None
    # Within the connection where the model reads the change there; else the machine moves to another connection, whose
    # setup holds it.
    if plan.context_update == "honoured":
        instructions = None if agent.instructions is None else plan.setup["systemInstruction"]
        tools = None if made is None else plan.setup.get("tools", [])
        frame = outgoing.context_update(instructions, tools)
    return machine.update(plan, frame, now, event)


def hand_off(machine: Machine, run: int, outcome: Outcome, now: float) -> Outcome:
    """Give the conversation to the agent that a handler names, before the model reads the answer and continues.

    The outcome; or, where that cannot be done, that the call has failed.
    """
    agent = outcome.handoff
    assert isinstance(agent, Agent)
    try:
        receipt = change(machine, agent, now, HandedOff(agent.name))
    # The model would read an answer that promises another agent, so the call fails instead.
    except LiveToolsError as error:
        record = machine.record(run)
        name = "" if record is None else record.call.name
        log.error("%s: the hand-off to %s cannot be made: %s", name, agent.name or "an agent", error)
        return error_outcome(error, name)
    receipt.watch(partial(_log_failure, receipt, agent))
    return outcome


def _log_failure(receipt: Receipt, agent: Agent) -> None:
    """Say that a hand-off that was planned was not made: nobody waits for it."""
    if receipt.error is not None:
        log.warning("the hand-off to %s was not made: %s", agent.name or "an agent", receipt.error)
