"""Means and orders as text: units, digits, lists of qdiscs with their means, the seeds behind them."""

from __future__ import annotations

import functools
from typing import Protocol

from sojourn.report.claims import Comparison, Ranking
from sojourn.result import Variant, words
from sojourn.result.statistics import Estimate

#: Most qdiscs named in a sentence; of more it names the extremes.
NAMED = 4
#: Largest distance from 100 that rounding explains.
ROUNDING = 1e-9
#: Most further digits of means of a claimed order.
FURTHER_DIGITS = 3


class Format(Protocol):
    """Formats a mean, with `further` digits beyond the usual ones."""

    def __call__(self, found: Estimate, /, further: int = 0) -> str:
        """Text such as ``21.3 ms``."""
        ...


def least(compared: Comparison, names: dict[Variant, str], metric: str, form: Format) -> str:
    """The qdisc with the least of a metric; if others may have as little, the missing evidence."""
    (variant, found), *others = compared.ranked
    rivals = compared.rivals()
    rest = [pair for pair in others if pair not in rivals]
    form = distinguishing(form, found, rest)
    if not rivals:
        return (
            f"{names[variant]} has the lowest {metric}: {form(found)}, against {listing(rest, names, form)}."
        )
    some = f"{len(rivals)} qdiscs, " if len(rivals) > NAMED else ""
    behind = f"; the others have {listing(rest, names, form)}" if rest else ""
    return (
        f"{names[variant]} has the lowest {metric} measured, {form(found)}; {too_few(compared)} distinguish "
        f"it from {some}{listing(rivals, names, form)}{behind}."
    )


def too_few(compared: Comparison) -> str:
    """Subject of a sentence on the seeds that do not show an order."""
    if not all(variant.seeded for variant in compared.values):
        return "one run does not"
    return f"{compared.seeds} seeds do not" if compared.seeds > 1 else "one seed does not"


def common_seeds(*compared: Comparison) -> str:
    """Sentence on the seeds that remain if some qdiscs lack others; empty if none is left out."""
    counts = [one.seeds for one in compared if one.ranked]
    if not any(one.partial for one in compared):
        return ""
    fewest, most = min(counts), max(counts)
    if fewest == 0:
        qdiscs = max(len(one.values) for one in compared)
        return (
            f"No seed has run under {'both' if qdiscs == 2 else 'all'} qdiscs, so that they are not compared."
        )
    seeds = f"{fewest} to {most} seeds" if fewest < most else "one seed" if most == 1 else f"{most} seeds"
    return f"These means are over the {seeds} under which all qdiscs were measured."


def listing(ranking: Ranking, names: dict[Variant, str], form: Format) -> str:
    """List such as ``149 ms under red and 220 ms under pi``; of many ``127 ms (pi) to 300 ms (red)``."""
    if len(ranking) > NAMED:
        return ends(ranking, names, form)
    return both([f"{form(found)} under {names[variant]}" for variant, found in ranking])


def ends(ranking: Ranking, names: dict[Variant, str], form: Format) -> str:
    """Range such as ``none (pi and 2 others) to 6.1 % (tail_drop)``."""
    texts = [form(found) for _, found in ranking]

    def end(place: int) -> str:
        alike = texts.count(texts[place]) - 1
        more = f" and {counted(alike, 'other')}" if alike else ""
        return f"{texts[place]} ({names[ranking[place][0]]}{more})"

    return end(0) if texts[0] == texts[-1] else f"{end(0)} to {end(-1)}"


def both(parts: list[str]) -> str:
    """Join parts, as in ``a, b and c``."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def counted(count: int, noun: str) -> str:
    """Count with its noun, such as ``1 link`` and ``2 links``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def joined(*sentences: str) -> str:
    """Join the sentences that are not empty."""
    return " ".join(sentence for sentence in sentences if sentence)


def distinguishing(form: Format, found: Estimate, others: Ranking) -> Format:
    """Format with as many digits as distinguish the mean from each of the others."""

    def equal(further: int) -> bool:
        return any(form(found, further) == form(other, further) for _, other in others)

    further = next((digits for digits in range(FURTHER_DIGITS) if not equal(digits)), FURTHER_DIGITS)
    return functools.partial(form, further=further)


def plain(found: Estimate, further: int = 0) -> str:
    """The mean to three digits."""
    return _digits(found.mean, further)


def packets(found: Estimate, further: int = 0) -> str:
    """Text such as ``100 packets``."""
    return f"{plain(found, further)} packets"


def share(found: Estimate, further: int = 0) -> str:
    """A percentage; ``none`` for 0."""
    return percent(found, further) if found.mean > 0 else "none"


def percent(found: Estimate, further: int = 0) -> str:
    """A percentage; 0 and 100 only if exact."""
    if abs(found.mean - 100) <= 100 * ROUNDING:
        return "100 %"
    digits = (2 if 0 < abs(found.mean) < 0.1 or abs(found.mean - 100) < 0.1 else 1) + further
    finest = 10.0**-digits
    if 0 < found.mean < finest:
        return f"less than {finest:.{digits}f} %"
    if 100 - finest < found.mean < 100 - ROUNDING:
        return f"more than {100 - finest:.{digits}f} %"
    return f"{found.mean:.{digits}f} %"


def of_the_time(found: Estimate, further: int = 0) -> str:
    """Text such as ``99.0 % of the time``."""
    return f"{percent(found, further)} of the time"


def time(found: Estimate, further: int = 0) -> str:
    """A mean in ms, in a fitting unit."""
    unit, scale = words.unit_for(abs(found.mean) / 1e3, words.TIMES[1:]) if found.mean else ("ms", 1.0)
    return f"{_digits(found.mean / 1e3 * scale, further)} {unit}"


def _digits(value: float, further: int = 0) -> str:
    """Three digits, and `further` ones."""
    if 0 < abs(value) < 1e-3:
        return "less than 0.001"
    return f"{value:.{further}f}" if abs(value) >= 100 else f"{value:.{3 + further}g}"
