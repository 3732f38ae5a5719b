"""``generateContent`` on the same pretend model, on the same port.

``endpoints`` answers each path, ``http`` reads and writes HTTP/1.1, ``contents`` checks the conversation that a request
brings, and ``request`` runs the model on it. REST has no session: the model's coroutine runs from its beginning
for each request, and its calls are answered from the conversation as far as that goes.

In: an HTTP request on a connection that was accepted.
Out: the response, whole or as a stream of events; an error as the service words it.
"""
