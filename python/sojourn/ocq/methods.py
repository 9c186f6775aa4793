"""One function for all methods: the exact switching times, the sweeps over a mesh, and the peers.

- ``switching``: the exact optimum of a load in steps, by its switching times;
- ``sweep``: Algorithm 1 of the paper, FB-OCQ, with the exact adjoint of the mesh;
- ``fast``: an interior-point method, whose Newton step is one Riccati recursion;
- ``collocation``: Hermite-Simpson with IPOPT (`collocate`), and ``ga``: a genetic algorithm (`evolve`), the
  peers of the paper's Table 1, of the extra ``sojourn[optimal]``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from sojourn import _core
from sojourn.errors import InputError
from sojourn.kinds import MOST_COUNTED, count, instance, number, optional, shown, takes, text
from sojourn.ocq.collocation import collocate
from sojourn.ocq.genetic import evolve
from sojourn.ocq.problem import Floats, Problem, check_step
from sojourn.ocq.solution import Arc, Piece, Solution, exact
from sojourn.ocq.trajectory import admissible, follow

Method: TypeAlias = Literal["switching", "sweep", "fast", "collocation", "ga"]
Step: TypeAlias = Literal["beta", "backtracking", "parametric", "spectral"]

METHODS = ("switching", "sweep", "fast", "collocation", "ga")
_STEPS = ("beta", "backtracking", "parametric", "spectral")
#: Greatest limit of iterations.
MOST_ITERATIONS = MOST_COUNTED
#: Iterations of each method, at most; generations of the GA as in the paper.
_ITERATIONS = {"sweep": 50, "fast": 60, "collocation": 500, "ga": 2500}


@takes(
    problem=instance(Problem, "a problem; expected sojourn.ocq.Problem"),
    method=text,
    iterations=optional(count),
    tolerance=optional(number),
    step=optional(text),
    beta=optional(number),
    rho=optional(number),
)
def solve(
    problem: Problem,
    method: Method = "switching",
    *,
    iterations: int | None = None,
    tolerance: float | None = None,
    start: object = None,
    step: Step | None = None,
    beta: float | None = None,
    rho: float | None = None,
) -> Solution:
    """Optimal control of a queue by one of the methods.

    ``switching`` (exact; R constant, no `u_min` and `u_max`; a function w(t) is taken as constant in each
    cell), ``fast`` (interior point), ``sweep`` (the paper's Algorithm 1), ``collocation`` or ``ga``.

    `iterations` is the most of them, up to 1000000: by default 50 of sweep, 60 of fast, 500 of collocation,
    2500 generations of ga. An interrupt ends ga after a generation, and collocation when CasADi and IPOPT
    return to Python, which takes seconds with 20000 cells.

    sweep and fast stop at a gap on the mesh of `tolerance` J, by default 1e-6; what is certified is `gap` of
    the solution, for its exact trajectory. sweep starts from the control `start`, N inputs in packets/s (by
    default all that is admitted), with `beta` (s^2/packet; 3 a / (mu w) by default, with the greatest w: the
    paper's 1e-3 on P), which each better step multiplies by `rho` (0.5) and each other one divides by it. Its
    `step` is "beta", "backtracking" (with a sufficient decrease, the paper's Remark 2), "parametric"
    (followed in time, its equations 26 to 35) or "spectral", after which the best control found is returned.

    Raises `InputError` with one line, and `MissingError` where the extra ``sojourn[optimal]`` is needed.

    >>> from sojourn.ocq import INSTANCES
    >>> found = solve(INSTANCES["P"])
    >>> round(found.J, 9), [round(time, 6) for time in found.switch_times]
    (6.800169172, [0.062346, 0.85973])
    >>> found = solve(INSTANCES["P"], "fast")
    >>> found.converged, found.gap < 1e-5, 0 < found.run().J - 6.800169171935 < 1e-6 * found.J
    (True, True, True)
    """
    if method not in METHODS:
        raise InputError(f"method: {shown(method)} is unknown; expected {', '.join(METHODS)}")
    given = {"iterations": iterations, "tolerance": tolerance}
    sweeps = {"start": start, "step": step, "beta": beta, "rho": rho}
    _refuse_unused(method, given | sweeps)
    most = _ITERATIONS.get(method, 0) if iterations is None else iterations
    if method == "switching":
        return _switching(problem)
    if method == "collocation":
        return collocate(problem, max_iterations=most)
    if method == "ga":
        return evolve(problem, generations=most)
    options = {"iterations": most, "tolerance": _positive("tolerance", tolerance, 1e-6)}
    return _fast(problem, options) if method == "fast" else _sweep(problem, options, sweeps)


#: Methods to which an option belongs.
_USED = {
    "iterations": ("sweep", "fast", "collocation", "ga"),
    "tolerance": ("sweep", "fast"),
    **dict.fromkeys(("start", "step", "beta", "rho"), ("sweep",)),
}


def _refuse_unused(method: str, options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value is not None and method not in _USED[name]:
            raise InputError(f"{name}: has no use in method {method}; expected {', '.join(_USED[name])}")


def _positive(name: str, value: float | None, default: float) -> float:
    """A number above 0, or the default."""
    if value is None:
        return default
    if not 0 < value < math.inf:
        raise InputError(f"{name}: {value:g} is out of range; expected more than 0")
    return value


# ---- The exact optimum --------------------------------------------------------------------------


def _switching(problem: Problem) -> Solution:
    mesh = problem.mesh
    if (mesh.R[0] != mesh.R).any():
        raise InputError("method: switching needs a constant R, and R varies; expected fast or sweep")
    if mesh.low.any() or (mesh.high != mesh.w).any():
        raise InputError("method: switching needs the bounds 0 and w; expected fast or sweep")
    last = np.append(mesh.w[1:] != mesh.w[:-1], True)
    steps = np.stack([mesh.w, mesh.t[1:]], axis=1)[last].tolist()
    parameters = [problem.mu, problem.a, float(mesh.R[0]), problem.x0]
    found, wall_s = _timed(lambda: _core.ocq_switching(parameters, steps))
    arcs = tuple(Arc(*arc) for arc in found["arcs"])
    pieces = tuple(Piece(*piece) for piece in found["pieces"])
    fine, u = exact(problem, pieces)
    run = follow(problem, fine, u)
    is_finite = math.isfinite(found["J"])
    is_certified = is_finite and found["gap"] <= _CERTIFIED * abs(found["J"])
    problem_is = (
        f"with a gap of {found['gap']:.1e} packets s" if is_finite else "its cost is beyond the digits"
    )
    status = "exact" if is_certified else f"not certified, {problem_is}"
    admitted = np.append(0.0, np.cumsum(u * fine.h))[np.searchsorted(fine.t, mesh.t)]
    return Solution(
        problem=problem,
        method="switching",
        u=(np.diff(admitted) / mesh.h).clip(0.0, mesh.w),
        x=run.x[np.searchsorted(fine.t, mesh.t)],
        J=found["J"],
        iterations=0,
        evaluations=1,
        wall_s=wall_s,
        converged=is_certified,
        status=f"{status}: " + ", then ".join(f"{arc.kind} until {arc.until:.6g} s" for arc in arcs),
        history=np.array([found["J"]]),
        gaps=np.array([found["gap"]]),
        arcs=arcs,
        pieces=pieces,
    )


#: Greatest gap of an exact optimum, by J.
_CERTIFIED = 1e-8


# ---- On the mesh --------------------------------------------------------------------------------


def _fast(problem: Problem, options: Mapping[str, float]) -> Solution:
    parameters, cells = _on_the_mesh(problem, "fast")
    most, tolerance = int(options["iterations"]), options["tolerance"]
    found, wall_s = _timed(lambda: _core.ocq_fast(parameters, cells, most, tolerance))
    return _of(problem, "fast", found, wall_s)


def _sweep(problem: Problem, options: Mapping[str, float], given: Mapping[str, Any]) -> Solution:
    step = given["step"] or "beta"
    if step not in _STEPS:
        raise InputError(f"step: {shown(step)} is unknown; expected {', '.join(_STEPS)}")
    rho = _positive("rho", given["rho"], 0.5)
    if rho >= 1:
        raise InputError(f"rho: {rho:g} is out of range; expected more than 0, less than 1")
    rules = {
        "step": step,
        "beta": None if given["beta"] is None else _positive("beta", given["beta"], 0.0),
        "rho": rho,
    }
    start = problem.mesh.high if given["start"] is None else admissible(problem, given["start"], "start")
    if start.ndim != 1:
        raise InputError(f"start: the shape is {start.shape}; expected ({problem.N},), one a cell")
    parameters, cells = _on_the_mesh(problem, "sweep")
    begin = start.tolist()
    found, wall_s = _timed(lambda: _core.ocq_sweep(parameters, cells, begin, {**options, **rules}))
    return replace(_of(problem, "sweep", found, wall_s), step=step)


def _on_the_mesh(problem: Problem, method: str) -> tuple[list[float], list[list[float]]]:
    """Parameters and cells as the compiled half takes them."""
    mesh = problem.mesh
    check_step(problem, f"method {method}")
    cells = np.stack([mesh.h, mesh.w, mesh.R, mesh.low, mesh.high], axis=1)
    return [problem.mu, problem.a, problem.x0], cells.tolist()


def _timed(solver: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """What a solver returns, and its wall time, s."""
    started = time.perf_counter()
    found = solver()
    return found, time.perf_counter() - started


def _of(problem: Problem, method: str, found: Mapping[str, Any], wall_s: float) -> Solution:
    iterations, gap = found["iterations"], found["gap"]
    end = "is within the tolerance" if found["converged"] else "is above the tolerance"
    mesh = problem.mesh
    return Solution(
        problem=problem,
        method=method,
        u=cast("Floats", np.array(found["u"]).clip(mesh.low, mesh.high)),
        x=np.array(found["x"]),
        J=found["J"],
        iterations=iterations,
        evaluations=found["sweeps"],
        wall_s=wall_s,
        converged=found["converged"],
        status=f"the gap on the mesh, {gap:.2g} packets s, {end} after {iterations} iterations",
        history=np.array(found["history"]),
        gaps=np.array(found["gaps"]),
        betas=np.array(found.get("betas", [])),
    )
