"""A genetic algorithm over the inputs of all cells, by pymoo.

The peer "GALib" of the paper's Table 1 (section 5.1): a population of 200 over 2500 generations. It needs no
derivative, and stops when its budget of evaluations is spent.

Sources: the paper; J. Blank, K. Deb, "pymoo: Multi-Objective Optimization in Python", IEEE Access, 2020.
"""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

from sojourn.errors import InputError, MissingError
from sojourn.kinds import count, instance, takes, whole
from sojourn.ocq.problem import MOST_CELLS, Floats, Problem
from sojourn.ocq.solution import Solution


@takes(
    problem=instance(Problem, "a problem; expected sojourn.ocq.Problem"),
    population=count,
    generations=count,
    seed=whole,
)
def evolve(problem: Problem, *, population: int = 200, generations: int = 2500, seed: int = 1) -> Solution:
    """Control by a genetic algorithm with pymoo; the defaults are those of the paper's Table 1.

    An individual is the input of each cell as a share of its range. The best of parents and offspring
    survive; the offspring are of uniform crossover and polynomial mutation. The budget is `population` times
    `generations` evaluations of the cost; `seed` decides all draws. There is no test of convergence:
    `converged` is False.

    Raises `MissingError` without pymoo, which is part of the extra ``sojourn[optimal]``, and `InputError`.

    >>> problem = Problem(w=60, mu=50, a=1, R=2 / 9, N=50)
    >>> found = evolve(problem, population=20, generations=30)  # doctest: +SKIP
    >>> found.evaluations, found.J > 6.66  # doctest: +SKIP
    (600, True)
    """
    if population < 2:
        raise InputError(f"population: {population} is out of range; expected 2 or more")
    if not 0 <= seed < 2**32:
        raise InputError(f"seed: {seed} is out of range; expected 0 to {2**32 - 1}")
    _steps(problem)
    pymoo = _pymoo()
    started = time.perf_counter()
    shares, history = _minimise(pymoo, problem, (population, generations, seed))
    u = _inputs(problem, shares)
    x, costs = simulate(problem, u[None, :])
    return Solution(
        problem=problem,
        method="genetic",
        u=u,
        x=x[:, 0],
        J=float(costs[0]),
        iterations=generations,
        evaluations=population * generations,
        wall_s=time.perf_counter() - started,
        converged=False,
        status=f"{population * generations} evaluations spent",
        history=history,
    )


def _pymoo() -> Any:
    """The parts of pymoo that are used."""
    try:
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem as Space
        from pymoo.operators.crossover.ux import UniformCrossover
        from pymoo.operators.mutation.pm import PolynomialMutation
        from pymoo.problems.static import StaticProblem
    except ImportError:
        raise MissingError(
            "sojourn.ocq.evolve: pymoo is not installed; pip install sojourn[optimal]"
        ) from None
    return SimpleNamespace(
        algorithm=lambda size: GA(
            pop_size=size,
            crossover=UniformCrossover(),
            mutation=PolynomialMutation(),
            eliminate_duplicates=False,
        ),
        space=lambda cells: Space(n_var=cells, n_obj=1, xl=0.0, xu=1.0),
        record=lambda space, individuals, costs: Evaluator().eval(StaticProblem(space, F=costs), individuals),
    )


def _minimise(pymoo: Any, problem: Problem, budget: tuple[int, int, int]) -> tuple[Floats, Floats]:
    """Best individual, and the best cost after each generation."""
    population, generations, seed = budget
    space, algorithm, history = pymoo.space(problem.N), pymoo.algorithm(population), []
    algorithm.setup(space, termination=("n_gen", generations), seed=seed, verbose=False)
    while algorithm.has_next():
        individuals = algorithm.ask()
        _, costs = simulate(problem, _inputs(problem, individuals.get("X")))
        pymoo.record(space, individuals, costs[:, None])
        algorithm.advance(infills=individuals)
        history.append(float(algorithm.opt[0].F[0]))
    return algorithm.opt[0].X.astype(np.float64), np.array(history)


def _steps(problem: Problem) -> int:
    """Steps of a cell, with h mu / a at most 1; no more of them in all than another method has cells."""
    steps = max(1, math.ceil(float(problem.mesh.h.max()) * problem.mu / problem.a * (1 - 1e-9)))
    if steps > 1 and steps * problem.N > MOST_CELLS:
        found = f"{problem.N} cells need {steps} steps each, so that h mu / a is at most 1 in method ga"
        raise InputError(f"N: {found}; expected at most {MOST_CELLS} in all, or method switching")
    return steps


def _inputs(problem: Problem, shares: Floats) -> Floats:
    return problem.mesh.low + shares * (problem.mesh.high - problem.mesh.low)


def simulate(problem: Problem, controls: Floats) -> tuple[Floats, Floats]:
    """Queues of many controls, and their costs, by the method of Runge and Kutta.

    `controls` are n rows of N inputs, packets/s. Returns backlogs (N + 1, n) and costs (n,). A cell has as
    many steps as keep h mu / a at 1 or less.

    >>> problem = Problem(w=60, mu=50, a=1, R=2 / 9)
    >>> simulate(problem, np.full((1, 1000), 60.0))[1].round(6)
    array([9.508013])
    """
    mesh, mu, a = problem.mesh, problem.mu, problem.a
    steps = _steps(problem)
    inputs = np.ascontiguousarray(controls.T)
    x = np.full((problem.N + 1, len(controls)), problem.x0)
    costs = ((mesh.w - controls) * (mesh.R * mesh.h)).sum(axis=1)
    for cell, (u, h) in enumerate(zip(inputs, mesh.h / steps, strict=True)):
        y = x[cell]
        for _ in range(steps):
            k1 = u - mu * y / (a + y)
            y2 = y + h / 2 * k1
            k2 = u - mu * y2 / (a + y2)
            y3 = y + h / 2 * k2
            k3 = u - mu * y3 / (a + y3)
            y4 = y + h * k3
            k4 = u - mu * y4 / (a + y4)
            costs += h / 6 * (y + 2 * (y2 + y3) + y4)
            y = y + h / 6 * (k1 + 2 * (k2 + k3) + k4)
        x[cell + 1] = y
    return x, costs
