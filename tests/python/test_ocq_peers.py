"""Optimal control on a mesh: the exact cost and gap of a control, and the peers of the paper's Table 1.

The optima are those of tests/reference/maths.json; P's was computed by DOP853 on the exact structure.
"""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

import sojourn as sj
from sojourn.ocq import INSTANCES, Problem, collocate, evolve, integrate

OPTIMUM = {"P": 6.800169171935, "A": 6.661394457286, "L": 6.829792514041}
#: Excess of Simpson's rule on N cells: its error is of fourth order, and P has cells of twice the length.
EXCESS = {200: 4e-5, 400: 4e-6, 1000: 2e-7}


def runge_kutta(problem, u):
    """Cost of constant inputs, by the classical method at ten steps a cell."""
    mesh, x, cost = problem.mesh, problem.x0, 0.0

    def rates(x, u, w, r):
        return np.array([u - problem.mu * x / (problem.a + x), x + r * (w - u)])

    for h, *cell in zip(mesh.h / 10, u, mesh.w, mesh.R, strict=True):
        for _ in range(10):
            k1 = rates(x, *cell)
            k2 = rates(x + h / 2 * k1[0], *cell)
            k3 = rates(x + h / 2 * k2[0], *cell)
            k4 = rates(x + h * k3[0], *cell)
            step = h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            x, cost = x + step[0], cost + step[1]
    return cost


def assert_certified(found, optimum):
    run = found.run()
    assert optimum - 1e-9 <= run.J
    assert run.gap >= run.J - optimum
    cells = found.u if found.u.ndim == 1 else found.u.mean(axis=1)
    assert runge_kutta(found.problem, cells) >= optimum - 1e-9
    return run


@pytest.mark.parametrize("name", "ABCDEFGHIJKL")
def test_a_random_control_has_the_cost_and_gap_of_the_exact_solution(name):
    problem = replace(INSTANCES[name], N=40)
    w, r = problem.mesh.w[0], problem.mesh.R[0]
    u = np.random.default_rng(7).uniform(0, w, 40)
    given = sj.theorems.ocq(w, problem.mu, problem.a, r, x0=problem.x0, t_f=problem.t_f, control=u)["given"]
    found = integrate(problem, u)
    assert pytest.approx(given["J"], rel=1e-11) == found.J
    assert found.gap == pytest.approx(given["gap"], rel=1e-6)


def test_the_gap_of_all_admitted_is_that_of_two_quadratures():
    found = integrate(INSTANCES["A"], [60] * 1000)
    # By DOP853 and adaptive quadrature; the other is of a mesh of 1000 points.
    assert found.gap == pytest.approx(12.3662772699, abs=1e-9)
    assert found.gap == pytest.approx(12.3662716682, abs=1e-5)
    # The same Runge-Kutta method with 1000 steps has 9.5080134488, with 10000 this.
    assert pytest.approx(9.5080134388, abs=2e-10) == found.J


def test_random_controls_of_changing_loads_are_integrated_as_by_runge_and_kutta():
    draws = np.random.default_rng(3)
    for _ in range(5):
        w = draws.uniform(0, 80, 6) * (draws.random(6) > 0.3)
        problem = Problem(w=w, mu=50, a=2, R=lambda t: 0.2 + 0.1 * t, x0=draws.uniform(0, 9), t_f=1.2, N=300)
        u = draws.random(300) * problem.mesh.w
        assert pytest.approx(runge_kutta(problem, u), abs=1e-8) == integrate(problem, u).J


def test_arcs_that_a_mesh_cannot_follow_stay_exact():
    # One cell of a queue that empties, or rises far: J and the queue need no small steps.
    for w, x0, t_f in ((0, 1e4, 400), (1e5, 0, 10), (49.999, 3, 1e3), (50, 0, 1e3)):
        one = Problem(w=w, mu=50, a=1e-2, R=0.2, x0=x0, t_f=t_f, N=1)
        many = replace(one, N=500)
        coarse, fine = integrate(one, [w]), integrate(many, [w] * 500)
        assert pytest.approx(fine.J, rel=1e-11) == coarse.J
        assert coarse.x[-1] == pytest.approx(fine.x[-1], rel=1e-9)


@pytest.mark.parametrize("name", OPTIMUM)
@pytest.mark.parametrize("cells", EXCESS)
def test_hermite_simpson_is_at_the_optimum(name, cells):
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    for control in ("constant", "linear"):
        found = collocate(replace(INSTANCES[name], N=cells), control=control)
        assert found.converged, found.status
        assert abs(found.J - OPTIMUM[name]) < EXCESS[cells]
        run = assert_certified(found, OPTIMUM[name])
        assert run.J - OPTIMUM[name] < EXCESS[cells]


@pytest.mark.parametrize(("name", "excess"), [("A", 3.7e-5), ("L", 5.7e-6), ("P", 1.5e-4)])
def test_the_trapezoid_lies_above(name, excess):
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    found = collocate(INSTANCES[name], "trapezoid")
    assert found.converged
    assert found.J - OPTIMUM[name] == pytest.approx(excess, rel=0.05)
    assert_certified(found, OPTIMUM[name])


def test_a_solver_that_ends_early_has_not_converged():
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    found = collocate(replace(INSTANCES["A"], N=50), max_iterations=3)
    assert (found.converged, found.iterations) == (False, 3)
    assert found.status == "Maximum_Iterations_Exceeded"


