"""Sobol's indices (I. M. Sobol 1993): which parameter a figure's variance is due to."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.errors import MissingError

#: Resamples of the bootstrap.
RESAMPLES = 1000


@dataclass(frozen=True)
class Index:
    """Shares of the variance that a parameter explains, with half-widths of 95 % intervals by bootstrap."""

    name: str
    #: Alone: the first-order index.
    first: float
    first_half: float
    #: Alone and together with others: the total index.
    total: float
    total_half: float


def salib() -> Any:
    """SALib's analysis. Raises `MissingError`."""
    try:
        return importlib.import_module("SALib.analyze.sobol")
    except ImportError:
        raise MissingError("sensitivity: SALib is not installed; pip install sojourn[sensitivity]") from None


def sobol(values: Sequence[float], names: Sequence[str], seed: int = 1) -> list[Index]:
    """Sobol's indices of each parameter, by SALib (A. Saltelli and others, 2010).

    `values` are those at the points of Saltelli's sample, in its order: of each row that of A, then A with
    each parameter from B, then B. `seed` is that of the bootstrap. Values without variance have indices of 0.
    Raises `ValueError` for another number of values, or one that is not finite, and `MissingError` without
    SALib.

    >>> rows = [(0.1, 0.9), (0.6, 0.4), (0.3, 0.2), (0.8, 0.7)]
    >>> values = [v for a, b in rows for v in (a, b, a, b)]
    >>> [(one.name, round(one.total, 1)) for one in sobol(values, ["a", "b"])]  # doctest: +SKIP
    [('a', 0.7), ('b', 0.0)]
    """
    step = len(names) + 2
    found = np.asarray(values, dtype=np.float64)
    if not names or len(found) < 2 * step or len(found) % step:
        raise ValueError(f"{len(found)} values of {len(names)} parameters; expected {step} for each row")
    if not np.isfinite(found).all():
        raise ValueError("a value is not finite; expected one at each point of the sample")
    if np.ptp(found) == 0:
        return [Index(name, 0.0, 0.0, 0.0, 0.0) for name in names]
    analysis = salib()
    problem = {"num_vars": len(names), "names": list(names), "bounds": [[0.0, 1.0]] * len(names)}
    of = analysis.analyze(
        problem, found, calc_second_order=False, num_resamples=RESAMPLES, conf_level=0.95, seed=seed
    )
    columns = (of[key] for key in ("S1", "S1_conf", "ST", "ST_conf"))
    return [Index(name, *map(float, row)) for name, *row in zip(names, *columns, strict=True)]
