"""Runs of a paper's experiments, each a sweep of its own store, and their samples by name."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.reproduce.paper import CONTROLS, Claim, Experiment, Name, Paper, split

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
    grids = {one: read(_grid(paper, one, quick=quick)) for one in paper.experiments.values()}
    total = sum(len(grid.seeds) * len(qdiscs(paper, one)) for one, grid in grids.items())
    done = 0
    for experiment, grid in grids.items():
        engine = Engine("local", None, jobs or os.cpu_count() or 1)
        own = _further(watch, done, total)
        found = sweep(grid, out / f"{paper.name}.{experiment.name}.sweep", engine, watch=own)
        done += found.plan.height
        samples.add(experiment, found.table().collect(), found.windows().collect())
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
        own = [one.qdisc for one in paper.laws[parts.law] if offered is None or one.name in offered]
        words = ["sojourn", "run", experiment.scenario]
        words += [word for one in own for word in ("--qdisc", one)]
        words += ["--seeds", f"1..{experiment.quick_seeds if quick else experiment.seeds}"]
        words += [
            word for key, value in experiment.changes.items() for word in ("--set", f"{key}={_text(value)}")
        ]
        words += [word for value in experiment.windows.values() for word in ("--window", value)]
        lines[shlex.join(words)] = None
    return "\n".join(lines)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def qdiscs(paper: Paper, experiment: Experiment) -> list[str]:
    """Qdiscs that an experiment runs: all settings of its laws, and the controls."""
    own = [one.qdisc for law in experiment.laws for one in paper.laws[law]]
    return list(dict.fromkeys([*own, *(experiment.controls[name] for name in CONTROLS)]))


def _grid(paper: Paper, experiment: Experiment, *, quick: bool) -> dict[str, object]:
    seeds = experiment.quick_seeds if quick else experiment.seeds
    changes = dict(experiment.changes)
    if experiment.windows:
        changes["windows"] = list(experiment.windows.values())
    return {
        "scenario": experiment.scenario,
        "set": changes,
        "seeds": list(range(1, seeds + 1)),
        "axes": {"qdisc": qdiscs(paper, experiment)},
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
