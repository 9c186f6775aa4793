"""A capture of Flent beside a simulation, or beside another capture: goodputs by direction, and pings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.errors import InputError
from sojourn.flent import export
from sojourn.flent.capture import DIRECTIONS, Capture
from sojourn.flent.mapping import Mapped, Traffic, mapped
from sojourn.result import Result, Row, Variant
from sojourn.result.column import Column
from sojourn.result.equivalence import Agreement, agreement_of, of_means

#: Metrics of captures and results alike: goodputs while flows send, and quantiles of the ping of ICMP.
COLUMNS = {
    one.metric: one
    for one in (
        Column("upload_bps", "upload", "Mbit/s", 1e-6),
        Column("download_bps", "download", "Mbit/s", 1e-6),
        Column("total_bps", "upload and download", "Mbit/s", 1e-6),
        Column("ping_p50_s", "ping median", "ms", 1e3),
        Column("ping_p95_s", "ping p95", "ms", 1e3),
        Column("ping_p99_s", "ping p99", "ms", 1e3),
    )
}
_QUANTILES = (50, 95, 99)


@dataclass(frozen=True)
class Side:
    """A capture, or the runs of a variant: values of each metric by seed; those of a capture are exact."""

    name: str
    seeded: bool
    values: dict[str, dict[int, float]]


def compare(
    left: Capture | Result, right: Capture | Result, tolerance: float, metrics: Sequence[str] = ()
) -> Agreement:
    """Compare both in the metrics that they have in common, each variant of a result by itself.

    Raises `InputError` where there is nothing to compare.
    """
    for name in metrics:
        if name not in COLUMNS:
            raise InputError(f'metrics: "{name}" is none of captures; expected {", ".join(COLUMNS)}')
    rows = []
    for one in _sides(left):
        for two in _sides(right):
            for name in metrics or COLUMNS:
                samples = one.values.get(name), two.values.get(name)
                if samples[0] and samples[1]:
                    found = of_means(samples[0], samples[1], (one.seeded, two.seeded), tolerance)
                    rows.append({"left": one.name, "right": two.name, "metric": name} | found)
                elif metrics:
                    raise InputError(f"metrics: {name} has no value on one side; expected a metric of both")
    if not rows:
        raise InputError("compare: the two have no metric in common; expected flows of one direction in both")
    return agreement_of(tolerance, rows, columns=COLUMNS)


def _sides(of: Capture | Result) -> Iterator[Side]:
    if isinstance(of, Capture):
        yield Side(f"{of.title} (capture)", False, {name: {0: one} for name, one in _of_capture(of).items()})
        return
    plan = mapped(of.scenario)
    seeds: dict[Variant, list[int]] = {}
    for variant, seed in export.runs(of):
        seeds.setdefault(variant, []).append(seed)
    for variant, own in seeds.items():
        values: dict[str, dict[int, float]] = {}
        for seed in own:
            for name, one in _of_run(of, plan, variant, seed).items():
                values.setdefault(name, {})[seed] = one
        yield Side(f"{variant.qdisc} ({variant.plant})", variant.seeded, values)


def _of_capture(capture: Capture) -> dict[str, float]:
    """The metrics of a capture."""
    goodputs = {way: 1e6 * mean for way in DIRECTIONS if (mean := capture.goodput(way)) is not None}
    found = _with_total(goodputs)
    if not capture.pings:
        return found
    pings = capture.samples(capture.pings[0]).within(*capture.loaded).values
    return found | _quantiles(pings)


def _of_run(result: Result, plan: Mapped, variant: Variant, seed: int) -> dict[str, float]:
    """The metrics of a run, as the result has them: goodputs of its classes, quantiles of its first ping."""
    names: list[str | None] = [*result.classes] or [None]
    rows = {
        row.traffic_class: row
        for name in names
        for row in result.rows(traffic_class=name)
        if (row.qdisc, row.plant, row.seed) == (variant.qdisc, variant.plant, seed)
    }
    ways = dict(zip(DIRECTIONS, (plan.uploads, plan.downloads), strict=True))
    goodputs = {}
    for way, classes in ways.items():
        own = [_metric(rows, one, "goodput_bps") for one in classes]
        known = [one for one in own if one is not None]
        if known and len(known) == len(own):
            goodputs[way] = sum(known)
    found = _with_total(goodputs)
    if plan.pings:
        for quantile in _QUANTILES:
            value = _metric(rows, plan.pings[0], f"rtt_p{quantile}_s")
            if value is not None:
                found[f"ping_p{quantile}_s"] = value
        return found
    try:
        capture = export.capture(result, variant, seed)
    except InputError:
        # Under a qdisc with several queues nothing stands for a ping.
        return found
    return found | _quantiles(capture.samples(capture.pings[0]).values)


def _metric(rows: Mapping[str | None, Row], traffic: Traffic, metric: str) -> float | None:
    row = rows.get(traffic.name, rows.get(None))
    value = None if row is None else row.metrics.get(metric)
    return float(value) if isinstance(value, int | float) else None


def _with_total(goodputs: dict[str, float]) -> dict[str, float]:
    named = {f"{way}_bps": one for way, one in goodputs.items()}
    return named | {"total_bps": sum(goodputs.values())} if len(goodputs) > 1 else named


def _quantiles(pings_ms: np.typing.NDArray[np.float64]) -> dict[str, float]:
    if not len(pings_ms):
        return {}
    values = np.percentile(pings_ms, _QUANTILES) / 1e3
    return {f"ping_p{quantile}_s": float(one) for quantile, one in zip(_QUANTILES, values, strict=True)}
