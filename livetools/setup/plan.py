"""Makes a plan from a model, its options and its declarations: what is sent, and how each call is served.

The only reader of profiles: what a model family takes or refuses is decided here, before a connection is dialled.
What the service would close the connection for is a ConfigError; what it would ignore is left out, and is said in
``Plan.warnings``.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from livetools.errors import ConfigError

from . import config_fields
from .config_fields import Object, wire_model
from .defaults import INPUT_GATE
from .model_profiles import ModelProfile, SessionFacts, find
from .plan_fields import UNDECLARED, CallPolicy, Plan, Specified, ToolSpec
from .sdk.camel_case import snake
from .sdk.config_values import for_api, read_as, several


def make_plan(
    model: str,
    tools: Sequence[Specified] = (),
    *,
    instructions: object = None,
    config: object = None,
    voice: object = None,
    language: object = None,
    vertexai: bool = False,
    project: str | None = None,
    location: str | None = None,
    api_version: str | None = None,
    profile: ModelProfile | None = None,
    allowed: Collection[str] | None = None,
    reconnect: bool = True,
    history: object = None,
    input_gate: bool | Literal["auto"] = INPUT_GATE,
    **options: Any,
) -> Plan:
    """Decide everything that can be decided before a session is dialled.

    ``config`` is a ``google.genai.types.LiveConnectConfig`` or its dict, with the tools that the service runs itself:
    functions belong in ``tools``. ``api_version`` is the one that will be dialled, where it is known. ``options`` are
    those of :data:`~.plan_fields.OPTIONS`. Raises :class:`ConfigError` for what is given twice, unknown or impossible,
    and for what the service would close the connection for on this model.
    """
    fields = config_fields.read(config)
    profile = profile or find(model, vertex=vertexai)
    if location == "global" and not profile.everywhere:
        raise ConfigError(f"{profile.family} is not served from 'global': pass location='us-central1'")
    assumed = "assuming it supports everything; connect(profile=ModelProfile(...)) tells what it does not"
    warnings = [] if profile.known else [f"unknown model {model!r}: {assumed}"]
    setup = config_fields.setup(fields, instructions)
    setup["tools"] = [read_as(entry, "Tool", "config.tools") for entry in several(fields.get("tools"))]
    for_api(setup, "setup", vertexai=vertexai, path="config")
    setup["model"] = wire_model(model, vertexai=vertexai, project=project, location=location)
    config_fields.add_speech(setup, voice, language)
    turns = config_fields.history(history)
    if turns and profile.seed == "none":
        raise ConfigError(f"{profile.family} takes no history; leave history= out")
    for_api(turns, "clientContent.turns", vertexai=vertexai, path="history")
    _resume(setup, fields, profile, options, reconnect)
    _complete(setup, fields, profile, warnings)
    _proactive(setup, profile, api_version)
    hears_user = fields.get("inputAudioTranscription", {}) is not None
    _transcribe_user(setup, hears_user, options.get("idle"))
    ends_turn = profile.default_behavior == "NON_BLOCKING" or profile.call_ends_turn
    plan = Plan(
        model=setup["model"],
        setup=setup,
        allowed=None if allowed is None else frozenset(allowed),
        input_block=profile.input_block if input_gate == "auto" else bool(input_gate),
        history=turns,
        profile=profile,
        resumption="sessionResumption" in setup,
        hears_user=hears_user,
        transparent=bool(setup.get("sessionResumption", {}).get("transparent")),
        undeclared=dataclasses.replace(UNDECLARED, ends_turn=ends_turn),
        **{fact.name: getattr(profile, fact.name) for fact in dataclasses.fields(SessionFacts)},
        **options,
    )
    return _with_tools(plan, tools, warnings)


def replan(plan: Plan, *, tools: Sequence[Specified] | None = None, instructions: object = None) -> Plan:
    """The plan of a running session with other tools (``None``: the same ones) or other instructions.

    What the service runs itself (search, code execution) stays. Raises as :func:`make_plan` does.
    """
    if instructions is not None:
        content = read_as(instructions, "Content", "instructions")
        plan = dataclasses.replace(plan, setup={**plan.setup, "systemInstruction": content})
    return plan if tools is None else _with_tools(plan, tools, [])


class Adjustments(TypedDict, total=False):
    """The values of a session's opener, in place of the plan's own. ``None`` keeps the present value.

    ``transcribe``: transcribe the words of the user, unless the config turns that off; ``idle`` does this too.
    """

    instructions: str | None
    voice: str | None
    language: str | None
    transcribe: bool
    idle: float | None


def adjusted(plan: Plan, **changes: Unpack[Adjustments]) -> Plan:
    """The plan of a session that was not opened yet, with these changes. Raises as :func:`make_plan` does."""
    plan = replan(plan, instructions=changes.get("instructions"))
    setup = copy.deepcopy(dict(plan.setup))
    config_fields.add_speech(setup, changes.get("voice"), changes.get("language"), replace=True)
    idle = changes.get("idle")
    _transcribe_user(setup, plan.hears_user, idle, changes.get("transcribe", False))
    warnings = [*plan.warnings]
    _details(setup, plan.profile, warnings)
    told = tuple(dict.fromkeys(warnings))  # once, what holds of the plan and of its changes
    return dataclasses.replace(plan, setup=setup, idle=plan.idle if idle is None else idle, warnings=told)


def _transcribe_user(setup: Object, allowed: bool, idle: object, wanted: bool = False) -> None:
    """Ask for a transcript of the user's words, where it is ``wanted`` or ``idle`` needs it. ``allowed``: the config
    does not turn it off."""
    if idle is not None and not allowed:
        raise ConfigError("idle= needs to know when the user speaks: leave input_audio_transcription on")
    if allowed and (wanted or idle is not None):
        setup.setdefault("inputAudioTranscription", {})


def _resume(
    setup: Object, fields: Object, profile: ModelProfile, options: dict[str, Any], reconnect: bool
) -> None:
    """Ask for handles and for compression, where they are wanted; the handle of the config becomes an option."""
    asked = setup.pop("sessionResumption", None)
    # The handle is put in with each connection, since it changes; what remains of the field is asked for each time.
    if (given := (asked or {}).pop("handle", None)) and options.get("handle"):
        raise config_fields.both_set("handle", "config.session_resumption.handle")
    handle = options["handle"] = options.get("handle") or given
    if handle and not profile.resumption:
        raise ConfigError(f"{profile.family} gives no handles, so no session of it can be resumed")
    wanted = reconnect or handle is not None or asked is not None
    # None in the config turns the resumption off; a missing field leaves it to ``reconnect``.
    if profile.resumption and wanted and fields.get("sessionResumption", {}) is not None:
        setup["sessionResumption"] = asked or {}
    if reconnect and profile.compression == "honoured" and "contextWindowCompression" not in fields:
        # Without it a session of audio ends after 15 minutes (ai.google.dev, 2026-09).
        setup["contextWindowCompression"] = {"slidingWindow": {}}


# The path of a field, the fact that decides, and what the service answers or what it means.
_FACTS = (
    ("generationConfig.thinkingConfig.thinkingLevel", "thinking_level", "Thinking level is not supported"),
    ("generationConfig.thinkingConfig.thinkingBudget", "thinking_budget", "Thinking budget is not supported"),
    ("generationConfig.enableAffectiveDialog", "affective_dialog", "Request contains an invalid argument"),
    ("generationConfig.translationConfig", "translation", "only the live-translate models translate"),
    ("proactivity", "proactivity", "this model cannot be proactive"),
    ("avatarConfig", "avatar", "avatars are Vertex AI's"),
    ("explicitVadSignal", "explicit_vad_signal", "the signal is Vertex AI's"),
    ("sessionResumption.transparent", "transparent", "transparent resumption is Vertex AI's"),
    ("contextWindowCompression", "compression", "this model does not compress"),
)


def _complete(setup: Object, fields: Object, profile: ModelProfile, warnings: list[str]) -> None:
    """Check the setup against the profile, and add its defaults."""
    _modality(setup, profile)
    for path, fact, why in _FACTS:
        _judge(setup, path, getattr(profile, fact), f"{profile.family}: {why}", warnings)
    _thinking(setup, profile)
    _details(setup, profile, warnings)
    # A text model sends its words as text, and has nothing to transcribe.
    speaks = setup["generationConfig"]["responseModalities"] != ["TEXT"]
    if speaks and "outputAudioTranscription" not in fields:
        setup["outputAudioTranscription"] = {}  # so that ask() has words to return


def _judge(setup: Object, path: str, verdict: str, why: str, warnings: list[str]) -> None:
    """Refuse the field at ``path``, or leave it out with a warning, as the verdict of the profile on it says."""
    *around, key = path.split(".")
    holder = setup
    for name in around:
        holder = holder.get(name, {})
    if holder.get(key) is False:
        del holder[key]  # every flag's default
    elif key in holder and verdict == "refused":
        raise ConfigError(f"config.{snake(key)} would be refused ({why}); leave it out")
    elif key in holder and verdict == "ignored":
        warnings.append(f"config.{snake(key)} is left out: it would be ignored ({why})")
        del holder[key]


def _modality(setup: Object, profile: ModelProfile) -> None:
    """Check what the model is to answer with; its default is written into the setup."""
    generation = setup.setdefault("generationConfig", {})
    # The service would answer in sound by itself; it is written out, so that what depends on it finds it here.
    wanted = generation.setdefault("responseModalities", [profile.default_modality])
    if len(wanted) != 1:
        raise ConfigError(f"response_modalities={wanted}: a Live session answers in exactly one")
    if wanted[0] not in profile.modalities:
        can = " or ".join(sorted(profile.modalities))
        text = f"{profile.family} answers in {can}, not in {wanted[0]}: set response_modalities to {can}"
        words = "; the words that it speaks come as OutputTranscript, and ask() returns them"
        raise ConfigError(text + words if can == "AUDIO" else text)


def _thinking(setup: Object, profile: ModelProfile) -> None:
    """Check the thinking level, which some models require."""
    thinking = setup["generationConfig"].get("thinkingConfig", {})
    # An empty object says nothing, and is left out.
    if not thinking:
        setup["generationConfig"].pop("thinkingConfig", None)
    level, able = thinking.get("thinkingLevel"), ", ".join(sorted(profile.thinking_levels))
    if level not in profile.thinking_levels and (level is not None or profile.thinking_level == "required"):
        raise ConfigError(
            f"thinking_level={level!r}: {profile.family} wants a thinking level (one of {able}): "
            "config={'thinking_config': {'thinking_level': 'LOW'}}"
        )


def _proactive(setup: Object, profile: ModelProfile, api_version: str | None) -> None:
    """Check proactivity against the model, and what needs v1alpha against the version that is dialled."""
    # Where it always is, True is left out; only False contradicts the model.
    if profile.proactivity == "always" and False in setup.pop("proactivity", {}).values():
        raise ConfigError(f"{profile.family} is always proactive, and refuses False: leave proactivity out")
    # Without a version of the user's own the endpoint has chosen v1alpha already.
    if config_fields.wants_v1alpha(setup) and not profile.vertex and api_version not in (None, "v1alpha"):
        raise ConfigError(f"proactivity and affective dialog need api_version='v1alpha', not {api_version!r}")


def _details(setup: Object, profile: ModelProfile, warnings: list[str]) -> None:
    """Check values inside the setup's fields: turn coverage, compression, the voice."""
    coverage = setup.get("realtimeInputConfig", {}).get("turnCoverage")
    if coverage is not None and coverage not in profile.turn_coverages:
        able = ", ".join(sorted(profile.turn_coverages))
        raise ConfigError(f"turn_coverage={coverage!r} would be refused; must be one of {able}")
    compression = setup.get("contextWindowCompression", {})
    if "triggerTokens" in compression and "slidingWindow" not in compression:
        raise ConfigError("context_window_compression: trigger_tokens needs 'sliding_window': {}")
    speech = setup["generationConfig"].get("speechConfig", {})
    if "multiSpeakerVoiceConfig" in speech:
        raise ConfigError("speech_config.multi_speaker_voice_config: a Live session has one voice")
    voice = speech.get("voiceConfig", {}).get("prebuiltVoiceConfig", {}).get("voiceName")
    # Voices are added more often than this table is changed, so an unknown one is no error.
    if voice is not None and voice not in profile.voices:
        warnings.append(f"{voice!r} is not a known voice of {profile.family}; the service may refuse it")


