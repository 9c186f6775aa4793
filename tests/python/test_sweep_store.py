"""The store of a sweep: whatever ends it, whatever changes meanwhile, each cell has the data of its hash."""

import contextlib
import errno
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import sojourn as sj
from sojourn.cli import main
from sojourn.cli.watching import Pace
from sojourn.errors import NotWritten, SojournError
from sojourn.sweep import carry_out, designs, theory, until
from sojourn.sweep.cells import Cell, setting_at, setting_of
from sojourn.sweep.engines import Engine, _batch
from sojourn.sweep.grid import read
from sojourn.sweep.page import page as page_of
from sojourn.sweep.store import Record, Store, opened

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
    monkeypatch.setattr("sojourn.sweep.analysis.sobol", lambda values, _: seen.append(values) or [])
    with pytest.raises(sj.InputError):
        found.sensitivity("queue_mean_packets")
    rows = found.table().collect()
    means = [rows.filter(point=point)["queue_mean_packets"].mean() for point in range(2 * 4)]
    assert seen == [pytest.approx(means)]


def test_a_law_that_is_edited_while_its_sweep_runs_ends_it(law, folder):
    grid = GRID | {"axes": {"qdisc": ["mine.py:Mine"], "flows[0].count": list(range(1, 41))}}
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
    assert 0 < found.found < 40
    assert_frame_equal(cells(found.folder), cells(good.folder))


def test_a_batch_has_no_cell_of_an_edited_law(law):
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


def test_a_base_of_python_or_of_a_package_brings_no_other_files(law, folder, monkeypatch):
    from sojourn.custom import files, identity

    law.write_text(
        LAW.replace("sj.Controller", "sj.Controller, abc.ABC").replace("import", "import abc\nimport", 1)
    )
    (fact,) = identity.facts_of(files.law_named("mine.py:Mine"))
    assert fact.startswith("mine.py ")
    # The same as an installed module, beside one that it imports.
    (folder / "beside.py").write_text("")
    law.write_text("import beside\n" + LAW)
    assert len(identity.facts_of(files.law_named("mine.py:Mine"))) == 2
    law.write_text("import beside\n\n" + LAW)
    monkeypatch.setattr(identity, "_installed", lambda: (folder.resolve(),))
    assert len(identity.facts_of(files.law_named("mine.py:Mine"))) == 1


def test_a_law_of_a_notebook_is_named_by_its_source(monkeypatch):
    from sojourn.custom.identity import facts_of

    named = {"__name__": "of_a_notebook"}
    exec(compile(LAW, "<cell 1>", "exec"), named)
    assert facts_of(named["Mine"]()) is None
    monkeypatch.setattr("inspect.getsource", lambda _: LAW)
    (fact,) = facts_of(named["Mine"]())
    assert fact.startswith("Mine ")


# ---- The journal, failures, windows ------------------------------------------------------------------


def unsettled(folder, number):
    """A finished store as one of which `number` cells are in the journal and the others have not run."""
    rows = pl.read_parquet(folder / "cells-all.parquet")
    windows = [*folder.glob("windows-*")]
    own = [pl.read_parquet(path) for path in windows]
    for path in (folder / "cells-all.parquet", *windows):
        path.unlink()
    with opened(folder) as store:
        for (cell,), of in [*rows.group_by("cell", maintain_order=True)][:number]:
            lines = [
                (one["link"], one["class"], one["queue"], {name: one[name] for name in of.columns[7:]})
                for one in of.iter_rows(named=True)
            ]
            kept = [row[2:] for table in own for row in table.filter(cell=cell).iter_rows()]
            store.add(Record(cell, of["spec"][0], lines, of["error"][0], kept))


def test_the_bytes_of_a_file_do_not_depend_on_how_its_rows_came_together(tmp_path):
    number = 100_000
    rows = pl.DataFrame({"cell": [f"{place:06x}" for place in range(number)], "row": range(number)})
    folder = tmp_path / "store.sweep"
    with opened(folder) as store:
        store._write(rows, "one.parquet")
        store._write(pl.concat([rows[:1234], rows[1234:]], rechunk=False), "parts.parquet")
        assert (folder / "one.parquet").read_bytes() == (folder / "parts.parquet").read_bytes()


