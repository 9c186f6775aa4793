"""Quality of Outcome: measured latency, loss and throughput against the requirements of an application.

The formulas are those of draft-ietf-ippm-qoo, "Calculating QoO": a score from 0 (unacceptable) to 100
(optimal) of each latency percentile, of the loss and of the throughput, and the least of them.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError
from sojourn.units import quantity

if TYPE_CHECKING:
    from sojourn.result import Result, Row

#: Percentiles that are measured, and their metrics, by the direction of a requirement.
MEASURED = {
    "one-way": {50: "one_way_p50_s", 95: "one_way_p95_s", 99: "one_way_p99_s", 99.9: "one_way_p999_s"},
    "two-way": {50: "rtt_p50_s", 95: "rtt_p95_s", 99: "rtt_p99_s", 99.9: "rtt_p999_s", 100: "rtt_max_s"},
}

#: Columns of a table of scores, with their types.
KINDS: dict[str, Any] = {
    "qdisc": pl.String,
    "plant": pl.String,
    "seed": pl.UInt64,
    "class": pl.String,
    "requirements": pl.String,
    "latency": pl.Float64,
    "loss": pl.Float64,
    "throughput": pl.Float64,
    "qoo": pl.Float64,
}


@dataclass(frozen=True)
class Thresholds:
    """A value at which an application is optimal (ROP), and one at which it is unacceptable (CPUP)."""

    optimal: float
    unacceptable: float

    def score(self, measured: float) -> float:
        """Position of a measured value between the two, 0 to 100.

        >>> Thresholds(0.2, 0.5).score(0.35)
        50.0
        """
        above = (measured - self.optimal) / (self.unacceptable - self.optimal)
        return 100 * min(1.0, max(0.0, round(1 - above, 12)))


@dataclass(frozen=True)
class Requirements:
    """Requirements of an application: a requirement set."""

    name: str
    title: str
    #: ``one-way``, from sender to receiver, or ``two-way``.
    direction: str
    #: Seconds by percentile.
    latency: Mapping[float, Thresholds]
    #: Share of the packets.
    loss: Thresholds
    throughput_bps: float
    source: str
    #: Application of a scenario whose classes have these requirements; None: none.
    app: str | None = None


@dataclass(frozen=True)
class Conditions:
    """Measured conditions of a path."""

    #: Seconds by percentile.
    latency: Mapping[float, float]
    #: Share of the packets.
    loss: float
    throughput_bps: float


@dataclass(frozen=True)
class Score:
    """Scores from 0 to 100: of the three dimensions, and the least of them."""

    latency: float
    loss: float
    throughput: float

    @property
    def qoo(self) -> float:
        """The overall score."""
        return min(self.latency, self.loss, self.throughput)


def score(required: Requirements, measured: Conditions) -> Score:
    """Score of measured conditions. They have all percentiles that are required."""
    return Score(
        min(of.score(measured.latency[percentile]) for percentile, of in required.latency.items()),
        required.loss.score(measured.loss),
        100.0 if measured.throughput_bps >= required.throughput_bps else 0.0,
    )


def requirement_sets(file: Path | None = None) -> dict[str, Requirements]:
    """The requirement sets of a TOML file by name; by default those that ship. Raises `InputError`.

    >>> list(requirement_sets())
    ['call', 'game', 'web']
    """
    return _shipped() if file is None else _read(file)


@functools.cache
def _shipped() -> dict[str, Requirements]:
    return _read(Path(__file__).with_name("requirements.toml"))


def _read(file: Path) -> dict[str, Requirements]:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}") from None
    return {name: _set_of(f"{file}: {name}", name, table) for name, table in document.items()}


def _set_of(place: str, name: str, table: Any) -> Requirements:
    """One requirement set; errors begin with `place`."""
    keys = {"title", "app", "direction", "throughput", "latency", "loss", "source"}
    if not isinstance(table, dict) or (unknown := set(table) - keys):
        what = f"unknown key {min(unknown)}" if isinstance(table, dict) else "no table"
        raise InputError(f"{place}: {what}; expected {', '.join(sorted(keys))}")
    direction = table.get("direction")
    if direction not in MEASURED:
        raise InputError(f'{place}.direction: expected "one-way" or "two-way"')
    try:
        latency = {entry["percentile"]: _times(entry) for entry in table["latency"]}
        loss = Thresholds(float(table["loss"]["optimal"]), float(table["loss"]["unacceptable"]))
        throughput, unit = quantity("rate", table["throughput"])
        title, source = str(table["title"]), str(table["source"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{place}: {error} is missing or malformed; expected the form of requirements.toml"
        ) from None
    if unit != "bit/s":
        raise InputError(f'{place}.throughput: expected a rate such as "4 Mbit/s"')
    if unmeasured := set(latency) - set(MEASURED[direction]):
        expected = ", ".join(f"{one:g}" for one in MEASURED[direction])
        raise InputError(
            f"{place}.latency: percentile {min(unmeasured)} is not measured; expected {expected}"
        )
    for key, of in (*((f"latency, percentile {one:g}", of) for one, of in latency.items()), ("loss", loss)):
        if not 0 <= of.optimal < of.unacceptable < math.inf:
            raise InputError(f"{place}.{key}: expected 0 or more as optimal, and more as unacceptable")
    if not latency:
        raise InputError(f"{place}.latency: expected at least one percentile")
    return Requirements(name, title, direction, latency, loss, throughput, source, table.get("app"))


def _times(entry: Mapping[str, Any]) -> Thresholds:
    return Thresholds(*(quantity("time", entry[key])[0] for key in ("optimal", "unacceptable")))


def conditions(required: Requirements, rows: Sequence[Row], carried_bps: float) -> Conditions | None:
    """Conditions that a class had in one run, by its rows at all links; None where any was not measured.

    `carried_bps` is the goodput of all traffic at its first link.
    """
    first = rows[0].metrics
    latency = {one: first.get(MEASURED[required.direction][one]) for one in required.latency}
    known = {one: value for one, value in latency.items() if isinstance(value, float)}
    loss = _loss(rows)
    if loss is None or len(known) < len(latency):
        return None
    return Conditions(known, loss, carried_bps)


def _loss(rows: Sequence[Row]) -> float | None:
    """Share of the datagrams lost; of TCP the share of the packets of data lost at any of the links."""
    datagrams = rows[0].metrics.get("datagram_loss_ratio")
    if isinstance(datagrams, float):
        return datagrams
    passed = [
        1 - value
        for row in rows
        for name in ("drop_ratio", "wire_loss_ratio")
        if isinstance(value := row.metrics.get(name), float)
    ]
    return 1 - math.prod(passed) if passed else None


def of_classes(
    scenario: Mapping[str, Any], sets: Mapping[str, Requirements] | None = None
) -> dict[str | None, Requirements]:
    """Requirement set of each class whose application has one; None is the class of a scenario with one."""
    by_app = {one.app: one for one in (requirement_sets() if sets is None else sets).values() if one.app}
    groups = scenario.get("flows") or []
    found = {str(group.get("name")): by_app.get(app_of(group)) for group in groups}
    known = {name: one for name, one in found.items() if one is not None}
    return {None if len(groups) == 1 else name: one for name, one in known.items()}


def app_of(group: Mapping[str, Any]) -> str:
    """Name of the application of a group of flows.

    >>> app_of({"app": {"web": {"objects": 20}}}), app_of({})
    ('web', 'bulk')
    """
    app = group.get("app")
    return next(iter(app), "") if isinstance(app, dict) else str(app or "bulk")


def scores(required: Mapping[str | None, Requirements], rows: Sequence[Row]) -> dict[str | None, Score]:
    """Scores of the classes of one run, by its rows at all links and of all classes."""
    carried = {row.link: row.metrics.get("goodput_bps") for row in rows if row.traffic_class is None}
    found = {}
    for traffic_class, one in required.items():
        own = [row for row in rows if row.traffic_class == traffic_class and row.queue is None]
        # At links that no data cross, metrics of flows are null.
        crossed = [row for row in own if isinstance(row.metrics.get("goodput_bps"), float)]
        if not crossed:
            continue
        all_traffic = carried.get(crossed[0].link) or crossed[0].metrics.get("goodput_bps")
        measured = conditions(one, crossed, all_traffic if isinstance(all_traffic, float) else 0.0)
        if measured is not None:
            found[traffic_class] = score(one, measured)
    return found


def table(
    result: Result, sets: Mapping[str, str] | None = None, file: str | Path | None = None
) -> pl.DataFrame:
    """Scores of each class in each run: those of `Result.qoo`."""
    known = requirement_sets(None if file is None else Path(file))
    required = _chosen(result, known, sets)
    runs: dict[tuple[str, str, int], list[Row]] = {}
    for row in result.runs:
        runs.setdefault((row.qdisc, row.plant, row.seed), []).append(row)
    lines = [
        (*run, traffic_class, required[traffic_class].name, one.latency, one.loss, one.throughput, one.qoo)
        for run, rows in runs.items()
        for traffic_class, one in scores(required, rows).items()
    ]
    return pl.DataFrame(lines, schema=KINDS, orient="row")


def _chosen(
    result: Result, known: Mapping[str, Requirements], sets: Mapping[str, str] | None
) -> dict[str | None, Requirements]:
    """Requirement set of each class: those of `sets`, or by default those of its application."""
    if sets is None:
        return of_classes(result.scenario, known)
    groups = [str(group.get("name")) for group in result.scenario.get("flows") or []]
    for name, of in sets.items():
        if name not in groups:
            raise InputError(f'class: "{name}" is no class of traffic here; expected {" or ".join(groups)}')
        if of not in known:
            raise InputError(f'requirements: "{of}" is no requirement set; expected {" or ".join(known)}')
    return {None if len(groups) == 1 else name: known[of] for name, of in sets.items()}


def with_scores(scenario: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    """The rows of one run, with the metric ``qoo`` of each class whose application has a requirement set."""
    found = scores(of_classes(scenario), rows)
    return [
        replace(row, metrics=row.metrics | {"qoo": found[row.traffic_class].qoo})
        if row.queue is None and row.traffic_class in found
        else row
        for row in rows
    ]
