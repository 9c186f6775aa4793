"""AVQ, from Kunniyur and Srikant (SIGCOMM 2001; IEEE/ACM ToN 12(2), 2004) alone, in exact arithmetic.

At each arrival the virtual queue drains at the virtual capacity, then either the packet overflows the
virtual buffer and is marked or dropped, or it is put there; last, the virtual capacity is updated. What the
paper leaves open is taken from the documentation of the law: whether dropped packets are load (`offered`),
an empty virtual queue, and a new rate of the link.

Beside it the linear model of the law's page, and the fluid one that it comes from.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    params, site = header["params"], header["site"]
    alpha, gamma = Fraction(params.get("alpha", 0.15)), Fraction(params.get("gamma", 0.98))
    number, unit = params.get("buffer", f"{site['limit_packets']} packets").split()
    virtual_buffer = Fraction(number) * (Fraction(site["packet_bytes"]) if unit == "packets" else 1)
    capacity = Fraction(site["rate_bps"]) / 8
    virtual_capacity = Fraction(params.get("start", 1.0)) * capacity
    vq, s = Fraction(0), None
    said = []
    for call in calls:
        if call["call"] == "departure":
            said.append("pass")
        if call["call"] not in ("arrival", "rate"):
            continue
        dt, s = Fraction(call["now_ns"] - (call["now_ns"] if s is None else s), 10**9), call["now_ns"]
        vq = max(vq - virtual_capacity * dt, Fraction(0))
        virtual_capacity = min(virtual_capacity + alpha * gamma * capacity * dt, capacity)
        if call["call"] == "rate":
            share, capacity = virtual_capacity / capacity, Fraction(call["rate_bps"]) / 8
            virtual_capacity = share * capacity
            continue
        b = call["len"]
        if vq > 0 and vq + b > virtual_buffer:
            said.append("drop" if call["ecn"] == "not_ect" else "mark")
        else:
            vq += b
            said.append("pass")
        if said[-1] != "drop" or params.get("offered", False):
            virtual_capacity = max(virtual_capacity - alpha * b, Fraction(0))
    return said


def largest_alpha(window: float, rtt: float) -> float:
    """The alpha at which the linear loop has a root on the imaginary axis, by a search for that root."""
    k1, k2 = 1 / (window * rtt), window / (2 * rtt)
    low, high = 0.0, math.pi / 2 / rtt
    for _ in range(100):
        w = (low + high) / 2
        low, high = (w, high) if w * math.sin(w * rtt) - k1 * math.cos(w * rtt) < k2 else (low, w)
    return (w * w * math.cos(w * rtt) + w * k1 * math.sin(w * rtt)) / k2


def swing(window: float, rtt: float, alpha: float) -> float:
    """How much larger a small disturbance of the fluid model is after 60 round-trip times than after 20.

    The load is counted in gamma C, so that it rests at 1; Euler's method.
    """
    steps = 400
    h = rtt / steps
    # Load 1 and the load's window: W = window * load. p = 1 - capacity / load.
    p0 = 2 / window**2
    load, capacity = [1.0] * (steps + 1), [1 - p0] * (steps + 1)
    load[-1] = 1.001
    for _ in range(60 * steps):
        now, then = load[-1], load[-1 - steps]
        p = max(1 - capacity[-1 - steps] / then, 0.0)
        slope = (1 / rtt - window**2 * now * then * p / (2 * rtt)) / window
        load.append(now + h * slope)
        capacity.append(capacity[-1] + h * alpha * (1 - now))

    def largest(first: int, last: int) -> float:
        return max(abs(value - 1) for value in load[first * steps : last * steps])

    return largest(50, 60) / largest(10, 20)
