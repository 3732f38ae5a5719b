"""The bridge of one call: a provider's websocket on one side, a session on the other.

``take_call`` connects the two from the start frame to the end. ``caller_side`` carries sound and keys to the model,
``model_speech`` the model's speech to the caller, and drops what waits when the model is interrupted. ``hold`` plays a
sound while a tool runs. ``call_options`` are the options of ``twilio`` and the others, and the record of a call's end.

In: a websocket, a provider, an agent, the options.
Out: sound both ways, until one side ends; then an ``Ended``.
"""
