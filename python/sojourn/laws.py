"""The parameters of the queue laws, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the law's file, not this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

__all__ = ["ArmPfc", "Codel", "Cpc", "HeadDrop", "Pi", "Red", "TailDrop"]


@dataclass(frozen=True, kw_only=True)
class _Law:
    """What the classes share."""

    stem: ClassVar[str]

    def spec(self) -> str:
        """The law as the command line writes it, with the parameters that were given.

        >>> import sojourn as sj
        >>> sj.laws.Pi(target="100 packets").spec()
        'pi:target=100 packets'
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        given = [f"{name}={_written(value)}" for name, value in values if value is not None]
        return f"{self.stem}:{','.join(given)}" if given else self.stem


def _written(value: str | float | bool | Sequence[int]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, kw_only=True)
class TailDrop(_Law):
    """Drop what does not fit: the queue that nobody manages.

    Everything is let in until the buffer is full. Long flows fill it and keep it full, so every
    packet waits for the whole buffer: bufferbloat.

    Source: RFC 7567, section 2.
    """

    stem: ClassVar[str] = "tail_drop"


@dataclass(frozen=True, kw_only=True)
class HeadDrop(_Law):
    """Drop the oldest packet when the buffer is full: the same queue, an earlier signal.

    Everything is let in. When a packet does not fit, the one at the head is dropped to make room.
    Its sender hears of the loss one buffer's delay earlier than under tail drop, and the packet
    that has waited longest is the one that is worth least.

    Source: T. Lakshman, A. Neidhardt, T. Ott, IEEE INFOCOM, 1996; RFC 7567, section 2.
    """

    stem: ClassVar[str] = "head_drop"


@dataclass(frozen=True, kw_only=True)
class Red(_Law):
    """Random early detection: mark with a probability that grows with the average backlog.

    An average of the backlog is laid between two thresholds. Below the lower one nothing happens;
    between them packets are marked or dropped with a probability that rises to max_p; above the
    upper one it rises to 1 (gentle) or every packet is dropped. A count since the last mark spreads
    marks out in time.

    Equation: avg <- (1 - w_q) avg + w_q q; p_b = max_p (avg - min_th) / (max_th - min_th)

    Source: S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; gentle: S. Floyd
    2000.

    What is left as None takes its default.
        min: average backlog below which every packet passes (queue, such as "300 packets"; more
            than 0, less than max). Default none: a third of max, Floyd 1997; without max a sixth of
            the buffer (5 packets where there is no limit).
        max: average backlog at which p_b reaches max_p (queue, such as "300 packets"; more than
            min, within the buffer). Default none: three times min, Floyd 1997.
        weight: weight of a new sample in the average (number, such as 0.1; more than 0, at most 1).
            Default 0.002: Floyd and Jacobson 1993.
        max_p: probability at the upper threshold (number, such as 0.1; more than 0, at most 1).
            Default 0.1: Floyd 1997: 0.1 instead of the 0.02 of 1993.
        gentle: rise to 1 at twice max instead of jumping there (true or false). Default true: Floyd
            2000: less sensitive to max and max_p.
        mark_below_p: ECN-capable packets are marked while p_b is below this and dropped above it; 1
            marks always (number, such as 0.1; 0 to 1). Default 1.0: RFC 3168, section 7; ns-2 drops
            above 0.1.
        byte_mode: scale the probability by packet size (true or false). Default false: RFC 7567,
            section 4.4: do not favour small packets.
        wait: wait 1/p_b packets after a mark or drop, equation (5) (true or false). Default true:
            the first author's own simulator since 1997; false is the 1993 paper, equation (4).
    """

    stem: ClassVar[str] = "red"

    min: str | None = None
    max: str | None = None
    weight: float | None = None
    max_p: float | None = None
    gentle: bool | None = None
    mark_below_p: float | None = None
    byte_mode: bool | None = None
    wait: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Pi(_Law):
    """Proportional-integral control of the backlog about a target.

    Every period the probability moves by a times the present error of the backlog less b times the
    previous one. The integral part holds the target whatever the load; the gains decide how fast.
    Without gains they are designed for the scenario's flows, rate and round-trip time.

    Equation: p <- p + a (q - q_ref) - b (q_old - q_ref), clamped to [0, 1]

    Source: C. Hollot, V. Misra, D. Towsley, W. Gong, IEEE Transactions on Automatic Control 47(6),
    2002.

    What is left as None takes its default.
        target: backlog to hold; a time or bytes are turned into packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default "100 packets": the ARM-PFC
            paper's set-point.
        a: gain on the present error, 1/packet; without a and b the gains are designed for the
            scenario (number, such as 0.1; more than b). Default none: designed by the rule of
            Hollot et al. 2002.
        b: gain on the previous error, 1/packet (number, such as 0.1; more than 0, less than a).
            Default none: designed by the rule of Hollot et al. 2002.
        rate: sampling frequency (frequency, such as "160 Hz"; 0.1 Hz to 1 MHz). Default "160 Hz":
            Hollot et al. 2002, their example.
    """

    stem: ClassVar[str] = "pi"

    target: str | None = None
    a: float | None = None
    b: float | None = None
    rate: str | None = None


