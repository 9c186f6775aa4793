"""Trajectory of a queue under a control, its cost, costate and gap, in plain Python.

With an inner time s, dt = (a + x) ds, the queue is linear where the input c is constant, and so is the
costate (docs/theory/ocq.md). With k = c - mu, f = k x_0 + c a and E(y) = (e^y - 1) / y:

    x(s) = x_0 + f s E(k s)
    lambda(0) = (a + x_0) [ lambda(s) e^(k s) / (a + x(s)) + s E(k s) ]

Time and the area under the queue are sums of terms of one sign. The gap is by Simpson's rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sojourn.ocq import Problem

Floats = NDArray[np.float64]
#: Simpson panels of the gap over the horizon, at least.
PANELS = 20_000


def trajectory(problem: Problem, u: Floats) -> tuple[Floats, Floats, float, float]:
    """Backlogs and costates at the nodes of the mesh, J and gap."""
    mesh = problem.mesh
    arcs, area = Arcs.of(problem, u, mesh.h)
    costate = arcs.costate()
    above, below = arcs.excesses(costate, mesh.R)
    lost = (mesh.R * (mesh.w - u) * mesh.h).sum()
    gap = (above * (u - mesh.low) + below * (mesh.high - u)).sum()
    return arcs.x, costate, area + float(lost), float(gap)


# ---- One arc ------------------------------------------------------------------------------------


class Arc(NamedTuple):
    """A constant input c from a backlog x on."""

    a: float
    c: float
    k: float
    x: float

    def after(self, h: float) -> tuple[float, float, float]:
        """Inner time after `h` seconds, the backlog then, and the area under the queue."""
        a, _, k, x = self
        # Newton's method on the time, from the side of its root from which convexity leads there.
        s = math.log1p(k * h / (a + x)) / k if k > 0 else h / (a + x)
        state = self._falling if k * x + self.c * a < 0 else self._rising
        for _ in range(200):
            time, end, area = state(s)
            step = (h - time) / (a + end)
            s += step
            if abs(step) <= 1e-15 * s:
                break
        return s, end, area

    def _rising(self, s: float) -> tuple[float, float, float]:
        """Time, backlog and area after the inner time `s`, about the initial backlog."""
        a, c, k, x = self
        f, y = k * x + c * a, k * s
        second = _second(y)
        area = x * (a + x) * s + (a + 2 * x) * f * s * s * second + f * f * s**3 * _third(y)
        return (a + x) * s + f * s * s * second, x + f * s * _relative(y), area

    def _falling(self, s: float) -> tuple[float, float, float]:
        """The same about the equilibrium, x_e."""
        a, c, k, x = self
        x_e, y = -c * a / k, k * s
        d, first = x - x_e, _relative(y)
        area = s * (x_e * (a + x_e) + (a + 2 * x_e) * d * first + d * d * _relative(2 * y))
        return (a + x_e) * s + d * s * first, x_e + d * math.exp(y), area


def _relative(y: float) -> float:
    """E(y) = (e^y - 1) / y."""
    return math.expm1(y) / y if y else 1.0


def _second(y: float) -> float:
    """(e^y - 1 - y) / y^2."""
    if abs(y) > 0.5:
        return (math.expm1(y) - y) / (y * y)
    return _horner(y, _SECOND)


def _third(y: float) -> float:
    """[E(2 y) - 2 E(y) + 1] / y^2."""
    if abs(y) > 0.5:
        return (_relative(2 * y) - 2 * _relative(y) + 1) / (y * y)
    return _horner(y, _THIRD)


def _horner(y: float, coefficients: list[float]) -> float:
    total = 0.0
    for coefficient in coefficients:
        total = total * y + coefficient
    return total


_SECOND = [1 / math.factorial(n + 2) for n in reversed(range(16))]
_THIRD = [(2 ** (n + 2) - 2) / math.factorial(n + 3) for n in reversed(range(20))]


# ---- All arcs -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arcs:
    """Arcs one after the other: inputs, backlogs at the nodes, and lengths in the inner time."""

    problem: Problem
    u: Floats
    x: Floats
    s: Floats

    @classmethod
    def of(cls, problem: Problem, u: Floats, h: Floats) -> tuple[Arcs, float]:
        """The arcs, and the area under all of them."""
        s, x, area = list[float](), [problem.x0], list[float]()
        for input_, duration in zip(u.tolist(), h.tolist(), strict=True):
            found = Arc(problem.a, input_, input_ - problem.mu, x[-1]).after(duration)
            for column, value in zip((s, x, area), found, strict=True):
                column.append(value)
        return cls(problem, u, np.array(x), np.array(s)), math.fsum(area)

    def costate(self) -> Floats:
        """Costate at the nodes, s, from lambda(t_f) = 0 backwards."""
        grown, weights = (self.u - self.problem.mu) * self.s, self.problem.a + self.x
        factors = weights[:-1] * np.exp(grown) / weights[1:]
        terms = weights[:-1] * self.s * _relatives(grown)
        found = [0.0]
        for factor, term in zip(factors[::-1].tolist(), terms[::-1].tolist(), strict=True):
            found.append(factor * found[-1] + term)
        return np.array(found[::-1])

    def excesses(self, costate: Floats, price: Floats) -> tuple[Floats, Floats]:
        """Integrals of (lambda - R)^+ and (R - lambda)^+ over each arc, s^2."""
        # Enough panels that none spans more than a fold of e^(k s).
        folds = np.max(np.abs((self.u - self.problem.mu) * self.s))
        panels = math.ceil(max(folds, PANELS / len(self.s)))
        a, u, s = self.problem.a, self.u[:, None], self.s[:, None]
        k, begin, end = u - self.problem.mu, self.x[:-1, None], self.x[1:, None]
        past = s * np.linspace(0.0, 1.0, 2 * panels + 1)
        left = s - past
        weights = a + np.maximum(begin + (k * begin + u * a) * past * _relatives(k * past), 0.0)
        carried = costate[1:, None] * np.exp(k * left) / (a + end)
        excess = weights * (carried + left * _relatives(k * left)) - price[:, None]
        width = self.s / (2 * panels)
        return width * _positive(weights, excess), width * _positive(weights, -excess)


def _positive(weights: Floats, excess: Floats) -> Floats:
    """Integral of the positive part of `excess`, in widths of half a panel.

    By Simpson's rule, and by lines between the points where the sign changes.
    """
    rates = weights * np.maximum(excess, 0.0)
    simpson = (rates[:, :-2:2] + 4 * rates[:, 1:-1:2] + rates[:, 2::2]) / 3
    low, high = excess[:, :-1] * weights[:, :-1], excess[:, 1:] * weights[:, 1:]
    spread = np.abs(low) + np.abs(high)
    crossed = np.maximum(np.maximum(low, high), 0.0) ** 2 / np.where(spread > 0, 2 * spread, 1.0)
    lines = np.where(low * high < 0, crossed, (rates[:, :-1] + rates[:, 1:]) / 2)
    signs = np.sign(excess)
    steady = (signs[:, :-2:2] == signs[:, 1:-1:2]) & (signs[:, 1:-1:2] == signs[:, 2::2])
    panels = np.where(steady, simpson, lines[:, ::2] + lines[:, 1::2])
    return cast("Floats", panels.sum(axis=1))


def _relatives(y: Floats) -> Floats:
    """E(y) of an array."""
    safe = np.where(y == 0, 1.0, y)
    return np.where(y == 0, 1.0, np.expm1(safe) / safe)
