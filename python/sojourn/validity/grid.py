"""A map of where the theory holds, over numbers of flows and base RTTs.

Each point is a scenario of its own, in the fluid and the packet plant at rest: all classes have one factor of
flows, all delays one factor, and a law that is designed for its link is designed for that of the point.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sojourn.errors import InputError
from sojourn.kinds import whole_of
from sojourn.prove import certify
from sojourn.prove.region import ends, number, seconds
from sojourn.simulate import Names, Watch, carry_out_all, seeds_and_workers
from sojourn.validity import Validity, compared, planned, refuse_without_a_loop

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sojourn.prove import Certificate
    from sojourn.resolve import Setup

#: Points along an axis, by default and at most, and seeds of each.
POINTS, MOST_POINTS, SEEDS = 6, 50, (1, 2)
#: Points whose runs are done side by side.
BATCH = 8


@dataclass(frozen=True)
class ValidityMap:
    """Where the theory holds; made by `Certificate.check_map`."""

    #: N of each column, and base RTT of each row, s; both grow by factors.
    flows: npt.NDArray[np.float64]
    rtt_s: npt.NDArray[np.float64]
    #: Rows of comparisons; a text: the reason of a point without a theory.
    cells: list[list[Validity | str]]
    #: The scenario's own N and base RTT.
    here: tuple[float, float]

    @property
    def within(self) -> npt.NDArray[np.float64]:
        """Largest relative error at each point; NaN: no theory there.

        >>> import sojourn as sj
        >>> found = sj.prove(sj.load("dumbbell"), "pi").check_map((40, 60), (0.1, 0.2), points=2)
        >>> found.within.shape
        (2, 2)
        """
        return np.array(
            [[math.nan if isinstance(one, str) else one.within for one in row] for row in self.cells]
        )

    @property
    def holds(self) -> npt.NDArray[np.bool_]:
        """True at each point where the theory holds.

        >>> import sojourn as sj
        >>> calibrated = {"plant.fluid.model": "calibrated"}
        >>> certificate = sj.prove(sj.load("dumbbell", calibrated), "pi")
        >>> certificate.check_map((20, 40), (0.1, 0.2), points=2).holds.all().item()
        True
        """
        return np.array([[not isinstance(one, str) and one.holds for one in row] for row in self.cells])

    def to_dict(self) -> dict[str, Any]:
        """The map for JSON."""
        return {
            "flows": self.flows.tolist(),
            "base_rtt_s": self.rtt_s.tolist(),
            "cells": [
                [
                    {"verdict": "no theory", "reason": one} if isinstance(one, str) else _cell(one)
                    for one in row
                ]
                for row in self.cells
            ],
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """The largest relative error over flows and base RTTs, in percent, as Matplotlib axes.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").check_map((40, 60), (0.1, 0.2), points=2).plot().get_xlabel()
        'flows'
        """
        from sojourn.validity.plots import of_map

        return of_map(self, ax)


def _cell(one: Validity) -> dict[str, Any]:
    """A point for JSON."""
    kept = ("verdict", "certified", "within", "farthest", "errors", "causes")
    return {key: value for key, value in one.to_dict().items() if key in kept}


@dataclass(frozen=True)
class Extent:
    """Ranges of flows and of base RTTs, None for the default ones, and the points along each axis."""

    flows: tuple[float, float] | None = None
    rtt_s: tuple[float | str, float | str] | None = None
    points: int = POINTS


@dataclass(frozen=True)
class Runs:
    """Seeds of packets and workers of a map, None for the default ones, and who watches."""

    seeds: Iterable[int] | None = None
    jobs: int | None = None
    watch: Watch | None = None


def check_map(certificate: Certificate, extent: Extent, by: Runs) -> ValidityMap:
    """The map over an extent. Raises `InputError`."""
    refuse_without_a_loop(certificate)
    given = SEEDS if by.seeds is None else by.seeds
    seeds, workers = seeds_and_workers(given, by.jobs, Names(seeds="seeds", jobs="jobs"))
    flows, rtts = _axes(certificate, extent)
    own = _own(certificate)
    setups = [_at(certificate._setup, (n / own[0], rtt / own[1])) for rtt in rtts for n in flows]
    found: list[Validity | str] = []
    for first in range(0, len(setups), BATCH):
        batch = setups[first : first + BATCH]
        share = _share(by.watch, (first, len(batch), len(setups)))
        found += _compared(batch, certificate.link, (seeds, workers), share)
    side = len(flows)
    cells = [found[row * side : (row + 1) * side] for row in range(len(rtts))]
    return ValidityMap(flows, rtts, cells, own)


def _share(watch: Watch | None, part: tuple[int, int, int]) -> Watch | None:
    """Progress of a batch as that of all points: those before it, in it, and all."""
    if watch is None:
        return None
    before, here, everything = part
    return lambda _done, fraction: watch(
        before + int(here * fraction), (before + here * fraction) / everything
    )


def _own(certificate: Certificate) -> tuple[float, float]:
    """N and base RTT of the scenario."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    classes, flows = equilibrium["classes"], equilibrium["flows"]
    return flows, sum(one["flows"] * one["base_rtt_s"] for one in classes) / flows


