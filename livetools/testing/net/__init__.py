"""Sockets: where the fake server listens, TLS, the HTTP request, the websocket. It knows nothing of Live."""
