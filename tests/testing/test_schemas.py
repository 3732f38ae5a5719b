"""What a function's parameters must be."""

from __future__ import annotations

import pytest

from livetools.testing.schemas import parameters_fault, schema_fault, takes_nothing

GOOD = [
    None,
    {},
    {
        "type": "OBJECT",
        "properties": {"a": {"type": "ARRAY", "items": {"type": "STRING"}}},
        "required": ["a"],
    },
    {"type": "string", "format": "date-time"},
    {"type": "NUMBER", "format": "float"},
    {"anyOf": [{"type": "STRING"}, {"type": "NULL"}]},
]
BAD = [
    ({"type": "ARRAY"}, "* p.items: missing field."),
    ({"type": "ARRAY", "items": {"type": "ARRAY"}}, "* p.items.items: missing field."),
    ({"anyOf": [{"type": "STRING"}, {"type": "ARRAY"}]}, "* p.any_of[1].items: missing field."),
    (
        {"properties": {"a": {"type": "OBJECT", "properties": {}}}},
        "* p.properties[a].properties: should be non-empty",
    ),
    ({"properties": {"a": {}}, "required": ["a", "b"]}, "* p.required[0]: property is not defined"),
    ({"type": "STRING", "format": "uuid"}, "* p.format: only 'enum' and 'date-time'"),
]


@pytest.mark.parametrize("schema", GOOD)
def test_what_the_service_takes_is_taken(schema):
    assert schema_fault(schema, "p") is None


def test_vertex_takes_any_format():
    assert schema_fault({"items": {"type": "STRING", "format": "uuid"}}, "p", vertex=True) is None


@pytest.mark.parametrize(("schema", "reason"), BAD)
def test_what_it_refuses_is_named_with_its_path(schema, reason):
    fault = schema_fault(schema, "p")
    assert fault is not None
    assert fault.reason.startswith(reason)
    assert fault.why


EMPTY = {"type": "OBJECT", "properties": {}}


@pytest.mark.parametrize(
    "parameters", [EMPTY, {"properties": {}, "required": []}, EMPTY | {"description": "No."}]
)
def test_a_function_without_parameters_may_say_so_with_an_empty_object(parameters):
    assert takes_nothing(parameters)
    assert parameters_fault(parameters, "p") is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "OBJECT", "properties": {"a": EMPTY}},
        {"type": "ARRAY", "items": EMPTY},
        {"anyOf": [EMPTY]},
        EMPTY | {"required": ["a"]},
        EMPTY | {"anyOf": [EMPTY]},
        {"type": "ARRAY", "properties": {}},
    ],
)
def test_an_empty_object_anywhere_else_is_refused(parameters):
    assert not takes_nothing(parameters)
    assert parameters_fault(parameters, "p") is not None
