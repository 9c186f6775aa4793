"""Evidence that the margins of a design hold on the whole box, and not at its points alone."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.design.box import Box
from sojourn.design.judge import Judge
from sojourn.design.rules import Demand, hollot
from sojourn.design.search import DENSE, Wanted

if TYPE_CHECKING:
    from sojourn.design import Design
    from sojourn.design.judge import Point

__all__ = ["Bounds", "bounded", "proof"]

#: Shares of the margins wanted that bounds may show: the search leaves next to no room at the limiting point.
SHARES = (1.0, 0.999, 0.99)
#: Laws of a fixed PI loop, whose vertex bounds the margin of Hollot's plant over the box.
VERTEX_LAWS = ("pi", "rem")
#: The reason.
VERTICES = (
    "In Hollot's plant |L| at each frequency rises with R and C and falls with N, so that no crossover "
    "exceeds that of the vertex with the fewest flows, the longest round trip and the highest rate; the zero "
    "lies on the least pole of the windows over the box, so that arg L >= -90 deg - w R - atan(w R), which "
    "falls with w and R. The vertex has equality in both."
)


@dataclass(frozen=True)
class Bounds:
    """Margins over the continuous box by interval bounds, at each rate of the grid."""

    #: Margins shown, degrees and a factor; None: none.
    margin_deg: float | None
    gain_margin: float | None
    #: Parts of the box and of the frequencies that were examined.
    parts: int
    #: True if the law's gains follow p: they are taken as monotone in p within a part.
    follows: bool
    #: Reason for which they show nothing; None: they show the margins.
    reason: str | None


def bounded(judge: Judge, spec: str, box: Box, wanted: Wanted) -> Bounds:
    """Margins by interval bounds of a law that has those wanted at points of the box."""
    reason: str | None = None
    for share in SHARES:
        margins = share * wanted.margin_deg, 1 + share * (wanted.gain_margin - 1)
        parts, follows, reason = judge.over(spec, box, margins)
        if reason is None:
            return Bounds(*margins, parts, follows, None)
    return Bounds(None, None, 0, False, reason)


def proof(design: Design) -> dict[str, Any]:
    """The proof for JSON."""
    box = design.met
    points = {one.where: one for one in design.points}
    grid = [points[place] for place in box.grid(DENSE) if place in points]
    limiting, bounds = design.limiting, design.bounds
    least = {name: _is_monotone(box, points, axis) for axis, name in enumerate(("flows", "rtt"))}
    return {
        "kind": "grid" if bounds is None or bounds.reason is not None else "interval",
        "interval": None if bounds is None else dict(bounds.__dict__),
        "checked": bool(grid) and limiting is not None,
        "grid": len(grid),
        "random": len(design.points) - len(grid),
        "least_at_a_vertex": limiting is not None and limiting.where in set(box.corners),
        "monotone_in": least,
        "steepest_deg": _steepest(box, points, limiting),
        "textbook_vertex_deg": _vertex(design, box),
        "textbook_why": VERTICES if _vertex(design, box) is not None else None,
    }


def _vertex(design: Design, box: Box) -> float | None:
    """Margin of Hollot's plant at the worst vertex, which bounds the box.

    None: the gains are not the rule's, its zero is elsewhere, or the theory reaches no point.
    """
    if design.law not in VERTEX_LAWS or design.shape != 1.0 or design.cc not in ("reno", "newreno"):
        return None
    if design.limiting is None or design.given & set(
        design.rule.gains(Demand(box, design.wanted.margin_deg))
    ):
        return None
    k, _ = hollot(Demand(box, design.wanted.margin_deg))
    gain, rtt = design.factor * k * box.worst.gain, box.worst.rtt
    # w sqrt(1 + (w R)^2) = K P(0): a quadratic in w^2.
    w = math.sqrt((math.sqrt(1 + (2 * gain * rtt) ** 2) - 1) / 2) / rtt
    return 90 - math.degrees(w * rtt + math.atan(w * rtt))


def _is_monotone(box: Box, points: dict[tuple[float, float, float], Point], axis: int) -> bool:
    """True if the phase margin over the grid rises along an axis throughout, or falls."""
    axes = box.axes(DENSE)
    lines: dict[tuple[float, ...], list[float]] = {}
    for place in box.grid(DENSE):
        one = points.get(place)
        if one is not None and one.outside is None:
            lines.setdefault(tuple(value for at, value in enumerate(place) if at != axis), []).append(
                one.margin
            )
    steps = [b - a for line in lines.values() for a, b in itertools.pairwise(line)]
    return len(axes[axis]) < 2 or all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


def _steepest(
    box: Box, points: dict[tuple[float, float, float], Point], limiting: Point | None
) -> float | None:
    """Largest change of the phase margin from the limiting point to its neighbours on the grid, deg."""
    if limiting is None or not math.isfinite(limiting.margin):
        return None
    axes = box.axes(DENSE)
    nearest = [
        min(range(len(axis)), key=lambda k: abs(math.log(axis[k] / value)))
        for axis, value in zip(axes, limiting.where, strict=True)
    ]
    around = []
    for at_axis, axis in enumerate(axes):
        for k in (nearest[at_axis] - 1, nearest[at_axis] + 1):
            if 0 <= k < len(axis):
                place = tuple(
                    axis[k] if other == at_axis else axes[other][nearest[other]] for other in range(3)
                )
                one = points.get((place[0], place[1], place[2]))
                if one is not None and one.outside is None and math.isfinite(one.margin):
                    around.append(abs(one.margin - limiting.margin))
    return max(around, default=0.0)
