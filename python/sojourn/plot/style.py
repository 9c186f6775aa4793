"""One look for all pictures: quiet axes, and colours that colour-blind readers tell apart."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: The palette of Okabe and Ito (2008), ordered so that the first ones read best on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
#: Text, quieter text, and rules.
INK, MUTED, RULE = "#1c2128", "#5b6570", "#d4d9de"
#: Line styles: a second round through the palette is dashed, a third dotted.
DASHES: tuple[str, ...] = ("-", "--", ":")
#: How much of a band's colour shows.
BAND_ALPHA = 0.18

FONT_PT = 10


def figure(size: tuple[float, float], panels: int = 1, *, stacked: bool = False) -> tuple[Figure, list[Axes]]:
    """An empty figure of `size` inches with `panels` axes, beside or above each other."""
    made = Figure(figsize=size, layout="constrained", facecolor="none")
    rows, columns = (panels, 1) if stacked else (1, panels)
    axes = made.subplots(rows, columns, squeeze=False, sharex=True).flatten().tolist()
    for ax in axes:
        _quieten(ax)
    return made, axes


def colour(place: int) -> str:
    """The colour of the disc at `place`."""
    return PALETTE[place % len(PALETTE)]


def dash(place: int) -> str:
    """The line style of the disc at `place`."""
    return DASHES[place // len(PALETTE) % len(DASHES)]


def label(ax: Axes, x: str, y: str) -> None:
    """Name the axes, with units."""
    ax.set_xlabel(x, color=MUTED, fontsize=FONT_PT)
    ax.set_ylabel(y, color=MUTED, fontsize=FONT_PT)


def legend(ax: Axes) -> None:
    """The one legend of a picture, above its panels."""
    handles, labels = ax.get_legend_handles_labels()
    drawn = ax.get_figure(root=True)
    if handles and drawn is not None:
        drawn.legend(
            handles,
            labels,
            loc="outside upper left",
            ncols=min(3, len(labels)),
            frameon=False,
            fontsize=FONT_PT,
            labelcolor=INK,
        )


def warmup(ax: Axes, until_s: float) -> None:
    """Shade what comes before the measurement."""
    ax.axvspan(0, until_s, color=RULE, alpha=0.35, linewidth=0, zorder=0)
    ax.annotate(
        "not measured",
        (0, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, 3),
        textcoords="offset points",
        color=MUTED,
        fontsize=FONT_PT - 2,
    )


def change(ax: Axes, at_s: float) -> None:
    """A line where the schedule changes something."""
    ax.axvline(at_s, color=MUTED, linewidth=0.9, linestyle=(0, (2, 3)), zorder=1)


def _quieten(ax: Axes) -> None:
    ax.set_facecolor("none")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(RULE)
    ax.grid(axis="y", color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(colors=RULE, labelcolor=MUTED, labelsize=FONT_PT, length=0)
    ax.margins(x=0)
