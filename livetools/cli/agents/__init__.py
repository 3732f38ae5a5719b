"""The agent that a command runs: from its arguments and options to open sessions.

``common_options`` are the options that several commands have, TARGET among them. ``load_agent`` imports the agent or
the tools that TARGET names, ``open_sessions`` makes an opener of sessions from them and the options,
``service_or_fake`` decides where it dials. ``reload`` loads TARGET again when its file is saved.

In: TARGET, the values of options, the environment.
Out: an opener of sessions, and the options of ``connect`` for its endpoint; a ``UsageError`` where TARGET is wrong.
"""
