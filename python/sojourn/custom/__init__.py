"""Laws and congestion controls written in Python: base classes, copies for runs, files, lines of errors."""

from sojourn.custom.base import CustomLaw, InPython
from sojourn.custom.congestion import CongestionControl
from sojourn.custom.controller import Controller
from sojourn.custom.law import Law

__all__ = ["BASES", "CongestionControl", "Controller", "CustomLaw", "InPython", "Law"]

#: Base classes of this package, as opposed to the author's own.
BASES: tuple[type, ...] = (object, InPython, CustomLaw, Controller, Law, CongestionControl)