_PROFILED = ModelProfile().builtin_tools  # a profile says of each whether its model has it
_MOST_TOOLS = 512  # "At most 512 function declarations can be specified"


def _with_tools(plan: Plan, tools: Sequence[Specified], warnings: list[str]) -> Plan:
    """The tools as the setup declares them, all functions in one entry, and how their calls are served."""
    profile = plan.profile
    if len(tools) > _MOST_TOOLS:
        raise ConfigError(f"{len(tools)} tools: the service takes {_MOST_TOOLS}; declare fewer")
    if tools and not profile.functions:
        raise ConfigError(f"{profile.family} calls no functions; leave tools out")
    # Answers as content are content in the middle of a session.
    if tools and plan.reply_format == "client_content" and profile.content_mid_session == "refused":
        raise ConfigError(
            f"{profile.family} refuses client_content in mid-session; reply_format='tool_response' works"
        )
    # All functions are in one entry of their own, which is made again; the other entries are the service's.
    builtin = [entry for entry in plan.setup.get("tools", ()) if "functionDeclarations" not in entry]
    entries = [kept for entry in builtin if (kept := _builtin(entry, profile, bool(tools), warnings))]
    specs = [tool.spec() for tool in tools]
    both = zip(specs, tools, strict=True)
    policies = {spec.name: _policy(spec, tool, plan, warnings) for spec, tool in both}
    if specs:
        declared = [_declared(spec, policies[spec.name], profile) for spec in specs]
        entries.append({"functionDeclarations": declared})
    # A warning only: update() may declare these later.
    strange = sorted((plan.allowed or frozenset()) - policies.keys())
    if strange:
        warnings.append(f"allowed names tools that are not declared: {', '.join(strange)}")
    setup = {key: value for key, value in plan.setup.items() if key != "tools"}
    if entries:
        setup["tools"] = entries
    return dataclasses.replace(plan, setup=setup, policies=policies, warnings=(*plan.warnings, *warnings))


