"""Batches of cells on a cluster, without one: `make engines` has Dask and Ray themselves."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass, field

import pytest

import sojourn as sj
from sojourn import _core
from sojourn.cli import main
from sojourn.errors import SojournError
from sojourn.sweep.engines import _Pace, work
from sojourn.sweep.grid import read
from sojourn.sweep.quantities import quantity
from sojourn.sweep.store import _FINAL, CELLS, Store

GRID = {
    "scenario": "dumbbell",
    "set": {"duration": "2 s", "warmup": "1 s", "at": [], "flows[0].count": 2},
    "axes": {"qdisc": ["pi", "codel", "pi:target=900packets"]},
    "seeds": range(1, 41),
}


@dataclass
class Here:
    """A cluster of this process: batches end in any order."""

    name: str = "here"
    workers: int = 3
    sizes: list[int] = field(default_factory=list)

    def submit(self, data):
        return [work(data)]

    def finished(self, handles, _timeout):
        return list(reversed(handles))

    def result(self, handle):
        _, records = pickle.loads(handle[0])
        self.sizes.append(len(records))
        return pickle.dumps((0.1 if len(records) < 8 else 9.0, records))

    def dumps(self, value):
        return pickle.dumps(value)


@pytest.fixture
def here(monkeypatch):
    cluster = Here()
    monkeypatch.setattr("sojourn.sweep.engines._dask", lambda *_: cluster)
    monkeypatch.setattr("sojourn.sweep.engines.Engine.require", lambda _: None)
    return cluster


def test_batches_give_the_bytes_of_threads_and_grow(here, tmp_path):
    local = sj.sweep(GRID, tmp_path / "local")
    found = sj.sweep(GRID, tmp_path / "other", engine="dask")
    assert found.ran == 120
    for name in ("cells-all.parquet", "plan.parquet", "sweep.json"):
        assert (found.folder / name).read_bytes() == (local.folder / name).read_bytes()
    assert sum(here.sizes) == 120
    # They grow until they take long enough.
    assert here.sizes[0] == 1
    assert max(here.sizes) >= 8


def test_batches_take_half_a_second_whatever_their_cells_take():
    pace = _Pace()
    for _ in range(20):
        pace.add(0.001 * pace.size, pace.size)
    assert pace.size == 256
    # The cells of the next points take a hundred times as long.
    sizes = []
    for _ in range(10):
        pace.add(0.1 * pace.size, pace.size)
        sizes.append(pace.size)
    assert sizes[0] < 10
    assert sizes[-1] == 5
    pace.add(60.0, 1)
    assert pace.size == 1
    # Batches without a time, and stopped ones without a cell.
    pace.add(0.0, 0)
    for _ in range(40):
        pace.add(0.0, pace.size)
    assert pace.size == 256


def test_a_worker_of_another_build_is_refused(here, tmp_path, monkeypatch):
    monkeypatch.setattr(here, "dumps", lambda value: pickle.dumps(("0" * 32, value[1])))
    with pytest.raises(SojournError, match="another build of Sojourn"):
        sj.sweep(GRID, tmp_path / "other", engine="dask")


def test_a_cluster_that_breaks_keeps_what_has_finished(here, tmp_path, monkeypatch):
    whole, seen = here.result, []

    def result(handle):
        seen.append(handle)
        if len(seen) > 4:
            raise ConnectionError("the scheduler\nis gone")
        return whole(handle)

    monkeypatch.setattr(here, "result", result)
    with pytest.raises(SojournError, match=r"^here failed: the scheduler is gone"):
        sj.sweep(GRID, tmp_path / "other", engine="dask")
    kept = sum(here.sizes)
    monkeypatch.setattr(here, "result", whole)
    assert sj.sweep(GRID, tmp_path / "other", engine="dask").ran == 120 - kept


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"engine": "spark"}, "engine: 'spark' is unknown; expected local, dask, ray"),
        ({"cluster": "tcp://head:8786"}, "cluster: belongs to the engines dask and ray"),
        ({"engine": "ray", "cluster": ""}, "cluster: '' is no address"),
    ],
)
def test_wrong_engines_are_one_line(given, line, tmp_path):
    with pytest.raises(sj.InputError) as raised:
        sj.sweep(GRID, tmp_path / "other", **given)
    assert str(raised.value).startswith(line)


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_an_engine_without_its_package_names_the_extra(engine, tmp_path, monkeypatch):
    for name in ("cloudpickle", "ray"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SojournError, match=rf"pip install sojourn\[{engine}\]") as raised:
        sj.sweep(GRID, tmp_path / "other", engine=engine)
    assert raised.value.exit_code == 3
    # All cells that are there: nothing is started.
    found = sj.sweep(GRID, tmp_path / "local")
    assert sj.sweep(GRID, found.folder, engine=engine).ran == 0


def test_cells_are_named_by_the_build(tmp_path, monkeypatch):
    found = sj.sweep(GRID, tmp_path / "builds")
    assert len(_core.__build__) == 32
    assert int(_core.__build__, 16) > 0
    # Another build of the same version: no cell is taken for one of its own.
    monkeypatch.setattr(_core, "__build__", "0" * 32)
    assert sj.sweep(GRID, found.folder).ran == 120


@pytest.mark.slow
def test_a_row_has_less_than_200_bytes_and_few_records_wait(tmp_path, monkeypatch):
    monkeypatch.setattr("sojourn.sweep.store._BATCH", 100)
    add, waiting = Store.add, []

    def counted(store, record):
        add(store, record)
        waiting.append(len(store.pending))

    monkeypatch.setattr(Store, "add", counted)
    grid = {
        "scenario": "dumbbell",
        "set": {"duration": "1 s", "warmup": "200 ms", "at": [], "flows[0].count": 5},
        "axes": {"bottleneck.delay": {"from": "4 ms", "to": "6 ms", "points": 100}},
        "seeds": range(1, 11),
    }
    found = sj.sweep(grid, tmp_path / "many")
    assert found.table().collect().height == len(waiting) == 1000
    # All files, plan and sheet among them; `make bench` has the time and the memory.
    assert sum(file.stat().st_size for file in found.folder.iterdir()) < 200 * 1000
    assert max(waiting) < 100


def test_the_work_for_a_point_does_not_grow_with_the_axis(monkeypatch):
    calls = []
    monkeypatch.setattr("sojourn.sweep.axes.quantity", lambda text: calls.append(text) or quantity(text))
    counts = []
    for number in (50, 500):
        span = {"from": "4 ms", "to": "6 ms", "points": number}
        grid = read({"scenario": "dumbbell", "axes": {"bottleneck.delay": span}})
        calls.clear()
        assert len(list(grid.points())) == number
        counts.append(len(calls))
    assert counts[1] < 12 * counts[0]


def test_many_cells_have_sixteen_files(tmp_path, monkeypatch):
    one = sj.sweep(GRID, tmp_path / "one")
    monkeypatch.setitem(_FINAL, CELLS, 50)
    many = sj.sweep(GRID, tmp_path / "many")
    assert len(list(many.folder.glob("cells-*.parquet"))) == 16
    assert many.table().collect().equals(one.table().collect())
    assert sj.sweep(GRID, many.folder).ran == 0
    # Files of the other layout are put into this one.
    assert sj.sweep(GRID, one.folder).ran == 0
    for file in many.folder.glob("cells-*.parquet"):
        assert file.read_bytes() == (one.folder / file.name).read_bytes()


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_without_the_package_of_an_engine_there_is_no_store(tmp_path, monkeypatch, capsys, engine):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "g.toml").write_text('scenario = "dumbbell"\naxes = { qdisc = ["pi"] }\n')
    assert main(["sweep", "g.toml", "--engine", engine, "--quiet"]) == 3
    assert capsys.readouterr().err == (
        f"sojourn sweep: {engine} is not installed; pip install sojourn[{engine}]\n"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["g.toml"]
    assert main(["sweep", "--help"]) == 0
    assert "3: the package of an engine" in " ".join(capsys.readouterr().out.split())
