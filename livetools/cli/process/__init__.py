"""The command as a process: how it ends, the signals that stop it, and where it keeps its state.

``errors_and_signals`` tells a wrong call (exit status 2) from what failed (1), explains errors about files and ports in
one line, and waits for Ctrl-C or SIGTERM. ``state_folder`` is the folder for what is remembered from run to run.

In: exceptions, signals, the environment.
Out: a ``ConfigError`` or ``UsageError`` with one line, an exit, a path. All folders of the command may import this one.
"""
