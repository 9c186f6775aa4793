"""Grades of claims over made-up samples: one claim for each grade."""

import json
from dataclasses import replace

import polars as pl
import pytest
from permuting import surviving

from sojourn.cli.reproducing import _table
from sojourn.errors import InputError
from sojourn.reproduce import Reproduction
from sojourn.reproduce.grades import Grade, grade
from sojourn.reproduce.page import over_all, page
from sojourn.reproduce.paper import names, parse, read
from sojourn.reproduce.runs import Samples

LAWS = {
    "own": {
        "small": {"qdisc": "own_small", "origin": "printed"},
        "large": {"qdisc": "own_large", "origin": "ours"},
    },
    "other": {"only": {"qdisc": "other", "origin": "printed"}},
    "pi": {"rule": {"qdisc": "pi", "origin": "its rule"}},
    "uneven": {
        "good": {"qdisc": "own_small", "origin": "printed"},
        "bad": {"qdisc": "huge", "origin": "printed"},
    },
    "rival": {
        "near": {"qdisc": "other", "origin": "printed"},
        "far": {"qdisc": "tail_drop", "origin": "printed"},
    },
    # The law of the paper, which is named as the paper is.
    "made_up": {"only": {"qdisc": "own_large", "origin": "printed"}},
    "drops": {
        "only": {"qdisc": "own_small", "set": {"flows[0].ecn": False}, "origin": "without ECN"},
    },
}
WITHOUT_ECN = "with flows[0].ecn=false"
#: Windows of the file; the queue in each of a second is the time of its start.
WINDOWS = {"early": "0 s..10 s", "late": "10 s..20 s", "seconds": "every 1000 ms in 18 s..20 s"}
EXPERIMENT = {
    "scenario": "dumbbell",
    "laws": list(LAWS),
    "controls": {"tail_drop": "tail_drop", "pi_rule": "pi"},
}
#: Mean queue and utilisation of each qdisc.
VALUES = {
    "own_small": (20.0, 0.95),
    "own_large": (40.0, 0.95),
    "other": (80.0, 0.99),
    "tail_drop": (200.0, 0.95),
    "pi": (90.0, 0.90),
    "huge": (300.0, 0.90),
    f"own_small {WITHOUT_ECN}": (15.0, 0.90),
    f"tail_drop {WITHOUT_ECN}": (35.0, 0.90),
    f"pi {WITHOUT_ECN}": (120.0, 0.90),
}


SMALL = {"settings": {"own": ["small"]}}


def graded(test, *, quick=False, **keys):
    paper, samples = made_up(test, quick=quick, **keys)
    return grade(paper, paper.claims[0], samples)


def given(claims):
    """The file of a paper with these claims."""
    return {
        "title": "T",
        "reference": "R",
        "laws": LAWS,
        "experiments": {
            "e": EXPERIMENT | {"windows": WINDOWS},
            "two": EXPERIMENT | {"laws": ["uneven", "rival"]},
            "full": EXPERIMENT | {"quick_seeds": 0},
            "v": EXPERIMENT | {"variants": {"near": {}, "far": {}}},
        },
        "claims": claims,
    }


