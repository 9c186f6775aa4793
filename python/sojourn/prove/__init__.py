"""Prove: a certificate of whether a link is stable under its law, with the exact delay, and with what margin.

What is proven, of which model, and what that takes for granted stands in the certificate itself; the
mathematics is Rust's (`sojourn._core`), here it is asked for, told and drawn.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sojourn import _core
from sojourn._core import LawError
from sojourn.errors import InputError
from sojourn.kinds import flag, one_of_kind, optional, path, shown, takes, text, whole
from sojourn.laws_in_python import Controller, Law, LawInPython
from sojourn.laws_in_python.files import law_of, names_a_file
from sojourn.laws_in_python.lines import failure_of
from sojourn.laws_in_python.parameters import label_of
from sojourn.laws_in_python.template import fresh, template_of
from sojourn.prove.region import Region, ends, number, seconds
from sojourn.scenario import DiscSpec, Scenario, ScenarioError, place_of, with_disc

if TYPE_CHECKING:
    from sojourn.prove.plots import Plots

__all__ = ["Certificate", "Region", "prove"]

#: What names a disc.
Disc = str | DiscSpec | Law | Controller

#: The margins of a loop, as `Certificate.margins` has them.
MARGINS = (
    "phase_margin_deg",
    "phase_lead_margin_deg",
    "gain_margin",
    "gain_reduction_margin",
    "delay_margin_s",
    "modulus_margin",
    "crossover_rad_s",
)


class Certificate:
    """What is proven of a link under its law; `prove` makes it.

    `str` tells it in a sentence; `to_json` has all of it.
    """

    def __init__(self, proof: _core.Proof, own: LawInPython | None = None) -> None:
        self._proof, self._own = proof, own
        self._told: dict[str, Any] = json.loads(proof.json)

    @property
    def law(self) -> str:
        """The law's label.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").law
        'pi'
        """
        return str(self._told["law"])

    @property
    def link(self) -> str:
        """The link.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").link
        'bottleneck'
        """
        return str(self._told["link"])

    @property
    def verdict(self) -> str:
        """``stable``, ``unstable`` or ``not proven``: of the law in samples, on the linearised plant.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").verdict
        'stable'
        """
        return str(self._told["verdict"])

    @property
    def reason(self) -> str | None:
        """Why nothing is proven, where that is so; without a linear model of the law it begins ``no model``.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "tail_drop").reason[:27]
        'no model: tail_drop declare'
        """
        reason = self._told["reason"]
        return None if reason is None else str(reason)

    @property
    def margins(self) -> dict[str, float | None]:
        """The margins of the loop of the verdict: of the law as it runs, in samples where it does.

        Degrees, s, rad/s or plain ratios, as the names say; None where nothing limits. With several
        crossovers ``phase_margin_deg`` is the least lag that is too much, ``phase_lead_margin_deg`` the least
        lead (None above 180 degrees). An unstable loop has no room: its phase margin is below 0 by the least
        lead with which it would be stable, whole turns counted, and None where no lead makes it so. Of a loop
        whose evaluations ran out all are None, and its ``reason`` says where.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").margins["gain_margin"] > 2
        True
        """
        return {name: self._told[name] for name in MARGINS}

    @property
    def textbook(self) -> dict[str, Any] | None:
        """The same margins of the loop of papers and designs, continuous, and its ``part``.

        None where the traffic is not of one class or the law has no continuous form. Of a cascade it is the
        outer loop.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").textbook["phase_margin_deg"] > 45
        True
        """
        found: dict[str, Any] | None = self._told["textbook"]
        return found

    @property
    def headline(self) -> tuple[str, str]:
        """The model and the part of the loop of the verdict, which has the `margins`; marked with ``*``.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").headline
        ('linearised', 'whole')
        """
        return str(self._told["model"]), str(self._told["part"])

    @property
    def loops(self) -> list[dict[str, Any]]:
        """Every loop that was looked at, with all its crossovers, margins, roots and Nyquist's count.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").loops[-1]["nyquist"]["closed_roots"]
        0
        """
        return list(self._told["loops"])

    @property
    def equilibrium(self) -> dict[str, Any] | None:
        """Where the link rests: p, backlog, sojourn, round trip, and the windows by class.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").equilibrium["signal"]
        'mark'
        """
        found: dict[str, Any] | None = self._told["equilibrium"]
        return found

    @property
    def roots(self) -> list[complex]:
        """The rightmost roots of the loop of the verdict, 1/s, those with Im >= 0, rightmost first.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").roots[0].real < 0
        True
        """
        return [complex(re, im) for re, im in self._told["roots"] or []]

    @property
    def optimality(self) -> dict[str, float] | None:
        """Of FB-OCQ: the cheapest run from the rest on, how long it stays there, and its certified gap.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("scenarios/fb_ocq/forty.toml")).optimality["gap"] < 1e-6
        True
        """
        found: dict[str, float] | None = self._told["optimality"]
        return found

    @property
    def assumptions(self) -> list[str]:
        """What it takes for granted, a sentence each.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").assumptions[3]
        'The law marks: what it chooses goes on.'
        """
        return list(self._told["assumptions"])

    @property
    def warnings(self) -> list[str]:
        """What makes it weak: margins that are small, a law that is another one near its rest, noise.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").warnings
        []
        """
        return list(self._told["warnings"])

    @property
    def plot(self) -> Plots:
        """The pictures: ``bode()``, ``nyquist()``, ``roots()``, ``step()`` and ``map()``.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").plot.step().get_xlabel()
        'time, s'
        """
        from sojourn.prove.plots import Plots

        return Plots(self)

    @takes(model=text, part=text, sampled=flag)
    def loop(self, model: str, part: str = "whole", *, sampled: bool = False) -> dict[str, Any]:
        """One of the `loops`. Raises `InputError` where there is none such.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").loop("linearised", sampled=True)["period_s"] > 0
        True
        """
        for one in self.loops:
            if (one["model"], one["part"], one["sampled"]) == (model, part, sampled):
                return one
        told = ", ".join(f"{one['model']} {one['part']}{' sampled' * one['sampled']}" for one in self.loops)
        raise InputError(f"loop: there is no {model} {part}{' sampled' * sampled}; legal: {told or 'none'}")

    def region(
        self,
        flows: tuple[float, float] | None = None,
        rtt_s: tuple[float | str, float | str] | None = None,
        points: int = 200,
    ) -> Region:
        """For which loads and round trips without queueing the same law is stable.

        From a quarter of the scenario's own to four times as much where no ends are given; round trips in s,
        or as texts such as ``"50 ms"``; `points` along each axis. The law stays as it was designed for the
        scenario. Raises `InputError`.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").region((40, 60), (0.1, 0.2), points=5).cells.shape
        (5, 5)
        """
        over = ends("flows", flows, number, "(10, 200)")
        along = ends("rtt_s", rtt_s, seconds, '(0.05, 0.4) or ("50 ms", "400 ms")')
        try:
            side = whole(points)
        except TypeError:
            side = 0
        if not 2 <= side <= MOST_POINTS:
            legal = f"legal: whole numbers from 2 to {MOST_POINTS}"
            raise InputError(f"points: {shown(points)} is not legal; {legal}")
        rest = self.equilibrium
        if rest is None:
            raise InputError(f"map: {self.reason}")
        base_rtt = sum(one["flows"] * one["base_rtt_s"] for one in rest["classes"]) / rest["flows"]
        try:
            found = self._proof.region(over, along, side)
        except LawError as fault:
            raise _failed("map", self.law, self._own, fault) from fault
        return Region.of(found, (rest["flows"], base_rtt), own=self._own is not None)

    @takes(path=path)
    def report(self, path: str | Path, region: Region | None = None) -> Path:
        """Write the page: one file that needs no other; with a map where one is given.

        Raises `InputError` where it cannot be written.

        >>> import sojourn as sj
        >>> import tempfile
        >>> page = sj.prove(sj.load("dumbbell"), "pi").report(tempfile.mkdtemp() + "/page.html")
        >>> page.name
        'page.html'
        """
        from sojourn.prove.page import write

        if region is not None and not isinstance(region, Region):
            raise InputError(f"region: {region!r} is no map; legal: what Certificate.region() gives")
        return write([self], Path(path), None if region is None else [region])

    def to_json(self) -> str:
        """All of it as one JSON document, the schema's number in it.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").to_json().count('"schema": 1')
        1
        """
        return json.dumps(self._told, indent=1, ensure_ascii=False)

    def _index(self, one: Mapping[str, Any]) -> int:
        return self.loops.index(dict(one))

    def __str__(self) -> str:
        from sojourn.prove.words import sentence

        return sentence(self)

    def __repr__(self) -> str:
        return f"<Certificate {self.law} at {self.link}: {self.verdict}>"


@takes(link=optional(text))
def prove(scenario: Scenario, disc: Disc | None = None, *, link: str | None = None) -> Certificate:
    """Whether the scenario's link is stable under a disc's law, and with what margin; the delay is exact.

    `disc` is a text such as ``"pi:target=100packets"`` or ``"mylaw.py:MyLaw"``, one of `sojourn.laws`, or a
    `sojourn.Controller` that declares its `linear`; None means the scenario's own. `link` may be left out
    where only one can be congested. The equations stand in docs/theory/prove.md.

    Raises `InputError` with one line that has the limiting inequality where nothing rests or nothing is
    modelled, or that says where a law written in Python fails or does something else than it declares. Where
    the law says too little of itself the verdict is ``not proven``, with the `reason`.

    >>> import sojourn as sj
    >>> certificate = sj.prove(sj.load("dumbbell"), "pi:target=100packets")
    >>> certificate.verdict
    'stable'
    >>> round(certificate.margins["phase_margin_deg"], 1) > 45
    True
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"scenario: {scenario!r} is not a scenario; legal: what sj.load(FILE) gives")
    return certify(placed(scenario, disc, "disc"), link, "disc")


