"""Validity of a certificate: its scenario in the linear, the fluid and the packet plant, with one verdict.

The theory holds where packets have the predicted equilibrium and stay there; what breaks it is named with its
figure. The definitions are in docs/theory/validity.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError
from sojourn.prove import certify
from sojourn.result.statistics import Estimate
from sojourn.simulate import Names, Plan, carry_out_all, seeds_and_workers
from sojourn.validity import causes, figures, runs
from sojourn.validity.figures import Figures
from sojourn.validity.runs import Times

if TYPE_CHECKING:
    from sojourn.prove import Certificate
    from sojourn.result import Result
    from sojourn.simulate import Watch
    from sojourn.validity.plots import Plots

__all__ = ["HOLDS", "Validity", "check"]

#: Largest relative error of a theory that holds.
HOLDS = 0.2
#: The same of the cycle about an unstable equilibrium.
HOLDS_OF_CYCLE = 0.3
#: Quantities whose error counts, of an equilibrium and of a cycle.
OF_REST = ("p", "window_packets", "queue_packets")
OF_CYCLE = ("oscillation_rad_s", "oscillation_packets")
#: Least share of the variance in one oscillation of a queue that oscillates.
CYCLE = 0.6
#: Most relative distance of the fluid's mean queue from its equilibrium, where the linear loop is stable.
LEAVES = 0.05
#: Seeds of packets.
SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Validity:
    """A certificate beside the fluid and the packet plant; made by `Certificate.check`."""

    law: str
    link: str
    #: Window model of theory and fluid: ``mgt``, ``full`` or ``calibrated``.
    model: str
    #: Verdict of the certificate.
    certified: str
    #: Figures of the plants ``linear``, ``fluid`` and ``packet``, by the keys of QUANTITIES.
    plants: dict[str, Figures]
    #: Deviation of the queue by random signals to the windows alone, packets.
    noise_packets: float
    #: What breaks the theory, or bends it, a sentence each.
    causes: list[str] = field(default_factory=list)
    #: Seeds of packets, and lengths of their runs, s.
    seeds: tuple[int, ...] = SEEDS
    times: Times | None = None
    #: The theory is of a part of the law.
    of_a_part: bool = False
    #: The certificate, and the results at rest and under steps of the rate; of a point of a map none.
    of: Certificate | None = field(default=None, repr=False)
    results: tuple[Result, ...] = field(default=(), repr=False)
    #: The same at rest at the other links that are congested together with this one.
    others: tuple[Validity, ...] = field(default=(), repr=False)

    @property
    def plot(self) -> Plots:
        """Pictures of the plants laid over each other: ``backlog()``, ``response()`` and ``spectrum()``.

        >>> import sojourn as sj
        >>> found = sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1])
        >>> [line.get_label() for line in found.plot.response().get_lines()[:3]]
        ['packets', 'fluid', 'linear']
        """
        from sojourn.validity.plots import Plots

        return Plots(self)

    @property
    def errors(self) -> dict[str, float]:
        """Relative errors of the theory that count: packets by theory, less 1.

        Of a stable equilibrium p, the mean window and the mean queue beside the certificate's; of an unstable
        one frequency and amplitude of the oscillation beside the fluid's, if the fluid has a model.

        >>> import sojourn as sj
        >>> found = sj.prove(sj.load("dumbbell", {"plant.fluid.model": "calibrated"})).check(seeds=[1])
        >>> abs(found.errors["p"]) < 0.1
        True
        """
        return {key: error for key, error in self._all_errors.items() if key in self._counted}

    @property
    def beyond(self) -> dict[str, float]:
        """Relative errors above HOLDS of the quantities that do not count: packets by theory, less 1.

        Infinite for an oscillation of more than that share of the queue where theory has none.

        >>> import sojourn as sj
        >>> sorted(sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1, 2]).beyond)
        ['oscillation_packets', 'peak_packets']
        """
        found = {
            key: error
            for key, error in self._all_errors.items()
            if key not in self._counted and abs(error) > HOLDS
        }
        key, packet = "oscillation_packets", self.plants["packet"]
        if self.certified != "unstable" and packet[key].mean > HOLDS * packet["queue_packets"].mean:
            found[key] = math.inf
        return found

    @property
    def _counted(self) -> tuple[str, ...]:
        return OF_CYCLE if self.certified == "unstable" else OF_REST

    @property
    def _all_errors(self) -> dict[str, float]:
        """Relative errors of packets beside the theory of the verdict."""
        theory = self.plants.get("fluid", {}) if self.certified == "unstable" else self.plants["linear"]
        packet = self.plants["packet"]
        return {
            key: packet[key].mean / of.mean - 1 for key, of in theory.items() if key in packet and of.mean > 0
        }

    @property
    def farthest(self) -> str | None:
        """Key of the largest error; None if there is none to take."""
        return max(self.errors, key=lambda key: abs(self.errors[key]), default=None)

    @property
    def within(self) -> float:
        """Largest relative error; infinite if there is none to take."""
        return math.inf if self.farthest is None else abs(self.errors[self.farthest])

    @property
    def oscillates(self) -> bool:
        """True if most of the variance of the packets' queue is that of one oscillation.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1]).oscillates
        False
        """
        return self.of_one_oscillation > CYCLE

    @property
    def of_one_oscillation(self) -> float:
        """Share of the variance of the packets' queue in the band about its spectrum's peak.

        >>> import sojourn as sj
        >>> 0 < sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1]).of_one_oscillation < 1
        True
        """
        packet = self.plants["packet"]
        variance = packet["queue_sd_packets"].mean ** 2
        return min(1.0, packet["oscillation_packets"].mean ** 2 / (2 * variance)) if variance > 0 else 0.0

    @property
    def rests(self) -> bool:
        """True if the fluid has no model, or its queue has its mean at the equilibrium."""
        at, fluid = self.plants["linear"]["queue_packets"].mean, self.plants.get("fluid")
        return fluid is None or abs(fluid["queue_packets"].mean - at) <= LEAVES * at

    @property
    def holds(self) -> bool:
        """True if the theory holds: errors within HOLDS, about a stable equilibrium at which the fluid rests.

        About an unstable one the packets oscillate, too, and the cycle's errors are within HOLDS_OF_CYCLE.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1]).holds
        True
        """
        if self.certified == "unstable":
            return self.oscillates and self.within <= HOLDS_OF_CYCLE
        return self.within <= HOLDS and self.rests

    @property
    def broken(self) -> list[str]:
        """Law and link, ``pi at bottleneck``, where the theory does not hold.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1]).broken
        []
        """
        return [f"{one.law} at {one.link}" for one in (self, *self.others) if not one.holds]

    @property
    def holds_everywhere(self) -> bool:
        """True if the theory holds at each of the links that are congested together.

        >>> import sojourn as sj
        >>> sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1]).holds_everywhere
        True
        """
        return self.holds and all(one.holds for one in self.others)

    @property
    def verdict(self) -> str:
        """``holds`` or ``does not hold``."""
        return "holds" if self.holds else "does not hold"

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; errors are relative, and infinite ones None."""
        return {
            "link": self.link,
            "verdict": self.verdict,
            "holds_everywhere": self.holds_everywhere,
            "certified": self.certified,
            "model": self.model,
            "within": _finite(self.within),
            "farthest": self.farthest,
            "errors": self.errors,
            "beyond": {key: _finite(error) for key, error in self.beyond.items()},
            "noise_packets": self.noise_packets,
            "causes": self.causes,
            "plants": {
                name: {key: _number(of) for key, of in found.items()} for name, found in self.plants.items()
            },
            "seeds": list(self.seeds),
            "warmup_s": None if self.times is None else self.times.warmup,
            "duration_s": None if self.times is None else self.times.duration,
            "others": [one.to_dict() for one in self.others],
        }

    def to_json(self) -> str:
        """`to_dict` as a JSON document.

        >>> import sojourn as sj
        >>> "causes" in sj.prove(sj.load("dumbbell"), "pi").check(seeds=[1]).to_json()
        True
        """
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def __str__(self) -> str:
        from sojourn.validity.words import sentence

        return sentence(self)

    def __repr__(self) -> str:
        return f"<Validity {self.law} at {self.link}: {self.verdict}>"