def made_up(test, *, quick=False, failed=(), **keys):
    """A paper of one claim, and samples without the cells that failed: qdisc and seed of each."""
    claim = {"id": "one", "item": "Fig. 1", "claim": "C.", "says": "?", "about": "own", **keys}
    if test is not None:
        claim["test"] = test
    paper = parse("made_up", given([claim]))
    rows = [
        {
            "qdisc": qdisc,
            "seed": seed,
            "link": "bottleneck",
            "class": None,
            "queue": None,
            "queue_mean_packets": queue + 0.1 * (seed % 3),
            "utilization": utilization,
            "mark_ratio": 0.0 if qdisc.startswith("tail_drop") else 0.001 * queue,
        }
        for qdisc, (queue, utilization) in VALUES.items()
        for seed in range(1, 3 if quick else 11)
        if (qdisc, seed) not in failed
    ]
    samples = Samples(quick=quick)
    times = [("0 s..10 s", 0, 10, 50.0), ("10 s..20 s", 10, 20, 15.0)]
    times += [("every 1 s", start, start + 1, float(start)) for start in range(20)]
    place = {"qdisc": "own_small", "link": "bottleneck", "class": None, "queue": None}
    windows = [
        place
        | {"seed": seed, "name": "queue_mean_packets", "window": window, "value": value}
        | {"from_s": float(start), "until_s": float(end)}
        for seed in range(1, 3 if quick else 11)
        for window, start, end, value in times
    ]
    seeds = range(1, 3 if quick else 11)
    for name in ("e", "two", "v.near"):
        samples.add(paper.experiments[name], seeds, pl.DataFrame(rows), pl.DataFrame(windows))
    farther = pl.DataFrame(rows).with_columns(pl.col("queue_mean_packets") + 50)
    samples.add(paper.experiments["v.far"], seeds, farther, pl.DataFrame(windows))
    return paper, samples


@pytest.mark.parametrize(
    ("test", "keys", "expected"),
    [
        ("e.own.queue_mean_packets < e.other.queue_mean_packets", {}, Grade.REPRODUCED),
        ("e.own.queue_mean_packets < 30", {}, Grade.DEPENDS),
        ("e.own.queue_mean_packets < 30", {"settings": {"own": ["small"]}}, Grade.REPRODUCED),
        ("near(e.own.utilization, 0.95, 0.01)", {}, Grade.UNINFORMATIVE),
        ("e.own.queue_mean_packets < 10", {}, Grade.NOT),
        (
            "e.own.queue_mean_packets < 10",
            {"partly": "e.own.queue_mean_packets < e.other.queue_mean_packets"},
            Grade.PARTLY,
        ),
        ("e.other.utilization > 0.98", {"contradiction": "It has both."}, Grade.CONTRADICTS_ITSELF),
        (None, {"not_run": "needs a live network"}, Grade.NOT_RUN),
    ],
)
def test_each_grade(test, keys, expected):
    assert graded(test, **keys).grade is expected


def test_evidence_has_what_remains():
    """Of a partly true claim how often the whole was, and of an untrue one how often the rest was."""
    less, more = (f"e.own.queue_mean_packets {sign} e.other.queue_mean_packets" for sign in ("<", ">"))
    found = graded("e.own.queue_mean_packets < 10", partly=less)
    assert found.evidence.endswith(f" settings; what holds: {less}")
    found = graded("e.own.queue_mean_packets < 10", partly=more)
    assert found.grade is Grade.NOT
    assert found.evidence.endswith(f" settings: {more}")


def test_what_remains_of_a_claim_has_controls_too():
    keys = {"partly": "e.own.queue_mean_packets > 5", "settings": {"own": ["small"]}}
    found = graded("e.own.queue_mean_packets < 10", **keys)
    assert found.grade is Grade.UNINFORMATIVE
    assert "tail drop" in found.stand_ins
    assert "; what holds: e.own.queue_mean_packets > 5, as true with tail drop" in found.evidence


def test_a_claim_that_survives_an_exchange_of_its_laws_is_uninformative():
    # Both laws use more than nine tenths: exchanged, the claim is as true.
    found = graded("e.own.utilization > 0.92 and e.other.utilization > 0.92", settings={"own": ["small"]})
    assert found.grade is Grade.UNINFORMATIVE
    assert "other" in found.stand_ins
    assert found.evidence == "as true with tail drop, other in its place; true under 1 of 1 settings"


def test_a_stand_in_counts_where_it_is_true_in_each_case_in_which_the_law_is():
    # The good setting is below both rivals; PI, below the far one alone, is true in as many cases.
    found = graded("e.uneven.queue_mean_packets < e.rival.queue_mean_packets", about="uneven")
    assert found.grade is Grade.DEPENDS
    far = graded(
        "e.uneven.queue_mean_packets < e.rival.queue_mean_packets",
        about="uneven",
        settings={"rival": ["far"]},
    )
    assert far.grade is Grade.UNINFORMATIVE
    assert list(far.stand_ins) == ["PI by its rule"]


