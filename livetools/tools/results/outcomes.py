"""Turns what a tool returned, or raised, into the outcome of its call: a JSON object, and media beside it.

Nothing raises: a call that is never answered would leave the model waiting. :mod:`.to_json` says what becomes of what.
"""

from __future__ import annotations

from livetools.errors import ToolError
from livetools.log import get_logger
from livetools.protocol.calls.driver_actions import Outcome
from livetools.protocol.messages.lenient_json import Json
from livetools.protocol.messages.outgoing import EncodedJSON
from livetools.protocol.messages.outgoing import encode as to_json
from livetools.setup.defaults import RESPONSE_KEY
from livetools.setup.secrecy import place
from livetools.tools.definition.tool_options import scheduling_of

from .media import Unsayable, is_function_response, parts
from .to_json import SIMPLE, clean, place_of_failure, text, tool_error, words
from .tool_result import ToolResult
from .truncation import shrink

__all__ = ["ToolResult", "encode", "error_outcome", "failure", "outcome", "parts", "shrink", "tool_error"]

log = get_logger("livetools.calls")

_KEYS = frozenset({"output", "result", "content", "error"})  # a dict with one of them is a response already


def encode(value: object, key: str = "output") -> dict[str, Json]:
    """The response object for ``value``: JSON-safe, under ``key``.

    A dict that already has ``output``, ``result``, ``content`` or ``error`` among its keys goes out as it is. Media are
    left out, their place says what was there. Never raises.
    """
    return dict(_outcome(value, key).response)


def failure(said: str) -> dict[str, Json]:
    """The response object of a call that failed."""
    return {"error": text(said)}


def outcome(value: object, key: str = RESPONSE_KEY, max_bytes: int | None = None) -> Outcome:
    """What a handler returned as the outcome of its call: a value, a :class:`ToolResult`, or google-genai's
    ``FunctionResponse``. Never raises.
    """
    if (
        simple := SIMPLE.get(type(value))
    ) is not None:  # what most functions return: a text, a number, nothing
        done = Outcome({key: simple(value)}, result=value)
    elif isinstance(value, ToolResult):
        done = _outcome(value.value, key)
        done.scheduling = value.scheduling or done.scheduling  # type: ignore[assignment]  # normalised in __post_init__
        done.ends_session, done.handoff = value.ends_session, value.handoff
        done.parts = (*value.parts, *done.parts)  # type: ignore[arg-type]  # as above
    else:
        done = _outcome(value, key)
    if max_bytes is not None and (done.encoded is None or len(done.encoded) > max_bytes):
        done.response, done.encoded = shrink(dict(done.response), max_bytes), None
    return done


def _outcome(value: object, key: str) -> Outcome:
    stands = is_function_response(value)
    try:
        said, found, encoded = clean(value)
    except Unsayable as error:
        path = place_of_failure(value)[0]
        told = ToolError(f"the tool has returned {f'in {path}: ' if path else ''}{error}")
        return Outcome(failure(str(told)), told, result=value)
    except Exception as error:  # a property, an iterator or a __dict__ of the user's that raises
        told = tool_error(error) or _unsaid(value, error)
        return Outcome(failure(words(told)), told, result=value)
    if isinstance(value, BaseException):
        return Outcome({"error": said}, result=value)
    is_response = type(said) is dict and (stands or not _KEYS.isdisjoint(said))
    done = Outcome(said if is_response else {key: said}, parts=tuple(found), result=value)
    if encoded is not None:
        done.encoded = encoded if is_response else to_json({key: EncodedJSON(encoded)})
    if stands:  # but for the id and the name, which are the call's
        done.scheduling = scheduling_of(value.scheduling)  # type: ignore[attr-defined]  # by its class
        done.will_continue = value.will_continue  # type: ignore[attr-defined]  # by its class
    return done


def _unsaid(value: object, error: Exception) -> ToolError:
    """For the model where in the result it is; for the log also what was raised, without its text."""
    path, at = place_of_failure(value)
    # What is read only once, such as a generator, does not fail when it is looked for: its container is known then.
    inside = type(at) in (dict, list, tuple)
    where = "holds a value that" if inside else f"is of the class {type(at).__name__}, which"
    what = f"{path or 'it'} {where} raised an error when it was read"
    log.warning("the result could not be put into words: %s: %s", what, place(error.__cause__ or error))
    told = ToolError(f"the result could not be put into words: {what}. Return text, numbers, lists and dicts")
    told.__cause__ = error
    return told


def error_outcome(error: BaseException, name: str, stop: bool = False) -> Outcome:
    """What a handler raised as the outcome of its call: a ``ToolError``'s text, of anything else nothing.

    ``stop``: the model has tried often enough.
    """
    meant = tool_error(error)
    said = "" if meant is None else words(meant)
    if isinstance(error, BaseExceptionGroup):
        error = error.subgroup(Exception) or error  # without cancellations
    raised = error if isinstance(error, Exception) else RuntimeError(f"it raised {type(error).__name__}")
    if meant is not None and not (isinstance(error, BaseExceptionGroup) and error.split(ToolError)[1]):
        raised = meant  # nothing else was raised, that somebody would have to look into
    said = said or f"{name} failed"
    if meant is not None and (stop or not meant.retry):
        said = f"{said.rstrip('. ')}. Stop trying: do not call {name} again for this"
    return Outcome(failure(said), raised)
