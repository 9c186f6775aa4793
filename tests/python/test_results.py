"""Results: equal for any number of workers, honest statistics, folders that read back."""

import json
import math
import re
import threading
import time

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sojourn as sj
from sojourn.result.statistics import difference, estimate, student_t95

RED = "red:min=5packets,max=15packets"
FILES = ("result.json", "series.parquet", "distributions.parquet")


def test_one_and_two_workers_write_the_same_bytes(scenario, tmp_path):
    for jobs in (1, 2):
        result = sj.run(
            scenario, qdiscs=["tail_drop", RED, "pi:target=10packets"], seeds=range(1, 4), jobs=jobs
        )
        result.write(tmp_path / f"jobs{jobs}")
    for name in FILES:
        assert (tmp_path / "jobs1" / name).read_bytes() == (tmp_path / "jobs2" / name).read_bytes(), name


def test_a_seed_alone_gives_what_it_gives_among_others(scenario):
    alone = sj.run(scenario, seeds=[2]).runs[0]
    among = sj.run(scenario, seeds=[3, 2, 1]).runs
    assert [run.seed for run in among] == [1, 2, 3]
    assert among[1] == alone
    assert among[0].metrics != alone.metrics


def test_packets_are_conserved_in_every_run(made):
    for run in made.runs:
        count = run.conservation
        assert count["offered"] == count["delivered"] + count["dropped"] + count["held"]
        assert count["delivered"] > 0


def test_runs_are_ordered_by_qdisc_as_given_and_seed(made):
    assert [(run.qdisc.split(":")[0], run.seed) for run in made.runs] == [
        (law, seed) for law in ("tail_drop", "red") for seed in (1, 2, 3)
    ]


def test_a_result_reads_back_as_it_was_written(scenario, tmp_path):
    result = sj.run(scenario, seeds=[1, 2])
    again = sj.Result.read(result.write(tmp_path / "out"))
    assert again.runs == result.runs
    assert again.runs[0].cost == result.runs[0].cost
    assert again.scenario == result.scenario
    assert_frame_equal(again.series, result.series)
    assert_frame_equal(again.distributions, result.distributions)
    assert again.to_json() == result.to_json()


def test_a_results_repr_has_a_line_for_each_qdisc(made):
    head, *lines = str(made).splitlines()
    assert head == "Result: Eight flows on a small link; 6 runs"
    assert [line.split(": ")[0] for line in lines] == ["  tail_drop", "  red:min=5 packets,max=15 packets"]
    assert re.search(
        r": utilisation [0-9.]+ ± <?[0-9.]+ %, queue mean .* packets, sojourn mean .* ms$", lines[0]
    )
    assert repr(made) == str(made)
    assert str(sj.Result({}, (), pl.DataFrame(), pl.DataFrame())) == "Result: Untitled scenario; 0 runs"


def test_the_summary_has_student_t_intervals(made):
    table = made.summary()
    row = table.filter((pl.col("metric") == "queue_mean_packets") & (pl.col("qdisc") == "tail_drop")).row(
        0, named=True
    )
    values = list(made.values("tail_drop", "queue_mean_packets").values())
    mean = sum(values) / 3
    # 4.302652729911275 is the 97.5 % point of Student's t with 2 degrees of freedom (tables).
    half = 4.302652729911275 * math.sqrt(sum((v - mean) ** 2 for v in values) / 2 / 3)
    assert row["n"] == 3
    assert row["mean"] == pytest.approx(mean, rel=1e-12)
    assert row["ci95_low"] == pytest.approx(mean - half, rel=1e-9)
    assert row["ci95_high"] == pytest.approx(mean + half, rel=1e-9)


def test_a_printed_summary_names_its_metrics(made):
    """Of many columns Polars hides the middle ones."""
    printed = str(made.summary())
    assert re.search(r"\bmetric\b.* n .* mean .* ci95_low .* ci95_high", printed)
    assert "drop_ratio" in printed


