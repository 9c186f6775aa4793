"""Direct collocation: the problem as a nonlinear program, solved by IPOPT through CasADi.

The peer "JModelica" of the paper's Table 1 (section 3.1). Its equations (2) to (8) have two misprinted signs:
the midpoint (6) is (x_j + x_(j+1)) / 2 + h (f_j - f_(j+1)) / 8, and the divisor in (7) is 2 (t_(j+1) - t_j).
Then (8), by which f at the midpoint is the slope of the cubic there, is Simpson's rule:

    x_(j+1) - x_j = h [f_j + 4 f_(j+1/2) + f_(j+1)] / 6

Sources: the paper; J. T. Betts, "Practical Methods for Optimal Control Using Nonlinear Programming", SIAM,
2001; J. Andersson et al., "CasADi", Mathematical Programming Computation, 2019; A. Waechter, L. Biegler, "On
the Implementation of an Interior-Point Filter Line-Search Algorithm", Mathematical Programming, 2006 (IPOPT).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sojourn.errors import InputError, MissingError
from sojourn.kinds import count, instance, shown, takes, text
from sojourn.ocq.problem import Floats, Problem
from sojourn.ocq.solution import Solution

_SCHEMES = ("hermite_simpson", "trapezoid")
_CONTROLS = ("constant", "linear")


@takes(
    problem=instance(Problem, "a problem; expected sojourn.ocq.Problem"),
    scheme=text,
    control=text,
    max_iterations=count,
)
def collocate(
    problem: Problem,
    scheme: Literal["hermite_simpson", "trapezoid"] = "hermite_simpson",
    *,
    control: Literal["constant", "linear"] = "linear",
    max_iterations: int = 500,
) -> Solution:
    """Optimal control by direct collocation with CasADi and IPOPT.

    The input is `control` over each cell: "linear" as in the paper, continuous except where w, R or a bound
    changes, or "constant". It starts from the middle of its bounds. Where IPOPT ends early, its last iterate
    is returned, and `converged` is False.

    Raises `MissingError` without CasADi, which is part of the extra ``sojourn[optimal]``, and `InputError`.

    >>> problem = Problem(w=60, mu=50, a=1, R=2 / 9, N=200)
    >>> found = collocate(problem, control="constant")  # doctest: +SKIP
    >>> found.converged, abs(found.J - 6.661394457) < 2e-6  # doctest: +SKIP
    (True, True)
    """
    for name, value, known in (("scheme", scheme, _SCHEMES), ("control", control, _CONTROLS)):
        if value not in known:
            raise InputError(f"{name}: {shown(value)} is unknown; expected {' or '.join(known)}")
    casadi = _casadi()
    started = time.perf_counter()
    program = _Program.of(casadi, problem, scheme, control == "linear")
    found, stats = program.solve(casadi, max_iterations)
    return Solution(
        problem=problem,
        method=scheme,
        u=program.control(found),
        x=found[: problem.N + 1],
        J=float(stats["iterations"]["obj"][-1]),
        iterations=int(stats["iter_count"]),
        evaluations=int(stats["n_call_nlp_f"]),
        wall_s=time.perf_counter() - started,
        converged=bool(stats["success"]),
        status=str(stats["return_status"]),
        history=np.array(stats["iterations"]["obj"]),
    )


def _casadi() -> Any:
    try:
        import casadi
    except ImportError:
        raise MissingError(
            "sojourn.ocq.collocate: CasADi is not installed; pip install sojourn[optimal]"
        ) from None
    return casadi


@dataclass(frozen=True)
class _Program:
    """Nonlinear program of the unknowns (x at the nodes, then u)."""

    problem: Problem
    #: True if the input of a cell is a line, else a constant.
    linear: bool
    #: Unknown inputs at the begin and the end of each cell, by number.
    begin: Any
    end: Any
    unknowns: Any
    cost: Any
    defects: Any

    @classmethod
    def of(cls, casadi: Any, problem: Problem, scheme: str, linear: bool) -> _Program:
        begin, end = _inputs(problem, linear)
        x, u = casadi.SX.sym("x", problem.N + 1), casadi.SX.sym("u", int(end[-1]) + 1)
        rule = _simpson if scheme == "hermite_simpson" else _trapezoid
        cost, defects = rule(problem, (x[:-1], x[1:]), (u[begin.tolist()], u[end.tolist()]))
        return cls(problem, linear, begin, end, casadi.vertcat(x, u), casadi.sum1(cost), defects)

    def solve(self, casadi: Any, max_iterations: int) -> tuple[Floats, dict[str, Any]]:
        """The last iterate, and what IPOPT reports."""
        # No relaxed bounds: IPOPT would leave [0, w] by 1e-8, and J could lie below the optimum.
        ipopt = {
            "print_level": 0,
            "sb": "yes",
            "max_iter": max_iterations,
            "tol": 1e-10,
            "bound_relax_factor": 0.0,
        }
        program = {"x": self.unknowns, "f": self.cost, "g": self.defects}
        solver = casadi.nlpsol("ocq", "ipopt", program, {"ipopt": ipopt, "print_time": False})
        least, most = self._bounds()
        inputs = slice(self.problem.N + 1, None)
        middles = (least[inputs] + most[inputs]) / 2
        start = np.concatenate([np.full(self.problem.N + 1, self.problem.x0), middles])
        found = solver(x0=start, lbx=least, ubx=most, lbg=0.0, ubg=0.0)
        return np.array(found["x"]).ravel(), solver.stats()

    def control(self, found: Floats) -> Floats:
        """Inputs of the cells, constants or pairs."""
        u, mesh = found[self.problem.N + 1 :], self.problem.mesh
        if not self.linear:
            return u.clip(mesh.low, mesh.high)
        return np.stack([u[self.begin], u[self.end]], axis=1).clip(mesh.low[:, None], mesh.high[:, None])

    def _bounds(self) -> tuple[Floats, Floats]:
        cells, x0, mesh = self.problem.N, self.problem.x0, self.problem.mesh
        most = np.full(cells + 1 + int(self.end[-1]) + 1, np.inf)
        most[cells + 1 + self.begin] = most[cells + 1 + self.end] = mesh.high
        least = np.zeros_like(most)
        least[cells + 1 + self.begin] = least[cells + 1 + self.end] = mesh.low
        least[0] = most[0] = x0
        return least, most


def _inputs(problem: Problem, linear: bool) -> tuple[Any, Any]:
    """Numbers of the unknown inputs at the begin and the end of each cell.

    Neighbours share one unless w, R or a bound changes between them.
    """
    cells = np.arange(problem.N)
    if not linear:
        return cells, cells
    jumps = (np.diff(problem.mesh[1:], axis=1) != 0).any(axis=0)
    begin = cells + np.concatenate([[0], np.cumsum(jumps)])
    return begin, begin + 1


def _simpson(problem: Problem, x: tuple[Any, Any], u: tuple[Any, Any]) -> tuple[Any, Any]:
    """Cost and defect of each cell."""
    h = problem.mesh.h
    slope, rate = _model(problem)
    slopes = [slope(*point) for point in zip(x, u, strict=True)]
    middle = (x[0] + x[1]) / 2 + h * (slopes[0] - slopes[1]) / 8, (u[0] + u[1]) / 2
    cost = rate(x[0], u[0]) + 4 * rate(*middle) + rate(x[1], u[1])
    return h * cost / 6, x[1] - x[0] - h * (slopes[0] + 4 * slope(*middle) + slopes[1]) / 6


def _trapezoid(problem: Problem, x: tuple[Any, Any], u: tuple[Any, Any]) -> tuple[Any, Any]:
    """Cost and defect of each cell."""
    h = problem.mesh.h
    slope, rate = _model(problem)
    cost = rate(x[0], u[0]) + rate(x[1], u[1])
    return h * cost / 2, x[1] - x[0] - h * (slope(x[0], u[0]) + slope(x[1], u[1])) / 2


def _model(problem: Problem) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """Slope of the queue and rate of the cost in every cell."""
    mesh = problem.mesh

    def slope(x: Any, u: Any) -> Any:
        return u - problem.mu * x / (problem.a + x)

    def rate(x: Any, u: Any) -> Any:
        return x + mesh.R * (mesh.w - u)

    return slope, rate