def test_the_control_of_a_claim_that_a_law_does_badly_is_one_that_should_do_well():
    """Not tail drop, which does badly wherever it is, but PI by its rule, and the law of the paper."""
    keys = {"about": "uneven", "settings": {"uneven": ["bad"]}}
    long = "e.uneven.queue_mean_packets > 150"
    assert list(graded(long, **keys).stand_ins) == ["tail drop"]
    assert graded(long, fails=True, **keys).grade is Grade.REPRODUCED
    found = graded("e.uneven.queue_mean_packets > 30", fails=True, **keys)
    assert found.grade is Grade.UNINFORMATIVE
    assert list(found.stand_ins) == ["PI by its rule", "made_up"]
    # PI has 90 packets, the law of the paper 40.
    found = graded(
        "e.uneven.queue_mean_packets < 60", about="uneven", settings={"uneven": ["good"]}, fails=True
    )
    assert list(found.stand_ins) == ["made_up"]


def test_tail_drop_is_no_control_of_marks_alone():
    fewer = graded("e.own.mark_ratio < e.other.mark_ratio", **SMALL)
    assert fewer.grade is Grade.REPRODUCED
    signals = graded("e.own.mark_ratio + e.own.utilization < 1", **SMALL)
    assert list(signals.stand_ins) == ["tail drop", "PI by its rule"]
    both = graded("e.own.mark_ratio < 1 and e.own.utilization > 0.5", **SMALL)
    assert list(both.stand_ins) == ["tail drop", "PI by its rule"]


def test_an_order_of_two_laws_that_their_settings_decide_either_way_is_uninformative():
    """Where no other law runs: with rows permuted the grade is the same."""
    keys = {"about": "uneven"}
    test = "two.uneven.queue_mean_packets < two.rival.queue_mean_packets"
    found = graded(test, **keys)
    assert found.grade is Grade.UNINFORMATIVE
    assert found.evidence.startswith("exchanged with rival, true under 2 of 4 settings, too; true under 2, ")
    assert graded(test, **keys, settings={"uneven": ["good"]}).grade is Grade.REPRODUCED
    others_ran = graded(test.replace("two.", "e."), **keys)
    assert others_ran.grade is Grade.DEPENDS
    assert others_ran.evidence.endswith("; exchanged with rival, true under 2")


def test_evidence_has_in_how_many_cases_another_law_is_as_true():
    found = graded("e.uneven.queue_mean_packets < e.rival.queue_mean_packets", about="uneven")
    assert "; of these 2 also true with PI by its rule in 1" in found.evidence


def test_a_control_has_the_changes_of_the_setting_in_whose_place_it_is():
    # Tail drop has 200 packets, and 35 without ECN; PI by its rule 90 and 120.
    assert list(graded("e.drops.queue_mean_packets < 50", about="drops").stand_ins) == ["tail drop"]
    assert graded("e.drops.queue_mean_packets < 30", about="drops").grade is Grade.REPRODUCED
    assert graded("e.drops.queue_mean_packets < 100", about="drops").stand_ins == ["tail drop"]


def test_a_control_is_skipped_where_it_is_a_setting_that_the_claim_has():
    test = "e.rival.queue_mean_packets < 250"
    assert list(graded(test, about="rival").stand_ins) == ["PI by its rule"]
    near = graded(test, about="rival", settings={"rival": ["near"]})
    assert list(near.stand_ins) == ["tail drop", "PI by its rule"]


