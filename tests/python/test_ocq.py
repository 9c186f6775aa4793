"""Optimal control through the public functions: numbers from outside, and each method against the optimum."""

import json
import math
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import sojourn as sj
from sojourn.ocq import INSTANCES, PAPER, Problem, collocate, evolve, feedback, integrate, solve, table, words
from sojourn.ocq.comparison import named, of_one

OPTIMUM = {"P": 6.800169171935, "A": 6.661394457286, "L": 6.829792514041}


@pytest.mark.parametrize("name", "ABCDEFGHIJKL")
def test_the_exact_optimum_of_a_constant_load_is_the_reference(maths, name):
    problem = INSTANCES[name]
    ((_, w),), ((_, r),) = problem.w, problem.R
    maths(f"ocq.{name}.params", [w, problem.mu, problem.a, r, problem.x0, problem.t_f])
    found = solve(problem)
    run = found.run()
    maths(f"ocq.{name}.J", found.J)
    maths(f"ocq.{name}.J", run.J)
    maths(f"ocq.{name}.switch_times", found.switch_times)
    maths(f"ocq.{name}.controls", [piece.u for piece in found.pieces])
    maths(f"ocq.{name}.x_final", run.x[-1])
    if name == "H":
        assert (problem.x_s, problem.u_s) == (None, None)
        assert problem.notes == [
            "R = 0.015 s is at most a / mu = 0.02 s: there is no singular arc, an empty queue is best"
        ]
    else:
        assert problem.notes == []
        maths(f"ocq.{name}.xs", problem.x_s)
        maths(f"ocq.{name}.us", problem.u_s)
    assert found.gap < 1e-12
    assert found.converged


def test_along_the_optimum_of_a_the_hamiltonian_is_constant(maths):
    problem = INSTANCES["A"]
    run = solve(problem).run()
    x, costate = run.x[:-1], run.costate[:-1]
    hamiltonian = x + (2 / 9) * (60 - run.u) + costate * (run.u - 50 * x / (1 + x))
    assert np.ptp(hamiltonian) < 1e-12
    maths("ocq.A.H", hamiltonian[0])
    maths("ocq.A.lambda0", run.costate[0])
    maths("ocq.A.norm_Hu_at_optimum", sj.theorems.ocq(60, 50, 1, 2 / 9)["gradient_norm"])


def test_all_admitted_has_the_cost_and_gap_of_the_reference(maths):
    run = integrate(INSTANCES["A"], [60] * 1000)
    maths("ocq.A.J_of_u=w", run.J)
    maths("ocq.A.gap_of_u=w", run.gap)


def test_the_papers_own_instance_is_the_reference(maths, root):
    problem, found = INSTANCES["P"], solve(INSTANCES["P"])
    references = json.loads((root / "tests" / "reference" / "maths.json").read_text())
    assert Problem(**references["ocq.P.params"]["value"]) == problem
    run = found.run()
    for name, value in {"J": found.J, "xs": problem.x_s, "us": problem.u_s}.items():
        maths(f"ocq.P.{name}", value)
    # In 40 digits; those of the reference are right to 1.3e-8 and 4.7e-7: docs/deviations/fb_ocq.md.
    assert found.switch_times == pytest.approx([0.06234587310661082, 0.8597300488990018], abs=1e-14)
    assert max(run.x) == pytest.approx(5.103796100280632, abs=1e-13)
    assert found.switch_times == pytest.approx([0.062345873107, 0.859730061599], abs=2e-8)
    assert max(run.x) == pytest.approx(5.103795637262, abs=5e-7)
    assert [arc.kind for arc in found.arcs] == ["upper", "singular", "upper"]


def test_the_feedback_is_the_reference(maths):
    by_target = feedback(1250, 1, target=40, t_c=0.2)
    maths("ocq.aqm.params_R_us_eps(xs=40,a=1,mu=1250,tc=.2)", [by_target.R, by_target.u_s, by_target.eps])
    by_price = feedback(50, 1, R=2 / 9, eps=0.01)
    maths("ocq.law.sqrt(A,eps=.01) x=.5,1,2,3,6,10", by_price.input([0.5, 1, 2, 3, 6, 10]))
    assert by_price.input(by_price.x_s) == pytest.approx(by_price.u_s)


