"""The parameters of the queue laws, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the entry's file, not this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sojourn.entries import Entry, checked

__all__ = [
    "Ared",
    "ArmPfc",
    "Avq",
    "Blue",
    "Choke",
    "Cobalt",
    "Codel",
    "Cpc",
    "DocsisPie",
    "FbOcq",
    "HeadDrop",
    "Pi",
    "Pi2",
    "PiPd",
    "Pid",
    "Pie",
    "Red",
    "Rem",
    "Sred",
    "TailDrop",
]


@checked
@dataclass(frozen=True, kw_only=True)
class TailDrop(Entry):
    """Drop arrivals that do not fit: the unmanaged queue.

    Every packet is accepted until the buffer is full. Long flows fill it and keep it full, so every
    packet has the delay of the whole buffer: bufferbloat.

    Source: RFC 7567, section 2.
    """

    stem: ClassVar[str] = "tail_drop"


@checked
@dataclass(frozen=True, kw_only=True)
class HeadDrop(Entry):
    """Drop the oldest packet when the buffer is full: the same queue, an earlier signal.

    Every packet is accepted. When one does not fit, the packet at the head is dropped. Its sender
    detects the loss one buffer's delay earlier than under tail drop, and the oldest packet is the
    least useful one.

    Source: T. Lakshman, A. Neidhardt, T. Ott, IEEE INFOCOM, 1996; RFC 7567, section 2.
    """

    stem: ClassVar[str] = "head_drop"


@checked
@dataclass(frozen=True, kw_only=True)
class Red(Entry):
    """Random early detection: mark with a probability that grows with the average backlog.

    The average backlog is compared with two thresholds. Below the lower one every packet passes;
    between them packets are marked or dropped with a probability that rises to max_p; above the
    upper one it rises to 1 (gentle) or is 1 at once. A count since the last mark spreads marks out
    in time.

    Equation: avg <- (1 - w_q) avg + w_q q; p_b = max_p (avg - min_th) / (max_th - min_th)

    Source: S. Floyd, V. Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; gentle: S. Floyd
    2000.

    None stands for the default.
        min: average backlog below which every packet passes (queue, such as "300 packets"; more
            than 0; less than max). Default none: a third of max, Floyd 1997; without max a sixth of
            the buffer (5 packets where there is no limit).
        max: average backlog at which p_b reaches max_p (queue, such as "300 packets"; more than 0;
            more than min, within the buffer). Default none: three times min, Floyd 1997.
        thresholds: thresholds that are not given: buffer, shares of it, or auto, from the target,
            with the weight from the rate (buffer, auto). Default "buffer": valid for any link; auto
            is Floyd et al. 2001, ns-2's default.
        target: average backlog to hold under thresholds = auto; a time follows the link's rate
            (queue, such as "300 packets"; more than 0; at most two thirds of the buffer, with
            thresholds = auto). Default none: 5 ms, Floyd et al. 2001, section 5; less where the
            buffer does not hold it.
        weight: weight of a new sample in the average (number, such as 0.1; more than 0, at most 1).
            Default none: 0.002, Floyd and Jacobson 1993; with thresholds = auto 1 - e^(-1/C), a
            time constant of 1 s.
        max_p: probability at the upper threshold (number, such as 0.1; more than 0, at most 1).
            Default 0.1: Floyd 1997: 0.1 instead of the 0.02 of 1993.
        gentle: rise to 1 at twice max instead of jumping there (true or false). Default true: Floyd
            2000: less sensitive to max and max_p.
        mark_below_p: ECN-capable packets are marked while p_b is below this, else dropped; 1: all
            but those beyond the curve's end (number, such as 0.1; 0 to 2; above 1 nothing is
            dropped that can be marked). Default 1.0: RFC 3168, section 7: drop above the upper
            threshold; ns-2 drops above 0.1.
        byte_mode: count bytes: the average, and the probability by packet size (true or false).
            Default false: RFC 7567, section 4.4: do not favour small packets.
        mean_packet: size of the packets that pace the average; with byte_mode also the unit of
            backlog and thresholds (size, such as "1500 B"; more than 0 B). Default none: the
            scenario's segment; ns-2 takes 500 B.
        wait: wait 1/p_b packets after a mark or drop, equation (5) (true or false). Default true:
            the first author's own simulator since 1997; false is the 1993 paper, equation (4).
    """

    stem: ClassVar[str] = "red"

    min: str | None = None
    max: str | None = None
    thresholds: str | None = None
    target: str | None = None
    weight: float | None = None
    max_p: float | None = None
    gentle: bool | None = None
    mark_below_p: float | None = None
    byte_mode: bool | None = None
    mean_packet: str | None = None
    wait: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Ared(Entry):
    """Adaptive RED: max_p moves until the average backlog is half way between the thresholds.

    RED's queue depends on the load, because its probability is tied to the average backlog.
    Adaptive RED adapts max_p: twice a second it grows a little while the average is above the
    middle of the band and shrinks while it is below. Weight and thresholds follow from the link's
    rate and a target delay where they are not given.

    Equation: max_p <- max_p + min(alpha, max_p / 4) above the band; beta max_p below it

    Source: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED", ICSI, 2001.

    None stands for the default.
        target: average backlog to hold, instead of min and max; a time follows the link's rate
            (queue, such as "300 packets"; more than 0; at most two thirds of the buffer, without
            min and max). Default none: 5 ms, Floyd et al. 2001, section 5; less where the buffer
            does not hold it.
        min: average backlog below which every packet passes (queue, such as "300 packets"; more
            than 0; less than max). Default none: half the target, at least 5 packets, Floyd et al.
            2001; a third of max where that is given.
        max: average backlog at which p_b reaches max_p (queue, such as "300 packets"; more than 0;
            more than min, within the buffer). Default none: three times min, Floyd et al. 2001.
        weight: weight of a new sample in the average (number, such as 0.1; more than 0, at most 1).
            Default none: 1 - e^(-1/C): the average has a time constant of 1 s, Floyd et al. 2001.
        max_p: probability at the upper threshold, to begin with (number, such as 0.1; more than 0,
            at most 1). Default 0.1: Floyd 1997.
        interval: time between two steps of max_p (time, such as "20 ms"; 1 ms to 1 h). Default "500
            ms": Floyd et al. 2001.
        steps: timing of the steps: timed or arrivals (timed, arrivals). Default "timed": Floyd et
            al. 2001: every interval; arrivals is ns-2, whose steps need an average outside the
            band.
        alpha: largest step up (number, such as 0.1; more than 0, at most 1). Default 0.01: Floyd et
            al. 2001; a step is never above max_p / 4.
        beta: factor of a step down (number, such as 0.1; more than 0, less than 1). Default 0.9:
            Floyd et al. 2001, who advise at least 0.83.
        low: max_p is not lowered below it (number, such as 0.1; more than 0, at most 1; at most
            high). Default 0.01: Floyd et al. 2001; ns-2 takes one packet in 100 ms where that is
            less.
        high: max_p is not raised above it (number, such as 0.1; more than 0, at most 1; at least
            low). Default 0.5: Floyd et al. 2001.
        gentle: rise to 1 at twice max instead of jumping there (true or false). Default true: Floyd
            et al. 2001: adaptive RED is meant to be used with it.
        mark_below_p: ECN-capable packets are marked while p_b is below this, else dropped; 1: all
            but those beyond the curve's end (number, such as 0.1; 0 to 2; above 1 nothing is
            dropped that can be marked). Default 1.0: RFC 3168, section 7: drop above the upper
            threshold; ns-2 drops above 0.1.
        byte_mode: count bytes: the average, and the probability by packet size (true or false).
            Default false: RFC 7567, section 4.4: do not favour small packets.
        mean_packet: size of the packets that pace the average; with byte_mode also the unit of
            backlog and thresholds (size, such as "1500 B"; more than 0 B). Default none: the
            scenario's segment; ns-2 takes 500 B.
        wait: wait 1/p_b packets after a mark or drop (true or false). Default true: as RED.
    """

    stem: ClassVar[str] = "ared"

    target: str | None = None
    min: str | None = None
    max: str | None = None
    weight: float | None = None
    max_p: float | None = None
    interval: str | None = None
    steps: str | None = None
    alpha: float | None = None
    beta: float | None = None
    low: float | None = None
    high: float | None = None
    gentle: bool | None = None
    mark_below_p: float | None = None
    byte_mode: bool | None = None
    mean_packet: str | None = None
    wait: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Choke(Entry):
    """RED that compares an arrival with a queued packet and drops both if they are of one flow.

    A flow that does not slow down fills the queue with its own packets. While the average backlog
    is above the lower threshold every arrival is compared with a packet drawn from the queue; two
    of the same flow are dropped together. So the loss of a flow grows with its share of the queue,
    without state per flow. RED decides on the other packets.

    Equation: flow = flow of a random held packet: both are dropped; else RED

    Source: R. Pan, B. Prabhakar, K. Psounis, IEEE INFOCOM, 2000.

    None stands for the default.
        min: average backlog up to which nothing is compared and every packet passes (queue, such as
            "300 packets"; more than 0; less than max). Default none: as RED: a third of max;
            without max a sixth of the buffer (5 packets where there is no limit).
        max: average backlog at which p_b reaches max_p (queue, such as "300 packets"; more than 0;
            more than min, within the buffer). Default none: as RED: three times min.
        weight: weight of a new sample in the average (number, such as 0.1; more than 0, at most 1).
            Default 0.002: as RED.
        max_p: probability at the upper threshold (number, such as 0.1; more than 0, at most 1).
            Default 0.1: as RED.
        gentle: rise to 1 at twice max instead of dropping everything from max on (true or false).
            Default false: Pan et al. 2000: above max every packet is dropped.
        mark_below_p: p_b below which RED's part marks ECN-capable packets; from there on it drops
            them (number, such as 0.1; 0 to 2; above 1 nothing that can be marked is dropped by
            RED's part). Default 1.0: RFC 3168, section 7; 0 is the paper, which has no marks.
        byte_mode: count bytes: the average, and the probability by packet size (true or false).
            Default false: as RED.
        wait: wait 1/p_b packets after a mark or drop (true or false). Default true: as RED.
    """

    stem: ClassVar[str] = "choke"

    min: str | None = None
    max: str | None = None
    weight: float | None = None
    max_p: float | None = None
    gentle: bool | None = None
    mark_below_p: float | None = None
    byte_mode: bool | None = None
    wait: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Sred(Entry):
    """Stabilised RED: count the flows by chance hits in a list, and drop by their number.

    Each arriving packet is compared with one at random from a list of recent flows. The frequency
    of matches measures the number of flows. The probability of a mark or drop grows with the square
    of that number and, in three steps, with the backlog; so the backlog is about the same for few
    flows and for many.

    Equation: P <- (1 - a) P + a Hit; p_zap = p_sred(q) min(1, 1 / (256 P)^2) (1 + Hit / P)

    Source: T. Ott, T. Lakshman, L. Wong, IEEE INFOCOM, 1999.

    None stands for the default.
        zombies: flows in the list (whole number, such as 50; 1 to 100000). Default 1000: Ott 1999:
            a few times as many as there are flows.
        overwrite: probability that a zombie that is not hit is overwritten (number, such as 0.1;
            more than 0, at most 1). Default 0.25: Ott 1999.
        weight: weight of a new comparison in the average hit (number, such as 0.1; more than 0, at
            most 1). Default none: overwrite / zombies: the list remembers so many packets.
        max_p: probability from a third of the buffer on, with 256 flows or more (number, such as
            0.1; more than 0, at most 1). Default 0.15: Ott 1999: TCP depends on timeouts where more
            is lost.
        buffer: the buffer whose third and sixth are the steps of the probability (queue, such as
            "300 packets"; more than 0). Default none: the real buffer, Ott 1999; where it has no
            limit, what the link sends in a round-trip time.
        full: drop flows more often that hit more often: the factor 1 + Hit / P (true or false).
            Default true: Ott 1999: the full law; false, without the factor, is the simple one.
    """

    stem: ClassVar[str] = "sred"

    zombies: int | None = None
    overwrite: float | None = None
    weight: float | None = None
    max_p: float | None = None
    buffer: str | None = None
    full: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Blue(Entry):
    """Learn one probability: more when a packet is lost, less when the link is idle.

    The queue length has no effect. When the buffer overflows the probability of a mark or drop is
    too small and grows by a step; when the link falls idle it is too large and shrinks by a smaller
    one. After each change it is constant for a while, so that the senders can respond. The law
    holds a probability, not a queue length: the queue may be short.

    Equation: p <- p + d_1 at a loss, p <- p - d_2 when the link is idle; freeze_time apart

    Source: W. Feng, K. Shin, D. Kandlur, D. Saha, IEEE/ACM Transactions on Networking 10(4), 2002.

    None stands for the default.
        increase: increment of the probability at a lost packet (number, such as 0.1; more than 0,
            at most 1). Default 0.0025: the p of a moderate load: larger steps empty the queue,
            docs/deviations/blue.md.
        decrease: decrement of the probability on an idle link (number, such as 0.1; more than 0, at
            most 1; at most increase). Default 0.00025: Feng 2002: much less than d_1, since only a
            loss always means that p is wrong; a tenth.
        freeze: least time between two changes of the probability (time, such as "20 ms"; more than
            0 s, at most 1 h). Default "100 ms": Feng 2002: long enough for a response to a change,
            about the longest round-trip time.
        threshold: backlog above which an arriving packet counts as a loss; not set: only one that
            does not fit (queue, such as "300 packets"; within the buffer). Default none: Feng 2002:
            an option, to leave room in the buffer for bursts.
        again: a link that stays idle lowers the probability again after each freeze_time (true or
            false). Default true: p decays on an idle link; false is the paper to the letter, one
            event per idle period.
    """

    stem: ClassVar[str] = "blue"

    increase: float | None = None
    decrease: float | None = None
    freeze: str | None = None
    threshold: str | None = None
    again: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Avq(Entry):
    """Adaptive virtual queue: mark what would overflow a somewhat slower link.

    The law computes the length that the queue would have on a somewhat slower link. Packets that
    would overflow this virtual queue are marked or dropped. The virtual link's rate falls with each
    byte that arrives and rises with time, until the arrival rate is the share gamma of the real
    rate. The real queue is short, at the cost of the share 1 - gamma.

    Equation: C~ <- max(min(C~ + alpha gamma C dt, C) - alpha b, 0); mark where VQ + b > B

    Source: S. Kunniyur, R. Srikant, IEEE/ACM Transactions on Networking 12(2), 2004.

    None stands for the default.
        gamma: arrival rate to hold, as a share of the link rate (number, such as 0.1; more than 0,
            at most 1). Default 0.98: Kunniyur 2004: as much as leaves room for the queue to drain.
        alpha: rate of adaptation of the virtual rate, 1/s (number, such as 0.1; more than 0, at
            most 100). Default 0.15: Kunniyur 2004, the simulations.
        start: share of the link's rate that the virtual link begins with (number, such as 0.1; more
            than 0, at most 1). Default 1.0: the paper has no value, and the real rate causes no
            needless marks; 0.8 is ns-2's, which its author wrote.
        offered: count packets that AVQ drops as load, too (true or false). Default false: gamma
            limits the accepted load, as in ns-2's AVQ; true is the paper's code to the letter.
        buffer: length of the virtual queue that is too long (queue, such as "300 packets"; more
            than 0). Default none: the real buffer, Kunniyur 2004, at least 2 packets, as the one
            being sent is counted; where the real one has no limit, what the link sends in a
            round-trip time.
    """

    stem: ClassVar[str] = "avq"

    gamma: float | None = None
    alpha: float | None = None
    start: float | None = None
    offered: bool | None = None
    buffer: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Rem(Entry):
    """Random exponential marking: a price that adds up excess rate and excess backlog.

    The link has a price, which rises while more is offered than it carries or while the backlog is
    above the target, and falls otherwise. A packet is marked with 1 - phi^-price. So the price
    converges to the value that the load needs, and the backlog to the target for any load; the
    prices of a path add up at the source.

    Equation: mu <- max(0, mu + gamma (alpha (q - q*) + x - c)); p = 1 - phi^-mu

    Source: S. Athuraliya, V. Li, S. Low, Q. Yin, "REM: Active Queue Management", IEEE Network
    15(3), 2001.

    None stands for the default.
        target: backlog to hold; a time or bytes are converted to packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default none: 20 packets, Athuraliya
            et al. 2001; half of the buffer where that is less.
        gamma: step of the price for one packet of excess (number, such as 0.1; more than 0, at most
            1000). Default 0.001: Athuraliya et al. 2001.
        alpha: weight of the backlog against the rate (number, such as 0.1; more than 0, at most
            10). Default 0.1: Athuraliya et al. 2001.
        phi: base of the probability; its logarithm turns a price into a rate of marks (number, such
            as 0.1; more than 1, at most 1000). Default 1.001: Athuraliya et al. 2001.
        period: sampling period (time, such as "20 ms"; 1 us to 1 h). Default "2 ms": ns-2; the
            paper leaves it open.
        mismatch: measure of x - c: rate or backlog (rate, backlog). Default "rate": Athuraliya et
            al. 2001, the rule itself; backlog is what they allow in its place.
        signal_at: end of the queue at which packets are marked or dropped: enqueue or dequeue
            (enqueue, dequeue). Default "enqueue": as the other laws with verdicts on arrivals;
            ns-2's REM marks at dequeue, so that signals skip the queue.
    """

    stem: ClassVar[str] = "rem"

    target: str | None = None
    gamma: float | None = None
    alpha: float | None = None
    phi: float | None = None
    period: str | None = None
    mismatch: str | None = None
    signal_at: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Pi(Entry):
    """Proportional-integral control of the backlog about a target.

    Every period the probability moves by a times the present error of the backlog less b times the
    previous one. The integral part holds the target whatever the load; the gains decide how fast.
    Without gains they are designed for the scenario's flows, rate and round-trip time.

    Equation: p <- p + a (q - q_ref) - b (q_old - q_ref), clamped to [0, 1]

    Source: C. Hollot, V. Misra, D. Towsley, W. Gong, IEEE Transactions on Automatic Control 47(6),
    2002.

    None stands for the default.
        target: backlog to hold; a time or bytes are converted to packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default none: 100 packets, the
            ARM-PFC paper's set-point; half of the buffer where that is less.
        a: gain on the present error, 1/packet; without a and b the gains are designed for the
            scenario (number, such as 0.1; more than 0; more than b). Default none: designed by the
            rule of Hollot et al. 2002.
        b: gain on the previous error, 1/packet (number, such as 0.1; more than 0; less than a).
            Default none: designed by the rule of Hollot et al. 2002.
        rate: sampling frequency (frequency, such as "160 Hz"; 0.1 Hz to 1 MHz). Default none: 160
            Hz, the example of Hollot et al. 2002, or ten samples in 1/z where that is faster.
    """

    stem: ClassVar[str] = "pi"

    target: str | None = None
    a: float | None = None
    b: float | None = None
    rate: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Pid(Entry):
    """Proportional, integral and derivative control of the backlog about a target.

    Every period the probability is moved by the error of the backlog, by its first difference, and
    by its second difference; the last is the derivative part, which responds to a growing queue
    before it is long. Without gains they are designed for the scenario's flows, rate and round-trip
    time. Where the flows are unknown the gains follow the average probability, which determines
    TCP's window and so the number of flows; an unknown round-trip time is taken as 100 ms.

    Equation: p <- p + a1 e(k) - b1 e(k-1) + c1 e(k-2), e = q - q_ref, clamped to [0, 1]

    Source: S. Ryu, C. Rump, Journal of Communications and Networks 6(2), 2004.

    None stands for the default.
        target: backlog to hold; a time or bytes are converted to packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default none: 100 packets, pi's, so
            that the two compare; the paper has 200 packets in a buffer of 800; half of the buffer
            where that is less.
        form: state carried from one period to the next: the sum of the errors, or p (position,
            velocity). Default "position": the paper's, velocity, misses the target where p is
            small; both are equal while p is not clamped to 0 or 1.
        kp: proportional gain, 1/packet; without kp, ki and kd the gains are designed (number, such
            as 0.1; at least 0). Default none: the paper's design; its Table 1 has 6.2e-5.
        ki: integral gain, 1/(packet s) (number, such as 0.1; more than 0). Default none: the
            paper's design; its Table 1 has 3.12e-5.
        kd: derivative gain, s/packet (number, such as 0.1; at least 0). Default none: the paper's
            design: 5.1e-6 for its network; the 5.1e-5 in its Table 1 is a misprint.
        overshoot: overshoot that the design without delay may have (number, such as 0.1; more than
            0, less than 1). Default 0.05: the paper: a damping of 0.69.
        kappa: factor of the designed gains (number, such as 0.1; more than 0, at most 1). Default
            0.05: the paper, by trial; with the delay the phase margin is 54 degrees.
        rate: sampling frequency (frequency, such as "160 Hz"; 0.1 Hz to 1 MHz). Default none: the
            paper's 29.5 Hz at a round-trip time of 0.246 s, and as many samples in any other.
        adapt: input of the gain schedule: the average p and the link's rate, or nothing (load,
            none). Default none: none, as the paper; load where the flows are unknown.
        flows: long flows that the gains are designed for, to begin with where they are scheduled
            (number, such as 0.1; more than 0, at most 1e9). Default none: the scenario's; where
            unknown the design begins at p = 0.02.
        capacity: link rate that the gains are designed for (rate, such as "8 Mbit/s"; 1 bit/s to 1
            Tbit/s; or 0.001 to 1e12 packets/s). Default none: the link's.
        rtt: round-trip time that the gains are designed for, queueing at the target included (time,
            such as "20 ms"; 1 us to 1 h). Default none: the scenario's (100 ms where unknown), and
            the target's queueing delay.
    """

    stem: ClassVar[str] = "pid"

    target: str | None = None
    form: str | None = None
    kp: float | None = None
    ki: float | None = None
    kd: float | None = None
    overshoot: float | None = None
    kappa: float | None = None
    rate: str | None = None
    adapt: str | None = None
    flows: float | None = None
    capacity: str | None = None
    rtt: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class PiPd(Entry):
    """Integral control of the backlog with a one-sample prediction across the target.

    Every period the probability is moved by the mean error of the last two samples; where the
    backlog has just crossed the target, by the error predicted for the next sample. The gain alpha
    follows the average probability, an estimate of the number of flows, which need not be known.
    The round-trip time is rtt, else the scenario's, else 100 ms; an error in it affects settling
    time and damping, not the target.

    Equation: p <- p + alpha ((Q + Q_old)/2 - Q_ref) / Q_ref, across Q_ref: p + alpha (Q_next -
    Q_ref) / (B - Q_ref)

    Source: S. Ryu, B. Ryu, M. Jeong, S. Park, "PI-PD Controller for Adaptive and Robust Active
    Queue Management for Internet Congestion Control".

    None stands for the default.
        target: backlog to hold; a time or bytes are converted to packets at the link's first rate
            (queue, such as "300 packets"; more than 0; within the buffer and not all of it).
            Default none: 100 packets, pi's, so that the two compare; the paper has 200 packets in a
            buffer of 800; half of the buffer where that is less.
        form: active parts: (11) or (15) by the side of the target, both, or (15) alone (switch,
            sum, pd). Default "switch": the paper's section 3.3.
        alpha: step of p at an error equal to its divisor; without it the step follows the load
            (number, such as 0.1; more than 0, at most 1). Default none: designed for the link and
            the load: the paper's 8e-4 oscillates at 63 flows and 0.2533 s; a fixed 2e-4 is stable
            from 63 flows on up to 0.25 s. With sampling = load 8e-4, and less where the period
            would be longer than its bound.
        sampling: source of the sampling period: its key, or the load, for a constant alpha (fixed,
            load). Default "fixed": the paper's; load is its future work.
        period: sampling period, the longest one with sampling = load (time, such as "20 ms"; 10 us
            to 10 s). Default none: the paper's 50 ms, or where that is less 0.9 Q_ref / C, so that
            a period cannot empty the queue; 1 ms or more. With sampling = load the round-trip time.
        schedule: alpha (with sampling = load the period) follows the average p and the link's rate
            (true or false). Default true: no number of flows is needed; false keeps the alpha of
            the flows.
        flows: long flows that alpha is designed for, to begin with where it is scheduled (number,
            such as 0.1; more than 0, at most 1e9). Default none: the scenario's; where unknown
            alpha begins at p = 0.02.
        capacity: link rate that alpha is designed for (rate, such as "8 Mbit/s"; 1 bit/s to 1
            Tbit/s; or 0.001 to 1e12 packets/s). Default none: the link's.
        rtt: round-trip time that alpha is designed for, queueing at the target included (time, such
            as "20 ms"; 1 us to 1 h). Default none: the scenario's (100 ms where unknown), and the
            target's queueing delay.
    """

    stem: ClassVar[str] = "pi_pd"

    target: str | None = None
    form: str | None = None
    alpha: float | None = None
    sampling: str | None = None
    period: str | None = None
    schedule: bool | None = None
    flows: float | None = None
    capacity: str | None = None
    rtt: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Cpc(Entry):
    """Two loops: p controls the packets in flight, the backlog sets their reference.

    The packets in flight are measured as accepted packets per second times the round-trip time. An
    inner loop moves p until they equal the reference of an outer loop: the bandwidth-delay product,
    corrected by the backlog's error, its integral and its rate of change. Both loops are designed
    in closed form for the link and the load; the load is estimated by the average probability, so
    the number of flows need not be known.

    Equation: p <- p + T (F - F_ref) / (N T_I); F_ref = C R + N (K_P e + K_i sum(e) T - K_d (lambda
    - C))

    Source: H.-L. To et al., Mathematical Problems in Engineering 2015, 628583.

    None stands for the default.
        target: backlog to hold; a time or bytes are converted to packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default none: 100 packets, that of pi
            and arm_pfc, for comparisons; the paper's run for Reno holds 80 ms; half of the buffer
            where that is less.
        form: design of the loops: with or without the delay of a round trip (delay_aware, paper,
            autotune). Default "delay_aware": the paper's, without it, has a phase margin of 38
            degrees and cycles where the round trip is longer.
        measure: measure of the packets in flight: lambda (T_p + q / C) or lambda R (flight, rate).
            Default "flight": rate needs no T_p and is less damped.
        adapt: input of the gain schedule: the average p and the link's rate, or nothing (load,
            none). Default none: load for delay_aware: no number of flows is needed; none for the
            others, whose design is fixed.
        flows: long flows that the loops are designed for, to begin with where they follow the load
            (number, such as 0.1; more than 0, at most 1e9). Default none: the scenario's; where
            unknown and adapt = load the design begins at p = 0.02.
        capacity: link rate that the loops are designed for (rate, such as "8 Mbit/s"; 1 bit/s to 1
            Tbit/s; or 0.001 to 1e12 packets/s). Default none: the link's.
        rtt: round-trip time that the loops are designed for, queueing at the target included (time,
            such as "20 ms"; 1 us to 1 h; more than the target's queueing delay). Default none: the
            scenario's (100 ms where unknown), and the target's queueing delay.
        period: sampling period (time, such as "20 ms"; 1 us to 1 h; at most rtt). Default none: 20
            ms, at most a quarter of rtt.
        smoothing: time constant of the averages of the arrivals (time, such as "20 ms"; 1 us to 1
            h; at most rtt). Default none: a quarter of rtt: it takes little from the phase margin.
        inner: integral time of the inner loop under autotune, packets s (number, such as 0.1; more
            than 0; with form = autotune). Default none: for a phase margin of 60 degrees.
        kp: proportional gain of the outer loop under autotune: windows by backlog (number, such as
            0.1; more than 0; with form = autotune). Default none: for a phase margin of 60 degrees.
        ki: integral gain of the outer loop under autotune, 1/s (number, such as 0.1; more than 0;
            with form = autotune). Default none: the greatest with a modulus margin of a half.
        kd: derivative gain of the outer loop under autotune, s (number, such as 0.1; more than 0;
            with form = autotune). Default none: T_d = T_i / 4 (Astrom and Hagglund 1984).
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
    inner: float | None = None
    kp: float | None = None
    ki: float | None = None
    kd: float | None = None
    max_p: float | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class ArmPfc(Entry):
    """Predictive functional control of the backlog with a model of TCP and its delay.

    Every period a linear model of TCP and queue predicts the backlog two and a half round-trip
    times ahead, where present marks take effect. The probability is chosen such that the prediction
    meets an exponential that leads to the target. The model is driven by the applied probability
    alone, so the target is met in spite of model errors; it follows the load by the average
    probability, so the number of flows need not be known.

    Equation: u(k) = (y(k) (psi^h - 1) + y_m(k) - free response of y_m at k + h) / G, p = p_0 + u,
    clamped

    Source: N. Bigdeli, M. Haeri, Iranian Journal of Science & Technology B 31(B6), 2007.

    None stands for the default.
        target: backlog to hold; a time or bytes are converted to packets at the link's first rate
            (queue, such as "300 packets"; within the buffer). Default none: 100 packets, the
            paper's set-point; half of the buffer where that is less.
        form: model output: that of an independent model, or of one restarted from measurements
            (indep, paper). Default "indep": the literal reading, paper, misses the target away from
            its design point.
        adapt: adaptation of the model: to the average p, by recursive least squares from p and the
            backlog, or none (load, rls, none). Default none: load for indep: no number of flows is
            needed, noise has little effect; none for paper, whose design is fixed.
        memory: memory of the identification, periods, for adapt = rls (whole number, such as 50; 10
            to 100000). Default 100: on the paper's network about the 5 s over which the average p
            is taken.
        flows: long flows that the model is designed for, to begin with where it follows the load
            (number, such as 0.1; more than 0, at most 1e9). Default none: the scenario's; where
            unknown and the model is not fixed the design begins at p = 0.02.
        least_window: smallest window of a model that follows the load, segments; below it the model
            is constant (number, such as 0.1; 1 to 1000). Default 5.0: the model is within a factor
            of 1.6 of TCP with it; without (1), 2.9 where windows are 1.2 segments.
        capacity: link rate that the model is designed for (rate, such as "8 Mbit/s"; 1 bit/s to 1
            Tbit/s; or 0.001 to 1e12 packets/s). Default none: the link's.
        rtt: round-trip time that the model is designed for, queueing at the target included (time,
            such as "20 ms"; 1 us to 1 h). Default none: the scenario's (100 ms where unknown), and
            the target's queueing delay.
        delay: periods in a round-trip time; the sampling period is rtt / delay (whole number, such
            as 50; 1 to 100). Default none: the paper's (16): a period of 0.11 of the model's time
            constants, 5 on its network; no less where the model follows the load, as its time
            constants may shrink.
        coincidence: periods ahead at which the prediction is to meet the reference, one or two
            (list of whole numbers, such as [7, 9]; one or two, ascending, more than delay, at most
            400). Default none: 2.5 d for indep: nearer, the model errs by more; the paper's d + 2
            for paper; a ramp's second point is 2 further.
        base: future p in the prediction: constant or linear in time (step, ramp; ramp needs two
            coincidence points). Default "step": the paper's choice for a constant set-point.
        psi: decay factor per period of the distance between backlog and target (number, such as
            0.1; more than 0, less than 1). Default 0.83: the paper: a time constant of 1.07
            round-trip times.
    """

    stem: ClassVar[str] = "arm_pfc"

    target: str | None = None
    form: str | None = None
    adapt: str | None = None
    memory: int | None = None
    flows: float | None = None
    least_window: float | None = None
    capacity: str | None = None
    rtt: str | None = None
    delay: int | None = None
    coincidence: int | Sequence[int] | None = None
    base: str | None = None
    psi: float | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class FbOcq(Entry):
    """Optimal control of the queue: admits the input that leads to a target at the least cost.

    A queued packet has a cost per second, a rejected packet a cost once. The input of least total
    cost has a closed form: a rate that falls with the queue. Every period the law marks or drops
    the share by which the offered load exceeds that rate. It measures the load itself, so neither
    the number of flows nor the round-trip time need be known.

    Equation: p = 1 - (u + mu - u_s) / w, u = g - (q - x_s) sqrt(s^2 + 1 / (eps (a + q))), g = mu q
    / (a + q)

    Source: A. Radwan, H.-L. To, W.-J. Hwang, Scientific Programming, 2016.

    None stands for the default.
        target: backlog to hold; profile holds none, and only its curve depends on it; a time or
            bytes are converted to packets at the link's first rate (queue, such as "300 packets";
            more than 0; within the buffer). Default none: 40 packets, the paper's simulation; half
            of the buffer where that is less.
        form: control function: feedback with a penalty, feedback without, or a curve over the
            backlog (sqrt, deadbeat, receding, profile). Default "sqrt": deadbeat admits all or
            nothing: with marks the queue oscillates between empty and full.
        t_c: time constant of the feedback at the target (time, such as "20 ms"; 1 ms to 1 min; with
            a, less than R = (a + target)^2 / (a mu)). Default none: 500 ms, or 5 round-trip times
            where that is known and shorter, at least 1 ms: TCP must have responded by then; with
            load = integral by the loop gain, which is 1, at least 2 of them.
        a: queue at which half of the service rate is used, packets; 1 is M/M/1 (number, such as
            0.1; more than 0, at most 1e6). Default none: 1, the paper's; less where R would not be
            2 t_c.
        period: sampling period (time, such as "20 ms"; 100 us to 1 s). Default none: 10 ms, or t_c
            / 5 where that is shorter: much less than t_c; with form = deadbeat at most half of the
            time in which the target is served, at least 100 us: a queue that empties in a period is
            held in the mean of periods only.
        tau_w: time constant of the offered load (time, such as "20 ms"; 1 ms to 1 min). Default
            none: 1 s; where the round-trip time is known, 10 of them if that is shorter and 5 if
            that is longer, at least 2 ms: a faster one follows the effect of p on the load; with
            load = integral TCP's slow time constant, R0 / sqrt(2 p), at least 3 of them.
        load: measure of the offered load: the integral of the error, packets, or packets with marks
            counted as drops (integral, virtual, offered; integral only for sqrt and receding, with
            their bias). Default none: integral for sqrt and receding with their bias, else virtual;
            counts miss the target where p saturates or the link idles.
        service: source of the service rate: the link's rate and the mean packet size, or departures
            under a backlog (link, measured). Default "link": the link rate is known.
        bias: raise the input by mu - u_s (true or false). Default true: at equilibrium a busy link
            serves mu, not u_s.
        p_max: largest p; profile reaches it at hi and rises beyond (number, such as 0.1; more than
            0, at most 1). Default none: 1; for profile 0.1, RED's.
        forecast: receding: forecast the load of the next round trip by the ACK clock, instead of
            its average (true or false). Default true: TCP sends what its ACKs release.
        delay: receding: time until p acts, through which the queue is predicted; 0 s: at once, on
            the packets themselves (time, such as "20 ms"; 0 s to 10 s). Default none: the base RTT
            and the delay of the present queue.
        t_u: receding: time constant of the penalty on changes of the input, t_u^4 = beta (a +
            target); 0 s: no penalty (time, such as "20 ms"; 0 s to 1 min). Default none: a fifth of
            R0, the base RTT with the target's delay: without it p is noisy and signals more.
        horizon: receding: length of the plan (time, such as "20 ms"; 100 us to 10 s; at most 500
            periods). Default none: R0, or 5 t_u if that is longer, at least 10 periods and at most
            100: beyond it the plan has the cost of returning to the target.
        iterations: receding: iterations of an update; when they are spent, the law answers as sqrt
            does (whole number, such as 50; 0 to 1000). Default 40: fewer than 10 suffice nearly
            always; 40 take less than 1 ms.
        lo: backlog from which profile marks or drops (queue, such as "300 packets"; less than hi).
            Default none: half the target.
        hi: backlog at which the p of profile is p_max (queue, such as "300 packets"; more than lo,
            within the buffer). Default none: 1.5 times the target, or the buffer where that is
            less.
    """

    stem: ClassVar[str] = "fb_ocq"

    target: str | None = None
    form: str | None = None
    t_c: str | None = None
    a: float | None = None
    period: str | None = None
    tau_w: str | None = None
    load: str | None = None
    service: str | None = None
    bias: bool | None = None
    p_max: float | None = None
    forecast: bool | None = None
    delay: str | None = None
    t_u: str | None = None
    horizon: str | None = None
    iterations: int | None = None
    lo: str | None = None
    hi: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Pie(Entry):
    """Proportional-integral control of the delay, with a gain that follows p and a burst allowance.

    Every 15 ms the probability moves by the error of the delay and by its trend, in steps that are
    small while the probability is small. Arriving packets are marked or dropped with it, spread out
    in time; short bursts, a nearly empty queue and a queue well below the target are exempt.
    Neither the link's rate nor the load need be known.

    Equation: p <- p + (alpha (delay - target) + beta (delay - old)) / divisor(p), clamped to [0, 1]

    Source: R. Pan, P. Natarajan, F. Baker, G. White, RFC 8033, 2017.

    None stands for the default.
        target: delay to hold (time, such as "20 ms"; more than 0 s, at most 1 h). Default "15 ms":
            RFC 8033, section 4.2.
        period: time between updates; at half of it halve alpha and raise beta by a quarter of alpha
            (time, such as "20 ms"; 1 us to 10 s). Default "15 ms": RFC 8033, section 4.2.
        alpha: gain on the error of the delay, 1/s (number, such as 0.1; more than 0, at most 1e6).
            Default 0.125: RFC 8033, Appendix A; section 4.2: in proportion larger for a smaller
            target.
        beta: gain on the trend of the delay, 1/s (number, such as 0.1; 0 to 1e6). Default 1.25: RFC
            8033, Appendix A; section 4.2: in proportion larger for a smaller target.
        max_burst: longest burst without drops (time, such as "20 ms"; 0 s to 1 h). Default "150
            ms": RFC 8033, section 4.4.
        delay: measure of the delay: that of the last departure, or the backlog over a measured rate
            (timestamps, departure_rate). Default "timestamps": RFC 8033, section 4.3, leaves it
            open; the rate is measured only while 16 KiB wait.
        dq_threshold: bytes that a measurement of the departure rate takes (size, such as "1500 B";
            1 B to 64 KiB; within the buffer). Default "16.384 kB": RFC 8033, section 5.2.
        packet: mean packet: a backlog of two of them is exempt, and byte_mode scales by it (size,
            such as "1500 B"; more than 0 B). Default none: the scenario's; RFC 8033 gives no
            number, RFC 8034 has 1024 B.
        mark_below_p: ECN-capable packets are marked while p is below this and dropped from there
            on; 0 never marks (number, such as 0.1; 0 to 1). Default 0.1: RFC 8033, section 5.1.
        derandomize: spread drops out, equation (6) (true or false). Default true: RFC 8033, section
            5.4: independent draws drop too close together or too far apart.
        cap_drop: limit the rise of p to 0.02 per update where it is 0.1 or more (true or false).
            Default true: RFC 8033, section 5.5: the slow start of a lone flow.
        activity: inactive until the buffer is a third full, and again after congestion (true or
            false; true only in a buffer with a limit). Default false: RFC 8033, section 5.3:
            optional; a queue that stays below a third of a large buffer is never controlled.
        byte_mode: scale p by the size of the packet, up to 0.85 (true or false). Default false: RFC
            7567, section 4.4: do not favour small packets; the bound is RFC 8034's.
        decay: the last two delays at which p decays: both zero, or both below half the target
            (half, zero). Default "zero": RFC 8033, section 4.2 and Appendix A; Appendix B has half.
        inactive: the last two delays at which, once p is 0, activity ends (half, zero). Default
            "half": RFC 8033, section 5.3; Appendix B has zero.
    """

    stem: ClassVar[str] = "pie"

    target: str | None = None
    period: str | None = None
    alpha: float | None = None
    beta: float | None = None
    max_burst: str | None = None
    delay: str | None = None
    dq_threshold: str | None = None
    packet: str | None = None
    mark_below_p: float | None = None
    derandomize: bool | None = None
    cap_drop: bool | None = None
    activity: bool | None = None
    byte_mode: bool | None = None
    decay: str | None = None
    inactive: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class DocsisPie(Entry):
    """PIE for cable modems: a known rate, drops by size, a longer burst protection.

    PIE with a target of 10 ms whose delay is the backlog over the link's known rate. Large packets
    are dropped more often than small ones. Nothing is dropped before the buffer is a third full;
    the first drop is followed by 142 ms without any, so that the senders can react; within a second
    after congestion the buffer need not be a third full again. It never marks.

    Equation: p <- p + (0.25 (delay - target) + 2.5 (delay - old)) / divisor(p); drop with min(p
    size / 1024, 0.85)

    Source: G. White, R. Pan, RFC 8034, 2017, Appendix A.

    None stands for the default.
        target: delay to hold (time, such as "20 ms"; more than 0 s, at most 1 h). Default "10 ms":
            RFC 8034, section 4.1.
        msr: rate in the estimate of the delay; a given value does not follow the link (rate, such
            as "8 Mbit/s"; 1 bit/s to 1 Tbit/s; or 0.001 to 1e12 packets/s). Default none: the
            link's, as RFC 8034, section 4.2: a modem has its own rate.
        buffer: size of the buffer; nothing is dropped before a third of it is full (size, such as
            "1500 B"; more than 0 B). Default none: the qdisc's limit, as RFC 8034, Appendix A.1.1.
    """

    stem: ClassVar[str] = "docsis_pie"

    target: str | None = None
    msr: str | None = None
    buffer: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Pi2(Entry):
    """Proportional-integral control of the delay, squared for classic senders, linear for scalable ones.

    Every period a base probability moves by the error of the delay and by its trend, with fixed
    gains. Classic packets are marked or dropped with its square, scalable ones (ECT(1)) marked with
    k times it, which is how the two kinds of sender respond; so the same gains fit any load.
    Neither the link's rate nor the load need be known.

    Equation: p' <- p' + alpha (delay - target) + beta (delay - old); p_C = p'^2, p_L = k p'

    Source: K. De Schepper, O. Bondarenko, I. Tsang, B. Briscoe, ACM CoNEXT, 2016; RFC 9332,
    Appendix A.

    None stands for the default.
        target: delay to hold (time, such as "20 ms"; more than 0 s, at most 1 h). Default "15 ms":
            RFC 9332, Figure 2.
        rtt_max: the longest round-trip time that the gains are designed for (time, such as "20 ms";
            1 us to 1 h). Default "100 ms": RFC 9332, Figure 2: most traffic has short paths.
        period: time between updates (time, such as "20 ms"; 1 us to 10 s). Default none: RFC 9332,
            Figure 2: the smaller of target and rtt_max / 3.
        alpha: gain on the error of the delay, 1/s (number, such as 0.1; more than 0, at most 1e6).
            Default none: RFC 9332, Figure 2: 0.1 period / rtt_max^2.
        beta: gain on the trend of the delay, 1/s (number, such as 0.1; 0 to 1e6). Default none: RFC
            9332, Figure 2: 0.3 / rtt_max.
        coupling: ratio of the probability of marks of scalable packets to the base probability
            (number, such as 0.1; 1 to 100). Default 2.0: RFC 9332, Figure 2: equal rates of both
            kinds of sender at equal round-trip times.
        bypass: backlog below which every packet passes; 0 exempts none (size, such as "1500 B").
            Default "3000 B": RFC 9332, Appendix A.1: what the reference implementation adds to the
            pseudocode.
        signal_at: end of the queue at which packets are marked or dropped: enqueue or dequeue
            (enqueue, dequeue). Default "enqueue": as PIE; the authors signal at dequeue (RFC 9332,
            Appendix A.1): on peers/s1 a third to two thirds of the deviation.
    """

    stem: ClassVar[str] = "pi2"

    target: str | None = None
    rtt_max: str | None = None
    period: str | None = None
    alpha: float | None = None
    beta: float | None = None
    coupling: float | None = None
    bypass: str | None = None
    signal_at: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Codel(Entry):
    """Controlled delay: act when the least delay of an interval is above a target.

    The law measures the sojourn time of each departing packet. When none is below the target for a
    whole interval, the queue is a standing one: a packet is dropped (marked, if it is ECN-capable),
    then others ever faster, until the delay is below the target. A backlog of one MTU is exempt.
    The link's rate and the load need not be known.

    Equation: drop_next <- drop_next + interval / sqrt(count)

    Source: RFC 8289, section 5.

    None stands for the default.
        target: bound of the least delay in an interval (time, such as "20 ms"; more than 0 s; less
            than interval). Default "5 ms": RFC 8289, section 4.3: 5 % of interval.
        interval: time above target before the first drop; also the time from the first drop to the
            second (time, such as "20 ms"; more than 0 s, at most 1 h; more than target). Default
            "100 ms": RFC 8289, section 4.2: a little above the round-trip time of most flows.
        ecn: mark ECN-capable packets instead of dropping them (true or false). Default true: RFC
            8289 leaves it open; RFC 8290, section 5.2.6: on by default.
        mtu: backlog that is exempt, whatever its delay (size, such as "1500 B"; more than 0 B).
            Default none: RFC 8289, section 4.1: the largest packet seen so far, and section 5.3: at
            least 512 B.
        newton: 1 / sqrt(count) by one step of Newton's method for each drop, as in Linux and ns-3;
            from 1 that makes it 0.5 at the second (true or false). Default false: the root of the
            RFC; integer multiplications may compute it.
    """

    stem: ClassVar[str] = "codel"

    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None
    mtu: str | None = None
    newton: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Cobalt(Entry):
    """CoDel and BLUE side by side: the second for traffic that does not respond to the first.

    CoDel's half signals ever faster while packets wait longer than the target, and slows down at
    the same pace once they do not. BLUE's half drops a share of all packets that rises when the
    buffer overflows and falls when the queue is empty; it ignores ECN, as the flows that fill the
    buffer do not respond to marks. An overflow starts CoDel's half at once. The last packet in the
    queue is marked at most.

    Equation: due <- due + interval / sqrt(count); p <- p + 1/256 at overflow, p - 1/4096 when empty

    Source: J. Palmei et al., Design and Evaluation of COBALT Queue Discipline, IEEE LANMAN 2019;
    its authors' code, Linux net/sched/sch_cake.c.

    None stands for the default.
        target: bound of the least delay in an interval (time, such as "20 ms"; more than 0 s; less
            than interval). Default "5 ms": RFC 8289, section 4.3: 5 % of interval; ns-3's and
            CAKE's too.
        interval: time above target before the first signal; also the time from the first signal to
            the second (time, such as "20 ms"; more than 0 s, at most 1 h; more than target).
            Default "100 ms": RFC 8289, section 4.2; ns-3's and CAKE's too.
        ecn: CoDel's half marks ECN-capable packets instead of dropping them (true or false).
            Default true: Morton 2018: CoDel's half marks, and drops no ECN-capable packet.
        mtu: largest packet: a delay of up to four of its transmission times is acceptable for any
            target (size, such as "1500 B"; more than 0 B). Default "1500 B": Ethernet's; sch_cake
            takes the interface's.
        increment: increment of BLUE's probability at an overflow (number, such as 0.1; more than 0,
            at most 1). Default 0.00390625: sch_cake.c: 1/256.
        decrement: decrement of BLUE's probability at an empty queue (number, such as 0.1; more than
            0, at most 1). Default 0.000244140625: sch_cake.c: 1/4096.
        freeze: shortest time between two changes of BLUE's probability (time, such as "20 ms"; more
            than 0 s). Default none: target, as in sch_cake.c; p then takes 1.28 s to reach 1.
    """

    stem: ClassVar[str] = "cobalt"

    target: str | None = None
    interval: str | None = None
    ecn: bool | None = None
    mtu: str | None = None
    increment: float | None = None
    decrement: float | None = None
    freeze: str | None = None
