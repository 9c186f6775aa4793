"""`sojourn ocq` as a user types it."""

import json

import pytest

import sojourn as sj
from sojourn.cli import main


def test_solve_prints_the_optimum_of_the_papers_instance(sojourn):
    done = sojourn("ocq", "solve", "--instance", "P")
    assert (done.returncode, done.stderr) == (0, "")
    words = " ".join(done.stdout.split())
    assert "J = 6.800169171935 packets s, the least cost" in words
    assert "u = w until 0.0623459 s, u = u_s at x_s until 0.85973 s, u = w until 2 s." in words


@pytest.mark.parametrize("method", ["switching", "fast", "sweep"])
def test_json_has_cost_gap_course_and_trajectories_on_request(sojourn, method):
    problem = ["--w", "60@0,0@1", "--mu", "50", "--a", "1", "--R", "0.2", "--tf", "2"]
    done = sojourn("ocq", "solve", *problem, "--method", method, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert abs(found["J"] - 6.800169171935) < 3e-4
    assert found["excess"] <= found["gap"] + 1e-12
    for key in ("converged", "iterations", "wall_s", "switch_times", "x_s", "u_s", "J_optimum"):
        assert key in found
    assert "trajectory" not in found
    more = json.loads(sojourn("ocq", "solve", *problem, "--method", method, "--json", "--trajectory").stdout)
    assert set(more["trajectory"]) == {"t", "x", "u", "costate", "switching"}
    assert len(more["trajectory"]["x"]) == len(more["trajectory"]["u"]) + 1
    assert len(more["course"]["betas"]) == (51 if method == "sweep" else 0)


def test_units_and_an_instance_with_other_numbers(sojourn):
    bits = sojourn(
        "ocq", "solve", "--w", "0.48Mbit/s", "--mu", "400 kbit/s", "--a", "1packet", "--R", "200 ms", "--json"
    )
    packets = sojourn("ocq", "solve", "--instance", "A", "--R", "0.2", "--json")
    first, other = json.loads(bits.stdout), json.loads(packets.stdout)
    assert first["J"] == pytest.approx(other["J"], rel=1e-12)
    assert first["J"] == pytest.approx(6.295314552691, rel=1e-10)


def test_a_small_r_is_reported_and_solved(sojourn):
    done = sojourn("ocq", "solve", "--instance", "H")
    assert done.returncode == 0
    assert done.stderr == (
        "note: R = 0.015 s is at most a / mu = 0.02 s: there is no singular arc, an empty queue is best\n"
    )
    assert "J = 1.041678701194 packets s" in done.stdout


def test_table_has_the_papers_numbers_a_page_and_a_document(sojourn, tmp_path):
    done = sojourn("ocq", "table", "--method", "switching,fast,sweep", "--out", str(tmp_path / "redone"))
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert "FB-OCQ by 0.19 %, collocation by 1.0 %, the genetic algorithm by 3.9 %." in words
    assert "Each control's excess over the least cost is within its certified gap." in words
    assert done.stdout.rstrip().endswith("ocq.html")
    page = (tmp_path / "redone" / "ocq.html").read_text()
    assert page.count("<h3>Beta history</h3>") == 3
    document = json.loads((tmp_path / "redone" / "ocq.json").read_text())
    assert [(row["instance"], row["name"]) for row in document["rows"]][:2] == [
        ("P", "switching times"),
        ("P", "interior point"),
    ]
    assert document["paper"][0]["name"] == "FB-OCQ (paper)"
    assert document["rows"][0]["trajectory"]["t"][-1] == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["foo"], 'ACTION: "foo" is not an action; expected solve or table'),
        (["solve"], "--w: is missing; expected --w, --mu, --a and --R, or --instance P"),
        (["solve", "--w", "60"], "--mu: is missing; expected --w, --mu, --a and --R, or --instance P"),
        (["solve", "--instance", "A", "--w", "-1"], "--w: -1 is out of range; expected 0 to 1e+12"),
        (["solve", "--instance", "A", "--w", "nan"], "--w: nan is out of range; expected 0 to 1e+12"),
        (
            ["solve", "--instance", "A", "--w", "60@0,5@2"],
            "--w[1]: begins at 2 s; expected later than 0 s, and before t_f = 1 s",
        ),
        (
            ["solve", "--instance", "A", "--w", "x"],
            '--w: "x" is not a number; expected such as 60, or a schedule 60@0,0@1',
        ),
        (
            ["solve", "--instance", "A", "--tf", "0"],
            "--tf: 0 is out of range; expected more than 0, at most 1e+12",
        ),
        (
            ["solve", "--instance", "A", "--R", "0.2@0,0.3@0.5"],
            "--method: switching needs a constant R, and R varies; expected fast or sweep",
        ),
        (["solve", "--instance", "A,L"], '--instance: "A,L" is a list; expected one name, as of solve'),
        (
            ["solve", "--instance", "Z"],
            '--instance: "Z" is unknown; expected P, A, B, C, D, E, F, G, H, I, J, K, L',
        ),
        (
            ["solve", "--instance", "A", "--method", "x"],
            '--method: "x" is unknown; expected switching, sweep, fast, collocation, ga',
        ),
        (
            ["solve", "--instance", "A", "--iterations", "5"],
            "--iterations: has no use in method switching; expected sweep, fast, collocation, ga",
        ),
        (
            ["solve", "--instance", "A", "--iterations", "0"],
            '--iterations: "0" is not a number of iterations; expected 1 to 1000000',
        ),
        (
            ["solve", "--instance", "A", "--method", "fast", "--iterations", "1000001"],
            '--iterations: "1000001" is not a number of iterations; expected 1 to 1000000',
        ),
        (
            ["solve", "--instance", "A", "--method", "fast", "--cells", "10"],
            "--cells: 10 cells are too few; expected 25 or more in method fast, where h mu / a is at most 2",
        ),
        (["table", "--instance", "P,P"], '--instance: "P" is given twice; expected each name once'),
        (
            ["table", "--method", "switching", "--iterations", "4"],
            "--iterations: has no use without method ga; expected ga among --method",
        ),
        (
            ["solve", "--instance", "P", "--trajectory"],
            "--trajectory: belongs to --json; expected both (--out always writes them)",
        ),
        (
            ["solve", "--instance", "P", "--cells", "1000000000"],
            "--cells: 1000000000 is out of range; expected 1 to 100000 cells",
        ),
        (["table", "--mu", "5"], "--mu: has no use in a table; expected --instance, or ocq solve"),
        (
            ["solve", "--instance", "A", "-o", "page"],
            "page: has no ending of a page; expected a file such as page.html",
        ),
    ],
)
def test_a_wrong_input_is_one_line_and_exit_code_2(sojourn, arguments, line):
    done = sojourn("ocq", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].removeprefix("sojourn ocq: ") == line


