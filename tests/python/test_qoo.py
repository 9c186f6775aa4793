"""Quality of Outcome: the draft's example, and scores of runs worked by hand."""

from __future__ import annotations

import math
import re

import pytest

import sojourn as sj
from sojourn.errors import InputError
from sojourn.report import users
from sojourn.result import qoo
from sojourn.result.experience import outcomes
from sojourn.result.qoo import Conditions, Score
from sojourn.result.requirements import Requirements, Thresholds, requirement_sets

#: draft-ietf-ippm-qoo, "Example".
EXAMPLE = Requirements(
    name="example",
    title="example",
    direction="two-way",
    latency={99: Thresholds(0.2, 0.5), 99.9: Thresholds(0.3, 0.6)},
    loss=Thresholds(0.01, 0.05),
    throughput_bps=4e6,
    source="draft-ietf-ippm-qoo",
)
MEASURED = Conditions({99: 0.35, 99.9: 0.375}, loss=0.02, throughput_bps=28e6)

FILE = """
[meeting]
title      = "meeting"
app        = {app}
direction  = "{direction}"
throughput = "{throughput}"
latency    = [{{ percentile = {percentile}, optimal = "10 ms", unacceptable = "{unacceptable}" }}{more}]
loss       = {{ optimal = 0, unacceptable = {loss} }}
source     = "a test"
"""
DEFAULTS = {
    "app": '"voip"',
    "direction": "one-way",
    "throughput": "0 bit/s",
    "percentile": "95",
    "unacceptable": "210 ms",
    "loss": "0.5",
    "more": "",
}


@pytest.fixture(scope="module")
def evening():
    """A call, a game and pages beside a download and an upload."""
    scenario = sj.load("home/evening", {"duration": "14 s", "warmup": "4 s"})
    return sj.run(scenario, ["tail_drop", "fq_codel"])


def sets(folder, **values):
    file = folder / "sets.toml"
    file.write_text(FILE.format(**(DEFAULTS | values)), encoding="utf-8")
    return file


# ---- The formulas ----------------------------------------------------------------------------------


def test_the_example_of_the_draft():
    assert qoo.score(EXAMPLE, MEASURED) == Score(latency=50, loss=75, throughput=100)
    assert qoo.score(EXAMPLE, MEASURED).qoo == 50


def test_scores_are_clamped_and_throughput_is_a_threshold():
    bad = Conditions({99: 0.6, 99.9: 0.31}, loss=0.06, throughput_bps=4e6 - 1)
    assert qoo.score(EXAMPLE, bad) == Score(latency=0, loss=0, throughput=0)
    good = Conditions({99: 0.1, 99.9: 0.3}, loss=0.01, throughput_bps=4e6)
    assert qoo.score(EXAMPLE, good) == Score(latency=100, loss=100, throughput=100)


def test_the_worst_percentile_counts():
    """By hand: 1 - (0.57 - 0.3) / 0.3 = 0.1 at 99.9 %, where 99 % has 1."""
    found = qoo.score(EXAMPLE, Conditions({99: 0.2, 99.9: 0.57}, loss=0, throughput_bps=4e6))
    assert found.latency == pytest.approx(10)


def test_one_criterion_failed_is_enough_for_zero():
    """The draft's second scenario: what is not measured cannot mend it."""
    lost = qoo.score(EXAMPLE, Conditions({}, loss=1.0, throughput_bps=28e6))
    assert (lost, lost.qoo) == (Score(latency=None, loss=0, throughput=100), 0)
    late = qoo.score(EXAMPLE, Conditions({99: 0.5}, loss=None, throughput_bps=28e6))
    assert (late, late.qoo) == (Score(latency=0, loss=None, throughput=100), 0)
    unknown = qoo.score(EXAMPLE, Conditions({99: 0.2}, loss=0.0, throughput_bps=28e6))
    assert (unknown, unknown.qoo) == (Score(latency=None, loss=100, throughput=100), None)


# ---- The sets that ship ----------------------------------------------------------------------------


