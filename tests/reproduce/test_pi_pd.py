"""The PI-PD paper: its claims, its calculations beside the project's references, and grades of short runs."""

import ast
import itertools
import json
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from sojourn.reproduce import Grade, graded
from sojourn.reproduce.calculations import pi_pd
from sojourn.reproduce.paper import parse, read

#: 31 claims of the paper's tables and figures, and nine more of its text.
IDS = {f"pi_pd.{number:02}" for number in range(1, 41)}
REFERENCES = json.loads((Path(__file__).parents[1] / "reference/maths.json").read_text(encoding="utf-8"))

#: Keys of the file that name experiments beside the claims.
NOTHING_ELSE: dict[str, object] = {"today": {}, "figures": [], "tables": []}


def test_the_file_has_each_claim_once():
    claims = read("pi_pd").claims
    assert {claim.id for claim in claims} == IDS
    assert len(claims) == len(IDS)


def test_table_2_has_medians_of_f_and_differences_of_qacd_in_each_window():
    """Both run lengths, from 0 s and after the start."""
    tables = {table.item: [row.ours for row in table.rows] for table in read("pi_pd").tables}
    qacd = "qacd(anova.{}.{}.{})".format
    for law, window in itertools.product(
        ("pi_pd", "pid", "pi"), ("start50", "late50", "start100", "late100")
    ):
        assert f"median_f({law}.{window})" in tables["Table 2"]
        for load in ("medium", "heavy"):
            difference = f"{qacd(load, law, window)} - {qacd('light', law, window)}"
            assert difference in tables["Table 2, QACD"]


@pytest.mark.parametrize(("claim", "value"), [("pi_pd.10", "4.7159"), ("pi_pd.11", "426.3")])
def test_a_printed_f_is_held_against_the_prediction_interval_and_not_the_range(claim, value):
    (found,) = [one for one in read("pi_pd").claims if one.id == claim]
    law = found.about[0]
    assert found.test.text == f"low_f({law}) < {value} < high_f({law})"
    assert {ast.unparse(part.tree).split("(")[0] for part in found.test.quantities} == {"predicted"}


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("damping", "xi"),
        ("w_n", "wn"),
        ("kp1", "Kp1"),
        ("kd1", "Kd1"),
        ("kp", "Kp"),
        ("kd", "Kd"),
        ("ki", "Ki"),
    ],
)
def test_the_design_of_the_pid_is_the_reference(name, reference):
    expected = REFERENCES[f"ryu_pid.{reference}"]["value"]
    assert pi_pd.pid()[name] == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def grades(tmp_path_factory):
    """Grades of calculations, and of two loads for ten seconds."""
    chosen = {f"pi_pd.{number}" for number in ("01", "02", "03", "08", "18", "32", "33")}
    text = (resources.files("sojourn") / "papers/pi_pd.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    loads = content["experiments"]["loads"]
    loads["windows"] = {"from_start": "run", "after_start": "20 s..30 s"}
    loads |= {"laws": ["pi_pd", "pid"], "set": {"duration": "30 s"}}
    del loads["variants"]["medium"]
    claims = [claim for claim in content["claims"] if claim["id"] in chosen]
    paper = parse("pi_pd", content | {"experiments": {"loads": loads}, "claims": claims} | NOTHING_ELSE)
    found = graded(paper, tmp_path_factory.mktemp("pi_pd"), quick=True, jobs=1)
    return {of.claim.id: of.grade for of in found.claims}


@pytest.mark.parametrize(
    ("claim", "grade"),
    [
        ("01", Grade.REPRODUCED),
        ("02", Grade.REPRODUCED),
        ("03", Grade.CONTRADICTS_ITSELF),
        ("08", Grade.REPRODUCED),
        ("18", Grade.NOT),
        ("32", Grade.PARTLY),
        ("33", Grade.REPRODUCED),
    ],
)
def test_grades_of_short_runs(grades, claim, grade):
    assert grades[f"pi_pd.{claim}"] is grade
