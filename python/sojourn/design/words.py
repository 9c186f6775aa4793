"""A design as sentences and as a table."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.design.box import Box
from sojourn.design.judge import Judge
from sojourn.design.proof import proof
from sojourn.design.rules import Demand
from sojourn.design.search import Wanted
from sojourn.design.values import counted, defaults, short

if TYPE_CHECKING:
    from sojourn.design import Design
    from sojourn.design.judge import Point
    from sojourn.prove import Certificate

__all__ = ["COLUMNS", "rows", "sentences", "shortfall"]

#: Columns of the table of vertices: name, unit, key of a `Point`.
COLUMNS = (
    ("p", "", "p"),
    ("backlog", "packets", "backlog_packets"),
    ("window", "packets", "window_packets"),
    ("phase margin", "deg", "phase_margin_deg"),
    ("gain margin", "", "gain_margin"),
    ("crossover", "rad/s", "crossover_rad_s"),
    ("settling", "s", "settling_s"),
)
#: Settling from which a law with fixed gains is called slow, s.
SLOW_S = 60.0


def sentences(design: Design) -> list[str]:
    """The answer, what limits it, its proof, and the default parameters beside it."""
    lines = [_answer(design)]
    limiting, slowest = design.limiting, design.slowest
    if limiting is not None:
        lines.append(f"Limiting: {at(limiting)}: {_margins(limiting)}.")
        lines += [*_noise(design, limiting), *_warnings(design, limiting)]
    if slowest is not None and math.isfinite(slowest.settling_s):
        lines.append(f"Slowest: {at(slowest)}: within 2 % after {short(slowest.settling_s)} s.")
        if slowest.settling_s > SLOW_S and not design.rule.adapts and design.wanted.settling_s is None:
            lines.append(SLOW)
    lines.append(f"Rule: {design.rule.words}{_scaled(design)}.")
    if design.law == "red":
        lines.append(
            "RED holds no target: its queue follows the load between its thresholds, as in the table."
        )
    if design.rule.partial is not None:
        lines.append(f"The margins are those of a part of the law: {design.rule.partial}.")
    lines += _proof_lines(design)
    return [*lines, *_outside(design), *_default(design)]


def _noise(design: Design, limiting: Point) -> list[str]:
    """The predicted deviation at the limiting point; none where there is no prediction."""
    certificate = design.certificate
    if certificate is None or certificate.equilibrium is None or certificate.noise is None:
        return []
    deviation = short(certificate.noise["queue_sd_packets"])
    at = f"that point{_with_flows(certificate, limiting)}"
    return [f"Noise at {at}: a standard deviation of {deviation} packets."]


def _warnings(design: Design, limiting: Point) -> list[str]:
    """Where the theory of the limiting point is weak."""
    certificate = design.certificate
    if certificate is None:
        return []
    of = _with_flows(certificate, limiting)
    return [f"Warning for that point{of}: {one}" for one in certificate.warnings]


def _with_flows(certificate: Certificate, limiting: Point) -> str:
    """The flows of a point's certificate, whole ones, where the point has others."""
    equilibrium = certificate.equilibrium
    if equilibrium is None or equilibrium["flows"] == limiting.flows:
        return ""
    return f" with {counted(equilibrium['flows'])}"


def _outside(design: Design) -> list[str]:
    """Points that the theory does not reach, by reasons that differ in their numbers alone."""
    kinds: dict[str, list[tuple[str, int]]] = {}
    for reason, count in design.outside.items():
        kinds.setdefault(re.sub(r"[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?", "#", reason), []).append((reason, count))
    return [
        f"Outside of the theory, and not counted: {sum(count for _, count in found)} of {len(design.points)} "
        f"points, as {'for one ' * (len(found) > 1)}{found[0][0]}."
        for found in kinds.values()
    ]


def shortfall(design: Design) -> str:
    """The shortfall of a design that is not met, in a line."""
    wanted, slowest = design.wanted, design.slowest
    is_late = slowest is not None and wanted.settling_s is not None and slowest.settling_s > wanted.settling_s
    if slowest is None or not is_late or design.met_boxes or wanted.lacking(design.points):
        return f"{_none(design)} meet the box"
    late = f"the fastest take {short(slowest.settling_s)} s, at {at(slowest)}"
    return f"{_none(design)} settle within {short(wanted.settling_s)} s: {late}"


def _none(design: Design, moved: str = "") -> str:
    """Subject of what is not met: the rule's gains, or the given ones where none is left to the rule."""
    if (design.scaled | set(design.rule.free)) - design.given:
        return f"no gains of {design.law}'s rule{moved}"
    return f"the given gains of {design.law} do not"


SLOW = (
    "Fixed gains that are safe where the plant's gain is largest are slow where it is least: a settling time "
    "moves the zero; pid:adapt=load, arm_pfc, pi2 and pie follow the load."
)


def _answer(design: Design) -> str:
    wanted = _wants(design.wanted)
    part = ", as margins of a part of the law," * (design.rule.partial is not None)
    if design.is_met:
        where = ", where the theory reaches," if design.outside else ""
        return f"{design.spec} keeps {wanted}{part}{where} over {over(design.box)}."
    shapes = design.rule.shapes if design.wanted.settling_s is not None else ()
    moved = f", its zero moved by factors of up to {max(shapes):g} as well," if shapes else ""
    subject = _none(design, moved)
    head = f"{subject[0].upper()}{subject[1:]} keep {wanted}{part} over {over(design.box)}."
    if not design.met_boxes:
        return f"{head} Nor over a part of it with one end moved."
    boxes = "; ".join(f"{over(box)}" for box in design.met_boxes)
    return f"{head} Largest boxes with one end moved: {boxes}. Over the first: {design.spec}."