def test_each_set_that_ships_has_its_source():
    shipped = requirement_sets()
    assert {name: one.app for name, one in shipped.items()} == {"call": "voip", "game": "game", "web": "web"}
    assert all("Chosen:" in one.source and len(one.source) > 80 for one in shipped.values())
    assert shipped["call"].direction == "one-way"
    assert shipped["game"].latency == {99: Thresholds(0.04, 0.08)}


# ---- Runs ------------------------------------------------------------------------------------------


def test_an_idle_path_scores_by_hand(tmp_path):
    """110 ms one way, none lost: 1 - (110 - 10) / (210 - 10) = 0.5, within half of a bucket of 1/64."""
    keys = {
        "title": "idle",
        "duration": "20 s",
        "warmup": "1 s",
        "bottleneck": {"rate": "1 Gbit/s", "delay": "110 ms", "buffer": "100 packets", "qdisc": "tail_drop"},
        "flows": [{"app": "voip", "access": {"rate": "1 Gbit/s", "delay": "0 s"}}],
    }
    result = sj.run(sj.Scenario.from_dict(keys))
    (line,) = result.qoo(file=sets(tmp_path)).rows(named=True)
    assert line["latency"] == pytest.approx(50, abs=100 * 0.110 / 128 / 0.2)
    assert (line["loss"], line["throughput"], line["qoo"]) == (100, 100, line["latency"])
    # The shipped call: 100 ms are optimal and 350 ms unacceptable.
    (row,) = result.rows()
    assert row.metrics["qoo"] == pytest.approx(100 * (1 - 10 / 250), abs=100 * 0.110 / 128 / 0.25)
    (line,) = result.qoo(file=sets(tmp_path, throughput="1 Mbit/s")).rows(named=True)
    assert (line["throughput"], line["qoo"]) == (0, 0), "a call carries less than 1 Mbit/s"


def test_scores_follow_from_the_metrics_of_the_class(evening):
    for line in evening.qoo().rows(named=True):
        rows = [
            row
            for row in evening.runs
            if (row.qdisc, row.traffic_class) == (line["qdisc"], line["class"]) and row.metrics["goodput_bps"]
        ]
        first = rows[0].metrics
        if line["class"] == "call":
            at = (350 - 1000 * first["one_way_p99_s"]) / 250
            lost = first["datagram_loss_ratio"] / 0.03
        elif line["class"] == "game":
            at = (80 - 1000 * first["rtt_p99_s"]) / 40
            lost = (1 - math.prod(1 - row.metrics["drop_ratio"] for row in rows)) / 0.05
        else:
            at = (200 - 1000 * first["rtt_p95_s"]) / 140
            lost = (1 - math.prod(1 - row.metrics["drop_ratio"] for row in rows) - 0.01) / 0.04
        by_hand = 100 * max(0, min(1, at, 1 - lost))
        assert line["qoo"] == pytest.approx(by_hand, abs=1e-6), line
        assert all(row.metrics["qoo"] == line["qoo"] for row in rows)


def test_a_call_that_loses_everything_scores_zero():
    """Nothing that arrives has a delay; the losses alone are beyond the point of unacceptable performance."""
    keys = {
        "title": "lost",
        "duration": "10 s",
        "warmup": "1 s",
        "bottleneck": {
            "rate": "1 Gbit/s",
            "delay": "10 ms",
            "buffer": "100 packets",
            "qdisc": "tail_drop",
            "impairments": {"loss": 1.0},
        },
        "flows": [{"app": "voip", "access": {"rate": "1 Gbit/s", "delay": "0 s"}}],
    }
    result = sj.run(sj.Scenario.from_dict(keys))
    (row,) = result.rows()
    assert (row.metrics["datagram_loss_ratio"], row.metrics["one_way_p99_s"]) == (1.0, None)
    assert row.metrics["qoo"] == 0
    (line,) = result.qoo().rows(named=True)
    assert (line["latency"], line["loss"], line["throughput"], line["qoo"]) == (None, 0, 100, 0)


