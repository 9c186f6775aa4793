"""Future work of the papers: each has a finding with a predicate, and runs only without `--quick`."""

import itertools
import json
import re

import pytest

from sojourn.errors import InputError
from sojourn.reproduce import Reproduction
from sojourn.reproduce.findings import findings
from sojourn.reproduce.page import page
from sojourn.reproduce.paper import names, parse, read, split
from sojourn.reproduce.runs import Samples, carry_out

EVERY = [
    pytest.param(paper, one, id=f"{name}: {one.item}")
    for name in names()
    for paper in [read(name)]
    for one in (*paper.tables, *paper.figures)
    if one.finding is not None
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: Numbers of equations.
EQUATION = re.compile(r"\(\d+\)")


@pytest.mark.parametrize("name", names())
def test_each_paper_has_a_finding_of_its_future_work(name):
    paper = read(name)
    assert any(one.finding is not None for one in itertools.chain(paper.figures, paper.tables))


@pytest.mark.parametrize(("paper", "one"), EVERY)
def test_a_finding_is_a_sentence_with_a_predicate_over_runs_or_calculations(paper, one):
    assert one.finding.text.endswith(".")
    assert len(one.finding.text) > 60
    samples = [split(name, paper.name, paper.experiments) for name in one.finding.test.names]
    assert samples
    assert all(name.of in paper.experiments for name in samples if name.law is not None)


@pytest.mark.parametrize("one", [of.values[1] for of in EVERY], ids=[of.id for of in EVERY])
def test_each_number_of_a_finding_is_in_its_predicate(one):
    """As it is, in another unit, or as a condition: in a name, in the title, on the axis or of a row."""
    test = numbers(one.finding.test.text)
    known = {round(value, 9) for c in test for value in (c, 1000 * c, 100 * c, 100 * (1 - c))}
    known |= numbers(
        " ".join([one.title, *getattr(one, "at", ()), *(row.of for row in getattr(one, "rows", ()))])
    )
    assert numbers(EQUATION.sub("", one.finding.text)) <= known


def test_findings_of_calculations_hold():
    for name in names():
        paper = read(name)
        own = [of for of in findings(paper, Samples()) if of.outcome.value != "not run"]
        assert all(of.outcome.value == "holds" for of in own)
        assert {of.item for of in own} == ({"Memory of a queue"} if name == "fb_ocq" else set())


def numbers(text):
    return {float(number) for number in NUMBER.findall(text)}


@pytest.mark.parametrize("name", names())
def test_future_work_costs_nothing_with_few_seeds(name):
    paper = read(name)
    figures = [one for one in paper.figures if one.finding is not None]
    experiments = {experiment for one in figures for experiment in one.at.values()}
    assert all(paper.experiments[one].quick_seeds == 0 for one in experiments)


def test_margins_of_pi_pd_grow_with_the_period_and_fall_with_the_gain():
    from sojourn.reproduce.calculations import value

    margins = [value("pi_pd", "pi_pd_margins", name) for name in ("ms12", "ms25", "ms50", "ms100", "ms200")]
    assert margins == sorted(margins)
    assert value("pi_pd", "pi_pd_margins", "half") > margins[2] > value("pi_pd", "pi_pd_margins", "double")


NEAR = "e.own.near.queue_mean_packets"
HOLDS = "e.own.near.queue_mean_packets < e.own.far.queue_mean_packets"
EXPERIMENT = {
    "scenario": "arm_pfc/exp1",
    "laws": ["own", "plain"],
    "set": {"duration": "4 s", "warmup": "1 s"},
    "windows": {"late": "3 s..4 s"},
    "controls": {"tail_drop": "tail_drop", "pi_rule": "pi:target=20packets"},
    "seeds": 3,
    "quick_seeds": 0,
}
FIGURE = {
    "item": "Targets",
    "title": "Queues.",
    "kind": "laws",
    "of": "e",
    "laws": ["own.near", "own.far"],
    "metrics": ["queue_mean_packets"],
    "finding": "The nearer target has the shorter queue.",
    "test": HOLDS,
}


def made_up(figure=FIGURE, **experiment):
    return parse(
        "made_up",
        {
            "title": "T",
            "reference": "R",
            "laws": {
                "own": {
                    "near": {"qdisc": "pi:target=20packets", "origin": "printed"},
                    "far": {"qdisc": "pi:target=60packets", "origin": "ours"},
                },
                "plain": {"only": {"qdisc": "tail_drop", "origin": "none"}},
            },
            "experiments": {"e": EXPERIMENT | experiment},
            "claims": [],
            "figures": [figure],
        },
    )


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return carry_out(made_up(), tmp_path_factory.mktemp("stores"), 1)


@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        (HOLDS, "holds"),
        (HOLDS.replace("<", ">"), "does not hold"),
        ("near(e.own.near.queue_mean_packets, MEAN, 0.001)", "undecided"),
    ],
)
def test_the_page_has_the_outcome_with_the_predicate_and_its_values(samples, test, outcome):
    (mean,) = (found.lookup(NEAR).mean() for found in findings(made_up(), samples))
    paper = made_up(FIGURE | {"test": test.replace("MEAN", f"{mean:.3f}")})
    of = Reproduction(paper, [], samples, quick=False)
    (judged,) = findings(paper, samples)
    assert judged.outcome.value == outcome
    text = page(of)
    assert f"<summary>{outcome.capitalize()} in these runs.</summary>" in text
    assert re.search(rf"<code>{NEAR}</code> [\d.]+ packets \([\d.]+ to [\d.]+, n = 3\)", text)
    (found,) = json.loads(of.to_json())["findings"]
    assert found["outcome"] == outcome
    assert found["item"] == "Targets"
    assert found["paper"] == "made_up"
    near = next(of for of in found["ours"] if of["quantity"] == NEAR)
    assert near["quantity"] == NEAR
    assert near["low"] < near["mean"] < near["high"]
    assert near["n"] == 3


