"""Pictures of a certificate: Matplotlib axes, one method for each picture."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sojourn.errors import InputError
from sojourn.kinds import instance, optional, takes
from sojourn.plot import AXES, style
from sojourn.plot.spectrum import RESULT, of_backlog
from sojourn.prove import words
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
#: Index of the colour of each verdict's area in the palette, and its opacity.
AREAS = ((2, 0.25), (1, 0.3), (6, 0.2))
BARREN = 0.35
#: Contours of phase margins, degrees, and the largest one that is drawn.
LEVELS, MOST_MARGIN = (0, 15, 30, 45, 60, 75), 180.0


class Plots:
    """Pictures of a certificate. Each takes the caller's axes or makes its own, and returns them."""

    def __init__(self, certificate: Certificate) -> None:
        self._of = certificate

    @takes(ax=AXES)
    def bode(self, ax: Axes | None = None) -> Axes:
        """Magnitude |L| over frequency, and below it the phase in degrees; returns the axes of |L|."""
        if ax is None:
            _, (ax, below) = style.figure(HIGH, 2, 1)
            below.sharex(ax)
        else:
            below = None
        for place, one in enumerate(self._shown()):
            frequencies, response = self._response(one)
            look: dict[str, Any] = {"color": style.colour(place), "linewidth": style.LINE}
            ax.loglog(frequencies, np.abs(response), label=words.name_of(one), **look)
            if below is not None:
                below.semilogx(frequencies, np.degrees(np.unwrap(np.angle(response))), **look)
        ax.axhline(1, color=style.MUTED, linewidth=style.THIN)
        ax.set_ylim(1e-3, None)
        style.quieten(ax)
        style.plain_numbers(ax.xaxis)
        style.plain_numbers(ax.yaxis)
        style.label(ax, "" if below is not None else "frequency, rad/s", "|L|")
        style.legend(ax, above=below is not None)
        if below is not None:
            below.axhline(-180, color=style.MUTED, linewidth=style.THIN)
            below.set_ylim(-450, 0)
            below.set_yticks(range(-450, 1, 90))
            style.quieten(below)
            style.label(below, "frequency, rad/s", "phase, degrees")
        return ax

    @takes(ax=AXES)
    def nyquist(self, ax: Axes | None = None) -> Axes:
        """L(jw) in the complex plane, near -1; the circle has the modulus margin as its radius."""
        ax, own = self._axes(ax, HIGH)
        for place, one in enumerate(self._shown()):
            _, response = self._response(one)
            ax.plot(response.real, response.imag, color=style.colour(place), label=words.name_of(one))
        turn = np.linspace(0, 2 * math.pi, 200)
        distance = self._judged()["modulus_margin"] or 0.0
        ax.plot(-1 + distance * np.cos(turn), distance * np.sin(turn), color=style.RULE, linewidth=style.THIN)
        ax.plot([-1], [0], marker="+", color=style.INK, markersize=9)
        style.quieten(ax)
        ax.set_xlim(*NEAR[0])
        ax.set_ylim(*NEAR[1])
        ax.set_aspect("equal", adjustable="box")
        style.label(ax, "real part of L", "imaginary part")
        style.legend(ax, above=own)
        return ax

    @takes(ax=AXES)
    def poles(self, ax: Axes | None = None) -> Axes:
        """Slowest poles of the closed loops, 1/s; those that decay ten times as fast are left out."""
        ax, own = self._axes(ax, SIZE)
        for place, one in enumerate(self._shown()):
            found = _slow([complex(re, im) for re, im in one["poles"]])
            both = found + [pole.conjugate() for pole in found if pole.imag > 0]
            ax.plot(
                [pole.real for pole in both],
                [pole.imag for pole in both],
                linestyle="none",
                marker="ox+sd"[place % 5],
                fillstyle="none",
                color=style.colour(place),
                label=words.name_of(one),
            )
        ax.axvline(0, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        ax.margins(x=0.1)
        style.label(ax, "real part, 1/s", "imaginary part, 1/s")
        style.legend(ax, above=own)
        return ax

    @takes(ax=AXES)
    def step(self, ax: Axes | None = None) -> Axes:
        """Unit step response of the backlog: from time 0 on the law observes a packet less."""
        ax, own = self._axes(ax, SIZE)
        for place, one in enumerate(self._shown()):
            found = self._of._proof.step(self._of._index(one))
            if found is not None:
                times, values = found
                ax.plot(times, values, color=style.colour(place), label=words.name_of(one))
        ax.axhline(1, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        style.label(ax, "time, s", "backlog, packets")
        style.legend(ax, above=own)
        return ax

    @takes(region=optional(instance(Region, "a map; expected what Certificate.region() gives")), ax=AXES)
    def map(self, region: Region | None = None, ax: Axes | None = None) -> Axes:
        """The stability region over flows and base RTTs; computed if no `region` is given."""
        region = self._of.region() if region is None else region
        ax, own = self._axes(ax, HIGH)
        shades = [to_rgba(style.colour(place), alpha) for place, alpha in AREAS]
        shades += [to_rgba(style.RULE, BARREN + 0.15 * (place % 4)) for place in range(len(region.reasons))]
        names = ["stable", "unstable", "not proven", *region.reasons]
        for place, name in enumerate(names):
            if (region.cells == place).any():
                ax.add_patch(_area(region, place, color=shades[place], label=name))
        for curve in region.boundary:
            ax.plot(curve[0], curve[1], color=style.INK, linewidth=1.2)
        return _over_loads(region, ax, above=own)

    @takes(
        found=optional(instance(MarginMap, "a map; expected what Certificate.margin_map() gives")), ax=AXES
    )
    def margin_map(self, found: MarginMap | None = None, ax: Axes | None = None) -> Axes:
        """Contours of the phase margin over flows and base RTTs, degrees; computed if no map is given."""
        found = self._of.margin_map() if found is None else found
        ax, own = self._axes(ax, HIGH)
        margins = np.clip(found.phase_margin_deg, -MOST_MARGIN, MOST_MARGIN)
        margins = np.ma.masked_invalid(margins)
        unstable = to_rgba(style.colour(AREAS[1][0]), AREAS[1][1])
        if (margins < 0).any():
            ax.contourf(found.flows, found.rtt_s, margins, levels=[-MOST_MARGIN - 1, 0], colors=[unstable])
        drawn = [level for level in LEVELS if margins.min() < level < margins.max()]
        if drawn:
            lines = ax.contour(
                found.flows, found.rtt_s, margins, levels=drawn, colors=[style.INK], linewidths=style.LINE
            )
            ax.clabel(lines, fmt="%d\u00b0")
        return _over_loads(found, ax, above=own)

    @takes(ax=AXES)
    def sensitivity(self, ax: Axes | None = None) -> Axes:
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

    @takes(result=optional(RESULT), ax=AXES)
    def spectrum(self, result: Result | None = None, ax: Axes | None = None) -> Axes:
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

    @takes(ax=AXES)
    def disturbances(self, ax: Axes | None = None) -> Axes:
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

    @takes(ax=AXES)
    def cycles(self, ax: Axes | None = None) -> Axes:
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
        return style.figure(size)[1][0], True

    def _judged(self) -> dict[str, Any]:
        if not self._of.loops:
            raise InputError(f"plot: {self._of.reason}")
        return self._of.loops[-1]

    def _shown(self) -> list[dict[str, Any]]:
        """The textbook's loops; of the linearised plant the whole and the sampled-data one."""
        self._judged()
        loops = [one for one in self._of.loops if one["model"] != "textbook without delay"]
        cascade = any(one["part"] == "outer" for one in loops)
        return [
            one
            for one in loops
            if one["sampled"] or (one["part"] == "outer" if cascade else one["part"] == "whole")
        ]

    def _response(self, one: dict[str, Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.complex128]]:
        crossings = [at["frequency_rad_s"] for at in one.get("gain_crossovers", [])]
        about = crossings[0] if crossings else one.get("modulus_frequency_rad_s") or 1.0
        most = ABOVE * (crossings[-1] if crossings else about)
        if one["period_s"]:
            most = min(most, math.pi / one["period_s"])
        frequencies = np.geomspace(BELOW * about, most, POINTS)
        real, imaginary = self._of._proof.response(self._of._index(one), frequencies)
        return frequencies, real + 1j * imaginary


def _over_loads(of: Region | MarginMap, ax: Axes, *, above: bool) -> Axes:
    """The axes of a map, with the scenario's own point."""
    ax.plot(*of.here, marker="o", color=style.INK, linestyle="none", label="the scenario")
    style.quieten(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(of.flows[0], of.flows[-1])
    ax.set_ylim(of.rtt_s[0], of.rtt_s[-1])
    style.plain_numbers(ax.xaxis)
    style.plain_numbers(ax.yaxis)
    style.label(ax, "flows", "base RTT, s")
    style.legend(ax, above=above)
    return ax


def _slow(poles: list[complex]) -> list[complex]:
    """The dominant ones of the poles, rightmost first."""
    return [
        pole
        for place, pole in enumerate(poles)
        if place < ANYHOW or -pole.real <= FASTER * abs(poles[0].real)
    ]


def _area(region: Region, code: int, **look: Any) -> PathPatch:
    """Area of the cells of a map with this code: one path, which scales and is small."""
    across, up = _edges(region.flows), _edges(region.rtt_s)
    corners = [
        corner
        for low, high, row in _alike(region.cells == code)
        for start, end in row
        for corner in (
            (across[start], up[low]),
            (across[end], up[low]),
            (across[end], up[high]),
            (across[start], up[high]),
            (across[start], up[low]),
        )
    ]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * (len(corners) // 5)
    # Without antialiasing no seams show between the rectangles.
    return PathPatch(Path(corners, codes), linewidth=0, antialiased=False, **look)


def _edges(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Edges of cells about points that grow by factors."""
    between = np.sqrt(points[1:] * points[:-1])
    return np.array([points[0], *between, points[-1]])


def _alike(inside: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Runs of cells shared by consecutive rows, with the first and last row."""
    rows = [_runs(row) for row in inside]
    low = 0
    for high in range(1, len(rows) + 1):
        if high == len(rows) or rows[high] != rows[low]:
            yield low, high, rows[low]
            low = high


def _runs(row: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Begins and ends of a row's runs of cells."""
    turns = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(np.int8)))
    return list(zip(turns[::2].tolist(), turns[1::2].tolist(), strict=True))
