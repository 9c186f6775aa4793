"""Pictures of a certificate: Matplotlib axes, one method for each picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from sojourn.errors import InputError
from sojourn.kinds import instance, optional
from sojourn.plot import style
from sojourn.plot.paper import Paper, Sized, picture
from sojourn.plot.spectrum import RESULT, of_backlog
from sojourn.prove import headline, maps, marks, words
from sojourn.prove.margins import MarginMap
from sojourn.prove.region import Region

if TYPE_CHECKING:
    from sojourn.prove import Certificate
    from sojourn.result import Result

#: Sizes of a picture, and of a higher one, inches: as wide, so that fonts have one size on a page.
SIZE = (7.2, 3.6)
HIGH = (7.2, 5.0)
#: Frequencies of a response, relative to the crossover: from, to, and their number.
BELOW, ABOVE, POINTS = 1e-2, 1e2, 800
#: Frequencies of a spectrum by the round trip: from, to.
SPECTRUM = (1 / 256, 32.0)
#: Largest decay rate of a drawn pole, relative to the rightmost one, and number of poles drawn anyhow.
FASTER, ANYHOW = 10, 2
#: Limits of a Nyquist plot: real and imaginary part.
NEAR = (-2.4, 1.6), (-1.4, 1.4)
#: Lowest gain of a Bode plot, dB.
LOWEST_DB = -60.0
#: Dashes of the loops beside that of the verdict.
BESIDE = ("--", ":", "-.")
#: A map as an argument.
A_REGION = optional(instance(Region, "a map; expected what Certificate.region() gives"))
A_MARGIN_MAP = optional(instance(MarginMap, "a map; expected what Certificate.margin_map() gives"))


class Plots(Sized):
    """Pictures of a certificate. Each takes the caller's axes or makes its own, and returns them.

    For print each has a `width` and a `style`, as those of results have.
    """

    def __init__(self, certificate: Certificate) -> None:
        self._of = certificate

    @picture()
    def bode(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Gain |L| over frequency, dB, and below it the phase in degrees; returns the axes of the gain.

        The margins of the loop of the verdict are marked; thin lines are those of other loops.
        """
        if ax is None:
            _, (ax, below) = self._figure(HIGH, 2)
            below.sharex(ax)
        else:
            below = None
        curves = []
        for one, look in self._shown():
            frequencies, response = self._response(one)
            curves.append((frequencies, np.degrees(np.unwrap(np.angle(response)))))
            gain = 20 * np.log10(np.maximum(np.abs(response), 10 ** (LOWEST_DB / 10)))
            ax.semilogx(frequencies, gain, label=words.name_of(one), **look)
            if below is not None:
                below.semilogx(*curves[-1], **look)
        ax.axhline(0, color=style.MUTED, linewidth=style.THIN)
        ax.set_ylim(LOWEST_DB, None)
        style.quieten(ax)
        style.plain_numbers(ax.xaxis)
        style.label(ax, "" if below is not None else "frequency, rad/s", "gain |L|, dB")
        loop = self._judged()
        marks.in_bode(ax, loop)
        if below is not None:
            below.axhline(-180, color=style.MUTED, linewidth=style.THIN)
            highest = 90 * max(0, math.ceil(max(phase.max() for _, phase in curves) / 90))
            below.set_ylim(-450, highest)
            below.set_yticks(range(-450, highest + 1, 90))
            style.quieten(below)
            style.label(below, "frequency, rad/s", "phase, degrees")
            marks.in_phases(below, ax, loop, curves[0])
        style.legend(ax, above=below is not None)
        return ax

    @picture()
    def nyquist(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """L(jw) in the complex plane near -1, with the unit circle.

        The margins of the loop of the verdict are marked; thin lines are those of other loops.
        """
        ax, own = self._axes(ax, HIGH)
        for one, look in self._shown():
            _, response = self._response(one)
            ax.plot(response.real, response.imag, label=words.name_of(one), **look)
        marks.in_nyquist(ax, self._judged())
        style.quieten(ax)
        ax.set_xlim(*NEAR[0])
        ax.set_ylim(*NEAR[1])
        ax.set_aspect("equal", adjustable="box")
        style.label(ax, "real part of L", "imaginary part")
        style.legend(ax, above=own)
        return ax

    @picture()
    def poles(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Slowest poles of the loop of the verdict, 1/s, the dominant ones filled; right of 0: unstable.

        Those that decay ten times as fast are left out.
        """
        ax, own = self._axes(ax, SIZE)
        loop = self._judged()
        found = _slow([complex(re, im) for re, im in loop["poles"]])
        look: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": style.colour(0)}
        rightmost = headline.dominant(loop)
        if rightmost is not None:
            name, *values = rightmost
            label = f"{name} {', '.join(filter(None, values))}"
            ax.plot(*_pairs(found[:1]), label=label, **look)
        if found[1:]:
            ax.plot(*_pairs(found[1:]), fillstyle="none", label="faster poles", **look)
        ax.axvline(0, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        ax.margins(x=0.1)
        style.label(ax, "real part, 1/s", "imaginary part, 1/s")
        style.legend(ax, above=own)
        return ax

    @picture()
    def step(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Unit step response of the backlog: from time 0 on the law observes a packet less."""
        ax, own = self._axes(ax, SIZE)
        for one, look in self._shown():
            found = self._of._proof.step(self._of._index(one))
            if found is not None:
                times, values = found
                ax.plot(times, values, label=words.name_of(one), **look)
        ax.axhline(1, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        style.label(ax, "time, s", "backlog, packets")
        style.legend(ax, above=own)
        return ax

    @picture(region=A_REGION, margins=A_MARGIN_MAP)
    def map(
        self, region: Region | None = None, margins: MarginMap | None = None, ax: Axes | None = None
    ) -> Axes:
        """The stability region over flows and base RTTs, with contours of the phase margin if given.

        The region is computed if none is given.
        """
        region = self._of.region() if region is None else region
        ax, own = self._axes(ax, HIGH)
        return maps.region(ax, region, margins, above=own)

    @picture(found=A_MARGIN_MAP)
    def margin_map(
        self, found: MarginMap | None = None, ax: Axes | None = None, **_paper: Unpack[Paper]
    ) -> Axes:
        """Contours of the phase margin over flows and base RTTs, degrees; computed if no map is given."""
        found = self._of.margin_map() if found is None else found
        ax, own = self._axes(ax, HIGH)
        maps.unstable_half(ax, found)
        maps.contours(ax, found)
        return maps.over_loads(found, ax, above=own)

    @picture()
    def sensitivity(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Magnitudes of S = 1 / (1 + L) and T = L / (1 + L) of the loop of the verdict over frequency."""
        from sojourn.deviations import sensitivities

        ax, own = self._axes(ax, SIZE)
        frequencies, of_noise, of_target = sensitivities(self._of)
        for place, (name, response) in enumerate((("|S|", of_noise), ("|T|", of_target))):
            ax.loglog(frequencies, np.abs(response), color=style.colour(place), label=name)
        ax.axhline(1, color=style.MUTED, linewidth=style.THIN)
        ax.set_ylim(1e-2, None)
        style.quieten(ax)
        style.plain_numbers(ax.xaxis)
        style.plain_numbers(ax.yaxis)
        style.label(ax, "frequency, rad/s", "magnitude")
        style.legend(ax, above=own)
        return ax

    @picture(result=optional(RESULT))
    def spectrum(self, result: Result | None = None, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Spectral density of the backlog under random signals over frequency, packets^2 s.

        With a `result` also that of the packets' backlog at this link under this law, after the warm-up
        (Welch's method), up to half of the rate of its samples.
        """
        ax, own = self._axes(ax, SIZE)
        low, high = (by / self._equilibrium()["rtt_s"] for by in SPECTRUM)
        frequencies = np.geomspace(low, high, POINTS)
        place = self._of.link, self._of.law
        seen = None if result is None else of_backlog(result, place, low)
        density = self._of._proof.noise_spectrum(frequencies)
        if density is None:
            raise InputError("plot: there is no noise about an equilibrium that is not certified as stable")
        if seen is not None:
            ax.loglog(*seen, color=style.colour(1), linewidth=style.THIN, label="packets")
        ax.loglog(frequencies, density, color=style.colour(0), linewidth=style.LINE, label="predicted")
        ax.set_xlim(frequencies[0], frequencies[-1])
        ax.set_ylim(1e-4 * density.max(), 4 * density.max())
        style.quieten(ax)
        style.plain_numbers(ax.xaxis)
        style.label(ax, "frequency, rad/s", "backlog, packets\u00b2 s")
        style.legend(ax, above=own)
        return ax

    def _equilibrium(self) -> dict[str, Any]:
        equilibrium = self._of.equilibrium
        if equilibrium is None:
            raise InputError(f"plot: {self._of.reason}")
        return equilibrium

    @picture()
    def disturbances(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Backlog of the linearised loop after steps of rate, flows and datagrams, less its equilibrium.

        It is smoothed over a round trip, as in the table of responses.
        """
        from sojourn.deviations import STEPS
        from sojourn.validity.figures import linear_response

        ax, own = self._axes(ax, SIZE)
        equilibrium = self._of.equilibrium
        assert equilibrium is not None, "a loop has an equilibrium"
        for place, (name, of, share) in enumerate(STEPS):
            size = share if of == "flows" else share * equilibrium["capacity_pps"]
            found = linear_response(self._of, of, size)
            if found is not None:
                ax.plot(*found, color=style.colour(place), label=name)
        ax.axhline(0, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        style.label(ax, "time, s", "backlog, packets")
        style.legend(ax, above=own)
        return ax

    @picture()
    def cycles(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Amplitude of the fluid's limit cycles over the factor on the loop's gain; 1 is the loop's own."""
        from sojourn.deviations import HARMONICS

        ax, own = self._axes(ax, SIZE)
        for place, (name, count) in enumerate((("harmonic balance", HARMONICS), ("describing function", 1))):
            found = self._of._proof.cycles(count)
            if found is not None and len(found[0]):
                rows = found[0]
                ax.plot(rows[:, 0], rows[:, 1], color=style.colour(place), label=name)
        ax.axvline(1, color=style.MUTED, linewidth=style.THIN)
        ax.set_ylim(0, None)
        style.quieten(ax)
        style.label(ax, "factor on the gain", "amplitude, packets")
        style.legend(ax, above=own)
        return ax

    def _axes(self, ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, bool]:
        self._judged()
        if ax is not None:
            return ax, False
        return self._figure(size)[1][0], True

    def _judged(self) -> dict[str, Any]:
        if not self._of.loops:
            raise InputError(f"plot: {self._of.reason}")
        return self._of.loops[-1]

    def _shown(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The loop of the verdict, and beside it that of the textbook, or of other links; with looks."""
        judged, loops = self._judged(), self._of.loops
        part = "outer" if any(one["part"] == "outer" for one in loops) else "whole"
        beside = [
            one
            for one in loops
            if one != judged
            and (one["link"] is not None or (one["model"], one["part"]) == ("textbook", part))
        ]
        first: dict[str, Any] = {"color": style.colour(0), "linewidth": style.LINE, "zorder": 2.5}
        thin = [{"color": style.MUTED, "linewidth": 1, "linestyle": dash} for dash in BESIDE]
        return [(judged, first), *((one, thin[place % len(thin)]) for place, one in enumerate(beside))]

    def _response(self, one: dict[str, Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.complex128]]:
        crossings = [at["frequency_rad_s"] for at in one.get("gain_crossovers", [])]
        about = crossings[0] if crossings else one.get("modulus_frequency_rad_s") or 1.0
        most = ABOVE * (crossings[-1] if crossings else about)
        if one["period_s"]:
            most = min(most, math.pi / one["period_s"])
        frequencies = np.geomspace(BELOW * about, most, POINTS)
        real, imaginary = self._of._proof.response(self._of._index(one), frequencies)
        return frequencies, real + 1j * imaginary


def _slow(poles: list[complex]) -> list[complex]:
    """The dominant ones of the poles, rightmost first."""
    return [
        pole
        for place, pole in enumerate(poles)
        if place < ANYHOW or -pole.real <= FASTER * abs(poles[0].real)
    ]


def _pairs(poles: list[complex]) -> tuple[list[float], list[float]]:
    """Real and imaginary parts of poles and of their conjugates."""
    both = [*poles, *(pole.conjugate() for pole in poles if pole.imag)]
    return [pole.real for pole in both], [pole.imag for pole in both]