@pytest.mark.parametrize(
    ("test", "keys", "expected"),
    [
        # Of two seeds the interval is from 19.5 to 20.8.
        ("e.own.queue_mean_packets > 20.2", {}, Grade.UNDECIDED),
        ("e.own.queue_mean_packets > 50", {}, Grade.NOT),
        ("e.own.queue_mean_packets < 100", {"about": []}, Grade.REPRODUCED),
        ("e.own.queue_mean_packets > 20.2", {"partly": "e.own.queue_mean_packets > 5"}, Grade.UNDECIDED),
        ("e.own.queue_mean_packets > 50", {"partly": "e.own.queue_mean_packets > 20.2"}, Grade.UNDECIDED),
        ("e.own.queue_mean_packets > 50", {"partly": "e.own.queue_mean_packets < 100"}, Grade.UNINFORMATIVE),
        ("e.own.queue_mean_packets > 50", {"partly": "e.own.queue_mean_packets < 30"}, Grade.PARTLY),
        # Two seeds have no quantile.
        ("quantile(e.own.queue_mean_packets, 1) > 50", {}, Grade.UNDECIDED),
    ],
)
def test_few_seeds_leave_a_claim_undecided_and_not_false(test, keys, expected):
    assert graded(test, quick=True, **keys, **SMALL).grade is expected
    assert graded(test, **keys, **SMALL).grade is not Grade.UNDECIDED


@pytest.mark.parametrize(
    "failed",
    [
        [],
        [("own_small", 1)],
        [("own_small", 3), ("other", 7)],
        [("other", seed) for seed in range(2, 11)],
    ],
)
def test_a_run_that_fails_leaves_its_pair_out(failed):
    """Seeds of both laws vary alike, so that each pair has the same difference."""
    text = "near(e.other.queue_mean_packets - e.own.queue_mean_packets, 60, 1e-9)"
    expected = Grade.REPRODUCED if len(failed) < 9 else Grade.UNDECIDED
    assert graded(text, failed=failed, about=[], **SMALL).grade is expected


def test_a_page_has_the_means_of_the_runs_that_did_not_fail():
    paper, samples = made_up("e.own.queue_mean_packets < 30", failed=[("own_small", 1), ("pi", 4)])
    of = Reproduction(paper, [grade(paper, claim, samples) for claim in paper.claims], samples, quick=False)
    text = page(of)
    assert "20.1 ±" in text
    assert ">nan" not in text


def test_one_of_two_seeds_decides_nothing():
    text = "e.other.queue_mean_packets > 2 * e.own.queue_mean_packets"
    assert graded(text, quick=True, **SMALL).grade is Grade.REPRODUCED
    assert graded(text, quick=True, failed=[("other", 2)], **SMALL).grade is Grade.UNDECIDED


def test_a_full_run_leaves_open_what_its_intervals_do():
    """The queue is 20.0, 20.1 and 20.2 packets in turn."""
    found = graded("e.own.queue_mean_packets > 20.1", **SMALL)
    assert (found.grade, found.evidence) == (Grade.UNDECIDED, "undecided under 1 of 1 settings")
    found = graded("e.own.queue_mean_packets > 50", partly="e.own.queue_mean_packets > 20.1", **SMALL)
    assert found.grade is Grade.UNDECIDED
    found = graded(
        "e.own.queue_mean_packets > 20.1", partly="e.own.queue_mean_packets > 5", about=[], **SMALL
    )
    assert found.grade is Grade.PARTLY


def test_a_contradiction_that_is_not_shown_is_undecided():
    keys = {"contradiction": "Both cannot be.", **SMALL}
    assert graded("e.own.queue_mean_packets < 30", **keys).grade is Grade.CONTRADICTS_ITSELF
    found = graded("e.own.queue_mean_packets > 30", **keys)
    assert (found.grade, found.evidence) == (Grade.UNDECIDED, "not shown: false under 1 of 1 settings")


def test_few_seeds_that_refute_no_case_leave_all_of_them_undecided():
    """True under one setting and open under the other: more seeds may make it true under both."""
    assert graded("e.own.queue_mean_packets > 20.2", quick=True, about=[]).grade is Grade.UNDECIDED
    assert graded("e.own.queue_mean_packets > 20.2", about=[]).grade is Grade.DEPENDS
    # Although tail drop and PI are as true: other cases may be true of the law alone.
    assert graded("e.own.queue_mean_packets > 20.2", quick=True).grade is Grade.UNDECIDED


