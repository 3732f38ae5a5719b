"""Runs the tools: each call in a task or a thread, with its hooks, its approval and its ``undo``, to one ``Outcome``.

``run_tool`` runs one call of one tool; ``call_hooks`` and ``approvals`` ask whether it may. ``tasks`` runs each call in
a task of its own, ``threads`` sync ones. ``blocked_loop`` finds out who blocks the event loop.

In: ``Start`` and ``Stop`` actions of the machine.
Out: outcomes, progress values, and log lines about tools that fail or block.
"""
