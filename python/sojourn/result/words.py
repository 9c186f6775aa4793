"""Numbers for display: the metrics of a summary, their units and digits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sojourn.result import SEEDLESS, Result, Row, Variant, metrics
from sojourn.result.column import Column
from sojourn.result.statistics import Estimate, difference, estimate

#: Units of time for display, longest first: name, and number per second.
TIMES = (("s", 1.0), ("ms", 1e3), ("µs", 1e6), ("ns", 1e9))
#: Units of rate, highest first: name, and number per bit/s.
RATES = (("Gbit/s", 1e-9), ("Mbit/s", 1e-6), ("kbit/s", 1e-3), ("bit/s", 1.0))
#: Heading of the classes whose data cross no link with a qdisc.
NO_QDISC = "no qdisc on the way"
#: Inverse of the relative accuracy of a plant without randomness.
EXACT = 1000
#: Fewest seeds of an interval of a score with bounds: that of two is wider than most such scales.
LEAST_SEEDS = 3
#: Largest relative half-width that rounding explains.
ROUNDING = 1e-9
#: Display units of a column.
_CHOICES = {"s": TIMES, "ms": TIMES[1:], "Mbit/s": RATES}

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def views(result: Result) -> Iterator[tuple[str | None, Result]]:
    """Each link with its rows; last, under None, the classes whose data cross no link with a qdisc.

    Samples are left out: there may be thousands of links, and tables do not need them.
    """
    rows: dict[str | None, list[Row]] = {}
    for row in result.runs:
        rows.setdefault(row.link, []).append(row)
    bare = replace(result, series=result.series.clear(), distributions=result.distributions.clear())
    for link in result.places:
        yield link, replace(bare, runs=tuple(rows[link]))


def qdisc_at(result: Result, qdisc: str, link: str) -> str:
    """Name of a run's qdisc at one link: a run of the scenario's own qdiscs has all of them.

    If several runs have one name there, each keeps its own.

    >>> import sojourn as sj
    >>> qdisc_at(sj.run(sj.load("dumbbell", {"duration": "41 s"})), "pi:target=100 packets", "bottleneck")
    'pi:target=100 packets'
    """
    here = {row.qdisc: row.qdisc_here or row.qdisc for row in result.rows(link)}
    return qdisc if list(here.values()).count(here[qdisc]) > 1 else here[qdisc]


def variant_at(result: Result, variant: Variant, link: str) -> str:
    """Name of a variant at one link."""
    return f"{qdisc_at(result, variant.qdisc, link)}{_of_plant(result, variant)}"


def variant_names(result: Result) -> dict[Variant, str]:
    """Short name of each variant: its qdisc, and its plant if there are several.

    >>> import sojourn as sj
    >>> scenario = sj.load("dumbbell", {"duration": "41 s"})
    >>> result = sj.run(scenario, qdiscs=["tail_drop", "pi:target=50packets"])
    >>> list(variant_names(result).values())
    ['tail_drop', 'pi']
    """
    called = short_names(result.qdiscs)
    return {variant: f"{called[variant.qdisc]}{_of_plant(result, variant)}" for variant in result.variants}


def name_parts(result: Result, *, whole: bool = False) -> dict[Variant, tuple[str, str]]:
    """The same in two parts: qdisc with plant, and its distinguishing parameters (all if `whole`)."""
    called = dict(zip(result.qdiscs, result.qdiscs, strict=True)) if whole else short_names(result.qdiscs)
    split = {qdisc: name.partition(":") for qdisc, name in called.items()}
    return {
        variant: (f"{split[variant.qdisc][0]}{_of_plant(result, variant)}", split[variant.qdisc][2])
        for variant in result.variants
    }


def _of_plant(result: Result, variant: Variant) -> str:
    """The plant, such as ``, fluid``; empty for a single plant."""
    return f", {variant.plant}" if len(result.plants) > 1 else ""


def fitted(result: Result, column: Column, classes: Sequence[str | None] = (None,)) -> Column:
    """The column in the unit in which its largest mean is at least 1: no 0.000 ms.

    Every quantile of a time has the unit of its mean, for comparison. `classes` are those whose means count;
    None is all traffic together.
    """
    choices = _CHOICES.get(column.unit)
    if choices is None:
        return column
    basis = next(
        (mean for mean in (metrics.SOJOURN_MEAN_S, metrics.FCT_MEAN_S) if _kind(mean) == _kind(column)),
        column,
    )
    plain = replace(basis, scale=1.0)
    means = [scaled(result, variant, plain, one) for variant in result.variants for one in classes]
    largest = max((abs(found.mean) for found in means if found is not None), default=0.0)
    unit, scale = unit_for(largest, choices) if largest > 0 else (column.unit, column.scale)
    return replace(column, unit=unit, scale=scale)


def _kind(column: Column) -> str:
    """Prefix of its metric's name, such as ``sojourn``."""
    return column.metric.partition("_")[0]


