"""A session without a socket. Pure and synchronous: no event loop, no clock, no environment.

``machine`` has the inputs (a message came, a handler ended, the user sent text, time has passed) and the outputs
(actions, events, frames), ``view`` what the shell may know of it. ``receive`` handles one message of the server;
``send`` decides what is written next. Each folder below is one part of the state: ``calls``, ``turns``, ``input``,
``connection``, ``transcript``; ``messages`` reads and writes JSON.

In: what happened, with the time and the number of the connection.
Out: what to do, what to tell the user, what to write, and when to wake the machine again.
"""