def test_a_killed_sweep_is_read_with_its_journal(folder, sojourn):
    (folder / "g.toml").write_text(
        'scenario = "dumbbell"\nset = { duration = "2 s", warmup = "1 s", at = [], "flows[0].count" = 2 }\n'
        'seeds = "1..10"\naxes = { qdisc = ["pi", "codel"] }\n'
    )
    whole = sj.sweep(folder / "g.toml", folder / "g.sweep")
    table = whole.table().collect()
    unsettled(whole.folder, 12)
    assert (whole.folder / "journal.jsonl").stat().st_size > 0
    assert not [*whole.folder.glob("cells-*")]
    found = sj.sweep.load(whole.folder)
    assert (found.found, found.unfinished) == (12, 8)
    left = found.table().collect()
    assert_frame_equal(left, table.join(left.select("cell"), on="cell", how="semi", maintain_order="left"))
    assert found.summary("utilization")["n"].sum() == left.height == 12
    assert sojourn("report", "g.sweep").returncode == 0
    page = re.sub(r"<[^>]*>", "", (whole.folder / "report.html").read_text()).replace("&nbsp;", " ")
    assert "12 of 20 cells have finished: 2 points, 10 seeds" in page
    # A kill between a Parquet file and the journal's new beginning leaves lines twice.
    journal = (whole.folder / "journal.jsonl").read_bytes()
    with opened(whole.folder):
        pass
    (whole.folder / "journal.jsonl").write_bytes(journal + journal[:200])
    assert sj.sweep.load(whole.folder).table().collect().height == 12
    again = sj.sweep(folder / "g.toml", folder / "g.sweep")
    assert (again.ran, again.found, again.unfinished) == (8, 12, 0)
    assert_frame_equal(again.table().collect(), table)


def test_the_error_of_a_removed_store_keeps_to_what_is_there(tmp_path):
    short = {"duration": "2 s", "warmup": "1 s", "at": []}
    found = sj.sweep({"scenario": "dumbbell", "set": short, "axes": {"qdisc": ["pi"]}}, tmp_path / "store")
    line = f"{found.folder}: cannot be written (No such file or directory); the cells that had finished are"
    with opened(found.folder) as store:
        shutil.rmtree(found.folder)
        with pytest.raises(NotWritten) as error:
            store.write("sweep.json", b"{}")
    assert error.value.lines == (f"{line} gone with the folder",)


def test_the_page_of_an_unfinished_sweep_names_what_waits(tmp_path):
    short = {"duration": "2 s", "warmup": "1 s", "at": []}
    axes = {
        "qdisc": ["codel", "pi:target=20ms"],
        "flows": {"key": "flows[0].count", "values": [2, 3]},
        "delay": {"key": "bottleneck.delay", "values": ["5 ms", "10 ms"]},
    }
    pictures = [{"map": "utilization", "x": "flows", "y": "delay"}]
    grid = {"scenario": "dumbbell", "set": short, "axes": axes, "pictures": pictures}
    found = sj.sweep(grid, tmp_path / "store")
    unsettled(found.folder, 1)
    page = page_of(sj.sweep.load(found.folder))
    assert "is not on the axis" not in page
    assert page.count("<p>No cell has finished yet.</p>") == 1
    # One that has finished draws what it has.
    assert "No cell has finished" not in page_of(sj.sweep(grid, found.folder))


FLAWED = """\
import sojourn as sj


class Mine(sj.Controller):
    period = "10 ms"

    def update(self, seen):
        return float(open("value.txt").read())
"""


