"""``Pretend``: a pretend model without code, which picks functions by words. ``FakeLiveServer(Pretend())``.

It picks the function whose name, description and parameters share the most words with the question, and
fills the arguments from the question by their schema. What it cannot fill it asks for; it invents nothing,
for the functions it calls are real ones. ``livetools chat --fake`` and ``livetools serve`` talk to it, and
:class:`~livetools.testing.Rules` (``rule_based``) falls back to it.

``words`` splits a question, ``choice`` picks functions, ``fill_arguments`` reads their arguments, ``model`` speaks.

In: what the user says, the declared functions, the rules if there are any.
Out: calls and texts, by the verbs of a :class:`~livetools.testing.Turn`.
"""

from .choice import Guess, choose, fill, readable
from .model import Pretend, asking, spoken

__all__ = ["Guess", "Pretend", "asking", "choose", "fill", "readable", "spoken"]
