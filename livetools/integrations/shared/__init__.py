"""What the bridges to pages and to phones share.

``option_checks`` checks the options of both, ``places`` counts the sessions that are open, ``sound_ahead`` bounds
sound that comes faster than it was spoken, ``closing`` has the codes and reasons with which a websocket is closed, and
``last_handle`` resumes a conversation for which another process has saved a newer handle.

In: options, the time, handles from a store.
Out: checked values, permissions, reasons for closing, an open session.
"""
