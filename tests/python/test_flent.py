"""Data files of Flent: ours as Flent itself opens them, and those of Flent as it summarises them."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn import flent
from sojourn.errors import InputError

THEIRS = Path(__file__).parents[1] / "reference" / "flent"
RRUL = {"duration": "12 s", "warmup": "2 s"}
UPLOADS = """\
title    = "Uploads, a download beside them, and a ping"
duration = "12 s"
warmup   = "2 s"

[bottleneck]
rate   = "10 Mbit/s"
delay  = "10 ms"
buffer = "60 packets"
qdisc  = "tail_drop"
back   = { buffer = "60 packets" }

[[flows]]
name  = "up"
count = 3
"""
DOWN = '\n[[flows]]\nname = "down"\ncount = 2\nfrom = "right"\nto = "left"\n'
PING = '\n[[flows]]\nname = "probe"\napp = "ping"\n'


def flent_itself() -> str:
    """Flent's own command, which `make flent-check` installs."""
    found = os.environ.get("FLENT") or shutil.which("flent")
    if found is None:
        pytest.skip("Flent is not installed: make flent-check")
    return found


def ask(*arguments: object) -> str:
    """What Flent prints."""
    command = [flent_itself(), *map(str, arguments)]
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def rrul(tmp_path_factory):
    """A folder with the files of rrul under two qdiscs, and the result of their runs."""
    folder = tmp_path_factory.mktemp("rrul")
    scenario = sj.load("home/rrul", RRUL)
    result = sj.run(scenario, ["tail_drop", "fq_codel"], record=["flent"], into=folder)
    return folder, result


@pytest.fixture
def load(tmp_path):
    """Load a scenario of a text."""

    def loaded(text: str, **overrides: str) -> sj.Scenario:
        (tmp_path / "scenario.toml").write_text(text)
        return sj.load(
            tmp_path / "scenario.toml", {key.replace("_", "."): one for key, one in overrides.items()}
        )

    return loaded


def written(scenario, tmp_path, qdiscs=None, **options):
    """The captures that a run with `record="flent"` leaves."""
    sj.run(scenario, qdiscs, record=["flent"], into=tmp_path / "out", **options)
    return {path.name: flent.read(path) for path in sorted((tmp_path / "out").iterdir())}


# ---- Ours, in numbers of the result -------------------------------------------------------------------


def test_rrul_has_the_series_of_rrul_be_and_one_file_for_each_qdisc_and_seed(rrul):
    folder, _ = rrul
    assert sorted(os.listdir(folder)) == [
        "rrul_be.fq_codel.seed1.flent.gz",
        "rrul_be.tail_drop.seed1.flent.gz",
    ]
    ours, theirs = (flent.read(path) for path in (next(folder.iterdir()), THEIRS / "rrul_be.flent.gz"))
    assert set(ours.results) == set(theirs.results)
    assert set(ours.metadata) == set(theirs.metadata)
    assert set(ours.metadata["SERIES_META"]) == set(theirs.metadata["SERIES_META"])
    assert all(
        ours.raw_values[name] for name in (*ours.pings, *ours.flows("upload"), *ours.flows("download"))
    )


@pytest.mark.parametrize("qdisc", ["tail_drop", "fq_codel"])
def test_goodputs_and_pings_are_those_of_the_result(rrul, qdisc):
    folder, result = rrul
    capture = flent.read(folder / f"rrul_be.{qdisc}.seed1.flent.gz")
    for direction, name in (("upload", "rrul-up"), ("download", "rrul-down")):
        (of_class,) = result.values(qdisc, "goodput_bps", traffic_class=name).values()
        assert capture.goodput(direction) == pytest.approx(of_class / 1e6, rel=1e-4)
    names = ("rrul-ping", "rrul-ping-be", "rrul-ping-bk", "rrul-ping-ef")
    for series, name in zip(capture.pings, names, strict=True):
        values = capture.samples(series).values / 1e3
        for metric, found, rel in (
            # A ping that is on its way as the warm-up or the run ends is in one of the two alone.
            ("rtt_mean_s", values.mean(), 0.02),
            ("rtt_p50_s", np.median(values), 0.03),
            ("rtt_max_s", values.max(), 1e-6),
        ):
            (expected,) = result.values(qdisc, metric, traffic_class=name).values()
            assert found == pytest.approx(expected, rel=rel), (series, metric)