def _axes(
    certificate: Certificate, extent: Extent
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Whole numbers of flows and base RTTs, s, that grow by factors."""
    points = whole_of("points", extent.points)
    if not 2 <= points <= MOST_POINTS:
        raise InputError(f"points: {points!r} is not a number of points; expected 2 to {MOST_POINTS}")
    own = _own(certificate)
    flows = ends("flows", extent.flows, number, "(10, 200)") or (max(1.0, own[0] / 4), own[0] * 4)
    rtts = ends("rtt_s", extent.rtt_s, seconds, '(0.05, 0.4) or ("50 ms", "400 ms")') or (
        own[1] / 4,
        own[1] * 4,
    )
    return np.unique(np.round(np.geomspace(*flows, points))), np.geomspace(*rtts, points)


def _at(setup: Setup, factors: tuple[float, float]) -> Setup | str:
    """The scenario with other flows and delays; or why there is none."""
    try:
        return replace(setup, scenario=setup.scenario.with_(**dict(_scaled(setup, factors))))
    except InputError as error:
        return error.lines[0]


def _scaled(setup: Setup, factors: tuple[float, float]) -> Iterator[tuple[str, Any]]:
    """Keys of counts and delays, and their values times the factors."""
    keys = json.loads(setup.scenario.to_json())
    yield "at", "[]"
    if keys.get("bottleneck"):
        yield "bottleneck.delay", _longer(keys["bottleneck"]["delay"], factors[1])
    for link in keys.get("links") or []:
        yield f"{link['name']}.delay", _longer(link["delay"], factors[1])
    for place, group in enumerate(keys["flows"]):
        if group.get("cc") is not None:
            yield f"flows[{place}].count", max(1, round(group["count"] * factors[0]))
        access = group.get("access")
        if access:
            yield f"flows[{place}].access.delay", _longer(access["delay"], factors[1])


def _longer(value: Any, factor: float) -> str:
    """A time, or several in a table, as TOML, times a factor."""
    if isinstance(value, str):
        own = seconds(value)
        return json.dumps(value if own is None else f"{1e3 * own * factor:.9g} ms")
    if isinstance(value, list):
        return f"[{', '.join(_longer(one, factor) for one in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_longer(one, factor)}' for key, one in value.items())} }}"
    return json.dumps(value)


def _compared(
    setups: Sequence[Setup | str], link: str, runs: tuple[Sequence[int], int], watch: Watch | None
) -> list[Validity | str]:
    """Comparisons at points, or their reasons, in order."""
    found: list[Validity | str] = []
    waiting: list[tuple[int, Certificate]] = []
    for setup in setups:
        certificate = setup if isinstance(setup, str) else _certificate(setup, link)
        if isinstance(certificate, str):
            found.append(certificate)
        else:
            waiting.append((len(found), certificate))
            found.append("")
    plans = [planned(certificate, *runs) for _, certificate in waiting]
    results = carry_out_all([plan for _, plan in plans], watch) if plans else []
    for (place, certificate), (times, _), result in zip(waiting, plans, results, strict=True):
        found[place] = compared(certificate, times, [result])
    return found


def _certificate(setup: Setup, link: str) -> Certificate | str:
    try:
        certificate = certify(setup, link, "check")
        refuse_without_a_loop(certificate)
    except InputError as error:
        return error.lines[0]
    return certificate
