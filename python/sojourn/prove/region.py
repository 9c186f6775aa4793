"""For which loads and round trips a certificate holds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
import numpy.typing as npt

from sojourn import _core
from sojourn.errors import InputError

#: What the cells of a map mean below the reasons.
VERDICTS = ("stable", "unstable", "not proven")


@dataclass(frozen=True)
class Region:
    """A map over the number of flows N and the round trip without queueing."""

    #: N of each column, and the round trip of each row, s; both grow by factors.
    flows: npt.NDArray[np.float64]
    rtt_s: npt.NDArray[np.float64]
    #: Rows of 0 (stable), 1 (unstable), 2 (not proven); 3 and more: nothing rests there, the law says too
    #: little of itself, other links are full, or the evaluations ran out, see `reasons`.
    cells: npt.NDArray[np.int64]
    #: What fails where the cell is 3, 4 and so on.
    reasons: list[str]
    #: So many points were looked at; the others are filled in, in blocks of so many meshes along a side whose
    #: four corners agree.
    counted: int
    block: int
    #: Curves between stable and unstable: N, the round trip in s, and the frequency of the swing in rad/s.
    boundary: list[tuple[npt.NDArray[np.float64], ...]]
    #: The scenario's own N and round trip.
    here: tuple[float, float]
    #: Whether evaluations ran out before these curves were followed to their ends.
    cut: bool = False
    #: Evaluations that its points took, and how many they may take.
    evaluations: int = 0
    most_evaluations: int = 0
    #: Whether the law is the caller's own, which is held to what it declares at the scenario's point alone.
    own: bool = False

    @staticmethod
    def of(found: _core.RegionMap, here: tuple[float, float], *, own: bool = False) -> Region:
        """The map that the compiled half has found."""
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
        """Which part of the points is what.

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
        """How much of it was counted, and what the rest stands on, in words.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell")).region(points=2).filled_in()
        'Roots were counted at 4 of 4 points.'
        """
        told = f"Roots were counted at {self.counted} of {self.cells.size} points"
        if self.counted < self.cells.size:
            told += (
                f"; the others lie in blocks of {self.block} by {self.block} meshes whose four corners "
                "agree, and have what these have: an island inside such a block is not seen"
            )
        if self.cut:
            told += ". The boundary was followed as far as its evaluations went, not to its end"
        if self.own:
            told += (
                ". What the law declares was held to what it does at the scenario's own point alone; "
                "elsewhere the map takes its word"
            )
        return f"{told}."

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
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
    """Both ends of a range, where one is given; `read` makes a number of an end. Raises `InputError`."""
    if given is None:
        return None
    found = [read(end) for end in given] if isinstance(given, Iterable) else []
    if len(found) != 2 or found[0] is None or found[1] is None or not 0 < found[0] < found[1] < math.inf:
        legal = f"legal: two ends, from above 0 to more, such as {example}"
        raise InputError(f"{name}: {given!r} is no range; {legal}")
    return found[0], found[1]


def number(given: object) -> float | None:
    """A number as it is; None of anything else."""
    return float(given) if isinstance(given, SupportsFloat) and not isinstance(given, bool) else None


def seconds(given: object) -> float | None:
    """Seconds: a number as it is, a text such as ``50ms`` by its unit; None of anything else.

    >>> seconds("50 ms"), seconds(0.05), seconds("50")
    (0.05, 0.05, None)
    """
    if not isinstance(given, str):
        return number(given)
    found = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+) ?(us|µs|ms|s)", given.strip())
    return float(found[1]) / _IN_A_SECOND[found[2]] if found else None


_IN_A_SECOND = {"us": 1e6, "µs": 1e6, "ms": 1e3, "s": 1.0}
