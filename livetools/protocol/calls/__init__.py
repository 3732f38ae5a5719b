"""Function calls, to one answer each: limits, concurrency, time-outs, approvals, answers, wording for the model.

``call_states`` is the table of what is owed for each call, and the only module that changes its state. ``calls`` feeds
it. ``call_limits`` says which calls are refused, ``concurrency`` which must wait, ``duplicates`` which share a run.
``responses`` makes the answers, and groups and orders them; ``wording`` is what the model reads beside results.
``driver_actions`` are the actions for the shell, and the outcomes that it gives back.

In: calls, cancellations, lost connections; outcomes of handlers, approvals, the time.
Out: actions for the handlers (start, stop, ask, undo), answers to write, events for the user.

A handler runs at most once per id. An answer is owed per connection and id.
"""
