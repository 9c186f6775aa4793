"""What the pictures of a sweep say, in sentences, and pictures that suit a grid without its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sojourn.errors import InputError
from sojourn.sweep.about import read_picture
from sojourn.sweep.pictures import KINDS, Picture, capital, combinations

if TYPE_CHECKING:
    from sojourn.sweep import Sweep

__all__ = ["answers", "pictures", "sentences"]

#: Pictures of one kind on a page, at most, and sentences.
MOST = 24


def pictures(of: Sweep) -> list[Picture]:
    """The pictures of the grid; of one without, those that suit its axes."""
    given = [read_picture(one) for one in of.about.get("pictures", [])]
    return given or list(_suitable(of))


def answers(of: Sweep) -> list[str]:
    """A sentence for each picture that has a claim, a line, or indices."""
    found: list[str] = []
    for one in pictures(of):
        found += sentences(of, one)
    return found[:MOST]


def sentences(of: Sweep, one: Picture) -> list[str]:
    """What a picture says; or the line why it says nothing. Raises `MissingError` without SALib."""
    try:
        return KINDS[one.kind].say(of, one)
    except InputError as error:
        return [capital(f"{error.lines[0]}.")]


def _suitable(of: Sweep) -> Iterator[Picture]:
    """Pictures of a grid that names none."""
    if (of.about.get("sample") or {}).get("method") == "saltelli":
        yield Picture("sensitivity", "queue_mean_packets")
    drawn = of.about.get("drawn", [])
    numeric = [
        name
        for name in of.axes
        if name not in drawn and of.plan[name].dtype.is_numeric() and of.plan[name].n_unique() > 1
    ]
    numeric.sort(key=lambda name: -of.plan[name].n_unique())
    rest = [name for name in of.axes if of.plan[name].n_unique() > 1 and name not in drawn]
    across = [*numeric, *(name for name in rest if name not in numeric)][:1]
    if not drawn:
        for metric in ("queue_mean_packets", "sojourn_p95_s", "utilization"):
            yield from (Picture("curve", metric, x=name) for name in across)
    if len(numeric) > 1 and not drawn:
        others = itertools.islice(combinations(of, numeric[:2]), MOST + 1)
        if len(list(others)) <= MOST:
            yield Picture("map", "sojourn_p95_s", x=numeric[0], y=numeric[1])
    yield Picture("cloud", "sojourn_mean_s", y="utilization")
