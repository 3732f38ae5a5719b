"""The pretend model of ``livetools chat --fake`` and ``livetools serve``: no intelligence, only words.

It picks the function whose name, description and parameters share the most words with the question, and
fills the arguments from the question by their schema. What it cannot fill it asks for; it invents nothing,
for the functions it calls are real ones.
"""

from .choice import Guess, choose
from .model import Pretend

__all__ = ["Guess", "Pretend", "choose"]