@pytest.mark.parametrize("name", OPTIMUM)
def test_algorithm_1_descends_within_3e_4_and_its_gap_bounds_each_error(maths, name):
    found = solve(INSTANCES[name], "sweep")
    assert found.iterations == 50
    assert (np.diff(found.history) < 0).all()
    # On the mesh: its own least cost bounds the iterates, to rounding.
    least = solve(INSTANCES[name], "fast", tolerance=1e-12)
    assert (found.gaps >= found.history - least.J - 1e-13).all()
    # And certified, for the problem itself.
    for iterations in (1, 2, 5, 10, 20, 35):
        early = solve(INSTANCES[name], "sweep", iterations=iterations).run()
        assert early.J - OPTIMUM[name] <= early.gap
    run = found.run()
    assert 0 < run.J - OPTIMUM[name] < 3e-4
    assert run.J - OPTIMUM[name] <= run.gap
    assert len(found.betas) == len(found.history) == 51
    assert len(found.switching) == len(found.costate) == len(run.t)
    if name == "A":
        maths("ocq.A.alg1_50its_excess", run.J - OPTIMUM["A"])


def test_algorithm_1_reaches_the_papers_cost_in_ten_iterations():
    assert solve(INSTANCES["P"], "sweep", iterations=10).run().J <= PAPER[0].J


STEPS = ("beta", "backtracking", "parametric", "spectral")


@pytest.mark.parametrize("step", STEPS[1:])
def test_every_step_descends_and_the_parametric_one_is_the_clip(step):
    problem = INSTANCES["P"]
    found = solve(problem, "sweep", step=step, iterations=30)
    clip = solve(problem, "sweep", iterations=30)
    assert found.run().J - OPTIMUM["P"] < 2e-3
    if step == "parametric":
        np.testing.assert_allclose(found.history, clip.history, atol=1e-12)
        assert np.array_equal(found.betas, clip.betas)


@pytest.mark.parametrize("name", OPTIMUM)
def test_the_interior_point_certifies_a_millionth(name):
    found = solve(INSTANCES[name], "fast")
    run = found.run()
    assert found.converged
    assert 0 < run.J - OPTIMUM[name] < 1e-6 * run.J
    assert run.J - OPTIMUM[name] <= run.gap < 1e-6 * run.J


def test_the_interior_point_converges_on_cells_as_long_as_a_mesh_may_have() -> None:
    problem = Problem(w=150, mu=50, a=1, R=0.016, t_f=38, N=1000)
    found, optimum = solve(problem, "fast"), solve(problem).J
    assert found.converged
    # The page: the certified gap is that of the cells.
    assert found.run().J / optimum - 1 == pytest.approx(1.9e-4, rel=0.05)
    assert found.gap / optimum == pytest.approx(2.2e-4, rel=0.05)


def test_the_gap_on_a_coarse_mesh_is_not_the_certified_one():
    """A step of 2 a / mu has the error of a coarse method; what is certified is the exact trajectory."""
    for name, cells in (("A", 25), ("P", 50)):
        found = solve(replace(INSTANCES[name], N=cells), "fast")
        assert found.converged
        assert found.gaps[-1] < 1e-5
        assert found.gap > 1e-3
        assert 0 <= found.run().J - OPTIMUM[name] <= found.gap
        assert "gap on the mesh" in found.status
        assert found.plot.gap().get_ylabel() == "gap on the mesh, packets s"


def test_a_tolerance_below_rounding_ends_with_the_best_iterate():
    for name, optimum in OPTIMUM.items():
        found = solve(INSTANCES[name], "fast", tolerance=1e-300)
        assert not found.converged
        assert 0 < found.run().J - optimum < found.gap < 2e-3
        assert np.isfinite(found.gaps).all()
        assert found.gaps.min() < 1e-11
        json.loads(of_one(found.problem, found).rows[0].to_json(), parse_constant=pytest.fail)


def test_the_spectral_step_returns_its_best_control():
    found = solve(INSTANCES["P"], "sweep", step="spectral", iterations=11)
    assert found.J == found.history.min() < found.history[-1]


