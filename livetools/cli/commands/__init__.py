"""The subcommands of ``livetools``, a module for each: its options, its help, and what it does.

``chat`` and ``voice`` talk with a model, ``web`` serves the page on which an agent is developed, ``serve`` the fake
service. ``tools`` prints declarations, ``check_json`` finds faults in JSON, ``doctor`` and ``probe`` ask the service,
``eval`` judges an agent, ``record_and_replay`` keeps conversations and plays them again.

In: what typer has parsed of the command line.
Out: what the command prints, writes or serves, and its exit status. Only ``app`` imports from here.
"""