def test_variants_are_cases_for_names_without_one():
    found = graded("v.own.queue_mean_packets < 30", variants=["near", "far"], settings={"own": ["small"]})
    assert found.grade is Grade.DEPENDS
    assert found.evidence.endswith("of 2 settings; variant: near 1 of 1, far 0 of 1")
    of_both = "v.near.own.queue_mean_packets < v.far.own.queue_mean_packets"
    assert graded(of_both, about=[]).grade is Grade.REPRODUCED
    with pytest.raises(InputError, match="is no sample"):
        graded("v.own.queue_mean_packets < 30")


def test_what_decides_is_named():
    assert graded("e.own.queue_mean_packets < 30").evidence == (
        "true under 1, false under 1 of 2 settings; own: small 1 of 1, large 0 of 1"
    )


@pytest.mark.parametrize(
    ("test", "part"),
    [
        ("e.nobody.utilization > 0", '"e.nobody.utilization" is no sample'),
        ("f.own.utilization > 0", "is no sample"),
        ("e.own.nothing > 0", '"nothing" is no metric'),
        (
            "e.own.queue_p75_packets > 0",
            '^one: "queue_p75_packets" is of windows alone here; expected one of early, late, seconds before',
        ),
        ("v.near.own.queue_p75_packets > 0", "expected an experiment with windows$"),
        (
            "e.own.late.settling_s > 0",
            '^one: "settling_s" has several values a run; expected a metric of one$',
        ),
    ],
)
def test_an_unknown_name_is_an_error_of_the_file(test, part):
    with pytest.raises(InputError, match=part):
        graded(test)


@pytest.mark.parametrize("name", names())
def test_each_paper_can_be_read(name):
    paper = read(name)
    ids = [claim.id for claim in paper.claims]
    assert len(ids) == len(set(ids))
    assert all(claim.id.startswith(f"{name}.") for claim in paper.claims)


def test_a_name_may_have_a_link():
    paper = parse(
        "made_up",
        {
            "title": "T",
            "reference": "R",
            "laws": LAWS,
            "experiments": {"e": {**EXPERIMENT, "link": "first", "links": {"q2": "second"}}},
            "claims": [
                {
                    "id": "one",
                    "item": "Fig. 1",
                    "claim": "C.",
                    "says": "?",
                    "settings": {"own": ["small"]},
                    "test": "e.own.queue_mean_packets < 15 and near(e.own.q2.queue_mean_packets, 20, 0)",
                }
            ],
        },
    )
    rows = [
        {"qdisc": "own_small", "seed": seed, "link": link, "class": None, "queue": None, **measured}
        for seed in (1, 2, 3)
        for link, measured in (
            ("first", {"queue_mean_packets": 10.0}),
            ("second", {"queue_mean_packets": 20.0}),
        )
    ]
    windows = pl.DataFrame(
        schema=dict.fromkeys(("qdisc", "link", "class", "queue", "seed", "name"), pl.String)
    )
    samples = Samples()
    none = windows.with_columns(window=None, value=None)
    samples.add(paper.experiments["e"], (1, 2, 3), pl.DataFrame(rows), none)
    assert grade(paper, paper.claims[0], samples).grade is Grade.REPRODUCED


def test_a_window_that_is_open_is_a_case():
    found = graded("e.own.queue_mean_packets < 30", windows=["early", "late"], **SMALL)
    assert found.grade is Grade.DEPENDS
    assert found.evidence == "true under 1, false under 1 of 2 settings; window: early 0 of 1, late 1 of 1"
    named = graded("e.own.late.queue_mean_packets < 30", windows=["early", "late"], **SMALL)
    assert named.grade is Grade.REPRODUCED
    with pytest.raises(InputError, match='"never" is no window of e; expected early, late'):
        graded("e.own.queue_mean_packets < 30", windows=["never"])