def test_units_of_time_change_no_method():
    """P in microseconds and with the rates of 400 Gbit/s."""
    fast = Problem(w=60e6, mu=50e6, a=1, R=2e-7, t_f=2e-6)
    best = solve(fast).J
    for method in ("fast", "sweep"):
        usual = replace(fast, w=60, mu=50, R=0.2, t_f=2)
        found, other = solve(fast, method), solve(usual, method)
        assert found.converged == other.converged
        excess = found.run().J / best - 1
        assert excess == pytest.approx(other.run().J / solve(usual).J - 1, rel=1e-3, abs=1e-12)
        assert excess < 1e-4
    assert solve(INSTANCES["P"], "sweep", iterations=1).betas[0] == 1e-3
    assert solve(INSTANCES["A"], "sweep", iterations=1).betas[0] == 1e-3


def test_r_of_a_by_mu_to_rounding_has_no_singular_arc():
    """Problem, solver, note and feedback agree, where the formula for x_s leaves 5e-14 of rounding."""
    price = 0.02 * (1 + 1e-13)
    problem = Problem(w=60, mu=50, a=1, R=price)
    assert (problem.x_s, problem.u_s) == (None, None)
    assert problem.notes == [
        "R = 0.02 s is at most a / mu = 0.02 s: there is no singular arc, an empty queue is best"
    ]
    kinds = [[arc.kind for arc in solve(replace(problem, R=one)).arcs] for one in (price, 0.02)]
    assert kinds[0] == kinds[1]
    with pytest.raises(sj.InputError, match=r"R: 0\.02 is out of range; expected more than a / mu = 0\.02 s"):
        feedback(50, R=price, eps=0.01)
    tiny = feedback(50, target=1e-13, eps=0.01)
    assert tiny.input(1) == pytest.approx(feedback(50, target=1e-9, eps=0.01).input(1))


@pytest.mark.parametrize(
    "call",
    [
        "sweep, {'iterations': 999999, 'tolerance': 1e-300}",
        "fast, {'iterations': 999999, 'tolerance': 1e-300}",
    ],
)
def test_an_interrupt_ends_a_long_computation(call, tmp_path):
    method, _, options = call.partition(", ")
    script = tmp_path / "long.py"
    script.write_text(
        "import sojourn as sj\n"
        "load = lambda t: 40 + 20 * (t % 0.3 < 0.1)\n"
        "problem = sj.ocq.Problem(w=load, mu=50, a=1, R=0.2, t_f=200, N=50000)\n"
        "print('begins', flush=True)\n"
        f"sj.ocq.solve(problem, {method!r}, **{options})\n"
    )
    running = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"begins\n"
    time.sleep(0.5)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=20)
    assert b"KeyboardInterrupt" in errors


def drawn(draws, steps):
    """A problem with so many pieces of w, among them 0 and below u_s."""
    mu, a = math.exp(draws.uniform(1, 6)), math.exp(draws.uniform(-2, 2))
    price = a / mu * math.exp(draws.uniform(-0.5, 3))
    t_f = (price + a / mu) * math.exp(draws.uniform(0, 2.5))
    u_s = max(mu - math.sqrt(a * mu / price), 0.1 * mu)
    kinds = draws.random(steps)
    w = u_s * np.where(
        kinds < 0.2, 0, np.where(kinds < 0.45, draws.random(steps), 1 + 2 * draws.random(steps))
    )
    starts = np.append(0, np.sort(draws.choice(np.arange(1, 20), steps - 1, replace=False))) * t_f / 20
    x0 = a * max(math.exp(draws.uniform(-2, 4)) - 0.5, 0)
    schedule = list(zip(starts.tolist(), w.tolist(), strict=True))
    return Problem(w=schedule, mu=mu, a=a, R=price, x0=x0, t_f=t_f, N=60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["constant", "pieces"])
def test_no_control_of_ipopt_is_cheaper(kind):
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    draws, compared = np.random.default_rng(5), 0
    for index in range(200 if kind == "constant" else 50):
        problem = drawn(draws, 1 if kind == "constant" else 2 + index % 5)
        exact = solve(problem)
        scale = max(exact.J, 1e-300)
        assert exact.gap <= 1e-8 * scale
        assert pytest.approx(exact.J, rel=1e-11, abs=1e-300) == exact.run().J
        peer = collocate(problem, control="constant", max_iterations=200)
        run = peer.run()
        assert run.J + 1e-11 * scale >= exact.J, problem
        assert run.gap + 1e-9 * scale >= run.J - exact.J
        compared += peer.converged and 0.02 * scale > run.J - exact.J
    assert compared > 0.9 * (index + 1)


