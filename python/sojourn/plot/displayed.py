"""Figures and axes that notebooks show as the value of a cell, without pyplot."""

from __future__ import annotations

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.figure import Figure

#: Pixels per inch of a picture in a notebook, and of the PNG, which is sharp on dense screens.
SHOWN_DPI, PNG_DPI = 96, 192
#: Background: notebooks may be dark, and labels are not.
BACKGROUND = "white"


class ShownFigure(Figure):
    """A figure that a notebook shows."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return png(self)


class ShownAxes(Axes):
    """Axes whose whole figure a notebook shows."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        drawn = self.get_figure(root=True)
        return None if drawn is None else png(drawn)


def png(drawn: Figure) -> tuple[bytes, dict[str, int]]:
    """A figure as PNG, and its size in a notebook, pixels."""
    file = BytesIO()
    drawn.savefig(file, format="png", dpi=PNG_DPI, facecolor=BACKGROUND)
    width, height = (round(SHOWN_DPI * side) for side in drawn.get_size_inches())
    return file.getvalue(), {"width": width, "height": height}
