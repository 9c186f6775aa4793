"""Sweeps on Dask and Ray, on clusters of this machine: the bytes of the store are those of threads.

They take a minute to start, and so have a target of their own (`make engines`).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.environ.get("ENGINES") != "1", reason="Dask and Ray start slowly: make engines"),
]

LAW = """\
import sojourn as sj


class Mine(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        return min(1.0, 1e-4 * seen.backlog_packets)
"""
# Laws of the catalogue, designed ones and in Python; and one that the scenario refuses.
GRID = """\
scenario = "dumbbell"
set = { duration = "4 s", warmup = "1 s", at = [] }
seeds = "1..5"
[axes]
qdisc = ["pi", "codel", "law.py:Mine", { design = "pi", target = "80 ms" }, "pi:target=900packets"]
"flows[0].count" = [20, 40]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "law.py").write_text(LAW)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "sojourn", *map(str, words)]


def swept(place: Path, store: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("sweep", "grid.toml", "--out", store, "--json", *words),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def cells(place: Path, store: str) -> bytes:
    return (place / store / "cells-all.parquet").read_bytes()


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_two_workers_give_the_bytes_of_threads(engine: str, place: Path) -> None:
    local = swept(place, "local.sweep")
    started = time.monotonic()
    found = swept(place, "other.sweep", "--engine", engine, "--jobs", 2)
    print(f"{engine}: 50 cells in {time.monotonic() - started:.1f} s with the start")
    # Ten cells are refused, as the grid has it.
    assert (local.returncode, found.returncode) == (1, 1), found.stderr
    assert cells(place, "other.sweep") == cells(place, "local.sweep")
    first, second = (json.loads(one.stdout) for one in (local, found))
    assert second["ran"] == 50
    assert first["summary"] == second["summary"]
    assert len(second["failed"]) == 10
    # Nothing is left to run, and nothing starts.
    started = time.monotonic()
    again = swept(place, "other.sweep", "--engine", engine)
    assert json.loads(again.stdout)["ran"] == 0


def test_a_running_dask_cluster_is_used(place: Path) -> None:
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"],
        stderr=subprocess.PIPE,
        text=True,
    )
    worker = None
    try:
        assert scheduler.stderr is not None
        address = next(
            found[1] for line in scheduler.stderr if (found := re.search(r"(tcp://127\S+|tcp://\S+)", line))
        )
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-dashboard",
            ],
            stderr=subprocess.DEVNULL,
        )
        found = swept(place, "other.sweep", "--engine", "dask", "--cluster", address)
        assert found.returncode == 1, found.stderr
        swept(place, "local.sweep")
        assert cells(place, "other.sweep") == cells(place, "local.sweep")
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.terminate()
                process.wait(30)


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_address_without_a_cluster_is_one_line(engine: str, place: Path) -> None:
    address = "tcp://127.0.0.1:9" if engine == "dask" else "127.0.0.1:9"
    found = swept(place, "other.sweep", "--engine", engine, "--cluster", address)
    assert found.returncode == 2, found.stderr
    assert f"cluster: {address} does not answer" in found.stderr


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_interrupt_keeps_what_has_finished(engine: str, place: Path) -> None:
    (place / "grid.toml").write_text(GRID.replace("1..5", "1..400").replace('"4 s"', '"20 s"'))
    process = subprocess.Popen(
        command("sweep", "grid.toml", "--out", "cut.sweep", "--engine", engine, "--jobs", 2),
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    journal = place / "cut.sweep" / "journal.jsonl"
    end = time.monotonic() + 120
    while time.monotonic() < end and not (journal.exists() and journal.stat().st_size > 0):
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=120)
    assert process.returncode == 130, printed
    kept = int(re.search(r"(\d+) of 4000 cells had finished", printed)[1])  # type: ignore[index]
    assert kept > 0
    assert list((place / "cut.sweep").glob("cells-*.parquet"))