def test_the_throughput_is_that_of_the_link_whatever_queues_it_has(evening, tmp_path):
    """Rows of the queues of fq_codel are of all classes as well, and their goodput is null."""
    assert any(row.queue is not None for row in evening.runs)
    found = evening.qoo(file=sets(tmp_path, throughput="1 Mbit/s"))
    first = evening.rows(traffic_class="call")[0].link
    assert all(row.metrics["goodput_bps"] > 1e6 for row in evening.rows(first))
    assert dict(found.select("qdisc", "throughput").rows()) == {"tail_drop": 100, "fq_codel": 100}


def test_classes_without_requirements_have_none(evening):
    rows = [row for row in evening.runs if row.traffic_class in (None, "download", "upload")]
    assert rows
    assert all(row.metrics["qoo"] is None for row in rows)
    assert set(evening.qoo()["class"]) == {"call", "game", "web"}


def test_requirements_of_a_class_may_be_named(evening, tmp_path):
    found = evening.qoo({"upload": "web"})
    assert (set(found["class"]), set(found["requirements"])) == ({"upload"}, {"web"})
    file = sets(tmp_path, app='"game"', direction="two-way", percentile="100")
    assert set(evening.qoo(file=file)["class"]) == {"game"}


def test_the_page_and_the_tables_have_the_scores(evening):
    assert [one.title for one in outcomes(evening)] == ["call: QoO", "game: QoO", "web: QoO"]
    assert "web: QoO" in users.section(evening)


# ---- Errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"direction": "up"}, 'meeting.direction: expected "one-way" or "two-way"'),
        ({"percentile": "90"}, "percentile 90 is not measured; expected 50, 95, 99, 99.9"),
        ({"unacceptable": "10 ms"}, "expected 0 or more as optimal, and more as unacceptable"),
        ({"unacceptable": "late"}, "late"),
        ({"throughput": "4 packets/s"}, 'expected a rate such as "4 Mbit/s"'),
        ({"percentile": '"95"'}, "meeting.latency: percentile '95' is not measured; expected 50, 95"),
        ({"percentile": "true"}, "meeting.latency: percentile True is not measured"),
        (
            {"more": ', { percentile = "99", optimal = "1 ms", unacceptable = "2 ms" }'},
            "percentile '99' is not",
        ),
        (
            {"more": ', { percentile = 95.0, optimal = "1 ms", unacceptable = "2 ms" }'},
            "meeting.latency: percentile 95 is there twice",
        ),
        ({"more": ", 4"}, "meeting.latency: no table; expected optimal, percentile, unacceptable"),
        ({"app": '["voip"]'}, "meeting.app: ['voip'] is not text"),
        ({"app": '"voip"\nname = "x"'}, "meeting: unknown key name; expected app, direction"),
        ({"loss": '"much"'}, "meeting.loss.unacceptable: 'much' is no share from 0 to 1"),
        ({"loss": "5"}, "meeting.loss.unacceptable: 5 is no share"),
        ({"loss": "true"}, "meeting.loss.unacceptable: True is no share"),
    ],
)
def test_errors_name_file_and_key(tmp_path, values, message):
    with pytest.raises(InputError, match=re.escape(message)):
        requirement_sets(sets(tmp_path, **values))


def test_a_loss_may_be_a_percentage(tmp_path):
    assert requirement_sets(sets(tmp_path, loss='"5 %"'))["meeting"].loss == Thresholds(0, 0.05)


def test_a_missing_key_and_an_app_of_two_sets_are_refused(tmp_path):
    file = sets(tmp_path)
    one = file.read_text(encoding="utf-8")
    file.write_text(one.replace("source     = ", "# "), encoding="utf-8")
    with pytest.raises(InputError, match="meeting: source is missing; expected app"):
        requirement_sets(file)
    file.write_text(one + one.replace("[meeting]", "[other]"), encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.app: meeting is that of voip; expected one set for an app"):
        requirement_sets(file)


def test_unknown_classes_sets_and_files_are_refused(evening, tmp_path):
    with pytest.raises(InputError, match='"phone" is no class'):
        evening.qoo({"phone": "call"})
    with pytest.raises(InputError, match='"film" is no requirement set; expected call or game or web'):
        evening.qoo({"call": "film"})
    with pytest.raises(InputError, match=r"none\.toml"):
        evening.qoo(file=tmp_path / "none.toml")
