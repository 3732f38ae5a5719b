"""What a tool is defined by: a function's annotations and docstring and its options, or another library's declaration.

``annotations`` resolves the annotations of parameters, ``docstrings`` reads the description, with
``docstring_arguments`` for the text of each argument. ``tool_options`` holds every option of ``@tool``, with its
default and its check. ``callbacks`` looks at the functions and methods of the user that are called besides.
``foreign_declarations`` reads the declarations of google-genai, OpenAI, Anthropic and MCP.

In: a function or a declaration, and options, as the user wrote them.
Out: resolved annotations, texts, checked options, plain declarations. What is no tool is a ``ToolDefinitionError``.
"""
