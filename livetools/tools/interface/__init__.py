"""What a user's code and a session have in common: the context of a tool, agents, the types that are accepted.

``context`` is ``ToolContext``, which a function receives beside its arguments, with the part of a session that it may
use. ``agent_definition`` is ``Agent``: instructions and tools, as data. ``accepted_types`` are the types of ``tools=``,
``instructions=``, ``config=`` and ``history=`` for a type checker.

In: a call, the dependencies of ``connect(deps=...)``, a session; nothing of the other folders here.
Out: objects that user code reads or builds, and types for its annotations.
"""
