"""The picture of RRUL as Flent's users know it: download, upload and ping over time."""

from __future__ import annotations

from sojourn.plot import Plots, style
from sojourn.report.parts import pictures
from sojourn.result import Result

#: Sizes of the picture, inches, for pages of several widths.
SIZES = {"wide": (14.5, 7.2), "middle": (8.8, 6.6), "narrow": (5.1, 6.6)}
#: Endings of the classes of a test, and what each of its panels shows.
PANELS = (("-down", "download"), ("-up", "upload"), ("-ping", "ping"))


def stem(result: Result) -> str | None:
    """Name of the test that the result has, such as ``rrul``; None: it has none."""
    stems = (name.removesuffix("-down") for name in result.classes if name.endswith("-down"))
    return next((one for one in stems if all(f"{one}{end}" in result.classes for end, _ in PANELS)), None)


def section(result: Result) -> str:
    """The picture; empty without a test."""
    name = stem(result)
    if name is None or result.series.is_empty():
        return ""
    plots, drawn = Plots(result), {}
    for kind, size in SIZES.items():
        _, axes = style.figure(size, len(PANELS), 1, apart=0.12, above=0.04)
        for ax, (end, title) in zip(axes, PANELS, strict=True):
            draw = plots.ping if end == "-ping" else plots.goodput
            draw(f"{name}{end}", ax=ax)
            ax.set_ylabel(f"{title}, {ax.get_ylabel().partition(', ')[2]}")
            if ax is not axes[0] and (legend := ax.get_legend()):
                legend.remove()
            if ax is not axes[-1]:
                ax.set_xlabel("")
        drawn[kind] = axes[0]
    alt = f"Download, upload and ping of {name} over time under each qdisc."
    return f'<figure id="rrul">{pictures("rrul", alt, drawn)}</figure>\n'
