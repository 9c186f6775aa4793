"""Axes of a sweep: their values, and the points of a grid or of a sample."""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.entries import Entry
from sojourn.errors import InputError
from sojourn.kinds import plain, shown
from sojourn.sweep.quantities import Quantity, quantity, spelt

__all__ = ["METHODS", "Axis", "Sample", "axis", "check_level", "points", "repeated"]

METHODS = ("latin", "sobol", "saltelli")
_KEYS = ("key", "values", "from", "to", "points", "scale")
_EXPECTED = 'expected a list of values, or a range such as { from = "5 ms", to = "50 ms", points = 4 }'
#: Most values of an axis.
MOST_VALUES = 100_000
#: Most of them that a message names.
MOST_NAMED = 8


@dataclass(frozen=True)
class Span:
    """A range of numbers with a unit, or without."""

    low: float
    high: float
    unit: str
    is_log: bool
    #: Both ends are whole numbers without a unit: so is each value.
    is_whole: bool

    def at(self, share: float) -> float | int | str:
        """The value at a share, 0 to 1, of the range."""
        found: float
        if self.is_log:
            found = self.low * (self.high / self.low) ** share
        else:
            found = self.low + (self.high - self.low) * share
        if self.is_whole:
            return round(found)
        return spelt(found, self.unit) if self.unit else float(f"{found:.12g}")


@dataclass(frozen=True)
class Axis:
    """One axis: its name, the keys that it sets, and its values; None: drawn from `span`."""

    name: str
    keys: tuple[str, ...]
    values: tuple[Any, ...] | None
    span: Span | None = None

    @functools.cached_property
    def has_numbers(self) -> bool:
        """True if all values are quantities of one dimension, so that they are numbers in SI units."""
        given = self.values if self.values is not None else (self.span.at(0.0),) if self.span else ()
        found = [quantity(value) for value in given]
        return bool(found) and len({one.dimension if one else "" for one in found} - {""}) == 1 and all(found)

    def read(self, given: Any) -> Any:
        """A value as tables have it. Raises `InputError`, without a place, for one of another dimension."""
        found = quantity(given) if self.has_numbers else None
        if found is not None:
            own = self.values[0] if self.values else self.span.at(0.0) if self.span else None
            of = quantity(own)
            if of is not None and of.dimension != found.dimension:
                message = f"{shown(given)} is in {found.unit}, and {self.name} in {of.unit}"
                raise InputError(f"{message}; expected such as {shown(own)}")
        return self.shown(given)

    @functools.cached_property
    def unit(self) -> str | None:
        """Unit of the first value of an axis of quantities; None of others."""
        first = quantity(self.values[0] if self.values else self.span.at(0.0) if self.span else None)
        return first.unit if first is not None and self.has_numbers else None

    @functools.cached_property
    def has_kinds(self) -> bool:
        """True if the values are of several kinds, such as a number and a text, so that all become texts."""
        return not self.has_numbers and len({_kind(value) for value in self.values or ()}) > 1

    def shown(self, value: Any) -> Any:
        """A value as conditions and tables have it: a number in SI units, a text, or true or false."""
        found = quantity(value) if self.has_numbers else None
        if found is not None:
            return found.value
        if isinstance(value, Entry):
            return value.spec()
        is_text = isinstance(value, Mapping | list | tuple) or (self.has_kinds and not isinstance(value, str))
        return json.dumps(value, ensure_ascii=False) if is_text else value

    @functools.cached_property
    def levels(self) -> dict[Any, Any] | None:
        """Values of a list as tables have them, each with its text in the grid; None: they are drawn."""
        return None if self.values is None else {self.shown(one): one for one in self.values}

    def level(self, given: object, place: str) -> Any:
        """A value of the axis as tables have it. Raises `InputError` where the axis has others alone."""
        try:
            value = self.read(plain(given))
        except InputError as error:
            raise InputError(f"{place}: {error.lines[0]}") from None
        if self.levels is not None:
            check_level(value, given, self.levels, place)
        return value


