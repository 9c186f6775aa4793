"""Outcome of a solver of the control problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sojourn.ocq.problem import Floats, Mesh, Problem
from sojourn.ocq.trajectory import Run, follow, integrate

if TYPE_CHECKING:
    from sojourn.ocq.plots import Plots


class Arc(NamedTuple):
    """Arc of an exact optimum."""

    #: "lower" (u = 0), "singular" (u = u_s at x_s) or "upper" (u = w).
    kind: str
    #: End, s.
    until: float


class Piece(NamedTuple):
    """Interval of constant input."""

    #: u, packets/s.
    u: float
    #: End, s.
    until: float


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Solution:
    """A control as a solver returned it, and the course of the solver."""

    problem: Problem
    #: Name of the method, such as "hermite_simpson".
    method: str
    #: Input of each cell, packets/s: N constants, or N pairs of its begin and end.
    u: Floats = field(repr=False)
    #: Backlog at the N + 1 nodes, packets, by the method's own rule.
    x: Floats = field(repr=False)
    #: Cost by the method's own rule on its mesh, packets s: not the cost of the control `u`, and it may be
    #: below the least cost. Compare ``run().J``, the exact cost of `u`, to which `gap` belongs. Of switching
    #: both are the same.
    J: float
    iterations: int
    #: Evaluations of the cost; of a sweeping method, sweeps forward or backward.
    evaluations: int
    #: Wall time, s; imports are not in it.
    wall_s: float
    #: True if the solver's own test of convergence held: of sweep and fast, that the gap on the mesh is
    #: within the tolerance.
    converged: bool
    #: End of the solver, in its words.
    status: str
    #: Cost after each iteration, packets s; of the best control, or of an infeasible iterate of collocation.
    history: Floats = field(repr=False)
    #: Gap on the mesh, of the start and after each iteration, packets s; empty where the method has none. It
    #: bounds the excess over the least cost on the mesh; `gap` that of the control itself.
    gaps: Floats = field(default_factory=_none, repr=False)
    #: beta of each iteration of Algorithm 1, s^2/packet.
    betas: Floats = field(default_factory=_none, repr=False)
    #: Rule of the steps of Algorithm 1; empty for other methods.
    step: str = ""
    #: Arcs of the exact optimum; empty for other methods.
    arcs: tuple[Arc, ...] = ()
    #: Its inputs between all changes, those of w included; `u` has their means over the cells.
    pieces: tuple[Piece, ...] = field(default=(), repr=False)

    def run(self) -> Run:
        """Exact trajectory of the control, its cost and the certified gap.

        >>> from sojourn.ocq import INSTANCES, collocate
        >>> run = collocate(INSTANCES["A"]).run()  # doctest: +SKIP
        >>> run.gap > run.J - 6.661394457286 > 0  # doctest: +SKIP
        True
        """
        return self._run

    @property
    def gap(self) -> float:
        """Certified gap, packets s: the exact cost of the control is at most that above the least one.

        >>> from sojourn.ocq import INSTANCES, solve
        >>> solve(INSTANCES["P"]).gap < 1e-10
        True
        """
        return self._run.gap

    @property
    def costate(self) -> Floats:
        """Costate at the nodes of `run`, s; the paper's adjoint.

        >>> from sojourn.ocq import INSTANCES, solve
        >>> float(solve(INSTANCES["A"]).costate[0].round(9))
        0.131481481
        """
        return self._run.costate

    @property
    def switching(self) -> Floats:
        """Switching function H_u = costate - R at the nodes of `run`, s.

        R is that of the cell that begins at the node. Below 0 the optimal input is the greatest, above 0 the
        least.

        >>> from sojourn.ocq import INSTANCES, solve
        >>> float(solve(INSTANCES["A"]).switching[0].round(9))
        -0.090740741
        """
        run, mesh = self._run, self.problem.mesh
        cells = np.searchsorted(mesh.t, run.t, side="right") - 1
        return run.costate - mesh.R[np.minimum(cells, len(mesh.R) - 1)]

    @property
    def switch_times(self) -> tuple[float, ...]:
        """Times at which the arcs of the exact optimum end, s, without t_f.

        >>> from sojourn.ocq import INSTANCES, solve
        >>> [round(time, 9) for time in solve(INSTANCES["A"]).switch_times]
        [0.0690813, 0.699857256]
        """
        return tuple(arc.until for arc in self.arcs[:-1])

    @property
    def plot(self) -> Plots:
        """Pictures: ``trajectory()``, ``costate()``, ``switching()``, ``beta()`` and ``gap()``.

        >>> from sojourn.ocq import INSTANCES, solve
        >>> solve(INSTANCES["A"]).plot.costate().get_ylabel()
        'costate, s'
        """
        from sojourn.ocq.plots import Plots

        return Plots([self], [self.method])

    @cached_property
    def _run(self) -> Run:
        if not self.pieces:
            return integrate(self.problem, self.u)
        return follow(self.problem, *exact(self.problem, self.pieces))


def exact(problem: Problem, pieces: tuple[Piece, ...]) -> tuple[Mesh, Floats]:
    """Mesh with the ends of the pieces as further nodes, and the input of each of its cells.

    >>> problem = Problem(w=60, mu=50, a=1, R=0.2, N=2)
    >>> mesh, u = exact(problem, (Piece(60.0, 0.2), Piece(35.0, 1.0)))
    >>> mesh.t, u
    (array([0. , 0.2, 0.5, 1. ]), array([60., 35., 35.]))
    """
    mesh = problem.mesh
    ends = np.array([piece.until for piece in pieces])
    t = np.union1d(mesh.t, ends)
    middles = (t[1:] + t[:-1]) / 2
    cells = np.searchsorted(mesh.t, middles) - 1
    u = np.array([piece.u for piece in pieces])[np.searchsorted(ends, middles)]
    return Mesh(t, *(values[cells] for values in mesh[1:])), u
