"""The parameters of the qdiscs of several queues, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the entry's file, not this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sojourn.entries import Inner, QdiscEntry, checked

__all__ = [
    "Cake",
    "Drr",
    "Dual",
    "FqCodel",
    "FqPie",
    "Prio",
    "Sfq",
    "SfqCodel",
    "Shaper",
    "Sqm",
    "Wfq",
]


@checked
@dataclass(frozen=True, kw_only=True)
class Drr(QdiscEntry):
    """Fair queueing: deficit round robin over the queues of flows, a law in each.

    A keyed hash puts each flow into one of many queues. In a turn a queue sends a quantum of bytes;
    a queue that becomes active is served before those that had a turn, so that sparse flows hardly
    wait. Where all queues together exceed the limit, the one with most bytes loses packets from its
    head.

    Equation: credits <- credits + quantum in each turn; a queue sends while credits > 0

    Source: RFC 8290; M. Shreedhar, G. Varghese, SIGCOMM 1995.

    None stands for the default.
        law: law of each queue; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "codel": CoDel, which marks where it can.
        quantum: bytes that a queue sends in a turn (size, such as "1500 B"; 40 B to 1 MB). Default
            "1514 B": a full Ethernet frame.
        by: common property of the packets of a queue (flow, from_host, to_host, class, dscp, ecn).
            Default "flow": flows have equal shares.
        buckets: queues into which a keyed hash puts flows or hosts (whole number, such as 50; 1 to
            65536). Default 1024: the default of Linux.
        new_first: a queue that becomes active is served before those that had a turn (true or
            false). Default true: sparse flows hardly wait.
        weights: weights of classes, which multiply the quantum of their flows' queues: { CLASS =
            NUMBER } (text or table, such as { bulk = 1, call = 4 }). Default { }: 1 each.
        reserved: a queue for the flows of some classes, with a rate of its own (table, such as {
            key = value }). Default none: none.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000).
            Default 10240: the default of Linux; the link's buffer, where that is less.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": the default of Linux; the link's buffer, where that is less.
        batch: packets that an overflow drops at most, from the head of the queue with most bytes;
            half of that queue at most (number of packets, such as 50; 1 to 100000). Default 64:
            amortizes the search for that queue.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "drr"

    law: str | Mapping[str, Any] | Inner | None = None
    quantum: str | None = None
    by: str | None = None
    buckets: int | None = None
    new_first: bool | None = None
    weights: str | Mapping[str, Any] | None = None
    reserved: str | None = None
    limit: int | str | None = None
    memory: str | None = None
    batch: int | str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class FqCodel(QdiscEntry):
    """Drr over codel: a queue for each flow, short for those that send little.

    Deficit round robin with CoDel in each queue, and the queues of sparse flows first. A flow that
    fills its queue delays itself; calls, games and the first packets of a page pass it.

    Source: RFC 8290.

    None stands for the default.
        law: law of each queue; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "codel": CoDel, which marks where it can.
        quantum: bytes that a queue sends in a turn (size, such as "1500 B"; 40 B to 1 MB). Default
            "1514 B": a full Ethernet frame.
        by: common property of the packets of a queue (flow, from_host, to_host, class, dscp, ecn).
            Default "flow": flows have equal shares.
        buckets: queues into which a keyed hash puts flows or hosts (whole number, such as 50; 1 to
            65536). Default 1024: the default of Linux.
        new_first: a queue that becomes active is served before those that had a turn (true or
            false). Default true: sparse flows hardly wait.
        weights: weights of classes, which multiply the quantum of their flows' queues: { CLASS =
            NUMBER } (text or table, such as { bulk = 1, call = 4 }). Default { }: 1 each.
        reserved: a queue for the flows of some classes, with a rate of its own (table, such as {
            key = value }). Default none: none.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000).
            Default 10240: the default of Linux; the link's buffer, where that is less.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": the default of Linux; the link's buffer, where that is less.
        batch: packets that an overflow drops at most, from the head of the queue with most bytes;
            half of that queue at most (number of packets, such as 50; 1 to 100000). Default 64:
            amortizes the search for that queue.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "fq_codel"

    law: str | Mapping[str, Any] | Inner | None = None
    quantum: str | None = None
    by: str | None = None
    buckets: int | None = None
    new_first: bool | None = None
    weights: str | Mapping[str, Any] | None = None
    reserved: str | None = None
    limit: int | str | None = None
    memory: str | None = None
    batch: int | str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class FqPie(QdiscEntry):
    """Drr over pie.

    Deficit round robin as in fq_codel, with PIE in each queue: packets are dropped or marked as
    they arrive, by a probability that follows the delay of their queue.

    Source: RFC 8290, section 7; RFC 8033; tc-fq_pie(8).

    None stands for the default.
        law: law of each queue; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "pie": what the name means.
        quantum: bytes that a queue sends in a turn (size, such as "1500 B"; 40 B to 1 MB). Default
            "1514 B": a full Ethernet frame.
        by: common property of the packets of a queue (flow, from_host, to_host, class, dscp, ecn).
            Default "flow": flows have equal shares.
        buckets: queues into which a keyed hash puts flows or hosts (whole number, such as 50; 1 to
            65536). Default 1024: the default of Linux.
        new_first: a queue that becomes active is served before those that had a turn (true or
            false). Default true: sparse flows hardly wait.
        weights: weights of classes, which multiply the quantum of their flows' queues: { CLASS =
            NUMBER } (text or table, such as { bulk = 1, call = 4 }). Default { }: 1 each.
        reserved: a queue for the flows of some classes, with a rate of its own (table, such as {
            key = value }). Default none: none.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000).
            Default 10240: the default of Linux; the link's buffer, where that is less.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": the default of Linux; the link's buffer, where that is less.
        batch: packets that an overflow drops at most, from the head of the queue with most bytes;
            half of that queue at most (number of packets, such as 50; 1 to 100000). Default 64:
            amortizes the search for that queue.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "fq_pie"

    law: str | Mapping[str, Any] | Inner | None = None
    quantum: str | None = None
    by: str | None = None
    buckets: int | None = None
    new_first: bool | None = None
    weights: str | Mapping[str, Any] | None = None
    reserved: str | None = None
    limit: int | str | None = None
    memory: str | None = None
    batch: int | str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class SfqCodel(QdiscEntry):
    """Drr over codel without priority for sparse flows.

    CoDel with stochastic binning, as the SQM paper names it: flows are hashed into bins, each bin
    is a queue under CoDel, and the bins are served in rounds. Assumed: 1024 bins, a turn of one
    Ethernet frame, drops from the fattest bin when full.

    Source: K. Nichols, The Controlled-Delay Active Queue Management algorithm with stochastic
    binning (sfqcodel); P. McKenney, Stochastic Fairness Queueing, INFOCOM 1990.

    None stands for the default.
        law: law of each queue; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "codel": CoDel, which marks where it can.
        quantum: bytes that a queue sends in a turn (size, such as "1500 B"; 40 B to 1 MB). Default
            "1514 B": a full Ethernet frame.
        by: common property of the packets of a queue (flow, from_host, to_host, class, dscp, ecn).
            Default "flow": flows have equal shares.
        buckets: queues into which a keyed hash puts flows or hosts (whole number, such as 50; 1 to
            65536). Default 1024: the default of Linux.
        new_first: a queue that becomes active is served before those that had a turn (true or
            false). Default false: what the name means.
        weights: weights of classes, which multiply the quantum of their flows' queues: { CLASS =
            NUMBER } (text or table, such as { bulk = 1, call = 4 }). Default { }: 1 each.
        reserved: a queue for the flows of some classes, with a rate of its own (table, such as {
            key = value }). Default none: none.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000).
            Default 10240: the default of Linux; the link's buffer, where that is less.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": the default of Linux; the link's buffer, where that is less.
        batch: packets that an overflow drops at most, from the head of the queue with most bytes;
            half of that queue at most (number of packets, such as 50; 1 to 100000). Default 64:
            amortizes the search for that queue.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "sfq_codel"

    law: str | Mapping[str, Any] | Inner | None = None
    quantum: str | None = None
    by: str | None = None
    buckets: int | None = None
    new_first: bool | None = None
    weights: str | Mapping[str, Any] | None = None
    reserved: str | None = None
    limit: int | str | None = None
    memory: str | None = None
    batch: int | str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Sfq(QdiscEntry):
    """Drr over tail_drop: stochastic fairness queueing.

    Flows are hashed into queues, which are served in rounds. Nothing limits a queue but the limit
    of all: an overflow drops a packet of the fattest queue, so that who fills the buffer loses.

    Source: P. McKenney, Stochastic Fairness Queueing, INFOCOM 1990; tc-sfq(8).

    None stands for the default.
        law: law of each queue; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "tail_drop": what the name means.
        quantum: bytes that a queue sends in a turn (size, such as "1500 B"; 40 B to 1 MB). Default
            "1514 B": a full Ethernet frame.
        by: common property of the packets of a queue (flow, from_host, to_host, class, dscp, ecn).
            Default "flow": flows have equal shares.
        buckets: queues into which a keyed hash puts flows or hosts (whole number, such as 50; 1 to
            65536). Default 1024: the default of Linux.
        new_first: a queue that becomes active is served before those that had a turn (true or
            false). Default false: what the name means.
        weights: weights of classes, which multiply the quantum of their flows' queues: { CLASS =
            NUMBER } (text or table, such as { bulk = 1, call = 4 }). Default { }: 1 each.
        reserved: a queue for the flows of some classes, with a rate of its own (table, such as {
            key = value }). Default none: none.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000).
            Default 127: what the name means.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": the default of Linux; the link's buffer, where that is less.
        batch: packets that an overflow drops at most, from the head of the queue with most bytes;
            half of that queue at most (number of packets, such as 50; 1 to 100000). Default 1: what
            the name means.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "sfq"

    law: str | Mapping[str, Any] | Inner | None = None
    quantum: str | None = None
    by: str | None = None
    buckets: int | None = None
    new_first: bool | None = None
    weights: str | Mapping[str, Any] | None = None
    reserved: str | None = None
    limit: int | str | None = None
    memory: str | None = None
    batch: int | str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Wfq(QdiscEntry):
    """Weighted fair queueing: the packet that generalized processor sharing finishes first.

    Generalized processor sharing serves all queues with packets at once, each at the share of its
    weight. Packets cannot be served so; here the next one is the one that it would finish first, so
    that each leaves at most the time of the largest packet later.

    Equation: F = max(F of the packet before, V(arrival)) + L / weight; the least F first

    Source: A. Parekh, R. Gallager, IEEE/ACM Transactions on Networking 1(3), 1993; clock =
    "start_time": P. Goyal, H. Vin, H. Cheng, IEEE/ACM Transactions on Networking 5(5), 1997.

    None stands for the default.
        law: law of each queue; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "codel": CoDel, which marks where it can.
        clock: clock of the order of service (gps, start_time). Default "gps": its delay bound is
            that of GPS and a packet.
        by: common property of the packets of a queue (flow, from_host, to_host, class, dscp, ecn).
            Default "flow": flows have equal shares.
        buckets: queues into which a keyed hash puts flows or hosts (whole number, such as 50; 1 to
            65536). Default 1024: as drr.
        weights: weights of classes, in proportion to which their flows' queues have shares: { CLASS
            = NUMBER } (text or table, such as { bulk = 1, call = 4 }). Default { }: 1 each.
        reserved: a queue for the flows of some classes, with a rate of its own (table, such as {
            key = value }). Default none: none.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000).
            Default 10240: as drr; the link's buffer, where that is less.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": as drr; the link's buffer, where that is less.
        batch: packets that an overflow drops at most, from the head of the queue with most bytes;
            half of that queue at most (number of packets, such as 50; 1 to 100000). Default 64: as
            drr.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "wfq"

    law: str | Mapping[str, Any] | Inner | None = None
    clock: str | None = None
    by: str | None = None
    buckets: int | None = None
    weights: str | Mapping[str, Any] | None = None
    reserved: str | None = None
    limit: int | str | None = None
    memory: str | None = None
    batch: int | str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Prio(QdiscEntry):
    """Strict priority: a band waits while those before it have packets.

    Packets are in bands, by class or by DSCP, each a queue under its law. The link takes from the
    first band that has a packet. Nothing protects the last bands: the first ones need a limit
    elsewhere.

    Source: RFC 2474, section 4.2.2; tc-prio(8).

    None stands for the default.
        law: law of each band; `law.KEY` is a parameter of it (law, such as
            "red:min=50packets,max=150packets"). Default "tail_drop": as in Linux.
        order: classes, each a band, in the order of service; the flows of the others are in the
            last band (list of names, such as ["a", "b"]). Default none: three bands by DSCP: EF,
            VOICE-ADMIT and CS5 to CS7; the others; LE and CS1.
        limit: packets of all bands together (number of packets, such as 50; 1 to 1000000000).
            Default 10240: as drr; the link's buffer, where that is less.
        memory: bytes of all bands together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": as drr; the link's buffer, where that is less.
        ce_threshold: sojourn time above which packets that can be marked are, whatever the law says
            (time, such as "20 ms"; more than 0 s). Default none: off.
    """

    stem: ClassVar[str] = "prio"

    law: str | Mapping[str, Any] | Inner | None = None
    order: Sequence[str] | None = None
    limit: int | str | None = None
    memory: str | None = None
    ce_threshold: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Dual(QdiscEntry):
    """The coupled dual queue of L4S: a shallow queue for scalable senders beside a classic one.

    ECT(1) and CE packets have a queue of their own, which hardly waits. PI2 holds the delay of the
    classic queue; what it signals there squared, it signals to the other one coupled by k, so that
    a flow of either kind has the same rate. A shallow ramp marks the scalable queue when it is
    alone.

    Equation: p' <- p' + alpha (curq - target) + beta (curq - prevq); p_C = p'^2; p_L = max(ramp, k
    p')

    Source: RFC 9332, Appendix A.

    None stands for the default.
        defaults: set of defaults (rfc9332, linux). Default "rfc9332": the standard; linux differs
            where its column says so.
        target: delay of the classic queue to hold (time, such as "20 ms"; more than 0 s, at most 1
            h). Default "15 ms": both sets.
        rtt_max: the longest round-trip time that the gains are designed for (time, such as "20 ms";
            1 us to 1 h). Default "100 ms": both sets.
        period: time between updates (time, such as "20 ms"; 1 us to 10 s). Default none: the
            smaller of target and rtt_max / 3; linux 16 ms.
        alpha: gain on the error of the delay, 1/s (number, such as 0.1; more than 0, at most 1e6).
            Default none: 0.1 period / rtt_max^2, 0.15; linux 0.16.
        beta: gain on the trend of the delay, 1/s (number, such as 0.1; 0 to 1e6). Default none: 0.3
            / rtt_max, 3; linux 3.2.
        coupling: ratio of the probability of coupled marks to the base probability (number, such as
            0.1; 1 to 100). Default 2.0: both sets.
        min_th: delay of L from which its packets are marked (time, such as "20 ms"; 0 s to 1 h).
            Default none: 800 us; linux 1 ms.
        range: delay over which the probability of marks rises to 1; 0: a step (time, such as "20
            ms"; 0 s to 1 h). Default none: 400 us; linux 0 s, a step.
        th_len: packets in L that are not marked for their delay (number of packets, such as 50; 0
            to 1000000). Default none: 1; linux 0.
        scheduler: order of service of the two queues (wrr, time_shift). Default "wrr": both sets.
        classic_share: part of the link that the classic queue has under wrr while both have packets
            (number, such as 0.1; more than 0, at most 0.5). Default none: 1/16; linux 0.1.
        tshift: time by which L is ahead under time_shift (time, such as "20 ms"; 0 s to 1 h).
            Default "50 ms": for the public Internet.
        overload: response once every packet of L is marked (drop, overflow). Default "drop": both
            sets.
        signals: conversion of a probability into signals (recur, random). Default none: recur;
            linux random.
        bypass: bytes of both queues together below which p_C and p_CL do not act (size, such as
            "1500 B"; 0 B to 1 GB). Default none: 0 B; linux 3000 B, two MTU.
        limit: packets of both queues together (number of packets, such as 50; 1 to 1000000000).
            Default 10000: that of Linux; the link's buffer, where that is less.
    """

    stem: ClassVar[str] = "dual"

    defaults: str | None = None
    target: str | None = None
    rtt_max: str | None = None
    period: str | None = None
    alpha: float | None = None
    beta: float | None = None
    coupling: float | None = None
    min_th: str | None = None
    range: str | None = None
    th_len: int | str | None = None
    scheduler: str | None = None
    classic_share: float | None = None
    tshift: str | None = None
    overload: str | None = None
    signals: str | None = None
    bypass: str | None = None
    limit: int | str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Shaper(QdiscEntry):
    """A rate of its own in front of a qdisc, which then is the bottleneck.

    A link behind may have a deep buffer, as a modem has. A shaper a little below its rate keeps
    that buffer empty: packets wait in the qdisc here, whose law and order then count. Each packet
    moves the time of the next one by its transmission time at the rate.

    Equation: next <- max(next, now - burst / rate) + size / rate

    Source: RFC 2475, section 2.3.3.3; tc-cake(8); T. Høiland-Jørgensen, D. Täht, J. Morton,
    Piece of CAKE, 2018, section 2.1.

    None stands for the default.
        rate: rate, of bytes as the framing counts them (rate, such as "8 Mbit/s"; more than 0
            bit/s). Required.
        qdisc: qdisc behind it; `qdisc.KEY` is a parameter of that (qdisc, such as
            "red:min=50packets,max=150packets"). Default "fq_codel": flows have equal shares.
        burst: bytes that may follow each other at once after a pause (size, such as "1500 B"; 0 B
            to 1 GB). Default "0 B": none: each packet waits for the time of the one before.
        framing: size of a packet as it counts: a name, or { overhead = SIZE, least = SIZE, cells =
            true } (text or table, such as "ethernet"; a name, or { overhead = SIZE, least = SIZE,
            cells = true }). Default "ip": the IP packet alone.
    """

    stem: ClassVar[str] = "shaper"

    rate: str
    qdisc: str | Mapping[str, Any] | Inner | None = None
    burst: str | None = None
    framing: str | Mapping[str, Any] | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Cake(QdiscEntry):
    """Shaper, priorities, and fair queueing among hosts and flows, with cobalt in each queue.

    A shaper makes this the bottleneck. The DSCP selects a tin; a tin of higher priority comes first
    while it keeps below its part of the rate. In a tin each flow has a queue, and a flow's turn is
    the shorter the more flows its host has, so that hosts have equal shares, too. Every queue is
    under COBALT.

    Equation: next <- max(next, now) + size / bandwidth; quantum of a flow <- quantum / flows of its
    busier host

    Source: T. Høiland-Jørgensen, D. Täht, J. Morton, IEEE LANMAN 2018; tc-cake(8).

    None stands for the default.
        bandwidth: rate of the shaper, of bytes as the framing counts them (rate, such as "8
            Mbit/s"; more than 0 bit/s). Default none: none: the link sends as it can (unlimited).
        rtt: round-trip time for which COBALT is set (time, such as "20 ms"; 10 us to 1 h). Default
            "100 ms": that of most Internet traffic.
        diffserv: tins, and the DSCPs of each (besteffort, precedence, diffserv3, diffserv4,
            diffserv8). Default "diffserv3": the default of tc-cake(8).
        isolation: flows and hosts among which the link is divided (flowblind, srchost, dsthost,
            hosts, flows, dual_srchost, dual_dsthost, triple_isolate). Default "triple_isolate": the
            default of tc-cake(8).
        framing: size of a packet as it counts: a name, or { overhead = SIZE, least = SIZE, cells =
            true } (text or table, such as "ethernet"; a name, or { overhead = SIZE, least = SIZE,
            cells = true }). Default "ip": the IP packet alone (raw).
        ack_filter: ACKs that are removed when a later one comes to their queue (off, conservative,
            aggressive). Default "off": the default of tc-cake(8) (no-ack-filter).
        ingress: packets that are dropped count for the shaper, as behind the bottleneck, which they
            have passed (true or false; with bandwidth). Default false: the default of tc-cake(8)
            (egress).
        memlimit: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            none: four times bandwidth and rtt, at least 4 MiB; 32 MiB without bandwidth; the link's
            buffer, where that is less.
    """

    stem: ClassVar[str] = "cake"

    bandwidth: str | None = None
    rtt: str | None = None
    diffserv: str | None = None
    isolation: str | None = None
    framing: str | Mapping[str, Any] | None = None
    ack_filter: str | None = None
    ingress: bool | None = None
    memlimit: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Sqm(QdiscEntry):
    """Self-tuning queue management: a queue for each elephant, shares by utility, signals by prediction.

    Elephants have queues of their own, mice share a reserved one. A weighted scheduler gives each
    elephant the rate at which the sum of all utilities is greatest, each period anew; a new one has
    its share at once, by the price of the link. The link predicts its backlog a round trip ahead,
    with the signals in flight, and signals the flow with the greatest surplus over its share where
    that is above the target. Or each queue has a price.

    Equation: C_i = C Q_i / sum of Q; Q_i = (w_i / pi)^(1 / alpha); signal while Q^ + D V^ > S, S' =
    (C T - Q) / (5 D)

    Source: J. Ye, K. Cai, D. Lin, J. Li, J. He, J. C. S. Lui, A Control-Theoretic and Online
    Learning Approach to Self-Tuning Queue Management, 2022.

    None stands for the default.
        queues: queues of elephants (whole number, such as 50; 1 to 65536). Default 1024: as drr.
        find: how flows get queues of their own (heavy_keeper, elephant_trap, hash). Default
            "heavy_keeper": bounded memory, and no flow can be pushed out by chosen others.
        elephant: bytes after which a flow can have a queue (size, such as "1500 B"; 1 B to 1 GB).
            Default "3000 B": two packets: flows of fewer wait for none.
        scheduler: order of service of the queues (drr, wfq). Default "drr": least cost a packet.
        form: kind of signals (predictive, pi, price, delay). Default "predictive": at the same
            delay it loses the least throughput.
        target: queueing delay to hold; on a slow link that of 10 packets, or 1.8 times this if that
            is less, and of 4 packets at least (time, such as "20 ms"; more than 0 s, at most 1 h).
            Default "5 ms": that of the source.
        beta: length at which the price of form = "price" begins (number of packets, such as 50; 0
            to 1000000). Default 0: the queue is sigma p*.
        sigma: rule for the sigma of form = "price" (margin, theorem, per_flow). Default "margin": a
            bound gives no margin.
        reserved: the queue of the flows without one of their own (table, such as { key = value }).
            Default { }: a tenth of the link, under codel.
        period: time between two solutions; longer than the round trips (time, such as "20 ms"; 100
            ms to 1 h). Default "5 s": that of the source.
        utility: weight w of a flow's utility; Reno's own equilibrium is alpha = 2 with w = 2 / D^2
            (reno, equal, completion_time). Default "reno": that of the flows themselves.
        alpha: alpha of the flows' utility: 0, 0.1 to 8, or "max_min" (number or word, such as 1).
            Default 2.0: Reno's.
        weights: weights of classes, which multiply w: { CLASS = NUMBER } (text or table, such as {
            bulk = 1, call = 4 }). Default { }: 1 each.
        floor: least rate of a flow (rate, such as "8 Mbit/s"; more than 0 bit/s; queues times it
            below what the reserved queue leaves). Default none: a fifth of C / K.
        step: the rates of a period from those of the periods before (optimum, adaptive, newton,
            printed, primal_dual). Default "optimum": it follows a change within a period.
        coordinator: where the rates are computed (local, centralised, decentralised). Default
            "local": no other link is needed.
        limit: packets of all queues together (number of packets, such as 50; 1 to 1000000000; above
            queues). Default 10240: as drr; the link's buffer, where that is less.
        memory: bytes of all queues together (size, such as "1500 B"; 1 B to 1000 GB). Default
            "33.554432 MB": as drr; the link's buffer, where that is less.
    """

    stem: ClassVar[str] = "sqm"

    queues: int | None = None
    find: str | None = None
    elephant: str | None = None
    scheduler: str | None = None
    form: str | None = None
    target: str | None = None
    beta: int | str | None = None
    sigma: str | None = None
    reserved: str | None = None
    period: str | None = None
    utility: str | None = None
    alpha: float | str | None = None
    weights: str | Mapping[str, Any] | None = None
    floor: str | None = None
    step: str | None = None
    coordinator: str | None = None
    limit: int | str | None = None
    memory: str | None = None
