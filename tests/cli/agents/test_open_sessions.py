"""From a target and the options of the command to a session."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from livetools import ConfigError
from livetools.cli.agents.open_sessions import Choices, sessions

NONE = Choices()
HERE = {"base_url": "ws://127.0.0.1"}

SHOP = '''
"""A shop: an agent with instructions of its own."""
from functools import partial
import livetools

def price(item: str) -> str:
    """What a thing costs."""
    return "3 kr"

agent = partial(
    livetools.connect, "gemini-2.5-flash-native-audio-preview-12-2025", tools=[price],
    instructions="You sell fish.", voice_config
)
'''.replace("voice_config", 'config={"temperature": 0.5, "speech_config": {"language_code": "nb-NO"}}')


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.py"
    file.write_text(SHOP, encoding="utf-8")
    return file


def setup(target: object, choices: Choices = NONE, **options: bool) -> dict[str, object]:
    return dict(sessions(str(target), choices, HERE, **options)().plan.setup)


def test_an_agent_keeps_its_model_and_its_config(shop):
    told = setup(shop)
    assert told["model"] == "models/gemini-2.5-flash-native-audio-preview-12-2025"
    assert told["systemInstruction"] == {"parts": [{"text": "You sell fish."}]}
    assert told["generationConfig"]["temperature"] == 0.5
    assert "inputAudioTranscription" not in told


def test_options_replace_the_agents_instructions_voice_and_language(shop):
    told = setup(shop, Choices(instructions="You sell bread.", voice="Puck", language="de-DE"))
    assert told["systemInstruction"]["parts"] == [{"text": "You sell bread."}]
    assert told["generationConfig"]["speechConfig"] == {
        "voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Puck"}},
        "languageCode": "de-DE",
    }


def test_a_voice_alone_leaves_the_agents_language(shop):
    assert setup(shop, Choices(voice="Puck"))["generationConfig"]["speechConfig"]["languageCode"] == "nb-NO"


def test_the_input_transcript_is_joined_to_the_agents_config(shop):
    told = setup(shop, transcribe=True)
    assert told["inputAudioTranscription"] == {}
    assert told["generationConfig"]["temperature"] == 0.5


@pytest.mark.parametrize(
    "choices",
    [Choices(model="gemini-3.8-live"), Choices(thinking="low"), Choices(config=Path("c.toml"))],
    ids=["model", "thinking", "config"],
)
def test_what_is_the_agents_own_is_a_usage_error(shop, choices):
    with pytest.raises(typer.BadParameter, match="is an agent, which has a"):
        sessions(str(shop), choices, HERE)


def test_a_session_is_made_anew_for_each_caller(shop):
    open_session = sessions(str(shop), Choices(), HERE)
    assert open_session() is not open_session()


def test_a_file_of_toml_is_the_config_of_bare_tools(agent, tmp_path):
    file = tmp_path / "live.toml"
    file.write_text('temperature = 0.25\n[speech_config]\nlanguage_code = "de-DE"\n')
    told = setup(agent, Choices(config=file, voice="Puck"))
    assert told["generationConfig"]["temperature"] == 0.25
    assert told["generationConfig"]["speechConfig"]["languageCode"] == "de-DE"


@pytest.mark.parametrize(
    ("text", "choices", "words"),
    [
        (b"temperature = ", {}, "is not TOML"),
        (b"\xff", {}, "is not TOML"),
        (b"[thinking_config]\nthinking_level = 'low'\n", {"thinking": "low"}, "only one of them"),
    ],
)
def test_a_config_that_cannot_be_used_is_told(agent, tmp_path, text, choices, words):
    file = tmp_path / "live.toml"
    file.write_bytes(text)
    with pytest.raises(ConfigError, match=words):
        sessions(str(agent), Choices(config=file, **choices), HERE)


def test_chat_talks_with_an_agent_and_its_tools(run, shop):
    result = run("chat", "--fake", shop, "--instructions", "Be brief.", input='the price of "cod"\n')
    assert result.exit_code == 0, result.output
    assert "tools: price" in result.stdout
    assert 'price(item="cod")' in result.stdout


def test_a_model_beside_an_agent_is_a_usage_error(run, shop):
    result = run("chat", "--fake", f"{shop}:agent", "--model", "gemini-3.8-live", input="")
    assert result.exit_code == 2
    assert "leave --model out" in result.output.replace("\n", " ").replace("│", "")


OPEN = "from functools import partial\nfrom livetools import connect\n\n" + (
    "def price(item: str) -> str:\n    'What a thing costs.'\n    return '3 kr'\n\n"
    "agent = partial(connect, tools=[price])\n"
)


@pytest.mark.parametrize(
    ("model", "named"),
    [("gemini-3.1-flash-live-preview", "gemini-3.1-flash-live"), (None, "gemini-3.8-live")],
)
def test_an_agent_that_names_no_model_takes_the_one_of_the_command(
    tmp_path: Path, model: str | None, named: str
) -> None:
    file = tmp_path / "open.py"
    file.write_text(OPEN, encoding="utf-8")
    session = sessions(f"{file}:agent", Choices(model=model), HERE)()
    assert session.model.removeprefix("models/").startswith(named)
    assert list(session.tools) == ["price"]


def test_tools_takes_a_model_for_an_agent_that_names_none(run, tmp_path):
    file = tmp_path / "open.py"
    file.write_text(OPEN, encoding="utf-8")
    result = run("tools", file, "--model", "gemini-3.5-live-translate")
    assert result.exit_code == 1
    assert "calls no functions" in result.stderr
    assert '"name": "price"' in run("tools", file).stdout


def test_tools_prints_what_an_agent_declares(run, shop):
    result = run("tools", shop)
    assert result.exit_code == 0, result.output
    assert '"name": "price"' in result.stdout


def test_an_agent_that_cannot_be_pointed_at_the_fake_is_not_sent_to_the_service(run, tmp_path):
    file = tmp_path / "narrow.py"
    file.write_text(
        "import livetools\ndef agent() -> livetools.Session:\n    return livetools.connect('gemini-3.8-live')\n"
    )
    result = run("chat", "--fake", file, input="hello\n")
    assert result.exit_code == 1
    assert "agent() takes no api_key, base_url: declare it with **options" in result.stderr
