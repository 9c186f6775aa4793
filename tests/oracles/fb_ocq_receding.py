"""FB-OCQ's receding form: its plan, by a logarithmic barrier on all inputs at once, and the load on its way.

min over u of the sum over cells of h (x' + R (w - u)) + beta (u - u before)^2 / h, plus R x +
c (x - x_s)^2 / 2 at the end (constant below its vertex), where x' is the backlog at the end of a cell,
x' + h g(x') = x + h u, and u is within bounds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


#: Distance from a bound, by mu, that rounding leaves.
TINY = 1e-13


@dataclass(frozen=True)
class Plan:
    """Data of the problem; rates in packets/s."""

    mu: float
    a: float
    x_s: float
    h: float
    t_u: float
    backlog: float
    before: float
    least: float
    most: list[float]

    def first(self) -> float:
        """The optimal input of the first cell."""
        low = np.full(len(self.most), self.least)
        high = np.maximum(np.array(self.most), low)
        free = high > low + 1e-9
        if not free.any():
            return float(low[0])
        u = (low + high) / 2
        barrier = 1.0
        while True:
            for _ in range(50):
                gradient, hessian = self.derivatives(u)
                below, above = np.maximum(u - low, TINY * self.mu), np.maximum(high - u, TINY * self.mu)
                below[~free] = above[~free] = 1.0
                gradient = gradient - barrier / below + barrier / above
                hessian = hessian + np.diag(barrier / below**2 + barrier / above**2)
                gradient, block = gradient[free], hessian[np.ix_(free, free)]
                step = np.zeros_like(u)
                step[free] = np.linalg.solve(block, -gradient)
                room = np.where(step < 0, below / np.maximum(-step, 1e-300), above / np.maximum(step, 1e-300))
                length = min(1.0, 0.99 * float(room[free].min()))
                u = u + length * step
                if length == 1.0 and np.abs(step).max() < 1e-9 * self.mu:
                    break
            if barrier < 1e-20:
                return float(u[0])
            barrier /= 50

    def derivatives(self, u: Vector) -> tuple[Vector, Vector]:
        """Gradient and second derivatives of the cost by the inputs."""
        count, square = len(u), 1 / (self.a + self.x_s)
        price, beta = (self.a + self.x_s) ** 2 / (self.a * self.mu), self.t_u**4 * square
        c = 2 * square * (self.h + math.sqrt(2) * self.t_u)
        x, by_inputs = self.backlog, np.zeros(count)
        backlogs, slopes, rows = [], [], []
        for cell in range(count):
            z = x + self.h * u[cell]
            half = (z - self.a - self.h * self.mu) / 2
            x = (
                half + math.sqrt(half**2 + self.a * z)
                if half > 0
                else self.a * z / (math.sqrt(half**2 + self.a * z) - half)
            )
            slope = 1 / (1 + self.h * self.a * self.mu / (self.a + x) ** 2)
            by_inputs = by_inputs.copy()
            by_inputs[cell] += self.h
            by_inputs *= slope
            backlogs.append(x)
            slopes.append(slope)
            rows.append(by_inputs)
        costate = max(price + c * (x - self.x_s), 0.0)
        c = c if costate > 0 else 0.0
        weights, gradient = np.zeros(count), np.zeros(count)
        for cell in reversed(range(count)):
            costate = slopes[cell] * (self.h + costate)
            bend = 2 * self.a * self.mu / (self.a + backlogs[cell]) ** 3
            weights[cell] = costate * self.h * bend
            gradient[cell] = self.h * (costate - price)
        weights[-1] += c
        by = np.array(rows)
        changes = np.diff(np.concatenate([[self.before], u]))
        difference = np.eye(count) - np.eye(count, k=-1)
        stiffness = 2 * beta / self.h
        gradient += stiffness * difference.T @ changes
        return gradient, by.T @ (weights[:, None] * by) + stiffness * difference.T @ difference


def nearest(number: float) -> int:
    return math.floor(number + 0.5)


class Receding:
    """What is known of the periods ahead, by their number since the start, and p by a plan.

    A packet that departs is followed by (1 + 1/W) arrivals a base RTT later; a signal takes W/2 packets away,
    a round trip with the present queue after its packet arrived; W = sqrt(2 / p_w).
    """

    def __init__(self, params: dict[str, Any], period: float, rtt: float, target: float, mu: float) -> None:
        def seconds(key: str, otherwise: float) -> float:
            number, unit = params[key].split() if key in params else (otherwise, "s")
            return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]

        self.period, self.rtt = period, rtt
        self.forecast = params.get("forecast", True)
        self.delay = seconds("delay", -1.0)
        self.t_u = seconds("t_u", (rtt + target / mu) / 5)
        usual = max(rtt + target / mu, 5 * self.t_u)
        self.cells = nearest(seconds("horizon", min(max(usual, 10 * period), 100 * period)) / period)
        self.kept = math.ceil(max(rtt + 4 * target / mu, self.delay) / period) + 2
        self.p_max = params.get("p_max", 1.0)
        self.budget = params.get("iterations", 40)
        self.now, self.input = 0, mu
        self.released: dict[int, float] = defaultdict(float)
        self.signals: dict[int, float] = defaultdict(float)
        self.decided: list[tuple[int, float]] = []

    def observe(self, seen: dict[str, Any], mu: float) -> None:
        """A period: its departures and its signals, each where it takes effect."""
        self.now += min(max(nearest(seen["elapsed_s"] / self.period), 1), self.kept)
        after = min(max(self.rtt / self.period - 1, 0.0), self.kept - 1)
        place, part = self.now + math.floor(after), after % 1
        self.released[place] += (1 - part) * seen["departed_packets"]
        self.released[place + 1] += part * seen["departed_packets"]
        signals = seen["dropped_packets"] + seen["marked_packets"]
        late = min(max(self.round_trip(seen, mu), 1), self.kept)
        self.signals[self.now + late - 1] += signals

    def round_trip(self, seen: dict[str, Any], mu: float) -> int:
        return nearest((self.rtt + seen["backlog_packets"] / mu) / self.period)

    def effect(self, seen: dict[str, Any], mu: float, p_w: float) -> tuple[int, float, float]:
        """Periods until p acts, packets that a signal is worth, and the average load."""
        late = self.round_trip(seen, mu) if self.delay < 0 else nearest(self.delay / self.period)
        late = min(late, self.kept - 1)
        worth = max(1.0, 1 / math.sqrt(2 * bounded(p_w))) if late else 1.0
        return late, worth, mu / (1 - worth * p_w)

    def admit(self, seen: dict[str, Any], mu: float, p_w: float, u: float) -> None:
        late, _, average = self.effect(seen, mu, p_w)
        self.decide(late, min(max(u, 0.0), average))

    def decide(self, late: int, u: float) -> None:
        self.input = u
        self.decided.append((self.now + late, u))

    def clocked(self, place: int, mu: float) -> float:
        known = place <= self.rtt / self.period - 1 and place < self.kept
        return self.released[self.now + place] if known else mu * self.period

    def reduced(self, place: int) -> float:
        return self.signals[self.now + place] if place < self.kept else 0.0

    def arrivals(self, place: int, mu: float, p_w: float) -> float:
        p = bounded(p_w)
        grown = (1 + math.sqrt(p / 2)) * self.clocked(place, mu)
        return max(0.0, grown - self.reduced(place) / math.sqrt(2 * p))

    def offered(self, place: int, mu: float, p_w: float, effect: tuple[int, float, float]) -> float:
        late, worth, average = effect
        usual = mu * self.period
        if not self.forecast:
            return average
        if not late:
            return average * self.arrivals(place, mu, p_w) / usual
        taken = worth * self.reduced(late + place) / self.period
        return max(0.0, average * self.clocked(late + place, mu) / usual - taken)

    def p(self, seen: dict[str, Any], law: Any, p_w: float) -> float:
        """p of the plan from the backlog at which it acts."""
        mu, effect = law.mu, self.effect(seen, law.mu, p_w)
        late, worth, average = effect
        backlog = seen["backlog_packets"]
        for place in range(late):
            earlier = [u for since, u in self.decided if since <= self.now + place]
            planned = (earlier[-1] if earlier else 0.0) * self.period
            arrived = self.arrivals(place, mu, p_w) if self.forecast else planned
            backlog = max(0.0, backlog + arrived - mu * self.period)
        a = law.a()
        bias = mu - mu * law.x_s / (a + law.x_s) if law.params.get("bias", True) else 0.0
        loads = [self.offered(place, mu, p_w, effect) for place in range(self.cells)]
        least = max(0.0, average * (1 - worth * self.p_max)) - bias
        plan = Plan(
            mu,
            a,
            law.x_s,
            self.period,
            self.t_u,
            backlog,
            self.input - bias,
            least,
            [w - bias for w in loads],
        )
        u = plan.first() + bias
        self.decide(late, u)
        return (1 - u / loads[0]) / worth if loads[0] > u else 0.0


def bounded(p_w: float) -> float:
    """p_w for the windows: at most 100 packets."""
    return min(max(p_w, 0.0002), 0.9)
