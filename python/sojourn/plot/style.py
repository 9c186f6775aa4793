"""One look for all pictures: quiet axes, and lines that differ in colour and in dash."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter

from sojourn.result import Arm, Result

#: The palette of Okabe and Ito (2008), which colour-blind readers tell apart, ordered so that the first ones
#: read best; a little darker where it would be too faint on white.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8528c", "#c98a00", "#3a9bd8", "#7f7f7f")
#: The same hues on a dark page.
PALETTE_ON_DARK = ("#5ab0ea", "#f58a3c", "#34c79a", "#e09ac4", "#f0b93a", "#9cd4f5", "#a8a8a8")
#: Text, quieter text, rules, and what they stand on.
INK, MUTED, RULE, PAPER = "#1c2128", "#5b6570", "#d9dee3", "#ffffff"
#: Strokes and gaps in pixels, the empty one solid. Four dashes go through seven colours, so that no two
#: of 28 discs share both, and neighbours differ in print without colour too.
DASHES: tuple[tuple[float, ...], ...] = ((), (8, 3), (2, 2), (9, 2.5, 2, 2.5))
#: How much of a band's colour shows.
BAND_ALPHA = 0.18
#: The width of a mean's line and of one flow's, points.
LINE, THIN = 1.6, 0.7

FONT_PT = 10

Dash: TypeAlias = str | tuple[float, tuple[float, ...]]


@dataclass(frozen=True)
class Stroke:
    """How the lines of a plant are drawn."""

    width: float = LINE
    #: How much of the colour shows.
    alpha: float = 1.0
    #: Whether a line has the dash of its disc.
    dashed: bool = True
    #: What lies above what.
    above: float = 2.0
    #: What stands for a mean.
    marker: str = "o"


#: The strokes where there are several plants: a model's line, thin and sharp, lies on a broad and pale one of
#: what packets did.
STROKES = {"fluid": Stroke(width=1.2, above=2.5, marker="D")}
BROAD = Stroke(width=3.6, alpha=0.4, dashed=False)


@dataclass(frozen=True)
class Look:
    """How an arm looks: its disc has the colour and the dash, its plant the stroke."""

    #: Of the disc.
    place: int
    stroke: Stroke = Stroke()

    @property
    def slot(self) -> int:
        """Which colour of the palette it has."""
        return self.place % len(PALETTE)

    @property
    def colour(self) -> str:
        """The colour itself."""
        return colour(self.place)

    @property
    def pattern(self) -> tuple[float, ...]:
        """Strokes and gaps, pixels; empty for a solid line."""
        return DASHES[self.place % len(DASHES)] if self.stroke.dashed else ()

    @property
    def dash(self) -> Dash:
        """The same as a Matplotlib line style."""
        return (0, tuple(length / self.stroke.width for length in self.pattern)) if self.pattern else "-"

    @property
    def line(self) -> dict[str, Any]:
        """What Matplotlib is told of a line beside its dash."""
        told = {"color": self.colour, "linewidth": self.stroke.width}
        if self.stroke == Stroke():
            return told
        return told | {"alpha": self.stroke.alpha, "zorder": self.stroke.above}


def looks(result: Result) -> dict[Arm, Look]:
    """How each arm of a result looks."""
    places = {disc: place for place, disc in enumerate(result.discs)}
    several = len(result.plants) > 1
    return {
        arm: Look(places[arm.disc], STROKES.get(arm.plant, BROAD) if several else Stroke())
        for arm in result.arms
    }


def figure(
    size: tuple[float, float], rows: int = 1, columns: int = 1, *, apart: float = 0.02
) -> tuple[Figure, list[Axes]]:
    """An empty figure of `size` inches with `rows` times `columns` axes, so far `apart`."""
    made = Figure(figsize=size, layout=ConstrainedLayoutEngine(wspace=apart), facecolor="none")
    return made, made.subplots(rows, columns, squeeze=False).flatten().tolist()


def quieten(ax: Axes, grid: str = "y") -> None:
    """Take away what does not speak; `grid` is the axis along which values are read."""
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
            formatter.set_useOffset(False)  # nobody adds 99.99 to each number


def plain_numbers(axis: Axis) -> None:
    """Numbers as one writes them beside a logarithmic axis, some four to a picture; once its ends are set."""
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low)
    if decades < 1:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,), numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def plain(name: str) -> str:
    """A name as Matplotlib shows it letter by letter: no mathematics, and no label that it hides."""
    shown = name.replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown


def colour(place: int) -> str:
    """The colour of what stands at `place`."""
    return PALETTE[place % len(PALETTE)]


def label(ax: Axes, x: str, y: str) -> None:
    """Name the axes, with units."""
    ax.set_xlabel(x, color=MUTED, fontsize=FONT_PT)
    ax.set_ylabel(y, color=MUTED, fontsize=FONT_PT)


def legend(ax: Axes, *, above: bool) -> None:
    """A legend: above the picture where it is ours, inside axes that somebody else laid out."""
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
    """How much higher than with one row of a legend a picture must be, inches."""
    rows = math.ceil(len(labels) / _legend_columns(width_in, labels))
    return (rows - 1) * 1.6 * FONT_PT / 72


def warmup(ax: Axes, until: float) -> None:
    """Shade what comes before the measurement."""
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
    """A line where the schedule changes something."""
    ax.axvline(at, color=MUTED, linewidth=0.9, linestyle=(0, (2, 3)), zorder=1)


def _legend_columns(width_in: float, labels: Sequence[str]) -> int:
    longest = 0.55 * FONT_PT * max((len(text) for text in labels), default=1) + 60
    return max(1, min(len(labels), int(72 * width_in / longest)))