def test_one_seed_has_no_interval(scenario):
    row = sj.run(scenario).summary().row(0, named=True)
    assert row["n"] == 1
    assert row["ci95_low"] is None


def test_metrics_that_do_not_apply_are_left_out_of_the_summary():
    runs = tuple(_run(seed, {"a": 1.0 * seed, "b": None, "c": [seed, None]}) for seed in (1, 2))
    table = sj.Result({}, runs, pl.DataFrame(), pl.DataFrame()).summary()
    assert table["metric"].to_list() == ["a", "c[0]"]


def test_a_law_that_settles_under_some_seeds_only_has_no_mean_settling_time():
    runs = tuple(_run(seed, {"settling_s": [2.0, 3.0 if seed == 1 else None]}) for seed in (1, 2))
    table = sj.Result({}, runs, pl.DataFrame(), pl.DataFrame()).summary()
    assert table["metric"].to_list() == ["settling_s[0]"]


def test_student_t_is_that_of_the_tables():
    assert student_t95(1) == pytest.approx(12.7062, abs=1e-4)
    assert student_t95(9) == pytest.approx(2.26216, abs=1e-5)


def test_differences_are_taken_seed_by_seed():
    left, right = {1: 10.0, 2: 20.0, 3: 30.0}, {1: 9.0, 2: 19.1, 3: 28.9, 4: 0.0}
    found = difference(left, right)
    assert found.n == 3
    assert found.low > 0, "the seeds differ a lot, the laws by one each time"
    assert difference(left, {7: 1.0}) is None
    assert estimate([5.0]).half is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("result.json", None, "result.json: is missing; expected "),
        ("result.json", "", "result.json: is not JSON ("),
        ("result.json", "[1]", "result.json: is not a JSON object"),
        ("result.json", "\x00\x01", "result.json: is not JSON ("),
        ("result.json", "{}", "result.json: schema: nothing is no schema number; expected 1"),
        ("result.json", '{"schema": true}', "result.json: schema: true is no schema number"),
        (
            "result.json",
            '{"schema": 7}',
            "result.json: schema: 7 is of a newer Sojourn; this version reads schema 1:",
        ),
        ("result.json", '{"schema": 1}', "result.json: scenario: is missing; expected an object"),
        (
            "result.json",
            '{"schema": 1, "scenario": {}}',
            "result.json: scenario.title: is missing; expected text",
        ),
        ("provenance.json", None, "provenance.json: is missing; expected "),
        ("provenance.json", '{"schema": 1, "versions": "x"}', 'provenance.json: versions: "x" is damaged'),
        ("provenance.json", '{"schema": 1, "command": 5}', "provenance.json: command: 5 is damaged"),
        ("series.parquet", None, "series.parquet: is missing; expected "),
        ("series.parquet", "not parquet", "series.parquet: is not Parquet ("),
        ("distributions.parquet", "", "distributions.parquet: is not Parquet ("),
    ],
)
def test_a_broken_folder_is_refused_with_one_line(scenario, refused, folder, name, text, message):
    path = sj.run(scenario).write(folder / "out") / name
    path.unlink()
    if text is not None:
        path.write_text(text)
    (line,) = refused("report", "out")
    assert line.startswith(f"out/{message}"), line
    assert not (folder / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        *(
            ("runs.0.metrics.utilization", value, "runs[0].metrics.utilization: ")
            for value in (math.nan, math.inf, 1e308, "x", [1.0], {}, -1.0, True)
        ),
        ("runs.0.metrics.settling_s", [1.0, "x"], "runs[0].metrics.settling_s: [1.0, "),
        ("runs.1.metrics.jain_index", type(None), "runs[1].metrics.jain_index: is missing; expected "),
        ("runs.1.seed", 1, "runs[1]: tail_drop, seed 1 is runs[0] too; expected each qdisc and seed once"),
        ("runs.1.qdisc", None, "runs[1].qdisc: null is damaged; expected a name"),
        ("runs.1.seed", -1, "runs[1].seed: -1 is damaged; expected a whole number from 0"),
        ("runs.1", 3, "runs[1]: 3 is damaged; expected an object"),
        ("runs", [], "runs: [] is damaged; expected a list of runs"),
        ("scenario", {}, "scenario.title: is missing; expected text"),
        ("scenario.duration", "soon", 'scenario.duration: "soon" is damaged; expected a time'),
        ("scenario.flows.0.count", "x", 'scenario.flows[0].count: "x" is damaged'),
        ("scenario.flows", [3], "scenario.flows[0]: 3 is damaged; expected an object"),
        ("schema", 2, "schema: 2 is of a newer Sojourn; this version reads schema 1: update Sojourn"),
    ],
)
def test_a_damaged_result_names_the_key(made, refused, folder, key, value, message):
    assert message in _damaged(made.write(folder / "out") / "result.json", key, value, refused)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("machine", "x", 'machine: "x" is damaged; expected an object'),
        ("command", [1], "command: [1] is damaged; expected a list of words"),
        ("wall_s", math.nan, "wall_s: NaN is damaged; expected a number from 0"),
        ("cost", "x", 'cost: "x" is damaged; expected a list'),
        ("cost.0", 3, "cost[0]: 3 is damaged; expected an object"),
        ("cost.0.qdisc", None, "cost[0].qdisc: null is damaged; expected a name"),
    ],
)
def test_a_damaged_provenance_names_the_key(made, refused, folder, key, value, message):
    assert message in _damaged(made.write(folder / "out") / "provenance.json", key, value, refused)


