"""Pictures of plants laid over each other, and of where a theory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np
from matplotlib.axes import Axes

from sojourn.errors import InputError
from sojourn.plot import style
from sojourn.plot.paper import Paper, Sized, picture
from sojourn.validity import figures
from sojourn.validity.runs import STEP

if TYPE_CHECKING:
    from sojourn.prove import Certificate
    from sojourn.result import Result
    from sojourn.validity import Validity
    from sojourn.validity.grid import ValidityMap
    from sojourn.validity.runs import Times

#: Sizes of a picture of plants and of a map, inches, and the error at which a map's shade is full, percent.
OVER_TIME, SIZE, FULL = (7.2, 3.6), (7.2, 5.0), 60.0
#: Cycles of the loop's oscillation in the picture at rest.
CYCLES = 12
#: Plants by their names in a legend, packets first: the others lie over them.
PLANTS = (("packet", "packets"), ("fluid", "fluid"))


class Plots(Sized):
    """Pictures of a comparison. Each takes the caller's axes or makes its own, and returns them.

    For print each has a `width` and a `style`, as those of results have.
    """

    def __init__(self, found: Validity) -> None:
        self._found = found

    @property
    def kinds(self) -> list[str]:
        """Names of the pictures that this comparison has."""
        of = self._found.of
        if of is None:
            return []
        has_steps, has_noise = len(self._found.results) > 1, of.noise is not None
        return ["backlog", *["response"] * has_steps, *["spectrum"] * has_noise]

    @picture()
    def backlog(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Backlog of the plants at the end of a run at rest, packets, and the certificate's equilibrium."""
        of, times = self._compared("backlog")
        rest = self._found.results[0]
        ax, own = self._axes(ax)
        after = max(times.warmup, times.duration - CYCLES * times.cycle)
        for place, (plant, name) in _present(rest):
            drawn = figures.samples(rest, figures.backlog(of.link, plant, rest.seeds[0]), after)
            ax.plot(*drawn, color=style.colour(1 - place), linewidth=_width(place), label=name)
        assert of.equilibrium is not None, "a loop has an equilibrium"
        at = of.equilibrium["backlog_packets"]
        ax.axhline(at, color=style.INK, linewidth=style.THIN, linestyle="--", label="equilibrium")
        ax.set_ylim(0, None)
        return _labelled(ax, "time, s", above=own)

    @picture()
    def response(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Mean backlog since a fall of the rate, packets, less that before it; smoothed over a round trip."""
        of, times = self._compared("response")
        stepped = self._found.results[1]
        ax, own = self._axes(ax)
        for place, (plant, name) in _present(stepped):
            drawn = figures.response(stepped, (of.link, plant), times)
            ax.plot(*drawn, color=style.colour(1 - place), linewidth=_width(place), label=name)
        assert of.equilibrium is not None, "a loop has an equilibrium"
        fall = -STEP * of.equilibrium["capacity_pps"]
        linear = figures.linear_response(of, "capacity", fall)
        if linear is not None:
            seen = linear[0] <= times.half
            linear = linear[0][seen], linear[1][seen]
            ax.plot(*linear, color=style.INK, linewidth=style.LINE, linestyle="--", label="linear")
        ax.axhline(0, color=style.MUTED, linewidth=style.THIN)
        return _labelled(ax, "time since the fall of the rate, s", above=own)

    @picture()
    def spectrum(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """Spectral density of the packets' backlog at rest, packets^2 s, and the predicted one."""
        of, _ = self._compared("spectrum")
        return of.plot.spectrum(self._found.results[0], ax)

    def _compared(self, kind: str) -> tuple[Certificate, Times]:
        """The certificate and the lengths of the runs, for a picture that this comparison has."""
        found = self._found
        if kind not in self.kinds:
            known = ", ".join(self.kinds) or "none"
            raise InputError(f"plot: this comparison has no {kind}; expected {known}")
        assert found.of is not None, "a comparison with pictures has a certificate"
        assert found.times is not None, "a check has times"
        return found.of, found.times

    def _axes(self, ax: Axes | None) -> tuple[Axes, bool]:
        return (self._figure(OVER_TIME)[1][0], True) if ax is None else (ax, False)


def _present(result: Result) -> list[tuple[int, tuple[str, str]]]:
    """The plants of a result, each with its place."""
    return [(place, one) for place, one in enumerate(PLANTS) if one[0] in result.plants]


def _width(place: int) -> float:
    return style.THIN if place == 0 else style.LINE


def _labelled(ax: Axes, across: str, *, above: bool) -> Axes:
    style.quieten(ax)
    style.label(ax, across, "backlog, packets")
    style.legend(ax, above=above)
    return ax


def of_map(found: ValidityMap, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
    """Shade and number of each point: the largest error, percent; bold where the theory does not hold."""
    from matplotlib.colors import LinearSegmentedColormap

    if ax is None:
        ax = style.figure(SIZE)[1][0]
    errors = 100 * np.minimum(found.within, 9.99)
    shades = LinearSegmentedColormap.from_list("errors", [style.PAPER, style.colour(1)])
    ax.pcolormesh(errors, cmap=shades, vmin=0, vmax=FULL, edgecolors=style.RULE, linewidth=style.THIN)
    for row, column in np.ndindex(errors.shape):
        number = errors[row, column]
        text = "-" if np.isnan(number) else f"{number:.0f}"
        weight = "normal" if found.holds[row, column] else "bold"
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=style.INK, weight=weight)
    ax.set_xticks(np.arange(len(found.flows)) + 0.5, [f"{n:.0f}" for n in found.flows])
    ax.set_yticks(np.arange(len(found.rtt_s)) + 0.5, [f"{1e3 * rtt:.3g}" for rtt in found.rtt_s])
    style.quieten(ax)
    ax.grid(visible=False)
    style.label(ax, "flows", "base RTT, ms")
    return ax
