"""Certificates of the points of a sweep, beside their runs."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.errors import InputError
from sojourn.resolve import Setup
from sojourn.sweep.about import THEORY
from sojourn.sweep.cells import setting_of
from sojourn.sweep.designs import Designer
from sojourn.sweep.grid import Grid
from sojourn.sweep.plan import cells_left
from sojourn.sweep.store import Store, noted

__all__ = ["add", "known"]

#: The file of a store, and its journal.
FILE, JOURNAL = "theory.parquet", "theory.jsonl"
_SCHEMA = {"cell": pl.String(), "verdict": pl.String(), **dict.fromkeys(THEORY, pl.Float64())}
#: Called with the numbers of certificates that are made and to make.
Watch = Callable[[int, int], None]


def add(grid: Grid, plan: pl.DataFrame, store: Store, *, designer: Designer, watch: Watch) -> None:
    """Certify the points of a plan that the store has no certificate of; each is kept as it is made.

    Raises `NotWritten`.
    """
    done = set(known(store.folder)["cell"])
    # A point by the cell of its first seed.
    first = plan.unique("point", keep="first", maintain_order=True)
    left = len({*first["cell"]} - done)
    for number, cell in enumerate(cells_left(grid, first, done), 1):
        setting = setting_of(grid, cell, designer)
        if setting.setup is not None:
            store.note(JOURNAL, {"cell": cell.name} | _certified(setting.setup))
        watch(number, left)
    if not noted(store.folder, JOURNAL):
        return
    buffer = io.BytesIO()
    known(store.folder).write_parquet(buffer, compression="zstd", statistics=False)
    store.write(FILE, buffer.getvalue())
    store.drop_notes(JOURNAL)


def known(folder: Path) -> pl.DataFrame:
    """A row for each certificate of a store, named by the cell of the point's first seed."""
    try:
        before = pl.read_parquet(folder / FILE, glob=False)
    except (OSError, pl.exceptions.PolarsError):
        before = pl.DataFrame(schema=_SCHEMA)
    own = pl.DataFrame(noted(folder, JOURNAL), schema=_SCHEMA, strict=False)
    return pl.concat([before, own]).unique("cell").sort("cell")


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
