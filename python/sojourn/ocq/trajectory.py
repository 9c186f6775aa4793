"""Exact trajectory of a queue under a control, its cost, and the bound of its excess over the optimum.

With an inner time s, dt = (a + x) ds, the queue is linear where the input c is constant, and so is the
costate (docs/theory/ocq.md). With k = c - mu, f = k x_0 + c a and E(y) = (e^y - 1) / y:

    x(s) = x_0 + f s E(k s)
    lambda(0) = (a + x_0) [ lambda(s) e^(k s) / (a + x(s)) + s E(k s) ]

Time and the area under the queue are sums of terms of one sign: nothing cancels near equilibrium or at c =
mu.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from sojourn.errors import InputError
from sojourn.kinds import instance, shown, takes
from sojourn.ocq.problem import Floats, Mesh, Problem

#: Constant parts of a cell whose control is linear.
PARTS = 10
#: Simpson panels of the gap: in each cell at least and at most, and on the whole mesh at least.
_PANELS = 4, 4096
_ALL_PANELS = 8192
#: Panels in memory at a time.
_PANELS_AT_ONCE = 1 << 17
#: Excess of a control over its bounds that is rounding, relative to the largest w.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Run:
    """A control and what follows from it.

    The excess of `J` over the least cost is at most `gap`.
    """

    #: Nodes, s.
    t: Floats
    #: Input of each cell between them, packets/s.
    u: Floats
    #: Backlog at the nodes, packets.
    x: Floats
    #: Costate at the nodes, s: the cost of one more packet from there on.
    costate: Floats
    #: Cost, packets s.
    J: float
    #: Certificate: integral of (lambda - R)^+ (u - u_min) + (R - lambda)^+ (u_max - u), packets s; the bounds
    #: are 0 and w unless others are given.
    gap: float


@takes(problem=instance(Problem, "a problem; expected sojourn.ocq.Problem"))
def integrate(problem: Problem, control: object) -> Run:
    """Trajectory, exact cost and certificate of a control on the mesh of a problem.

    `control` is an array of N inputs (packets/s), each constant over its cell, or of N pairs, the inputs at
    the begin and the end of each cell. A line between them is taken as ten constant parts. The queue, the
    costate and J are exact up to rounding; the gap is a quadrature along exact arcs. Raises `InputError`.

    >>> problem = Problem(w=60, mu=50, a=1, R=2 / 9)
    >>> run = integrate(problem, [60] * 1000)
    >>> round(run.J, 6), round(run.gap, 6)
    (9.508013, 12.366277)
    """
    return follow(problem, *_constant(problem, admissible(problem, control)))


def follow(problem: Problem, mesh: Mesh, u: Floats) -> Run:
    """Trajectory of constant inputs on a mesh, which refines that of the problem.

    >>> problem = Problem(w=60, mu=50, a=1, R=2 / 9, N=2)
    >>> round(follow(problem, problem.mesh, np.array([60.0, 60.0])).J, 6)
    9.508013
    """
    arcs, area = _Arcs.of(problem, u, mesh.h)
    costate = arcs.costate()
    above, below = arcs.excesses(costate, mesh.R)
    lost = (mesh.R * (mesh.w - u) * mesh.h).sum()
    gap = (above * (u - mesh.low) + below * (mesh.high - u)).sum()
    return Run(mesh.t, u, arcs.x, costate, area + float(lost), float(gap))


def admissible(problem: Problem, given: object, name: str = "control") -> Floats:
    """Controls of the cells, (N,) or (N, 2), within their bounds. Raises `InputError`.

    >>> admissible(Problem(w=60, mu=50, a=1, R=0.2, N=2), [60, 20])
    array([60., 20.])
    """
    try:
        u = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: {shown(given)} is no array; expected one of numbers, packets/s") from None
    cells = problem.N
    if u.shape not in ((cells,), (cells, 2)):
        raise InputError(f"{name}: the shape is {u.shape}; expected ({cells},) or ({cells}, 2), one a cell")
    mesh, rounding = problem.mesh, _ROUNDING * problem.mesh.w.max()
    low, high = (bound if u.ndim == 1 else bound[:, None] for bound in (mesh.low, mesh.high))
    outside = ~((u >= low - rounding) & (u <= high + rounding))
    if outside.any():
        cell = int(np.argwhere(outside)[0][0])
        found, least, most = float(u[outside][0]), float(mesh.low[cell]), float(mesh.high[cell])
        which = "w = " if most == mesh.w[cell] else ""
        raise InputError(
            f"{name}[{cell}]: {found:g} is out of range; expected {least:g} to {which}{most:g} packets/s"
        )
    return cast("Floats", np.clip(u, low, high))


def _constant(problem: Problem, u: Floats) -> tuple[Mesh, Floats]:
    """Mesh and control of constant inputs; a line becomes steps."""
    mesh = problem.mesh
    if u.ndim == 1:
        return mesh, u
    middles = (np.arange(PARTS) + 0.5) / PARTS
    nodes = mesh.t[:-1, None] + mesh.h[:, None] * (np.arange(PARTS) / PARTS)
    steps = u[:, :1] + (u[:, 1:] - u[:, :1]) * middles
    t = np.append(nodes.ravel(), mesh.t[-1])
    return Mesh(t, *(np.repeat(values, PARTS) for values in mesh[1:])), steps.ravel()


# ---- One arc ------------------------------------------------------------------------------------


class _Arc(NamedTuple):
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
class _Arcs:
    """Arcs one after the other: inputs, backlogs at the nodes, and lengths in the inner time."""

    problem: Problem
    u: Floats
    x: Floats
    s: Floats

    @classmethod
    def of(cls, problem: Problem, u: Floats, h: Floats) -> tuple[_Arcs, float]:
        """The arcs, and the area under all of them."""
        s, x, area = list[float](), [problem.x0], list[float]()
        for input_, duration in zip(u.tolist(), h.tolist(), strict=True):
            found = _Arc(problem.a, input_, input_ - problem.mu, x[-1]).after(duration)
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
        panels = int(np.clip(max(folds, _ALL_PANELS / len(self.s)), *_PANELS))
        at_once = max(1, _PANELS_AT_ONCE // panels)
        parts = [
            self._excesses(slice(first, first + at_once), costate, price, panels)
            for first in range(0, len(self.s), at_once)
        ]
        above, below = (np.concatenate(found) for found in zip(*parts, strict=True))
        return above, below

    def _excesses(self, arcs: slice, costate: Floats, price: Floats, panels: int) -> tuple[Floats, Floats]:
        """The integrals over some of the arcs."""
        a, u, s = self.problem.a, self.u[arcs, None], self.s[arcs, None]
        k, begin, end = u - self.problem.mu, self.x[:-1][arcs, None], self.x[1:][arcs, None]
        past = s * np.linspace(0.0, 1.0, 2 * panels + 1)
        left = s - past
        weights = a + np.maximum(begin + (k * begin + u * a) * past * _relatives(k * past), 0.0)
        carried = costate[1:][arcs, None] * np.exp(k * left) / (a + end)
        excess = weights * (carried + left * _relatives(k * left)) - price[arcs, None]
        width = self.s[arcs] / (2 * panels)
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
