"""Quality of Outcome: measured latency, loss and throughput against the requirements of an application.

The formulas are those of draft-ietf-ippm-qoo, "Calculating QoO": a score from 0 (unacceptable) to 100
(optimal) of each latency percentile, of the loss and of the throughput, and the least of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result.requirements import MEASURED, Requirements, requirement_sets
from sojourn.result.traffic import app_of

if TYPE_CHECKING:
    from sojourn.result import Result, Row

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
class Conditions:
    """Measured conditions of a path."""

    #: Seconds by percentile; those without a measurement are missing.
    latency: Mapping[float, float]
    #: Share of the packets; None: not measured.
    loss: float | None
    throughput_bps: float


@dataclass(frozen=True)
class Score:
    """Scores from 0 to 100 of the three dimensions; None: not measured."""

    latency: float | None
    loss: float | None
    throughput: float

    @property
    def qoo(self) -> float | None:
        """The overall score: the least of the three, and 0 if one of them is, whatever the others are."""
        return _least([self.latency, self.loss, self.throughput])


def score(required: Requirements, measured: Conditions) -> Score:
    """Score of measured conditions."""
    latency = {one: measured.latency.get(one) for one in required.latency}
    return Score(
        _least([None if at is None else required.latency[one].score(at) for one, at in latency.items()]),
        None if measured.loss is None else required.loss.score(measured.loss),
        100.0 if measured.throughput_bps >= required.throughput_bps else 0.0,
    )


def _least(scores: Sequence[float | None]) -> float | None:
    """The least score; 0 if any is, and else None if any is not measured.

    One criterion at the point of unacceptable performance is enough for 0: "Calculating QoO", the second of
    its scenarios. Nothing has a latency where everything is lost.

    >>> _least([None, 0.0, 100.0]), _least([None, 50.0]), _least([75.0, 50.0])
    (0.0, None, 50.0)
    """
    known = [one for one in scores if one is not None]
    if 0.0 in known:
        return 0.0
    return min(known) if len(known) == len(scores) else None


def conditions(required: Requirements, rows: Sequence[Row], carried_bps: float) -> Conditions | None:
    """Conditions that a class had in one run, by its rows at all links; None where nothing was measured.

    `carried_bps` is the goodput of all traffic at its first link.
    """
    first = rows[0].metrics
    latency = {one: first.get(MEASURED[required.direction][one]) for one in required.latency}
    known = {one: value for one, value in latency.items() if isinstance(value, float)}
    loss = _loss(rows)
    return Conditions(known, loss, carried_bps) if known or loss is not None else None


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
    found = {str(group.get("name")): by_app.get(app_of(group)[0]) for group in groups}
    known = {name: one for name, one in found.items() if one is not None}
    return {None if len(groups) == 1 else name: one for name, one in known.items()}


def scores(required: Mapping[str | None, Requirements], rows: Sequence[Row]) -> dict[str | None, Score]:
    """Scores of the classes of one run, by its rows at all links and of all classes."""
    whole = [row for row in rows if row.queue is None]
    carried = {row.link: row.metrics.get("goodput_bps") for row in whole if row.traffic_class is None}
    found = {}
    for traffic_class, one in required.items():
        own = [row for row in whole if row.traffic_class == traffic_class]
        # At links that no data cross, metrics of flows are null.
        crossed = [row for row in own if isinstance(row.metrics.get("goodput_bps"), float)]
        if not crossed:
            continue
        all_traffic = carried.get(crossed[0].link) or crossed[0].metrics.get("goodput_bps")
        measured = conditions(one, crossed, all_traffic if isinstance(all_traffic, float) else 0.0)
        if measured is not None and (of := score(one, measured)).qoo is not None:
            found[traffic_class] = of
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
