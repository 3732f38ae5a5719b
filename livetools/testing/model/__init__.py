"""What the author of a pretend model works with: the turn, its calls and their results.

``turn`` is what a model can do when the user has spoken: call, speak, interrupt, close or drop the connection. It does
all of it through the session that it is given. ``fake_call`` holds the calls of a conversation, with the answers that
came. ``late_results`` reads the results that a client sends as text, because their calls can no longer be answered.

In: what the user said; the verbs of the model; the function responses of the client.
Out: calls and speech, for the session; for the test, each call with its state and its answers.

The user's side of a script is :class:`~livetools.testing.User`, in ``testing/live/conversation_script.py``.
"""
