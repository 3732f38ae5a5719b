"""Runs the tools: each call becomes one ``Outcome``, whatever its function does.

``handlers`` runs one call of one tool. ``workers`` are the tasks for async functions, ``threads`` the daemon threads
and executors for sync ones. ``loop_lag`` and ``loop_sampler`` find a tool that blocks the event loop.

In: ``Start`` and ``Stop`` actions of the machine.
Out: outcomes, progress values, and log lines about tools that fail or block.
"""
