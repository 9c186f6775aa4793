"""Finished runs become one result: metrics, tables, and where they came from."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import polars as pl

from sojourn import _core
from sojourn.errors import RunFailed
from sojourn.result import Result, Run
from sojourn.result.folder import DISTRIBUTION_COLUMNS, SERIES_COLUMNS, TEXTS


@dataclass(frozen=True)
class Finished:
    """One finished run and its place in the result."""

    plant: str
    disc: str
    seed: int
    run: _core.Run


@dataclass
class Origin:
    """Where a result comes from: what depends on the machine and the moment."""

    command: list[str]
    started: float
    wall_s: float
    asked: int
    workers: int
    interrupted: bool = False
    #: The source of each law that was written in Python, by its label; None where there is none to be had.
    laws: dict[str, str | None] = field(default_factory=dict)
    #: The same of the congestion controls.
    ccs: dict[str, str | None] = field(default_factory=dict)


def gather(scenario: dict[str, Any], finished: Sequence[Finished], origin: Origin) -> Result:
    """One result of all finished runs, in their order."""
    return Result(
        scenario=scenario,
        runs=tuple(_record(one) for one in finished),
        series=_table(finished, _series, SERIES_COLUMNS),
        distributions=_table(finished, _distributions, DISTRIBUTION_COLUMNS),
        provenance=_provenance(origin),
    )


def _record(one: Finished) -> Run:
    count = one.run.conservation
    if count["offered"] != count["delivered"] + count["dropped"] + count["held"]:
        raise RunFailed(f"{one.disc}, seed {one.seed}: packets went missing: {count}", None)
    cpu_s = one.run.cpu_s
    cost: dict[str, float | int | None] = {
        "events": one.run.events,
        "cpu_s": cpu_s,
        "packets_per_cpu_s": count["delivered"] / cpu_s if cpu_s > 0 else None,
    }
    return Run(
        plant=one.plant,
        disc=one.disc,
        seed=one.seed,
        link=one.run.link,
        metrics=json.loads(one.run.metrics_json),
        conservation=dict(count),
        cost=cost,
    )


#: Numbers by their name, in columns.
Parts: TypeAlias = Iterator[tuple[str, pl.DataFrame]]


def _series(run: _core.Run) -> Parts:
    columns = run.series
    time = columns.pop("time_s")
    for name, values in columns.items():
        yield name, pl.DataFrame({"time": time, "value": values}).with_columns(pl.col("value").fill_nan(None))


def _distributions(run: _core.Run) -> Parts:
    for name, (values, cumulative) in run.distributions.items():
        yield name, pl.DataFrame({"value": values, "cumulative": cumulative})


def _table(
    finished: Sequence[Finished], parts: Callable[[_core.Run], Parts], columns: Sequence[str]
) -> pl.DataFrame:
    """The numbers of all runs in one table, each with the names of where it belongs."""
    rows = [
        ({"plant": one.plant, "link": one.run.link, "disc": one.disc, "name": name}, one.seed, numbers)
        for one in finished
        for name, numbers in parts(one.run)
    ]
    kinds = {text: pl.Enum(list(dict.fromkeys(texts[text] for texts, _, _ in rows))) for text in TEXTS}
    return pl.concat(
        numbers.with_columns(
            pl.lit(seed, dtype=pl.UInt64).alias("seed"),
            *(pl.lit(texts[text], dtype=kind).alias(text) for text, kind in kinds.items()),
        ).select(columns)
        for texts, seed, numbers in rows
    )


def _provenance(origin: Origin) -> dict[str, Any]:
    return {
        "command": origin.command,
        "started": datetime.fromtimestamp(origin.started, UTC).isoformat(timespec="seconds"),
        "wall_s": round(origin.wall_s, 3),
        "runs_asked": origin.asked,
        **({"laws": origin.laws} if origin.laws else {}),
        **({"ccs": origin.ccs} if origin.ccs else {}),
        "interrupted": origin.interrupted,
        "versions": {
            "sojourn": _core.__version__,
            "python": platform.python_version(),
            **{name: _version(name) for name in ("numpy", "polars", "scipy", "matplotlib")},
        },
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "architecture": platform.machine(),
            "processors": os.cpu_count(),
            "workers": origin.workers,
        },
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
