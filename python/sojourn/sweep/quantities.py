"""Quantities as numbers in SI units, for conditions and tables: ``"20 ms"`` is 0.02 s."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

__all__ = ["Quantity", "in_unit", "quantity", "spelt"]

#: Dimension of each unit, and its size in SI units (times in s, rates in bit/s, sizes in B).
_UNITS: dict[str, tuple[str, Fraction]] = {
    **{
        name: ("time", Fraction(10) ** power)
        for name, power in {"ns": -9, "us": -6, "ms": -3, "s": 0}.items()
    },
    "min": ("time", Fraction(60)),
    "h": ("time", Fraction(3600)),
    **{f"{name}B": ("size", Fraction(1000) ** place) for place, name in enumerate(("", "k", "M", "G"))},
    **{f"{name}iB": ("size", Fraction(1024) ** place) for place, name in enumerate(("K", "M", "G"), 1)},
    **{
        f"{name}bit/s": ("rate", Fraction(1000) ** place)
        for place, name in enumerate(("", "k", "M", "G", "T"))
    },
    **{f"{name}B/s": ("rate", 8 * Fraction(1000) ** place) for place, name in enumerate(("", "k", "M", "G"))},
    **{name: ("packets", Fraction(1)) for name in ("packet", "packets")},
    **{name: ("packet rate", Fraction(1)) for name in ("packet/s", "packets/s")},
    **{f"{name}Hz": ("frequency", Fraction(1000) ** place) for place, name in enumerate(("", "k", "M"))},
}
_TEXT = re.compile(r"\s*([-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?)\s*([A-Za-z/]+)\s*")


class Quantity(NamedTuple):
    """A number with a unit, as written."""

    #: The number in front of the unit.
    number: float
    unit: str
    #: Such as "time" or "rate".
    dimension: str
    #: The same in SI units.
    value: float


def quantity(text: object) -> Quantity | None:
    """The quantity that a text is; None for any other value.

    >>> quantity("20 ms").value, quantity("10Mbit/s").value, quantity("codel")
    (0.02, 10000000.0, None)
    """
    found = _TEXT.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[2] not in _UNITS:
        return None
    dimension, size = _UNITS[found[2]]
    exact = Fraction(found[1])
    return Quantity(float(exact), found[2], dimension, float(exact * size))


def in_unit(value: float, unit: str) -> str:
    """A number in SI units as a quantity of a unit, to six digits.

    >>> in_unit(0.02, "ms"), in_unit(27458100.0, "Mbit/s")
    ('20 ms', '27.4581 Mbit/s')
    """
    return f"{value / float(_UNITS[unit][1]):.6g} {unit}"


def spelt(number: float, unit: str) -> str:
    """A number of 12 digits with its unit, as a scenario has it.

    >>> spelt(15.811388300841896, "ms")
    '15.8113883008 ms'
    """
    return f"{float(f'{number:.12g}')!r} {unit}".replace(".0 ", " ")
