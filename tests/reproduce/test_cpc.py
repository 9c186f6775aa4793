"""The CPC paper: its file, and grades that few runs decide."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from sojourn.reproduce.calculations.cpc import _QDISCS, CALCULATIONS, CURVES, _certificate
from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.paper import read, split
from sojourn.reproduce.runs import Samples, carry_out

PAPER = read("cpc")
CLAIMS = {claim.id: claim for claim in PAPER.claims}


def test_each_published_claim_is_there():
    published = [f"cpc.{number:02}" for number in range(1, 19)]
    assert list(CLAIMS)[: len(published)] == published


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        *((f"cpc.0{number}", Grade.REPRODUCED) for number in (1, 3, 4)),
        ("cpc.02", Grade.DEPENDS),
        ("cpc.05", Grade.NOT),
        ("cpc.06", Grade.NOT_RUN),
        ("cpc.19", Grade.CONTRADICTS_ITSELF),
    ],
)
def test_grades_of_calculations(claim, expected):
    assert grade(PAPER, CLAIMS[claim], Samples()).grade is expected


@pytest.mark.parametrize(
    ("claim", "largest"),
    [("cpc.11", "reno"), ("cpc.12", "reno"), ("cpc.16", "cubic"), ("cpc.18", "freebsd")],
)
def test_claims_about_boxes_are_about_each_buffer(claim, largest):
    buffers = {largest, *(f"{largest}_buffers.{name}" for name in ("b17", "b50", "b133"))}
    of = {"tail_drop", "red_any", "cpc"}
    named = {(parts.of, parts.law) for parts in map(parted, CLAIMS[claim].test.names)}
    assert named == set(itertools.product(buffers, of))


@pytest.mark.parametrize("claim", ["cpc.11", "cpc.12", "cpc.16", "cpc.18"])
def test_claims_about_boxes_are_of_two_widths(claim):
    assert CLAIMS[claim].windows == ("each", "each_ten")
    assert PAPER.experiments["reno"].windows["each_ten"] == "every 10 s"


def test_a_rival_has_thresholds_about_cpcs_reference_at_all_buffers():
    """80 ms at 2 Mbit/s are 13.3 packets of 1500 B; the smallest buffer has 17."""
    for law in ("red", "red_any"):
        about = next(one.qdisc for one in PAPER.laws[law] if one.name == "about")
        low, high = (int(of) for of in re.findall(r"=(\d+)packets", about))
        assert (low + high) / 2 == pytest.approx(13.3, abs=0.4)
    assert high < 17


def test_only_statements_of_the_paper_contradict_it():
    contradicting = [one.id for one in PAPER.claims if one.contradiction is not None]
    assert contradicting == ["cpc.19"]


def test_a_pid_of_the_highest_crossover_has_sixty_degrees_with_all_of_its_lead():
    """Left out of the design, the delay is what the crossover of CPC's own design is below or above."""
    fastest, undelayed = (CALCULATIONS[f"tuned.{name}"]() for name in ("fastest", "fastest_undelayed"))
    own = CALCULATIONS["manual"]()["crossover"]
    assert CALCULATIONS["tuned.sixty_degrees"]()["crossover"] < fastest["crossover"] < own
    assert own < undelayed["crossover"]


def test_higher_goodput_under_freebsd_is_at_each_buffer():
    goodput = {parts.of for parts in map(parted, CLAIMS["cpc.18"].test.names) if parts.window == "whole"}
    assert len(goodput) == 4


def parted(name):
    return split(name, PAPER.name, PAPER.experiments)


def test_the_designs_have_the_known_margins():
    """Against tests/reference/maths.json, cpc.hollot: 38.36 and 60.55 degrees, 1.851 and 0.999 rad/s."""
    manual, aware = CALCULATIONS["manual"](), CALCULATIONS["delay_aware"]()
    assert manual["phase_margin"] == pytest.approx(38.36, abs=0.01)
    assert manual["crossover"] == pytest.approx(1.851, abs=0.001)
    assert aware["phase_margin"] == pytest.approx(60.55, abs=0.01)
    assert aware["crossover"] == pytest.approx(0.999, abs=0.001)


@pytest.mark.parametrize(("name", "of"), [("CPC", "manual"), ("CPC, autotuned", "autotune"), ("RED", "red")])
def test_the_curves_of_fig_2b_have_the_margins_of_the_certificates(name, of):
    """Each by its own equations."""
    expected = CALCULATIONS[of]()
    frequency, magnitude = CURVES["magnitudes"]()[name]
    crossover = np.exp(np.interp(0, -np.log(magnitude), np.log(frequency)))
    assert crossover == pytest.approx(expected["crossover"], rel=0.005)
    phase = np.interp(np.log(crossover), np.log(frequency), CURVES["phases"]()[name][1])
    assert 180 + phase == pytest.approx(expected["phase_margin"], abs=0.3)
    real, imaginary = CURVES["poles"]()[name]
    assert real.max() == expected["rightmost_pole"]
    assert sorted(imaginary) == sorted(-imaginary)


def test_red_is_at_the_operating_point_of_cpc():
    """46 ms at 3750 packets/s."""
    assert _certificate(_QDISCS["red"]).equilibrium["backlog_packets"] == pytest.approx(172.5, abs=0.2)


def test_the_step_overshoots_by_what_the_delay_costs():
    """34.9 % by another calculation; RED creeps."""
    found = CALCULATIONS["step"]()
    assert found["cpc_overshoot"] == pytest.approx(0.349, abs=0.002)
    assert found["red_overshoot"] < 0.01
    assert 30 * found["cpc_rise"] < found["red_rise"]


def test_grades_of_runs(tmp_path):
    both = {name: PAPER.experiments[name] for name in ("reno", "cubic")}
    paper = replace(PAPER, experiments=both, claims=(CLAIMS["cpc.14"], CLAIMS["cpc.20"]), figures=())
    samples = carry_out(paper, tmp_path, 1, quick=True)
    found = {one.id: grade(paper, one, samples).grade for one in paper.claims}
    assert found == {"cpc.14": Grade.UNDECIDED, "cpc.20": Grade.UNINFORMATIVE}
