"""The SQM paper: its file, and grades of its equations."""

import pytest

from sojourn.reproduce.calculations.sqm import CALCULATIONS
from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.paper import read
from sojourn.reproduce.runs import Samples

PAPER = read("sqm")
CLAIMS = {claim.id: claim for claim in PAPER.claims}


def test_each_published_claim_is_there():
    published = [f"sqm.{number:02}" for number in range(1, 12)]
    assert list(CLAIMS)[: len(published)] == published


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        *((f"sqm.0{number}", Grade.REPRODUCED) for number in (1, 2, 3, 4)),
        ("sqm.12", Grade.PARTLY),
        ("sqm.13", Grade.NOT),
    ],
)
def test_grades_of_calculations(claim, expected):
    assert grade(PAPER, CLAIMS[claim], Samples()).grade is expected


def test_the_equations_have_the_rates_and_queues_of_another_calculation():
    """sqm.fig3.dde of tests/reference/maths.json at 50 s: 120 and 80, and queues of 41.97 at both ends."""
    found = CALCULATIONS["figure3_margin"]()
    assert found["heavy"] == pytest.approx(120, rel=1e-6)
    assert found["light"] == pytest.approx(80, rel=1e-6)
    assert 41.97 <= found["queue"] < 45


def test_the_regret_is_within_its_bound():
    found = CALCULATIONS["regret"]()
    assert all(0 < found[f"of_bound_{periods}"] < 1e-3 for periods in (125, 500, 2000))
    assert found["after_2000"] < 2 * found["after_500"]
