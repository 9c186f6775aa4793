"""Outcome of a solver of the control problem."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.ocq.problem import Floats, Problem
from sojourn.ocq.trajectory import Run, integrate


@dataclass(frozen=True)
class Solution:
    """A control as a solver returned it, and the course of the solver."""

    problem: Problem
    #: Name of the method, such as "hermite_simpson".
    method: str
    #: Input of each cell, packets/s: N constants, or N pairs of its begin and end.
    u: Floats
    #: Backlog at the N + 1 nodes, packets, by the method's own rule.
    x: Floats
    #: Cost by the method's own rule, packets s; `run` has the exact cost of its control.
    J: float
    iterations: int
    #: Evaluations of the cost.
    evaluations: int
    #: Wall time, s; imports are not in it.
    wall_s: float
    #: True if the solver's own test of convergence held.
    converged: bool
    #: End of the solver, in its words.
    status: str
    #: Cost after each iteration, packets s; of the best control, or of an infeasible iterate of collocation.
    history: Floats

    def run(self) -> Run:
        """Exact trajectory of the control, its cost and the certified gap.

        >>> from sojourn.ocq import INSTANCES, collocate
        >>> run = collocate(INSTANCES["A"]).run()  # doctest: +SKIP
        >>> run.gap > run.J - 6.661394457286 > 0  # doctest: +SKIP
        True
        """
        return integrate(self.problem, self.u)
