"""Live experiments of papers: on request alone, one run after the other, and never a void one."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn import simulate
from sojourn.cli import main
from sojourn.errors import MissingError, RunFailed
from sojourn.reproduce import Grade, graded
from sojourn.reproduce.grades import grade
from sojourn.reproduce.paper import Name, names, parse, read
from sojourn.reproduce.runs import Samples, command
from sojourn.result import trust
from sojourn.result.trust import VERDICTS
from sojourn.simulate import check_plant

GIVEN = {
    "title": "T",
    "reference": "R",
    "laws": {
        "own": {"only": {"qdisc": "pi:target=20packets", "origin": "printed"}},
        "red": {"only": {"qdisc": "red:min=5packets,max=15packets", "origin": "printed"}},
    },
    "experiments": {
        "lab": {
            "scenario": "dumbbell",
            "plants": ["packet", "live"],
            "laws": ["own", "red"],
            "set": {"duration": "3 s", "warmup": "1 s", "at": []},
            "windows": {"late": "2 s..3 s"},
            "seeds": 2,
            "quick_seeds": 1,
            "controls": {"tail_drop": "tail_drop", "pi_rule": "pi:target=20packets"},
        }
    },
    "claims": [
        {
            "id": "one",
            "item": "I",
            "claim": "C.",
            "says": "?",
            "variants": ["live"],
            "test": "lab.own.goodput_bps > 0 and lab.red.late.goodput_bps > 0",
        }
    ],
}
PAPER = parse("made_up", GIVEN)
QDISCS = ["tail_drop", "pi:target=20packets", "red:min=5packets,max=15packets"]
TABLES = ("series", "distributions", "windows")
LATE = {"lateness_p50_s": 3e-5, "lateness_p99_s": 1e-4, "lateness_max_s": 2e-3, "packet_time_s": 6e-3}
TRUST = {"verdict": "good", **LATE, "device_drops": 0, "scheduling": "SCHED_FIFO"}


@pytest.fixture
def kernel(monkeypatch):
    """Packets in the place of a kernel; returns what ran, and the verdicts of runs that are not good."""
    ran, verdicts, run = [], {}, simulate.run

    def measured(scenario, qdiscs, *, seeds, plants):
        assert plants == "live"
        ran.append((*qdiscs, *seeds))
        found = run(scenario, qdiscs, seeds=seeds)
        first, *rest = (replace(row, plant="live") for row in found.runs)
        own = TRUST | {"verdict": verdicts.get(ran[-1], "good")}
        plant = pl.lit("live", dtype=pl.Enum(["live"])).alias("plant")
        tables = {name: getattr(found, name).with_columns(plant) for name in TABLES}
        result = replace(found, runs=(replace(first, trust=own), *rest), **tables)
        if voids := trust.voids(result):
            raise RunFailed(trust.void_line(voids), result)
        return result

    monkeypatch.setattr(simulate, "run", measured)
    return ran, verdicts


def test_without_the_flag_nothing_runs_live_and_the_claim_names_it(kernel, tmp_path):
    found = graded(PAPER, tmp_path, jobs=1, quick=True)
    (one,) = found.claims
    assert one.grade is Grade.NOT_RUN
    assert one.evidence == "its runs are live, by the TCP of this machine: sojourn reproduce made_up --live"
    assert kernel[0] == []
    assert json.loads(found.to_json())["live"] == []
    assert 'id="live"' not in found.report(tmp_path / "page.html").read_text()
    lines = command(PAPER, one.claim, quick=False).splitlines()
    assert [line.partition(" --set ")[0] for line in lines] == [
        f"sojourn lab dumbbell --qdisc {qdisc} --seeds 1..5" for qdisc in QDISCS[1:]
    ]


def test_laws_take_turns_and_what_is_kept_does_not_run_again(kernel, tmp_path):
    ran, _ = kernel
    first = graded(PAPER, tmp_path, jobs=1, live=True)
    assert ran == [(qdisc, seed) for seed in range(1, 6) for qdisc in QDISCS]
    (one,) = first.claims
    assert one.grade is Grade.REPRODUCED
    samples = [
        first.samples.of(Name(of, "goodput_bps", "own", window=window), QDISCS[1])
        for of in ("lab.live", "lab.packet")
        for window in (None, "late")
    ]
    assert [len(of) for of in samples] == [5, 5, 2, 2]
    assert list(samples[0][:2]) == list(samples[2])
    assert list(samples[1][:2]) == list(samples[3])
    rows = json.loads(first.to_json())["live"]
    assert len(rows) == 15
    place = {"paper": "made_up", "experiment": "lab.live", "qdisc": "tail_drop", "seed": 1}
    assert rows[0] == {**place, **TRUST}
    page = first.report(tmp_path / "page.html").read_text()
    assert "Trust in live runs" in page
    assert "lab.live, tail_drop, seed 1: good; " in page
    ran.clear()
    again = graded(PAPER, tmp_path, jobs=1, live=True)
    assert ran == []
    assert again.to_json() == first.to_json()


def test_other_runs_of_another_scenario_take_the_place_of_those_kept(kernel, tmp_path):
    ran, _ = kernel
    graded(PAPER, tmp_path, jobs=1, live=True, quick=True)
    assert len(ran) == 9
    longer = {**GIVEN["experiments"]["lab"]["set"], "duration": "4 s"}
    other = {"lab": {**GIVEN["experiments"]["lab"], "set": longer}}
    ran.clear()
    graded(parse("made_up", {**GIVEN, "experiments": other}), tmp_path, jobs=1, live=True, quick=True)
    assert len(ran) == 9


def test_a_void_run_counts_for_nothing_and_is_repeated(kernel, tmp_path, monkeypatch, capsys):
    ran, verdicts = kernel
    monkeypatch.setattr("sojourn.reproduce.paper.read", lambda _: PAPER)
    verdicts |= {(QDISCS[1], 2): "void", (QDISCS[0], 3): "degraded"}
    words = ["reproduce", "cpc", "--live", "--quick", "--jobs", "1", "--quiet", "--out", str(tmp_path)]
    assert main(words) == 1
    out, line = capsys.readouterr()
    place = f"lab.live, {QDISCS[1]}, seed 2: void; "
    assert line.startswith(
        f"sojourn reproduce: 1 run failed and no sample has them, the first: made_up, {place}"
    )
    assert "lab.live, tail_drop, seed 3: degraded; " in out
    found = graded(PAPER, tmp_path, jobs=1, live=True, quick=True)
    sample, other = (found.samples.of(Name("lab.live", "goodput_bps", "own"), of) for of in QDISCS[1::-1])
    assert [bool(value > 0) for value in sample] == [True, False, True]
    assert (other > 0).all()
    assert [one.partition("seed")[2][:9] for one in found.samples.failures] == [" 2: void;"]
    ran.clear()
    verdicts.clear()
    assert main(words) == 0
    assert ran == [(QDISCS[1], 2)]


def test_a_machine_without_live_runs_loses_no_time(monkeypatch, tmp_path, capsys):
    def refused(*_arguments, **_keys):
        raise MissingError("--plant live: this machine refuses /dev/net/tun")

    monkeypatch.setattr(simulate, "run", refused)
    monkeypatch.setattr("sojourn.reproduce.paper.read", lambda _: PAPER)
    out = tmp_path / "out"
    assert main(["reproduce", "cpc", "--live", "--quiet", "--out", str(out)]) == 3
    assert capsys.readouterr().err.endswith("--plant live: this machine refuses /dev/net/tun\n")
    assert not out.exists()


@pytest.mark.parametrize(
    ("further", "line"),
    [
        ({"plants": ["wave"]}, "experiments.lab.plants: 'wave' is no plant; expected packet, live"),
        ({"variants": {"a": {}}}, "experiments.lab: has plants and variants; expected one of them"),
    ],
)
def test_plants_that_are_none_are_refused(further, line):
    wrong = {"lab": {**GIVEN["experiments"]["lab"], **further}}
    with pytest.raises(sj.InputError) as error:
        parse("made_up", {**GIVEN, "experiments": wrong})
    assert error.value.lines == (line,)


@pytest.mark.parametrize("name", ["cpc", "fb_ocq", "sqm"])
def test_the_scenarios_run_live_for_seconds_on_this_machine(name, refused):
    """Packets of the kernel in truth; skipped where the machine does not allow them."""
    # CUBIC joins Reno within the first second.
    starts = {f"flows[{place}].start": "1 s" for place in (2, 3)} if name == "sqm" else {}
    scenario = sj.load(f"live/{name}", {"duration": "4 s", "warmup": "1 s", **starts})
    try:
        found = sj.run(scenario, plants="live")
    except MissingError as error:
        refused(error.lines[0])
    assert found.runs[0].trust["verdict"] in VERDICTS
    for row in found.runs:
        kept = row.conservation
        assert kept["offered"] == kept["delivered"] + kept["dropped"] + kept["held"]
    assert found.runs[0].conservation["delivered"] > 100


@pytest.mark.parametrize("name", ["cpc", "fb_ocq", "sqm"])
def test_the_live_experiments_are_those_of_the_gallery(name):
    paper = read(name)
    own = [one for one in paper.experiments.values() if one.plant == "live"]
    assert [one.scenario for one in own] == [f"live/{name}"]
    check_plant(sj.load(own[0].scenario, dict(own[0].changes)), "live")
    claims = [one for one in paper.claims if "live" in one.variants]
    assert claims
    # The sentence of a claim that runs in packets counts there.
    assert [one.id for one in claims if one.same_as is None] == ["fb_ocq.14"] * (name == "fb_ocq")


def test_no_other_paper_runs_live():
    live = {name for name in names() for one in read(name).experiments.values() if one.plant == "live"}
    assert live == {"cpc", "fb_ocq", "sqm"}


#: Live runs that are kept, three of each: medians of pings, s.
PINGS = {
    "tail_drop": [0.1201, 0.1211, 0.1201],
    "red:min=20packets,max=60packets": [0.0792, 0.0781, 0.0771],
    "fb_ocq:target=40packets": [0.0886, 0.0876, 0.0876],
    "pi:target=40packets": [0.0876, 0.0855, 0.0876],
}
#: Goodputs of Reno's flows, and of CUBIC's first and later ones, Mbit/s.
GOODPUTS = {
    "codel": ([19.39, 19.52, 18.26], [10.13, 10.47, 12.68], [17.49, 16.97, 16.44]),
    "pie:target=5ms": ([16.79, 18.72, 19.63], [9.77, 8.82, 10.41], [20.24, 18.02, 15.53]),
    "sfq_codel": ([21.36, 21.05, 20.65], [10.01, 10.2, 10.08], [14.95, 15.3, 15.51]),
    "sqm:utility=equal": ([23.69, 22.92, 23.03], [9.72, 9.74, 9.6], [14.54, 14.42, 13.88]),
    "tail_drop": ([23.72, 26.56, 18.84], [9.67, 8.08, 16.68], [14.77, 13.63, 12.32]),
    "pi:target=5ms": ([15.68, 17.16, 12.14], [11.52, 11.56, 10.56], [15.21, 16.81, 19.23]),
}


class Kept(Samples):
    """Rows of live runs that are kept."""

    def __init__(self, rows):
        super().__init__()
        self.experiments = {"lab.live"}
        self.rows = rows

    def of(self, name, qdisc):
        assert (name.of, name.window) == ("lab.live", None)
        return np.asarray(self.rows[qdisc, name.traffic_class])


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        # RED's queue is shorter than FB-OCQ's, whose ping is nearer to 90 ms than to 80.
        ("fb_ocq.14", Grade.NOT),
        # CUBIC has 1.4 to 1.8 times as much under CoDel and PIE.
        ("sqm.08.live", Grade.UNDECIDED),
        ("sqm.09.live", Grade.UNDECIDED),
        ("sqm.10.live", Grade.REPRODUCED),
    ],
)
def test_grades_of_rows_that_are_kept(claim, expected):
    paper = read(claim.partition(".")[0])
    classes = ("r5-r6", "cubic_first", "cubic_later")
    rows = {(qdisc, "rrul-ping"): pings for qdisc, pings in PINGS.items()}
    rows |= {
        (qdisc, of): one for qdisc, each in GOODPUTS.items() for of, one in zip(classes, each, strict=True)
    }
    found = grade(paper, next(one for one in paper.claims if one.id == claim), Kept(rows))
    assert found.grade is expected, found.evidence


def test_drop_tail_in_the_place_of_all_laws_orders_no_pings():
    paper = read("fb_ocq")
    rows = {(qdisc, "rrul-ping"): PINGS["tail_drop"] for qdisc in PINGS}
    claim = next(one for one in paper.claims if one.id == "fb_ocq.14")
    ordered = {**rows, ("red:min=20packets,max=60packets", "rrul-ping"): [0.1, 0.101, 0.099]}
    ordered |= {("fb_ocq:target=40packets", "rrul-ping"): [0.08, 0.081, 0.08]}
    assert grade(paper, claim, Kept(ordered)).grade is Grade.REPRODUCED
    assert grade(paper, claim, Kept(rows)).grade is Grade.NOT
