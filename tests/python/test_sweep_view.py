"""The view of a sweep that runs: its figures, at a terminal and elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from sojourn.cli.watching import Pace, metric_of, view
from sojourn.sweep.grid import read
from sojourn.sweep.store import Record
from sojourn.sweep.until import Until


def cell(value=None, error=None):
    metrics = {} if value is None else {"queue_mean_packets": value}
    rows = [("bottleneck", "bulk", None, {"queue_mean_packets": 1e9}), ("bottleneck", None, None, metrics)]
    return Record("0", "pi", [] if error else rows, error)


def test_facts_are_cells_rate_time_left_and_the_metric():
    pace = Pace("queue_mean_packets", 100.0)
    pace.add(1, 1000, cell(20.0), 101.0)
    pace.add(2, 1000, cell(40.0), 102.0)
    pace.add(3, 1000, cell(error="no"), 103.0)
    assert pace.facts(103.0) == [
        "3 of 1000 cells",
        "1 cells/s",
        "16:37 left",
        "1 failed",
        "queue mean 30 (20 to 40) packets",
    ]


def test_a_rate_is_that_of_the_last_seconds():
    pace = Pace("queue_mean_packets", 0.0)
    # A hundred cells a second, then one.
    for n in range(1, 10_001):
        pace.add(n, 20_000, cell(), n / 100)
    assert pace.rate(100.0) == pytest.approx(100, rel=0.01)
    for n in range(1, 61):
        pace.add(10_000 + n, 20_000, cell(), 100.0 + n)
    assert pace.rate(160.0) == pytest.approx(1, rel=0.05)
    assert len(pace.recent) <= 32
    assert pace.facts(160.0)[2] == "2:45:40 left"


def test_the_metric_is_that_of_the_precision_or_the_first_picture():
    grid = read("delay")
    assert metric_of(grid, None) == "sojourn_p95_s"
    assert metric_of(grid, Until("utilization", 0.02)) == "utilization"
    assert metric_of(read({"scenario": "dumbbell", "axes": {"qdisc": ["pi"]}}), None) == "queue_mean_packets"


def test_where_there_is_no_terminal_it_is_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr("sojourn.cli.watching.EVERY_S", 0.0)
    with view("queue_mean_packets", quiet=False) as watch:
        watch(1, 2, cell(20.0))
    line = capsys.readouterr().err
    assert line.startswith("1 of 2 cells, ")
    assert line.endswith("queue mean 20 (20 to 20) packets\n")
    with view("queue_mean_packets", quiet=True) as watch:
        assert watch is None


@pytest.mark.slow
def test_at_a_terminal_it_is_a_view(folder):
    (folder / "grid.toml").write_text(
        'scenario = "dumbbell"\nseeds = "1..30"\n[axes]\nqdisc = ["pi", "codel"]\n'
    )
    terminal, theirs = pty.openpty()
    command = [sys.executable, "-m", "sojourn", "sweep", "grid.toml", "--jobs", "1"]
    environment = os.environ | {"COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            seen += part
        printed = process.stdout.read().decode()
    os.close(terminal)
    assert process.returncode == 0
    text = seen.decode()
    assert "of 60 cells" in text
    assert "cells/s" in text
    assert " left" in text
    assert "queue mean" in text
    # The view is gone in the end, and no part of the summary.
    assert "cells/s" not in printed
