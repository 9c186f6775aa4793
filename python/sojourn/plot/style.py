"""Common style of all pictures: quiet axes, and lines that differ in colour and in dash."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter

from sojourn.plot.displayed import ShownAxes, ShownFigure
from sojourn.result import Result, Variant

#: Palette of Okabe and Ito (2008), distinguishable by colour-blind readers, the most legible ones first;
#: darkened where too faint on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8528c", "#c58600", "#3a9bd8", "#7f7f7f")
#: The same hues on a dark page.
PALETTE_ON_DARK = ("#5ab0ea", "#f58a3c", "#34c79a", "#e09ac4", "#f0b93a", "#9cd4f5", "#a8a8a8")
#: Text, quieter text, rules, and the background.
INK, MUTED, RULE, PAPER = "#1c2128", "#5b6570", "#d9dee3", "#ffffff"
#: Strokes and gaps in pixels, the empty one solid. Four dashes with seven colours: no two of 28 qdiscs share
#: both, and neighbours differ in print without colour too.
DASHES: tuple[tuple[float, ...], ...] = ((), (8, 3), (2, 2), (9, 2.5, 2, 2.5))
#: Hatches of areas and boxes: none of the first seven, and another of each seven that repeat their colours.
HATCHES = ("", "////", "....", "xxxx")
#: Markers of a mean beside the dashes, for the same reason.
MARKERS = ("o", "s", "^", "v")
#: Opacity of a band.
BAND_ALPHA = 0.18
#: Line widths of a mean and of one flow, points.
LINE, THIN = 1.6, 0.7

FONT_PT = 10

Dash: TypeAlias = str | tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class Stroke:
    """Style of a plant's lines."""

    width: float = LINE
    #: Opacity.
    alpha: float = 1.0
    #: True if a line has the dash of its qdisc.
    dashed: bool = True
    #: Drawing order.
    above: float = 2.0
    #: Marker of a mean; None: that of its qdisc.
    marker: str | None = None
    #: Hatch of areas and boxes beside that of its qdisc.
    hatch: str = ""
    #: Strokes and gaps of its own, pixels; empty: those of the qdisc, if `dashed`.
    pattern: tuple[float, ...] = ()


#: Strokes for several plants: the fluid's line, thin and sharp, and that of live packets, dotted, lie on a
#: broad and pale one of the simulated packets.
STROKES = {
    "fluid": Stroke(width=1.2, above=2.5, marker="D", hatch="---"),
    "live": Stroke(width=2.0, above=2.4, marker="^", hatch="|||", pattern=(2.0, 3.0)),
}
BROAD = Stroke(width=3.6, alpha=0.4, dashed=False, marker="o")


