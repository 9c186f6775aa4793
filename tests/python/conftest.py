"""What the Python tests share: a short scenario, and the command as a user runs it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

# What several tests share stands beside them.
sys.path.insert(0, str(Path(__file__).resolve().parent))

SCENARIO = """\
title    = "Eight flows on a small link"
duration = "6 s"
warmup   = "1 s"

[bottleneck]
rate   = "2 Mbit/s"
delay  = "5 ms"
buffer = "40 packets"
disc   = { law = "tail_drop" }

[[flows]]
count   = 8
cc      = "newreno"
ecn     = true
segment = "1000 B"
access  = { rate = "20 Mbit/s", delay = { spread = ["8 ms", "12 ms"] } }
"""

RED = "red:min=5packets,max=15packets"

#: What a fluid has of metrics and of what is sampled, and how much longer the queues of an invented one are.
OF_FLUIDS = (
    "utilization",
    "queue_mean_packets",
    "queue_std_packets",
    "sojourn_mean_s",
    "drop_ratio",
    "mark_ratio",
)
SAMPLED = ("queue_packets", "sojourn_s", "p", "drop_ratio", "mark_ratio", "utilization", "window_packets")
LONGER = 1.25


@pytest.fixture
def folder(tmp_path):
    """A folder that holds small.toml, as a user's working folder."""
    (tmp_path / "small.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def scenario(folder):
    """The small scenario, loaded."""
    import sojourn as sj

    return sj.load(folder / "small.toml")


@pytest.fixture
def sojourn(folder):
    """Run `sojourn` with arguments in the user's folder; gives exit code, stdout and stderr."""

    def command(*arguments, **more):
        return subprocess.run(
            [sys.executable, "-m", "sojourn", *map(str, arguments)],
            cwd=more.pop("cwd", folder),
            env=os.environ | {"COLUMNS": "120"} | more.pop("env", {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            stdin=subprocess.DEVNULL,
            **more,
        )

    return command


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Give a command wrong input, in this process: exit 2, nothing on stdout; gives the lines on stderr."""
    from sojourn.cli import main

    monkeypatch.chdir(folder)

    def command(*arguments):
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert "Usage" not in said.err
        return said.err.splitlines()

    return command


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A result of two discs and three seeds, as written and read back."""
    import sojourn as sj

    place = tmp_path_factory.mktemp("made")
    (place / "small.toml").write_text(SCENARIO)
    result = sj.run(sj.load(place / "small.toml"), discs=["tail_drop", RED], seeds=range(1, 4))
    result.write(place / "out")
    return sj.Result.read(place / "out")


@pytest.fixture(scope="session")
def both(made):
    """That result beside what stands for a fluid's: its first seed with longer queues."""
    import polars as pl

    def poured(run):
        found = {name: value if name in OF_FLUIDS else None for name, value in run.metrics.items()}
        found["queue_mean_packets"] *= LONGER
        return replace(run, plant="fluid", metrics=found, conservation={}, cost={})

    names = pl.Enum(["fluid", "packet"])
    packet, distributions = (
        table.with_columns(pl.col("plant").cast(pl.String).cast(names))
        for table in (made.series, made.distributions)
    )
    fluid = packet.filter((pl.col("seed") == 1) & pl.col("name").is_in(SAMPLED))
    fluid = fluid.with_columns(pl.lit("fluid", names).alias("plant"))
    own = {disc: [run for run in made.runs if run.disc == disc] for disc in made.discs}
    runs = tuple(run for packets in own.values() for run in (poured(packets[0]), *packets))
    return replace(made, runs=runs, series=pl.concat([fluid, packet]), distributions=distributions)


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def maths(root):
    """Holds values to the references' numbers at their tolerances."""
    import numpy as np

    told = json.loads((root / "tests" / "reference" / "maths.json").read_text())

    def hold(key, values):
        want = told[key]
        np.testing.assert_allclose(
            values, want["value"], rtol=want["rtol"], atol=want.get("atol", 0), err_msg=key
        )

    return hold
