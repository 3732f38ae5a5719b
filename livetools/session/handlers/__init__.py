"""Runs the tools: each call in a task or a thread, with its hooks, its approval and its ``undo``, to one ``Outcome``.

``run_tool`` asks the ``approval`` of one call, runs its tool, and undoes it; ``call_hooks`` asks its hooks. ``tasks``
gives each call a task of its own (a ``job``), ``user_code`` cancels and abandons what runs there. ``threads`` runs sync
tools, which ``from_thread`` lets call back into the loop. ``blocked_loop`` finds out who blocks the event loop.

In: ``RunTool`` and ``StopTool`` actions of the machine.
Out: outcomes, progress values, and log lines about tools that fail or block.
"""
