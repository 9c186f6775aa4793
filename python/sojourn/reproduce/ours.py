"""What the predicates of claims and findings compared, as it was measured: the numbers of "ours"."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sojourn.reproduce.calculations import measured_once
from sojourn.reproduce.findings import Judged
from sojourn.reproduce.grades import Case, Graded
from sojourn.reproduce.paper import Paper, in_variant, split
from sojourn.reproduce.predicate import Expression, Lookup, over_windows
from sojourn.reproduce.units import scale_for, unit_of
from sojourn.result.statistics import estimate

__all__ = ["Measured", "of_claim", "of_expression", "of_finding", "texts"]

#: The most cases of a quantity that stand one by one; of more their range.
MOST_CASES = 12


@dataclass(frozen=True)
class Measured:
    """A quantity under the settings, variant and window that it depends on."""

    #: As it is in the predicate.
    quantity: str
    #: Setting of each law in it.
    settings: Mapping[str, str]
    variant: str | None
    window: str | None
    #: Mean over the seeds; or the number of a calculation or of a statistic over them. None: not measured.
    mean: float | None
    #: 95 % interval of a mean.
    low: float | None
    high: float | None
    #: Number of seeds, or of tens of them. None: a calculation.
    n: int | None
    #: The least and the largest of the n.
    least: float | None
    most: float | None
    #: Unit of these numbers, as `units.unit_of` has it.
    unit: str | None = None
    #: Of a constant that was measured once: when, with what, and what repeats it.
    once: str | None = None
    #: The control that was measured in the place of the laws of the claim.
    stand_in: str | None = None


def of_claim(paper: Paper, of: Graded) -> list[Measured]:
    """What a claim compares, and what remains of it, once for each setting, variant and window.

    Of an uninformative one also with each control that is as true in the place of its laws.
    """
    found: dict[tuple[object, ...], Measured] = {}
    several = [(None, of.cases), (None, of.rest), *of.controls.items()]
    for stand_in, cases in several:
        for quantity, case in itertools.product(cases[0].test.quantities if cases else (), cases):
            settings, variant, window = _choice(paper, case, quantity)
            if stand_in is not None and not settings.keys() & set(of.claim.about):
                continue
            key = (quantity.text, stand_in, tuple(settings.items()), variant, window)
            if key not in found:
                numbers = _numbers(quantity, case.lookup)
                unit, once = unit_of(quantity.tree), _once(paper, case, quantity)
                found[key] = Measured(
                    quantity.text, settings, variant, window, *numbers, unit, once, stand_in
                )
    return list(found.values())


def of_finding(of: Judged) -> list[Measured]:
    """What a finding compares."""
    if of.lookup is None:
        return []
    return [of_expression(one, of.lookup) for one in of.finding.test.quantities]


def of_expression(of: Expression, lookup: Lookup) -> Measured:
    """An expression over samples of one setting each."""
    return Measured(of.text, {}, None, None, *_numbers(of, lookup), unit_of(of.tree))


def _choice(paper: Paper, case: Case, of: Expression) -> tuple[dict[str, str], str | None, str | None]:
    """Settings, variant and window of a case that a quantity depends on."""
    laws, variant, window = set(), None, None
    for name in of.names:
        own = in_variant(name, case.open.variant, paper.name, paper.experiments)
        parts = split(own, paper.name, paper.experiments)
        if own != name:
            variant = case.open.variant
        if parts.law is None:
            continue
        laws.add(parts.law)
        window = window if parts.window else case.open.window
    return {law: one.name for law, one in case.settings.items() if law in laws}, variant, window


def _once(paper: Paper, case: Case, of: Expression) -> str | None:
    """The mark of a number in it that was measured once."""
    for name in sorted(of.names):
        own = in_variant(name, case.open.variant, paper.name, paper.experiments)
        parts = split(own, paper.name, paper.experiments)
        if parts.law is None and (found := measured_once(paper.name, parts.of, parts.metric)):
            return found
    return None


_Numbers = tuple[float | None, float | None, float | None, int | None, float | None, float | None]


def _numbers(of: Expression, lookup: Lookup) -> _Numbers:
    """Mean, interval, number, least and most of it."""
    try:
        value, sample, bounds = of.value(lookup), of.sample(lookup), of.interval(lookup)
    except LookupError:
        return None, None, None, None, None, None
    if value.ndim == 0:
        if sample.ndim == 0:
            return _finite(value), None, None, None, None, None
        known = sample[np.isfinite(sample)]
        ends = (_finite(np.min(known)), _finite(np.max(known))) if known.size else (None, None)
        interval = (None, None) if bounds is None else (_finite(bounds.low), _finite(bounds.high))
        return _finite(value), *interval, known.size, *ends
    by_seed = over_windows(np.nanmean, value) if value.ndim > 1 else value
    by_seed = by_seed[np.isfinite(by_seed)]
    if not by_seed.size:
        return None, None, None, 0, None, None
    found = estimate([float(one) for one in by_seed])
    low, high = (None if one is None else _finite(one) for one in (found.low, found.high))
    return _finite(found.mean), low, high, found.n, _finite(np.min(by_seed)), _finite(np.max(by_seed))


def _finite(of: float | np.floating | np.ndarray) -> float | None:
    number = float(of)
    return number if math.isfinite(number) else None


def texts(several: Iterable[Measured]) -> Iterator[tuple[str, list[str]]]:
    """Each quantity with its numbers in words: a line a case, or the range of many.

    The cases of a quantity have one unit, in which the largest of their means is at least 1.
    """
    quantities: dict[tuple[str, str], list[Measured]] = {}
    for one in several:
        note = "" if one.stand_in is None else f"with {one.stand_in} in its place"
        quantities.setdefault((one.quantity, note), []).append(one)
    for (quantity, note), cases in quantities.items():
        unit, scale = scale_for(cases[0].unit, (one.mean for one in cases))
        of = [_scaled(one, unit, scale) for one in cases]
        if len(of) == 1:
            yield quantity, [": ".join(filter(None, [note, _one(of[0])]))]
        elif len(of) <= MOST_CASES:
            lines = zip(_labels(of), of, strict=True)
            yield quantity, [", ".join(filter(None, [note, f"{label}: {_one(one)}"])) for label, one in lines]
        else:
            yield quantity, [": ".join(filter(None, [note, _range(of)]))]


def _scaled(of: Measured, unit: str, scale: float) -> Measured:
    """The same in another unit."""

    def times(value: float | None) -> float | None:
        return None if value is None else scale * value

    return replace(
        of,
        mean=times(of.mean),
        low=times(of.low),
        high=times(of.high),
        least=times(of.least),
        most=times(of.most),
        unit=unit,
    )


def _labels(several: Sequence[Measured]) -> list[str]:
    """What the cases of a quantity differ in."""
    choices = [{**one.settings, " variant": one.variant, " window": one.window} for one in several]
    differing = [key for key in choices[0] if len({choice.get(key) for choice in choices}) > 1]
    return [", ".join(str(choice[key]) for key in differing) for choice in choices]


def _one(of: Measured) -> str:
    if of.mean is None:
        return "-"
    mean = f"{_number(of.mean)} {of.unit}" if of.unit else _number(of.mean)
    if of.once is not None:
        return f"{mean} (measured once, {of.once})"
    if of.n is None:
        return f"{of.mean:.7g} {of.unit or ''}".rstrip()
    if of.n == 1:
        return mean
    if of.low is not None and of.high is not None:
        return f"{mean} ({_number(of.low)} to {_number(of.high)}, n = {of.n})"
    return f"{mean} (of n = {of.n} from {_number(of.least)} to {_number(of.most)})"


def _number(of: float | None) -> str:
    """Four digits, and of a thousand and more six, so that ones are there."""
    if of is None:
        return "-"
    return f"{of:.6g}" if abs(of) >= 1000 else f"{of:.4g}"


def _range(several: Sequence[Measured]) -> str:
    """Means from the least to the largest of all cases, with the ends of the intervals of these two."""
    known = [(one.mean, one) for one in several if one.mean is not None]
    if not known:
        return "-"
    least, most = (pick(known, key=lambda of: of[0])[1] for pick in (min, max))
    return f"{_one(least)} to {_one(most)} in {len(known)} cases"
