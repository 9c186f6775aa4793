"""Fixtures of the Python tests: a short scenario, and the command as a user runs it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

# Modules shared by several tests are in this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from lab import LIVE
from small import LONGER, OF_FLUIDS, RED, SAMPLED, SCENARIO


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
def sojourn(folder, monkeypatch, capsys):
    """Run `sojourn` with arguments in the user's folder; returns exit code, stdout and stderr.

    In this process, unless options of a process are given: `env`, or any of `subprocess.run`.
    """
    from sojourn.cli import main

    def command(*arguments, cwd=folder, **process):
        words = [*map(str, arguments)]
        if process:
            return started(words, cwd, **process)
        with monkeypatch.context() as here:
            here.chdir(cwd)
            here.setenv("COLUMNS", "120")
            here.setenv("MPLBACKEND", "agg")
            capsys.readouterr()
            code = main(words)
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    return command


def started(words, cwd, env=None, **more):
    """`sojourn` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sojourn", *words],
        cwd=cwd,
        env=os.environ | {"COLUMNS": "120"} | (env or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
        **more,
    )


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without Matplotlib's pictures, which take nearly all the time; sentences and numbers stay."""
    for module in ("classes", "comparison"):
        monkeypatch.setattr(f"sojourn.report.{module}.panels", lambda *_: {})
    monkeypatch.setattr("sojourn.report.figures.drawn", lambda _: '<svg viewBox="0 0 1 1"></svg>')


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Run a command with wrong input, in this process: exit 2, empty stdout; returns the lines of stderr."""
    from sojourn.cli import main

    monkeypatch.chdir(folder)

    def command(*arguments):
        capsys.readouterr()
        assert main([*map(str, arguments)]) == 2
        output = capsys.readouterr()
        assert output.out == ""
        assert "Usage" not in output.err
        return output.err.splitlines()

    return command


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A result of two qdiscs and three seeds, as written and read back."""
    import sojourn as sj

    place = tmp_path_factory.mktemp("made")
    (place / "small.toml").write_text(SCENARIO)
    result = sj.run(sj.load(place / "small.toml"), qdiscs=["tail_drop", RED], seeds=range(1, 4))
    result.write(place / "out")
    return sj.Result.read(place / "out")


@pytest.fixture(scope="session")
def both(made):
    """The same result with an invented fluid: its first seed with longer queues."""
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
    own = {qdisc: [run for run in made.runs if run.qdisc == qdisc] for qdisc in made.qdiscs}
    runs = tuple(run for packets in own.values() for run in (poured(packets[0]), *packets))
    return replace(made, runs=runs, series=pl.concat([fluid, packet]), distributions=distributions)


@pytest.fixture(scope="session")
def root():
    """Root of the repository."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def maths(root):
    """Compare values with the references' numbers at their tolerances."""
    import numpy as np

    references = json.loads((root / "tests" / "reference" / "maths.json").read_text())

    def hold(key, values):
        want = references[key]
        np.testing.assert_allclose(
            values, want["value"], rtol=want["rtol"], atol=want.get("atol", 0), err_msg=key
        )

    return hold


@pytest.fixture
def live(folder, sojourn, refused):
    """`sojourn lab live.toml`, or a skip where the machine does not allow it."""
    (folder / "live.toml").write_text(LIVE)

    def lab(*arguments):
        done = sojourn("lab", "live.toml", *arguments)
        if done.returncode == 3:
            refused(done.stderr.strip())
        return done

    return lab
