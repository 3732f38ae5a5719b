"""Rules for what a client sends: text, function responses, Live frames, conversations."""

from __future__ import annotations

from .rule import Rule

_UNKNOWN = 'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
_INVALID = "Request contains an invalid argument."
STRUCT = "Invalid value at '{path}' (type.googleapis.com/google.protobuf.Struct), {value}"
EQUAL = (
    "Please ensure that the number of function response parts is equal to the number of function call parts "
    "of the function call turn."
)
_AFTER_CALL = "Please ensure that function response turn comes immediately after a function call turn."
_AFTER_USER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response "
    "turn."
)

_TEXT = (
    Rule(
        "json-text",
        "the text is JSON",
        "Frames and bodies are JSON in UTF-8. NaN and Infinity are not JSON, though Python's "
        "json module writes them.",
        "Invalid JSON payload received. Unexpected token.",
        "Write it with json.dumps(value, allow_nan=False).",
    ),
    Rule(
        "python-text",
        "the text is JSON, not a Python value",
        "str(a_dict) and print(a_dict) give single quotes, True and None. They look like JSON and are not.",
        "Invalid JSON payload received. Unexpected token.",
        "Send json.dumps(value), not str(value) and not an f-string with the dict in it.",
    ),
    Rule(
        "json-twice",
        "the text is JSON, not JSON within a JSON string",
        "It was put through json.dumps twice, or a library that encodes for itself was given text.",
        'Invalid JSON payload received. Unknown name "": Root element must be a message.',
        "Encode once: give json.dumps the object, or the library the object itself.",
    ),
    Rule(
        "document-kind",
        "the document is something that can be checked",
        "Function calls and responses, conversations, generateContent responses and streams, "
        "tools, Live frames, recordings.",
        "",
        "Say what it is with --kind, or check the part of it that is sent.",
    ),
)

RESPONSES = (
    Rule(
        "response-object",
        "response is a JSON object",
        "The field is a google.protobuf.Struct. The model reads the value under output (or "
        "result, or content), and a failure under error.",
        STRUCT,
        'Wrap the value: "response": {"output": value}.',
    ),
    Rule(
        "response-list",
        "response is an object, not a list",
        "The field is one google.protobuf.Struct; a list is read as an attempt to repeat it.",
        "Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Proto field is not "
        "repeating, cannot start list.",
        'Wrap the list: "response": {"output": [...]}.',
    ),
    Rule(
        "response-present",
        "there is a response",
        "Without one the model reads that the function returned nothing.",
        "",
        'Put what the function returned under "response": {"output": value}.',
        "advice",
    ),
    Rule(
        "response-id",
        "the id of the call is given",
        "A Live model pairs answers by id. Without it some tolerate the name, others never speak "
        "again and report no error (firebase-android-sdk#7532); google-genai refuses to send it.",
        "",
        "Copy functionCalls[].id of the call into id.",
    ),
    Rule(
        "response-id-content",
        "the id of the call is given in the part",
        "Not needed if all calls have different names. Without it, two calls of one function cannot be "
        "told apart.",
        "",
        "Copy functionCall.id, where the call has one, into functionResponse.id.",
        "advice",
    ),
    Rule(
        "response-name",
        "the name of the function is given",
        "gemini-3.8-live-extended-thinking takes a nameless answer for a failed call "
        "(roomkit#42); generateContent refuses it.",
        "* GenerateContentRequest.{path}.name: Name cannot be empty.",
        "Copy the name of the call into name.",
    ),
    Rule(
        "response-name-live",
        "the name of the function is given, beside its id",
        "The id was enough up to 3.1. gemini-3.8-live-extended-thinking takes a nameless answer for a failed "
        "call and mentions a system error (roomkit#42, 2026-09-18).",
        "",
        "Copy the name of the call into name.",
    ),
    Rule(
        "response-error",
        "the response reports an error",
        "The model reads the value under error as a failure of the function. The shape is right.",
        "",
        "Ignore this if the function failed; otherwise use `output`.",
        "note",
    ),
    Rule(
        "scheduling-place",
        "`scheduling` is a sibling of `response`",
        "Inside response, the model may read it as a part of the result. There are samples of both kinds; "
        "the types of the API have it beside response.",
        "",
        "Move scheduling out of response, next to id and name.",
        "advice",
    ),
    Rule(
        "scheduling-value",
        "scheduling is INTERRUPT, WHEN_IDLE or SILENT",
        "It is an enum, for functions declared NON_BLOCKING.",
        "Invalid value at '{path}'",
        "Use INTERRUPT, WHEN_IDLE or SILENT.",
    ),
    Rule(
        "unknown-field",
        "every field is one that the API knows",
        "The service reads proto3 JSON: it refuses a message with one unknown name anywhere.",
        _UNKNOWN,
        "Remove it, or spell it as the API does.",
    ),
    Rule(
        "value-type",
        "values have the type of their field",
        "An object where an object is expected, a list where the field repeats.",
        "Invalid value at '{path}', {value}",
        "Give the type that the field has.",
    ),
)

