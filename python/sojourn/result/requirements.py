"""Requirement sets of Quality of Outcome: those that ship, and those of TOML files.

Source: draft-ietf-ippm-qoo, "Describing Network Performance Requirements".
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import one_of_kind, shown, text
from sojourn.units import quantity

#: Percentiles that are measured, and their metrics, by the direction of a requirement.
MEASURED = {
    "one-way": {50: "one_way_p50_s", 95: "one_way_p95_s", 99: "one_way_p99_s", 99.9: "one_way_p999_s"},
    "two-way": {50: "rtt_p50_s", 95: "rtt_p95_s", 99: "rtt_p99_s", 99.9: "rtt_p999_s", 100: "rtt_max_s"},
}
#: Keys of a set, and those that it may lack.
KEYS = frozenset({"title", "app", "direction", "throughput", "latency", "loss", "source"})
OPTIONAL = frozenset({"app"})
#: Keys of two thresholds.
ENDS = frozenset({"optimal", "unacceptable"})


@dataclass(frozen=True)
class Thresholds:
    """The values at which an application is optimal (ROP), and unacceptable (CPUP), which is larger."""

    optimal: float
    unacceptable: float

    def score(self, measured: float) -> float:
        """Position of a measured value between the two, from 100 (optimal) to 0.

        >>> Thresholds(0.2, 0.5).score(0.35)
        50.0

        Raises `ZeroDivisionError` for equal thresholds, which no file may have.
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


def requirement_sets(file: Path | None = None) -> dict[str, Requirements]:
    """The requirement sets of a TOML file by name; by default those that ship.

    Raises `InputError` for a file that cannot be read, and for a set of another form.

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
    sets = {name: _set_of(f"{file}: {name}", name, table) for name, table in document.items()}
    by_app: dict[str, str] = {}
    for name, one in sets.items():
        if one.app is not None and (first := by_app.setdefault(one.app, name)) != name:
            raise InputError(f"{file}: {name}.app: {first} is that of {one.app}; expected one set for an app")
    return sets


def _set_of(place: str, name: str, given: object) -> Requirements:
    """One requirement set; errors begin with `place`."""
    table = _table(place, given, KEYS, OPTIONAL)
    direction = table["direction"]
    if not isinstance(direction, str) or direction not in MEASURED:
        raise InputError(f'{place}.direction: expected "one-way" or "two-way"')
    return Requirements(
        name,
        _text(f"{place}.title", table["title"]),
        direction,
        _latencies(f"{place}.latency", table["latency"], list(MEASURED[direction])),
        _thresholds(f"{place}.loss", _table(f"{place}.loss", table["loss"], ENDS), _share),
        _rate(f"{place}.throughput", table["throughput"]),
        _text(f"{place}.source", table["source"]),
        _text(f"{place}.app", table["app"]) if "app" in table else None,
    )


def _table(
    place: str, given: object, keys: frozenset[str], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """A table of these keys and no others."""
    expected = f"expected {', '.join(sorted(keys))}"
    if not isinstance(given, dict):
        raise InputError(f"{place}: no table; {expected}")
    if unknown := set(given) - keys:
        raise InputError(f"{place}: unknown key {min(unknown)}; {expected}")
    if missing := keys - optional - set(given):
        raise InputError(f"{place}: {min(missing)} is missing; {expected}")
    return given


def _latencies(place: str, given: object, measured: list[float]) -> dict[float, Thresholds]:
    """Thresholds in seconds by percentile, each one of those that are measured and given once."""
    if not isinstance(given, list) or not given:
        raise InputError(f"{place}: expected at least one percentile, in a list of tables")
    found: dict[float, Thresholds] = {}
    for entry in given:
        table = _table(place, entry, ENDS | {"percentile"})
        percentile = _percentile(place, table["percentile"], measured)
        if percentile in found:
            raise InputError(f"{place}: percentile {percentile:g} is there twice; expected each once")
        found[percentile] = _thresholds(f"{place}, percentile {percentile:g}", table, _seconds)
    return found


def _percentile(place: str, given: object, measured: list[float]) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or given not in measured:
        expected = ", ".join(f"{one:g}" for one in measured)
        raise InputError(f"{place}: percentile {shown(given)} is not measured; expected {expected}")
    return float(given)


def _thresholds(
    place: str, table: Mapping[str, object], value_of: Callable[[str, object], float]
) -> Thresholds:
    optimal, unacceptable = (value_of(f"{place}.{key}", table[key]) for key in ("optimal", "unacceptable"))
    if not 0 <= optimal < unacceptable:
        raise InputError(f"{place}: expected 0 or more as optimal, and more as unacceptable")
    return Thresholds(optimal, unacceptable)


def _text(place: str, given: object) -> str:
    return str(one_of_kind(place, text, given))


def _seconds(place: str, given: object) -> float:
    """A time, such as ``"150 ms"``, in seconds."""
    return _quantity(place, "time", given)[0]


def _rate(place: str, given: object) -> float:
    """A rate, such as ``"4 Mbit/s"``, in bit/s."""
    value, unit = _quantity(place, "rate", given)
    if unit != "bit/s":
        raise InputError(f'{place}: expected a rate such as "4 Mbit/s"')
    return value


def _quantity(place: str, kind: str, given: object) -> tuple[float, str]:
    written = _text(place, given)
    try:
        return quantity(kind, written)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _share(place: str, given: object) -> float:
    """A share, such as 0.05 or ``"5 %"``."""
    value = given
    if isinstance(given, str):
        try:
            value = float(given.strip().removesuffix("%")) / (100 if given.strip().endswith("%") else 1)
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f'{place}: {shown(given)} is no share from 0 to 1; expected such as 0.05 or "5 %"')
    return float(value)