def _builtin(entry: Object, profile: ModelProfile, functions: bool, warnings: list[str]) -> Object:
    """The entry of tools that the service runs itself, without those that the model would never use."""
    kept = dict(entry)
    for name in entry:
        if name in profile.idle_tools:
            warnings.append(f"{snake(name)} is left out: {profile.family} takes it and never uses it")
            del kept[name]
        elif name in _PROFILED - profile.builtin_tools:
            raise ConfigError(f"{profile.family} has no {snake(name)} and would close the connection for it")
    if functions and "googleSearch" in kept and not profile.mixes_search:
        raise ConfigError(f"{profile.family} takes no google_search beside functions; 3.x models do")
    return kept


def _declared(spec: ToolSpec, policy: CallPolicy, profile: ModelProfile) -> Mapping[str, Any]:
    """What the model reads about a tool."""
    stated = profile.states_behavior or spec.options.get("behavior") is not None
    return {**spec.declaration, "behavior": policy.behavior} if stated else spec.declaration


#: Options of a tool that are its policy's as they are.
_CARRIED = frozenset({"concurrency", "cancellable", "approval_timeout"})


def _policy(spec: ToolSpec, tool: Specified, plan: Plan, warnings: list[str]) -> CallPolicy:
    """How the calls of this tool are served: its options, as far as the model takes them."""
    options, profile = spec.options, plan.profile
    wanted = options.get("behavior")
    behavior, background = _behavior(spec, wanted, plan, warnings), wanted == "BACKGROUND"
    awaited = behavior == "BLOCKING"
    # While the model waits for a call it reads one response, the final one.
    streaming = _streams(plan) and not awaited
    return CallPolicy(
        name=spec.name,
        handled=spec.handled,
        behavior=behavior,
        background=background and awaited,  # where the model does not wait it differs in nothing
        ends_turn=not awaited or profile.call_ends_turn,
        scheduling=_scheduling(spec, profile, awaited, warnings),
        takes_scheduling=profile.scheduling == "honoured" and not awaited,
        streams=spec.generator and streaming,
        takes_more=streaming,
        timeout=options.get("timeout", plan.tool_timeout),
        takes_slot=not background,
        undo=bool(options.get("undo")),
        approval=bool(options.get("approval")),
        join=options.get("duplicates") == "join",
        tool=tool,
        **{name: options[name] for name in _CARRIED & options.keys()},
    )