LIVE = (
    Rule(
        "live-message",
        "a Live frame has one of the known keys, and one only",
        "setup, clientContent, realtimeInput, toolResponse or contextUpdate. There is no "
        "functionResponse at the top, and BidiGenerateContentToolResponse is the name of the "
        "type, not of the field.",
        _UNKNOWN,
        '{"toolResponse": {"functionResponses": [{"id": …, "name": …, "response": {…}}]}}',
    ),
    Rule(
        "live-response-list",
        "functionResponses is a list",
        "One toolResponse may answer several calls.",
        "Invalid value at '{path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionResponse), "
        "{value}",
        'Put the answer into a list: "functionResponses": [{…}].',
    ),
    Rule(
        "live-response-empty",
        "functionResponses has an answer in it",
        "The service accepts an empty one, but it answers nothing: the model keeps waiting.",
        "",
        '"functionResponses": [{"id": …, "name": …, "response": {…}}]',
    ),
    Rule(
        "turn-complete",
        "a clientContent that answers calls is complete",
        "Without turnComplete the service waits for the rest of the turn, and the model never speaks.",
        "",
        'Add "turnComplete": true beside turns.',
    ),
    Rule(
        "turn-role",
        "every turn of clientContent has a role",
        "gemini-3.8-live closes for a turn without one (measured 2026-09-17), though the SDKs "
        "call it optional.",
        _INVALID,
        'Add "role": "user" (or "model").',
    ),
    Rule(
        "call-answered",
        "every call of the session is answered",
        "A blocking call that nobody answers silences the session for good; the service has no "
        "timeout for it (livekit/agents#6600).",
        "",
        "Answer each id once, with an error if the function failed; only ids in "
        "toolCallCancellation stay unanswered.",
    ),
    Rule(
        "answered-once",
        "no call is answered twice, or after its cancellation",
        "The service ignores later answers, or reads them as input of the user.",
        "",
        "Send one final response an id; willContinue: true announces more for it.",
        "advice",
    ),
    Rule(
        "answer-known",
        "every answer belongs to a call",
        "The service ignores an unknown id, or closes the session with 1008.",
        "Requested entity was not found.",
        "Answer on the connection that asked, with the id it gave.",
    ),
)

CONVERSATION = (
    Rule(
        "contents-list",
        "contents is a list of contents",
        "A conversation is a list of {role, parts}, oldest first.",
        "* GenerateContentRequest.contents: contents is not specified",
        'Give [{"role": "user", "parts": [{"text": …}]}, …].',
    ),
    Rule(
        "content-object",
        "a content is an object",
        "A turn is {role, parts}, not a string.",
        "Invalid value at '{path}' "
        "(type.googleapis.com/google.ai.generativelanguage.v1beta.Content), {value}",
        '{"role": "user", "parts": [{"text": …}]}',
    ),
    Rule(
        "content-role",
        "roles are user and model",
        "assistant, function, tool and system are roles of other APIs. Results of functions have "
        "the role user.",
        "Please use a valid role: user, model.",
        "user for what is sent, function responses included; model for what the model said.",
    ),
    Rule(
        "content-parts",
        "a content's text is inside `parts`",
        "Text, calls and responses are parts; the content itself has only role and parts.",
        _UNKNOWN,
        '{"role": "user", "parts": [{"functionResponse": {…}}]}',
    ),
    Rule(
        "parts-list",
        "parts is a list with something in it",
        "A turn may have several parts, and needs one.",
        "* GenerateContentRequest.{path}: contents.parts must not be empty.",
        '"parts": [{"text": …}]',
    ),
    Rule(
        "part-object",
        "a part is an object",
        "A text is {text}, not a bare string.",
        "Invalid value at '{path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Part), {value}",
        '{"text": "…"}',
    ),
    Rule(
        "response-role",
        "function responses are in a user turn",
        "The model calls, the user's side answers. Older samples say function, which only the "
        "Developer API tolerates.",
        "Content with role 'model' can't contain 'functionResponse' part",
        'Set "role": "user".',
    ),
    Rule(
        "call-role",
        "function calls are in a model turn",
        "They are the model's own words, given back to it.",
        "Content with role 'user' can't contain 'functionCall' part",
        'Set "role": "model".',
    ),
    Rule(
        "call-name",
        "a function call has a name",
        "It is given back as it came.",
        "* GenerateContentRequest.{path}.name: Name cannot be empty.",
        "Keep the part of the model's response as it is.",
    ),
    Rule(
        "call-args",
        "args is a JSON object",
        "Another API gives arguments as a string of JSON; here they are an object, under args.",
        STRUCT,
        "json.loads the string, and call it args.",
    ),
    Rule(
        "call-follows",
        "a function-call turn follows a user or a function-response turn",
        "The service refuses two turns of the model in a row.",
        _AFTER_USER,
        "Put the call into the content of the words before it, or the missing user turn in between.",
    ),
    Rule(
        "response-follows",
        "function responses follow the turn of their calls at once",
        "Nothing may come between them, and a response without a call answers nothing.",
        _AFTER_CALL,
        "Put the content with the responses directly after the content with the calls.",
    ),
    Rule(
        "response-count",
        "as many function responses as calls, in one content",
        "All calls of a turn are answered together, before any other turn.",
        EQUAL,
        "Answer every call of the turn in one content, one part a call; report failures under error.",
    ),
    Rule(
        "response-id-match",
        "ids of responses are those of the calls",
        "Each response names the call it answers.",
        "functionResponse.id does not match functionCall.id",
        "Copy functionCall.id into functionResponse.id.",
    ),
    Rule(
        "response-name-match",
        "names of responses are those of the calls",
        "Without ids the name is all that pairs them.",
        _INVALID,
        "Copy functionCall.name into functionResponse.name.",
    ),
)

SENT_RULES = (*_TEXT, *RESPONSES, *LIVE, *CONVERSATION)
