"""Runs of a made-up paper: sweeps by the changes that settings bring, and the commands that repeat them."""

import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cli import main
from sojourn.reproduce import graded
from sojourn.reproduce.paper import Name, Setting, parse
from sojourn.reproduce.predicate import predicate
from sojourn.reproduce.runs import band_of, carry_out, command
from sojourn.sweep.store import opened

PAPER = parse(
    "made_up",
    {
        "title": "T",
        "reference": "R",
        "laws": {
            "own": {
                "marks": {"qdisc": "pi:target=20packets", "origin": "printed"},
                "drops": {
                    "qdisc": "pi:target=20packets",
                    "origin": "without ECN",
                    "set": {"flows[0].ecn": False},
                },
            }
        },
        "experiments": {
            "e": {
                "scenario": "arm_pfc/exp1",
                "laws": ["own"],
                "set": {"duration": "4 s", "warmup": "1 s"},
                "windows": {"late": "3 s..4 s"},
                "controls": {"tail_drop": "tail_drop", "pi_rule": "pi:target=20packets"},
                "quick_seeds": 1,
            }
        },
        "claims": [
            {"id": "one", "item": "I", "claim": "C.", "says": "?", "test": "e.own.late.marked_packets > 0"}
        ],
    },
)


#: Two classes whose intervals of a second are samples together.
FLOWS = [{"name": name, "count": 1} for name in ("near", "far")]
CONTROLS = {"tail_drop": "tail_drop", "pi_rule": "pi:target=20packets"}
TWO = parse(
    "made_up",
    {
        "title": "T",
        "reference": "R",
        "laws": {"own": {"only": {"qdisc": "tail_drop", "origin": "none"}}},
        "experiments": {
            "e": {
                "scenario": "cpc/reno",
                "laws": ["own"],
                "set": {"duration": "4 s", "warmup": "1 s", "flows": FLOWS},
                "windows": {"each": "every 1 s"},
                "classes": {"near": "near", "far": "far", "both": ["near", "far"]},
                "controls": {"tail_drop": "tail_drop", "pi_rule": "tail_drop"},
                "seeds": 2,
            }
        },
        "claims": [{"id": "one", "item": "I", "claim": "C.", "says": "?", "test": "e.own.goodput_bps > 0"}],
    },
)


def test_classes_together_are_samples_of_a_seed(tmp_path):
    samples = carry_out(TWO, tmp_path, 1)
    near, far, both = (
        samples.of(Name("e", "goodput_bps", "own", window="each", traffic_class=of), "tail_drop")
        for of in ("near", "far", ("near", "far"))
    )
    assert near.shape == far.shape == (2, 4)
    assert sorted(both[1]) == sorted([*near[1], *far[1]])


def test_the_command_has_what_remains_and_the_controls():
    """A grade rests on them, too."""
    (line,) = command(TWO, TWO.claims[0], quick=False).splitlines()
    assert "pi" not in line
    two = replace(TWO, experiments={"e": replace(TWO.experiments["e"], controls={**CONTROLS})})
    (line,) = command(two, replace(TWO.claims[0], about=("own",)), quick=False).splitlines()
    assert "--qdisc tail_drop --qdisc pi:target=20packets --seeds 1..2" in line
    remains = predicate("further.own.goodput_bps > 0", "test")
    further = {**two.experiments, "further": replace(two.experiments["e"], name="further", seeds=5)}
    with_rest = replace(TWO.claims[0], partly=remains)
    first, second = command(replace(two, experiments=further), with_rest, quick=False).splitlines()
    assert ("--seeds 1..2" in first, "--seeds 1..5" in second) == (True, True)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("queue_mean_packets", ["queue_p05_packets", "queue_p95_packets"]),
        ("queue2.queue_mean_packets", ["queue2.queue_p05_packets", "queue2.queue_p95_packets"]),
        ("rtt_mean_s", []),
    ],
)
def test_the_range_about_a_mean_queue_is_that_of_its_link(metric, expected):
    assert [name for name, _ in band_of(metric)] == expected


def test_the_command_has_tables_as_toml():
    (line,) = command(TWO, TWO.claims[0], quick=False).splitlines()
    assert """--set 'flows=[{ name = "near", count = 1 }, { name = "far", count = 1 }]'""" in line


def test_a_setting_may_change_the_scenario(tmp_path):
    samples = carry_out(PAPER, tmp_path, 1, quick=True)
    marks, drops = (
        [samples.of(Name("e", metric, "own", window=window), setting.key) for setting in PAPER.laws["own"]]
        for metric, window in (("marked_packets", "late"), ("drop_ratio", None))
    )
    assert marks[0] > 0
    assert marks[1] == 0
    assert drops[1] > 0
    control = PAPER.laws["own"][1].instead("tail_drop").key
    assert samples.of(Name("e", "mark_ratio", "own"), control) == 0
    assert {one.name for one in tmp_path.iterdir()} == {"made_up.e.sweep", "made_up.e.drops.sweep"}