def _streams(plan: Plan) -> bool:
    """Whether a call may be answered bit by bit: a message an answer, and a model that takes willContinue."""
    by_itself = plan.reply_format == "tool_response" and plan.reply_batching == "each"
    return by_itself and plan.profile.will_continue == "honoured"


def _behavior(
    spec: ToolSpec, wanted: str | None, plan: Plan, warnings: list[str]
) -> Literal["BLOCKING", "NON_BLOCKING"]:
    """The declared behavior."""
    profile = plan.profile
    if wanted is None:
        # A generator is meant to report bit by bit, which a model reads of calls that it does not wait for.
        if profile.blocking == "refused" or (spec.generator and profile.states_behavior and _streams(plan)):
            return "NON_BLOCKING"
        return "BLOCKING" if profile.states_behavior else profile.default_behavior
    if wanted == "BLOCKING":
        if profile.blocking == "refused":
            instead = "leave behavior out, or say behavior='non_blocking'"
            raise ConfigError(f"{spec.name}: {profile.family} takes no BLOCKING calls; {instead}")
    elif profile.non_blocking == "honoured":
        return "NON_BLOCKING"
    elif wanted != "BACKGROUND":
        warnings.append(
            f"{spec.name}: {profile.family} ignores `behavior`: its calls always block; "
            "behavior='background' answers at once and tells the result later"
        )
    return "BLOCKING"


def _scheduling(spec: ToolSpec, profile: ModelProfile, awaited: bool, warnings: list[str]) -> str | None:
    """The scheduling of the tool's responses; ``None`` where the model takes none. ``awaited``: the call blocks."""
    wanted: str | None = spec.options.get("scheduling")
    if wanted is None or (profile.scheduling == "honoured" and not awaited):
        return wanted
    if profile.scheduling == "refused":
        raise ConfigError(f"{spec.name}: {profile.family} refuses scheduling in a response; leave it out")
    ignores = profile.scheduling == "ignored"
    why = f"{profile.family} ignores it" if ignores else "it is for behavior='non_blocking' only"
    warnings.append(f"{spec.name}: scheduling is left out: {why}")
    return None
