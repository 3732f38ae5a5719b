"""Who a client is: the endpoint that it dialled, and the credentials that it brought.

``client_identity`` reads the path, the headers and the query of an HTTP request. ``ephemeral_tokens`` are the tokens
that a browser gets in place of a key: what they are good for, and how often they were used.

In: a request; a credential and the time.
Out: the API, its version and the credential; the refusal of a token that is unknown, too old or used up.
"""
