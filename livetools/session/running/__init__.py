"""Runs a machine: its tasks, its sockets, its clock, and the events on their way to the user.

``driver`` feeds the machine and carries out its actions; ``session_driver`` adds what only a session has. ``sockets``
runs one task per connection, ``writer`` writes frames in order, ``inbox`` queues events for the user within a bound of
bytes. ``host`` owns every task, so that a session can be entered in one task and left in another. ``clock`` tells the
time, and makes the timer that calls back when the machine wants to be woken.

In: a machine, a transport, a clock. Out: events. A failure of a task becomes an input of the machine, never an
exception in somebody else's task.
"""
