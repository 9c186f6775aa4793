"""Reno flows and one queue, window by window: the prediction that FB-OCQ's forms are measured against.

The fluid plant has one window, the mean of all: `mgt` without timeouts and reduced for every signal,
`calibrated` with the mean effect of timeouts and of immune packets at a constant p. Here each flow has its
window, by the rules of its source:

- an ACK adds 1/W, or 1 below ssthresh; the first signal of a window halves it, the others of that window do
  not (RFC 5681, section 3.1; RFC 3168, section 6.1.2);
- a loss is noticed when the packet would have been acknowledged: by limited transmit (RFC 3042) any duplicate
  ACK leads to three. A second loss in that window, or one without other packets, waits for the retransmission
  timer (Reno, with `recover` of RFC 6582): ssthresh is half of the window, the window 1, and the timeout of
  0.21 s doubles until the next ACK (RFC 6298);
- the queue is served in order at C, and each packet is judged with the p of the last update.

Time is a grid of 2.5 ms, a quarter of a sampling period.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

#: C, packets/s; base RTT with the transmission of a packet, s; buffer, packets: scenarios/fb_ocq/forty.toml.
CAPACITY, BASE_RTT, BUFFER = 1250.0, 0.131, 100
#: x_s, packets; T_s and tau_w, s: the law's, by its page.
TARGET, PERIOD, LOAD_TIME = 40.0, 0.01, 1.0
#: s.
STEP, DURATION, WARM_UP, TIMEOUT = 0.0025, 60.0, 20.0, 0.21

Counts = NDArray[np.int64]
#: p from the backlog, and the packets that arrived and were marked since the last update.
Law = Callable[[int, int, int], float]


def profile(backlog: int, _arrived: int, _marked: int) -> float:
    """Equation (9) of docs/laws/fb_ocq.md, from 20 to 60 packets."""
    return min(1.0, 0.1 * sqrt(max(backlog - 20, 0) / 40))


@dataclass
class Deadbeat:
    """Equations (3), (7) and (8) of docs/laws/fb_ocq.md."""

    load: float = 0.0
    p: float = 0.0

    def __call__(self, backlog: int, arrived: int, marked: int) -> float:
        """p after a period with these packets."""
        offered = (arrived + marked / (1 - min(self.p, 0.9))) / PERIOD
        self.load += (1 - exp(-PERIOD / LOAD_TIME)) * (offered - self.load)
        u = CAPACITY * backlog / (1 + backlog) + (TARGET - backlog) / PERIOD
        admitted = max(0.0, u + CAPACITY - CAPACITY * TARGET / (1 + TARGET))
        self.p = 1 - admitted / self.load if self.load > admitted else 0.0
        return self.p


@dataclass(frozen=True)
class Rules:
    """Rules of the windows; without one of them, the model shows what it does."""

    #: False: every signal halves.
    once_a_window: bool = True
    timeouts: bool = True


@dataclass
class Flows:
    """Windows of N flows, packets, and the times that they wait for, s."""

    count: int
    ecn: bool
    rules: Rules
    window: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with two packets and slow start."""
        self.window = np.full(self.count, 2.0)
        self.ssthresh = np.full(self.count, np.inf)
        self.in_flight = np.zeros(self.count, np.int64)
        self.recovered, self.resumes = np.zeros((2, self.count))
        self.expiries = np.zeros(self.count, np.int64)
        self.stuck = np.zeros(self.count, bool)

    def notice(
        self, now: float, rtt: float, acked: Counts, marked: Counts, lost: Counts
    ) -> NDArray[np.bool_]:
        """Takes the ACKs of a step; returns the flows whose packets in flight are given up."""
        self.in_flight -= np.minimum(acked + lost, self.in_flight)
        self._grow((now >= self.recovered) & (now >= self.resumes), acked)
        signals = marked + lost
        alive = (signals > 0) & (now >= self.resumes)
        first = alive & ((now >= self.recovered) | (not self.rules.once_a_window))
        before = self.window.copy()
        self.ssthresh[first] = np.maximum(before[first] / 2, 2.0)
        least = 1.0 if self.ecn else 2.0
        self.window[first] = np.maximum(before[first] / 2, least)
        self.recovered[first] = now + rtt
        if self.ecn or not self.rules.timeouts:
            return np.zeros(self.count, bool)
        alone = first & (before - signals < 1)
        self.recovered[alone] = now
        self.stuck |= alone | (alive & ~first) | (first & (signals > 1))
        return self._expire(now, rtt)

    def sends(self, now: float) -> Counts:
        """Packets that the windows allow."""
        room = np.floor(self.window).astype(np.int64) - self.in_flight
        room[(room < 0) | (now < self.resumes)] = 0
        self.in_flight += room
        return room

    def _grow(self, growing: NDArray[np.bool_], acked: Counts) -> None:
        slow = self.window < self.ssthresh
        self.window += np.where(growing, np.where(slow, acked, acked / self.window), 0.0)
        self.expiries[growing & (acked > 0)] = 0

    def _expire(self, now: float, rtt: float) -> NDArray[np.bool_]:
        expired = self.stuck & (now >= self.recovered)
        self.stuck &= ~expired
        timeout = max(TIMEOUT, rtt) * 2.0 ** np.minimum(self.expiries[expired], 6)
        self.resumes[expired] = self.recovered[expired] = now + timeout
        self.expiries[expired] += 1
        self.ssthresh[expired] = np.maximum(self.window[expired] / 2, 2.0)
        self.window[expired], self.in_flight[expired] = 1.0, 0
        return expired


