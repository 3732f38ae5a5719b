"""Doubles of the providers, for tests. Users import them from ``telephony.testing``.

``phones`` speak as Twilio, Telnyx and Plivo do to an app's websocket, and read what it answers. ``rest_apis`` answer
the requests that hang up and transfer a call.

In: sound and keys of a pretend caller; messages and requests of the app.
Out: messages as a provider sends them; what the app has sent, and which requests it has made.
"""
