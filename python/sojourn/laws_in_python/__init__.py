"""Laws and congestion controls written in Python: the bases, a copy for each run, files, lines to blame."""

from sojourn.laws_in_python.base import InPython, LawInPython
from sojourn.laws_in_python.congestion import CongestionControl
from sojourn.laws_in_python.controller import Controller
from sojourn.laws_in_python.law import Law

__all__ = ["BASES", "CongestionControl", "Controller", "InPython", "Law", "LawInPython"]

#: What stands above a user's class and is none of its author's.
BASES: tuple[type, ...] = (object, InPython, LawInPython, Controller, Law, CongestionControl)
