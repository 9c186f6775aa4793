"""A queue law in ten lines of Python.

>>> import sojourn as sj
>>> class MyLaw(sj.Controller):
...     period = "10 ms"
...     gain = 1e-4  # per packet
...
...     def update(self, seen):
...         return min(1.0, self.gain * seen.backlog_packets)
>>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
>>> sj.run(sc, discs=[MyLaw(), MyLaw(gain=2e-4), "pi"], seeds=range(1, 3)).discs
['MyLaw', 'MyLaw:gain=0.0002', 'pi']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.laws_in_python.base import LawInPython

if TYPE_CHECKING:
    from sojourn._core import Observation

__all__ = ["Controller"]


class Controller(LawInPython):
    """Base of queue laws written in Python: every `period`, `update` says with which probability to act.

    Until the next update each arriving packet is marked (where it can do ECN) or dropped with that
    probability, independently of the others and by the run's own random numbers: PI written in this way
    gives the verdicts of the built-in one, packet by packet. A law that judges packets itself is a
    `sojourn.Law`.

    An object is a template. Every run gets a copy of its own (`copy.deepcopy`, lists and other mutable
    values of the class included), so seeds run side by side and share nothing. What lies outside the
    object is not copied: keep state in `self`.

    A class's parameters are its public values, as `gain` in the example above, and are set by name;
    a class with a constructor of its own (a dataclass, say) has what that takes.

    To try `update` by hand give it any object with what it reads, such as
    ``types.SimpleNamespace(backlog_packets=50)``.
    """

    #: Time between updates: text with a unit, 1 us or more. The first update is one period after the start.
    period: str

    def update(self, seen: Observation) -> float:
        """The probability, 0 to 1, to apply until the next update.

        An exception, NaN, a bool or a number outside [0, 1] ends the run with a `LawFailed` that names
        the line.

        >>> from types import SimpleNamespace
        >>> import sojourn as sj
        >>> class Ramp(sj.Controller):
        ...     period = "10 ms"
        ...
        ...     def update(self, seen):
        ...         return min(1.0, seen.backlog_packets / 200)
        >>> Ramp().update(SimpleNamespace(backlog_packets=50))  # tried by hand
        0.25
        """
        raise NotImplementedError
