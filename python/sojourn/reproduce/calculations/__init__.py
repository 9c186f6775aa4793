"""Claims that need no packets: calculations of a paper's own equations, by name.

Each module has the calculations of one paper: functions without arguments that return numbers by name. They
are evaluated when a predicate names them, as ``step.overshoot``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from importlib import import_module, util

import numpy as np
import numpy.typing as npt

__all__ = ["calculations", "curves", "measured_once", "value"]

Calculation = Callable[[], Mapping[str, float]]
#: Places and values of lines by their names.
Curves = Callable[[], Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]]


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


def measured_once(paper: str, calculation: str, name: str) -> str | None:
    """Date, libraries and the command that repeats it, of a number kept from one measurement; else None."""
    place = f"{__name__}.{paper}"
    if util.find_spec(place) is None:
        return None
    found: Mapping[tuple[str, str], str] = getattr(import_module(place), "MEASURED_ONCE", {})
    return found.get((calculation, name))


@functools.cache
def curves(paper: str) -> Mapping[str, Curves]:
    """The curves of a paper's figures that need no packets."""
    place = f"{__name__}.{paper}"
    if util.find_spec(place) is None:
        return {}
    found: Mapping[str, Curves] = getattr(import_module(place), "CURVES", {})
    return found
