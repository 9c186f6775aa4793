"""Finished runs become one result: metrics, tables, and where they came from."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import polars as pl

from sojourn import _core
from sojourn.errors import RunFailed
from sojourn.result import Result, Run
from sojourn.result.folder import DISTRIBUTION_COLUMNS, SERIES_COLUMNS


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


def gather(scenario: dict[str, Any], finished: Sequence[Finished], origin: Origin) -> Result:
    """One result of all finished runs, in their order."""
    return Result(
        scenario=scenario,
        runs=tuple(_record(one) for one in finished),
        series=pl.concat([_series(one) for one in finished]),
        distributions=pl.concat([_distributions(one) for one in finished]),
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


def _series(one: Finished) -> pl.DataFrame:
    columns = one.run.series
    time = columns["time_s"]
    parts = [
        pl.DataFrame({"time": time, "value": values}).with_columns(pl.lit(name).alias("name"))
        for name, values in columns.items()
        if name != "time_s"
    ]
    return _placed(pl.concat(parts).with_columns(pl.col("value").fill_nan(None)), one).select(SERIES_COLUMNS)


def _distributions(one: Finished) -> pl.DataFrame:
    parts = [
        pl.DataFrame({"value": values, "cumulative": cumulative}).with_columns(pl.lit(name).alias("name"))
        for name, (values, cumulative) in one.run.distributions.items()
    ]
    return _placed(pl.concat(parts), one).select(DISTRIBUTION_COLUMNS)


def _placed(table: pl.DataFrame, one: Finished) -> pl.DataFrame:
    return table.with_columns(
        pl.lit(one.plant).alias("plant"),
        pl.lit(one.run.link).alias("link"),
        pl.lit(one.disc).alias("disc"),
        pl.lit(one.seed, dtype=pl.UInt64).alias("seed"),
    )


def _provenance(origin: Origin) -> dict[str, Any]:
    return {
        "command": origin.command,
        "started": datetime.fromtimestamp(origin.started, UTC).isoformat(timespec="seconds"),
        "wall_s": round(origin.wall_s, 3),
        "runs_asked": origin.asked,
        **({"laws": origin.laws} if origin.laws else {}),
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