def _damaged(path, key, value, refused):
    """Message of `sojourn report` for a file with another value at a key; a type as value: the key is
    removed.
    """
    document = json.loads(path.read_text())
    *above, last = (int(part) if part.isdigit() else part for part in key.split("."))
    holder = document
    for part in above:
        holder = holder[part]
    if isinstance(value, type):
        del holder[last]
    else:
        holder[last] = value
    path.write_text(json.dumps(document))
    (line,) = refused("report", "out")
    assert line.startswith(f"out/{path.name}: "), line
    assert "; " in line
    assert not any(word in line for word in ("Error", "None", "internal")), line
    return line


@pytest.mark.parametrize("name", ["series.parquet", "distributions.parquet"])
def test_a_table_of_another_run_is_refused(made, scenario, refused, folder, name):
    place = made.write(folder / "out")
    other = sj.run(scenario, qdiscs="tail_drop", seeds=[1, 2, 3, 4]).write(folder / "other")
    (other / name).rename(place / name)
    (line,) = refused("report", "out")
    assert (
        line == f"out/{name}: tail_drop, seed 4 is no run of result.json; expected as 'sojourn run' wrote it"
    )
    sj.run(scenario, qdiscs="tail_drop", seeds=[1, 2, 3]).write(folder / "other")
    (other / name).rename(place / name)
    (line,) = refused("report", "out")
    assert line.startswith(f"out/{name}: red:min=5 packets,max=15 packets, seed 1, ")
    assert ": is missing; expected " in line


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("series.parquet", pl.col("seed").cast(pl.String), "column seed: is String; expected UInt64"),
        ("series.parquet", pl.col("value") * math.inf, "column value: "),
        ("series.parquet", pl.col("time") + 100, "column time: "),
        ("series.parquet", pl.lit(None, pl.String).alias("qdisc"), "column qdisc: has no value in some row"),
        ("distributions.parquet", pl.col("cumulative") * -1, "column cumulative: "),
    ],
)
def test_a_table_of_other_values_is_refused(made, refused, folder, name, change, message):
    path = made.write(folder / "out") / name
    pl.read_parquet(path).with_columns(change).write_parquet(path)
    (line,) = refused("report", "out")
    assert line.startswith(f"out/{name}: {message}"), line


