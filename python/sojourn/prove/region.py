"""Stability region of a certificate over loads and base RTTs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from sojourn import _core
from sojourn.errors import InputError
from sojourn.units import quantity

#: Meanings of a map's cells below the reasons.
VERDICTS = ("stable", "unstable", "not proven")


@dataclass(frozen=True)
class Region:
    """Map over the number of flows N and the base RTT."""

    #: N of each column, and base RTT of each row, s; both grow by factors.
    flows: npt.NDArray[np.float64]
    rtt_s: npt.NDArray[np.float64]
    #: Rows of 0 (stable), 1 (unstable), 2 (not proven); 3 and more: index of `reasons` plus 3, such as no
    #: equilibrium, no model, other congested links, or no evaluations left.
    cells: npt.NDArray[np.int64]
    #: Reasons of the cells 3, 4 and so on.
    reasons: list[str]
    #: Number of points evaluated, and side, in mesh cells, of the blocks filled in because their four corners
    #: agree.
    counted: int
    block: int
    #: Curves between stable and unstable: N, base RTT in s, and frequency of the oscillation in rad/s.
    boundary: list[tuple[npt.NDArray[np.float64], ...]]
    #: The scenario's own N and base RTT.
    here: tuple[float, float]
    #: True if evaluations ran out before these curves were followed to their ends.
    cut: bool = False
    #: Evaluations for the points, and their limit.
    evaluations: int = 0
    most_evaluations: int = 0
    #: True for a law in Python, whose declared model is verified at the scenario's point alone.
    own: bool = False

    @staticmethod
    def of(found: _core.RegionMap, here: tuple[float, float], *, own: bool = False) -> Region:
        """The map computed by the compiled half."""
        curves = [tuple(curve) for curve in found.boundary]
        return Region(
            found.flows,
            found.base_rtt_s,
            found.cells,
            found.reasons,
            found.counted,
            found.BLOCK,
            curves,
            here,
            cut=found.is_cut,
            evaluations=found.evaluations,
            most_evaluations=found.MOST_EVALUATIONS,
            own=own,
        )

    def shares(self) -> dict[str, float]:
        """Shares of the points by verdict.

        >>> import sojourn as sj
        >>> region = sj.prove(sj.load("dumbbell")).region(points=10)
        >>> round(sum(region.shares().values()), 6)
        1.0
        """
        names = [*VERDICTS, *self.reasons]
        counts = np.bincount(self.cells.ravel(), minlength=len(names))
        return {
            name: float(count) / self.cells.size for name, count in zip(names, counts, strict=True) if count
        }

    def filled_in(self) -> str:
        """Sentences on the points evaluated, and on the others.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell")).region(points=2).filled_in()
        'Poles were counted at 4 of 4 points.'
        """
        words = f"Poles were counted at {self.counted} of {self.cells.size} points"
        if self.counted < self.cells.size:
            words += (
                f"; the others lie in blocks of {self.block} by {self.block} meshes whose four corners "
                "agree, and take their verdict: an island inside such a block is missed"
            )
        if self.cut:
            words += ". Evaluations ran out before the boundary was followed to its end"
        if self.own:
            words += (
                ". The law's declared model was verified at the scenario's own point alone; "
                "elsewhere it is assumed"
            )
        return f"{words}."

    def to_dict(self) -> dict[str, object]:
        """The map for JSON."""
        return {
            "flows": self.flows.tolist(),
            "base_rtt_s": self.rtt_s.tolist(),
            "cells": self.cells.tolist(),
            "meanings": [*VERDICTS, *self.reasons],
            "counted_points": self.counted,
            "filled_in": self.filled_in(),
            "boundary_is_cut": self.cut,
            "evaluations": self.evaluations,
            "boundary": [
                {"flows": n.tolist(), "base_rtt_s": rtt.tolist(), "frequency_rad_s": w.tolist()}
                for n, rtt, w in self.boundary
            ],
        }


def ends(
    name: str, given: object, read: Callable[[object], float | None], example: str
) -> tuple[float, float] | None:
    """Both ends of a range, if given; `read` converts an end. Raises `InputError`."""
    if given is None:
        return None
    found = [read(end) for end in given] if isinstance(given, Iterable) else []
    if len(found) != 2 or found[0] is None or found[1] is None or not 0 < found[0] < found[1] < math.inf:
        expected = f"expected two values above 0, the smaller first, such as {example}"
        raise InputError(f"{name}: {given!r} is no range; {expected}")
    return found[0], found[1]


def number(given: object) -> float | None:
    """A number unchanged; None for anything else."""
    return float(given) if isinstance(given, SupportsFloat) and not isinstance(given, bool) else None


def seconds(given: object) -> float | None:
    """Seconds: a number unchanged, a text such as ``50ms`` as scenarios have it; None for anything else.

    >>> seconds("50 ms"), seconds(0.05), seconds("50")
    (0.05, 0.05, None)
    """
    if not isinstance(given, str):
        return number(given)
    try:
        return quantity("time", given)[0]
    except InputError:
        return None
