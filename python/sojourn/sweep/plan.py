"""The plan of a sweep: a row for each cell, with its hash."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from sojourn import _core
from sojourn.citations import named_in
from sojourn.errors import InputError
from sojourn.result import SEEDLESS
from sojourn.sweep.cells import Cell, settings
from sojourn.sweep.designs import Designer
from sojourn.sweep.grid import Grid, Point
from sojourn.sweep.store import Store, noted
from sojourn.sweep.until import Until

__all__ = ["Sizes", "cells_left", "designer_of", "known", "make"]

#: The sheet of a store: what it has run, and the plan that it has.
SHEET, PLAN, DESIGNS = "sweep.json", "plan.parquet", "designs.json"
#: The journal of designs.
DESIGNED = "designs.jsonl"
#: Keys of the plan's own metadata: of the grid that it is of, its question, and the names of what runs.
_KEY, _ABOUT, _NAMED = "sojourn.key", "sojourn.about", "sojourn.named"

#: Number of seeds of points, by their place in the grid, where it is not that of the grid.
Sizes = Mapping[int, int]
#: Called with the numbers of points that are planned and to plan, after a new design.
Watch = Callable[[int, int], None]


def make(
    grid: Grid,
    store: Store,
    designer: Designer,
    sizes: Sizes = MappingProxyType({}),
    *,
    until: Until | None = None,
    watch: Watch | None = None,
) -> pl.DataFrame:
    """One row a cell, in the order of the grid; the store keeps the last plan, in one file with its key.

    Raises `InputError` if no point can run, and `NotWritten`.
    """
    key, about = _key(grid, sizes), _about(grid, until)
    earlier = _facts(store.folder)
    if key is not None and earlier.get(_KEY) == key and (found := _read(store.folder)) is not None:
        plan, named = found, set(json.loads(earlier[_NAMED]))
    else:
        plan, named = _planned(grid, designer, sizes, watch)
    _note(store, named, about)
    facts = {_KEY: key or "", _ABOUT: json.dumps(about), _NAMED: json.dumps(sorted(named))}
    if key is None or any(earlier.get(name) != value for name, value in facts.items()):
        buffer = io.BytesIO()
        plan.write_parquet(buffer, compression="zstd", statistics=False, metadata=facts)
        store.write(PLAN, buffer.getvalue())
    if noted(store.folder, DESIGNED):
        store.write(DESIGNS, json.dumps(designer.known, sort_keys=True, indent=1).encode())
        store.drop_notes(DESIGNED)
    return plan


def _planned(
    grid: Grid, designer: Designer, sizes: Sizes, watch: Watch | None
) -> tuple[pl.DataFrame, set[str]]:
    """The plan, and names of what runs."""
    points, designed = 0, len(designer.known)
    axes = [one.name for one in grid.axes]
    rows: dict[str, list[Any]] = {name: [] for name in ("cell", "point", *axes, "plant", "seed")}
    named: set[str] = set()
    refused, runs = None, False
    for place, setting in enumerate(settings(grid, designer)):
        # Designs take seconds each; other points next to nothing.
        if watch is not None and len(designer.known) > designed:
            points, designed = points or sum(1 for _ in grid.points()), len(designer.known)
            watch(place + 1, points)
        if setting.setup is None:
            refused = refused or setting.refused
        else:
            runs = True
            named |= named_in(json.loads(setting.setup.scenario.to_json()), setting.setup.label)
        for seed in seeds_at(grid, setting.point, sizes.get(place)):
            facts = {"cell": setting.cell(seed), "point": place, "plant": setting.point.plant, "seed": seed}
            for name, value in (facts | setting.point.columns).items():
                rows[name].append(value)
    if not runs:
        raise InputError(grid.blamed(refused or "where: no point of the grid meets the conditions"))
    return pl.DataFrame([_column(name, values) for name, values in rows.items()]), named


def _note(store: Store, named: set[str], about: Mapping[str, Any]) -> None:
    """Note on the sheet of a store what it runs: `cite` reads it."""
    earlier = _document(store.folder, SHEET)
    earlier = earlier if isinstance(earlier, dict) else {}
    ran = set(earlier.get("ran", [])) if earlier.get("build") == _core.__build__ else set()
    document = {
        "schema": 1,
        "version": _core.__version__,
        "build": _core.__build__,
        "ran": sorted(ran | named),
        "about": about,
    }
    if document != earlier:
        store.write(SHEET, json.dumps(document, indent=1).encode())


def named_by(grid: Grid) -> set[str]:
    """Entries of the catalogue at all points of a grid, for `citations`; a design has the name of its law."""
    setups = (one.setup for one in settings(grid, lambda _, design: str(design["design"])))
    return {
        fact
        for setup in setups
        if setup is not None
        for fact in named_in(json.loads(setup.scenario.to_json()), setup.label)
    }


def known(folder: Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The last plan of a store, and the question of its grid. Raises `InputError`."""
    facts, plan = _facts(folder), _read(folder)
    if plan is None or _ABOUT not in facts:
        raise InputError(f"{folder}: has no plan of a sweep; expected a store that 'sojourn sweep' wrote")
    return plan, json.loads(facts[_ABOUT])


