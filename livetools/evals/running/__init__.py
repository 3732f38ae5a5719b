"""Runs evals: one conversation, then many of them.

``playing`` opens an agent, lets a caller talk to it, and returns the record. ``repeated_runs`` plays each eval as often
as asked, has the conversations graded, and computes the pass rate with its confidence interval.

In: ``Eval`` objects: an agent, a caller, the expectations and the faults.
Out: a ``Conversation`` for each run, and a ``Result`` for each eval, with its rounds and verdicts.

One conversation that breaks is one that failed: the others run on.
"""
