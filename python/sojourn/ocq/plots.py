"""Pictures of solutions of the control problem: Matplotlib axes, one method for each picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from matplotlib.axes import Axes

from sojourn.errors import InputError
from sojourn.plot import style
from sojourn.plot.paper import Paper, Sized, picture

if TYPE_CHECKING:
    from sojourn.ocq.problem import Floats
    from sojourn.ocq.solution import Solution

#: Sizes of a picture, and of a higher one, inches.
SIZE = (7.2, 3.6)
HIGH = (7.2, 5.0)
#: Most points of a line over time: finer than a pixel.
_POINTS = 4000


class Plots(Sized):
    """Pictures of solutions of one problem, beside each other.

    Each takes the caller's axes or makes its own, and returns them. For print each has a `width` and a
    `style`, as those of results have.
    """

    def __init__(self, solutions: Sequence[Solution], names: Sequence[str]) -> None:
        self._of = list(zip(solutions, names, strict=True))

    @picture()
    def trajectory(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """The queue x(t), packets, and below it the input u(t) under the load w(t); returns the axes of x."""
        below = None
        if ax is None:
            _, (ax, below) = self._figure(HIGH, 2)
            below.sharex(ax)
        for place, (one, name) in enumerate(self._of):
            run = one.run()
            ax.plot(*_thinned(run.t, run.x), label=style.plain(name), **_look(place))
            if below is not None:
                below.plot(*_steps(run.t, run.u), **_look(place))
        problem = self._of[0][0].problem
        if problem.x_s is not None:
            ax.axhline(problem.x_s, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        style.label(ax, "" if below is not None else "time, s", "queue x, packets")
        style.legend(ax, above=below is not None)
        if below is not None:
            mesh = problem.mesh
            below.plot(*_steps(mesh.t, mesh.w), color=style.MUTED, linewidth=style.THIN, linestyle="--")
            below.set_ylim(0, None)
            style.quieten(below)
            style.label(below, "time, s", "input u, packets/s")
        return ax

    @picture()
    def costate(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """The costate lambda(t), s, the paper's adjoint, and R, which decides the input."""
        ax, own = self._axes(ax)
        for place, (one, name) in enumerate(self._of):
            run = one.run()
            ax.plot(*_thinned(run.t, run.costate), label=style.plain(name), **_look(place))
        mesh = self._of[0][0].problem.mesh
        ax.plot(*_steps(mesh.t, mesh.R), color=style.MUTED, linewidth=style.THIN, linestyle="--", label="R")
        style.quieten(ax)
        style.label(ax, "time, s", "costate, s")
        style.legend(ax, above=own)
        return ax

    @picture()
    def switching(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """The switching function H_u = lambda - R, s: u is w where it is below 0, and 0 where it is above."""
        ax, own = self._axes(ax)
        for place, (one, name) in enumerate(self._of):
            ax.plot(*_thinned(one.run().t, one.switching), label=style.plain(name), **_look(place))
        ax.axhline(0, color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        style.label(ax, "time, s", "switching function, s")
        style.legend(ax, above=own)
        return ax

    @picture()
    def beta(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """The beta history of Algorithm 1, s^2/packet, by iteration."""
        ax, own = self._axes(ax)
        found = [(place, one, name) for place, (one, name) in enumerate(self._of) if len(one.betas)]
        if not found:
            raise InputError("plot: no solution has a beta; expected one of method sweep")
        for place, one, name in found:
            ax.semilogy(np.arange(len(one.betas)), one.betas, label=style.plain(name), **_look(place))
        style.quieten(ax)
        style.label(ax, "iteration", "beta, s²/packet")
        style.legend(ax, above=own)
        return ax

    @picture()
    def gap(self, ax: Axes | None = None, **_paper: Unpack[Paper]) -> Axes:
        """The gap on the mesh, packets s, by iteration."""
        ax, own = self._axes(ax)
        found = [(place, one, name) for place, (one, name) in enumerate(self._of) if len(one.gaps) > 1]
        if not found:
            raise InputError("plot: no solution has gaps; expected one of method sweep or fast")
        for place, one, name in found:
            gaps = np.where(one.gaps > 0, one.gaps, np.nan)
            ax.loglog(1 + np.arange(len(gaps)), gaps, label=style.plain(name), **_look(place))
        style.quieten(ax)
        style.label(ax, "1 + iteration", "gap on the mesh, packets s")
        style.legend(ax, above=own)
        return ax

    def _axes(self, ax: Axes | None) -> tuple[Axes, bool]:
        return (ax, False) if ax is not None else (self._figure(SIZE)[1][0], True)


def _look(place: int) -> dict[str, Any]:
    dash = style.DASHES[place % len(style.DASHES)]
    pattern = (0, tuple(length / style.LINE for length in dash)) if dash else "-"
    # The first solution, the exact one in a table, is on top.
    return {
        "color": style.colour(place),
        "linewidth": style.LINE if place == 0 else 1.0,
        "linestyle": pattern,
        "zorder": 3 - 0.1 * place,
    }


def _steps(t: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Corners of a function that is constant in each cell, without those of equal neighbours."""
    keep = np.append(True, np.diff(values) != 0)
    starts, values = t[:-1][keep], values[keep]
    corners = np.repeat(np.append(starts, t[-1]), 2)[1:-1]
    return _thinned(corners, np.repeat(values, 2))


def _thinned(t: Floats, values: Floats) -> tuple[Floats, Floats]:
    step = max(1, len(t) // _POINTS)
    keep = np.unique(np.append(np.arange(0, len(t), step), len(t) - 1))
    return t[keep], values[keep]
