"""Enters the function responses of a client in the calls that they answer."""

from __future__ import annotations

from livetools.setup.model_profiles import ModelProfile
from livetools.testing.model.fake_call import CallRegistry, FakeCall
from livetools.testing.service import Service
from livetools.testing.wire import Message


def take(
    calls: CallRegistry, response: Message, connection: int, profile: ModelProfile, service: Service
) -> FakeCall | None:
    """Enter one response that came on this connection. Returns the call that it ends, if it ends one.

    A response to a call that is not open is ignored, with a line in the log.
    """
    call = calls.find(response, connection)
    calls.lost = [each for each in calls.lost if each is not call]
    if call is None:
        service.note(f"an answer to no call, ignored: {response}")
    elif call.state != "open":
        service.note(f"an answer to a call that is {call.state}, ignored: {call}: {response}")
        if call.state == "cancelled" and not call.crossing:
            service.log.late.append(call)
    else:
        call.responses.append(_as_read(call, response, profile, service))
        streams = not call.blocking and profile.will_continue == "honoured"
        if not (response.get("willContinue") and streams):
            call.end("answered")
            return call
    return None


def _as_read(call: FakeCall, response: Message, profile: ModelProfile, service: Service) -> Message:
    """The answer as the model reads it: some take one without a name for a failed call (2026-09-18)."""
    if response.get("name") or not profile.needs_name:
        return response
    service.note(f"an answer without a name, which this model reads as a failure: {call}")
    return {**response, "response": {"error": "a system error occurred"}}
