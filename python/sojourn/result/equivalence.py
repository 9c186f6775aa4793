"""Whether two results agree, or two plants of one: their means over seeds, and their backlogs over time.

A test that finds no difference does not say that there is none. Two agree within a tolerance where both
one-sided tests of a difference as large are rejected (D. J. Schuirmann 1987).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.kinds import one_of_kind, shown, text
from sojourn.result import Result, Variant, words
from sojourn.result.column import Column
from sojourn.result.metrics import LISTS
from sojourn.result.series import exceedance, time_warping
from sojourn.result.statistics import equivalence_p, ratio_p

__all__ = ["COMPARED", "Agreement", "agreement_of", "compare", "of_means", "share_of"]

#: Metrics that are compared unless others are named.
COMPARED = (
    "utilization",
    "queue_mean_packets",
    "sojourn_mean_s",
    "sojourn_p95_s",
    "drop_ratio",
    "mark_ratio",
    "goodput_bps",
)
BACKLOG = "queue_packets"
#: Samples of a backlog that are aligned, at most, and the largest shift in time as a share of them.
MOST_SAMPLES, BAND = 2_000, 0.1
#: Verdicts.
AGREES, DIFFERS, UNDECIDED, ONE_SEED = "agrees", "differs", "undecided", "one seed"
_ENTRY = re.compile(r"(\w+)\[([0-9]{1,4})\]")
_METRICS = {
    **dict.fromkeys(("left", "right", "metric"), pl.String()),
    **dict.fromkeys(("n_left", "n_right"), pl.Int64()),
    **dict.fromkeys(("mean_left", "mean_right", "ratio", "p"), pl.Float64()),
    "verdict": pl.String(),
}
_SERIES = {
    **dict.fromkeys(("left", "right"), pl.String()),
    "n": pl.Int64(),
    **dict.fromkeys(("level_packets", "above_left", "above_right", "p"), pl.Float64()),
    "verdict": pl.String(),
    **dict.fromkeys(("apart_packets", "shift_s"), pl.Float64()),
}


@dataclass(frozen=True)
class Agreement:
    """Two results, or two plants of one, beside each other: what agrees within a tolerance."""

    #: Share of the first one's mean; of backlogs a share of time.
    tolerance: float
    #: A row for each pair of variants and metric: `left` and `right`, numbers of seeds, means, their `ratio`
    #: (right by left), `p` of both one-sided tests, and `verdict`: agrees, differs, undecided or one seed.
    metrics: pl.DataFrame
    #: A row for each pair: number `n` of runs of each side, those of common seeds or one, and of these runs
    #: the shares of time above the level, `p` and `verdict` as for metrics; of the first common seed the mean
    #: difference after time warping, packets, and the largest shift, s.
    series: pl.DataFrame
    #: Columns of metrics that are none of a result's.
    columns: Mapping[str, Column] = field(default_factory=dict)

    @property
    def verdicts(self) -> list[str]:
        """Verdicts of all metrics and backlogs."""
        return [*self.metrics["verdict"], *self.series["verdict"]]

    @property
    def agrees(self) -> bool:
        """True if everything is shown to agree.

        Each test is at 5 %: that all are passed where one should not be has a probability of at most that
        (R. L. Berger 1982).
        """
        return all(one == AGREES for one in self.verdicts)

    def to_json(self) -> str:
        """The same as a JSON document."""
        document = {
            "schema": 1,
            "tolerance": self.tolerance,
            "agrees": self.agrees,
            "metrics": self.metrics.to_dicts(),
            "series": self.series.to_dicts(),
        }
        return json.dumps(document, indent=1, ensure_ascii=False)


def compare(left: Result, right: Result | None, tolerance: float, metrics: Sequence[str] = ()) -> Agreement:
    """Compare variants of two results, at the first link; without `right` those of two plants in one.

    Raises `InputError` where there is nothing to compare.
    """
    if right is not None and not isinstance(right, Result):
        raise InputError(f"other: {shown(right)} is no result; expected one, or None")
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, list | tuple) or not all(isinstance(name, str) for name in metrics):
        raise InputError(f'metrics: {shown(metrics)} is no list; expected such as ["utilization"]')
    metrics = [str(one_of_kind("metrics", text, name)) for name in metrics]
    other = left if right is None else right
    for name in metrics:
        _check_metric(left, name)
        _check_metric(other, name)
    pairs = _pairs(left, right)
    rows, series = [], []
    for one, two in pairs:
        names = {"left": _name(left, one), "right": _name(other, two)}
        for metric in metrics or COMPARED:
            samples = _values(left, one, metric), _values(other, two, metric)
            if all(samples):
                seeded = (one.seeded, two.seeded)
                rows.append(names | {"metric": metric} | of_means(*samples, seeded, tolerance))
            elif metrics:
                every = "" if _entry(metric) is None else " under every seed"
                message = f"has no value on one side{every}; expected a metric of both"
                raise InputError(f"metrics: {metric} {message}")
        backlogs = _backlogs(left, one), _backlogs(other, two)
        if all(backlogs):
            series.append(names | _of_series(*backlogs, (one, two), tolerance))
    if not rows and not series:
        raise InputError("compare: the two have no metric in common; expected results of like scenarios")
    return agreement_of(tolerance, rows, series)


def agreement_of(
    tolerance: float,
    metrics: Sequence[Mapping[str, Any]],
    series: Sequence[Mapping[str, Any]] = (),
    columns: Mapping[str, Column] | None = None,
) -> Agreement:
    """The agreement of these rows."""
    tables = (pl.DataFrame(metrics, schema=_METRICS), pl.DataFrame(series, schema=_SERIES))
    return Agreement(tolerance, *tables, columns or {})


def share_of(given: object) -> float:
    """A tolerance such as ``"5%"`` or 0.05. Raises `InputError`.

    >>> share_of("5%"), share_of(0.1)
    (0.05, 0.1)
    """
    value = given
    if isinstance(given, str):
        text = given.strip()
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"tolerance: {shown(given)} is no share between 0 and 1; expected such as 5%")
    return float(value)


def _pairs(left: Result, right: Result | None) -> list[tuple[Variant, Variant]]:
    """Variants to compare: of one qdisc and plant, or, where no plant is common, of one qdisc."""
    if right is None:
        if len(left.plants) < 2:
            raise InputError(
                f"compare: one result has one plant ({left.plants[0]}); expected two results, or two plants"
            )
        first, second = left.plants[:2]
        right = left.for_plant(second)
        left = left.for_plant(first)
    lefts, rights = left.variants, right.variants
    if not {one.qdisc for one in lefts} & {one.qdisc for one in rights}:
        # Of one qdisc each they are compared, whatever their names.
        if len(left.qdiscs) > 1 or len(right.qdiscs) > 1:
            names = f"{', '.join(left.qdiscs)} and {', '.join(right.qdiscs)}"
            raise InputError(f"compare: no qdisc is in both ({names}); expected one, or one in each")
        return [(one, two) for one in lefts for two in rights if _meet(one, two, left, right)]
    return [
        (one, two)
        for one in lefts
        for two in rights
        if one.qdisc == two.qdisc and _meet(one, two, left, right)
    ]


def _meet(one: Variant, two: Variant, left: Result, right: Result) -> bool:
    return one.plant == two.plant or not set(left.plants) & set(right.plants)


def _name(result: Result, variant: Variant) -> str:
    return f"{words.qdisc_at(result, variant.qdisc, result.links[0])} ({variant.plant})"


def _entry(metric: str) -> tuple[str, int] | None:
    """Name and place of an entry of a list, such as ``settling_s[0]``; None: it is none."""
    found = _ENTRY.fullmatch(metric)
    return (found[1], int(found[2])) if found and found[1] in LISTS else None


def _check_metric(result: Result, metric: str) -> None:
    """Raise `InputError` for an unknown metric, or for a whole list."""
    if metric in LISTS:
        expected = f'expected one of them, such as "{metric}[0]"'
        raise InputError(f'metric: "{metric}" has a value for each scheduled change; {expected}')
    entry = _entry(metric)
    result.check_metric(metric if entry is None else entry[0])


def _values(result: Result, variant: Variant, metric: str) -> dict[int, float]:
    entry = _entry(metric)
    if entry is not None:
        return _entries(result, variant, *entry)
    if metric not in {name for row in result.runs for name in row.metrics}:
        return {}
    return result.values(variant.qdisc, metric, plant=variant.plant)


def _entries(result: Result, variant: Variant, name: str, place: int) -> dict[int, float]:
    """An entry of a list under each seed; none unless every seed has it, as in `Result.summary`."""
    rows = [row for row in result.rows() if (row.qdisc, row.plant) == (variant.qdisc, variant.plant)]
    lists = {row.seed: row.metrics.get(name) for row in rows}
    found = {
        seed: float(value)
        for seed, of in lists.items()
        if isinstance(of, list) and place < len(of) and (value := of[place]) is not None
    }
    return found if len(found) == len(lists) else {}


def of_means(
    left: Mapping[int, float], right: Mapping[int, float], seeded: tuple[bool, bool], tolerance: float
) -> dict[str, Any]:
    """Means of a metric by seed, their ratio, and the verdict; a value that is not `seeded` is exact."""
    one, two = np.mean([*left.values()]), np.mean([*right.values()])
    found = {
        "n_left": len(left),
        "n_right": len(right),
        "mean_left": float(one),
        "mean_right": float(two),
        "ratio": float(two / one) if one else None,
    }
    samples, paired = _paired(left, right, seeded)
    if any(one and len(own) < 2 for one, own in zip(seeded, samples, strict=True)):
        return found | {"p": None, "verdict": ONE_SEED}
    below, above = ratio_p(*samples, tolerance, paired=paired)
    return found | {"p": max(below, above), "verdict": _verdict(below, above)}


def _paired(
    left: Mapping[int, float], right: Mapping[int, float], seeded: tuple[bool, bool]
) -> tuple[tuple[list[float], list[float]], bool]:
    """Values of common seeds in pairs where both have the same seeds; else all of each."""
    if all(seeded) and left.keys() == right.keys() and len(left) > 1:
        return ([*left.values()], [right[seed] for seed in left]), True
    return ([*left.values()], [*right.values()]), False


def _verdict(below: float, above: float) -> str:
    """Of p that the right is below the upper bound, and above the lower one."""
    if max(below, above) < 0.05:
        return AGREES
    return DIFFERS if max(below, above) > 0.95 else UNDECIDED


def _backlogs(result: Result, variant: Variant) -> dict[int, tuple[float, list[float]]]:
    """Step, s, and backlog after the warm-up, by seed."""
    warmup = words.seconds(result.scenario.get("warmup")) or 0.0
    rows = result.series.filter(
        pl.col("name") == BACKLOG,
        pl.col("link") == result.links[0],
        pl.col("qdisc") == variant.qdisc,
        pl.col("plant") == variant.plant,
        pl.col("time") > warmup,
    ).drop_nulls("value")
    found = {}
    for (seed,), own in rows.group_by("seed", maintain_order=True):
        times = own["time"].to_list()
        if len(times) > 10:
            found[int(str(seed))] = (times[1] - times[0], own["value"].to_list())
    return found


def _of_series(
    left: Mapping[int, tuple[float, list[float]]],
    right: Mapping[int, tuple[float, list[float]]],
    of: tuple[Variant, Variant],
    tolerance: float,
) -> dict[str, Any]:
    seeds = [seed for seed in left if seed in right]
    one, two = (
        (left[seeds[0]], right[seeds[0]])
        if seeds
        else (next(iter(left.values())), next(iter(right.values())))
    )
    by_seed = all(variant.seeded for variant in of) and len(seeds) > 1
    # Level, shares and p are all of these runs.
    runs = [(left[seed], right[seed]) for seed in seeds] if by_seed else [(one, two)]
    level = float(np.median(np.concatenate([values for (_, values), _ in runs])))
    above = [[float(np.mean(np.asarray(values) > level)) for _, values in pair] for pair in runs]
    shares = np.mean(above, axis=0)
    found: dict[str, Any] = {
        "n": len(runs),
        "level_packets": level,
        "above_left": float(shares[0]),
        "above_right": float(shares[1]),
    }
    apart = abs(float(shares[0] - shares[1]))
    if by_seed:
        p = equivalence_p([first - second for first, second in above], tolerance)
    elif seeds and one == two:
        p = 0.0
    else:
        # Within one run of each, by batch means.
        p = exceedance(one[1], two[1], level, bound=tolerance).p_within
        if p is None:
            p = 0.0 if apart < tolerance else 1.0
    assert p is not None
    verdict = AGREES if p < 0.05 else DIFFERS if p > 0.95 and apart > tolerance else UNDECIDED
    return found | {"p": p, "verdict": verdict} | _aligned(one, two)


def _aligned(left: tuple[float, list[float]], right: tuple[float, list[float]]) -> dict[str, float | None]:
    """Two backlogs after their alignment in time; null where their steps differ."""
    (step, one), (other, two) = left, right
    if abs(step - other) > 1e-9 * step:
        return {"apart_packets": None, "shift_s": None}
    # Means of as many samples as make a series short enough.
    stride = -(-max(len(one), len(two)) // MOST_SAMPLES)
    means = [
        np.asarray(own[: len(own) // stride * stride]).reshape(-1, stride).mean(axis=1).tolist()
        for own in (one, two)
    ]
    found = time_warping(means[0], means[1], max(1, round(BAND * max(map(len, means)))))
    return {"apart_packets": found.mean, "shift_s": found.shift * step * stride}