def test_flows_have_goodputs_of_their_own(rrul):
    folder, _ = rrul
    capture = flent.read(folder / "rrul_be.tail_drop.seed1.flent.gz")
    means = [capture.samples(name).mean for name in capture.flows("download")]
    assert max(means) > 1.5 * min(means)
    assert sum(means) == pytest.approx(capture.goodput("download"))


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        (UPLOADS, "tcp_nup", {"upload_streams": "3"}),
        (UPLOADS + PING, "tcp_nup", {"upload_streams": "3"}),
        (UPLOADS.replace('"up"', '"x"\nfrom = "right"\nto = "left"'), "tcp_ndown", {"download_streams": "3"}),
        (UPLOADS + DOWN + PING, "rrul_be_nflows", {"upload_streams": "3", "download_streams": "2"}),
    ],
)
def test_bulk_flows_are_the_tests_of_their_directions(text, name, parameters, load, tmp_path):
    (capture,) = written(load(text), tmp_path).values()
    assert (capture.test, capture.metadata["TEST_PARAMETERS"]) == (name, parameters)
    assert len(capture.samples("Ping (ms) ICMP").values) > 40


def test_a_result_has_files_too_in_each_plant(load, tmp_path):
    scenario = load(UPLOADS.replace('back   = { buffer = "60 packets" }\n', ""))
    result = sj.run(scenario, "pi", plants=["fluid", "packet"])
    paths = result.to_flent(tmp_path / "made" / "here")
    assert [path.name for path in paths] == [
        "tcp_nup.pi.fluid.seed1.flent.gz",
        "tcp_nup.pi.seed1.flent.gz",
    ]
    for path, plant in zip(paths, ("fluid", "packet"), strict=True):
        (expected,) = result.values("pi", "goodput_bps", plant=plant).values()
        capture = flent.read(path)
        assert capture.goodput("upload") == pytest.approx(expected / 1e6, rel=1e-4)
        assert "equal shares" in capture.metadata["NOTE"]


def test_a_table_of_packets_gives_flows_goodputs_of_their_own(load, tmp_path):
    scenario = load(UPLOADS)
    result = sj.run(scenario, record=["packets=bottleneck"], into=tmp_path)
    (path,) = result.to_flent(tmp_path / "out", tmp_path / "packets.parquet")
    means = [flent.read(path).samples(f"TCP upload::{place}").mean for place in (1, 2, 3)]
    assert len(set(means)) == 3
    other = tmp_path / "other.parquet"
    pl.DataFrame({"qdisc": ["pi"]}).write_parquet(other)
    with pytest.raises(InputError, match=r"^packets: .*no column"):
        result.to_flent(tmp_path / "out", other)


def test_the_same_run_is_the_same_bytes(load, tmp_path):
    scenario = load(UPLOADS)
    for folder in ("one", "two"):
        sj.run(scenario, record="flent", into=tmp_path / folder)
    one, two = (next((tmp_path / folder).iterdir()).read_bytes() for folder in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (UPLOADS + 'app = "voip"\n', "no test of Flent is like this scenario, which has no bulk flows"),
        (
            UPLOADS.replace("count = 3", 'arrivals = { poisson = "1 s" }\napp = "mice"'),
            "no test of Flent is like this scenario",
        ),
        (UPLOADS + 'lifetime = { exponential = "3 s" }', "class up has flows that come and go"),
        (UPLOADS.replace("count = 3", "count = 1001"), "the scenario has 1001 bulk flows"),
    ],
)
def test_a_scenario_without_a_test_of_flent_is_refused_in_one_line(text, message, load, tmp_path):
    with pytest.raises(InputError, match=f"^record flent: {message}.*; expected ") as found:
        sj.run(load(text), record="flent", into=tmp_path / "out")
    assert len(found.value.lines) == 1
    assert not (tmp_path / "out").exists()


def test_queues_apart_need_a_ping_of_the_scenario(load, tmp_path):
    with pytest.raises(sj.RunFailed, match=r"fq_codel has several queues.*app = \"ping\""):
        sj.run(load(UPLOADS), "fq_codel", record="flent", into=tmp_path / "out")
    sj.run(load(UPLOADS + PING), "fq_codel", record="flent", into=tmp_path / "out")


# ---- Ours, as Flent opens them ------------------------------------------------------------------------


def summary_of(*paths: Path) -> dict[str, tuple[str, ...]]:
    """Average, median and 99th percentile of each series, as Flent prints them."""
    rows = re.findall(r"^ (\S.*?) +: +(\S+) +(\S+) +(\S+) ", ask("-i", *paths, "-f", "summary"), flags=re.M)
    return {name: tuple(values) for name, *values in rows}


def ours_of(path: Path) -> dict[str, tuple[str, ...]]:
    """The same of our summary."""
    texts = ("N/A" if value is None else f"{value:.2f}" for value in ())
    del texts
    return {
        one.name: tuple(
            "N/A" if value is None else f"{value:.2f}" for value in (one.mean, one.median, one.p99)
        )
        for one in flent.read(path).summary()
    }


@pytest.mark.parametrize("qdisc", ["tail_drop", "fq_codel"])
def test_flent_summarises_our_files_in_our_numbers(rrul, qdisc):
    path = rrul[0] / f"rrul_be.{qdisc}.seed1.flent.gz"
    theirs = summary_of(path)
    assert len(theirs) == 18
    assert theirs == ours_of(path)


