"""The box of a design: flows, round trips and capacities that a law must serve, and its target."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Box", "Network", "Target", "Where"]

#: Numbers of flows and RTT at the target, s, at a capacity, packets/s.
Where = tuple[float, float, float]


@dataclass(frozen=True)
class Target:
    """Reference of the queue: a delay in s, or packets."""

    seconds: float | None = None
    packets: float | None = None

    def in_packets(self, capacity_pps: float) -> float:
        """Backlog at this capacity, packets."""
        return self.seconds * capacity_pps if self.seconds is not None else float(self.packets or 0.0)

    def in_seconds(self, capacity_pps: float) -> float:
        """Queueing delay at this capacity, s."""
        return self.in_packets(capacity_pps) / capacity_pps

    def __str__(self) -> str:
        return f"{self.packets:.9g}packets" if self.seconds is None else f"{self.seconds * 1e3:.9g}ms"


@dataclass(frozen=True)
class Network:
    """N flows at C packets/s over a round trip of R s, queueing at the target included."""

    flows: float
    capacity: float
    rtt: float

    @property
    def window_pole(self) -> float:
        """2 N / (R^2 C), rad/s: the pole of windows in Hollot's plant."""
        return 2 * self.flows / (self.rtt**2 * self.capacity)

    @property
    def gain(self) -> float:
        """(R C)^3 / (2 N)^2, packets: from p to the backlog at frequency 0 in Hollot's plant."""
        return (self.rtt * self.capacity) ** 3 / (2 * self.flows) ** 2

    @property
    def p(self) -> float:
        """2 N^2 / (R C)^2, its equilibrium, at most 1."""
        return min(1.0, 2 * (self.flows / (self.rtt * self.capacity)) ** 2)


@dataclass(frozen=True)
class Box:
    """Least and greatest number of flows, RTT in s, and capacity in packets/s; equal ends: one value.

    Round trips are those at the target, its queueing delay included.
    """

    flows: tuple[float, float]
    rtt_s: tuple[float, float]
    capacity_pps: tuple[float, float]
    target: Target
    segment_bytes: int = 1000

    @property
    def worst(self) -> Network:
        """The fewest flows, the longest round trip, the highest capacity: the largest gain of the plant."""
        return Network(self.flows[0], self.capacity_pps[1], self.rtt_s[1])

    @property
    def mildest(self) -> Network:
        """The most flows over the shortest round trips at the lowest capacity: where p is largest."""
        return Network(self.flows[1], self.capacity_pps[0], self.rtt_s[0])

    def base_rtt(self, rtt_s: float, capacity_pps: float) -> float:
        """A round trip without queueing, s."""
        return rtt_s - self.target.in_seconds(capacity_pps)

    @property
    def middle(self) -> Where:
        """The geometric means of the ends."""
        flows, rtt, capacity = (math.sqrt(a * b) for a, b in (self.flows, self.rtt_s, self.capacity_pps))
        return flows, rtt, capacity

    @property
    def corners(self) -> list[Where]:
        """The vertices, each once."""
        return list(dict.fromkeys(itertools.product(self.flows, self.rtt_s, self.capacity_pps)))

    def grid(self, points: int) -> list[Where]:
        """Points of a grid that grow by factors along each axis; three capacities, or one."""
        flows, rtts, capacities = self.axes(points)
        return list(itertools.product(flows, rtts, capacities))

    def axes(self, points: int) -> list[Sequence[float]]:
        """The grid's values along each axis."""
        counts = (points, points, 3)
        ends = (self.flows, self.rtt_s, self.capacity_pps)
        return [
            [low] if low == high else [low, *np.geomspace(low, high, count)[1:-1].tolist(), high]
            for (low, high), count in zip(ends, counts, strict=True)
        ]

    def around(self, where: Where, points: int, seed: int, reach: float) -> list[Where]:
        """Random points within a share of the box about one, uniform in the logarithms."""
        draw = np.random.default_rng(seed)
        ends = [np.log(pair) for pair in (self.flows, self.rtt_s, self.capacity_pps)]
        steps = [reach * (high - low) * draw.uniform(-1, 1, points) for low, high in ends]
        columns = [
            np.exp(np.clip(math.log(value) + step, low, high)).tolist()
            for value, step, (low, high) in zip(where, steps, ends, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def random(self, points: int, seed: int = 1) -> list[Where]:
        """Random points, uniform in the logarithms; none of a box that is a point."""
        if len(self.corners) == 1:
            return []
        draw = np.random.default_rng(seed)
        ends = [np.log(pair) for pair in (self.flows, self.rtt_s, self.capacity_pps)]
        columns = [np.exp(draw.uniform(low, high, points)).tolist() for low, high in ends]
        return list(zip(*columns, strict=True))