def test_no_random_control_is_cheaper():
    draws = np.random.default_rng(6)
    for steps in (2, 4, 6):
        problem = drawn(draws, steps)
        best = solve(problem).J
        for _ in range(20):
            shares = np.clip(1.5 * draws.random(problem.N) - 0.25, 0, 1)
            run = integrate(problem, shares * problem.mesh.w)
            assert best <= run.J * (1 + 1e-12)
            assert run.J - best <= run.gap


def test_loads_costs_and_bounds_in_any_form_have_one_optimum():
    given = {"mu": 50, "a": 1, "t_f": 2, "N": 400}
    loads = [[(0, 60), (1, 0)], [60, 0], np.repeat([60.0, 0.0], 200), lambda t: 60 if t < 1 else 0]
    costs = [solve(Problem(w=load, R=0.2, **given)).J for load in loads]
    assert costs == pytest.approx([OPTIMUM["P"]] * 4, abs=1e-11)
    # A cost that falls, bounds above and below: three methods agree, each within its gap.
    varied = Problem(w=70, R=lambda t: 0.25 - 0.05 * t, u_min=5, u_max=[(0, 65), (1.5, 40)], x0=1, **given)
    fast, sweep = solve(varied, "fast"), solve(varied, "sweep", step="spectral", iterations=300)
    assert (fast.u >= 5).all()
    assert (fast.u <= np.where(varied.mesh.t[:-1] < 1.5, 65, 40)).all()
    assert abs(fast.run().J - sweep.run().J) < min(fast.gap, sweep.gap)
    assert abs(fast.J - fast.run().J) < 1e-6
    # A cost in two steps, and a mesh of unequal cells.
    steps = Problem(w=[(0, 60), (0.37, 80)], R=[(0, 0.2), (0.61, 0.3)], **given)
    assert np.ptp(steps.mesh.h) > 0
    assert (
        pytest.approx(solve(replace(steps, N=1600), "fast").run().J, rel=1e-4) == solve(steps, "fast").run().J
    )


def test_collocation_and_the_genetic_algorithm_keep_the_bounds():
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    pytest.importorskip("pymoo", reason="the extra sojourn[optimal] is not installed")
    problem = Problem(w=60, mu=50, a=1, R=2 / 9, u_min=10, u_max=50, N=60)
    best = solve(problem, "fast")
    for found in (solve(problem, "collocation"), solve(problem, "ga", iterations=40)):
        assert found.u.min() >= 10
        assert found.u.max() <= 50
        assert best.run().J - best.gap <= found.run().J
        assert found.gap >= found.run().J - best.run().J


GIVEN = {"w": 60, "mu": 50, "a": 1, "R": 0.2}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"method": "newton"},
            "method: 'newton' is unknown; expected switching, sweep, fast, collocation, ga",
        ),
        ({"beta": 1}, "beta: has no use in method switching; expected sweep"),
        ({"method": "fast", "step": "beta"}, "step: has no use in method fast; expected sweep"),
        ({"method": "fast", "tolerance": 0}, "tolerance: 0 is out of range; expected more than 0"),
        ({"method": "fast", "tolerance": math.nan}, "tolerance: nan is out of range; expected more than 0"),
        ({"method": "sweep", "rho": 1}, "rho: 1 is out of range; expected more than 0, less than 1"),
        (
            {"method": "sweep", "step": "x"},
            "step: 'x' is unknown; expected beta, backtracking, parametric, spectral",
        ),
        (
            {"method": "sweep", "start": [1, 2]},
            "start: the shape is (2,); expected (1000,) or (1000, 2), one a cell",
        ),
        (
            {"method": "sweep", "iterations": 0},
            "iterations: 0 is out of range; expected 1 to 1000000",
        ),
    ],
)
def test_an_invalid_option_is_one_line(options, line):
    with pytest.raises(sj.InputError) as error:
        solve(Problem(**GIVEN), **options)
    assert error.value.lines == (line,)


