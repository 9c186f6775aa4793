"""Prove: a certificate of a link's stability under its law, with the exact delay, and its margins.

The certificate names the verdict, its model and its assumptions. The mathematics is in Rust
(`sojourn._core`), sentences and pictures are here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sojourn import _core, stops
from sojourn._core import LawError
from sojourn.custom.lines import failure_of
from sojourn.custom.template import LawTemplate
from sojourn.errors import InputError, refusal
from sojourn.kinds import flag, one_of_kind, optional, path, shown, takes, text, whole
from sojourn.progress import of_runs
from sojourn.prove.region import Region, ends, number, seconds
from sojourn.resolve import Qdisc, Setup, under_qdisc
from sojourn.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from sojourn.deviations import Deviations
    from sojourn.prove.margins import MarginMap
    from sojourn.prove.plots import Plots
    from sojourn.validity import Validity
    from sojourn.validity.grid import ValidityMap

__all__ = ["Certificate", "Region", "prove"]

#: Margins of a loop, as in `Certificate.margins`.
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
    """Proof of a link's stability under its law; made by `prove`.

    `str` gives a sentence, `to_json` all of it.
    """

    def __init__(self, proof: _core.Proof, setup: Setup) -> None:
        self._proof, self._setup, self._law = proof, setup, setup.law
        self._document: dict[str, Any] = json.loads(proof.json)

    @property
    def law(self) -> str:
        """Label of the law.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").law
        'pi'
        """
        return str(self._document["law"])

    @property
    def link(self) -> str:
        """Name of the link.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").link
        'bottleneck'
        """
        return str(self._document["link"])

    @property
    def verdict(self) -> str:
        """``stable``, ``unstable`` or ``not proven``: of the sampled-data law on the linearised plant.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").verdict
        'stable'
        """
        return str(self._document["verdict"])

    @property
    def reason(self) -> str | None:
        """Reason of a ``not proven``; without a linear model of the law it begins ``no model``.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "tail_drop").reason[:27]
        'no model: tail_drop declare'
        """
        reason = self._document["reason"]
        return None if reason is None else str(reason)

    @property
    def of_a_part(self) -> bool:
        """True where the judged loop is of a part of the law alone, and proves nothing of the whole.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi_pd").of_a_part
        True
        """
        return bool(self._document["of_a_part"])

    @property
    def margins(self) -> dict[str, float | None]:
        """Margins of the loop of the verdict: of the law as it runs, sampled-data where it has such a form.

        Units are in the names: degrees, s, rad/s or plain ratios; None: unlimited. With several crossovers
        ``phase_margin_deg`` is the least destabilising lag, ``phase_lead_margin_deg`` the least destabilising
        lead (None above 180 degrees). The phase margin of an unstable loop is negative: minus the least lead
        that would stabilise it, whole turns counted, and None if no lead does. If the evaluations of a loop
        ran out, all its margins are None, and its ``reason`` names the frequency.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").margins["gain_margin"] > 2
        True
        """
        return {name: self._document[name] for name in MARGINS}

    @property
    def textbook(self) -> dict[str, Any] | None:
        """The same margins of the continuous loop of papers and designs, and its ``part``.

        None if the traffic is not one class of Reno, or the law has no continuous form. The outer loop of a
        cascade.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").textbook["phase_margin_deg"] > 45
        True
        """
        found: dict[str, Any] | None = self._document["textbook"]
        return found

    @property
    def headline(self) -> tuple[str, str]:
        """Model and part of the loop of the verdict, which has the `margins`; marked with ``*``.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").headline
        ('linearised', 'whole')
        """
        return str(self._document["model"]), str(self._document["part"])

    @property
    def loops(self) -> list[dict[str, Any]]:
        """Every analysed loop, with all its crossovers, margins, poles and Nyquist's count.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").loops[-1]["nyquist"]["closed_poles"]
        0
        """
        return list(self._document["loops"])

    @property
    def equilibrium(self) -> dict[str, Any] | None:
        """Equilibrium of the link: p, backlog, sojourn, round trip, and the windows by class.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").equilibrium["signal"]
        'mark'
        """
        found: dict[str, Any] | None = self._document["equilibrium"]
        return found

    @property
    def classes(self) -> list[dict[str, Any]]:
        """Of queues that share the link: verdict, `margins` and equilibrium of each class at its share.

        ``queues`` equal ones of ``capacity_pps`` packets/s each. The link is stable if each class is; the
        other properties are those of the class whose loop comes nearest to -1. Empty: the link has one queue.
        Under ``sqm:form=price`` ``sigma`` has that of the price, in packets, beside those of the theory:
        Theorem 3's, the exact limit, and the factor between them; else it is None.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").classes
        []
        """
        return list(self._document["classes"])

    @property
    def links(self) -> list[dict[str, Any]]:
        """Of links that are congested together: law, equilibrium and `margins` of each with its loop broken.

        The verdict is that of the network; the other properties are those of the link named in `prove`, or
        else of the one whose loop comes nearest to -1. Empty: one link is congested.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").links
        []
        """
        return list(self._document["links"])

    @property
    def poles(self) -> list[complex]:
        """Rightmost poles of the loop of the verdict, 1/s, those with Im >= 0, rightmost first.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").poles[0].real < 0
        True
        """
        return [complex(re, im) for re, im in self._document["poles"] or []]

    @property
    def optimality(self) -> dict[str, float] | None:
        """FB-OCQ alone: the optimal run from the equilibrium, its time there, and its certified gap.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("scenarios/fb_ocq/forty.toml")).optimality["gap"] < 1e-6
        True
        """
        found: dict[str, float] | None = self._document["optimality"]
        return found

    @property
    def assumptions(self) -> list[str]:
        """Assumptions, a sentence each.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").assumptions[4]
        'The law marks: signalled packets stay in the queue.'
        """
        return list(self._document["assumptions"])

    @property
    def noise(self) -> dict[str, Any] | None:
        """Deviations by random signals about the stable equilibrium of one link; None: there is none.

        ``queue_sd_packets`` and ``p_sd`` are standard deviations. Probabilities, of normal deviations: that
        the queue is ``empty`` or the buffer ``full``, that the law would move p below 0 (``p_below``) or
        above its greatest value (``p_above``), and that a state of the law (``limited``, with its name) would
        be ``beyond`` its limits. ``mean_shift_packets`` is the shift of the mean queue where p stops at 0;
        None: p of the law is no integral. The derivation is in docs/theory/noise.md.

        >>> import sojourn as sj
        >>> found = sj.prove(sj.load("dumbbell", {"plant.fluid.model": "calibrated"}), "pi").noise
        >>> 15 < found["queue_sd_packets"] < 25
        True
        """
        found: dict[str, Any] | None = self._document["noise"]
        return found

    @property
    def warnings(self) -> list[str]:
        """Weaknesses: small margins or windows, a law that changes near its equilibrium, noise at a limit.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").warnings
        []
        """
        return list(self._document["warnings"])

    @property
    def plot(self) -> Plots:
        """Pictures: ``bode()``, ``nyquist()``, ``poles()``, ``step()``, ``map()`` and ``sensitivity()``.

        ``disturbances()`` shows the backlog after steps of rate and load, ``cycles()`` limit cycles by gain,
        ``spectrum()`` the power of the backlog under random signals by frequency.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").plot.step().get_xlabel()
        'time, s'
        """
        from sojourn.prove.plots import Plots

        return Plots(self)

    @takes(model=text, part=text, sampled=flag, link=optional(text))
    def loop(
        self, model: str, part: str = "whole", *, sampled: bool = False, link: str | None = None
    ) -> dict[str, Any]:
        """One of the `loops`; of a network that broken at `link`. Raises `InputError` for an unknown one.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").loop("linearised", sampled=True)["period_s"] > 0
        True
        """
        for one in self.loops:
            if (one["model"], one["part"], one["sampled"], one["link"]) == (model, part, sampled, link):
                return one
        known = ", ".join(
            _called(one["model"], one["part"], sampled=one["sampled"], link=one["link"]) for one in self.loops
        )
        own = _called(model, part, sampled=sampled, link=link)
        raise InputError(f"loop: there is no {own}; expected {known or 'none'}")

    def region(
        self,
        flows: tuple[float, float] | None = None,
        rtt_s: tuple[float | str, float | str] | None = None,
        points: int = 200,
    ) -> Region:
        """Stability of the same law over loads and base RTTs.

        By default from a quarter of the scenario's own to four times as much; base RTTs in s, or as texts
        such as ``"50 ms"``; `points` along each axis. The law keeps its design for the scenario. Raises
        `InputError`.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").region((40, 60), (0.1, 0.2), points=5).cells.shape
        (5, 5)
        """
        over, along, side = _extent(flows, rtt_s, points)
        here = self._place()
        try:
            # A law in Python is interrupted where it runs.
            found = (
                stops.interruptible(lambda: self._proof.region(over, along, side))
                if self._law is None
                else self._proof.region(over, along, side)
            )
        except LawError as error:
            raise _failed("map", self.law, self._law, error) from error
        return Region.of(found, here, own=self._law is not None)

    def margin_map(
        self,
        flows: tuple[float, float] | None = None,
        rtt_s: tuple[float | str, float | str] | None = None,
        points: int = 24,
    ) -> MarginMap:
        """Margins of the same law over loads and base RTTs; `plot.margin_map` draws their contours.

        Ranges as in `region`; `points` along each axis. Raises `InputError`, also for a law in Python.

        >>> import sojourn as sj
        >>> found = sj.prove(sj.load("dumbbell"), "pi").margin_map((25, 100), (0.1, 0.2), points=3)
        >>> bool((found.phase_margin_deg[0] > found.phase_margin_deg[-1]).all())
        True
        """
        from sojourn.prove import margins

        over, along, side = _extent(flows, rtt_s, points)
        here = self._place()
        if self._law is not None:
            raise InputError(
                "map: the declared model of a law in Python is known at the scenario's own point alone"
            )
        around = [(place / 4, place * 4) for place in here]
        ends = [over or around[0], along or around[1]]
        return margins.over((self._setup.scenario, self.link), ends, side, here)

    def _place(self) -> tuple[float, float]:
        """Number of flows and base RTT, s, of the scenario. Raises `InputError` where a map has none."""
        equilibrium = self.equilibrium
        if equilibrium is None:
            raise InputError(f"map: {self.reason}")
        if self.links:
            names = ", ".join(one["link"] for one in self.links)
            raise InputError(f"map: {names} are congested together, and a map is of one link")
        if self.classes or self._document["model"] == "predicted":
            raise InputError(
                "map: the queues share the link, and a map is of one queue; expected a law alone"
            )
        base_rtt = (
            sum(one["flows"] * one["base_rtt_s"] for one in equilibrium["classes"]) / equilibrium["flows"]
        )
        return equilibrium["flows"], base_rtt

    def check(self, seeds: Iterable[int] | None = None, jobs: int | None = None) -> Validity:
        """The scenario in the fluid and the packet plant: whether the theory of this certificate holds there.

        Changes of the schedule are left out. `seeds` are those of packets, by default 1 to 5; `jobs` is the
        number of worker threads. Raises `InputError` if there is no loop to compare with, or the queues share
        the link; otherwise as `sojourn.run`.

        >>> import sojourn as sj
        >>> calibrated = {"plant.fluid.model": "calibrated"}
        >>> sj.prove(sj.load("dumbbell", calibrated), "pi").check(seeds=[1]).verdict
        'holds'
        """
        from sojourn.validity import check

        with of_runs() as watch:
            return check(self, seeds, jobs, watch)

    def check_map(
        self,
        flows: tuple[float, float] | None = None,
        rtt_s: tuple[float | str, float | str] | None = None,
        points: int = 6,
        *,
        seeds: Iterable[int] | None = None,
        jobs: int | None = None,
    ) -> ValidityMap:
        """Where the theory holds, over loads and base RTTs: `check` at each point, without steps of the rate.

        Ranges as in `region`; `points` along each axis. A law that is designed for its link is designed for
        that of each point. `seeds` are by default 1 and 2. Raises `InputError`.

        >>> import sojourn as sj
        >>> certificate = sj.prove(sj.load("dumbbell"), "pi")
        >>> certificate.check_map((40, 60), ("100 ms", "200 ms"), points=2, seeds=[1]).holds.all().item()
        True
        """
        from sojourn.validity.grid import Extent, Runs, check_map

        with of_runs() as watch:
            return check_map(self, Extent(flows, rtt_s, points), Runs(seeds, jobs, watch))

    def deviations(self, iterations: int = 12) -> Deviations:
        """Large deviations: limit cycles, changes of the law's slope, responses to steps, sensitivities.

        `iterations` are the bisections of the largest steps of load and rate from which the fluid comes
        back; each is a run of the fluid plant. Raises `InputError` if there is no loop, or the queues share
        the link.

        >>> import sojourn as sj
        >>> found = sj.prove(sj.load("dumbbell"), "pi").deviations(iterations=1)
        >>> found.limit_cycle is None, found.critical_gain > 1
        (True, True)
        """
        from sojourn.deviations import deviations

        with of_runs() as watch:
            return deviations(self, iterations, watch)

    @takes(path=path)
    def report(
        self, path: str | Path, region: Region | None = None, margins: MarginMap | None = None
    ) -> Path:
        """Write the page, one self-contained file, with the maps that are given.

        Raises `InputError` if it cannot be written.

        >>> import sojourn as sj
        >>> import tempfile
        >>> page = sj.prove(sj.load("dumbbell"), "pi").report(tempfile.mkdtemp() + "/page.html")
        >>> page.name
        'page.html'
        """
        from sojourn.prove.beside import Beside
        from sojourn.prove.margins import MarginMap
        from sojourn.prove.page import write

        if region is not None and not isinstance(region, Region):
            raise InputError(f"region: {region!r} is no map; expected what Certificate.region() gives")
        if margins is not None and not isinstance(margins, MarginMap):
            raise InputError(f"margins: {margins!r} is no map; expected what Certificate.margin_map() gives")
        return write([self], [Beside(region, margins)], Path(path))

    def to_json(self) -> str:
        """The certificate as one JSON document, with its schema number.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").to_json().count('"schema": 1')
        1
        """
        return json.dumps(self._document, indent=1, ensure_ascii=False)

    def _index(self, one: Mapping[str, Any]) -> int:
        return self.loops.index(dict(one))

    def __str__(self) -> str:
        from sojourn.prove.words import sentence

        return sentence(self)

    def __repr__(self) -> str:
        return f"<Certificate {self.law} at {self.link}: {self.verdict}>"

    def _repr_html_(self) -> str:
        from sojourn.notebook import of_certificate

        return of_certificate(self)


@takes(link=optional(text))
def prove(scenario: Scenario, qdisc: Qdisc | None = None, *, link: str | None = None) -> Certificate:
    """Prove whether a scenario's link is stable under a qdisc's law, and its margins; the delay is exact.

    `qdisc` is a text such as ``"pi:target=100packets"`` or ``"mylaw.py:MyLaw"``, one of `sojourn.laws`, or a
    `sojourn.Controller` that declares its `linear`; None means the scenario's own. `link` may be omitted if
    only one can be congested. The equations are in docs/theory/prove.md.

    Raises `InputError` with one line: the limiting inequality if there is no equilibrium or no model, or the
    line at which a law written in Python fails or differs from its declared model. If the law declares too
    little the verdict is ``not proven``, with the `reason`.

    >>> import sojourn as sj
    >>> certificate = sj.prove(sj.load("dumbbell"), "pi:target=100packets")
    >>> certificate.verdict
    'stable'
    >>> round(certificate.margins["phase_margin_deg"], 1) > 45
    True
    """
    if not isinstance(scenario, Scenario):
        raise InputError(f"scenario: {scenario!r} is not a scenario; expected what sj.load(FILE) gives")
    return certify(under_qdisc(scenario, qdisc, "qdisc"), link, "qdisc")


def certify(of: Setup, link: str | None, option: str) -> Certificate:
    """Certificate of a link under a qdisc. Raises `InputError`."""
    one_of_kind("--link" if option.startswith("--") else "link", optional(text), link)
    if of.law is not None and of.law.form in ("qdisc", "shaped"):
        message = f"{of.label} is a qdisc in Python, and a certificate is of a law"
        raise InputError(f"{option}: {message}; expected a sojourn.Controller, or a qdisc of the catalogue")
    if of.law is not None and of.law.form == "queues":
        message = f"{of.label} has a law in Python in each queue, for which there is no certificate"
        raise InputError(
            f"{option}: {message}; expected a sojourn.Controller, or a law of the catalogue there"
        )
    try:
        if of.law is None:
            return Certificate(stops.interruptible(lambda: _core.prove(of.scenario, link, None, "")), of)
        return Certificate(_core.prove(of.scenario, link, of.law, of.law.label), of)
    except ScenarioError as error:
        # An error without a key concerns the named link.
        raise refusal(error, nameless="--link" if option.startswith("--") else "link") from None
    except LawError as error:
        raise _failed(option, of.label, of.law, error) from error


def _extent(
    flows: tuple[float, float] | None, rtt_s: tuple[float | str, float | str] | None, points: int
) -> tuple[tuple[float, float] | None, tuple[float, float] | None, int]:
    """Ranges of a map, and its points along each axis. Raises `InputError`."""
    over = ends("flows", flows, number, "(10, 200)")
    along = ends("rtt_s", rtt_s, seconds, '(0.05, 0.4) or ("50 ms", "400 ms")')
    try:
        side = whole(points)
    except TypeError:
        side = 0
    if not 2 <= side <= MOST_POINTS:
        expected = f"expected whole numbers from 2 to {MOST_POINTS}"
        raise InputError(f"points: {shown(points)} is not a number of points; {expected}")
    return over, along, side


def _called(model: str, part: str, *, sampled: bool, link: str | None) -> str:
    """A loop by its model, part and link."""
    return f"{model} {part}{' sampled' * sampled}{'' if link is None else f' at {link}'}"


def _failed(where: str, label: str, law: LawTemplate | None, error: LawError) -> InputError:
    """Error of a law written in Python; Ctrl-C during its call is none."""
    if isinstance(error.__cause__, KeyboardInterrupt):
        raise KeyboardInterrupt
    why = str(error) if law is None else failure_of(law.original, error, in_a_run=False)
    return InputError(f"{where}: {label}: {why}")


class _Verb(ModuleType):
    """The callable module: ``sojourn.prove(...)`` is ``sojourn.prove.prove(...)``."""

    def __call__(
        self, scenario: Scenario, qdisc: Qdisc | None = None, *, link: str | None = None
    ) -> Certificate:
        return prove(scenario, qdisc, link=link)


sys.modules[__name__].__class__ = _Verb

# Most points of a map along an axis.
MOST_POINTS = 2000