def check_level(value: object, given: object, levels: Mapping[Any, Any], place: str) -> None:
    """Refuse a value that is none of these, which have the texts of the grid."""
    try:
        if value in levels:
            return
    except TypeError:
        pass
    names = [one.spec() if isinstance(one, Entry) else str(one) for one in levels.values()]
    near = difflib.get_close_matches(str(given), names, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    more = f", ... ({len(names)} values)" if len(names) > MOST_NAMED else ""
    expected = f"{hint}expected {', '.join(names[:MOST_NAMED])}{more}"
    raise InputError(f"{place}: {shown(given)} is no value of this axis; {expected}")


def _kind(value: object) -> type:
    """Kind of a value in a column: whole numbers and others are one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return bool if isinstance(value, bool) else str
    return float


@dataclass(frozen=True)
class Sample:
    """A sample of the ranges without a number of points."""

    method: str
    points: int
    seed: int

    def size(self, dimensions: int) -> int:
        """Number of points of the grid: Saltelli's scheme has dimensions + 2 of each."""
        return self.points * (dimensions + 2 if self.method == "saltelli" else 1)


def axis(name: str, given: object, place: str) -> Axis:
    """An axis of a grid's file. Raises `InputError` with one line that begins with `place`."""
    if isinstance(given, list | tuple | range):
        return _once(Axis(name, (name,), _values(list(given), place)), place)
    if not isinstance(given, Mapping):
        raise InputError(f"{place}: {shown(given)} is no axis; {_EXPECTED}")
    for key in given:
        if key not in _KEYS:
            raise InputError(f"{place}: {shown(key)} is no key of an axis; expected {', '.join(_KEYS)}")
    keys = _keys(given.get("key", name), place)
    if "values" in given:
        if len(given.keys() - {"key"}) > 1:
            raise InputError(f"{place}: has values and a range; expected one of them")
        return _once(Axis(name, keys, _values(given["values"], f"{place}.values")), f"{place}.values")
    span = _span(given, place)
    return Axis(name, keys, None if "points" not in given else _spread(span, given["points"], place), span)


def points(axes: Sequence[Axis], sample: Sample | None) -> Iterator[dict[str, Any]]:
    """Values by the names of axes at each point: the samples outermost, then lists in their order."""
    crossed = [(one, one.values) for one in axes if one.values is not None]
    for sampled in _drawn(axes, sample):
        for chosen in itertools.product(*(values for _, values in crossed)):
            found = sampled | {one.name: value for (one, _), value in zip(crossed, chosen, strict=True)}
            yield {one.name: found[one.name] for one in axes}


def repeated(axes: Sequence[Axis], sample: Sample | None) -> int:
    """Number of points of a sample that `points` leaves out, as an earlier one has the same values."""
    if sample is None or sample.method == "saltelli":
        return 0
    return sample.points - sum(1 for _ in _drawn(axes, sample))


def _drawn(axes: Sequence[Axis], sample: Sample | None) -> Iterator[dict[str, Any]]:
    """Values of a sample by axis, each point once: whole numbers repeat.

    Saltelli's scheme has all its points: indices are computed from their places.
    """
    drawn = [(one.name, one.span) for one in axes if one.values is None and one.span is not None]
    if sample is None or not drawn:
        yield {}
        return
    seen: set[tuple[Any, ...]] = set()
    for row in _shares(sample, len(drawn)):
        values = tuple(span.at(u) for (_, span), u in zip(drawn, row, strict=True))
        if sample.method != "saltelli":
            if values in seen:
                continue
            seen.add(values)
        yield {name: value for (name, _), value in zip(drawn, values, strict=True)}


def _shares(sample: Sample, dimensions: int) -> Iterator[Sequence[float]]:
    """Points of the unit cube."""
    draws = random.Random(sample.seed)
    if sample.method == "latin":
        # McKay, Beckman and Conover, Technometrics 21(2), 1979: one value in each of n strata of each axis.
        n = sample.points
        columns = []
        for _ in range(dimensions):
            strata = sorted(range(n), key=lambda _: draws.random())
            columns.append([(stratum + draws.random()) / n for stratum in strata])
        yield from zip(*columns, strict=True)
        return
    if sample.method == "saltelli":
        # A. Saltelli and others, Computer Physics Communications 181(2), 2010: a row of A, the same with each
        # of its values from B, and the row of B, which SALib reads in this order.
        for row in _sobol(sample, draws, 2 * dimensions):
            own, other = row[:dimensions], row[dimensions:]
            yield own
            for place in range(dimensions):
                yield [*own[:place], other[place], *own[place + 1 :]]
            yield other
        return
    yield from _sobol(sample, draws, dimensions)


def _sobol(sample: Sample, draws: random.Random, dimensions: int) -> Iterator[list[float]]:
    """Sobol's sequence under a random digital shift."""
    from scipy.stats import qmc

    # Sobol's sequence with the directions of Joe and Kuo, 2008, under a random digital shift, which keeps
    # the net (Owen, 2000).
    bits = 30
    net = qmc.Sobol(dimensions, scramble=False, bits=bits).random(sample.points)
    shifts = [int(draws.random() * 2**bits) for _ in range(dimensions)]
    for row in net:
        yield [((int(u * 2**bits) ^ shift) + 0.5) / 2**bits for u, shift in zip(row, shifts, strict=True)]


def _keys(given: object, place: str) -> tuple[str, ...]:
    keys = (given,) if isinstance(given, str) else given
    if not isinstance(keys, list | tuple) or not keys or not all(isinstance(key, str) for key in keys):
        raise InputError(f'{place}.key: {shown(given)} is no key; expected such as "flows[0].count"')
    return tuple(keys)


def _values(given: object, place: str) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple | range) or not given or len(given) > MOST_VALUES:
        raise InputError(f"{place}: {shown(given)} is no list of values; expected 1 to {MOST_VALUES} of them")
    values = tuple(plain(value) for value in given)
    for at, value in enumerate(values):
        if not isinstance(value, str | bool | int | float | Mapping | list | tuple | Entry):
            raise InputError(
                f"{place}[{at}]: {shown(value)} is no value; expected a text, a number or a table"
            )
    return values


