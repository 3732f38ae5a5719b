"""Sockets of the fake: listening, TLS, HTTP requests, websockets. It knows nothing of the Live API."""
