"""Validation: the arguments of a call become the arguments of a function, or an error that the model can act on.

``signature`` reads which parameters the model fills, and passes their values on. ``validator`` validates by
annotations, with pydantic; ``pydantic_annotations``, ``enum_members`` and ``strictness`` help where pydantic would
refuse what a model sends, or read it otherwise. ``schema_validator`` validates by a declared schema, for tools that are
not made of a function. ``invalid_arguments`` words the errors.

In: annotations or a schema, and the arguments as the model sent them.
Out: values to call the function with, the JSON Schema of its parameters, or ``InvalidArguments``.
"""
