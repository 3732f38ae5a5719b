"""The pytest plugin: the ``live_server`` fixture."""