@dataclass(frozen=True, kw_only=True)
class Codel(_Law):
    """Controlled delay: act when even the luckiest packet of an interval waited too long.

    Each departing packet tells how long it waited. When no packet of a whole interval waited less
    than the target, the queue is a standing one: a packet is dropped (marked, if it is
    ECN-capable), then others ever faster, until the delay is below the target. A backlog of one MTU
    is left alone. The link's rate and the load need not be known.

    Equation: drop_next <- drop_next + interval / sqrt(count)

    Source: RFC 8289, section 5.

    What is left as None takes its default.
        target: delay that even the luckiest packet of an interval must not exceed (time, such as
            "20 ms"; more than 0, less than interval). Default "5 ms": RFC 8289, section 4.3: 5 % of
            interval.
        interval: how long the delay must stay above target; also the time from the first drop to
            the second (time, such as "20 ms"; more than target, at most 1 h). Default "100 ms": RFC
            8289, section 4.2: a little above the round-trip time of most flows.
        ecn: mark ECN-capable packets instead of dropping them (true or false). Default true: RFC
            8289 leaves it open; RFC 8290, section 5.2.6: on by default.
        mtu: backlog that is left alone, however long it has waited (size, such as "1500 B"; more
            than 0). Default none: RFC 8289, section 4.1: the largest packet seen so far, and
            section 5.3: at least 512 B.
    """

    stem: ClassVar[str] = "codel"

    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None
    mtu: str | None = None


@dataclass(frozen=True, kw_only=True)
class ArmPfc(_Law):
    """Predictive functional control of the backlog with a model of TCP and its delay.

    Every period a linear model of TCP and queue predicts the backlog two round-trip times ahead,
    where marks of today are felt in full. The probability is chosen such that the prediction meets
    an exponential that leads to the target. The model runs by itself, driven by what was applied,
    so the target is met although the model is never right; it follows the load by the average
    probability, so the number of flows need not be known.

    Equation: u(k) = (y(k) (psi^h - 1) + y_m(k) - free response of y_m at k + h) / G, p = p_0 + u,
    clamped

    Source: N. Bigdeli, M. Haeri, Iranian Journal of Science & Technology B 31(B6), 2007.

    What is left as None takes its default.
        target: backlog to hold; a time or bytes are turned into packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default "100 packets": the paper's
            set-point.
        form: what the model's output is: that of a model of its own, or of one restarted from
            measurements (word; indep or paper). Default "indep": the literal reading, paper, misses
            the target away from its design point.
        adapt: what the model follows: the average p, what p is seen to do (recursive least
            squares), or nothing (word; load, rls or none). Default none: load for indep: no number
            of flows is needed, and noise does no harm; none for paper, whose design is fixed.
        memory: periods that a learnt model remembers, for adapt = rls (whole number, such as 50; 10
            to 100000). Default 100: on the paper's network about the 5 s over which the average p
            is taken.
        flows: long flows that the model is designed for, to begin with where it follows the load
            (number, such as 0.1; more than 0, at most 1e9). Default none: the scenario's; where
            unknown and the model is not fixed the design begins at p = 0.02.
        capacity: link rate that the model is designed for (rate, such as "8 Mbit/s"; 1 bit/s or
            0.001 packets/s to 1 Tbit/s). Default none: the link's.
        rtt: round-trip time that the model is designed for, queueing at the target included (time,
            such as "20 ms"; 1 us to 1 h). Default none: the scenario's (100 ms where unknown), and
            the target's queueing delay.
        delay: periods in a round-trip time; the sampling period is rtt / delay (whole number, such
            as 50; 1 to 100). Default none: the paper's (16): a period of 0.11 of the model's time
            constants, about 5 periods.
        coincidence: periods ahead at which the prediction is to meet the reference, one or two
            (list of whole numbers, such as [7, 9]; one or two, ascending, more than delay, at most
            400). Default none: 2 d for indep: a halved window needs a second round trip to show;
            the paper's d + 2 for paper; a ramp's second point is 2 further.
        base: how p is taken to go on after this period, for the prediction (word; step or ramp;
            ramp needs two coincidence points). Default "step": the paper's choice for a constant
            set-point.
        psi: what is left after a period of the distance between backlog and target (number, such as
            0.1; more than 0, less than 1). Default 0.83: the paper: a time constant of 1.07
            round-trip times.
    """

    stem: ClassVar[str] = "arm_pfc"

    target: str | None = None
    form: str | None = None
    adapt: str | None = None
    memory: int | None = None
    flows: float | None = None
    capacity: str | None = None
    rtt: str | None = None
    delay: int | None = None
    coincidence: int | Sequence[int] | None = None
    base: str | None = None
    psi: float | None = None