def _wants(wanted: Wanted) -> str:
    phase = f"a phase margin of {short(wanted.margin_deg)} deg"
    gain = f"a gain margin of {short(wanted.gain_margin)}"
    if wanted.settling_s is None:
        return f"{phase} and {gain}"
    return f"{phase}, {gain} and a settling time of at most {short(wanted.settling_s)} s"


def _scaled(design: Design) -> str:
    """The factor and the shape of the rule's gains, if they are the law's."""
    given = design.given & set(design.rule.gains(Demand(design.met, design.wanted.margin_deg)))
    names = f"; {_listed(sorted(given))} {'is' if len(given) == 1 else 'are'} given" if given else ""
    if design.rule.free or design.limiting is None or not design.is_scaled:
        return names
    shape = "" if design.shape == 1.0 else f", its zero moved by a factor of {short(design.shape)}"
    return f"; its gain times {short(design.factor)}{shape}{names}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _default(design: Design) -> list[str]:
    """The default parameters beside the gains; none where these are given."""
    if design.limiting is None:
        return ["The theory reaches no point."]
    worst = design.wanted.limiting(design.default.points)
    if worst is None or not design.is_scaled:
        return []
    name = f"{'Defaults of all but what is given' if design.given else 'Default parameters'}, "
    name += design.default.spec.removesuffix(":") + _derived(design)
    if design.default.keeps(design.wanted):
        return [f"{name}, keep the margins, too: {_margins(worst)}, at {at(worst)}."]
    lacking = f"{design.wanted.lacking(design.default.points)} of {len(design.default.points)} points"
    return [f"{name}, do not at {lacking}: worst {at(worst)}: {_margins(worst)}."]


def _derived(design: Design) -> str:
    """A remark on defaults that a law derives from its link: RED's buffer, and rates that differ."""
    usual = defaults(design.law)
    gains = design.rule.gains(Demand(design.met, design.wanted.margin_deg))
    is_derived = any(usual[key] is None and key not in design.given for key in gains)
    several = design.box.capacity_pps[0] < design.box.capacity_pps[1]
    text = ", with other gains at each rate" if several and is_derived and not design.rule.of_delay else ""
    if design.law == "red":
        judge, (_, rtt, _) = Judge(design.box), design.box.middle
        low, high = (judge.buffer(rtt, rate) for rate in design.box.capacity_pps)
        text += f", in a buffer of {_ends((low, high))} packets"
    return text


def _proof_lines(design: Design) -> list[str]:
    found = proof(design)
    lines = []
    if found["checked"] and not design.wanted.lacking(design.points):
        lines.append("Checked by Nyquist's count and margins with the exact delay" + _points(found))
        if found["random"]:
            lines.append(_bounds(design))
    if found["textbook_vertex_deg"] is not None:
        lines.append(
            f"In Hollot's plant, without sampling, the vertex bounds the whole box: "
            f"{short(found['textbook_vertex_deg'])} deg."
        )
    return lines


def _points(found: dict[str, Any]) -> str:
    """The points that were checked, and the margin that could be missed between."""
    if not found["random"]:
        return "."
    where = "at a vertex" if found["least_at_a_vertex"] else "inside"
    return (
        f" at {found['grid']} points of a grid and {found['random']} random ones. The least is {where}; from "
        "it to the next points of the grid the phase margin changes by at most "
        f"{short(found['steepest_deg'])} deg."
    )


def _bounds(design: Design) -> str:
    """The margins by interval bounds, or the reason for none."""
    bounds, rates = design.bounds, len(design.met.axes(1)[2])
    if bounds is None or bounds.reason is not None:
        reason = "" if bounds is None else f": {bounds.reason}"
        return f"Interval bounds do not show the margins between these points{reason}."
    of_rates = f" at each of the {rates} rates of the grid" if rates > 1 else ""
    reached = " that the theory reaches" if design.outside else ""
    follows = ", with gains monotone in p within a part" if bounds.follows else ""
    return (
        f"Interval bounds show at least {short(bounds.margin_deg)} deg and a factor of "
        f"{short(bounds.gain_margin)} at every point of the continuous box{reached}{of_rates}, "
        f"in {bounds.parts} parts{follows}."
    )


def rows(design: Design) -> list[tuple[str, list[str]]]:
    """Place of each vertex, and its numbers in the order of `COLUMNS`."""
    one_rate = design.box.capacity_pps[0] == design.box.capacity_pps[1]
    return [
        (
            at(one, briefly=one_rate) + (" (outside)" if one.outside is not None else ""),
            [short(getattr(one, key)) for _, _, key in COLUMNS],
        )
        for one in design.corners
    ]


def _margins(point: Point) -> str:
    if point.reason is not None:
        return point.reason
    if point.phase_margin_deg <= 0:
        return f"unstable, phase margin {short(point.phase_margin_deg)} deg"
    return f"phase margin {short(point.phase_margin_deg)} deg, gain margin {short(point.gain_margin)}"


def at(point: Point, *, briefly: bool = False) -> str:
    """A point in words, without its rate if `briefly`."""
    rate = "" if briefly else f", {short(point.capacity_pps)} packets/s"
    return f"{counted(point.flows)}, {short(point.rtt_s * 1e3)} ms{rate}"


def over(box: Box) -> str:
    """A box in words."""
    return ", ".join(
        (
            f"{_ends(box.flows)} flow{'s' * (box.flows[1] != 1)}",
            f"{_ends([1e3 * end for end in box.rtt_s])} ms",
            f"{_ends(box.capacity_pps)} packets/s",
        )
    )


def _ends(pair: Sequence[float]) -> str:
    return short(pair[0]) if pair[0] == pair[1] else f"{short(pair[0])} to {short(pair[1])}"
