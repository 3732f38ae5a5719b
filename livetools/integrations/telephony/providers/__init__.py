"""Providers of phone calls: how the messages of a call's websocket are read and written.

``provider`` is the class to derive a provider from, the records of what a message says, and the checks of what a
stranger sent. ``built_in`` has Twilio, Telnyx and Plivo, with their tokens and signatures.

In: messages and headers of a websocket; sound, marks and keys that are to go out.
Out: ``Start``, ``Media``, ``Key``, ``Mark`` and ``Stop``; messages in a provider's own spelling.
"""
