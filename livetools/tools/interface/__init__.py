"""What users write against, and the session serves: the context of a tool, hooks, agents, the types that are accepted.

``context`` is ``ToolContext``, which a function receives beside its arguments. ``hooks`` is the base class of what runs
around calls and hears what is said. ``agent_definition`` is ``Agent``: instructions and tools, as data.
``accepted_types`` are the types of ``tools=``, ``instructions=``, ``config=`` and ``history=`` for a type checker.

In: a call, the dependencies of ``connect(deps=...)``, and the session as a protocol; nothing of the other folders here.
Out: objects that user code reads, derives from, or builds.
"""
