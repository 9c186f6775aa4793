"""Live runs of a paper's experiments: one after the other, each kept in a result folder of its own.

The laws take turns, so that what the machine does meanwhile is alike for all of them. A run that is void says
nothing: it counts as one that failed, and is not kept, so that the same command repeats it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError, RunFailed, SojournError
from sojourn.files.names import parts_of_names
from sojourn.reproduce.paper import Experiment, Setting
from sojourn.result import metrics, trust
from sojourn.scenario import load, with_qdisc

if TYPE_CHECKING:
    from sojourn.result import Result
    from sojourn.scenario import Scenario

__all__ = ["Measured", "Trusted", "measure"]

Done = Callable[[], None]


@dataclass(frozen=True)
class Trusted:
    """Trust in a live run."""

    experiment: str
    qdisc: str
    #: The number of the repeat.
    seed: int
    trust: Mapping[str, float | int | str | None]

    @property
    def line(self) -> str:
        """A line such as that of `sojourn lab`."""
        return f"{self.experiment}, {self.qdisc}, seed {self.seed}: {trust.line(self.trust)}"


@dataclass(frozen=True)
class Measured:
    """What the runs of an experiment have, as tables like those of a sweep."""

    table: pl.DataFrame
    windows: pl.DataFrame
    trust: Sequence[Trusted]
    #: Runs that count for nothing, a line each.
    failures: Sequence[str]


def measure(
    experiment: Experiment, settings: Sequence[Setting], seeds: Sequence[int], folder: Path, *, done: Done
) -> Measured:
    """Run what the folder lacks, and read all of it; `done` is called after each run.

    Raises `MissingError` where the machine does not allow live runs, `InputError` for a damaged folder,
    `NotWritten`, and `Interrupted` on Ctrl-C: runs that had finished are kept.
    """
    unique = {one.key: one for one in settings}
    names = parts_of_names(list(unique))
    rows: list[dict[str, Any]] = []
    windows: list[pl.DataFrame] = []
    trusted: list[Trusted] = []
    failures: list[str] = []
    for seed in seeds:
        for (key, setting), name in zip(unique.items(), names, strict=True):
            found = _run(_scenario(experiment, setting), setting, seed, folder / f"{name}.seed{seed}")
            done()
            if isinstance(found, str):
                failures.append(f"{experiment.name}, {key}, seed {seed}: {found}")
                continue
            trusted.append(Trusted(experiment.name, key, seed, found.runs[0].trust))
            if trust.voids(found):
                failures.append(f"{trusted[-1].line}; it counts for nothing")
                continue
            rows += _rows(found, key)
            windows.append(found.windows.with_columns(pl.lit(key).alias("qdisc")))
    return Measured(_table(rows), _together(windows), trusted, failures)


def _scenario(experiment: Experiment, setting: Setting) -> Scenario:
    """The scenario of a setting, with the windows that predicates name."""
    changes = {**experiment.changes, **setting.changes}
    if experiment.windows:
        changes["windows"] = list(dict.fromkeys(experiment.windows.values()))
    return load(experiment.scenario, changes)


def _run(scenario: Scenario, setting: Setting, seed: int, folder: Path) -> Result | str:
    """The run of the folder, or a new one, which is kept there unless it is void; a line where it failed."""
    from sojourn.result import Result
    from sojourn.simulate import run

    own = with_qdisc(scenario, setting.qdisc).qdisc
    if folder.is_dir():
        try:
            kept = Result.read(folder)
        except InputError as error:
            raise InputError(
                f"{error.lines[0]}; delete the folder {folder} and run again, which repeats its run"
            ) from None
        if _same(kept.scenario, json.loads(scenario.to_json())) and kept.qdiscs == [own]:
            return kept
        shutil.rmtree(folder)
    try:
        found = run(scenario, [setting.qdisc], seeds=[seed], plants="live")
    except RunFailed as failed:
        if failed.result is not None and trust.voids(failed.result):
            return failed.result
        return failed.lines[0]
    except SojournError as error:
        if error.exit_code != 1:
            raise
        return error.lines[0]
    folder.parent.mkdir(parents=True, exist_ok=True)
    found.write(folder)
    return found


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True if both run the same: a title changes nothing."""
    return {**one, "title": ""} == {**other, "title": ""}


def _rows(found: Result, key: str) -> Iterator[dict[str, Any]]:
    for row in found.runs:
        places = {"qdisc": key, "seed": row.seed, "link": row.link, "class": row.traffic_class}
        numbers = {name: row.metrics.get(name) for name in metrics.UNITS}
        yield {**places, "queue": row.queue, **numbers}


def _table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A row each link, class and queue of a run, with all metrics."""
    texts: dict[str, pl.DataType] = dict.fromkeys(("qdisc", "link", "class", "queue"), pl.String())
    numbers: dict[str, pl.DataType] = {
        name: pl.List(pl.Float64()) if name in metrics.LISTS else pl.Float64() for name in metrics.UNITS
    }
    return pl.DataFrame(rows, schema={**texts, "seed": pl.UInt64(), **numbers}, strict=False)


def _together(windows: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Rows of the windows of all runs."""
    texts = ("window", "link", "qdisc", "class", "queue", "name")
    kinds = pl.Schema(
        {**dict.fromkeys(texts, pl.String()), "seed": pl.UInt64()}
        | dict.fromkeys(("from_s", "until_s", "value"), pl.Float64())
    )
    return pl.concat([pl.DataFrame(schema=kinds), *(one.select(*kinds).cast(kinds) for one in windows)])
