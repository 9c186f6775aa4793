"""The parameters of the congestion controls, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the entry's file, not this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sojourn.entries import Entry, checked

__all__ = [
    "Bbr",
    "Cubic",
    "Dctcp",
    "Htcp",
    "Newreno",
    "Reno",
    "Scalable",
    "Vegas",
    "Westwood",
]


@checked
@dataclass(frozen=True, kw_only=True)
class Reno(Entry):
    """Reno with the fast recovery of RFC 5681: any new ACK ends it.

    Slow start, then one segment more a round trip; half the window at a loss. Recovery repairs one
    loss a window: further ones mostly wait for the timer.

    Equation: cwnd += SMSS per cwnd bytes acknowledged; cwnd <- max(FlightSize / 2, 2 SMSS) at a
    loss

    Source: RFC 5681.

    None stands for the default.
        hystart: leave the first slow start when the round-trip time rises: HyStart++ (true), or as
            Linux does ("hybrid") (rfc9406 or true, hybrid, false). Default false: not in RFC 5681;
            RFC 9406, section 4.3 has it for any control.
        abe: after an ECN echo keep 0.8 of the flight instead of half (true or false). Default
            false: RFC 8511 is an experiment.
    """

    stem: ClassVar[str] = "reno"

    hystart: str | bool | None = None
    abe: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Newreno(Entry):
    """Reno's window with NewReno's recovery: partial ACKs repair one loss a round trip.

    As Reno, but an ACK for part of the window in recovery shows the next loss, which is sent again
    at once; recovery ends when all that was outstanding at its start is acknowledged.

    Equation: cwnd += SMSS^2 / cwnd per ACK; cwnd <- max(FlightSize / 2, 2 SMSS) at a loss

    Source: RFC 5681, RFC 6582.

    None stands for the default.
        hystart: leave the first slow start when the round-trip time rises: HyStart++ (true), or as
            Linux does ("hybrid") (rfc9406 or true, hybrid, false). Default false: not in RFC 5681;
            RFC 9406, section 4.3 has it for any control.
        abe: after an ECN echo keep 0.8 of the flight instead of half (true or false). Default
            false: RFC 8511 is an experiment.
    """

    stem: ClassVar[str] = "newreno"

    hystart: str | bool | None = None
    abe: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Cubic(Entry):
    """A window cubic in the time since the last loss, never below Reno's; recovery by SACK.

    After a loss the window rises fast towards the one at which the loss came, lingers there, then
    probes beyond, ever faster. Growth goes by the clock and not by the round trip, so that long
    paths need not wait; on short or slow ones, where Reno would grow faster, it grows as Reno does.
    The first slow start ends when the round-trip time rises (HyStart++), not with a loss.

    Equation: W(t) = C (t - K)^3 + W_max, K = cbrt((W_max - cwnd) / C); cwnd <- 0.7 FlightSize at a
    loss

    Source: RFC 9438, RFC 9406, RFC 6675; hybrid: S. Ha, I. Rhee, Computer Networks 55(9), 2011.

    None stands for the default.
        hystart: leave the first slow start when the round-trip time rises: HyStart++ (true), or as
            Linux does ("hybrid") (rfc9406 or true, hybrid, false). Default none: RFC 9438, section
            4.10: true; false where the profile counts ACKs and not bytes.
        abe: after an ECN echo keep 0.85 of the flight instead of 0.7, in congestion avoidance (true
            or false). Default false: RFC 8511 is an experiment.
    """

    stem: ClassVar[str] = "cubic"

    hystart: str | bool | None = None
    abe: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Dctcp(Entry):
    """A window that is reduced in proportion to the share of marked bytes; Reno's otherwise.

    Queues mark early, above a low threshold. The receiver reports the marked bytes; the sender
    averages their share over windows of data, and an echo takes off half of that share: few marks
    cost little, a window full of them costs half. So queues stay short and links full. Losses halve
    the window as Reno's. It needs ECN, and marks that come from the queue's present length.

    Equation: alpha <- (1 - g) alpha + g M, M = marked share; cwnd <- cwnd (1 - alpha / 2) at an ECN
    echo

    Source: RFC 8257.

    None stands for the default.
        g: weight of the last window in the average (number, such as 0.1; more than 0, at most 1).
            Default 0.0625: RFC 8257, section 4.2: used by some implementations.
        alpha: the average at the start (number, such as 0.1; 0 to 1). Default 1.0: RFC 8257,
            section 3.3: the first mark halves the window.
    """

    stem: ClassVar[str] = "dctcp"

    g: float | None = None
    alpha: float | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Scalable(Entry):
    """Growth by a hundredth and reduction by an eighth of the window: recovers from a loss in 14 round trips.

    Reno needs half a window of round trips to recover from a loss, hours on a fast long path. Here
    each acknowledged segment adds a hundredth of a segment, so that the window grows by a hundredth
    a round trip, and a loss costs an eighth: recovery takes the same number of round trips at any
    window. Small windows follow Reno. Flows of different windows do not become equal under losses
    that hit all of them.

    Equation: cwnd += 0.01 per segment acknowledged; cwnd <- 0.875 cwnd at a loss; Reno up to 16
    segments

    Source: T. Kelly, ACM SIGCOMM Computer Communication Review 33(2), 2003.

    None stands for the default.
        a: segments that each acknowledged segment adds (number, such as 0.1; more than 0, at most
            1). Default 0.01: Kelly 2003.
        b: share of the window that a loss or a mark takes away (number, such as 0.1; more than 0,
            less than 1). Default 0.125: Kelly 2003.
        low_window: the largest window, in segments, that follows Reno (number, such as 0.1; at
            least 0). Default 16.0: Kelly 2003: where a and b give about the window that Reno has at
            the same loss.
    """

    stem: ClassVar[str] = "scalable"

    a: float | None = None
    b: float | None = None
    low_window: float | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Bbr(Entry):
    """The kernel's BBR, in live runs only: a rate from a model of the path.

    Its code is the kernel's: `sojourn lab FILE` runs it where the kernel has it. The packet plant,
    the fluid plant and certificates have no model of it; a control written in Python
    (`sojourn.CongestionControl`) sets a window there.

    Source: draft-ietf-ccwg-bbr.
    """

    stem: ClassVar[str] = "bbr"


@checked
@dataclass(frozen=True, kw_only=True)
class Htcp(Entry):
    """The kernel's H-TCP, in live runs only: growth by the time since the last loss.

    Its code is the kernel's: `sojourn lab FILE` runs it where the kernel has it. The packet plant,
    the fluid plant and certificates have no model of it; a control written in Python
    (`sojourn.CongestionControl`) sets a window there.

    Source: D. Leith and R. Shorten, H-TCP: TCP for High-Speed and Long-Distance Networks, PFLDnet
    2004.
    """

    stem: ClassVar[str] = "htcp"


@checked
@dataclass(frozen=True, kw_only=True)
class Vegas(Entry):
    """The kernel's Vegas, in live runs only: a window by the growth of the round-trip time.

    Its code is the kernel's: `sojourn lab FILE` runs it where the kernel has it. The packet plant,
    the fluid plant and certificates have no model of it; a control written in Python
    (`sojourn.CongestionControl`) sets a window there.

    Source: L. Brakmo and L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global
    Internet, IEEE JSAC 13(8), 1995.
    """

    stem: ClassVar[str] = "vegas"


@checked
@dataclass(frozen=True, kw_only=True)
class Westwood(Entry):
    """The kernel's Westwood+, in live runs only: after a loss a window by the measured bandwidth.

    Its code is the kernel's: `sojourn lab FILE` runs it where the kernel has it. The packet plant,
    the fluid plant and certificates have no model of it; a control written in Python
    (`sojourn.CongestionControl`) sets a window there.

    Source: S. Mascolo et al., TCP Westwood: Bandwidth Estimation for Enhanced Transport over
    Wireless Links, MobiCom 2001.
    """

    stem: ClassVar[str] = "westwood"
