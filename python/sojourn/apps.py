"""The parameters of the applications, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the entry's file, not this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sojourn.entries import Entry, checked

__all__ = [
    "Bulk",
    "Cbr",
    "Game",
    "Http",
    "Lrd",
    "Mice",
    "OnOff",
    "Ping",
    "Poisson",
    "Rpm",
    "Rrul",
    "Transfer",
    "Video",
    "Voip",
    "Web",
]


@checked
@dataclass(frozen=True, kw_only=True)
class Bulk(Entry):
    """Always has data to send, over TCP, from its start to its stop.

    The sender always has data: its window alone limits what it sends.

    Source: RFC 7928, section 5.1.

    None stands for the default.
        reads: read rate of the application at each receiver, payload; the window closes where it is
            slow (rate, such as "8 Mbit/s"; 1 bit/s to 10 Tbit/s). Default none: all data at once:
            the network alone limits the flow.
    """

    stem: ClassVar[str] = "bulk"

    reads: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Transfer(Entry):
    """A fixed volume over TCP, once; then the flow is over.

    `size` counts payload; in packets it counts full segments. The flow completion time is from the
    flow's start, its SYN included, until the receiver's application has all of it. With `arrivals`
    flows arrive during the run, each with a size of its own.

    Equation: FCT = 8 size / goodput

    Source: RFC 7928, section 2.1.
        size: payload, or a distribution of it, in bytes or in full packets (size or distribution of
            sizes, such as "1500 B"; more than 0, at most 1 PB on average). Required.
    """

    stem: ClassVar[str] = "transfer"

    size: str | Mapping[str, Any]


@checked
@dataclass(frozen=True, kw_only=True)
class Mice(Entry):
    """Short transfers over TCP, one after the other, each over a connection of its own.

    A flow is a slot: a transfer of `size`, then `idle`, then the next with a fresh connection and
    fresh state. A size in packets is a whole number of them, at least one. The presets are those of
    two papers. pi_pd: exponential sizes of 12 packets on average, which last about a second there,
    and no pause, so that each slot is always busy. arm_pfc: pauses exponential with a mean of 3 s;
    that paper does not state the sizes, and 12 packets are taken here, too. `size` and `idle`
    beside a preset replace its own.

    Source: S. Ryu et al., Simulation, 2005, section 4; N. Bigdeli, M. Haeri, IJST B 31(B6), 2007,
    experiment 7.

    None stands for the default.
        preset: the paper whose `size` and `idle` apply unless they are given (pi_pd, arm_pfc).
            Default "pi_pd": its slots are always busy: the load follows from `count`.
        size: payload of each, or a distribution of it, in bytes or in full packets (size or
            distribution of sizes, such as "1500 B"; more than 0, at most 1 PB on average). Default
            none: the preset's, of both { exponential = "12 packets" }.
        idle: pause from the end of one transfer to the start of the next, or a distribution of it
            (time or distribution of times, such as "20 ms"). Default none: the preset's: 0 s of
            pi_pd, { exponential = "3 s" } of arm_pfc.
    """

    stem: ClassVar[str] = "mice"

    preset: str | None = None
    size: str | Mapping[str, Any] | None = None
    idle: str | Mapping[str, Any] | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Http(Entry):
    """One request over a new TCP connection, and its answer; then the user leaves.

    The receiver opens a connection and sends a request, the sender answers with `size` and closes.
    The flow completion time is from the receiver's SYN until its application has the whole answer:
    a round trip for the handshake, another one from the request to the first byte, and the rounds
    of slow start. As of the other applications that request, the request is a datagram of `request`
    bytes on the way back, repeated after 1 s, 2 s more, 4 s more and so on while it is unanswered;
    it replaces the first half of the handshake, the sender's SYN and its answer the second half and
    the request, so that the answer begins after as many round trips. With `arrivals` users arrive
    during the run, each with a size of its own. With `late_binding` a request opens a connection
    and waits for it or for one that another request of the class has finished with, whichever comes
    first, so that it may find a large window. A connection that nobody waits for closes after its
    answer, and what opens it or closes it is a datagram of `request` bytes, too. A request ends
    with the stay of its own user, though its answer is sent to the end; where the user whose
    connection carries it leaves sooner, it waits again, before all others. As in Go, a new
    connection serves the request that has opened it, if that still waits, and two are idle at most.

    Equation: FCT = 2 RTT + the time of all rounds but the last, on an idle path

    Source: RFC 9110, section 3.3; RFC 9112, section 9.3; RFC 9293, section 3.5.

    None stands for the default.
        size: payload of the answer, or a distribution of it, in bytes or in full packets (size or
            distribution of sizes, such as "1500 B"; more than 0, at most 1 PB on average).
            Required.
        request: size of the request as an IP packet (size, such as "1500 B"; 28 B to 1500 B).
            Default "400 B": 350 B as in the traffic model of 3GPP, with headers in round numbers.
        late_binding: a request goes over the first connection of its class that is free: its own,
            once that is established, or one whose answer has arrived (true or false). Default
            false: a connection for each request.
    """

    stem: ClassVar[str] = "http"

    size: str | Mapping[str, Any]
    request: str | None = None
    late_binding: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Web(Entry):
    """Pages of many objects over several TCP connections, one page after the other.

    The receiver sends requests, the sender answers: `connections` at a time, new ones for each
    page, fetch its `objects` of `size`, each requesting the next one when the last has arrived. The
    next page begins `idle` after the last object of all. The flow completion time is the page's,
    from its first request. A request is a datagram of `request` bytes on the way back, repeated
    after 1 s, 2 s more, 4 s more and so on while it is unanswered; the first over a connection
    replaces the first half of the handshake, so that an object takes as many round trips as by
    HTTP. `count` is the number of users.

    Source: RFC 7928, section 7.2: at least 50 objects of at least 1 KB, six connections, initial
    window 10.

    None stands for the default.
        objects: objects of a page (whole number, such as 50; 1 to 10000). Default 50: the least of
            a page in the tests of AQM.
        size: payload of an object, or a distribution of it, in bytes or in full packets (size or
            distribution of sizes, such as "1500 B"; more than 0, at most 1 PB on average). Default
            "10 kB": ten times the least in the tests of AQM, so that an object takes several
            packets.
        connections: concurrent connections that fetch them, new ones for each page (whole number,
            such as 50; 1 to 64). Default 6: as in the tests of AQM, and in browsers.
        idle: pause from the end of one page to the start of the next, or a distribution of it (time
            or distribution of times, such as "20 ms"). Default "0 s": the load follows from
            `count`.
        request: size of a request as an IP packet (size, such as "1500 B"; 28 B to 1500 B). Default
            "400 B": 350 B as in the traffic model of 3GPP, with headers in round numbers.
    """

    stem: ClassVar[str] = "web"

    objects: int | None = None
    size: str | Mapping[str, Any] | None = None
    connections: int | None = None
    idle: str | Mapping[str, Any] | None = None
    request: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Video(Entry):
    """Adaptive video over TCP: chunks whose rate follows the player's buffer.

    The player requests one chunk of `chunk` seconds after the other over one connection, at a rate
    of the `ladder` that follows from the level of its buffer: the lowest up to `reservoir`, the
    highest from `reservoir` + `cushion`, in between along a line; the rate stays until the line
    reaches the next one, up or down (BBA-0). The line ends where the buffer is nine tenths full.
    The player plays from the first chunk on and stalls while its buffer is empty: `stall_ratio` is
    the share of the time that it stalls. A chunk's completion time is measured. The paper's player
    has a reservoir of 90 s and a cushion of 126 s; the defaults are shorter, as runs are.

    Source: T.-Y. Huang et al., SIGCOMM 2014, algorithm 1.

    None stands for the default.
        ladder: available rates, in rising order (list of rates, such as ["500 kbit/s", "2 Mbit/s"];
            1 to 20 in rising order, 1 kbit/s to 1 Tbit/s). Default ["300 kbit/s", "750 kbit/s",
            "1.5 Mbit/s", "3 Mbit/s", "6 Mbit/s"]: each about twice the one below, over the range of
            a deployed ladder (235 to 5800 kbit/s).
        chunk: play time of a chunk (time, such as "20 ms"; 10 ms to 10 min; at most half of
            reservoir + cushion). Default "4 s": as in the paper's service.
        reservoir: buffer level up to which the lowest rate is requested (time, such as "20 ms").
            Default "8 s": two chunks: the paper's 90 s are longer than most runs.
        cushion: buffer above the reservoir from which the highest rate is requested (time, such as
            "20 ms"). Default "20 s": five chunks: the paper's 126 s are longer than most runs.
        request: size of a request as an IP packet (size, such as "1500 B"; 28 B to 1500 B). Default
            "200 B": half of that of web: players send few header fields.
    """

    stem: ClassVar[str] = "video"

    ladder: Sequence[str] | None = None
    chunk: str | None = None
    reservoir: str | None = None
    cushion: str | None = None
    request: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Game(Entry):
    """A request at each tick and an answer, over one TCP connection.

    At each tick the receiver sends a request of `request` bytes, and the sender answers with
    `size`. Where the last answer is still missing at a tick, that tick has no request. The flow
    completion time is that from request to answer: the lag of players.

    Source: RFC 7928, section 2.6: latency of applications.

    None stands for the default.
        every: time from tick to tick (time, such as "20 ms"; 1 us to 1 h). Default "50 ms":
            periodic and frequent, as the packets of games are: twenty a second.
        size: payload of an answer, or a distribution of it, in bytes or in full packets (size or
            distribution of sizes, such as "1500 B"; more than 0, at most 1 PB on average). Default
            "200 B": small, as the packets of games are: one segment.
        request: size of a request as an IP packet (size, such as "1500 B"; 28 B to 1500 B). Default
            "100 B": small, as the packets of games are: 72 B, and 28 B of headers.
    """

    stem: ClassVar[str] = "game"

    every: str | None = None
    size: str | Mapping[str, Any] | None = None
    request: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Rpm(Entry):
    """The responsiveness test: load-generating connections, and probes beside and within them.

    The receiver is the client of draft-ietf-ippm-responsiveness-09, the sender the server, the load
    a download. Load-generating connections carry data without end: `initial` of them at the start,
    and `increase` more after each `interval`, up to `connections`. Each `every` there is a foreign
    probe, over a new connection of its own: the handshake (`tcp_f`), a flight of 3000 B in answer
    to a TLS hello (`tls_f`), and an answer of 100 B to a request (`http_f`); and half of `every`
    later a self probe (`http_l`), a request over one of the load-generating connections without a
    self probe, at random, whose answer of 100 B comes after all data that the server had sent over
    it before. All times are the client's. The responsiveness of a run is that of all probes
    answered after the warm-up, which stands for the phase in which the test waits for a stable
    goodput; in windows of time it is that of their probes. A request is a datagram of `request`
    bytes on the way back (the first of a handshake: 60 B), repeated after 1 s, 2 s more, 4 s more
    and so on while it is unanswered. The differences from the draft: docs/deviations/rpm.md.

    Equation: responsiveness = (60 s / mean(TM(tcp_f), TM(tls_f), TM(http_f)) + 60 s / TM(http_l)) /
    2, where TM is the mean without the longest 5 %; without TLS, TM(tls_f) is left out

    Source: draft-ietf-ippm-responsiveness-09, sections 5.1 to 5.4.

    None stands for the default.
        connections: load-generating connections at most; 0: the load is that of other classes, and
            there are no self probes (whole number, such as 50; 0 to 64). Default 16: the default of
            the draft.
        initial: load-generating connections at the start (whole number, such as 50; 1 to 64).
            Default 1: the default of the draft.
        increase: load-generating connections that each interval adds (whole number, such as 50; 1
            to 64). Default 1: the default of the draft.
        interval: time after which further load-generating connections open (time, such as "20 ms";
            1 us to 1 h). Default "5 s": the default of the draft.
        every: time from one pair of probes, a foreign and a self probe, to the next (time, such as
            "20 ms"; 1 us to 1 h). Default "100 ms": a pair has 6000 B at most: 5 % of a path of 10
            Mbit/s, as PTC limits it; MPS allows one each 10 ms.
        foreign: foreign probes under way at most; where all are, a probe is left out (whole number,
            such as 50; 1 to 1000). Default 32: three seconds of probes.
        tls: foreign probes have a TLS handshake (true or false). Default true: preferred: typical
            traffic has one.
        request: size of a request as an IP packet (size, such as "1500 B"; 28 B to 1500 B). Default
            "400 B": as of http and web.
    """

    stem: ClassVar[str] = "rpm"

    connections: int | None = None
    initial: int | None = None
    increase: int | None = None
    interval: str | None = None
    every: str | None = None
    foreign: int | None = None
    tls: bool | None = None
    request: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Rrul(Entry):
    """The realtime response under load: bulk flows both ways, and pings between them.

    Expands into several classes: NAME-up, `count` bulk flows (4 by default) along the route of the
    class; NAME-down, as many in the other direction; NAME-ping and NAME-ping-be, NAME-ping-bk,
    NAME-ping-ef, a ping each 200 ms, of ICMP and of UDP. In Flent those of UDP have the code points
    best effort, background and expedited forwarding. Here all classes have the code point of the
    group (`dscp`), best effort by default: the pings differ in name alone, and live in protocol.

    Source: D. Taht, the RRUL test of flent (T. Hoiland-Jorgensen et al., Flent: The Flexible
    Network Tester, ValueTools 2017).

    None stands for the default.
        reads: read rate of the application at each receiver of its bulk flows, payload; the window
            closes where it is slow (rate, such as "8 Mbit/s"; 1 bit/s to 10 Tbit/s). Default none:
            all data at once: the network alone limits the flows.
    """

    stem: ClassVar[str] = "rrul"

    reads: str | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Cbr(Entry):
    """UDP datagrams in even steps; does not respond to congestion.

    A constant bit rate, as of a video or voice stream without adaptation. The first datagram leaves
    at the flow's start. `rate` counts whole IP packets, `segment` is their size, headers (28 B)
    included, or `size` a distribution of sizes; the steps stay even, and `rate` is then the mean.
    With `ecn` they are ECN-capable, and marks change nothing.

    Equation: gap = 8 segment / rate

    Source: RFC 8085, section 3.1: traffic that does not respond.

    None stands for the default.
        rate: rate of each flow, in whole IP packets (rate, such as "8 Mbit/s"; 1 bit/s to 10
            Tbit/s; at most the access link's rate). Required.
        size: size of a datagram, headers (28 B) included, or a distribution; draws are clamped to
            28 B and 65535 B (size or distribution of sizes, such as "1500 B"; 28 B to 65535 B on
            average, not in packets). Default none: the class's segment.
    """

    stem: ClassVar[str] = "cbr"

    rate: str
    size: str | Mapping[str, Any] | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Poisson(Entry):
    """UDP datagrams at random times; does not respond to congestion.

    Gaps are independent and exponential, so arrivals look the same at every moment: the traffic of
    queueing theory. `rate` is the mean, of whole IP packets; `segment` is their size, headers (28
    B) included, or `size` a distribution of sizes, which makes any M/G/1 queue. With `ecn` they are
    ECN-capable, and marks change nothing.

    Equation: P(gap > t) = exp(-t / m), m = 8 segment / rate

    Source: L. Kleinrock, Queueing Systems I, 1975, section 2.4.

    None stands for the default.
        rate: mean rate of each flow, in whole IP packets (rate, such as "8 Mbit/s"; 1 bit/s to 10
            Tbit/s; at most the access link's rate). Required.
        size: size of a datagram, headers (28 B) included, or a distribution; draws are clamped to
            28 B and 65535 B (size or distribution of sizes, such as "1500 B"; 28 B to 65535 B on
            average, not in packets). Default none: the class's segment.
    """

    stem: ClassVar[str] = "poisson"

    rate: str
    size: str | Mapping[str, Any] | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class OnOff(Entry):
    """UDP datagrams in even steps while it is on, none while it is off.

    Bursts with pauses. While it is on, the source produces data at `rate`, and sends a datagram
    when it is full; a partial one is carried into the next on-period, so the mean rate is exact. It
    begins with an on-period at its start. `on` and `off` are times or distributions: exponential
    ones make bursts of one time scale, Pareto ones with a shape below 2 bursts of all time scales.

    Equation: mean rate = rate on / (on + off); exponential: Var A(t) -> 2 rate^2 p (1 - p) t /
    (1/on + 1/off), p = on / (on + off)

    Source: D. Anick, D. Mitra, M. M. Sondhi, Stochastic Theory of a Data-Handling System with
    Multiple Sources, Bell System Technical Journal 61, 1982; defaults: The ns Manual, traffic
    generators.

    None stands for the default.
        rate: rate of each flow while it is on, in whole IP packets (rate, such as "8 Mbit/s"; 1
            bit/s to 10 Tbit/s; at most the access link's rate). Required.
        size: size of a datagram, headers (28 B) included, or a distribution; draws are clamped to
            28 B and 65535 B (size or distribution of sizes, such as "1500 B"; 28 B to 65535 B on
            average, not in packets). Default none: the class's segment.
        on: length of an on-period, or a distribution of it (time or distribution of times, such as
            "20 ms"; more than 0 on average). Default { exponential = "500 ms" }: as of the
            exponential source of ns-2.
        off: length of a pause, or a distribution of it (time or distribution of times, such as "20
            ms"). Default { exponential = "500 ms" }: as of the exponential source of ns-2.
    """

    stem: ClassVar[str] = "on_off"

    rate: str
    size: str | Mapping[str, Any] | None = None
    on: str | Mapping[str, Any] | None = None
    off: str | Mapping[str, Any] | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Lrd(Entry):
    """UDP datagrams of many on/off sources, bursty on all time scales (long-range dependent).

    The sum of `sources` on/off sources whose periods are Pareto distributed with tail index 3 - 2H,
    means `on` and `off`; each sends at rate (on + off) / (on sources) while it is on. Their periods
    have no finite variance, and the sum keeps its bursts however long it is averaged: its variance
    over a time t falls as t^(2H - 2), for other traffic as 1/t. That holds for times well above the
    mean periods. The sources start in their stationary state.

    Equation: H = (3 - a) / 2, P(period > x) ~ x^-a

    Source: W. Willinger, M. S. Taqqu, R. Sherman, D. V. Wilson, Self-Similarity Through
    High-Variability, IEEE/ACM Transactions on Networking 5, 1997.

    None stands for the default.
        rate: mean rate of each flow, all its sources together, in whole IP packets (rate, such as
            "8 Mbit/s"; 1 bit/s to 10 Tbit/s; at most the access link's rate). Required.
        size: size of a datagram, headers (28 B) included, or a distribution; draws are clamped to
            28 B and 65535 B (size or distribution of sizes, such as "1500 B"; 28 B to 65535 B on
            average, not in packets). Default none: the class's segment.
        on: mean on-period of a source; periods are Pareto distributed (time, such as "20 ms"; more
            than 0 s). Default "500 ms": as of the Pareto source of ns-2.
        off: mean pause of a source; pauses are Pareto distributed (time, such as "20 ms"; more than
            0 s). Default "500 ms": as of the Pareto source of ns-2.
        hurst: the Hurst parameter; the tail index of the periods is 3 - 2 hurst (number, such as
            0.1; 0.55 to 0.95). Default 0.8: as measured on an Ethernet.
        sources: number of on/off sources of a flow (whole number, such as 50; 1 to 10000). Default
            50: one that is on adds 4 % of the rate, so that none is a burst alone.
    """

    stem: ClassVar[str] = "lrd"

    rate: str
    size: str | Mapping[str, Any] | None = None
    on: str | None = None
    off: str | None = None
    hurst: float | None = None
    sources: int | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Voip(Entry):
    """A voice call's one direction: G.711 in packets of 200 B each 20 ms, over UDP.

    160 B of speech and 40 B of headers (RTP, UDP, IP) each 20 ms, 80 kbit/s on the wire. The first
    packet leaves when its 20 ms have been spoken. With `spurts` the speaker pauses: talk spurts and
    pauses are exponential with means of 1.004 s and 1.587 s, and a frame that a spurt fills in part
    is sent whole. Its metrics are delay, loss and R-factor.

    Source: ITU-T G.711; RFC 3551, section 4.5.14; ITU-T P.59, table 1.

    None stands for the default.
        spurts: the speaker pauses, with talk spurts of 1.004 s and pauses of 1.587 s on average
            (true or false). Default false: G.711 codes silence as speech.
    """

    stem: ClassVar[str] = "voip"

    spurts: bool | None = None


@checked
@dataclass(frozen=True, kw_only=True)
class Ping(Entry):
    """A small datagram at intervals, which the receiver sends back: the round-trip time of the path.

    The receiver returns each datagram at once, of the same size; the sender measures the time from
    one to the other, which is the class's round-trip time. Datagrams that do not return are lost
    and measure nothing. The default, 84 B each 200 ms, is too little to affect the measurement.

    Source: RFC 792, RFC 862.

    None stands for the default.
        size: size of a datagram, headers (28 B) included, or a distribution; draws are clamped to
            28 B and 65535 B (size or distribution of sizes, such as "1500 B"; 28 B to 65535 B on
            average, not in packets). Default "84 B": 56 B of data, as of ping, and the headers.
        every: time from one datagram to the next (time, such as "20 ms"; 1 us to 1 h). Default "200
            ms": as of the RRUL test of flent.
        protocol: protocol in live runs: echo requests that the receiver's kernel answers, or UDP
            datagrams that its application returns; sizes are the same (icmp, udp). Default "icmp":
            as ping.
    """

    stem: ClassVar[str] = "ping"

    size: str | Mapping[str, Any] | None = None
    every: str | None = None
    protocol: str | None = None
