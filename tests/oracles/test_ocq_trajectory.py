"""The exact trajectory of a control against the oracle in plain Python, and its gap where arcs are long."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ocq_trajectory import trajectory

from sojourn.ocq import Problem, integrate


def drawn(draws: np.random.Generator) -> Problem:
    """A problem whose load, cost and bounds vary."""
    mu, a = math.exp(draws.uniform(0, 7)), math.exp(draws.uniform(-3, 3))
    price = a / mu * math.exp(draws.uniform(-1, 3))
    t_f = (price + a / mu) * math.exp(draws.uniform(-1, 2.5))
    cells = int(draws.integers(1, 60))
    w = mu * 2.5 * draws.random(cells) * (draws.random(cells) > 0.2)
    low, high = 0.3 * draws.random(cells) * w, (0.5 + 0.5 * draws.random(cells)) * w
    costs = price * np.exp(draws.uniform(-1, 1, cells))
    x0 = a * max(math.exp(draws.uniform(-2, 4)) - 0.5, 0)
    return Problem(w=w, mu=mu, a=a, R=costs, x0=x0, t_f=t_f, N=cells, u_min=low, u_max=high)


def test_a_trajectory_is_the_oracle_s() -> None:
    draws = np.random.default_rng(1)
    for _ in range(200):
        problem = drawn(draws)
        mesh, shares = problem.mesh, np.clip(1.5 * draws.random(problem.N) - 0.25, 0, 1)
        run = integrate(problem, mesh.low + shares * (mesh.high - mesh.low))
        x, costate, cost, gap = trajectory(problem, run.u)
        np.testing.assert_allclose(run.x, x, rtol=1e-9, atol=1e-9 * problem.a)
        np.testing.assert_allclose(run.costate, costate, rtol=1e-9, atol=1e-12 * mesh.R.max())
        assert pytest.approx(cost, rel=1e-10) == run.J
        # The oracle's panels see a change of sign of lambda - R to their width.
        assert run.gap == pytest.approx(gap, rel=1e-5)


def test_the_gap_of_an_arc_of_many_time_constants_is_exact() -> None:
    """At x_s for 5e6 time constants: only the last second or so costs more than the optimum."""
    problem = Problem(w=60, mu=50, a=1, R=0.2, t_f=1e6, N=1)
    found = integrate(problem, [34.1886116991581])
    assert found.gap == pytest.approx(1.497, abs=1e-3)
    cells = Problem(w=60, mu=50, a=1, R=0.2, t_f=1000, N=1000)
    assert integrate(cells, np.full(1000, 34.1886116991581)).gap == pytest.approx(found.gap, rel=1e-3)
