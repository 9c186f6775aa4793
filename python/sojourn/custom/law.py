"""A queue law in Python that judges every packet.

>>> import sojourn as sj
>>> class Limit(sj.Law):
...     limit_s = 0.05  # packets that waited longer are useless
...
...     def on_departure(self, departure):
...         if departure.sojourn_s > self.limit_s and departure.backlog_packets > 0:
...             return sj.Verdict.DROP
>>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
>>> sj.run(sc, qdiscs=[Limit(), Limit(limit_s=0.1), "codel"], seeds=range(1, 3)).qdiscs
['Limit', 'Limit:limit_s=0.1', 'codel']
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from sojourn.custom.base import CustomLaw

if TYPE_CHECKING:
    from sojourn._core import Arrival, Departure, Observation, Verdict

__all__ = ["CALLS", "Law"]

#: Methods of a law; a run determines once which of them the law defines.
CALLS = (
    "on_arrival",
    "on_departure",
    "on_idle",
    "on_overflow",
    "on_link_change",
    "on_update",
    "gauges",
)


class Law(CustomLaw):
    """Base of queue laws written in Python that judge single packets, at arrival and at departure.

    A class defines those of the methods below that it needs; an undefined one is never called and costs
    nothing. The random numbers are the run's own and come with each packet, so a law is a function of its
    arguments: CoDel written in this way gives the verdicts of the built-in one, packet by packet.

    Objects are templates and parameters are public values of the class, as for a `sojourn.Controller`,
    which is the simpler base for a law that only sets a probability at each update.

    An exception, or an invalid return value, ends the run with a `LawFailed` that names the line.
    """

    #: Time between updates, for `on_update`: text with a unit, 1 us or more. The first comes after a period.
    period: str | None = None
    #: Packet dropped when one does not fit: "tail", the one that arrives, or "head", the oldest ones.
    overflow: Literal["tail", "head"] = "tail"
    #: True: each arrival names a victim, the packet that `Verdict.DROP_BOTH` drops too.
    wants_victim: bool = False

    def on_arrival(self, arrival: Arrival) -> Verdict | None:
        """A packet arrives; None: enqueue it. Also called when the buffer is full.

        >>> import sojourn as sj
        >>> class Ramp(sj.Law):
        ...     def on_arrival(self, arrival):
        ...         if arrival.u[0] < arrival.backlog_packets / 1000:
        ...             return sj.Verdict.MARK if arrival.ecn_capable else sj.Verdict.DROP
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), Ramp()).runs[0].metrics["mark_ratio"] > 0
        True
        """

    def on_departure(self, departure: Departure) -> Verdict | None:
        """A packet is about to leave; None: transmit it. After a drop the next one follows, at the same time.

        >>> from types import SimpleNamespace
        >>> import sojourn as sj
        >>> class Limit(sj.Law):
        ...     def on_departure(self, departure):
        ...         return sj.Verdict.DROP if departure.sojourn_s > 0.05 else None
        >>> Limit().on_departure(SimpleNamespace(sojourn_s=0.06))  # tried by hand
        Verdict.DROP
        """

    def on_idle(self, time_s: float) -> None:
        """The link is ready for a packet and the queue is empty.

        >>> import sojourn as sj
        >>> class Idle(sj.Law):
        ...     def on_idle(self, time_s):
        ...         self.idle_since_s = time_s
        """

    def on_overflow(self, time_s: float) -> None:
        """A packet was dropped because the one just judged did not fit, whatever the verdict.

        >>> import sojourn as sj
        >>> class Full(sj.Law):
        ...     def on_overflow(self, time_s):
        ...         self.full_at_s = time_s
        """

    def on_link_change(self, time_s: float, rate_bps: float) -> None:
        """The link has a new rate; `link` has the first one.

        >>> import sojourn as sj
        >>> class Follows(sj.Law):
        ...     def reset(self):
        ...         self.rate_bps = self.link.rate_bps
        ...
        ...     def on_link_change(self, time_s, rate_bps):
        ...         self.rate_bps = rate_bps
        """

    def on_update(self, seen: Observation) -> float | None:
        """A period is over. None: the next update comes after a period; a number: at that time, s.

        Such a time counts from the start of the run, as `seen.time_s`; `math.inf`: no more updates. A host
        that stalled makes up for missed updates with one, which has the whole time in `seen.elapsed_s`.

        >>> import sojourn as sj
        >>> class Doubling(sj.Law):
        ...     period = "1 ms"
        ...
        ...     def on_update(self, seen):
        ...         return 2 * seen.time_s
        """

    def gauges(self) -> Mapping[str, float]:
        """Internal state by name; the results keep the series of "p", a probability.

        >>> import sojourn as sj
        >>> class Shows(sj.Law):
        ...     p = 0.01
        ...
        ...     def on_arrival(self, arrival):
        ...         return sj.Verdict.DROP if arrival.u[0] < self.p else None
        ...
        ...     def gauges(self):
        ...         return {"p": self.p}
        >>> result = sj.run(sj.load("dumbbell", {"duration": "41 s"}), Shows())
        >>> result.series.filter(name="p")["value"].max()
        0.01
        """
        return {}
