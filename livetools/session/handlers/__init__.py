"""Runs the tools: each call in a task or a thread, with its hooks, its approval and its ``undo``, to one ``Outcome``.

``run_tool`` runs one call of one tool. ``tasks`` runs each call in a task of its own, ``threads`` has the daemon
threads and executors for sync ones. ``blocked_loop`` finds out who blocks the event loop.

In: ``Start`` and ``Stop`` actions of the machine.
Out: outcomes, progress values, and log lines about tools that fail or block.
"""
