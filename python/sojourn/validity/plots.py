"""Pictures of where a theory holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sojourn.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sojourn.validity.grid import ValidityMap

#: Size of a map, inches, and the error at which its shade is full, percent.
SIZE, FULL = (7.2, 5.0), 60.0


def of_map(found: ValidityMap, ax: Axes | None = None) -> Axes:
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
