"""``generateContent`` and ``streamGenerateContent`` on the same pretend model, on the same port.

REST has no session: each request brings the whole conversation. So the model's coroutine runs from its beginning for
each, and its calls are answered from the conversation as far as that goes; the first that is not ends the response.
What it said before was said before, and is not repeated.
"""

from __future__ import annotations

import json
import re

import anyio
from anyio.abc import ByteStream

from livetools.setup.model_profiles import find
from livetools.testing.live.refusals import BAD_NAME, FUNCTION_NAME, parameters_fault
from livetools.testing.messages import client_schema
from livetools.testing.service import Service
from livetools.testing.wire import Message, ServiceRefusal

from .http import Chunks, HttpError, HttpRequest, error, json_body, read_request, respond
from .request import RestChannel
from .request_contents import contents_fault

_GENERATE = re.compile(
    r"/(?P<version>v\w+)/(?:.+/)?models/(?P<model>[^/:]+)[:/](?P<verb>(?:streamG|g)enerateContent)$"
)
_MODELS = re.compile(r"/(?P<version>v\w+)/models(?:/(?P<model>[^/:]+))?$")
_TOKENS = re.compile(r"/(?P<version>v\w+)/auth_tokens$")
_LISTED = ("gemini-3.8-flash", "gemini-2.5-flash", "gemini-3.8-live", "gemini-3.1-flash-live-preview")


async def serve(service: Service, stream: ByteStream, head: bytes) -> None:
    """Answer one HTTP request of any kind."""
    try:
        request = await read_request(stream, head)
        path = re.sub("/{2,}", "/", request.path)
        if found := _GENERATE.search(path):
            await _generate(service, stream, request, found)
        elif found := _TOKENS.search(path):
            await respond(stream, 200, _mint(service, request))
        elif found := _MODELS.search(path):
            await respond(stream, 200, _models(found))
        else:
            text = f"This is livetools' fake Live server: it has nothing at {request.method} {request.path}\n"
            await respond(stream, 404, text)
    except HttpError as refusal:
        service.note(f"answered {refusal.status}: {refusal.body['error'].get('message', '').strip()}")
        await respond(stream, refusal.status, refusal.body)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
        return  # the client has gone


def _mint(service: Service, request: HttpRequest) -> Message:
    _check_key(service, request)
    body = json_body(request)
    known = {"uses", "expireTime", "newSessionExpireTime", "bidiGenerateContentSetup", "fieldMask", "name"}
    if unknown := set(body) - known:
        raise error(400, _unknown(min(unknown), "auth_token"))
    uses = body.get("uses", 1)
    if not client_schema.is_int32(uses):
        raise error(400, f"Invalid value at 'auth_token.uses' (TYPE_INT32), {json.dumps(uses)}")
    read, faults = client_schema.read({"setup": body.get("bidiGenerateContentSetup") or {}})
    if faults and service.strict:
        raise _schema_error(faults)
    return {"name": service.mint_token(uses=int(uses), setup=read.get("setup") or {})}


def _models(found: re.Match[str]) -> Message:
    names = _LISTED if found["model"] is None else (found["model"],)
    models = [
        {
            "name": f"models/{name}",
            "supportedGenerationMethods": ["bidiGenerateContent" if find(name).known else "generateContent"],
        }
        for name in names
    ]
    return {"models": models} if found["model"] is None else models[0]


def _check_key(service: Service, request: HttpRequest) -> None:
    bearer = request.headers.get("authorization", "").partition(" ")[2]
    key = request.headers.get("x-goog-api-key") or request.query.get("key") or bearer
    if service.api_keys is None or key in service.api_keys:
        return
    if not key:
        raise error(
            403,
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API.",
        )
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    raise error(400, "API key not valid. Please pass a valid API key.", [info])


def _unknown(name: str, path: str) -> str:
    return f"Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find field."


# -- generateContent


async def _generate(service: Service, stream: ByteStream, request: HttpRequest, found: re.Match[str]) -> None:
    if request.method != "POST":
        raise error(404, f"{request.method} is not for generateContent.")
    _check_key(service, request)
    vertex = "/publishers/" in request.path
    body, faults = client_schema.read(json_body(request), vertex=vertex, root="GenerateContentRequest")
    service.record("client", 0, {found["verb"]: body})
    if faults and service.strict:
        raise _schema_error(faults)
    if service.strict:
        _check(body, found)
    exchange = RestChannel(service, body, found["model"])
    if found["verb"] == "generateContent":
        await _whole(exchange, stream)
    else:
        await _streamed(exchange, stream, sse=request.query.get("alt") == "sse")


async def _whole(exchange: RestChannel, stream: ByteStream) -> None:
    parts: list[Message] = []

    async def keep(part: Message) -> None:
        if parts and "text" in part and "text" in parts[-1]:
            parts[-1]["text"] += part["text"]
        else:
            parts.append(part)

    await exchange.run(keep)
    await respond(stream, 200, exchange.response(parts, last=True))


async def _streamed(exchange: RestChannel, stream: ByteStream, *, sse: bool) -> None:
    """A response object a part, the last with the finish reason; an array where no events are asked for."""
    chunks = Chunks(stream, "text/event-stream" if sse else "application/json; charset=UTF-8")
    held: list[Message] = []

    async def write(answer: Message) -> None:
        if sse:
            await chunks.write(f"data: {json.dumps(answer, ensure_ascii=False)}\r\n\r\n")
        else:
            await chunks.write(
                ("," if chunks.begun else "[") + json.dumps(answer, indent=2, ensure_ascii=False)
            )

    async def pass_on(part: Message) -> None:
        if held:
            await write(exchange.response([held.pop()]))
        held.append(part)

    try:
        await exchange.run(pass_on)
    except HttpError:
        if chunks.begun:  # too late for a status: the answer breaks off
            return
        raise
    await write(exchange.response(held, last=True))
    if not sse:
        await chunks.write("]\n")
    await chunks.end()


def _schema_error(faults: list[ServiceRefusal]) -> HttpError:
    violations = [{"description": fault.reason} for fault in faults]
    details = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}
    return error(400, "\n".join(fault.reason for fault in faults), [details])


def _check(body: Message, found: re.Match[str]) -> None:
    model, version = found["model"], found["version"]
    live_only = find(model).known and not model.startswith("gemini-2.0-flash-exp")
    if live_only or not model.startswith(("gemini-", "gemma-")):
        raise error(
            404,
            f"models/{model} is not found for API version {version}, or is not supported for generateContent. "
            "Call ListModels to see the list of available models and their supported methods.",
        )
    if fault := contents_fault(body.get("contents") or [], signatures=model.startswith("gemini-3")):
        raise error(400, fault)
    for n, tool in enumerate(body.get("tools") or []):
        for m, declaration in enumerate(tool.get("functionDeclarations") or []):
            path = f"tools[{n}].function_declarations[{m}]"
            if not FUNCTION_NAME.fullmatch(declaration.get("name") or ""):
                raise error(400, f"* GenerateContentRequest.{path}.name: {BAD_NAME}\n")
            if wrong := parameters_fault(
                declaration.get("parameters"), f"GenerateContentRequest.{path}.parameters"
            ):
                raise error(400, wrong.reason)
