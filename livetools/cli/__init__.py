"""The ``livetools`` command.

``main`` is the entry point, ``app`` has the subcommands and tells errors, ``show_warnings`` prints the library's
warnings. ``commands`` has a module for each subcommand. They use ``agents`` to open sessions from what was typed,
``terminal`` to talk with a person, ``page`` to serve the page of ``livetools web``, ``recordings`` to keep
conversations, and ``process`` for exit statuses, signals and the folder for state.

In: arguments, options, the environment, what is typed and spoken.
Out: lines on standard output and standard error, files, pages, an exit status.
"""