def test_an_older_result_without_conservation_is_read(made, tmp_path):
    place = made.write(tmp_path / "out")
    document = json.loads((place / "result.json").read_text())
    for run in document["runs"]:
        del run["conservation"]
    (place / "result.json").write_text(json.dumps(document))
    assert sj.Result.read(place).qdiscs == made.qdiscs


def test_texts_in_tables_take_a_byte_a_row(made, scenario, tmp_path):
    for result in (made, sj.run(scenario)):
        for table in (result.series, result.distributions):
            for name in ("plant", "link", "qdisc", "name"):
                assert isinstance(table.schema[name], pl.Enum)
                assert table[name].to_physical().dtype == pl.UInt8
    assert made.series["qdisc"].dtype.categories.to_list() == made.qdiscs
    assert made.series.filter(pl.col("name") == "nobody").is_empty(), "compared as texts are"
    older = made.write(tmp_path / "out")
    texts = made.series.with_columns(pl.col(pl.Enum).cast(pl.String))
    texts.write_parquet(older / "series.parquet")
    assert_frame_equal(sj.Result.read(older).series, made.series)


def test_a_write_that_fails_leaves_the_earlier_result(made, tmp_path, monkeypatch):
    place = made.write(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in place.iterdir()}

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(sj.NotWritten, match="No space left on device"):
        made.write(place)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_qdiscs_are_texts_or_parameter_classes(scenario):
    by_text = sj.run(scenario, qdiscs=["pi:target=10 packets"])
    by_class = sj.run(scenario, qdiscs=[sj.laws.Pi(target="10 packets")])
    assert by_text.runs == by_class.runs
    assert sj.run(scenario, qdiscs=[sj.laws.TailDrop()]).qdiscs == ["tail_drop"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"seeds": []}, "^seeds: no seed is given"),
        ({"seeds": [1, 1]}, "^seeds: 1 is given twice"),
        ({"seeds": [-1]}, "^seeds: -1 is not a seed"),
        ({"seeds": range(200_000)}, "^seeds: more than 100000 seeds"),
        ({"jobs": 0}, "^jobs: 0 is not a number of workers"),
        ({"jobs": "2"}, "^jobs: '2' is not a number of workers"),
        ({"jobs": 1.5}, "^jobs: 1.5 is not a number of workers"),
        ({"qdiscs": ["nonsense"]}, "^qdiscs: "),
        ({"qdiscs": []}, "^qdiscs: the list is empty; expected "),
        ({"qdiscs": 3}, "^qdiscs: 3 is no list of qdiscs; expected "),
        ({"qdiscs": [3]}, "^qdiscs: 3 is not a qdisc; expected "),
        ({"qdiscs": ["tail_drop", "tail_drop"]}, "^qdiscs: tail_drop is given twice"),
    ],
)
def test_wrong_arguments_are_input_errors(scenario, more, message):
    with pytest.raises(sj.InputError, match=message):
        sj.run(scenario, **more)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seeds": [1.5]}, "1.5 is not a seed"),
        ({"seeds": [True]}, "True is not a seed"),
        ({"seeds": 5}, "^seeds: 5 is no list of seeds"),
        ({"seeds": "1..5"}, "'1..5' is no list of seeds"),
        ({"qdiscs": [sj.laws.Pi]}, r"^qdiscs: Pi is a class; expected an object of it, Pi\(\)"),
    ],
)
def test_misused_arguments_are_one_line(scenario, arguments, message):
    with pytest.raises(sj.InputError, match=message):
        sj.run(scenario, **arguments)


def test_a_file_name_is_not_a_scenario():
    with pytest.raises(sj.InputError, match=r"expected what sj\.load"):
        sj.run("scenarios/dumbbell.toml")


def test_one_qdisc_needs_no_list(scenario):
    assert sj.run(scenario, qdiscs="tail_drop").qdiscs == sj.run(scenario, qdiscs=sj.laws.TailDrop()).qdiscs


