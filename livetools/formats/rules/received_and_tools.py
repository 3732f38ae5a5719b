"""Rules for what a client receives (generateContent responses and streams) and for tools."""

from __future__ import annotations

from .rule import Rule

_UNKNOWN = 'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'
_NAME = (
    "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
    "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
)


RECEIVED = (
    Rule(
        "answer-object",
        "the response is an object with candidates, a promptFeedback or an error",
        "Clients read candidates[0].content.parts. The camelCase names are the only ones the service sends.",
        "",
        (
            '{"candidates": [{"content": {"role": "model", "parts": [{"text": …}]}, "finishReason": '
            '"STOP", "index": 0}]}'
        ),
    ),
    Rule(
        "answer-shape",
        "the response has the shape of this API",
        (
            "choices, content blocks and output items belong to other APIs; a client of this one finds no "
            "candidates."
        ),
        "",
        "Build it with formats.text_response or formats.call_response.",
    ),
    Rule(
        "answer-casing",
        "names are camelCase",
        "Requests may use snake_case. Responses never do, and clients do not look for it.",
        "",
        "functionCall, finishReason, usageMetadata …",
    ),
    Rule(
        "answer-content",
        "each candidate has content.parts",
        "A list of parts; absent only where finishReason says why there is no content.",
        "",
        '"content": {"role": "model", "parts": [{"text": …}]}',
    ),
    Rule(
        "answer-role",
        "the role of the content is model",
        "Clients put the content back into the conversation as it is; another role is refused there.",
        "",
        'Set "role": "model".',
    ),
    Rule(
        "answer-part",
        "each part is one the API knows",
        (
            "text, functionCall, inlineData, fileData, executableCode, codeExecutionResult; thought beside "
            "a text."
        ),
        "",
        '{"text": …} or {"functionCall": {"name": …, "args": {…}}}',
    ),
    Rule(
        "answer-args",
        "a functionCall has name and args, args an object",
        "arguments, and JSON in a string, belong to another API.",
        "",
        '{"functionCall": {"name": …, "args": {…}}}',
    ),
    Rule(
        "answer-finish",
        "finishReason is one of the enum",
        "STOP for calls too: there is no tool_calls. Upper case.",
        "",
        'Use "STOP", "MAX_TOKENS", "SAFETY" … as the API spells them.',
    ),
    Rule(
        "answer-finished",
        "a whole response has a finishReason",
        "Without it the client takes the response for a piece of a stream that was cut off.",
        "",
        'Set "finishReason": "STOP".',
    ),
    Rule(
        "answer-index",
        "index is a number",
        "It numbers the candidates; absent means 0.",
        "",
        'Set "index": 0.',
    ),
    Rule(
        "answer-safety",
        "safetyRatings is a list of category and probability",
        "Often absent, never null or an object.",
        "",
        '"safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]',
    ),
    Rule(
        "answer-feedback",
        "promptFeedback is an object",
        "Holds blockReason where the prompt was refused, and safetyRatings.",
        "",
        '"promptFeedback": {"blockReason": "SAFETY"}',
    ),
    Rule(
        "answer-usage",
        "usageMetadata counts in whole numbers",
        "promptTokenCount, candidatesTokenCount, totalTokenCount; not usage, not prompt_tokens.",
        "",
        '"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}',
    ),
    Rule(
        "answer-usage-present",
        "the response says what it used",
        "Clients that count tokens read usageMetadata without checking that it exists.",
        "",
        "Add usageMetadata, to the last chunk at least.",
        "advice",
    ),
    Rule(
        "answer-usage-total",
        "totalTokenCount is at least prompt and candidates together",
        "Thoughts and tool use may add to it.",
        "",
        "Add the counts up.",
        "advice",
    ),
    Rule(
        "answer-error",
        "an error has code, message and status",
        "Clients choose what to retry by code and status.",
        "",
        '{"error": {"code": 400, "message": …, "status": "INVALID_ARGUMENT"}}',
    ),
    Rule(
        "stream-chunks",
        "a stream is a list of responses, with one in it",
        (
            "Each server-sent event, or each element of the array, is a response of its own with a piece "
            "of the text."
        ),
        "",
        "Send at least one chunk.",
    ),
    Rule(
        "stream-finish",
        "only the last chunk has a finishReason",
        "A client stops reading when it sees one; without one it reports that the stream was cut off.",
        "",
        'Leave it out (or null) until the last chunk, and set "STOP" there.',
    ),
)