def test_failures_are_run_again_on_request(law, folder, sojourn):
    law.write_text(FLAWED)
    (folder / "g.toml").write_text(
        'scenario = "dumbbell"\nset = { duration = "2 s", warmup = "1 s", at = [] }\n'
        'axes = { qdisc = ["mine.py:Mine", "pi"] }\n'
    )
    done = sojourn("sweep", "g.toml", "--quiet")
    assert done.returncode == 1
    assert "1 of 2 cells failed, the first: " in done.stderr
    assert done.stderr.splitlines()[-1].endswith("; --retry runs them again")
    (folder / "value.txt").write_text("0.1")
    # A failure is kept until it is requested.
    assert "0 run, 2 found, 1 failed" in sojourn("sweep", "g.toml", "--quiet").stdout
    # One of another grid in the same store is kept, too.
    failing = GRID | {"axes": {"qdisc": ["pi:target=900packets", "codel"]}}
    other = sj.sweep(failing, folder / "g.sweep", retry=True)
    assert (other.ran, other.failures().height) == (2, 1)
    done = sojourn("sweep", "g.toml", "--quiet", "--retry")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 cells: 1 run, 1 found, 0 failed" in done.stdout
    assert sj.sweep(failing, folder / "g.sweep").failures().height == 1
    fresh = sj.sweep(folder / "g.toml", folder / "fresh")
    rows = cells(folder / "g.sweep").filter(pl.col("cell").is_in([*fresh.plan["cell"]]))
    assert_frame_equal(rows, cells(fresh.folder))


def test_failures_under_further_seeds_are_run_again_too(law, folder):
    """The seeds that --until adds are planned after the grid's own."""
    law.write_text(FLAWED)
    value = folder / "value.txt"
    value.write_text("0.1")
    grid = read(GRID | {"axes": {"qdisc": ["mine.py:Mine"]}, "seeds": "1..20"})
    precision = until.read("queue_mean_packets=0.01%", 200)

    def spoil(done, _todo, _record):
        if done > 20:
            value.unlink(missing_ok=True)

    def swept(**more):
        return carry_out(grid, folder / "a", Engine("local", None, 1), until=precision, **more)

    failed = swept(watch=spoil).failures()
    assert failed.height > 0
    assert failed["seed"].min() > 20
    value.write_text("0.1")
    found = swept(retry=True)
    assert found.ran >= failed.height
    assert found.failures().height == 0


def test_windows_and_lists_are_those_of_single_runs(tmp_path):
    given = {"duration": "6 s", "warmup": "1 s", "windows": ["phases", "1 s..3 s"], "flows[0].count": 2}
    given["at"] = [{"time": "3 s", "set": {"bottleneck.rate": "5 Mbit/s"}}]
    grid = {"scenario": "dumbbell", "set": given, "axes": {"qdisc": ["pi", "codel"]}, "seeds": [1, 2]}
    found = sj.sweep(grid, tmp_path / "a")
    windows = found.windows().collect()
    result = sj.run(sj.load("dumbbell", given), qdiscs=["pi", "codel"], seeds=[1, 2])
    names = ["qdisc", "seed", "window", "from_s", "until_s", "link", "class", "queue", "name", "value"]
    single = result.windows.select(names).with_columns(pl.col("qdisc").cast(pl.String))
    assert single.height > 100
    swept = windows.with_columns(qdisc=pl.col("spec")).select(names)
    assert_frame_equal(swept, single, check_row_order=False, check_dtypes=False)
    # Of the same bytes after a kill, and from the journal.
    whole = {path.name: path.read_bytes() for path in found.folder.glob("[cw]*-*")}
    assert {*whole} == {"cells-all.parquet", "windows-all.parquet"}
    unsettled(found.folder, 3)
    assert sj.sweep.load(found.folder).windows().collect()["cell"].n_unique() == 3
    assert sj.sweep(grid, found.folder).ran == 1
    assert {path.name: path.read_bytes() for path in found.folder.glob("[cw]*-*")} == whole
    # An entry of a list is a metric in tables, pictures and precisions.
    rows = found.table().collect()
    values = [one[0] for one in rows.filter(qdisc="pi")["overshoot_packets"]]
    summary = found.summary("overshoot_packets[0]").filter(qdisc="pi")
    assert summary["mean"][0] == pytest.approx(sum(values) / 2)
    assert found.differences("qdisc", "pi", "overshoot_packets[0]").height == 1
    drawn = found.plot.cloud("overshoot_packets[0]", "utilization")
    assert drawn.get_xlabel() == "overshoot_packets[0], packets"
    precise = sj.sweep(grid, found.folder, until="overshoot_packets[0]=50%", most_seeds=20)
    assert precise.about["until"]["metric"] == "overshoot_packets[0]"
    assert precise.plan.height == 40
    with pytest.raises(sj.InputError, match="metrics: 'utilization\\[0\\]' is no metric"):
        found.summary("utilization[0]")


