"""The messages of a session in JSON, as the fake reads and writes them.

``client_schema`` checks a client's messages against the table of their fields, types and enums, and words the refusal
as the service does. ``output`` builds what a server sends in a turn (text, audio, transcripts, the end of the
turn, usage), and keeps count of what has been said.

In: a message of the client, as JSON; what the model says.
Out: the message as it is read, with what is wrong with it; the messages of the server.

No frame model is shared with livetools' own client, so that a field that one side misspells shows.
"""
