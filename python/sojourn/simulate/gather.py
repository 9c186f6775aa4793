"""Gathering of finished runs into one result: metrics, tables, provenance."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn import _core
from sojourn.errors import RunFailed
from sojourn.live import LiveLink, LiveRun
from sojourn.result import Result, Row, Variant, qoo, windows
from sojourn.result.folder import DISTRIBUTION_COLUMNS, SERIES_COLUMNS, TEXTS
from sojourn.result.words import seconds


@dataclass(frozen=True)
class Finished:
    """One finished run and its place in the result."""

    variant: Variant
    seed: int
    run: _core.Run | LiveRun


@dataclass
class Origin:
    """Origin of a result: the facts that depend on the machine and the moment."""

    command: list[str]
    started: float
    wall_s: float
    planned: int
    workers: int
    interrupted: bool = False
    #: Warnings about the scenario.
    notes: list[str] = field(default_factory=list)
    #: Source of each law written in Python, by its label; None: not available.
    laws: dict[str, str | None] = field(default_factory=dict)
    #: The same of the congestion controls.
    ccs: dict[str, str | None] = field(default_factory=dict)


def gather(scenario: dict[str, Any], finished: Sequence[Finished], origin: Origin) -> Result:
    """One result of all finished runs, in their order."""
    return Result(
        scenario=scenario,
        runs=tuple(record for one in finished for record in records(one, scenario)),
        series=_table(finished, _series, SERIES_COLUMNS),
        distributions=_table(finished, _distributions, DISTRIBUTION_COLUMNS),
        provenance=_provenance(origin),
        windows=windows.table(row for one in finished for row in _windows(one)),
    )


def records(one: Finished, scenario: dict[str, Any]) -> list[Row]:
    """Rows of a run at each link: all traffic together, then by class and by queue if there are several."""
    return qoo.with_scores(scenario, [*_rows(one)])


def _rows(one: Finished) -> Iterator[Row]:
    cost, trust = _cost(one.run), one.run.trust or {}
    for link in one.run.links:
        # A law in Python has the run's label.
        here = link.qdisc or one.variant.qdisc.removeprefix(f"{link.link}=")
        for traffic_class, queue, metrics, count in link.rows:
            # A fluid has no packets to count.
            if count and count["offered"] != count["delivered"] + count["dropped"] + count["held"]:
                raise RunFailed(f"{one.variant.run_name(one.seed)}: packets went missing: {count}", None)
            yield Row(
                plant=one.variant.plant,
                qdisc=one.variant.qdisc,
                seed=one.seed,
                link=link.link,
                traffic_class=traffic_class,
                queue=queue,
                qdisc_here=None if link.link is None or here == one.variant.qdisc else here,
                metrics=metrics,
                conservation=count,
                cost=cost,
                trust=trust,
            )
            # The cost of a run is counted once, and so is the trust in it.
            cost, trust = {}, {}


def shortened(scenario: dict[str, Any], end_s: float, windows: Collection[str]) -> dict[str, Any]:
    """The scenario of a run that ended at `end_s`: without what comes later, with those `windows` alone."""
    changes = [change for change in scenario["at"] if (seconds(change["time"]) or 0.0) < end_s]
    for change in changes:
        if change["until"] is not None and (seconds(change["until"]) or 0.0) >= end_s:
            change["until"] = None
    found = {**scenario, "duration": f"{end_s:g} s", "at": changes}
    if "windows" in found:
        found["windows"] = [window for window in found["windows"] if window in windows]
    last = f"{end_s * (1 - 1e-6):.9g} s"
    found["flows"] = [
        {**of, **{key: _until(of[key], end_s, last) for key in ("start", "stop") if key in of}}
        for of in found["flows"]
    ]
    return found


def _until(times: Any, end_s: float, last: str) -> Any:
    """Times of flows, of which those that come later are the last one before the end."""
    if isinstance(times, dict):
        return {key: _until(one, end_s, last) for key, one in times.items()}
    if isinstance(times, list):
        return [_until(one, end_s, last) for one in times]
    given = seconds(times)
    return times if given is None or given < end_s else last


def _windows(one: Finished) -> Iterator[tuple[object, ...]]:
    """Rows of the table of windows."""
    variant, seed = one.variant, one.seed
    for window, (from_s, until_s), (link, traffic_class, queue), metrics in one.run.windows:
        for name, value in metrics.items():
            place = (window, from_s, until_s, variant.plant, link, variant.qdisc, seed)
            yield (*place, traffic_class, queue, name, value)


def _cost(run: _core.Run | LiveRun) -> dict[str, float | int | None]:
    """Cost of the run; its packets are those of its first link."""
    *_, count = run.links[0].rows[0]
    packets = count.get("delivered")
    return {
        "events": run.events,
        "cpu_s": run.cpu_s,
        "packets_per_cpu_s": packets / run.cpu_s if packets is not None and run.cpu_s > 0 else None,
    }


SEED = {"seed": pl.UInt64()}

#: Measurements at a link, of this process or of another one.
Link: TypeAlias = _core.LinkRun | LiveLink
#: Numbers by their name, in columns.
Parts: TypeAlias = Iterator[tuple[str, dict[str, npt.NDArray[np.float64]]]]


def _series(link: Link) -> Parts:
    columns = dict(link.series)
    time = columns.pop("time_s")
    for name, values in columns.items():
        yield name, {"time": time, "value": values}


def _distributions(link: Link) -> Parts:
    for name, (values, cumulative) in link.distributions.items():
        yield name, {"value": values, "cumulative": cumulative}


def _table(
    finished: Sequence[Finished], parts: Callable[[Link], Parts], columns: Sequence[str]
) -> pl.DataFrame:
    """Numbers of all runs in one table, each with the names of its place; gaps are null.

    There may be many thousands of parts: they are put together at once, not one frame at a time.
    """
    rows = [
        (asdict(one.variant) | {"link": link.link, "name": name}, one.seed, numbers)
        for one in finished
        for link in one.run.links
        for name, numbers in parts(link)
    ]
    known = {text: dict.fromkeys(texts[text] for texts, _, _ in rows) for text in TEXTS}
    kinds = {text: pl.Enum([name for name in names if name is not None]) for text, names in known.items()}
    places = pl.DataFrame([texts | {"seed": seed} for texts, seed, _ in rows], schema={**kinds, **SEED})
    lengths = [len(numbers["value"]) for _, _, numbers in rows]
    names = places[np.repeat(np.arange(len(rows)), lengths)]
    numbers = {
        key: np.concatenate([one[key] for _, _, one in rows] or [np.empty(0)])
        for key in columns
        if key not in names.columns
    }
    return names.with_columns(**numbers).with_columns(pl.col("value").fill_nan(None)).select(columns)


def _provenance(origin: Origin) -> dict[str, Any]:
    return {
        "command": origin.command,
        "started": datetime.fromtimestamp(origin.started, UTC).isoformat(timespec="seconds"),
        "wall_s": round(origin.wall_s, 3),
        "runs_planned": origin.planned,
        **({"notes": origin.notes} if origin.notes else {}),
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


@functools.cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
