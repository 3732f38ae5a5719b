"""What counts as an agent, and how one is opened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from livetools import ConfigError, Session, connect
from livetools.session.agents import GIVEN_TO_AGENTS, adjust, agent_name, is_agent, open_agent

if TYPE_CHECKING:
    from somewhere import Session as Elsewhere  # type: ignore[import-not-found]  # not importable on purpose

MODEL = "gemini-3.8-live"
PLACE = {"base_url": "ws://127.0.0.1:1", "api_key": "k"}


def taking(**options: object) -> Session:
    return connect(MODEL, **options)  # type: ignore[arg-type]


def unresolvable() -> livetools.Session:  # type: ignore[name-defined]  # noqa: F821
    return connect(MODEL)


def of_another_library() -> Elsewhere:
    raise NotImplementedError


class House:
    def agent(self, **options: object) -> Session:
        return connect(MODEL, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        partial(connect, MODEL),
        partial(partial(connect, MODEL), tools=[]),
        partial(taking, deps=1),
        taking,
        unresolvable,
        House().agent,
    ],
    ids=["partial", "partial of a partial", "partial of a function", "function", "string", "method"],
)
def test_a_partial_of_connect_and_a_function_annotated_session_are_agents(value):
    assert is_agent(value)


@pytest.mark.parametrize(
    "value",
    [connect, Session, partial(print, 1), lambda: connect(MODEL), of_another_library, "agent", None, 5],
    ids=["connect", "class", "partial", "lambda", "another library", "text", "none", "number"],
)
def test_anything_else_is_not_an_agent(value):
    assert not is_agent(value)


@pytest.mark.parametrize("agent", [partial(connect, MODEL), taking, House().agent], ids=agent_name)
def test_an_agent_is_opened_where_the_caller_says(agent):
    session = open_agent(agent, **PLACE)
    assert isinstance(session, Session)
    assert "127.0.0.1:1" in repr(session._assembly.endpoint.url)


def test_an_option_of_none_leaves_the_agents_own():
    agent = partial(connect, MODEL, deps="mine", **PLACE)
    assert open_agent(agent, deps=None)._assembly.deps == "mine"
    assert open_agent(agent, deps="the caller's")._assembly.deps == "the caller's"


def test_a_function_that_does_not_take_an_option_is_not_opened_elsewhere_in_silence():
    def narrow(deps: object = None) -> Session:
        return connect(MODEL, deps=deps)

    with pytest.raises(
        ConfigError, match=r"narrow\(\) takes no api_key, base_url: declare it with \*\*options"
    ):
        open_agent(narrow, **PLACE, deps=1)


def test_what_is_the_agents_own_is_not_passed():
    assert "config" not in GIVEN_TO_AGENTS
    with pytest.raises(TypeError, match="not passed config"):
        open_agent(partial(connect, MODEL), config={})


def test_what_is_not_an_agent_is_refused():
    with pytest.raises(ConfigError, match="not an agent"):
        open_agent(print)  # type: ignore[arg-type]


def test_a_function_that_breaks_its_annotation_is_named():
    def broken() -> Session:
        return None  # type: ignore[return-value]

    with pytest.raises(ConfigError, match=r"broken\(\) returned a NoneType, expected a Session"):
        open_agent(broken)


def test_an_opener_s_idle_is_put_in_the_place_of_the_agent_s_and_asks_for_the_user_s_words() -> None:
    own = connect(MODEL, idle=300, **PLACE)
    assert "inputAudioTranscription" in own.plan.setup
    assert adjust(own).plan.idle == 300
    assert adjust(own, idle=20.0).plan.idle == 20.0
    bare = connect(MODEL, **PLACE)
    assert "inputAudioTranscription" not in bare.plan.setup
    assert "inputAudioTranscription" in adjust(bare, idle=20.0).plan.setup


@pytest.mark.parametrize("off", [None, False])
def test_a_transcript_that_the_agent_turns_off_stays_off_and_idle_says_that_it_needs_it(off: object) -> None:
    def deaf() -> Session:
        return connect(MODEL, config={"input_audio_transcription": off}, **PLACE)

    assert "inputAudioTranscription" not in adjust(deaf(), transcribe=True).plan.setup
    with pytest.raises(ConfigError, match="leave input_audio_transcription on"):
        adjust(deaf(), idle=20.0)


def test_an_adjustment_that_cannot_work_is_refused() -> None:
    with pytest.raises(ConfigError, match="idle=0"):
        adjust(connect("gemini-3.8-live", api_key="k"), idle=0)
