"""Laws written in Python: the bases, a copy for each run, files, lines to blame."""

from sojourn.laws_in_python.base import LawInPython
from sojourn.laws_in_python.controller import Controller
from sojourn.laws_in_python.law import Law

__all__ = ["BASES", "Controller", "Law", "LawInPython"]

#: What a law has above it that is none of its author's.
BASES: tuple[type, ...] = (object, LawInPython, Controller, Law)
