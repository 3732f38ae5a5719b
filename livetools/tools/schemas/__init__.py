"""JSON Schema: how a Python type is declared, and how any schema is reduced to the subset that the Live API reads.

``python_types`` declares Python types, by pydantic and with a method for each type that Live reads otherwise.
``live_subset`` reduces JSON Schema to the OpenAPI subset of ``parameters``. ``keywords`` are the keywords of that
subset, and helpers that inspect and merge schemas.

In: types as pydantic describes them; JSON Schema of any draft and from any library.
Out: a schema that the service accepts, and a line for each thing that the subset cannot say. Pure functions.
"""
