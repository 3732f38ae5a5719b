"""Runs a session's machine: tasks, sockets, writes, clock, hand-offs, the log of the line, unread events, the leaving.

``driver`` feeds the machine and carries out its actions; ``session_driver`` adds what only a session has. ``sockets``
runs one task per connection, ``writer`` writes frames in order, ``unread_events`` is bounded in bytes. ``task_host``
owns every task, so that a session can be entered in one task and left in another.

In: a machine, a transport, a clock. Out: events. A failure of a task becomes an input of the machine, never an
exception in somebody else's task.
"""