def test_runs_that_fail_are_named(tmp_path, monkeypatch, capsys):
    """On the page, in the document, and in the line of the command, whose exit code is 1."""
    broken = Setting("broken", "nonesuch", "a law that is none")
    paper = replace(PAPER, laws={"own": (*PAPER.laws["own"], broken)})
    found = graded(paper, tmp_path, jobs=1, quick=True)
    named = found.samples.failures
    assert [one.partition(": ")[0] for one in named] == ["e, nonesuch, seed 1"]
    assert json.loads(found.to_json())["failed"] == [f"made_up, {line}" for line in named]
    assert "Runs that failed" in found.report(tmp_path / "page.html").read_text()
    whole = graded(PAPER, tmp_path / "whole", jobs=1, quick=True)
    assert "Runs that failed" not in whole.report(tmp_path / "page.html").read_text()
    monkeypatch.setattr("sojourn.reproduce.paper.read", lambda _: paper)
    assert main(["reproduce", "cpc", "--quick", "--out", str(tmp_path), "--quiet"]) == 1
    line = capsys.readouterr().err
    assert line.startswith(
        "sojourn reproduce: 1 run failed and no sample has them, the first: made_up, e, nonesuch"
    )


def test_the_document_has_the_claims_of_all_papers(tmp_path, monkeypatch, capsys):
    """One of the same form as that of a paper alone."""
    papers = {"cpc": PAPER, "sqm": replace(TWO, name="made_up_2")}
    monkeypatch.setattr("sojourn.reproduce.paper.read", papers.get)
    words = ["--quick", "--json", "--quiet", "--jobs", "1", "--out", str(tmp_path)]
    assert main(["reproduce", "cpc", "sqm", *words]) == 0
    both = json.loads(capsys.readouterr().out)
    assert [of["paper"] for of in both["papers"]] == ["made_up", "made_up_2"]
    # Of one seed, and of two that have the same goodput.
    assert sum(of["grades"]["undecided"] for of in both["papers"]) == 2
    assert [(of["paper"], of["id"]) for of in both["claims"]] == [("made_up", "one"), ("made_up_2", "one")]
    first, second = both["claims"]
    assert {"item", "claim", "says", "test", "ours", "grade", "evidence", "why", "command"} <= first.keys()
    # One seed, each setting a case: without ECN none is marked.
    marks, drops = first["ours"]
    assert (marks["quantity"], marks["settings"]) == ("e.own.late.marked_packets", {"own": "marks"})
    assert (marks["n"], marks["low"], drops["settings"], drops["mean"]) == (1, None, {"own": "drops"}, 0)
    (goodput,) = second["ours"]
    assert goodput["n"] == 2
    assert 0 < goodput["low"] <= goodput["mean"] <= goodput["high"]
    assert {of["paper"] for of in both["league"]} == {"made_up", "made_up_2"}
    assert main(["reproduce", "cpc", *words]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone == json.loads(graded(PAPER, tmp_path, jobs=1, quick=True).to_json())
    assert alone.keys() == both.keys()
    assert alone["claims"] == [first]


@pytest.mark.parametrize("table", ["cells", "windows"])
def test_a_damaged_file_of_a_store_stops_its_paper_alone(table, tmp_path, monkeypatch, capsys):
    """One line with the file and what to do, which repeats its runs; exit code 2."""
    papers = {"cpc": PAPER, "sqm": replace(TWO, name="made_up_2")}
    monkeypatch.setattr("sojourn.reproduce.paper.read", papers.get)
    words = ["reproduce", "cpc", "sqm", "--quick", "--json", "--jobs", "1", "--out", str(tmp_path)]
    assert main(words) == 0
    whole = capsys.readouterr().out
    store = tmp_path / "made_up.e.drops.sweep"
    damaged = store / f"{table}-all.parquet"
    damaged.write_bytes(b"PAR1" + bytes(range(128, 256)) + b"\x1b\x00\xff&")
    assert main([*words, "--quiet"]) == 2
    out, line = capsys.readouterr()
    assert line.startswith(f"{damaged}: cannot be read (")
    assert line.endswith(f"; delete the folder {store} and run again, which repeats its cells\n")
    assert line.strip().isprintable()
    assert "\N{REPLACEMENT CHARACTER}" not in line
    document = json.loads(out)
    assert [of["paper"] for of in document["papers"]] == ["made_up_2"]
    assert document["failed"] == [f"made_up, {line.strip()}"]
    shutil.rmtree(store)
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr().out == whole


@pytest.mark.parametrize("table", ["cells", "windows"])
def test_cells_of_a_file_that_is_gone_run_again(table, tmp_path):
    first = graded(PAPER, tmp_path, jobs=1, quick=True)
    files = {place: place.read_bytes() for place in tmp_path.rglob("*.parquet")}
    gone = tmp_path / "made_up.e.drops.sweep" / f"{table}-all.parquet"
    gone.unlink()
    assert graded(PAPER, tmp_path, jobs=1, quick=True).to_json() == first.to_json()
    assert {place: place.read_bytes() for place in tmp_path.rglob("*.parquet")} == files


@pytest.mark.parametrize("name", ["cpc-quick.html", "index-quick.html"])
def test_a_folder_in_the_place_of_a_page_is_refused_before_anything_runs(name, tmp_path, capsys):
    out = tmp_path / "out"
    (out / name).mkdir(parents=True)
    assert main(["reproduce", "cpc", "sqm", "--quick", "--out", str(out)]) == 2
    assert capsys.readouterr().err.startswith(f"{out / name}: is a folder; expected ")
    assert [one.name for one in out.iterdir()] == [name]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, capsys):
    out = tmp_path / "out"
    out.write_text("mine")
    line = f"{out}: is a file; expected a folder, new or with earlier runs"
    assert main(["reproduce", "cpc", "--quick", "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"{line}\n"
    with pytest.raises(sj.InputError, match="is a file; expected a folder"):
        sj.reproduce("cpc", out)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"out": 3}, 'out: 3 is no folder; expected a text such as "results", or a pathlib.Path'),
        ({"paper": 3}, "paper: 3 is not text; expected a text in quotes"),
        ({"quick": "yes"}, "quick: 'yes' is neither True nor False; expected one of them"),
        ({"jobs": 0}, "jobs: 0 is not a number of workers; expected 1 or more"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_named_in_a_line(given, line):
    with pytest.raises(sj.InputError) as error:
        sj.reproduce(**{"paper": "cpc", **given})
    assert error.value.lines == (line,)


def test_the_callable_module_has_the_signature_of_its_function():
    own = inspect.signature(sj.reproduce)
    assert own == inspect.signature(sj.reproduce.reproduce)
    assert list(own.parameters) == ["paper", "out", "quick", "live", "jobs"]
    assert "`paper` is one of `names`" in type(sj.reproduce).__call__.__doc__


def test_the_commands_have_the_changes():
    first, second = command(PAPER, PAPER.claims[0], quick=True).splitlines()
    assert "ecn" not in first
    assert second.endswith("--window '3 s..4 s'")
    assert "--set 'flows[0].ecn=false'" in second


def files(folder):
    """Bytes of all files by their paths."""
    return {of.relative_to(folder): of.read_bytes() for of in sorted(folder.rglob("*")) if of.is_file()}


def in_full(folder, jobs, watch=None):
    """Carry out both papers, and write their grades and pages."""
    for name, paper in (("one", PAPER), ("two", TWO)):
        found = graded(paper, folder / name, jobs=jobs, quick=True, watch=watch)
        (folder / f"{name}.json").write_text(found.to_json())
        found.report(folder / f"{name}.html")


def test_the_files_do_not_depend_on_the_number_of_workers(tmp_path):
    for jobs in (1, 2):
        in_full(tmp_path / str(jobs), jobs)
    assert len(files(tmp_path / "1")) > 10
    assert files(tmp_path / "1") == files(tmp_path / "2")


def test_a_run_that_was_killed_repeats_only_the_rest(tmp_path):
    """Killed (SIGKILL) as the fifth cell of six finishes; the files are those of a run in one go."""
    here = str(Path(__file__).parent)
    lines = f"import sys; sys.path.insert(0, {here!r}); import test_runs; test_runs.until_killed()"
    done = subprocess.run([sys.executable, "-c", lines, str(tmp_path / "killed")], check=False)
    assert done.returncode == -signal.SIGKILL
    kept = 0
    for store in (tmp_path / "killed").rglob("*.sweep"):
        with opened(store) as left:
            kept += len(left.finished())
    repeated, whole = [], []
    in_full(tmp_path / "killed", 1, lambda *of: repeated.append(of))
    in_full(tmp_path / "whole", 1, lambda *of: whole.append(of))
    assert len(whole) == 6
    assert kept >= 4
    assert len(repeated) == len(whole) - kept > 0
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


def until_killed():
    """Carry out the papers, and be killed as the fifth cell has finished: the first paper's are kept."""
    finished = []

    def watch(*of):
        finished.append(of)
        if len(finished) == 5:
            os.kill(os.getpid(), signal.SIGKILL)

    in_full(Path(sys.argv[1]), 1, watch)


@pytest.mark.parametrize("begun", [False, True])
def test_an_interrupt_between_experiments_has_what_is_kept(begun, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "reproduced"

    def interrupted(*_arguments, **_keys):
        if begun:
            folder.mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("sojourn.reproduce.graded", interrupted)
    assert main(["reproduce", "sqm", "--quick", "--out", str(folder), "--quiet"]) == 130
    kept = f"runs that had finished are kept in {folder}, and the same command runs what is missing"
    kept = kept if begun else "nothing was written"
    assert capsys.readouterr().err == f"sojourn reproduce: interrupted; {kept}\n"