def test_what_the_exact_method_cannot_do_is_one_line():
    for change, line in [
        ({"R": [0.2, 0.3]}, "method: switching needs a constant R, and R varies; expected fast or sweep"),
        ({"u_max": 50}, "method: switching needs the bounds 0 and w; expected fast or sweep"),
        ({"u_min": 5}, "method: switching needs the bounds 0 and w; expected fast or sweep"),
    ]:
        with pytest.raises(sj.InputError) as error:
            solve(Problem(**GIVEN | change))
        assert error.value.lines == (line,)
    with pytest.raises(sj.InputError, match="N: 10 cells are too few; expected 25 or more in method fast"):
        solve(Problem(**GIVEN, N=10), "fast")
    assert solve(Problem(**GIVEN, N=25), "fast").converged
    with pytest.raises(sj.InputError, match=r"u_min\(0.0005\): 70 is out of range; expected 0 to 60"):
        Problem(**GIVEN, u_min=70)
    with pytest.raises(sj.InputError, match="t_c: 2 is out of range; expected less than R"):
        feedback(50, R=0.2, t_c=2)
    with pytest.raises(sj.InputError, match=r"R: 0\.01 is out of range; expected more than a / mu = 0\.02 s"):
        feedback(50, R=0.01, eps=1)
    with pytest.raises(sj.InputError, match="R, target: neither is given"):
        feedback(50, eps=1)


def test_the_table_has_all_methods_beside_the_papers_numbers():
    found = table(["P", "A"], ["switching", "sweep", "fast"], cells=400)
    assert [row.name for row in found.of("A")] == [
        "switching times",
        "Algorithm 1",
        "Algorithm 1, spectral",
        "interior point",
    ]
    assert all(-1e-12 < row.excess <= row.solution.gap + 1e-12 for row in found.rows)
    document = json.loads(found.to_json())
    assert [round(100 * (one["J"] / OPTIMUM["P"] - 1), 1) for one in document["paper"]] == [0.2, 1.0, 3.9]
    assert {row["instance"] for row in document["rows"]} == {"P", "A"}


def test_the_paper_is_above_the_optimum_by_0_19_1_0_and_3_9_percent():
    optimum = solve(INSTANCES["P"]).J
    shares = [100 * (one.J / optimum - 1) for one in PAPER]
    assert [round(shares[0], 2), round(shares[1], 1), round(shares[2], 1)] == [0.19, 1.0, 3.9]


def quoted(root):
    """Rows of the page's table: J as text, excess and gap."""
    page = (root / "docs" / "theory" / "ocq.md").read_text()
    rows = page.partition("## How far each method")[2].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    return {name: (cost, excess, gap) for name, cost, excess, gap in cells[1:]}


def test_the_page_quotes_what_the_methods_reach(root):
    rows = quoted(root)
    ours = {"interior point": 0, "Algorithm 1, 50": 1, "Algorithm 1, spectral": 2}
    runs = [solve(INSTANCES["P"], "fast"), solve(INSTANCES["P"], "sweep")]
    runs.append(solve(INSTANCES["P"], "sweep", step="spectral", iterations=400))
    for begin, place in ours.items():
        (name,) = (name for name in rows if name.startswith(begin))
        cost, excess, gap = rows[name]
        run = runs[place].run()
        assert f"{run.J:.{len(cost) - 2}f}" == cost
        assert run.J - OPTIMUM["P"] == pytest.approx(float(excess), rel=0.1)
        assert run.gap == pytest.approx(float(gap), rel=0.1)
        assert f"{runs[place].iterations} iterations" in name
    for printed in PAPER:
        assert any(float(cost) == printed.J for cost, _, _ in rows.values())


def test_the_page_quotes_what_collocation_reaches(root):
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    rows = quoted(root)
    for name, scheme in (("Hermite-Simpson, IPOPT", "hermite_simpson"), ("trapezoid, IPOPT", "trapezoid")):
        run = collocate(INSTANCES["P"], scheme).run()
        # IPOPT's last iterate differs from version to version.
        assert run.J - OPTIMUM["P"] == pytest.approx(float(rows[name][1]), rel=0.5)
        assert run.gap == pytest.approx(float(rows[name][2]), rel=0.5)


def test_a_solution_is_named_by_its_method_and_step():
    names = [named(solve(INSTANCES["A"], "sweep", step=step, iterations=1)) for step in STEPS]
    assert names == ["Algorithm 1", *(f"Algorithm 1, {step}" for step in STEPS[1:])]
    pytest.importorskip("casadi", reason="the extra sojourn[optimal] is not installed")
    trapezoid = collocate(replace(INSTANCES["A"], N=50), "trapezoid")
    assert of_one(INSTANCES["A"], trapezoid).rows[0].name == "trapezoid, IPOPT"


