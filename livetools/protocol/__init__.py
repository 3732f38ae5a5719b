"""A session without a socket: what follows from each verb of the user, each message and each moment that passes.

Pure and synchronous: no event loop, no clock, no environment. ``session_machine`` has a method for each input;
``receive`` handles a message, ``send`` decides what is written next, and what waits for a quiet moment.
``still_to_come`` says what is pending, ``plan_changes`` keeps changes that need another connection, and
``reported_events`` the events that the shell has not taken yet. ``view`` has all parts and what the shell may read of
them. Each folder is a part of the state.

In: what happened, with the time and the number of the connection.
Out: what to do, what to tell the user, what to write, and when to wake the machine again.
"""

# Modules in aliases/ are found in this package, under the names that programs outside import.
__path__.append(f"{__path__[0]}/aliases")
