"""Tables of third parties: small files that would fill the memory are refused; our own large ones are
read.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sojourn as sj
from sojourn.result import checks, folder

#: No traffic until the last moment: the series' columns are constant and compress to almost nothing.
IDLE = """\
title    = "Nothing happens"
duration = "1000 s"
{sample}
[bottleneck]
rate  = "1 Mbit/s"
delay = "10 ms"
qdisc  = "tail_drop"
[[flows]]
start = "999.9 s"
"""


def series_of(out: Path) -> Path:
    return out / folder.SERIES


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A result of one run with the default series."""
    (tmp_path / "idle.toml").write_text(IDLE.format(sample=""))
    return sj.run(sj.load(tmp_path / "idle.toml")).write(tmp_path / "out")


@pytest.mark.parametrize(
    ("sample", "seeds"),
    [("", 30), ('sample = "500 ms"', 30), ('sample = "100 ms"', 4), ('sample = "10 ms"', 1)],
)
def test_the_most_compressible_results_are_read(tmp_path: Path, sample: str, seeds: int) -> None:
    (tmp_path / "idle.toml").write_text(IDLE.format(sample=sample))
    result = sj.run(sj.load(tmp_path / "idle.toml"), seeds=range(1, seeds + 1))
    out = result.write(tmp_path / "out")
    assert sj.Result.read(out).series.height == result.series.height
    # The limit allows results that compress twice as well.
    size = series_of(out).stat().st_size
    assert 2 * result.series.height < checks.most_rows(result.runs, result.scenario, size, sampled=True)


@pytest.mark.parametrize("runs", [1, 50])
@pytest.mark.parametrize("sample", ["1 us", "1 ms", "100 ms"])
def test_a_foreign_sample_does_not_raise_the_limit(out: Path, sample: str, runs: int) -> None:
    document = json.loads((out / folder.RESULT).read_text())
    document["scenario"] |= {"sample": sample, "duration": "3000000 s"}
    document["runs"] = [run | {"seed": seed} for run in document["runs"] for seed in range(1, runs + 1)]
    (out / folder.RESULT).write_text(json.dumps(document))
    row = pl.read_parquet(series_of(out)).head(1)
    row.select(pl.all().repeat_by(4_000_000).explode()).write_parquet(series_of(out))
    assert series_of(out).stat().st_size < 200_000
    with pytest.raises(
        sj.InputError, match=r"series\.parquet: has 4000000 rows; expected at most [0-9]+ of so many"
    ):
        sj.Result.read(out)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("x", pl.List(pl.UInt8)),
        ("value", pl.List(pl.Float64)),
        ("value", pl.Float32),
        ("name", pl.Struct({"a": pl.String})),
    ],
)
def test_columns_are_checked_before_they_are_read(
    out: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: pl.DataType
) -> None:
    path = series_of(out)
    table = pl.read_parquet(path)
    table.with_columns(pl.lit(None, dtype=kind).alias(name)).write_parquet(path)
    read: list[object] = []
    real = pl.read_parquet
    monkeypatch.setattr(pl, "read_parquet", lambda *a, **k: (read.append(k.get("columns")), real(*a, **k))[1])
    if name in folder.SERIES_COLUMNS:
        with pytest.raises(sj.InputError, match=rf"series\.parquet: column {name}: is .*; expected "):
            sj.Result.read(out)
        assert read == []
    else:
        # A foreign column costs nothing.
        assert sj.Result.read(out).series.columns == table.columns
        assert read == [list(folder.SERIES_COLUMNS), list(folder.DISTRIBUTION_COLUMNS)]


def test_a_missing_column_is_named_before_any_is_read(out: Path) -> None:
    path = series_of(out)
    pl.read_parquet(path).drop("value").write_parquet(path)
    with pytest.raises(sj.InputError, match=r"series\.parquet: has no column value; expected time, plant, "):
        sj.Result.read(out)
