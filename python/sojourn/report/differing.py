"""Metrics that differ among the qdiscs of a table, and a line on the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from sojourn.report import claims, wording
from sojourn.report.claims import Comparison
from sojourn.result import Result, Variant, metrics, words
from sojourn.result.column import Column

__all__ = ["differing", "split"]


#: Largest difference of means without evidence that is left out, as a share of the larger.
ALIKE = 0.05


def differing(view: Result) -> tuple[list[Column], list[str]]:
    """Columns of the summary in which qdiscs differ at one link, and sentences on those that are left out."""
    shown, text = split(view, [words.fitted(view, column) for column in metrics.SUMMARY])
    return shown, [f"{text} --all has all metrics."] if text else []


def split(view: Result, columns: Sequence[Column]) -> tuple[list[Column], str]:
    """The columns in which qdiscs differ at one link, and sentences on those that are left out.

    Left out are metrics whose numbers are all the same (as printed, under one seed), and over several seeds
    those whose means are within 5 % of each other, where no interval shows a difference (`claims`). Plants
    are not compared with each other. All columns where there is nothing to compare, or no difference; empty
    ones never.
    """
    plants = [view.for_plant(plant) for plant in view.plants]
    found = {column: [claims.compare(one, column) for one in plants] for column in columns}
    applies = [column for column in columns if any(one.ranked for one in found[column])]
    shown = [
        column
        for column in applies
        if any(_differs(one, len(part.variants)) for one, part in zip(found[column], plants, strict=True))
    ]
    if not shown:
        return applies, ""
    alike = [column for column in applies if column not in shown]
    equal = [_range(column, found[column]) for column in alike if all(map(_is_equal, found[column]))]
    near = [_range(column, found[column]) for column in alike if not all(map(_is_equal, found[column]))]
    same = f"The same under every qdisc: {', '.join(equal)}." if equal else ""
    doubt = f"Not distinguished by {words.seed_count(view)}: {', '.join(near)}." if near else ""
    return shown, wording.joined(same, doubt)


def _differs(found: Comparison, qdiscs: int) -> bool:
    """True if two qdiscs of a plant differ or may differ by much, or if some of them lack the metric."""
    if 0 < len(found.ranked) < qdiscs:
        return True
    if _is_equal(found):
        return False
    return _is_one_run(found) or _are_apart(found) or any(found.less(*pair) for pair in _pairs(found))


def _are_apart(found: Comparison) -> bool:
    """True if means are further apart than 5 %."""
    means = [mean.mean for mean in found.means.values()]
    return max(means) - min(means) > ALIKE * max(map(abs, means))


def _pairs(found: Comparison) -> Iterator[tuple[Variant, Variant]]:
    """Pairs of qdiscs, the lower mean first, those furthest apart before the others."""
    order = list(found.means)
    return iter(sorted(combinations(order, 2), key=lambda pair: order.index(pair[0]) - order.index(pair[1])))


def _is_one_run(found: Comparison) -> bool:
    """True if each qdisc has one seed in a plant with randomness: no interval."""
    return found.seeds < 2 and all(variant.seeded for variant in found.means)


def _is_equal(found: Comparison) -> bool:
    """True if all numbers are the same; under one seed, as printed."""
    if _is_one_run(found):
        return len({words.with_half(mean) for mean in found.means.values()}) < 2
    return len({value for values in found.values.values() for value in values.values()}) < 2


def _range(column: Column, found: list[Comparison]) -> str:
    """Such as ``goodput 8.06 to 8.07 Mbit/s``."""
    means = [mean for one in found for _, mean in one.ranked]
    form = wording.percent if column.unit == "%" else wording.plain
    low, high = (form(end(means, key=lambda mean: mean.mean)) for end in (min, max))
    unit = f" {column.unit}" if column.unit not in ("", "%") else ""
    return f"{column.short} {low if low == high else f'{low} to {high}'}{unit}"
