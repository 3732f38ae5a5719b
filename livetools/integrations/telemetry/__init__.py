"""The parts of ``livetools.integrations.opentelemetry``.

``session_spans`` makes the span of a session and those of its turns, ``runs`` the span of one run of a tool.
``instruments`` records the metrics. ``attributes`` has the names and values of both, by OpenTelemetry's conventions.

In: the events of a session, and the runs of its tools.
Out: spans and metrics, by the API of OpenTelemetry.
"""