def _about(grid: Grid, until: Until | None) -> dict[str, Any]:
    """The question of a grid, its base, sample and axes, and the precision, as a JSON document."""
    sample = grid.sample
    drawn = [one.name for one in grid.axes if one.values is None]
    return grid.about.to_dict() | {
        "scenario": grid.base.title,
        "sample": None
        if sample is None
        else {"method": sample.method, "points": sample.points, "repeated": grid.repeated},
        "drawn": drawn,
        "keys": {one.name: list(one.keys) for one in grid.axes},
        "units": {one.name: one.unit for one in grid.axes if one.unit is not None},
        "until": None if until is None else until.to_dict(),
    }


def designer_of(store: Store) -> Designer:
    """The designer, with what the store has designed; each new design is kept as it is made."""
    found = _document(store.folder, DESIGNS)
    known = found if isinstance(found, dict) else {}
    known |= dict(noted(store.folder, DESIGNED))

    def note(key: str, design: list[str]) -> None:
        store.note(DESIGNED, [key, design])

    return Designer(known, note)


def seeds_at(grid: Grid, point: Point, size: int | None = None) -> Sequence[int]:
    """Seeds of a point, further ones after the grid's; the lowest alone in a plant without randomness."""
    if point.plant in SEEDLESS:
        return grid.seeds[:1]
    last, further = grid.seeds[-1], max(0, (size or 0) - len(grid.seeds))
    return (*grid.seeds, *range(last + 1, last + 1 + further))


def cells_left(grid: Grid, plan: pl.DataFrame, done: set[str]) -> Iterator[Cell]:
    """Cells of a plan of the grid to run, each once, in their order."""
    seen, points = set(done), enumerate(grid.points())
    rows = plan.select("cell", "point", "seed").iter_rows()
    for place, of in itertools.groupby(rows, lambda row: int(row[1])):
        point = next(point for at, point in points if at == place)
        for name, _, seed in of:
            if name not in seen:
                seen.add(name)
                yield Cell(name, place, point, seed)


def _document(folder: Path, name: str) -> Any:
    """A JSON document of the store; None: none, or damaged."""
    try:
        return json.loads((folder / name).read_bytes())
    except (OSError, ValueError):
        return None


def _read(folder: Path) -> pl.DataFrame | None:
    try:
        return pl.read_parquet(folder / PLAN, glob=False)
    except (OSError, pl.exceptions.PolarsError):
        return None


def _facts(folder: Path) -> dict[str, str]:
    """Metadata of the plan of a store; empty without one."""
    try:
        return pl.read_parquet_metadata(folder / PLAN)
    except (OSError, pl.exceptions.PolarsError):
        return {}


def _key(grid: Grid, sizes: Sizes) -> str | None:
    """Hash of the grid; None where it depends on more, such as laws in Python, whose files may change."""
    given = [one.values for one in grid.axes]
    if (
        ".py" in repr(given)
        or grid.base.custom_ccs
        or any(
            not isinstance(value, str | bool | int | float | dict | list)
            for values in given
            for value in values or ()
        )
    ):
        return None
    facts = (
        _core.__build__,
        grid.base.to_json(),
        sorted((name, hashlib.sha256(content).hexdigest()) for name, content in grid.base.files.items()),
        grid.axes,
        (grid.plants, grid.seeds, grid.sample, grid.excluded),
        [one.text for one in grid.conditions],
        *([sorted(sizes.items())] if sizes else []),
        *([f"{grid.repeated} repeated"] if grid.repeated else []),
    )
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()


def _column(name: str, values: list[Any]) -> pl.Series:
    """A column of the plan; values of several kinds become texts."""
    if name in ("seed", "point"):
        return pl.Series(name, values, dtype=pl.UInt64() if name == "seed" else pl.UInt32())
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        values = [float(value) for value in values]
    elif len(kinds) > 1:
        values = [value if isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, values)
