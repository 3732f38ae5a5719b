"""The ``livetools`` command."""