def class_columns(result: Result) -> list[Column]:
    """Columns of the classes of traffic: those that apply to any, in fitting units."""
    columns = [fitted(result, column, result.classes) for column in metrics.CLASS_SUMMARY]
    pairs = [(variant, one) for variant in result.variants for one in result.classes]
    return [
        column for column in columns if any(scaled(result, variant, column, one) for variant, one in pairs)
    ]


def unit_for(largest: float, choices: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """The first unit in which `largest` is at least 1, and its factor; else the last.

    >>> unit_for(0.0004, TIMES)
    ('µs', 1000000.0)
    """
    return next((choice for choice in choices if largest * choice[1] >= 1 - 1e-9), choices[-1])


def short_time(seconds: float) -> str:
    """A time in a fitting unit.

    >>> short_time(0.0005)
    '500 µs'
    """
    unit, scale = unit_for(seconds, TIMES)
    return f"{seconds * scale:.4g} {unit}"


def short_names(qdiscs: Sequence[str]) -> dict[str, str]:
    """Short name of each qdisc: its stem, and its differences from others of that stem.

    The unit packets is omitted.

    >>> list(short_names(["pi", "red:min=5,max=15 packets", "red:min=5,max=30 packets"]).values())
    ['pi', 'red:max=15', 'red:max=30']
    """
    split = {qdisc: (qdisc.partition(":")[0], _settings(qdisc.partition(":")[2])) for qdisc in qdiscs}
    found = {}
    for qdisc, (law, items) in split.items():
        likes = [other for name, other in split.values() if name == law]
        own = [one for one in items if one and not all(one in other for other in likes)]
        settings = ",".join(own).replace(" packets", "")
        found[qdisc] = law if len(likes) == 1 or not own else f"{law}:{settings}"
    # Names that shortening made equal stay whole.
    return {qdisc: name if list(found.values()).count(name) == 1 else qdisc for qdisc, name in found.items()}


def _seeds_by_variant(result: Result) -> list[int]:
    """Number of seeds of each variant; a plant without seeds does not count, unless all are such."""
    seeds: dict[Variant, set[int]] = {variant: set() for variant in result.variants}
    for row in result.runs:
        seeds[Variant(row.qdisc, row.plant)].add(row.seed)
    return [len(found) for variant, found in seeds.items() if variant.seeded] or [1]


def _settings(text: str) -> list[str]:
    """Split settings such as ``a=1,b=[2, 3]`` at the commas outside of lists."""
    return re.split(r",(?![^\[]*\])", text)


def scaled(
    result: Result,
    variant: Variant,
    column: Column,
    traffic_class: str | None = None,
    *,
    queue: str | None = None,
) -> Estimate | None:
    """Mean and interval over the seeds in the column's unit; None if the metric does not apply."""
    found = result.values(
        variant.qdisc, column.metric, traffic_class=traffic_class, plant=variant.plant, queue=queue
    )
    values = [value * column.scale for value in found.values()]
    return estimate(values) if values else None


def column_of(result: Result, metric: str, classes: Sequence[str | None] = (None,)) -> Column:
    """The summary's column of a metric; for one outside the summary its own name and unit."""
    result.check_metric(metric)
    found = column_named(metric)
    return fitted(result, found, classes) if found in metrics.ALL else found


def column_named(metric: str) -> Column:
    """The summary's column of a metric, not fitted to any values; for one outside it its name and unit.

    >>> column_named("settling_s[0]").long
    'settling_s[0], s'
    """
    known = (column for column in metrics.ALL if column.metric == metric)
    name, entry, _ = metric.partition("[")
    unit = metrics.UNITS.get(name, "") if entry else ""
    return next(known, Column(metric, metric, unit, least=None))


def most_seeds(result: Result) -> int:
    """Largest number of seeds of a qdisc: a result that is not whole may lack some."""
    return max(_seeds_by_variant(result))


def seed_count(result: Result) -> str:
    """Such as ``5 seeds``; ``up to 5 seeds`` if some qdisc has run under fewer."""
    most = most_seeds(result)
    count = "1 seed" if most == 1 else f"{most} seeds"
    return count if min(_seeds_by_variant(result)) == len(result.seeds) else f"up to {count}"


def seedless_note(result: Result) -> str:
    """Sentence on plants without randomness; empty without any."""
    names = [plant for plant in result.plants if plant in SEEDLESS]
    return f"The {names[0]} plant has no randomness: one run of each qdisc." if names else ""


def seeds_note(result: Result) -> str:
    """Number of seeds, and the meaning of the numbers in tables."""
    seedless = seedless_note(result)
    if not any(variant.seeded for variant in result.variants):
        return seedless
    many = f"{seed_count(result)}; mean ± half-width of the 95 % interval"
    text = many if most_seeds(result) > 1 else f"seed {result.seeds[0]}"
    return f"{text}. {seedless}" if seedless else text


def difference_to(result: Result, variant: Variant, baseline: str, column: Column) -> Estimate | None:
    """Mean excess of `variant` over the qdisc `baseline` in its plant, seed by seed, in the column's unit.

    None if no seed is common.
    """
    left, right = (
        {
            seed: value * column.scale
            for seed, value in result.values(qdisc, column.metric, plant=variant.plant).items()
        }
        for qdisc in (variant.qdisc, baseline)
    )
    return difference(left, right)


def differs(result: Result, variant: Variant, baseline: str, column: Column) -> bool:
    """True if `variant` shows a difference to the qdisc `baseline` in its plant, by `is_clear`."""
    return is_clear(
        variant, difference_to(result, variant, baseline, column), scaled(result, variant, column)
    )


def is_clear(variant: Variant, found: Estimate | None, own: Estimate | None) -> bool:
    """True if a difference of `variant`, which has `own` itself, is more than chance.

    Over seeds: the 95 % interval excludes zero. In a plant without randomness: the difference exceeds the
    accuracy of the solution.
    """
    if variant.seeded or found is None:
        return shown(found)
    return own is not None and EXACT * abs(found.mean) > abs(own.mean)


def shown(found: Estimate | None) -> bool:
    """True if the seeds show a difference: its 95 % interval excludes zero."""
    if found is None or found.low is None or found.high is None:
        return False
    return found.low > 0 or found.high < 0


def cell(result: Result, variant: Variant, column: Column, traffic_class: str | None = None) -> str:
    """Text such as ``285.8 ± 1.3``; empty if the metric does not apply."""
    found = scaled(result, variant, column, traffic_class)
    if found is None:
        return ""
    # A count of one run has no decimals.
    if column.unit == "flows" and found.half is None:
        return f"{found.mean:.0f}"
    kept = bounded(column, found)
    if kept == found or kept.low is None or kept.high is None:
        return with_half(kept)
    digits = decimals(found)
    return f"{kept.mean:.{digits}f}, {kept.low:.{digits}f} to {kept.high:.{digits}f}"


def bounded(column: Column, found: Estimate) -> Estimate:
    """The mean of a score with its interval within the score's bounds; of two seeds without an interval.

    Other metrics keep theirs.
    """
    if column.unit or column.most is None or found.low is None or found.high is None:
        return found
    if found.n < LEAST_SEEDS:
        return replace(found, low=None, high=None)
    low = found.low if column.least is None else max(column.least, found.low)
    return replace(found, low=low, high=min(column.most, found.high))


def with_half(found: Estimate) -> str:
    """Mean and half-width, with as many digits as the half-width justifies.

    A half-width below the last digit of the mean is left out.
    """
    digits = decimals(found)
    mean, half = f"{found.mean:.{digits}f}", f"{found.half or 0:.{digits}f}"
    return f"{mean} ± {half}" if float(half) > 0 else mean


def with_sign(found: Estimate) -> str:
    """The same for a difference, with its sign."""
    text = with_half(found)
    if float(text.partition(" ")[0]) == 0:
        return text.removeprefix("-")
    return ("+" if found.mean > 0 else "") + text.replace("-", "\u2212")


def decimals(found: Estimate) -> int:
    """Two digits of the half-width, or four of the mean without an interval; 0 to 3 decimals."""
    if found.half and found.half > ROUNDING * abs(found.mean):
        digits = 1 - math.floor(math.log10(found.half))
    else:
        digits = 3 - math.floor(math.log10(abs(found.mean))) if found.mean else 0
    return min(3, max(0, digits))


def seconds(text: object) -> float | None:
    """A time such as ``"20 ms"`` in seconds; None for any other text.

    >>> seconds("20 ms")
    0.02
    """
    found = (
        re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]+)\s*", text)
        if isinstance(text, str)
        else None
    )
    if not found or found[2] not in _SECONDS:
        return None
    try:
        return float(found[1]) * _SECONDS[found[2]]
    except ValueError:
        return None