@pytest.mark.parametrize("name", ["rrul_be", "tcp_nup"])
def test_flents_own_files_have_the_summary_that_it_prints(name):
    path = THEIRS / f"{name}.flent.gz"
    theirs, ours = summary_of(path), ours_of(path)
    assert theirs.keys() == ours.keys()
    for series, values in theirs.items():
        for one, two in zip(values, ours[series], strict=True):
            assert one == two or float(one) == pytest.approx(float(two), abs=0.0101)


@pytest.mark.parametrize(
    "plot", ["all", "all_scaled", "ping_cdf", "totals", "box_totals", "box_ping", "box_combine", "upload"]
)
def test_flent_draws_rrul(rrul, plot, tmp_path):
    draw(plot, tmp_path, *sorted(rrul[0].iterdir()))


@pytest.mark.parametrize("plot", ["totals", "ping_cdf", "upload", "upload_box", "box_totals", "box_combine"])
def test_flent_draws_uploads(plot, load, tmp_path):
    scenario = load(UPLOADS)
    sj.run(scenario, ["pi", "tail_drop"], record="flent", into=tmp_path / "out")
    draw(plot, tmp_path, *sorted((tmp_path / "out").iterdir()))


def draw(plot: str, folder: Path, *paths: Path) -> None:
    """Let Flent draw a picture, which must not be empty."""
    path = folder / "plot.png"
    ask("-i", *(paths if "combine" in plot else paths[:1]), "-p", plot, "-o", path)
    assert path.stat().st_size > 5_000
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


# ---- Files of others ----------------------------------------------------------------------------------


def document() -> dict:
    return json.loads(gzip.decompress((THEIRS / "tcp_nup.flent.gz").read_bytes()))


def test_captures_of_flent_are_read():
    found = {path.name: flent.read(path) for path in THEIRS.iterdir()}
    rrul, uploads = found["rrul_be.flent.gz"], found["tcp_nup.flent.gz"]
    assert uploads.flows("upload") == [f"TCP upload::{place}" for place in range(1, 5)]
    assert (rrul.flows("download")[1], uploads.flows("download")) == ("TCP download BE2", [])
    begin, end = uploads.loaded
    assert 4.5 < begin < 5.5
    assert 8.5 < end < 9.5
    # netperf's own throughputs, over the lengths of its intervals.
    sums = uploads.metadata["SERIES_META"]["TCP upload sum"]["MEAN_VALUE"]
    assert uploads.goodput("upload") == pytest.approx(sums, rel=0.01)
    assert len(uploads.loaded_pings()) < len(uploads.samples("Ping (ms) ICMP").values)


def zipped(content: bytes) -> bytes:
    """The content, without the time: each process of the tests collects the same bytes."""
    return gzip.compress(content, mtime=0)


def changed(**parts: object) -> bytes:
    return zipped(json.dumps(document() | parts).encode())


