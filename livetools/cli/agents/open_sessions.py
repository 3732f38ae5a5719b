"""Opens the sessions of a command, from its target and its options."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import typer

from livetools.cli.process.errors_and_signals import UsageError
from livetools.errors import ConfigError
from livetools.session.agents import AgentLike, adjust, open_agent
from livetools.session.connect import connect
from livetools.session.session import Session

from .common_options import DEFAULT_MODEL, manual_config, thinking_config
from .load_agent import Loaded, load


@dataclass(frozen=True, slots=True)
class Choices:
    """What the options of a command say of its sessions; ``None``: nothing."""

    model: str | None = None
    instructions: str | None = None
    voice: str | None = None
    language: str | None = None
    thinking: str | None = None
    config: Path | None = None
    manual: bool = False  # the user marks what is speech; an agent keeps its own detection of it


#: An endpoint that nobody dials: what is opened there is only asked what it declares. On this machine no key is needed.
NOWHERE = "ws://127.0.0.1"

#: Opens a session each time it is called; parameters of ``connect`` may be given as keywords.
Opener: TypeAlias = Callable[..., Session]


def sessions(
    target: str | None, choices: Choices, options: Mapping[str, Any], *, transcribe: bool = False
) -> Opener:
    """What opens a session of ``target`` each time it is called; ``options`` are the endpoint's, for ``connect``.

    An agent keeps its config, and its model if it names one; ``--instructions``, ``--voice`` and ``--language`` replace
    its own.
    ``transcribe``: ask for a transcript of what the user says. Raises ``ConfigError`` as ``load`` does, and
    ``typer.BadParameter`` for options that an agent does not leave open.
    """
    return opener(loaded_now(target), target, choices, options, transcribe=transcribe)


def loaded_now(target: str | None) -> Loaded:
    """What is in ``target``; nothing, without one. Raises ``ConfigError`` as ``load`` does."""
    loaded = Loaded() if target is None else load(target)
    loaded.tell()
    return loaded


def opener(
    loaded: Loaded,
    target: str | None,
    choices: Choices,
    options: Mapping[str, Any],
    *,
    transcribe: bool = False,
    changes: Choices | None = None,
) -> Opener:
    """As :func:`sessions`, of a target that was loaded.

    ``changes`` are of one session: they come before ``choices``, and its model before that of an agent.
    """
    changes = changes or Choices()
    config = {} if loaded.agent is not None else config_of(choices)
    agent = None if loaded.agent is None else with_model(loaded.agent, choices.model, target)
    if agent is not None:
        _refuse(choices, target)
        agent = agent if changes.model is None else with_other_model(agent, changes.model)

    def open_session(**more: Any) -> Session:  # connect's keyword arguments, of several types
        if agent is not None:
            session = open_agent(agent, **options, **more)
        else:
            model = changes.model or choices.model or DEFAULT_MODEL
            session = connect(model, tools=loaded.tools, config=config, **options, **more)
        return adjust(
            session,
            instructions=changes.instructions or choices.instructions,
            voice=changes.voice or choices.voice,
            language=changes.language or choices.language,
            transcribe=transcribe,
        )

    open_session()  # raises now if an argument is wrong
    return open_session


def with_model(agent: AgentLike, model: str | None, target: str | None) -> AgentLike:
    """The agent, with this model if it names none: ``partial(connect, tools=[...])``. ``None``: the usual one.

    Raises ``typer.BadParameter`` for a model beside its own.
    """
    if (
        isinstance(agent, partial)
        and not agent.args
        and "model" not in agent.keywords
        and agent.func is connect
    ):
        return partial(agent, model or DEFAULT_MODEL)
    if model is not None:
        _has_its_own("model", target)
    return agent


def with_other_model(agent: AgentLike, model: str) -> AgentLike:
    """The agent with ``model`` in place of its own. Raises ``ConfigError`` for one that is a function."""
    if not isinstance(agent, partial) or agent.func is not connect:
        raise ConfigError("the agent is a function, which chooses its model itself: change it in the file")
    keywords = {name: value for name, value in agent.keywords.items() if name != "model"}
    return partial(connect, model, *agent.args[1:], **keywords)


def _has_its_own(name: str, target: str | None, option: str = "") -> NoReturn:
    raise typer.BadParameter(
        f"{target} is an agent, which has a {name} of its own: leave --{option or name} out, or change it there"
    )


def _refuse(choices: Choices, target: str | None) -> None:
    for name in ("thinking", "config"):
        if getattr(choices, name) is not None:
            _has_its_own("config", target, name)


def config_of(choices: Choices) -> dict[str, Any]:
    """``connect``'s config: the file's, with the thinking level in it."""
    config: dict[str, Any] = {}
    if choices.config is not None:
        try:
            config = tomllib.loads(choices.config.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{choices.config} is not TOML: {error}") from None
    thinking = thinking_config(choices.thinking)
    if thinking and config.keys() & {"thinking_config", "thinkingConfig"}:
        raise ConfigError(
            f"--thinking and thinking_config in {choices.config} are both set: pass only one of them"
        )
    manual = (
        {}
        if config.keys() & {"realtime_input_config", "realtimeInputConfig"}
        else manual_config(choices.manual)
    )
    return {**config, **thinking, **manual}