def test_windows_of_one_length_are_those_within_their_time():
    assert graded("near(e.own.seconds.queue_mean_packets, 18.5, 0)", **SMALL).grade is Grade.REPRODUCED
    highest = "near(quantile(e.own.seconds.queue_mean_packets, 1), 19, 0)"
    assert graded(highest, **SMALL).grade is Grade.REPRODUCED


def test_a_claim_about_two_laws_is_controlled_in_the_place_of_both():
    both = "max(e.own.queue_mean_packets, e.other.queue_mean_packets) < 85"
    # As one law's, it survives the exchange with the other; PI has 90.
    assert "other" in graded(both).stand_ins
    assert graded(both, about=["own", "other"]).grade is Grade.REPRODUCED


def test_what_needs_the_full_run_is_not_run_without_it():
    found = graded("full.own.queue_mean_packets < 30")
    assert found.grade is Grade.NOT_RUN
    assert found.evidence == "with few seeds the experiments of this claim do not run: full"


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("two.uneven.queue_mean_packets < 1000 and two.rival.queue_mean_packets < 1000", ["one"]),
        ("e.own.queue_mean_packets < e.other.queue_mean_packets", []),
    ],
)
def test_permuted_rows_of_laws_show_a_claim_about_none_of_them(test, expected):
    paper, samples = made_up(test, about=["rival"] if expected else ["own"])
    # Without the rule for two laws that alone run, which the grade has.
    claim = replace(paper.claims[0], about=() if expected else ("own",))
    assert list(surviving(replace(paper, claims=(claim,)), samples)) == expected


def test_a_setting_of_a_law_is_no_control_of_it():
    assert graded("e.pi.queue_mean_packets < 100", about="pi").grade is Grade.REPRODUCED
    assert "PI by its rule" in graded("e.other.queue_mean_packets < 100", about="other").stand_ins


def test_a_sentence_in_two_readings_counts_once():
    """On the pages, in the line of the command, and in the document."""
    first = {
        "id": "one",
        "item": "I",
        "claim": "C.",
        "says": "?",
        "about": "own",
        "test": "e.own.utilization > 0",
    }
    found = made_up("e.own.utilization > 0")
    paper = parse("made_up", given([first, first | {"id": "two", "same_as": "one"}]))
    of = Reproduction(paper, [grade(paper, claim, found[1]) for claim in paper.claims], found[1], quick=False)
    assert sum(of.counts().values()) == 1
    assert repr(of) == "<Reproduction made_up: 1 uninformative>"
    text = page(of)
    assert "1 claims: " in text
    assert '<a href="#one">one</a>, which counts for both' in text
    assert '<p class="verdict">2 claims, ' in over_all([of, of])
    assert _table(of).endswith("1 claims: 1 uninformative")
    document = json.loads(of.to_json())
    assert [claim["same_as"] for claim in document["claims"]] == [None, "one"]
    assert sum(document["papers"][0]["grades"].values()) == 1
    for other in ("two", "three"):
        with pytest.raises(InputError, match=f'two.same_as: "{other}" is no claim that counts; expected one'):
            parse("made_up", given([first, first | {"id": "two", "same_as": other}]))


def test_one_sentence_of_arm_pfc_is_no_two_claims():
    """RED's drop rate, which the text leaves open: a share, or packets a second; others run live as well."""
    claims = [claim for name in names() for claim in read(name).claims]
    again = {claim.id: claim.same_as for claim in claims if claim.same_as}
    live = {f"{of}.live": of for of in again.values() if f"{of}.live" in again}
    assert live
    assert again == {"arm_pfc.53": "arm_pfc.43", **live}
    assert sum(claim.same_as is None for claim in claims) == 143


def test_an_unknown_paper_has_the_nearest():
    with pytest.raises(InputError, match='"cpcc" is no paper; did you mean cpc\\? expected arm_pfc, '):
        read("cpcc")
