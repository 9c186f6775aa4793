"""Laws, qdiscs and congestion controls written in Python: bases, copies for runs, files, lines of errors."""

from sojourn.custom.base import STAND_IN, CustomLaw, CustomQdisc, InPython
from sojourn.custom.congestion import CongestionControl
from sojourn.custom.controller import Controller
from sojourn.custom.law import Law
from sojourn.custom.qdisc import Qdisc

__all__ = [
    "BASES",
    "STAND_IN",
    "CongestionControl",
    "Controller",
    "CustomLaw",
    "CustomQdisc",
    "InPython",
    "Law",
    "Qdisc",
]

#: Base classes of this package, as opposed to the author's own.
BASES: tuple[type, ...] = (
    object,
    InPython,
    CustomQdisc,
    CustomLaw,
    Controller,
    Law,
    Qdisc,
    CongestionControl,
)