def _once(axis: Axis, place: str) -> Axis:
    """The axis. Raises `InputError` where two of its values are the same in tables, such as in two units."""
    first: dict[Any, Any] = {}
    for at, value in enumerate(axis.values or ()):
        earlier = first.setdefault(axis.shown(value), value)
        if at >= len(first):
            alike = type(earlier) is type(value) and earlier == value
            what = "is there twice" if alike else f"is the same as {shown(earlier)}"
            raise InputError(f"{place}[{at}]: {shown(value)} {what}; expected each value once")
    return axis


def _span(given: Mapping[str, Any], place: str) -> Span:
    if "from" not in given or "to" not in given:
        raise InputError(f"{place}: has no range; {_EXPECTED}")
    low, high = (_end(plain(given[end]), f"{place}.{end}") for end in ("from", "to"))
    if low.unit != high.unit:
        message = f'ends in "{low.unit}" and "{high.unit}"'
        raise InputError(f"{place}: {message}; expected both ends in one unit")
    scale = given.get("scale", "linear")
    if scale not in ("linear", "log"):
        raise InputError(f"{place}.scale: {shown(scale)} is unknown; expected linear or log")
    if not low.number < high.number or (scale == "log" and low.number <= 0):
        least = " above 0" if scale == "log" else ""
        raise InputError(
            f"{place}: from {given['from']} to {given['to']} is no range; expected from{least} < to"
        )
    whole = all(isinstance(plain(given[end]), int) for end in ("from", "to"))
    return Span(low.number, high.number, low.unit, scale == "log", whole)


def _end(value: object, place: str) -> Quantity:
    """An end of a range; without a unit, of no dimension."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return Quantity(value, "", "", value)
    found = quantity(value)
    if found is None:
        raise InputError(
            f'{place}: {shown(value)} is no end of a range; expected a number, or such as "5 ms"'
        )
    return found


def _spread(span: Span, given: object, place: str) -> tuple[Any, ...]:
    """Values of a range, evenly spread, both ends included."""
    if not isinstance(given, int) or isinstance(given, bool) or not 2 <= given <= MOST_VALUES:
        raise InputError(f"{place}.points: {shown(given)} is out of range; expected 2 to {MOST_VALUES}")
    values = tuple(span.at(place / (given - 1)) for place in range(given))
    if len(set(values)) < given:
        raise InputError(f"{place}.points: {given} whole numbers repeat in this range; expected fewer")
    return values