# ---- Files of others -----------------------------------------------------------------------------------


def test_files_of_others_stay_in_a_store_and_no_other_folder_becomes_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = sj.sweep(GRID, "a.sweep")
    found.report("a.sweep/mine.html")
    (found.folder / ".DS_Store").write_text("")
    (found.folder / ".cells-x").mkdir()
    (found.folder / ".cells-x" / "notes").write_text("mine")
    (found.folder / "cells-mine.parquet").write_text("mine")
    (found.folder / "new-cells-of-mine.txt").write_text("mine")
    stage = found.folder / ".cells-all.parquet.0123456789abcdef.part"
    stage.write_text("left by a kill")
    (found.folder / "new-cells-all.parquet").write_text("left by a kill")
    assert sj.sweep(GRID, "a.sweep").found == 2
    assert not stage.exists()
    assert not (found.folder / "new-cells-all.parquet").exists()
    assert (found.folder / "cells-mine.parquet").read_text() == "mine"
    assert (found.folder / "new-cells-of-mine.txt").exists()
    assert (found.folder / ".cells-x" / "notes").read_text() == "mine"
    for name in ("lockfile.txt", "cells-mine.parquet", ".DS_Store", "journal.jsonl.bak"):
        other = tmp_path / f"of-{name}"
        other.mkdir()
        (other / name).write_text("mine")
        with pytest.raises(sj.InputError, match=f"holds {name}, which is of no sweep"):
            sj.sweep(GRID, other)
        assert [path.name for path in other.iterdir()] == [name]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sweep.json").write_text("[]")
    (tmp_path / "other" / "x").write_text("mine")
    with pytest.raises(sj.InputError, match="holds x, which is of no sweep"):
        sj.sweep(GRID, "other")
    # Killed before it had a sheet.
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "lock").write_text("")
    (tmp_path / "begun" / ".sweep.json.0123456789abcdef.part").write_text("{")
    assert sj.sweep(GRID, "begun").ran == 2
    assert sorted(path.name for path in (tmp_path / "begun").glob(".*")) == []


def test_what_the_disk_refuses_is_one_line(tmp_path, monkeypatch):
    """Errors of each step of flush and settle are those of writing, and nothing is lost."""
    good = sj.sweep(GRID, tmp_path / "good")

    def full(*_given, **_more):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for number, step in enumerate(("ftruncate", "rename", "unlink", "fsync", "pwrite")):
        folder = tmp_path / str(number)
        sj.sweep(GRID | {"axes": {"qdisc": ["pi"]}}, folder)
        whole = Store.flush if step != "pwrite" else Store.add
        name = whole.__name__

        def failing(store, *given, step=step, whole=whole):
            if given or store.pending:
                monkeypatch.setattr(os, step, full)
            whole(store, *given)

        monkeypatch.setattr(Store, name, failing)
        with pytest.raises(
            NotWritten, match=r"\(No space left on device\); the cells that had finished are kept"
        ):
            sj.sweep(GRID, folder)
        monkeypatch.undo()
        found = sj.sweep(GRID, folder)
        assert found.ran == (1 if step == "pwrite" else 0), step
        assert (folder / "cells-all.parquet").read_bytes() == (good.folder / "cells-all.parquet").read_bytes()


