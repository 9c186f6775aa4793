"""Runs of a paper's experiments, each a sweep of its own store, and their samples by name."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.reproduce.paper import CONTROLS, Claim, Experiment, Name, Paper, Setting, split

if TYPE_CHECKING:
    from sojourn.sweep import Watch
    from sojourn.sweep.store import Record

__all__ = ["Sample", "Samples", "carry_out", "command"]

Sample = npt.NDArray[np.float64]


class Samples:
    """Values by seed of each experiment, qdisc, window and metric."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str | None, str | None, str | None, str], Sample] = {}

    def add(self, experiment: Experiment, table: pl.DataFrame, windows: pl.DataFrame) -> None:
        """Add the tables of an experiment's sweep."""
        windows_by_time = {window: name for name, window in experiment.windows.items()}
        places: list[tuple[str | None, str | None]] = [
            (link, None) for link in (None, *experiment.links.values())
        ]
        places += [(None, traffic_class) for traffic_class in experiment.classes.values()]
        for link, traffic_class in places:
            whole = table.filter(_at(experiment, table, link, traffic_class)).sort("seed")
            for (qdisc,), rows in whole.group_by("qdisc", maintain_order=True):
                for column in rows.columns:
                    if rows[column].dtype.is_float():
                        own = (experiment.name, str(qdisc), link, None, traffic_class, column)
                        self._found[own] = _numbers(rows[column])
            parts = windows.filter(_at(experiment, windows, link, traffic_class)).sort("seed")
            for (qdisc, window, metric), rows in parts.group_by(
                "qdisc", "window", "name", maintain_order=True
            ):
                if window in windows_by_time:
                    within = windows_by_time[str(window)]
                    key = (experiment.name, str(qdisc), link, within, traffic_class, str(metric))
                    self._found[key] = _numbers(rows["value"])

    def of(self, name: Name, qdisc: str) -> Sample:
        """Values by seed. Raises `LookupError` where there is none."""
        found = self._found[name.of, qdisc, name.link, name.window, name.traffic_class, name.metric]
        if np.isnan(found).all():
            raise LookupError(name.metric)
        return found


def carry_out(
    paper: Paper, out: Path, jobs: int | None, *, quick: bool = False, watch: Watch | None = None
) -> Samples:
    """Run what the stores in `out` lack, and read the samples."""
    from sojourn.sweep import carry_out as sweep
    from sojourn.sweep.engines import Engine
    from sojourn.sweep.grid import read

    samples = Samples()
    parts = [(one, part) for one in paper.experiments.values() for part in _parts(paper, one)]
    grids = [read(_grid(one, part, quick=quick)) for one, part in parts]
    total = sum(len(grid.seeds) * len(part.qdiscs) for grid, (_, part) in zip(grids, parts, strict=True))
    done = 0
    for grid, (experiment, part) in zip(grids, parts, strict=True):
        engine = Engine("local", None, jobs or os.cpu_count() or 1)
        own = _further(watch, done, total)
        store = ".".join([paper.name, experiment.name, *part.name, "sweep"])
        found = sweep(grid, out / store, engine, watch=own)
        done += found.plan.height
        named = pl.col("qdisc").cast(pl.String).replace(part.qdiscs)
        tables = found.table().collect(), found.windows().collect()
        samples.add(experiment, *(of.with_columns(named) for of in tables))
    return samples


def _further(watch: Watch | None, before: int, total: int) -> Watch | None:
    """Shows the cells of one experiment among those of all."""
    if watch is None:
        return None

    def shown(done: int, _todo: int, what: Record | str) -> None:
        if not isinstance(what, str):
            watch(before + done, total, what)

    return shown


def command(paper: Paper, claim: Claim, *, quick: bool) -> str:
    """The commands that repeat a claim's runs one by one, a line each; of a calculation its name."""
    if claim.test is None:
        return ""
    lines: dict[str, None] = {}
    for name in sorted(claim.test.names):
        parts = split(name, paper.name, paper.experiments)
        if parts.law is None:
            lines[f"sojourn.reproduce.calculations.{paper.name}: {parts.of}"] = None
            continue
        experiment = paper.experiments[parts.of]
        offered = claim.settings.get(parts.law)
        own = [one for one in paper.laws[parts.law] if offered is None or one.name in offered]
        for part in _by_changes(own):
            words = ["sojourn", "run", experiment.scenario]
            words += [word for one in part.qdiscs for word in ("--qdisc", one)]
            words += ["--seeds", f"1..{experiment.quick_seeds if quick else experiment.seeds}"]
            changes = {**experiment.changes, **part.changes}
            words += [word for key, value in changes.items() for word in ("--set", f"{key}={_text(value)}")]
            words += [word for value in experiment.windows.values() for word in ("--window", value)]
            lines[shlex.join(words)] = None
    return "\n".join(lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class _Part:
    """The settings of an experiment that share their changes of the scenario: one sweep."""

    #: What the name of its store has, apart from the experiment's.
    name: tuple[str, ...]
    changes: Mapping[str, Any]
    #: Keys of the samples by the qdiscs.
    qdiscs: Mapping[str, str]


def _parts(paper: Paper, experiment: Experiment) -> list[_Part]:
    """The sweeps of an experiment, those of its controls in the first."""
    controls = [Setting(name, experiment.controls[name], "") for name in CONTROLS]
    return _by_changes([*controls, *(one for law in experiment.laws for one in paper.laws[law])])


def _by_changes(settings: Iterable[Setting]) -> list[_Part]:
    groups: dict[str, list[Setting]] = {}
    for one in settings:
        groups.setdefault(json.dumps(one.changes), []).append(one)
    return [
        _Part((of[0].name,) if of[0].changes else (), of[0].changes, {one.qdisc: one.key for one in of})
        for of in groups.values()
    ]


def _grid(experiment: Experiment, part: _Part, *, quick: bool) -> dict[str, object]:
    seeds = experiment.quick_seeds if quick else experiment.seeds
    changes = {**experiment.changes, **part.changes}
    if experiment.windows:
        changes["windows"] = list(experiment.windows.values())
    return {
        "scenario": experiment.scenario,
        "set": changes,
        "seeds": list(range(1, seeds + 1)),
        "axes": {"qdisc": list(part.qdiscs)},
    }


def _at(experiment: Experiment, table: pl.DataFrame, link: str | None, traffic_class: str | None) -> pl.Expr:
    """Rows of a link as a whole, by default of the measured one, or of a class of traffic."""
    if traffic_class is not None:
        return (pl.col("class") == traffic_class) & pl.col("queue").is_null()
    links = table["link"].drop_nulls().unique(maintain_order=True).to_list()
    link = link or experiment.link or next(iter(links), "")
    return (pl.col("link") == link) & pl.col("class").is_null() & pl.col("queue").is_null()


def _numbers(values: pl.Series) -> Sample:
    return values.cast(pl.Float64).to_numpy().astype(np.float64)
