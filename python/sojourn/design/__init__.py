"""Design: gains of a law that keep their margins over a box of flows, round trips and rates.

A rule of each law (`sojourn.design.rules`) makes gains for the worst corner of the box; the search finds
the fastest of them whose certificate, on the plant of the packets' windows, has the margins at every point
that is checked. The mathematics is that of `sojourn.prove`.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from sojourn.design.arguments import check, held, law_of, number_of, of_rule, pair_of, target_of, wanted_of
from sojourn.design.box import Box, Target
from sojourn.design.emit import FORMS, line
from sojourn.design.judge import BUDGET, BudgetSpentError, Judge, Point
from sojourn.design.proof import Bounds, bounded, proof
from sojourn.design.robust import optimised
from sojourn.design.rules import RULES, Demand, Rule
from sojourn.design.search import (
    DENSE,
    RANDOM,
    Family,
    Found,
    Wanted,
    checked,
    fastest,
    spec_of,
    widest,
)
from sojourn.design.values import values
from sojourn.errors import InputError
from sojourn.kinds import flag, number, optional, takes, text, whole
from sojourn.prove import Certificate, prove
from sojourn.prove.region import seconds

__all__ = ["FORMS", "Bounds", "Box", "Design", "Point", "Target", "design"]

#: Keys of a certificate in the document of a design.
CERTIFIED = (
    "verdict",
    "phase_margin_deg",
    "gain_margin",
    "delay_margin_s",
    "crossover_rad_s",
    "equilibrium",
    "noise",
    "poles",
    "assumptions",
    "textbook",
)
#: Models of windows that a design may rest on.
MODELS = ("calibrated", "mgt", "full")


@dataclass(frozen=True)
class Design:
    """Gains of a law for a box, and how they fare there; made by `design`.

    `str` gives sentences, `to_json` all of it, `emit` the line of a scenario, of tc or of ns-3.
    """

    #: Name of the law, and its text with the gains: of the largest box where the whole cannot be met.
    law: str
    spec: str
    #: True if the gains keep the margins, and settle in time where that is wanted, over the box.
    is_met: bool
    #: What was wanted, the box, and the largest boxes with one end moved where the whole cannot be met.
    wanted: Wanted
    box: Box
    met_boxes: tuple[Box, ...]
    #: Points checked: the vertices come first.
    points: tuple[Point, ...]
    #: The law with its default parameters at the same points.
    default: Found
    #: Margins between the points, by interval bounds; None: some point lacks a margin.
    bounds: Bounds | None
    #: The rule, and the factor and the shape of its gains.
    rule: Rule
    factor: float
    shape: float
    #: Names of the parameters that are given, and not made by the rule.
    given: frozenset[str]
    #: Evaluations of a loop, and the model of windows.
    evaluations: int
    model: str
    cc: str
    ecn: bool

    @property
    def corners(self) -> list[Point]:
        """The law at the vertices of the box.

        >>> import sojourn as sj
        >>> len(sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms").corners)
        4
        """
        places = set(self.met.corners)
        return [one for one in self.points if one.where in places]

    @property
    def met(self) -> Box:
        """The box that the gains are of: the whole one, or the largest that can be met.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms")
        >>> found.met == found.box
        True
        """
        return self.box if self.is_met or not self.met_boxes else self.met_boxes[0]

    @property
    def limiting(self) -> Point | None:
        """The point nearest to a margin; None: the theory reaches no point.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
        >>> found.limiting.flows, found.limiting.rtt_s
        (20.0, 0.28)
        """
        return self.wanted.limiting(self.points)

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the limiting point, at a whole number of flows in the box; None: there is none.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
        >>> found.certificate.verdict, round(found.certificate.margins["phase_margin_deg"])
        ('stable', 45)
        """
        flows = self._certified_flows
        if flows is None or self.limiting is None:
            return None
        judge = Judge(self.box, self.model, self.cc, self.ecn)
        return prove(judge.one(flows, *self.limiting.where[1:]), self.spec)

    @property
    def _certified_flows(self) -> int | None:
        if self.limiting is None or self.limiting.reason is not None:
            return None
        near = math.ceil(self.limiting.flows), math.floor(self.limiting.flows)
        return next((flows for flows in near if self.met.flows[0] <= flows <= self.met.flows[1]), None)

    @property
    def outside(self) -> dict[str, int]:
        """Points that the theory does not reach, which do not count, by reason.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=(20, 200), rtt_s=0.11, capacity_pps=1250, target="10ms")
        >>> list(found.outside)
        ['the window is under 2 packets', 'no equilibrium: saturated at p = 1']
        """
        found: dict[str, int] = {}
        for reason in (one.outside for one in self.points):
            if reason is not None:
                found[reason] = found.get(reason, 0) + 1
        return found

    @property
    def gains(self) -> dict[str, float | str | bool]:
        """Parameters of the law, its target among them; times are texts such as ``15 ms``.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
        >>> list(found.gains)
        ['target', 'a', 'b', 'rate']
        """
        judge = Judge(self.met, self.model, self.cc, self.ecn)
        return values(judge.scenario(self.met.capacity_pps[1]), self.spec)

    @property
    def is_scaled(self) -> bool:
        """True if the factor scales gains of the law: none of those that the rule scales is given.

        >>> import sojourn as sj
        >>> box = dict(flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms")
        >>> sj.design("pi", **box).is_scaled, sj.design("pi:a=1e-5,b=9e-6", **box).is_scaled
        (True, False)
        """
        return self.given.isdisjoint(self.scaled)

    @property
    def scaled(self) -> frozenset[str]:
        """Names of the gains that the rule scales, given ones too.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms")
        >>> sorted(found.scaled)
        ['a', 'b']
        """
        one, other = (self.rule.gains(Demand(self.met, self.wanted.margin_deg, by)) for by in (1.0, 0.5))
        return frozenset(key for key, value in one.items() if value != other[key])

    @property
    def slowest(self) -> Point | None:
        """The point that settles last; None: the theory reaches no point.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
        >>> found.slowest.flows, found.slowest.rtt_s
        (80.0, 0.13)
        """
        return Found(self.spec, self.factor, self.shape, self.points).slowest

    @takes(spec=text)
    def holds(self, spec: str) -> bool:
        """True if another text of the law keeps the margins at the grid's points of the box.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
        >>> found.holds(found.spec), found.holds("pi:target=80ms,a=0.01,b=0.009")
        (True, False)
        """
        judge = Judge(self.met, self.model, self.cc, self.ecn, self.rule.partial is not None)
        points = judge.at(spec, self.met.grid(DENSE))
        return Found(spec, self.factor, self.shape, tuple(points)).keeps(self.wanted)

    @takes(form=text)
    def emit(self, form: str) -> str:
        """The law as ``toml`` (the line of a scenario), ``tc`` (red, pie) or ``ns3`` (red, pie).

        Raises `InputError` where that form lacks the law or such gains.

        >>> import sojourn as sj
        >>> box = dict(flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
        >>> sj.design("pi", **box).emit("toml")[:37]
        'qdisc = { law = "pi", target = "80 ms'
        """
        return line(self, form)

    def to_dict(self) -> dict[str, Any]:
        """The design for JSON: infinite and unknown numbers are None.

        The margins and the crossover are those of `limiting`; verdict, delay margin, equilibrium, noise,
        poles, assumptions and textbook loop those of `certificate`, which is of `certified_flows`.

        >>> import sojourn as sj
        >>> sj.design("pi", flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms").to_dict()["met"]
        True
        """
        certificate = self.certificate
        certified = {} if certificate is None else json.loads(certificate.to_json())
        limiting, slowest, worst = self.limiting, self.slowest, self.wanted.limiting(self.default.points)
        return {
            "schema": 1,
            "law": self.law,
            "spec": self.spec,
            "gains": self.gains,
            "met": self.is_met,
            **{key: certified.get(key) for key in CERTIFIED},
            **({} if limiting is None else _margins(limiting)),
            "certified_flows": self._certified_flows,
            "wanted": dict(self.wanted.__dict__),
            "box": _box(self.box),
            "met_boxes": [_box(one) for one in self.met_boxes],
            "model": self.model,
            "cc": self.cc,
            "ecn": self.ecn,
            "method": {"rule": self.rule.words, "factor": self.factor, "shape": self.shape},
            "proof": proof(self),
            "evaluations": self.evaluations,
            "corners": [one.to_dict() for one in self.corners],
            "limiting": None if limiting is None else limiting.to_dict(),
            "slowest": None if slowest is None else slowest.to_dict(),
            "outside": self.outside,
            "default": {
                "spec": self.default.spec,
                "limiting": None if worst is None else worst.to_dict(),
                "met": self.default.keeps(self.wanted),
                "lacking": self.wanted.lacking(self.default.points),
                "points": len(self.default.points),
            },
        }

    def to_json(self) -> str:
        """The design as one JSON document, with its schema number.

        >>> import sojourn as sj
        >>> found = sj.design("pi", flows=50, rtt_s=0.18, capacity_pps=1250, target="80ms")
        >>> found.to_json().count('"schema": 1')
        1
        """
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        from sojourn.design.words import sentences

        return "\n".join(sentences(self))

    def __repr__(self) -> str:
        return f"<Design {self.spec}: {'met' if self.is_met else 'not met'}>"


@takes(
    spec=text,
    target=text,
    margin_deg=number,
    gain_margin=number,
    settling_s=optional(number),
    segment_bytes=whole,
    model=text,
    cc=text,
    ecn=flag,
)
def design(
    spec: str,
    *,
    flows: float | tuple[float, float],
    rtt_s: float | str | tuple[float | str, float | str],
    capacity_pps: float | tuple[float, float],
    target: str,
    margin_deg: float = 45.0,
    gain_margin: float = 2.0,
    settling_s: float | None = None,
    segment_bytes: int = 1000,
    model: str = "calibrated",
    cc: str = "newreno",
    ecn: bool = True,
) -> Design:
    """Gains of a law that keep a phase margin and a gain margin over a box of flows, round trips and rates.

    `spec` is a law such as ``"pi"``, or with parameters that stay as they are, ``"pi:rate=500Hz"``.
    `flows`, `rtt_s` (round trips with the queue at the target, in s or texts such as ``"20 ms"``) and
    `capacity_pps` (packets/s of `segment_bytes`) are values or pairs of ends. `target` is a delay or a
    backlog: ``"5ms"``, ``"100packets"``, ``"100kB"``. `margin_deg` is the least destabilising lag in degrees,
    `gain_margin` the least destabilising factor. `settling_s` limits 4 time constants of the slowest pole.
    `model` is that of the windows: ``calibrated`` (as packets have them), ``mgt`` or ``full``; `cc` the
    congestion control; `ecn`: marks, else drops.

    Where no gains of the rule meet the box, `Design.is_met` is False and the gains are of the largest box
    with one end moved. Raises `InputError` with one line. docs/howto/design-a-queue-law.md has an example,
    and the source of the rule is in `Design.rule`.

    >>> import sojourn as sj
    >>> found = sj.design("pi", flows=(20, 80), rtt_s=(0.13, 0.28), capacity_pps=1250, target="80ms")
    >>> found.is_met, found.limiting.flows, found.limiting.rtt_s
    (True, 20.0, 0.28)
    """
    law, fixed, rule = law_of(spec)
    wanted = wanted_of(margin_deg, gain_margin, settling_s)
    if model not in MODELS:
        raise InputError(f'model: "{model}" is unknown; expected {", ".join(MODELS)}')
    box = Box(
        pair_of("flows", flows, number_of, "50 or (50, 500)"),
        pair_of("rtt_s", rtt_s, seconds, '0.1 or ("20 ms", "250 ms")'),
        pair_of("capacity_pps", capacity_pps, number_of, "1250 or (1250, 12500)"),
        target_of(target, segment_bytes),
        segment_bytes,
    )
    check(box)
    judge = Judge(box, model, cc, ecn, rule.partial is not None)
    family = Family(law, rule, held(law, rule, box), fixed)
    try:
        found, boxes = _found(family, judge, wanted)
    except BudgetSpentError:
        raise InputError(f"SPEC: {BUDGET} evaluations are spent; expected a smaller box") from None
    except InputError as error:
        raise of_rule(error, law, fixed) from None
    return _design(family, judge, wanted, (found, boxes))


def _found(family: Family, judge: Judge, wanted: Wanted) -> tuple[Found | None, list[tuple[Box, Found]]]:
    """The loop for the whole box, or that for the largest of the boxes that can be met, with these."""
    search = optimised if family.rule.free else fastest
    found = search(family, judge, wanted)
    if found is not None and found.meets(wanted):
        return found, []
    boxes = widest(family, judge, wanted, search)
    if boxes:
        return boxes[0][1], boxes
    if found is not None:
        found = replace(found, points=tuple(judge.at(found.spec, checked(judge.box), poles=True)))
    return found, []


def _design(
    family: Family, judge: Judge, wanted: Wanted, outcome: tuple[Found | None, list[tuple[Box, Found]]]
) -> Design:
    (found, boxes), box = outcome, judge.box
    if found is None:
        # What the rule has for the box, although it does not hold.
        spec = family.spec(Demand(box, wanted.margin_deg))
        found = Found(spec, 1.0, 1.0, tuple(judge.at(spec, checked(box), poles=True)))
    usual = spec_of(family.law, family.target(box), family.fixed)
    default = Found(usual, 1.0, 1.0, tuple(judge.at(usual.removesuffix(":"), box.grid(DENSE))))
    return Design(
        law=family.law,
        spec=found.spec,
        is_met=found.meets(wanted) and not boxes,
        wanted=wanted,
        box=box,
        met_boxes=tuple(one for one, _ in boxes),
        points=found.points,
        default=default,
        bounds=bounded(judge, found.spec, boxes[0][0] if boxes else box, wanted)
        if found.keeps(wanted)
        else None,
        rule=family.rule,
        factor=found.factor,
        shape=found.shape,
        given=frozenset(
            key for key, value in family.fixed.items() if f"{family.law}:{key}={value}" not in RULES
        ),
        evaluations=judge.spent,
        model=judge.model,
        cc=judge.cc,
        ecn=judge.ecn,
    )


def _margins(point: Point) -> dict[str, Any]:
    """Margins and crossover of a point, as a certificate has them."""
    known = point.to_dict()
    return {key: known[key] for key in ("phase_margin_deg", "gain_margin", "crossover_rad_s")}


def _box(box: Box) -> dict[str, Any]:
    return {
        "flows": box.flows,
        "rtt_s": box.rtt_s,
        "capacity_pps": box.capacity_pps,
        "target": str(box.target),
        "segment_bytes": box.segment_bytes,
        "grid": DENSE,
        "random": RANDOM,
    }


class _Verb(ModuleType):
    """The callable module: ``sojourn.design(...)`` is ``sojourn.design.design(...)``."""

    def __call__(self, spec: str, **given: Any) -> Design:
        return design(spec, **given)


sys.modules[__name__].__class__ = _Verb
