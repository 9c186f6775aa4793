"""Names that people know from elsewhere: what there is here, and what is nearest."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["OTHER_NAMES", "SAME_NAMES", "OtherName"]


class OtherName(NamedTuple):
    """A name that no entry has."""

    summary: str
    #: What there is of it here.
    here: str
    #: The nearest entries.
    nearest: tuple[str, ...]
    #: Its specification.
    source: str = ""


_BBR = OtherName(
    "congestion control by a model of the path: its bandwidth and its least round-trip time",
    "Live runs have the kernel's own, by its name: mainline Linux has version 1, as bbr.",
    ("bbr", "cubic"),
    "draft-ietf-ccwg-bbr",
)
_DUALPI2 = OtherName(
    "the coupled dual queue of L4S with PI2, by its name in Linux",
    "The qdisc dual is the algorithm of RFC 9332, appendix A.",
    ("dual", "pi2"),
    "RFC 9332",
)
_PRAGUE = OtherName(
    "the scalable congestion control for L4S",
    "Missing, as is accurate ECN. Of scalable senders dctcp is here, which dual has a queue for.",
    ("dctcp", "dual", "scalable"),
    "draft-briscoe-iccrg-prague-congestion-control",
)
_TAIL_DROP = OtherName(
    "a queue that drops arrivals when it is full",
    "The law tail_drop, alone in the qdisc fifo.",
    ("tail_drop", "fifo"),
)
_SHAPING = OtherName(
    "a token bucket that limits a rate",
    "The qdisc shaper has a rate of its own in front of another qdisc; cake has one, too.",
    ("shaper", "cake"),
)

#: By name.
OTHER_NAMES = {
    "aqm": OtherName(
        "active queue management: a router signals congestion before its buffer is full",
        "The laws, one for each queue: `sojourn list laws`; qdiscs put them into queues.",
        ("red", "codel", "pie"),
        "RFC 7567",
    ),
    "bbr2": _BBR,
    "bbr3": _BBR,
    "bfifo": OtherName(
        "a queue that drops arrivals when it holds a number of bytes",
        'The law tail_drop, alone in the qdisc fifo, with a `buffer` in bytes, such as "600 KiB".',
        ("tail_drop", "fifo"),
    ),
    "bufferbloat": OtherName(
        "long delays in large buffers that TCP keeps full",
        "`sojourn run home/bufferbloat` shows it on a home link, and what laws and qdiscs make of it.",
        ("tail_drop", "fq_codel", "cake", "rrul"),
    ),
    "copa": OtherName(
        "congestion control by a target of the rate, which falls as queueing delay grows",
        "Missing. A `sojourn.CongestionControl` in Python has each round-trip time, and sets a window.",
        ("newreno", "scalable"),
        "V. Arun and H. Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI "
        "2018",
    ),
    "droptail": _TAIL_DROP,
    "dualpi2": _DUALPI2,
    "flent": OtherName(
        "tests of a network under load",
        "Its rrul is the app of that name; bulk flows each way are its tcp_nup and tcp_ndown.",
        ("rrul", "bulk", "ping"),
    ),
    "fq": OtherName(
        "fair queueing: a queue for each flow",
        "The qdisc drr, or wfq, with any law in each queue. Pacing, which fq in Linux does, is a setting of "
        "TCP here.",
        ("drr", "wfq", "fq_codel"),
    ),
    "hfsc": OtherName(
        "hierarchical fair service curves: rates and delays of classes within classes",
        "Missing: no qdisc here has classes within classes. drr and wfq divide a link by weights, and shaper "
        "limits a rate.",
        ("wfq", "drr", "shaper"),
        "I. Stoica, H. Zhang and T. S. E. Ng, A Hierarchical Fair Service Curve Algorithm, SIGCOMM 1997",
    ),
    "htb": _SHAPING,
    "l4s": OtherName(
        "low latency, low loss and scalable throughput: an architecture of queues, ECN and senders",
        "Its queues are the qdisc dual (dualpi2 in Linux). Of scalable senders dctcp is here; TCP Prague and "
        "accurate ECN are missing.",
        ("dual", "pi2", "dctcp"),
        "RFC 9330",
    ),
    "mq": OtherName(
        "a qdisc for each hardware queue of a network card",
        "A link here has one queue of its hardware, and its qdisc is at the root.",
        ("fifo", "fq_codel"),
    ),
    "netem": OtherName(
        "delay, loss and reordering on a link",
        "Impairments of a link, each a key: `sojourn list impairments`.",
        ("loss", "jitter", "reorder", "duplicate"),
    ),
    "pfifo": _TAIL_DROP,
    "pfifo_fast": OtherName(
        "three bands of strict priority, by the priority of packets in the kernel",
        "The qdisc prio, with tail_drop. By default its bands follow the DSCP; those of pfifo_fast follow "
        "skb->priority, from the old TOS bits, by which EF is in the middle band.",
        ("prio", "tail_drop"),
        "Linux, net/sched/sch_generic.c and net/ipv4/route.c",
    ),
    "prague": _PRAGUE,
    "quic": OtherName(
        "a transport over UDP",
        "Missing: transports here are TCP and datagrams. Its congestion control is NewReno's, or another of "
        "TCP's.",
        ("newreno", "cubic"),
        "RFC 9002",
    ),
    "tbf": _SHAPING,
    "tcp_prague": _PRAGUE,
    "tcp_nup": OtherName(
        "Flent's test of several TCP flows upwards",
        "Flows of the app bulk, which is the default.",
        ("bulk", "rrul"),
    ),
}

#: Entries that have the name of something else elsewhere, and what there is of it here.
SAME_NAMES = {
    "sqm": "SQM in OpenWrt, sqm-scripts, is another thing: a script that puts a shaper in front of fq_codel, "
    "or sets the bandwidth of cake. Here that is the qdisc `shaper`, with fq_codel by default, or "
    "`cake:bandwidth=RATE`.",
}