def test_only_a_method_with_a_test_of_convergence_can_fail_it() -> None:
    problem = INSTANCES["P"]
    cut = solve(problem, "fast", iterations=3)
    assert words.verdict(of_one(problem, cut).rows[0]).endswith(
        "with 3 iterations, where its test of convergence did not hold."
    )
    # As of a genetic algorithm, which needs the extra.
    evolved = replace(cut, method="genetic")
    assert words.verdict(of_one(problem, evolved).rows[0]).endswith(
        "with 3 iterations; it has no test of convergence."
    )


def test_the_sentence_of_a_problem_names_both_bounds():
    given = {"w": 60, "mu": 50, "a": 1, "R": 0.2}
    assert words.about("", Problem(**given)).startswith("w = 60 packets/s, mu =")
    both = words.about("", Problem(**given, u_min=5, u_max=[(0, 50), (0.5, 40)]))
    expected = "w = 60 packets/s, of which 5 packets/s at least and 50 packets/s, 40 from 0.5 s at most, mu ="
    assert both.startswith(expected)
    assert "5 packets/s at least, mu" in words.about("", Problem(**given, u_min=5))


def test_a_missing_extra_is_one_line_of_the_table(monkeypatch):
    import sys

    for name in [*sys.modules]:
        if name.partition(".")[0] in ("casadi", "pymoo"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "casadi", None)
    monkeypatch.setitem(sys.modules, "pymoo", None)
    found = table(["A"], ["switching", "collocation", "ga"])
    assert [row.name for row in found.rows] == ["switching times"]
    assert found.skipped == (
        "collocation: CasADi is not installed; pip install sojourn[optimal]",
        "ga: pymoo is not installed; pip install sojourn[optimal]",
    )


def test_the_page_is_one_offline_file(tmp_path):
    page = table(["P"], ["switching", "sweep"], cells=200).report(tmp_path / "ocq.html").read_text()
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "src=" not in page
    for title in ("Trajectories", "Adjoint", "Switching function", "Beta history", "Gap on the mesh"):
        assert f"<h3>{title}</h3>" in page
    assert "FB-OCQ (paper)" in page
    assert "6.8128032" in page


