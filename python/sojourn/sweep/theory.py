"""Certificates of the points of a sweep, beside their runs."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.resolve import Setup
from sojourn.sweep.about import THEORY
from sojourn.sweep.cells import settings
from sojourn.sweep.designs import Designer
from sojourn.sweep.grid import Grid
from sojourn.sweep.store import Store

__all__ = ["add", "known"]

#: The file of a store.
FILE = "theory.parquet"
_SCHEMA = {"cell": pl.String(), "verdict": pl.String(), **dict.fromkeys(THEORY, pl.Float64())}


def add(grid: Grid, store: Store, designer: Designer) -> None:
    """Certify the points that the store has no certificate of. Raises `NotWritten`."""
    before = known(store.folder)
    done = set(before["cell"])
    rows = [row for row in _rows(grid, designer, done) if row["cell"] not in done]
    if not rows:
        return
    found = pl.concat([before, pl.DataFrame(rows, schema=_SCHEMA)]).unique("cell").sort("cell")
    buffer = io.BytesIO()
    found.write_parquet(buffer, compression="zstd", statistics=False)
    store.write(FILE, buffer.getvalue())


def known(folder: Path) -> pl.DataFrame:
    """A row for each certificate of a store, named by the cell of the point's first seed."""
    try:
        return pl.read_parquet(folder / FILE, glob=False)
    except (OSError, pl.exceptions.PolarsError):
        return pl.DataFrame(schema=_SCHEMA)


def _rows(grid: Grid, designer: Designer, done: set[str]) -> Iterator[dict[str, Any]]:
    for setting in settings(grid, designer):
        cell = setting.cell(grid.seeds[0])
        if cell not in done and setting.setup is not None:
            yield {"cell": cell} | _certified(setting.setup)


def _certified(setup: Setup) -> dict[str, Any]:
    """Verdict and figures of a certificate; of a point without one its first line."""
    from sojourn.prove import certify

    try:
        found = certify(setup, None, "qdisc")
    except InputError as error:
        return {"verdict": f"not proven: {error.lines[0]}"}
    equilibrium, noise = found.equilibrium or {}, found.noise or {}
    shift = noise.get("mean_shift_packets") or 0.0
    backlog = equilibrium.get("backlog_packets")
    figures = {name: found.margins.get(name) for name in THEORY} | {
        "queue_mean_packets": None if backlog is None else backlog + shift,
        "queue_std_packets": noise.get("queue_sd_packets"),
        "p": equilibrium.get("p"),
    }
    return {"verdict": found.verdict} | figures