def test_the_new_files_are_on_the_disk_before_the_old_ones_go(tmp_path, monkeypatch):
    steps = []
    found = sj.sweep(GRID, tmp_path / "a")

    def noted(name, whole):
        def step(what, *given, **more):
            if name == "fsync":
                what_for = "folder" if stat.S_ISDIR(os.fstat(what).st_mode) else "file"
            else:
                what_for = re.sub("-[0-9a-f]{16}-2", "", os.fspath(what).rpartition("/")[2])
            steps.append(f"{name} {what_for}")
            return whole(what, *given, **more)

        return step

    for name in ("rename", "fsync", "unlink"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    sj.sweep(GRID | {"seeds": [1, 2]}, found.folder)
    last = steps.index("rename new-cells-all.parquet")
    assert steps[last : last + 3] == ["rename new-cells-all.parquet", "fsync folder", "unlink cells.parquet"]


# ---- Interrupts, certificates and designs ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "name", "line"),
    [
        (
            "sojourn.sweep.plan",
            "_planned",
            "no cell was run; those that had finished before are kept in g.sweep",
        ),
        ("sojourn.sweep", "needed", "2 of 2 cells had finished and are kept in g.sweep"),
        ("sojourn.sweep.store.Store", "settle", "40 of 40 cells had finished and are kept in g.sweep"),
        ("sojourn.sweep.theory", "_certified", "40 of 40 cells had finished and are kept in g.sweep"),
        ("sojourn.cli.sweeping", "_summary", "all cells had finished and are kept in g.sweep"),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_what_is_kept(folder, monkeypatch, capsys, place, name, line, number):
    monkeypatch.chdir(folder)
    (folder / "g.toml").write_text(
        'scenario = "dumbbell"\nset = { duration = "2 s", warmup = "1 s", at = [], "flows[0].count" = 2 }\n'
        'axes = { qdisc = ["pi", "codel"] }\ntheory = true\n'
    )
    words = ["sweep", "g.toml", "--quiet", "--until", "utilization=50%"]

    def interrupted(*_given, **_more):
        os.kill(os.getpid(), number)
        time.sleep(5)

    monkeypatch.setattr(f"{place}.{name}", interrupted)
    assert main(words) == 130
    assert capsys.readouterr().err == f"sojourn sweep: interrupted; {line}\n"
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert main(words) == 0
    found = sj.sweep.load("g.sweep")
    assert (found.plan.height, found.unfinished, found.theory().height) == (40, 0, 2)


def test_certificates_and_designs_are_kept_as_they_are_made(tmp_path, monkeypatch):
    axes = {"qdisc": [{"design": "pi", "target": "80 ms"}], "flows[0].count": [20, 30, 40]}
    grid = GRID | {"axes": axes, "theory": True}
    good = sj.sweep(grid, tmp_path / "good")
    wanted = {path.name: path.read_bytes() for path in good.folder.iterdir()}
    assert {"designs.json", "theory.parquet"} < {*wanted}
    assert not {"designs.jsonl", "theory.jsonl"} & {*wanted}
    calls = []

    def mortal(name, module):
        whole = getattr(module, name)

        def counted(*given):
            calls.append(name)
            if calls.count(name) == 3 and not calls.count("killed"):
                calls.append("killed")
                raise Killed
            return whole(*given)

        monkeypatch.setattr(module, name, counted)

    seen = []
    for module, name in ((designs, "_designed"), (theory, "_certified")):
        calls.clear()
        folder = tmp_path / name
        mortal(name, module)
        with pytest.raises(Killed):
            sj.sweep(grid, folder)
        assert calls == [name, name, name, "killed"]
        if name == "_certified":
            assert sj.sweep.load(folder).theory().height == 2
        carry_out(read(grid), folder, Engine("local", None, 1), watch=lambda *one: seen.append(one))
        # The third one alone is made again.
        assert calls.count(name) == 4
        monkeypatch.undo()
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == wanted
    assert (3, 3, "points planned") in seen
    assert (1, 1, "certificates") in seen


def test_progress_of_certificates_is_shown():
    pace = Pace("utilization", 0.0)
    pace.add(1, 1, Record("x", "pi", [(None, None, None, {"utilization": 0.5})]), 1.0)
    pace.add(10, 40, "certificates", 100.0)
    pace.add(20, 40, "certificates", 105.0)
    assert pace.facts(105.0) == ["20 of 40 certificates", "2 certificates/s", "10 s left"]