WHOLE = (THEIRS / "tcp_nup.flent.gz").read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends early"),
        (b"no gzip", "is not gzip"),
        (WHOLE[:-100], "ends early"),
        (WHOLE[:2000] + b"x" + WHOLE[2001:], "is not gzip|does not hold JSON"),
        (zipped(b"no json"), "does not hold JSON"),
        (zipped(b"[1]"), "does not hold a JSON object"),
        (zipped(b"[" * 100_000), "does not hold JSON"),
        (zipped(b"\xff\xfe"), "does not hold JSON"),
        (zipped(b"{}"), "has no metadata"),
        (changed(version=3), "is of version 3; expected 4"),
        (changed(x_values=[]), "x_values are no list of times"),
        (changed(x_values=[0.0, "a"]), "x_values are no list of times"),
        (changed(results={}), "has no series"),
        (changed(results={"TCP upload": [1.0]}), "has 1 values; expected"),
        (changed(results={"TCP upload": "no list"}), "is no list of numbers"),
        (changed(raw_values={"TCP upload::1": [3]}), "are no samples"),
        (changed(raw_values={"TCP upload::1": [{"t": "x", "val": 1}]}), "are no samples"),
        (changed(metadata=[]), "has no metadata"),
        (changed(metadata={"NAME": 3}), "NAME is no text"),
        (changed(metadata={"SERIES_META": {"a": 3}}), "SERIES_META is no table"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(content, message, tmp_path):
    path = tmp_path / "x.flent.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as found:
        flent.read(path)
    (line,) = found.value.lines
    assert line.startswith(f"{path}: ")
    assert "; expected" in line


def test_a_file_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sojourn.flent.reading.MOST_INSIDE", 1_000_000)
    path = tmp_path / "x.flent.gz"
    path.write_bytes(gzip.compress(b"0" * 5_000_000))
    with pytest.raises(InputError, match="unpacks to more than"):
        flent.read(path)
    monkeypatch.setattr("sojourn.flent.reading.MOST_BYTES", 1_000)
    with pytest.raises(InputError, match="is too large"):
        flent.read(path)


# ---- Commands -----------------------------------------------------------------------------------------


def test_report_draws_captures_and_prints_their_summaries(sojourn, folder):
    for name in ("tcp_nup", "rrul_be"):
        shutil.copy(THEIRS / f"{name}.flent.gz", folder)
    done = sojourn("report", "rrul_be.flent.gz")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "loopback: rrul_be"
    assert done.stdout.splitlines()[-1] == "rrul_be.html"
    assert re.search(r"^TCP upload BE2 +256\.44 +259\.16 +755\.75 +14 +Mbits/s$", done.stdout, flags=re.M)
    page = (folder / "rrul_be.html").read_text()
    assert re.findall(r'<figure id="(\w+)"', page) == ["upload", "download", "pings", "boxes", "cdf"]
    assert "https://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page.partition("<main>")[2])
    done = sojourn("report", "rrul_be.flent.gz", "tcp_nup.flent.gz", "-o", "both.html")
    assert done.returncode == 0
    both = (folder / "both.html").read_text()
    assert "loopback (tcp_nup.flent.gz)" in both
    assert both.count("<table") == 2


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["missing.flent.gz"], "missing.flent.gz: is missing; expected a file that Flent or Sojourn wrote"),
        (["cut.flent.gz"], "cut.flent.gz: ends early; expected the whole file"),
        (["cut.flent.gz", "out"], "DIR: out is no data file of Flent; expected such alone, or one folder"),
        (["a", "b"], "DIR: 2 folders are given; expected one, or files such as a.flent.gz"),
        (["cut.flent.gz", "--baseline", "pi"], "--baseline: captures of Flent have none"),
    ],
)
def test_report_refuses_other_files_in_one_line(arguments, line, sojourn, folder):
    (folder / "cut.flent.gz").write_bytes(WHOLE[:-100])
    done = sojourn("report", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (only,) = done.stderr.splitlines()
    assert only.removeprefix("sojourn report: ").startswith(line)


def test_compare_holds_a_capture_against_a_simulation(sojourn, folder):
    (folder / "up.toml").write_text(UPLOADS + PING)
    run = ("run", "up.toml", "--quiet", "--seeds")
    assert sojourn(*run, "1", "--record", "flent", "--out", "one").returncode == 0
    assert sojourn(*run, "2..4", "--out", "others").returncode == 0
    capture = "one/tcp_nup.tail_drop.seed1.flent.gz"
    done = sojourn("compare", capture, "others", "--tolerance", "20%")
    assert done.returncode == 0, done.stdout
    lines = [line.split(",")[0] for line in done.stdout.splitlines()[2:]]
    assert lines == ["upload", "ping median", "ping p95", "ping p99"]
    assert sojourn(*run, "2..4", "--qdisc", "pi", "--out", "pi").returncode == 0
    done = sojourn("compare", capture, "pi", "--metric", "ping_p50_s", "--json")
    assert done.returncode == 1
    (row,) = json.loads(done.stdout)["metrics"]
    pings = flent.read(folder / capture).samples("Ping (ms) ICMP").values
    assert row["mean_left"] == pytest.approx(np.median(pings) / 1e3, rel=0.02)
    assert (row["metric"], row["n_right"], row["verdict"]) == ("ping_p50_s", 3, "differs")


def test_compare_of_two_captures(sojourn, folder):
    for name in ("tcp_nup", "rrul_be"):
        shutil.copy(THEIRS / f"{name}.flent.gz", folder)
    assert sojourn("compare", "tcp_nup.flent.gz", "tcp_nup.flent.gz").returncode == 0
    done = sojourn("compare", "tcp_nup.flent.gz", "rrul_be.flent.gz")
    assert done.returncode == 1
    assert "upload, Mbit/s" in done.stdout
    assert "download" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["x.flent.gz"], "B: a capture of Flent has one plant"),
        (["x.flent.gz", "gone.flent.gz"], "gone.flent.gz: is missing; expected"),
        (
            ["x.flent.gz", "x.flent.gz", "--metric", "utilization"],
            '--metric: "utilization" is none of captures',
        ),
        (["x.flent.gz", "x.flent.gz", "--metric", "download_bps"], "--metric: download_bps has no value"),
    ],
)
def test_compare_refuses_in_one_line(arguments, line, sojourn, folder):
    shutil.copy(THEIRS / "tcp_nup.flent.gz", folder / "x.flent.gz")
    done = sojourn("compare", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (only,) = done.stderr.splitlines()
    assert only.removeprefix("sojourn compare: ").startswith(line)