def test_overrides_are_numbers_flags_or_text(folder):
    import numpy as np

    given = {"flows[0].count": 20, "flows[0].ecn": False, "duration": "5 s"}
    document = json.loads(sj.load(folder / "small.toml", given).to_json())
    assert (document["flows"][0]["count"], document["flows"][0]["ecn"], document["duration"]) == (
        20,
        False,
        "5 s",
    )
    sj.load(folder / "small.toml", {"flows[0].count": np.int64(3)})
    qdisc = {
        "bottleneck.qdisc.law": "red",
        "bottleneck.qdisc.max_p": 0.25,
        "bottleneck.qdisc.max": "30 packets",
    }
    assert "max_p=0.25" in sj.load(folder / "small.toml", qdisc).qdisc


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"flows[0].count": None}, r"^flows\[0\]\.count: None is not a value; expected a number"),
        ({"flows[0].count": [20]}, r"^flows\[0\]\.count: \[20\] is not a whole number"),
        ({"flows[0].count": 2.5}, r"flows\[0\]\.count: "),
        ({"flows[0].count": float("nan")}, r"flows\[0\]\.count: "),
        ({"flows[0].count": True}, r"flows\[0\]\.count: "),
        ({"duration": 20}, r"duration: "),
        ({3: "x"}, r"^overrides: 3 is not a key; expected "),
        (["duration"], r"^overrides: \['duration'\] is no dict; expected "),
    ],
)
def test_an_invalid_override_names_its_key(folder, overrides, message):
    with pytest.raises(sj.InputError, match=message):
        sj.load(folder / "small.toml", overrides)


@pytest.mark.parametrize("path", [3, None, "", " ", "a\0b", b"small.toml"])
def test_an_invalid_file_name_is_an_input_error(path):
    with pytest.raises(sj.InputError, match=r"is no file name; expected a scenario file"):
        sj.load(path)


def test_an_input_error_is_a_value_error(folder):
    with pytest.raises(ValueError, match="no such file"):
        sj.load(folder / "nowhere.toml")


def test_a_failing_run_names_itself_and_keeps_the_others(scenario, monkeypatch):
    from sojourn import _core

    real, lock = _core.run, threading.Lock()

    def run(one, seed, ticket, **more):
        if seed == 2:
            with lock:
                raise RuntimeError("the queue\nburst")
        return real(one, seed, ticket, **more)

    monkeypatch.setattr(_core, "run", run)
    with pytest.raises(sj.RunFailed, match="tail_drop, seed 2: the run failed: the queue burst") as caught:
        sj.run(scenario, seeds=[1, 2, 3], jobs=1)
    # The third may have been done before the failure was noticed.
    assert [one.seed for one in caught.value.result.runs] in ([1], [1, 3])


def test_the_failure_reported_is_the_first_in_order_not_in_time(scenario, monkeypatch):
    from sojourn import _core

    real, last = _core.run, threading.Event()

    def run(one, seed, ticket, **more):
        if seed == 3:
            last.set()
            raise RuntimeError("late in order, early in time")
        assert last.wait(10)
        time.sleep(0.3)  # long enough for the failure of the third to be noticed
        if seed == 2:
            raise RuntimeError("early in order")
        return real(one, seed, ticket, **more)

    monkeypatch.setattr(_core, "run", run)
    with pytest.raises(sj.RunFailed, match="tail_drop, seed 2: the run failed: early in order") as caught:
        sj.run(scenario, seeds=[1, 2, 3, 4], jobs=3)
    assert [one.seed for one in caught.value.result.runs] == [1]


def test_progress_is_reported_and_ends_at_one(scenario):
    from sojourn.simulate import carry_out, make_plan

    progress = []
    carry_out(make_plan(scenario, seeds=range(3)), lambda done, fraction: progress.append((done, fraction)))
    assert progress[-1] == (3, 1.0)
    assert all(0 <= fraction <= 1 for _, fraction in progress)


def _run(seed, metrics):
    from sojourn.result import Row

    return Row("packet", "tail_drop", seed, "bottleneck", metrics, {})
