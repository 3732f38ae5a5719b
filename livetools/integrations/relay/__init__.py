"""The parts of :func:`livetools.integrations.starlette.relay`: its messages, its log, one conversation."""
