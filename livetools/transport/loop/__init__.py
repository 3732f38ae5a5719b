"""Tasks and time on asyncio and trio: waking a task, timers (also after the process was suspended), sharing the loop.

``wake`` wakes a waiting task and says which loop runs; ``timer`` calls back at a time; ``timeslice`` lets other tasks
run between long pieces of work; ``race`` runs several tasks until the first one ends.

In: nothing but the loop that runs now.
Out: primitives that behave the same on both loops. They exist because anyio's cost too much on the path of a call.
"""
