"""A congestion control in twenty lines of Python.

>>> import sojourn as sj
>>> class Careful(sj.CongestionControl):
...     gain = 0.5  # segments a round trip
...
...     def on_ack(self, ack):
...         if self.cwnd < self.ssthresh:
...             self.cwnd += ack.acked_bytes
...         else:
...             self.cwnd += self.gain * self.mss * ack.acked_bytes / self.cwnd
...
...     def on_signal(self, signal):
...         if signal.kind == "timeout":
...             self.cwnd = self.mss
...         else:
...             self.cwnd = self.ssthresh = max(0.7 * signal.flight_bytes, 2 * self.mss)
>>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s", "flows[0].count": 5})
>>> sj.run(sc, cc=Careful(gain=1.0)).scenario["flows"][0]["cc"]
'Careful:gain=1.0'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sojourn.custom.base import InPython

if TYPE_CHECKING:
    from sojourn._core import Acknowledged, Signal

__all__ = ["CC_CALLS", "CongestionControl"]

#: Methods of a congestion control that a run calls.
CC_CALLS = ("on_ack", "on_feedback", "on_unused", "on_signal")


class CongestionControl(InPython):
    """Base of congestion controls written in Python: the evolution of a flow's congestion window.

    `cwnd` and `ssthresh` are set in the methods below, in bytes of payload, as RFC 5681 counts them; in
    segments they are `cwnd / mss`. The built-in sender does the rest: loss recovery, timers, one reduction
    a window on echoes of congestion. It sets `cwnd` itself after an idle time, and at the end of NewReno's
    recovery.

    Every flow has a copy of its own (`copy.deepcopy`). Before a reduction the sender saves another copy, and
    restores it if the reduction was spurious: keep state in `self`. Objects are templates and parameters are
    public values of the class, as for a `sojourn.Controller`. Written in this way, Reno has the window of
    the built-in one to the last bit.

    An exception, or an invalid window (less than a segment, infinite, NaN), ends the run with a
    `LawFailed` that names the line.
    """

    #: Recovery of losses after a window's first: "sack" (RFC 6675), "newreno" (RFC 6582) or "reno".
    recovery: Literal["sack", "newreno", "reno"] = "sack"
    #: The receivers' echo of marks: "classic" (RFC 3168), or "per_segment" (RFC 8257, section 3.2).
    feedback: Literal["classic", "per_segment"] = "classic"
    #: Congestion window, bytes; in `reset` already the initial window.
    cwnd: float
    #: Slow-start threshold, bytes; infinite in `reset`.
    ssthresh: float
    #: Payload of a full segment, bytes.
    mss: int

    def reset(self) -> None:
        """Set the initial state; called once for each flow, on its own copy.

        >>> import sojourn as sj
        >>> class Counts(sj.CongestionControl):
        ...     def reset(self):
        ...         self.acks = 0
        """

    def on_ack(self, ack: Acknowledged) -> None:
        """New data were acknowledged outside recovery: the window may grow.

        >>> from types import SimpleNamespace
        >>> import sojourn as sj
        >>> class Doubles(sj.CongestionControl):
        ...     def on_ack(self, ack):
        ...         self.cwnd += ack.acked_bytes
        >>> flow = Doubles()
        >>> flow.cwnd = 10_000
        >>> flow.on_ack(SimpleNamespace(acked_bytes=1000))  # tried by hand
        >>> flow.cwnd
        11000
        """
        raise NotImplementedError

    def on_feedback(self, ack: Acknowledged) -> None:
        """New data were acknowledged with ECN negotiated, in recovery or not; precedes `on_ack`.

        For DCTCP: `ack.marked` is true of each ACK that echoes congestion.

        >>> import sojourn as sj
        >>> class Estimates(sj.CongestionControl):
        ...     feedback = "per_segment"
        ...
        ...     def on_feedback(self, ack):
        ...         self.marked += ack.acked_bytes * ack.marked
        """

    def on_unused(self, ack: Acknowledged) -> None:
        """New data were acknowledged while the flow was not limited by `cwnd`, which must not grow.

        Called instead of `on_ack`, when limited by the application or by the receiver's window. A window that
        grows with time, as CUBIC's, excludes such times here (RFC 9438, 5.8).

        >>> import sojourn as sj
        >>> class Waits(sj.CongestionControl):
        ...     def on_unused(self, ack):
        ...         self.idle_since = ack.time_s
        """

    def on_signal(self, signal: Signal) -> None:
        """Congestion: `signal.kind` is "loss", "ecn" (an echo of congestion, once a window) or "timeout".

        >>> import sojourn as sj
        >>> class Halves(sj.CongestionControl):
        ...     def on_signal(self, signal):
        ...         self.ssthresh = max(signal.flight_bytes / 2, 2 * self.mss)
        ...         self.cwnd = self.mss if signal.kind == "timeout" else self.ssthresh
        """
        raise NotImplementedError
