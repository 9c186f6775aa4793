"""Claims that need no packets: calculations of a paper's own equations, by name.

Each module has the calculations of one paper: functions without arguments that return numbers by name. They
are evaluated when a predicate names them, as ``step.overshoot``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from importlib import import_module, util

__all__ = ["calculations", "value"]

Calculation = Callable[[], Mapping[str, float]]


@functools.cache
def calculations(paper: str) -> Mapping[str, Calculation]:
    """The calculations of a paper."""
    place = f"{__name__}.{paper}"
    if util.find_spec(place) is None:
        return {}
    found: Mapping[str, Calculation] = import_module(place).CALCULATIONS
    return found


@functools.cache
def value(paper: str, calculation: str, name: str) -> float:
    """A number of a calculation. Raises `LookupError` where it has none of this name."""
    return _values(paper, calculation)[name]


@functools.cache
def _values(paper: str, calculation: str) -> Mapping[str, float]:
    return calculations(paper)[calculation]()
