"""The store of a sweep: whatever ends it, whatever changes meanwhile, each cell has the data of its hash."""

import contextlib
import subprocess
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.sweep.store import Store

GRID = {
    "scenario": "dumbbell",
    "set": {"duration": "2 s", "warmup": "1 s", "at": [], "flows[0].count": 2},
    "axes": {"qdisc": ["pi", "codel"]},
}
UNTIL = {"until": "queue_mean_packets=5%", "most_seeds": 30}
LAW = """\
import sojourn as sj

GAIN = 1e-3


class Mine(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        return min(1.0, GAIN * seen.backlog_packets)
"""


class Killed(BaseException):
    """The end of a process, as far as its files are concerned."""


@pytest.fixture
def law(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "mine.py").write_text(LAW)
    return folder / "mine.py"


def cells(folder):
    """All rows, by the names of their cells."""
    return pl.read_parquet(folder / "cells-*.parquet").sort("cell", "row")


@pytest.mark.parametrize("number", range(6))
def test_a_plan_is_that_of_its_key(tmp_path, monkeypatch, number):
    """Killed before one of the writings of plan and sheet, in the first round and in the next one."""
    good = sj.sweep(GRID, tmp_path / "good", **UNTIL)
    whole, written = Store.write, []

    def write(store, name, data):
        if name in ("plan.parquet", "sweep.json"):
            written.append(name)
            if len(written) > number:
                raise Killed
        whole(store, name, data)

    monkeypatch.setattr(Store, "write", write)
    with contextlib.suppress(Killed):
        sj.sweep(GRID, tmp_path / "killed", **UNTIL)
    monkeypatch.undo()
    found = sj.sweep(GRID, tmp_path / "killed", **UNTIL)
    assert_frame_equal(cells(found.folder), cells(good.folder))
    assert_frame_equal(found.plan, good.plan)
    assert found.about == good.about == sj.sweep.load(found.folder).about
    assert (found.folder / "sweep.json").read_bytes() == (good.folder / "sweep.json").read_bytes()


def test_indices_are_of_points_with_unlike_numbers_of_seeds(tmp_path, monkeypatch):
    """Sobol's indices after --until are those of the means at the points of the sample."""
    axes = {
        "target": {"key": "bottleneck.qdisc.target", "from": "5 packets", "to": "80 packets"},
        "flows": {"key": "flows[0].count", "from": 1, "to": 9},
    }
    grid = GRID | {"axes": axes, "sample": {"method": "saltelli", "points": 2}, "seeds": "1..20"}
    found = sj.sweep(grid, tmp_path / "a", until="queue_mean_packets=5%", most_seeds=40)
    assert found.plan.group_by("point").len()["len"].n_unique() > 1
    seen = []
    monkeypatch.setattr("sojourn.sweep.sobol", lambda values, _: seen.append(values) or [])
    with pytest.raises(sj.InputError):
        found.sensitivity("queue_mean_packets")
    rows = found.table().collect()
    means = [rows.filter(point=point)["queue_mean_packets"].mean() for point in range(2 * 4)]
    assert seen == [pytest.approx(means)]


def test_a_law_that_is_edited_while_its_sweep_runs_ends_it(law, folder):
    from sojourn.sweep import carry_out
    from sojourn.sweep.engines import Engine
    from sojourn.sweep.grid import read

    grid = GRID | {"axes": {"qdisc": ["mine.py:Mine"], "flows[0].count": [1, 2, 3, 4]}}
    good = sj.sweep(grid, folder / "good")

    def edit(_done, _todo, _record):
        edited.write_text(LAW.replace("1e-3", "1e-5"))
        edited.replace(law)

    edited = folder / "edited.py"
    with pytest.raises(SojournError, match=r"^mine\.py: changed while the sweep ran") as error:
        carry_out(read(grid), folder / "edited", Engine("local", None, 1), watch=edit)
    assert len(error.value.lines) == 1
    law.write_text(LAW)
    found = sj.sweep(grid, folder / "edited")
    assert 0 < found.found < 4
    assert_frame_equal(cells(found.folder), cells(good.folder))


def test_a_batch_has_no_cell_of_an_edited_law(law):
    from sojourn.sweep.cells import Cell, setting_at, setting_of
    from sojourn.sweep.engines import _batch
    from sojourn.sweep.grid import read

    grid = read(GRID | {"axes": {"qdisc": ["mine.py:Mine"]}})
    (point,) = grid.points()
    name = setting_at(grid, point, None).cell(1)
    law.write_text(LAW.replace("1e-3", "1e-5"))
    with pytest.raises(SojournError, match="changed while the sweep ran"):
        _batch(iter([Cell(name, 0, point, 1)]), lambda cell: setting_of(grid, cell, None), 1)


def hashes(folder):
    """Names of cells of a law in a file, as a new process has them."""
    program = (
        "import sys; from sojourn.sweep.cells import settings; from sojourn.sweep.grid import read\n"
        f"grid = {GRID | {'axes': {'qdisc': ['mine.py:Mine', 'mine.py:Mine:gain=2']}}!r}\n"
        "print(*[one.cell(1) for one in settings(read(grid), None)])"
    )
    return subprocess.check_output([sys.executable, "-c", program], cwd=folder, text=True).split()


def test_a_cell_is_named_by_all_that_its_law_is_made_of(law, folder):
    law.write_text(
        "import sojourn as sj\nfrom parts import base\nfrom parts.base import Base\n\nGAIN = 1e-3\n\n\n"
        "def gained(x):\n    return GAIN * x\n\n\nclass Mine(Base):\n    label = 'mine'\n    gain = 1.0\n\n"
        "    def update(self, seen):\n        import late\n"
        "        return late.limited(base.SCALE * self.gain * gained(seen.backlog_packets))\n"
    )
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "base.py").write_text(
        "import sojourn as sj\nfrom .scale import SCALE\n\n\n"
        "class Base(sj.Controller):\n    period = '10 ms'\n"
    )
    (folder / "parts" / "scale.py").write_text("SCALE = 1.0\n")
    (folder / "late.py").write_text("def limited(p):\n    return min(1.0, p)\n")
    (folder / "other.py").write_text("UNUSED = 1\n")
    before = hashes(folder)
    assert before == hashes(folder)
    # A label of its own hides a parameter from names, not from cells.
    assert len({*before}) == 2
    for name, old, new in (
        ("mine.py", "GAIN = 1e-3", "GAIN = 2e-3"),
        ("mine.py", "GAIN * x", "GAIN * x / 2"),
        ("parts/base.py", "10 ms", "20 ms"),
        ("parts/scale.py", "1.0", "2.0"),
        ("late.py", "min(1.0", "min(0.5"),
    ):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(old, new))
        assert not {*before} & {*hashes(folder)}, f"{name}: {new}"
        (folder / name).write_text(text)
    (folder / "other.py").write_text("UNUSED = 2\n")
    assert hashes(folder) == before
