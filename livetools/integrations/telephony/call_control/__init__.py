"""Call control: what can be done with a call that is under way, beside speaking.

``accounts`` hangs up and transfers calls by the REST APIs of Twilio, Telnyx and Plivo. ``phone_call`` is the call that
a tool runs in, with its start frame, keys and transfers. ``call_tools`` has tools that are ready for the model: hang
up, press keys, transfer the caller.

In: a provider's account, the ids of a call, the model's wish.
Out: requests to a provider's API, keys for the line, an ``AccountError`` where the provider refuses.
"""