@dataclass(frozen=True)
class Look:
    """Look of a variant: colour and dash by its qdisc, stroke by its plant."""

    #: Index of the qdisc.
    place: int
    stroke: Stroke = Stroke()

    @property
    def slot(self) -> int:
        """Index of its colour in the palette."""
        return self.place % len(PALETTE)

    @property
    def colour(self) -> str:
        """The colour."""
        return colour(self.place)

    @property
    def pattern(self) -> tuple[float, ...]:
        """Strokes and gaps, pixels; empty for a solid line."""
        if self.stroke.pattern:
            return self.stroke.pattern
        return DASHES[self.place % len(DASHES)] if self.stroke.dashed else ()

    @property
    def dash(self) -> Dash:
        """The same as a Matplotlib line style."""
        return (0, tuple(length / self.stroke.width for length in self.pattern)) if self.pattern else "-"

    @property
    def hatch(self) -> str:
        """Hatch of areas and boxes: with the colour it is that of no other variant."""
        return HATCHES[self.place // len(PALETTE) % len(HATCHES)] + self.stroke.hatch

    @property
    def marker(self) -> str:
        """Marker of a mean: of the plant, if there are several, else of the qdisc."""
        return self.stroke.marker or MARKERS[self.place % len(MARKERS)]

    @property
    def line(self) -> dict[str, Any]:
        """Matplotlib's options of a line other than its dash."""
        options = {"color": self.colour, "linewidth": self.stroke.width}
        if self.stroke == Stroke():
            return options
        return options | {"alpha": self.stroke.alpha, "zorder": self.stroke.above}


def looks(result: Result) -> dict[Variant, Look]:
    """Look of each variant of a result."""
    places = {qdisc: place for place, qdisc in enumerate(result.qdiscs)}
    several = len(result.plants) > 1
    return {
        variant: Look(places[variant.qdisc], STROKES.get(variant.plant, BROAD) if several else Stroke())
        for variant in result.variants
    }


class Picture(ShownFigure):
    """A figure for notebooks, and for journals: PDF and PostScript files embed TrueType fonts (type 42)."""

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Save as `Figure.savefig` does."""
        with matplotlib.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
            super().savefig(*args, **kwargs)


def figure(
    size: tuple[float, float], rows: int = 1, columns: int = 1, *, apart: float = 0.02, above: float = 0.02
) -> tuple[Figure, list[Axes]]:
    """An empty figure of `size` inches with `rows` times `columns` axes, `apart` and `above` each other."""
    layout = ConstrainedLayoutEngine(wspace=apart, hspace=above)
    made = Picture(figsize=size, layout=layout, facecolor="none")
    axes = made.subplots(rows, columns, squeeze=False, subplot_kw={"axes_class": ShownAxes})
    return made, axes.flatten().tolist()


def quieten(ax: Axes, grid: str = "y") -> None:
    """Remove frames and ticks; `grid` is the axis along which values are read."""
    ax.set_facecolor("none")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(RULE)
    ax.grid(axis="x" if grid == "x" else "y", color=RULE, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(colors=RULE, labelcolor=MUTED, labelsize=FONT_PT, length=0)
    ax.margins(x=0)
    for axis in (ax.xaxis, ax.yaxis):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, ScalarFormatter):
            formatter.set_useOffset(False)  # no offset to add to each number


def plain_numbers(axis: Axis) -> None:
    """Plain numbers beside a logarithmic axis, some four to a picture; call this once its limits are set."""
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low)
    if decades < 1:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def plain(name: str) -> str:
    """Escape a name for Matplotlib: no mathematics, and no hidden label."""
    shown = name.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def colour(place: int) -> str:
    """Colour of the item of index `place`."""
    return PALETTE[place % len(PALETTE)]


def label(ax: Axes, x: str, y: str) -> None:
    """Label the axes, with units."""
    ax.set_xlabel(x, color=MUTED, fontsize=FONT_PT)
    ax.set_ylabel(y, color=MUTED, fontsize=FONT_PT)


def legend(ax: Axes, *, above: bool) -> None:
    """Add a legend: above the picture in Sojourn's own figure, inside axes of the caller's."""
    handles, labels = ax.get_legend_handles_labels()
    drawn = ax.get_figure(root=True)
    if not handles or drawn is None:
        return
    if not above:
        ax.legend(frameon=False, fontsize=FONT_PT - 1, labelcolor=INK, loc="upper right", handlelength=3)
        return
    drawn.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=_legend_columns(drawn.get_figwidth(), labels),
        frameon=False,
        fontsize=FONT_PT,
        labelcolor=INK,
        handlelength=3,
        columnspacing=1.5,
    )


def legend_in(width_in: float, labels: Sequence[str]) -> float:
    """Extra height of a picture over one row of a legend, inches."""
    rows = math.ceil(len(labels) / _legend_columns(width_in, labels))
    return (rows - 1) * 1.6 * FONT_PT / 72


def nothing(ax: Axes, why: str) -> None:
    """Name the reason for which axes are empty, in their middle."""
    ax.annotate(
        why,
        (0.5, 0.5),
        xycoords="axes fraction",
        ha="center",
        va="center",
        color=MUTED,
        fontsize=FONT_PT,
    )


def warmup(ax: Axes, until: float) -> None:
    """Shade the warm-up."""
    ax.axvspan(0, until, color=RULE, alpha=0.35, linewidth=0, zorder=0)
    ax.annotate(
        "not measured",
        (0, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, 3),
        textcoords="offset points",
        color=MUTED,
        fontsize=FONT_PT - 2,
    )


def change(ax: Axes, at: float) -> None:
    """Mark a change of the schedule by a line."""
    ax.axvline(at, color=MUTED, linewidth=0.9, linestyle=(0, (2, 3)), zorder=1)


def _legend_columns(width_in: float, labels: Sequence[str]) -> int:
    longest = 0.55 * FONT_PT * max((len(text) for text in labels), default=1) + 60
    return max(1, min(len(labels), int(72 * width_in / longest)))