def queue(
    law: Law, flows: int, *, ecn: bool, rules: Rules | None = None, seed: int = 1
) -> tuple[float, float]:
    """Mean and standard deviation of the backlog after the warm-up, packets."""
    draw = np.random.default_rng(seed)
    sources, path = Flows(flows, ecn, rules or Rules()), Path(flows)
    p, arrived, marked = 0.0, 0, 0
    backlogs = []
    for step in range(round(DURATION / STEP)):
        now = step * STEP
        given_up = sources.notice(now, BASE_RTT + path.held / CAPACITY, *path.arriving(step))
        path.forget(given_up)
        if step % round(PERIOD / STEP) == 0:
            p = law(path.backlog(), arrived, marked)
            arrived = marked = 0
        packets = np.repeat(np.arange(flows), sources.sends(now))
        draw.shuffle(packets)
        signalled = draw.random(packets.size) < p
        arrived += packets.size
        marked += int(signalled.sum()) if ecn else 0
        for flow, signal in zip(packets.tolist(), signalled.tolist(), strict=True):
            path.enqueue(flow, marked=signal and ecn, dropped=signal and not ecn)
        path.serve(step)
        if now >= WARM_UP:
            backlogs.append(path.backlog())
    return float(np.mean(backlogs)), float(np.std(backlogs))


class Path:
    """The queue, the link, and the way back; rings of what arrives at the sources at a step."""

    def __init__(self, flows: int) -> None:
        self.delay = round(BASE_RTT / STEP)
        self.on_way = np.zeros((3, self.delay + 1, flows), np.int64)
        #: Flow, marked, lost: a lost packet is noticed when the next one has passed.
        self.packets: deque[tuple[int, bool, bool]] = deque()
        #: Packets in the queue and on the wire.
        self.held, self.credit = 0, 0.0

    def backlog(self) -> int:
        """Packets in the queue."""
        return max(self.held - 1, 0)

    def enqueue(self, flow: int, *, marked: bool, dropped: bool) -> None:
        """Hold a packet, or its loss."""
        lost = dropped or self.held > BUFFER
        self.held += not lost
        self.packets.append((flow, marked, lost))

    def serve(self, step: int) -> None:
        """Send what the link sends in a step."""
        self.credit = min(self.credit + CAPACITY * STEP, self.held + 1.0)
        acked, marks, losses = self.on_way[:, (step + self.delay) % (self.delay + 1)]
        while self.packets and (self.packets[0][2] or self.credit >= 1):
            flow, marked, lost = self.packets.popleft()
            if lost:
                losses[flow] += 1
                continue
            self.credit -= 1
            self.held -= 1
            acked[flow] += 1
            marks[flow] += marked

    def arriving(self, step: int) -> tuple[Counts, Counts, Counts]:
        """ACKs, marks and losses that reach the sources at a step."""
        ring = self.on_way[:, step % (self.delay + 1)]
        acked, marks, losses = ring.copy()
        ring[:] = 0
        return acked, marks, losses

    def forget(self, flows: NDArray[np.bool_]) -> None:
        """Drop what is on its way of flows that start anew."""
        if flows.any():
            self.on_way[:, :, flows] = 0
