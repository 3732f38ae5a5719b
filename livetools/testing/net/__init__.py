"""Sockets of the fake: listening, TLS, HTTP requests, websockets. It knows nothing of the Live API.

``port`` listens, and owns the tasks of its connections. ``accept`` takes a socket over TLS and its HTTP request to a
handler. ``connection`` is one websocket, with every way to end it, abrupt ones too. ``certificates`` makes those that a
client has to trust, ``urls`` says where the server is found.

In: a host, a port, whether to use TLS; frames to send.
Out: the requests and the frames of clients, in order; the reason why a connection ended.
"""
