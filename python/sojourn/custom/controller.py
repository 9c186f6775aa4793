"""A queue law in ten lines of Python.

>>> import sojourn as sj
>>> class MyLaw(sj.Controller):
...     period = "10 ms"
...     gain = 1e-4  # per packet
...
...     def update(self, seen):
...         return min(1.0, self.gain * seen.backlog_packets)
>>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
>>> sj.run(sc, qdiscs=[MyLaw(), MyLaw(gain=2e-4), "pi"], seeds=range(1, 3)).qdiscs
['MyLaw', 'MyLaw:gain=0.0002', 'pi']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sojourn.custom.base import CustomLaw

if TYPE_CHECKING:
    from sojourn._core import Observation, OperatingPoint

__all__ = ["Controller"]


class Controller(CustomLaw):
    """Base of queue laws written in Python: every `period`, `update` returns the probability of a signal.

    Until the next update each arriving packet is marked (if it is ECN-capable) or dropped with that
    probability, independently of the others and by the run's own random numbers: PI written in this way
    gives the verdicts of the built-in one, packet by packet. A law that judges single packets is a
    `sojourn.Law`.

    An object is a template. Every run has a copy of its own (`copy.deepcopy`, lists and other mutable
    values of the class included), so seeds run side by side and share nothing. Anything outside the
    object is not copied: keep state in `self`.

    A class's parameters are its public values, such as a line ``gain = 2e-4`` in it, and are set by name;
    a class with a constructor of its own (a dataclass, say) has what that takes.

    `linear` and `steady_state_p` declare the model that `sojourn.prove` needs.

    To try `update` by hand, pass any object with the attributes that it reads, such as
    ``types.SimpleNamespace(backlog_packets=50)``.
    """

    #: Time between updates: text with a unit, 1 us or more; read once, at the start. The first update is one
    #: period after it.
    period: str

    def update(self, seen: Observation) -> float:
        """Probability, 0 to 1, until the next update.

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

    def linear(self, point: OperatingPoint) -> tuple[Sequence[float], Sequence[float]] | None:  # noqa: ARG002
        """Transfer function of `update` about its equilibrium, from the backlog (packets) to p.

        Coefficients of the numerator and the denominator in z^-1, the delay of one `period`. None: no model,
        and then nothing is proven (`sojourn.prove`). On a busy link the packets let in since the last update
        are the departures plus the growth of the backlog. `point` is the equilibrium of the traffic: p,
        backlog_packets, flows, capacity_pps, rtt_s. The equilibrium backlog of a law with `target_packets` is
        that target; the law must integrate to hold it. The verdict evaluates this method at the equilibrium
        alone, a map at that of each point. For the warnings it is also called from half to twice the
        equilibrium's p (of a law with `steady_state_p`, the backlog); an error there counts as None.

        The declared model is compared with the response of `update` to a small pulse of the backlog; one
        that differs is refused.

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
        ...     def linear(self, point):
        ...         return [self.a, -self.b], [1, -1]
        >>> sj.prove(sj.load("dumbbell"), Pi()).verdict
        'stable'
        """
        return None

    def steady_state_p(self, backlog_packets: float) -> float | None:  # noqa: ARG002
        """Steady-state probability of `update` at a constant backlog; None for a law with a target.

        The equilibrium of a law without a target is where this curve meets that of the traffic. It must not
        decrease with the backlog.

        >>> import sojourn as sj
        >>> class Line(sj.Controller):
        ...     period = "10 ms"
        ...     slope = 2e-4  # per packet
        ...
        ...     def update(self, seen):
        ...         return self.steady_state_p(seen.backlog_packets)
        ...
        ...     def steady_state_p(self, backlog_packets):
        ...         return min(1.0, self.slope * backlog_packets)
        ...
        ...     def linear(self, point):
        ...         return [self.slope], [1]
        >>> found = sj.prove(sj.load("dumbbell"), Line()).equilibrium
        >>> round(found["p"] / found["backlog_packets"], 9)
        0.0002
        """
        return None
