"""The parts of ``livetools.integrations.opentelemetry``."""