def _finite(of: float) -> float | None:
    return of if math.isfinite(of) else None


def _number(of: Estimate) -> Any:
    """A mean, with its interval where it has one."""
    return of.mean if of.half is None else {"mean": of.mean, "ci95_low": of.low, "ci95_high": of.high}


def check(
    certificate: Certificate,
    seeds: Iterable[int] | None = None,
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Validity:
    """The certificate's scenario in the fluid and the packet plant; of `Certificate.check`, with a watch."""
    refuse_without_a_loop(certificate)
    names = Names(seeds="seeds", jobs="jobs")
    runs_of = seeds_and_workers(SEEDS if seeds is None else seeds, jobs, names)
    times, plan = planned(certificate, *runs_of)
    plans = [plan]
    if certificate.verdict == "stable":
        # A link whose rate is not its own has no steps.
        with suppress(InputError):
            stepped = runs.under_steps(certificate._setup, certificate.link, times)
            plans.append(runs.plan_of(stepped, *runs_of))
    beside = [
        certify(certificate._setup, one["link"], "check")
        for one in certificate.links
        if one["link"] != certificate.link
    ]
    results = tuple(carry_out_all(plans, watch))
    others = tuple(compared(one, times, results[:1]) for one in beside)
    return replace(compared(certificate, times, results), of=certificate, results=results, others=others)


def planned(certificate: Certificate, seeds: Sequence[int], workers: int) -> tuple[Times, Plan]:
    """Lengths of the runs, and the plan of those at rest."""
    setup = certificate._setup
    times = runs.times_of(certificate, setup.scenario, *_scales(certificate))
    return times, runs.plan_of(runs.at_rest(setup, times), seeds, workers)


def compared(certificate: Certificate, times: Times, results: Sequence[Result]) -> Validity:
    """A certificate beside results at rest and, if there are such, under steps of the rate."""
    rest, *steps = results
    plants = {"linear": figures.of_linear(certificate, _scales(certificate)[0])}
    for name in rest.plants:
        plants[name] = figures.of_rest(rest, name, times, certificate)
        for result in steps:
            plants[name] |= figures.of_steps(result, (certificate.link, name), times)
    found = Validity(
        law=certificate.law,
        link=certificate.link,
        model=str(json.loads(certificate._setup.scenario.to_json()).get("fluid_window") or "calibrated"),
        certified=certificate.verdict,
        of_a_part=certificate.of_a_part,
        plants=plants,
        noise_packets=causes.noise(certificate),
        seeds=tuple(rest.seeds),
        times=times,
    )
    return causes.explained(found, certificate, rest)


def refuse_without_a_loop(certificate: Certificate) -> None:
    """Raise `InputError` for a certificate that has nothing to compare."""
    if certificate.classes:
        message = "the queues share the link, and theory and packets are compared in one queue"
        raise InputError(f"check: {message}; expected a law alone")
    if certificate.equilibrium is None or not certificate.loops:
        raise InputError(f"check: there is no theory to compare with: {certificate.reason}")


def _scales(certificate: Certificate) -> tuple[float, float]:
    """Frequency of the loop's oscillation, rad/s, and the time in which the loop settles, s.

    The frequency is that of the growing poles, or where |1 + L| is least.
    """
    loop = certificate.loops[-1]
    rightmost = [pole for pole in certificate.poles if pole.imag > 0]
    frequency = loop.get("modulus_frequency_rad_s")
    if rightmost and (certificate.verdict == "unstable" or not frequency):
        frequency = rightmost[0].imag
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    frequency = float(frequency or 1 / equilibrium["rtt_s"])
    if certificate.verdict == "stable" and certificate.poles and certificate.poles[0].real < 0:
        return frequency, min(6 / -certificate.poles[0].real, 100 * equilibrium["rtt_s"])
    return frequency, 10 * 2 * math.pi / frequency
