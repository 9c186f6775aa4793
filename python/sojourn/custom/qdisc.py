"""A qdisc in twenty lines of Python.

>>> from collections import deque
>>> import sojourn as sj
>>> class RoundRobin(sj.Qdisc):
...     def reset(self):
...         self.queues = {}  # packets of each flow with some, in the order of turns
...
...     def enqueue(self, now, packet):
...         self.queues.setdefault(packet.flow, deque()).append(packet)
...
...     def dequeue(self, now):
...         if not self.queues:
...             return None
...         flow, queue = next(iter(self.queues.items()))
...         packet = queue.popleft()
...         del self.queues[flow]  # its next turn comes after those of the others
...         if queue:
...             self.queues[flow] = queue
...         return packet
>>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s", "flows[0].count": 5})
>>> sj.run(sc, qdiscs=[RoundRobin(), "drr"]).qdiscs
['RoundRobin', 'drr']
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sojourn.custom.base import CustomQdisc

if TYPE_CHECKING:
    from sojourn._core import Packet

__all__ = ["QDISC_CALLS", "Qdisc"]

#: Methods of a qdisc; a run determines once which of them the class defines.
QDISC_CALLS = (
    "enqueue",
    "dequeue",
    "not_before",
    "on_overflow",
    "on_link_change",
    "on_update",
    "gauges",
)


class Qdisc(CustomQdisc):
    """Base of qdiscs written in Python: queues, a classifier and an order of service.

    A class needs `enqueue` and `dequeue`; the other methods are called where it defines them. `now` is the
    time since the start of the run, s. A `packet` is a view: `flow`, `class_name`, `dscp`, `from_host`,
    `to_host`, `len_bytes`, `ecn`, `ecn_capable`, `arrival_s`, and two uniform draws `u` from the run's own
    random stream. ``packet.mark()`` marks it (False: it is not ECN-capable, and nothing has changed), and
    ``packet.drop()`` drops it, in any method, from its arrival until it is returned. Marks and drops of
    `enqueue`, `dequeue`, `not_before` and `on_overflow` are carried out after the call, those of other
    methods when the next packet arrives or the link is ready, before anything else: they make room for that
    packet, and until then the packet counts as held. A drop made in `on_overflow` counts as overflow, any
    other as one of the law.

    The run holds the packets and counts them, so none is lost: what is neither dropped nor returned stays
    held. The link's buffer limits all packets of the qdisc together; an arrival that does not fit is dropped
    before `enqueue`, unless `on_overflow` makes room.

    Objects are templates and parameters are public values of the class, as for a `sojourn.Controller`. A
    qdisc runs in the packet plant only. An exception, or an invalid return value, ends the run with a
    `LawFailed` that names the line.
    """

    #: Time between updates, for `on_update`: text with a unit, 1 us or more. The first comes after a period.
    period: str | None = None

    def enqueue(self, now: float, packet: Packet) -> None:
        """A packet arrives, and fits into the buffer: keep it in a queue, or drop it.

        >>> import sojourn as sj
        >>> class Short(sj.Qdisc):
        ...     most = 20  # packets
        ...
        ...     def reset(self):
        ...         self.queue = []
        ...
        ...     def enqueue(self, now, packet):
        ...         if len(self.queue) == self.most:
        ...             packet.drop()
        ...         else:
        ...             self.queue.append(packet)
        ...
        ...     def dequeue(self, now):
        ...         return self.queue.pop(0) if self.queue else None
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), Short()).runs[0].metrics["drop_ratio"] > 0
        True
        """
        raise NotImplementedError

    def dequeue(self, now: float) -> Packet | None:
        """The link is ready: the packet to send, removed from its queue; None: no packet is held.

        A qdisc that makes held packets wait returns None, too, and defines `not_before`.

        >>> import sojourn as sj
        >>> class Stack(sj.Qdisc):
        ...     def reset(self):
        ...         self.packets = []
        ...
        ...     def enqueue(self, now, packet):
        ...         self.packets.append(packet)
        ...
        ...     def dequeue(self, now):
        ...         return self.packets.pop() if self.packets else None
        >>> stack = Stack()
        >>> stack.reset()
        >>> stack.enqueue(0.0, "first"), stack.enqueue(0.1, "last")  # tried by hand
        (None, None)
        >>> stack.dequeue(0.2)
        'last'
        """
        raise NotImplementedError

    def not_before(self, now: float) -> float:
        """Time of the next packet, s since the start, after `dequeue` gave None while packets are held.

        The link dequeues again at this time, and before it at each arrival, which need not wait for those
        held. ``math.inf``: at the next arrival only.

        >>> import sojourn as sj
        >>> class Paced(sj.Qdisc):
        ...     gap_s = 0.01
        ...
        ...     def reset(self):
        ...         self.queue, self.next_s = [], 0.0
        ...
        ...     def enqueue(self, now, packet):
        ...         self.queue.append(packet)
        ...
        ...     def dequeue(self, now):
        ...         if not self.queue or now < self.next_s:
        ...             return None
        ...         self.next_s = now + self.gap_s
        ...         return self.queue.pop(0)
        ...
        ...     def not_before(self, now):
        ...         return self.next_s
        """
        raise NotImplementedError

    def on_overflow(self, now: float, packet: Packet) -> None:
        """An arrival does not fit into the buffer: drop held packets, for it to be enqueued after all.

        If it still does not fit, it is dropped, as without this method.

        >>> import sojourn as sj
        >>> class DropsTheOldest(sj.Qdisc):
        ...     def reset(self):
        ...         self.queue = []
        ...
        ...     def enqueue(self, now, packet):
        ...         self.queue.append(packet)
        ...
        ...     def dequeue(self, now):
        ...         return self.queue.pop(0) if self.queue else None
        ...
        ...     def on_overflow(self, now, packet):
        ...         self.queue.pop(0).drop()
        """

    def on_link_change(self, now: float, rate_bps: float) -> None:
        """The link has a new rate; `link` has the first one.

        >>> import sojourn as sj
        >>> class Follows(sj.Qdisc):
        ...     def reset(self):
        ...         self.rate_bps = self.link.rate_bps
        ...
        ...     def on_link_change(self, now, rate_bps):
        ...         self.rate_bps = rate_bps
        """

    def on_update(self, now: float) -> float | None:
        """A period is over. None: the next update comes after a period; a number: at that time, s.

        ``math.inf``: no more updates. Marks and drops made here are carried out when the next packet
        arrives or the link is ready, before that packet needs room.

        >>> import sojourn as sj
        >>> class Counts(sj.Qdisc):
        ...     period = "10 ms"
        ...
        ...     def on_update(self, now):
        ...         self.updates += 1
        """

    def gauges(self) -> Mapping[str, float]:
        """Internal state by name; the results keep the series of "p", a probability.

        >>> import sojourn as sj
        >>> class Shows(sj.Qdisc):
        ...     p = 0.01
        ...
        ...     def gauges(self):
        ...         return {"p": self.p}
        >>> Shows().gauges()
        {'p': 0.01}
        """
        return {}
