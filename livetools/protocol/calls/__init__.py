"""Function calls: from the server's ``toolCall`` to one answer each, whatever happens in between.

``ledger`` is the table of what is owed for each call, and the only module that changes a call's state. ``calls`` feeds
it: limits, approvals and deadlines. ``replies`` groups and orders the answers; ``refusals`` words the errors.

In: calls, cancellations, lost connections; outcomes of handlers, approvals, the time.
Out: actions for the handlers (``actions``: start, stop, ask, undo), answers to write, events for the user.

A handler runs at most once per id. An answer is owed per connection and id.
"""
