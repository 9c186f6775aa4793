"""Exact trajectory of a queue under a control, its cost, and the bound of its excess over the optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from sojourn import _core
from sojourn.errors import InputError
from sojourn.kinds import instance, shown, takes
from sojourn.ocq.problem import Floats, Mesh, Problem

#: Constant parts of a cell whose control is linear.
PARTS = 10
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
    costate and J are exact up to rounding, and so is the gap, by Gauss and Legendre's rule on exact arcs.
    Raises `InputError`.

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
    parts = np.stack([mesh.t[1:], mesh.w, mesh.R, mesh.low, mesh.high, u], axis=1)
    x, costate, cost, gap = _core.ocq_follow([problem.mu, problem.a, problem.x0], parts.tolist())
    return Run(mesh.t, u, np.array(x), np.array(costate), cost, gap)


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
