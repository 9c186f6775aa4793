"""The SQM paper: its file, and grades of its equations."""

import shlex
import subprocess
import sys

import pytest

from sojourn.reproduce.calculations.sqm import CALCULATIONS
from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.paper import read
from sojourn.reproduce.predicate import Truth
from sojourn.reproduce.runs import Samples, command

PAPER = read("sqm")
CLAIMS = {claim.id: claim for claim in PAPER.claims}


def test_each_published_claim_is_there():
    published = [f"sqm.{number:02}" for number in range(1, 12)]
    assert list(CLAIMS)[: len(published)] == published


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        *((f"sqm.0{number}", Grade.REPRODUCED) for number in (1, 3, 4)),
        ("sqm.02", Grade.DEPENDS),
        ("sqm.12", Grade.NOT),
    ],
)
def test_grades_of_calculations(claim, expected):
    assert grade(PAPER, CLAIMS[claim], Samples()).grade is expected


def test_the_equations_have_the_rates_and_queues_of_another_calculation():
    """sqm.fig3.dde of tests/reference/maths.json at 50 s: 120 and 80, and queues of 41.97 at both ends."""
    found = CALCULATIONS["figure3.margin"]()
    assert found["heavy"] == pytest.approx(120, rel=1e-6)
    assert found["light"] == pytest.approx(80, rel=1e-6)
    assert 41.97 <= found["queue"] < 45


@pytest.mark.parametrize(("claim", "law"), [("sqm.05", "sqm"), ("sqm.08", "sfq_codel")])
def test_a_claim_that_codel_and_pie_fail_has_a_law_that_does_not(claim, law):
    """In whose place controls stand: that tail drop fails, too, is no outcome of CoDel and PIE."""
    assert law in CLAIMS[claim].about
    assert not {"codel", "pie"}.intersection(CLAIMS[claim].about)


def test_each_rule_for_sigma_is_a_case_with_its_own_calculation():
    cases = grade(PAPER, CLAIMS["sqm.02"], Samples()).cases
    assert {case.open.variant: case.truth for case in cases} == {
        "theorem": Truth.FALSE,
        "per_flow": Truth.TRUE,
        "margin": Truth.TRUE,
    }
    code = "from sojourn.reproduce.calculations import sqm as of; "
    own = command(PAPER, CLAIMS["sqm.02"], quick=False).splitlines()
    assert own == [
        f"python3 -c '{code}print(of.CALCULATIONS[\"figure3.{case.open.variant}\"]())'" for case in cases
    ]
    _, _, margin = (shlex.split(line)[2] for line in own)
    done = subprocess.run([sys.executable, "-c", margin], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("{'heavy': ")


def test_sqm_is_steady_beside_each_law_of_the_figure():
    named = {name.removeprefix("scenario1.") for name in CLAIMS["sqm.07"].test.names}
    for metric in ("queue_std_packets", "queue_p99_packets"):
        assert {f"{law}.{metric}" for law in ("codel", "pie", "sfq_codel", "sqm")} <= named


def test_figure_5_is_over_time_in_three_choices_of_round_trips():
    figure = next(one for one in PAPER.figures if one.item == "Fig. 5, over time")
    assert figure.kind == "series"
    assert set(figure.at) == {"spread", "equal", "near"}
    assert {metric.split(".")[0] for metric in figure.metrics} == {"newreno", "cubic2", "cubic3"}


def test_the_regret_is_within_its_bound():
    found = CALCULATIONS["regret"]()
    assert all(0 < found[f"of_bound_{periods}"] < 1e-3 for periods in (125, 500, 2000))
    assert found["after_2000"] < 2 * found["after_500"]