def test_a_load_that_raises_is_refused_also_without_assertions() -> None:
    script = (
        "import sojourn as sj\n"
        "try:\n    sj.ocq.Problem(w=lambda t: 1 / 0, mu=50, a=1, R=0.2)\n"
        "except sj.InputError as error:\n    print(*error.lines)\n"
    )
    done = subprocess.run([sys.executable, "-O", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("w(0.0005): raises ZeroDivisionError")


def test_the_core_refuses_an_unknown_step() -> None:
    options = {"step": "newton", "iterations": 1, "tolerance": 1e-6, "beta": None, "rho": 0.5}
    with pytest.raises(ValueError, match="step: newton is unknown"):
        sj._core.ocq_sweep([50, 1, 0], [[0.01, 60, 0.2, 0, 60]], [60], options)


def test_a_mapping_is_a_schedule_and_a_set_is_none() -> None:
    problem = sj.ocq.Problem(w={0: 60, 1: 0}, mu=50, a=1, R=0.2, t_f=2)  # type: ignore[arg-type]
    assert problem.w == ((0.0, 60.0), (1.0, 0.0))
    with pytest.raises(sj.InputError, match="is no function of time"):
        sj.ocq.Problem(w={60, 0}, mu=50, a=1, R=0.2, t_f=2)  # type: ignore[arg-type]


def test_an_optimum_without_a_certificate_is_not_called_one() -> None:
    """At R = a / mu an empty queue is the best; an a of 1e-300 is beyond the digits."""
    best = sj.ocq.solve(sj.ocq.Problem(w=60, mu=50, a=1, R=0.02, t_f=1))
    assert best.converged
    assert abs(best.J - 1.184357604) < 1e-8
    lost = sj.ocq.solve(sj.ocq.Problem(w=60, mu=50, a=1e-300, R=0.2, t_f=1))
    # At x_s = 3e-150 the costate has no digit that is right, and the gap says so.
    assert not lost.converged
    assert lost.gap == pytest.approx(16)
    assert lost.status.startswith("not certified, with a gap of 1.6e+01 packets s")
    for queued in (1, 10):
        beyond = sj.ocq.solve(sj.ocq.Problem(w=60, mu=50, a=1e-300, R=0.2, x0=queued))
        assert math.isinf(beyond.J)
        assert not beyond.converged
        assert beyond.status.startswith("not certified, its cost is beyond the digits: lower until")


def test_a_function_is_noted_as_sampled_and_a_load_of_minus_0_is_0() -> None:
    problem = Problem(w=lambda t: 60 + t, mu=50, a=1, R=lambda _: 0.2, x0=-0.0, N=100)
    assert problem.notes == ["w, R: taken at the middle of each cell, and constant in it (N = 100)"]
    assert math.copysign(1, problem.x0) == 1


def test_a_stiff_queue_is_certified_in_little_memory() -> None:
    """At a mu h = 50e3 an arc spans thousands of folds of its exponentials."""
    import tracemalloc

    problem = Problem(w=60, mu=50, a=1e-6, R=0.2)
    control = np.where(np.arange(1000) % 2, 60.0, 0.0)
    tracemalloc.start()
    run = integrate(problem, control)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert run.gap >= run.J - solve(problem).J > 0
    assert most < 100e6


def test_a_solution_is_short_in_print_and_equal_to_itself_alone() -> None:
    found = solve(INSTANCES["P"], "fast")
    assert len(repr(found)) < 500
    assert found == found  # noqa: PLR0124
    assert found != solve(INSTANCES["P"], "fast")
    assert table(["P"], ["fast"], watch=None) != table(["P"], ["fast"])


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: integrate(60, [1]), "problem: 60 is not a problem; expected sojourn.ocq.Problem"),  # type: ignore[arg-type]
        (
            lambda: feedback(50, R=2 / 9, eps=0.01).input("x"),
            "x: 'x' is no array; expected one of numbers, packets",
        ),
        (
            lambda: feedback(50, R=2 / 9, eps=0.01).input([1, math.nan]),
            "x: a backlog of nan; expected packets, 0 to 1e+12",
        ),
        (
            lambda: feedback(50, R=2 / 9, eps=0.01).input(math.inf),
            "x: a backlog of inf; expected packets, 0 to 1e+12",
        ),
        (
            lambda: feedback(50, R=2 / 9, eps=0.01).input(-1),
            "x: a backlog of -1; expected packets, 0 to 1e+12",
        ),
        (
            lambda: evolve(Problem(w=60, mu=50, a=1e-6, R=0.2)),
            "N: 1000 cells need 50000 steps each, so that h mu / a is at most 1 in method ga; expected "
            "at most 100000 in all, or method switching",
        ),
        (lambda: feedback(50, eps=0.01), "R, target: neither is given; expected one of them"),
        (
            lambda: feedback(50, R=1, target=2, eps=0.01),
            "R, target: both are given; expected one of them",
        ),
        (
            lambda: table(["P"], ["fast"], watch=3),
            "watch: 3 is no function; expected one, such as print",
        ),
        (
            lambda: solve(Problem(w=60, mu=50, a=1e-30, R=0.2), "fast"),
            "N: 1000 cells are too few; method fast, where h mu / a is at most 2, needs 2.5e+31, above "
            "100000; expected switching, or a shorter t_f",
        ),
        (
            lambda: table(["P"], "fast"),
            "methods: 'fast' is no list; expected a list of switching, sweep, fast, collocation, ga",
        ),
        (
            lambda: table(["P"], ["fast", "fast"]),
            "methods: 'fast' is given twice; expected a list of switching, sweep, fast, collocation, ga, "
            "each once",
        ),
        (
            lambda: table(["P"], ["fast"], generations=4),
            "generations: has no use without method ga; expected ga among the methods",
        ),
        (
            lambda: solve(Problem(w=60, mu=50, a=1e-6, R=0.2), "fast"),
            "N: 1000 cells are too few; method fast, where h mu / a is at most 2, needs 25000000, above "
            "100000; expected switching, or a shorter t_f",
        ),
    ],
)
def test_an_invalid_argument_is_one_line(call, line) -> None:
    with pytest.raises(sj.InputError) as error:
        call()
    assert error.value.lines == (line,) or list(error.value.lines) == [line]