def test_a_name_has_the_setting_that_it_names(samples):
    paper = made_up()
    (judged,) = findings(paper, samples)
    near, far = (judged.lookup(f"e.own.{name}.queue_mean_packets").mean() for name in ("near", "far"))
    assert near < 40 < far


def test_with_few_seeds_it_is_not_run():
    of = Reproduction(made_up(), [], Samples(quick=True), quick=True)
    text = page(of)
    assert "<summary>Not run in --quick.</summary>" in text
    assert json.loads(of.to_json())["findings"][0]["outcome"] == "not run"


def test_runs_keep_the_windows_that_only_a_finding_names(tmp_path):
    paper = made_up(FIGURE | {"test": "e.plain.late.queue_p75_packets < 1000"}, seeds=2)
    (judged,) = findings(paper, carry_out(paper, tmp_path, 1))
    assert judged.outcome.value == "holds"


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ({"finding": "It is so."}, "Targets: expected a finding and its test, or neither"),
        ({"test": HOLDS}, "Targets: expected a finding and its test, or neither"),
        ({"finding": "It is so.", "test": "e.own.near"}, 'Targets.test: "e.own.near" has no place'),
        ({"finding": "It is so.", "test": "f.own.near.drop_ratio > 0"}, "is no sample"),
        (
            {"finding": "It is so.", "test": "e.own.drop_ratio > 0"},
            '"e.own.drop_ratio" has no setting of the law; expected own.near, own.far',
        ),
    ],
)
def test_faults_of_a_finding_are_one_line(figure, words):
    plain = {key: of for key, of in FIGURE.items() if key not in ("finding", "test")}
    with pytest.raises(InputError, match=re.escape(words)) as found:
        made_up(plain | figure)
    assert len(found.value.lines) == 1


def test_a_law_of_one_setting_needs_none_named():
    assert made_up(FIGURE | {"test": "e.plain.drop_ratio > 0"}).figures[0].finding


def test_a_window_has_another_name_than_the_settings():
    with pytest.raises(InputError, match=r'experiments\.e: "near" is a setting of own, too'):
        made_up(windows={"near": "3 s..4 s"})