def test_a_shorter_horizon_keeps_the_load_before_its_end(sojourn):
    found = json.loads(sojourn("ocq", "solve", "--instance", "P", "--tf", "1", "--json").stdout)
    assert found["problem"]["w"] == [[0, 60]]
    assert found["J"] == pytest.approx(6.295314552691, rel=1e-10)


def test_an_interrupted_table_keeps_its_rows(monkeypatch, capsys, tmp_path):
    from sojourn.ocq import comparison

    def interrupted(problem, method="switching", **options):
        if method == "fast":
            raise KeyboardInterrupt
        return sj.ocq.solve(problem, method, **options)

    monkeypatch.setattr(comparison, "solve", interrupted)
    table = ["ocq", "table", "--instance", "A", "--method", "switching,fast"]
    assert main(table) == 130
    printed = capsys.readouterr()
    assert "switching times  6.661394457" in printed.out
    assert printed.err == "sojourn ocq: interrupted; 1 of its rows are there: printed\n"
    assert main([*table, "--out", str(tmp_path)]) == 130
    document = json.loads((tmp_path / "ocq.json").read_text())
    assert (len(document["rows"]), document["interrupted"]) == (1, True)


def test_a_missing_extra_has_exit_code_3_and_skips_rows(sojourn, tmp_path):
    for package in ("casadi", "pymoo"):
        (tmp_path / f"{package}.py").write_text("raise ImportError('blocked')\n")
    without = {"PYTHONPATH": str(tmp_path)}
    done = sojourn("ocq", "solve", "--instance", "A", "--method", "ga", env=without)
    assert done.returncode == 3
    assert done.stderr.endswith("pymoo is not installed; pip install sojourn[optimal]\n")
    done = sojourn("ocq", "table", "--instance", "A", "--method", "switching,collocation,ga", env=without)
    assert done.returncode == 0
    assert "skipped: collocation: CasADi is not installed; pip install sojourn[optimal]\n" in done.stdout
    assert "skipped: ga: pymoo is not installed; pip install sojourn[optimal]\n" in done.stdout
    done = sojourn("ocq", "table", "--instance", "A", "--method", "ga", env=without)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("pymoo is not installed; pip install sojourn[optimal]\n")