def test_a_genetic_algorithm_stays_above_and_reports_its_gap():
    pytest.importorskip("pymoo", reason="the extra sojourn[optimal] is not installed")
    problem = replace(INSTANCES["P"], N=100)
    first, again, other = (evolve(problem, population=20, generations=50, seed=seed) for seed in (1, 1, 2))
    assert first.evaluations == 1000
    assert len(first.history) == 50
    assert (np.diff(first.history) <= 0).all()
    assert first.history[-1] == first.J
    run = assert_certified(first, OPTIMUM["P"])
    assert run.J - OPTIMUM["P"] > 1e-3
    assert pytest.approx(first.J, abs=1e-3) == run.J
    assert not first.converged
    assert np.array_equal(first.u, again.u)
    assert not np.array_equal(first.u, other.u)


@pytest.mark.parametrize(("package", "solve"), [("casadi", collocate), ("pymoo", evolve)])
def test_a_missing_extra_is_one_line(package, solve, monkeypatch):
    for name in [*sys.modules]:
        if name == package or name.startswith(f"{package}."):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(sj.MissingError) as error:
        solve(INSTANCES["A"])
    (line,) = error.value.lines
    assert line.endswith("is not installed; pip install sojourn[optimal]")


def test_a_mesh_has_the_changes_of_the_load_as_nodes():
    mesh = Problem(w=[(0, 60), (0.35, 10), (0.8, 0)], mu=50, a=1, R=[0.1, 0.2], N=10).mesh
    assert {0.35, 0.5, 0.8} <= set(mesh.t)
    assert len(mesh.w) == 10
    assert set(mesh.w) == {60, 10, 0}
    assert set(mesh.R) == {0.1, 0.2}
    np.testing.assert_allclose(INSTANCES["P"].mesh.t, np.linspace(0, 2, 1001), rtol=1e-15)


def test_one_load_in_four_forms_is_one_problem():
    steps = [(0, 60), (1, 0)]
    forms = [steps, [60, 0], np.repeat([60.0, 0.0], 50), lambda t: 60 if t < 1 else 0]
    problems = [Problem(w=form, mu=50, a=1, R=0.2, t_f=2, N=100) for form in forms]
    assert len({problem.w for problem in problems[:3]}) == 1
    for problem in problems[1:]:
        assert np.array_equal(problem.mesh.w, problems[0].mesh.w)


GIVEN = {"w": 60, "mu": 50, "a": 1, "R": 0.2}


def fails(_):
    raise ZeroDivisionError("nothing\nhere")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"w": -1}, "w: -1 is out of range; expected 0 to 1e+12"),
        ({"w": math.nan}, "w: nan is out of range; expected 0 to 1e+12"),
        ({"w": [60, -1]}, "w[1]: -1 is out of range; expected 0 to 1e+12"),
        ({"w": []}, "w: there are no values; expected one or more"),
        ({"w": [(0.5, 60)]}, "w[0]: begins at 0.5 s; expected the first piece at 0 s"),
        ({"w": [(0, 6), (1, 5)]}, "w[1]: begins at 1 s; expected later than 0 s, and before t_f = 1 s"),
        ({"w": [(0, 6, 5)]}, "w[0]: (0, 6, 5) is no piece; expected (time, value), such as (0, 60)"),
        ({"w": fails}, "w(0.0005): raises ZeroDivisionError: nothing here; expected a number"),
        ({"w": lambda t: -t}, "w(0.0005): -0.0005 is out of range; expected 0 to 1e+12"),
        ({"w": lambda _: None}, "w(0.0005): None is not a number; expected such as 0.1"),
        ({"t_f": 0}, "t_f: 0 is out of range; expected more than 0, at most 1e+12"),
        ({"R": 0}, "R: 0 is out of range; expected more than 0, at most 1e+12"),
        ({"mu": math.inf}, "mu: inf is out of range; expected more than 0, at most 1e+12"),
        ({"a": "x"}, "a: 'x' is not a number; expected such as 0.1"),
        ({"x0": -1}, "x0: -1 is out of range; expected 0 to 1e+12"),
        ({"N": 0}, "N: 0 is out of range; expected 1 to 100000 cells"),
        ({"N": 2, "w": [1, 2, 3]}, "N: 2 cells for 3 pieces of w and R; expected one a piece, or more"),
        (
            {"w": "60"},
            "w: '60' is no function of time; expected a number, a list of (time, value), an array of values, "
            "or a function of t",
        ),
    ],
)
def test_an_invalid_problem_is_one_line(change, line):
    with pytest.raises(sj.InputError) as error:
        Problem(**GIVEN | change)
    assert error.value.lines == (line,)


@pytest.mark.parametrize(
    ("control", "line"),
    [
        ([1, 2], "control: the shape is (2,); expected (3,) or (3, 2), one a cell"),
        ([1, 61, 2], "control[1]: 61 is out of range; expected 0 to w = 60 packets/s"),
        ([1, 2, math.nan], "control[2]: nan is out of range; expected 0 to w = 60 packets/s"),
        ("all", "control: 'all' is no array; expected one of numbers, packets/s"),
    ],
)
def test_an_invalid_control_is_one_line(control, line):
    with pytest.raises(sj.InputError) as error:
        integrate(Problem(**GIVEN, N=3), control)
    assert error.value.lines == (line,)