@dataclass(frozen=True, kw_only=True)
class Cpc(_Law):
    """Two loops: p steers the packets in flight, the backlog says how many there shall be.

    What is in flight is measured as arrivals per second by the round-trip time. An inner loop moves
    p until that is what an outer loop wants: the bandwidth-delay product, corrected by the
    backlog's error, its integral and its rate of change. Both loops are designed in closed form for
    the link and the load; the load is estimated by the average probability, so the number of flows
    need not be known.

    Equation: p <- p + T (F - F_ref) / (N T_I); F_ref = C R + N (K_P e + K_i sum(e) T - K_d (lambda
    - C))

    Source: H.-L. To et al., Mathematical Problems in Engineering 2015, 628583.

    What is left as None takes its default.
        target: backlog to hold; a time or bytes are turned into packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default "100 packets": that of pi and
            arm_pfc, for comparisons; the paper's run for Reno holds 80 ms.
        form: whether the design counts the delay of a round trip (word; delay_aware or paper).
            Default "delay_aware": the paper's, without it, has a phase margin of 38 degrees and
            cycles where the round trip is longer.
        measure: how the packets in flight are measured: lambda (T_p + q / C) or lambda R (word;
            flight or rate). Default "flight": rate needs no T_p and is less damped.
        adapt: what the gains follow: the average p and the link's rate, or nothing (word; load or
            none). Default none: load for delay_aware: no number of flows is needed; none for paper,
            whose design is fixed.
        flows: long flows that the loops are designed for, to begin with where they follow the load
            (number, such as 0.1; more than 0, at most 1e9). Default none: the scenario's; where
            unknown and adapt = load the design begins at p = 0.02.
        capacity: link rate that the loops are designed for (rate, such as "8 Mbit/s"; 1 bit/s or
            0.001 packets/s to 1 Tbit/s). Default none: the link's.
        rtt: round-trip time that the loops are designed for, queueing at the target included (time,
            such as "20 ms"; 1 us to 1 h, more than the target's queueing delay). Default none: the
            scenario's (100 ms where unknown), and the target's queueing delay.
        period: sampling period (time, such as "20 ms"; 1 us to 1 h, at most rtt). Default none: 20
            ms, at most a quarter of rtt.
        smoothing: time constant of the averages of the arrivals (time, such as "20 ms"; 1 us to 1
            h, at most rtt). Default none: a quarter of rtt: it takes little from the phase margin.
        max_p: the largest probability (number, such as 0.1; more than 0, at most 1). Default 1.0:
            any load can be held.
    """

    stem: ClassVar[str] = "cpc"

    target: str | None = None
    form: str | None = None
    measure: str | None = None
    adapt: str | None = None
    flows: float | None = None
    capacity: str | None = None
    rtt: str | None = None
    period: str | None = None
    smoothing: str | None = None
    max_p: float | None = None
