"""The Live API side of the fake: what it accepts and refuses, and one conversation with a client.

``handshake`` takes a socket from its upgrade to its conversation, which ``resumption`` finds or begins.
``fake_session`` is the conversation: ``user_input`` gathers what the client sends, ``call_answers`` enters the
answers to calls, ``turn_queue`` says which turn speaks, ``fault_injection`` sends the frames. ``refusals`` is the table
of what the service or one model does not take. ``conversation_script`` is the user's side in a script of a whole
conversation, ``hang_detection`` fails a test that would wait forever.

In: the messages of a client; what a pretend model does.
Out: the messages of the server, or the close that refuses; the frames and the calls, in the server's log.
"""
