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

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sojourn.laws_in_python.base import LawInPython

if TYPE_CHECKING:
    from sojourn._core import Observation, Rest

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

    def linear(self, rest: Rest) -> tuple[Sequence[float], Sequence[float]] | None:  # noqa: ARG002
        """What `update` is for small deviations about its rest, from the backlog (packets) to p.

        The coefficients of a numerator and of a denominator in z^-1, the delay of a `period`; None where it
        declares nothing, and then nothing is proven (`sojourn.prove`). Where the link is busy, what was let
        in since the last update is what left it and what the backlog grew by. `rest` is where the traffic
        rests: p, backlog_packets, flows, capacity_pps, rtt_s. A law with `target_packets` rests at those,
        and must integrate to hold them. The verdict takes it at the rest alone, a map at the rest of each
        point. For the warnings it is called from half to twice the p of the rest, too (of a law with
        `settled`, the backlog); an error there counts as None.

        What is declared is compared with what `update` does after a small pulse of the backlog; one that does
        something else is refused.

        >>> import sojourn as sj
        >>> class Pi(sj.Controller):
        ...     period = "10 ms"
        ...     target_packets = 100
        ...     a, b = 1.822e-5, 1.816e-5  # per packet
        ...
        ...     def reset(self):
        ...         self.p, self.last = 0.0, 0.0
        ...
        ...     def update(self, seen):
        ...         error = seen.backlog_packets - self.target_packets
        ...         self.p = min(max(self.p + self.a * error - self.b * self.last, 0.0), 1.0)
        ...         self.last = error
        ...         return self.p
        ...
        ...     def linear(self, rest):
        ...         return [self.a, -self.b], [1, -1]
        >>> sj.prove(sj.load("dumbbell"), Pi()).verdict
        'stable'
        """
        return None

    def settled(self, backlog_packets: float) -> float | None:  # noqa: ARG002
        """The probability that `update` comes to where the backlog stays so; None for a law with a target.

        A law without one rests where this curve meets what the traffic answers. It must never fall as the
        backlog grows.

        >>> import sojourn as sj
        >>> class Line(sj.Controller):
        ...     period = "10 ms"
        ...     slope = 2e-4  # per packet
        ...
        ...     def update(self, seen):
        ...         return self.settled(seen.backlog_packets)
        ...
        ...     def settled(self, backlog_packets):
        ...         return min(1.0, self.slope * backlog_packets)
        ...
        ...     def linear(self, rest):
        ...         return [self.slope], [1]
        >>> rest = sj.prove(sj.load("dumbbell"), Line()).equilibrium
        >>> round(rest["p"] / rest["backlog_packets"], 9)
        0.0002
        """
        return None