_TOOLS = (
    Rule(
        "tool-object",
        "a tool is an object of a known shape",
        (
            "{functionDeclarations: […]}; OpenAI's {type: function, …} and {name, input_schema} can be "
            "converted."
        ),
        "",
        '{"functionDeclarations": [{"name": …, "description": …, "parameters": {…}}]}',
    ),
    Rule(
        "tool-name",
        "the service accepts the function's name",
        "Letters, digits, _ . : -, begun with a letter or _, at most 64.",
        _NAME,
        "Rename the function.",
    ),
    Rule(
        "tool-unique",
        "every function has a name of its own",
        "The service refuses two declarations of one name.",
        "Duplicate function declaration found: {name}",
        "Rename one of them.",
    ),
    Rule(
        "tool-description",
        "the function says what it does",
        "The model chooses by it; the Developer API's own definition calls it required.",
        "",
        "Describe what it does and when to call it.",
        "advice",
    ),
    Rule(
        "tool-one-schema",
        "parameters or parametersJsonSchema, not both",
        "They exclude each other.",
        "Request contains an invalid argument.",
        (
            "Keep one of them. In Live, parameters: with the other, 2.x models sent empty args "
            "(python-genai#1147)."
        ),
    ),
    Rule(
        "tool-schema-object",
        "parameters is an object schema",
        "Arguments come as an object.",
        "Invalid value at '{path}', {value}",
        (
            '"parameters": {"type": "OBJECT", "properties": {…}}; a function without arguments leaves '
            "parameters out."
        ),
    ),
    Rule(
        "tool-keyword",
        "parameters uses the keywords that the service knows",
        "It is a subset of OpenAPI 3.0: no $ref, oneOf, const, additionalProperties.",
        _UNKNOWN,
        "Lower it with formats.to_declarations, or give it as parametersJsonSchema.",
    ),
    Rule(
        "tool-type",
        "type is one of the enum",
        "STRING, NUMBER, INTEGER, BOOLEAN, ARRAY, OBJECT, NULL, one of them; a list of types is refused.",
        "Invalid value at '{path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), {value}",
        'One type; "nullable": true for a null.',
    ),
    Rule(
        "tool-json-type",
        "type is one of JSON Schema's",
        "An unknown type says nothing: the parameter is declared as any value.",
        "",
        "string, number, integer, boolean, array, object, null, or a list of them.",
    ),
    Rule(
        "tool-items",
        "an ARRAY says what its items are",
        "The service refuses the schema without it.",
        "* GenerateContentRequest.{path}.items: missing field.",
        '"items": {"type": "STRING"}',
    ),
    Rule(
        "tool-properties",
        "an OBJECT has properties",
        (
            "Some stacks refuse an empty one (langchain-google#416); a function without arguments leaves "
            "parameters out."
        ),
        "* GenerateContentRequest.{path}.properties: should be non-empty for OBJECT type",
        "Name a property, or describe the free form as a STRING of JSON.",
        "advice",
    ),
    Rule(
        "tool-required",
        "required names properties that exist",
        "Otherwise the service refuses the schema.",
        "* GenerateContentRequest.{path}.required: property is not defined",
        "Remove the name from required, or define the property.",
    ),
    Rule(
        "tool-lossless",
        "the schema can be declared without a loss",
        (
            "Keywords that the service does not know are left out of the declaration: the model sees less, "
            "but calls are validated against the whole schema."
        ),
        "",
        "Describe it in the description.",
        "advice",
    ),
)

RECEIVED_AND_TOOL_RULES = (*RECEIVED, *_TOOLS)
