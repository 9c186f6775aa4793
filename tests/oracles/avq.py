"""AVQ, from Kunniyur and Srikant (SIGCOMM 2001; IEEE/ACM ToN 12(2), 2004) alone, in exact arithmetic.

At each arrival the virtual queue drains at the virtual capacity, then either the packet overflows the virtual
buffer and is marked or dropped, or it is put there; last, the virtual capacity is updated. Points that the
paper leaves open follow the documentation of the law: whether dropped packets are load (`offered`), an empty
virtual queue, and a new rate of the link.

Below: the linear model of the law's page, and the fluid one from which it is derived.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any


def verdicts(header: dict[str, Any], calls: list[dict[str, Any]]) -> list[str]:
    """Every verdict of the trace."""
    params, link = header["params"], header["link"]
    alpha, gamma = Fraction(params.get("alpha", 0.15)), Fraction(params.get("gamma", 0.98))
    number, unit = params.get("buffer", f"{link['limit_packets']} packets").split()
    virtual_buffer = Fraction(number) * (Fraction(link["packet_bytes"]) if unit == "packets" else 1)
    capacity = Fraction(link["rate_bps"]) / 8
    virtual_capacity = Fraction(params.get("start", 1.0)) * capacity
    vq, s = Fraction(0), None
    answers = []
    for call in calls:
        if call["call"] == "departure":
            answers.append("pass")
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
            answers.append("drop" if call["ecn"] == "not_ect" else "mark")
        else:
            vq += b
            answers.append("pass")
        if answers[-1] != "drop" or params.get("offered", False):
            virtual_capacity = max(virtual_capacity - alpha * b, Fraction(0))
    return answers


def largest_alpha(window: float, rtt: float) -> float:
    """The alpha at which the linear loop has a pole on the imaginary axis, found by search."""
    k1, k2 = 1 / (window * rtt), window / (2 * rtt)
    low, high = 0.0, math.pi / 2 / rtt
    for _ in range(100):
        w = (low + high) / 2
        low, high = (w, high) if w * math.sin(w * rtt) - k1 * math.cos(w * rtt) < k2 else (low, w)
    return (w * w * math.cos(w * rtt) + w * k1 * math.sin(w * rtt)) / k2


def swing(window: float, rtt: float, alpha: float) -> float:
    """Growth of a small disturbance of the fluid model from 20 to 60 round-trip times.

    The load is counted in gamma C, so that its equilibrium is 1; Euler's method.
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
