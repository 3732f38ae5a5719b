"""All exceptions of livetools, in one tree, split by whose fault they are.

::

    LiveToolsError
    ├── ConfigError (ValueError)            what you passed cannot work
    │   └── ToolDefinitionError             a function that cannot be declared as a tool
    ├── NoAnswer (TimeoutError)             the model did not answer within the stall timeout
    ├── ConnectFailed                       the session could not be opened
    │   ├── SetupTimeout                    the service did not complete the setup in time
    │   └── SetupRejected                   the service refused it, for a reason that no class below names
    ├── SessionClosed                       the connection ended (1006, 1001 and others: this class itself)
    │   ├── LimitReached                    a limit of the session's own: max_calls, max_seconds
    │   ├── AuthenticationError             the key, the token, the project
    │   ├── QuotaExceeded                   quota, billing
    │   ├── InvalidRequest                  what was sent is not accepted
    │   ├── ModelNotFound                   no such model, or not a Live model
    │   └── ServerError                     the service failed
    ├── LocalProtocolError                  you sent what the protocol forbids at this moment
    ├── RemoteProtocolError                 the other end does not speak the protocol
    ├── ToolError                           raise it in a tool: its text goes to the model
    │   └── ToolTimeout
    └── ConcurrencyError (RuntimeError)     two exchanges at once, or the wrong event loop

No error text holds an API key, a token or a header.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class LiveToolsError(Exception):
    """The root of every exception in livetools.

    ::

        try:
            async with connect(MODEL, tools=[get_weather]) as session:
                print(await session.ask("Weather in Oslo?"))
        except LiveToolsError as error:
            print("no answer:", error)
    """

    def __reduce__(self) -> tuple[object, ...]:
        # not by __init__, which takes other arguments
        return type(self).__new__, (type(self), *self.args), vars(self)


class ConfigError(LiveToolsError, ValueError):
    """An argument cannot work. Raised before anything is sent.

    ::

        try:
            connect("gemini-3.8-live", tools=get_weather)
        except ConfigError as error:
            print(error)  # tools= takes a list ...
    """


class ToolDefinitionError(ConfigError):
    """A function cannot be declared as a tool. The text names the file, the function and the parameter.

    ::

        class Song: ...

        def play(song: Song) -> str:
            \"\"\"Play a song.\"\"\"
            return "playing"

        try:
            tool(play)
        except ToolDefinitionError as error:
            print(error)  # names the file, the function and the parameter
    """


class NoAnswer(LiveToolsError, TimeoutError):
    """The model neither spoke nor made a call within ``stall_timeout`` seconds of a question.

    ::

        try:
            print(await session.ask("Are you there?"))
        except NoAnswer:
            print("silence; asked again:", await session.ask("Hello?"))
    """


class ConnectFailed(LiveToolsError):
    """The session could not be opened: nothing listens, the name does not resolve, TLS fails, the proxy refuses.

    ::

        try:
            async with connect(MODEL, tools=[get_weather], base_url="http://localhost:1") as session:
                print(await session.ask("Weather in Oslo?"))
        except ConnectFailed as error:
            print("no answer:", error)
    """


class SetupTimeout(ConnectFailed):
    """The setup, from the first TCP packet to ``setupComplete``, took longer than ``setup_timeout``.

    ::

        try:
            async with connect(MODEL, tools=[get_weather], setup_timeout=0.2) as session:
                print(await session.ask("Weather in Oslo?"))
        except SetupTimeout as error:
            print(error)
    """


class SetupRejected(ConnectFailed):
    """The service refused the session for a reason that no other class names (an HTTP status, an unknown text).

    ::

        try:
            async with connect(MODEL, tools=[get_weather]) as session:
                print(await session.ask("Weather in Oslo?"))
        except SetupRejected as error:
            print(error)
    """


class SessionClosed(LiveToolsError):
    """The connection ended, and the session with it.

    ``code``: the websocket close code (1006 if the connection broke without one; below 1000, the HTTP status that
    came instead of the upgrade). ``reason``: the service's own text. ``phase``: what was going on (``"connect"``,
    ``"setup"``, ``"idle"``, ``"turn"``, ``"tool"``). ``retryable``: whether another attempt may succeed. ``advice``:
    what to do next.

    ::

        try:
            async with connect(MODEL, tools=[get_weather]) as session:
                print(await session.ask("Weather in Oslo?"))
        except SessionClosed as error:
            print(error.code, error.reason, error.advice)
    """

    def __init__(
        self, code: int = 1006, reason: str = "", phase: str = "", retryable: bool = False, advice: str = ""
    ) -> None:
        self.code, self.reason, self.phase = code, reason, phase
        self.retryable, self.advice = retryable, advice
        how = "the connection was closed with" if code >= 1000 else "the service answered with HTTP"
        text = f"{how} {code}{f' during {phase}' if phase else ''}{f': {reason}' if reason else ''}"
        super().__init__(f"{text.rstrip('.')}. {advice}" if advice else text)


class LimitReached(SessionClosed):
    """The session was closed because a limit of its own was reached. ``limit``: the argument that sets it.

    ``"max_calls"``: past that many calls each is answered with an error, and after ten of those the session ends.
    ``"max_seconds"``: the session has lasted so long; it ends with the turn, at the latest ten seconds later.

    ::

        try:
            async with connect(MODEL, tools=[get_weather], max_calls=20, max_seconds=600) as session:
                print(await session.ask("Weather in Oslo?"))
        except LimitReached as error:
            print(error.limit, error.advice)
    """

    def __init__(self, limit: str, reason: str = "", phase: str = "", advice: str = "") -> None:
        super().__init__(1000, reason, phase, False, advice)
        self.limit = limit
        self.args = (f"the session was closed: {reason}. {advice}",)


class AuthenticationError(SessionClosed):
    """The service does not accept the key, the token or the project.

    ::

        try:
            async with connect(MODEL, tools=[get_weather], api_key="yesterdays-key") as session:
                print(await session.ask("Weather in Oslo?"))
        except AuthenticationError as error:
            print(error.advice)
    """


class QuotaExceeded(SessionClosed):
    """The project is out of quota, over a rate limit, or has a billing problem.

    ::

        try:
            async with connect(MODEL, tools=[get_weather]) as session:
                print(await session.ask("Weather in Oslo?"))
        except QuotaExceeded as error:
            print("later:", error.advice)
    """


class InvalidRequest(SessionClosed):
    """The service or this model does not accept something that was sent.

    ::

        try:
            async with connect(MODEL, tools=[get_weather]) as session:
                print(await session.ask("Weather in Oslo?"))
        except InvalidRequest as error:
            print(error.reason, error.advice)
    """


class ModelNotFound(SessionClosed):
    """The model does not exist, is not a Live model, or is not open to this project.

    ::

        try:
            async with connect("gemini-0.1-live", tools=[get_weather]) as session:
                print(await session.ask("Weather in Oslo?"))
        except ModelNotFound as error:
            print(error.advice)
    """


class ServerError(SessionClosed):
    """The service failed.

    ::

        try:
            async with connect(MODEL, tools=[get_weather], reconnect=False) as session:
                print(await session.ask("Weather in Oslo?"))
        except ServerError as error:
            print("again later" if error.retryable else error)
    """


class LocalProtocolError(LiveToolsError):
    """The protocol does not allow this now (another sample rate, ``send_content`` after the first turn on 3.1).

    ::

        await session.send_audio(b"\\0\\0" * 1600, rate=16000)
        try:
            await session.send_audio(b"\\0\\0" * 4800, rate=48000)
        except LocalProtocolError as error:
            print(error)  # the service would close the session: resample
    """


class RemoteProtocolError(LiveToolsError):
    """The other end does not speak the protocol (no websocket, no ``setupComplete``).

    ::

        try:
            async with connect(MODEL, tools=[get_weather], base_url=WEB_SITE) as session:
                print(await session.ask("Weather in Oslo?"))
        except RemoteProtocolError as error:
            print("not a Live API:", error)
    """


class ToolError(LiveToolsError):
    """Raise it in a tool to tell the model what went wrong. The text of any other exception does not reach the model.

    ``retry=False`` tells the model to stop trying: nothing that it could change would help.

    ::

        def get_price(item: str) -> str:
            \"\"\"Price of an item.\"\"\"
            if item != "pizza":
                raise ToolError(f"there is no {item}; ask for pizza")
            return "9 €"

        print(await Tool(get_price).call({"item": "sushi"}))  # {'error': 'there is no sushi; ask for pizza'}
    """

    retry = True

    def __init__(self, *args: object, retry: bool = True) -> None:
        super().__init__(*args)
        if not retry:
            self.retry = False


class ToolTimeout(ToolError):
    """A tool took longer than its ``timeout``.

    ::

        @tool(timeout=0.05)
        async def slow() -> str:
            \"\"\"Takes its time.\"\"\"
            await sleep(60)
            return "done"

        print(await Tool(slow).call({}))  # {'error': 'timed out after 0.05 s'}
    """


class ConcurrencyError(LiveToolsError, RuntimeError):
    """Two exchanges ran at once, two loops read one session, or it was used from another event loop than its own.

    ::

        answer = session.stream("Weather in Oslo?")
        print(await anext(answer))
        try:
            await session.ask("And in Rome?")
        except ConcurrencyError as error:
            print(error)
        print([text async for text in answer])
    """


# Copies of errors: in an event that is pickled or copied

_OWN = ("code", "reason", "phase", "retryable", "advice", "limit", "retry")  # attributes of the classes above


def described(error: Exception) -> tuple[str, str]:
    """The class and the text of an error: what events are compared by, and what their copies keep."""
    try:
        return type(error).__name__, str(error)
    except Exception:  # an error of somebody's that cannot even say what it is
        return type(error).__name__, ""


def detached(error: Exception) -> Exception:
    """An error of the same class name and text that can be pickled, and holds nothing else.

    An exception may hold a client, a request or a key, and many cannot be made again from what they hold. So the class
    of the copy is made: a subclass of the nearest one of livetools or of Python, but for groups, which must hold
    something.
    """
    known = [each for each in type(error).__mro__ if each.__module__ in ("builtins", __name__)]
    base = next(
        each for each in known if "is_copy" not in vars(each) and BaseExceptionGroup not in each.__mro__
    )
    return _copied(*described(error), base, {key: value for key, value in vars(error).items() if key in _OWN})


def values_of(event: object, told: Callable[[Exception], object]) -> tuple[object, ...]:
    """The values of a dataclass's fields, each exception among them as ``told`` has it."""
    values = [getattr(event, field.name) for field in dataclasses.fields(event)]  # type: ignore[arg-type]  # as said
    return tuple([told(value) if isinstance(value, Exception) else value for value in values])


def _copied(name: str, text: str, base: type[Exception], own: dict[str, object]) -> Exception:
    # A class in place of one that cannot be imported where the copy is read, or that needs other arguments.
    members = {
        "__doc__": "A copy of an error: its class's name and its text.",
        "__module__": base.__module__,  # so that a traceback names it as the class itself
        "is_copy": True,
        "__str__": lambda self: self.args[0],
        "__reduce__": lambda self: (_copied, (name, self.args[0], base, vars(self))),
    }
    kind: type[Exception] = type(name, (base,), members)
    made = kind.__new__(kind, text)
    vars(made).update(own)
    return made
