"""The claims of the ARM-PFC paper: its file, its calculations, and grades that a few short runs settle."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn.reproduce.calculations import arm_pfc as calculated
from sojourn.reproduce.calculations import value
from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.paper import read
from sojourn.reproduce.runs import Samples, carry_out

PAPER = read("arm_pfc")
REFERENCES = json.loads((Path(__file__).parents[1] / "reference" / "maths.json").read_text())
CLAIMS = {claim.id.removeprefix("arm_pfc."): claim for claim in PAPER.claims}


def test_every_claim_is_there_once_in_order():
    assert sorted(claim.id for claim in PAPER.claims) == [f"arm_pfc.{number:02}" for number in range(1, 56)]


def test_the_settings_that_decide_are_there():
    assert [one.name for one in PAPER.laws["arm_pfc"]] == ["h7", "h12", "paper", "default"]
    assert [one.name for one in PAPER.laws["pi"]] == ["printed", "hollot", "nominal", "rule", "bytes"]
    assert any("thresholds=auto" in one.qdisc for one in PAPER.laws["red"])
    assert any(one.changes for one in PAPER.laws["rem"])


def test_the_design_is_that_of_the_reference():
    of = calculated.model(calculated.NOMINAL, calculated.DELAY)
    found = {
        **dict(zip(("n1", "n2", "m1", "m2"), (*of.n, *of.m), strict=True)),
        "g": of.effect(calculated.POINT - calculated.DELAY),
        "gamma": value("arm_pfc", "design", "gamma"),
        "T_R": value("arm_pfc", "design", "time_constant_rtts") * calculated.NOMINAL.rtt,
    }
    for name, number in found.items():
        assert number == pytest.approx(REFERENCES[f"armpfc.{name}"]["value"], rel=1e-9), name


def test_the_gains_of_pi_are_those_of_the_setting():
    gains = {key: value("arm_pfc", "pi_rule", key) for key in "ab"}
    qdisc = next(one.qdisc for one in PAPER.laws["pi"] if one.name == "nominal")
    for key, gain in gains.items():
        assert f",{key}={gain * 1e3:.5f}e-3" in qdisc
    # In bytes the printed gains are three fifths of the rule's.
    assert value("arm_pfc", "pi_rule", "a_over_printed_in_bytes") == pytest.approx(1.669, abs=0.001)
    # Hollot et al. print 1.822e-5.
    assert value("arm_pfc", "pi_rule", "a_of_example") == pytest.approx(1.822e-5, rel=0.02)


def test_operations_are_counted():
    counts = {
        name: value("arm_pfc", "operations.plain", name) for name in ("arm_pfc", "gpc", "gpc_folded", "pi")
    }
    # 4 + 8 products and their sums; then 2 products and 2 sums.
    assert counts == {"arm_pfc": 7 + 15 + 4, "gpc": 7 * 9 + 1 + 7 * 3 + 13 + 1, "gpc_folded": 20, "pi": 4}


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("40", Grade.CONTRADICTS_ITSELF),
        ("41", Grade.DEPENDS),
        ("46", Grade.NOT),
        ("47", Grade.PARTLY),
        ("49", Grade.REPRODUCED),
        ("52", Grade.REPRODUCED),
    ],
)
def test_grades_of_calculations(number, expected):
    assert grade(PAPER, CLAIMS[number], Samples()).grade is expected


def test_grades_of_short_runs(tmp_path):
    """Experiment 4 for 20 s: PI with the printed gains is as full as tail drop."""
    short = replace(PAPER.experiments["exp4"], changes={"duration": "20 s"})
    paper = replace(PAPER, experiments={"exp4": short}, claims=(CLAIMS["20"], CLAIMS["21"]), figures=())
    samples = carry_out(paper, tmp_path, 1, quick=True)
    in_packets = replace(CLAIMS["20"], settings={"pi": ("printed", "hollot", "nominal", "rule")})
    assert grade(PAPER, in_packets, samples).grade is Grade.UNINFORMATIVE
    # Beside the printed gains in bytes h = 12 is better, and PI by its rule is not.
    found = grade(PAPER, CLAIMS["20"], samples)
    assert found.grade is Grade.DEPENDS
    assert "of these 9 also true with PI by its rule in 8" in found.evidence
    printed = {"pi": ("printed",), "arm_pfc": ("h12",)}
    found = grade(PAPER, replace(CLAIMS["20"], settings=printed, about="arm_pfc"), samples)
    # With gains by the rule PI does as well in the place of ARM-PFC.
    assert found.grade is Grade.UNINFORMATIVE
    assert list(found.stand_ins) == ["PI by its rule"]
    assert grade(PAPER, replace(CLAIMS["21"], settings=printed), samples).grade is Grade.NOT
    # Tail drop, which marks nothing, is no control of marks.
    fewer = grade(PAPER, replace(CLAIMS["21"], settings={"pi": ("rule",), "arm_pfc": ("default",)}), samples)
    assert "tail drop" not in fewer.stand_ins