@dataclass(frozen=True)
class Placed:
    """A scenario under a disc; `law` stands for the scenario's law where it is not None."""

    label: str
    scenario: Scenario
    law: LawInPython | None = None


def placed(scenario: Scenario, disc: Disc | None, option: str) -> Placed:
    """The scenario under what names a disc; None names its own. Raises `InputError`."""
    own = law_of(disc, option) if isinstance(disc, str) and names_a_file(disc) else disc
    if isinstance(own, LawInPython) or (isinstance(own, type) and issubclass(own, LawInPython)):
        template = template_of(own, scenario.sites, option)
        return Placed(label_of(template, option), scenario, template)
    if own is None:
        return Placed(scenario.disc, scenario)
    variant = with_disc(scenario, own, option)
    link = place_of(own)[0] if isinstance(own, str) else None
    return Placed(variant.disc if link is None else f"{link}={variant.disc}", variant)


def certify(of: Placed, link: str | None, option: str) -> Certificate:
    """The certificate of a link under a disc. Raises `InputError`."""
    one_of_kind("--link" if option.startswith("--") else "link", optional(text), link)
    try:
        if of.law is None:
            return Certificate(_core.prove(of.scenario, link))
        laws = [fresh(of.law, site) for site in of.scenario.sites]
        return Certificate(_core.prove(of.scenario, link, laws, of.label), of.law)
    except ScenarioError as fault:
        # A line without a place is about the link that was named.
        flag = "--link" if option.startswith("--") else "link"
        lines = (f"{flag}{line}" if line.startswith(": ") else line for line in fault.faults)
        raise InputError(*lines) from None
    except LawError as fault:
        raise _failed(option, of.label, of.law, fault) from fault


def _failed(where: str, label: str, law: LawInPython | None, fault: LawError) -> InputError:
    """A law written in Python failed; Ctrl-C while it was asked is no fault of its own."""
    if isinstance(fault.__cause__, KeyboardInterrupt):
        raise KeyboardInterrupt
    told = str(fault) if law is None else failure_of(law, fault, in_a_run=False)
    return InputError(f"{where}: {label}: {told}")


class _Verb(ModuleType):
    """The module is what it is named for: ``sojourn.prove(...)`` is ``sojourn.prove.prove(...)``."""

    def __call__(
        self, scenario: Scenario, disc: Disc | None = None, *, link: str | None = None
    ) -> Certificate:
        return prove(scenario, disc, link=link)


sys.modules[__name__].__class__ = _Verb

# Points of a map along an axis, at most.
MOST_POINTS = 2000
