"""Pictures for print: the widths of a journal's columns, and styles of its text."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, Self, TypedDict, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from sojourn.errors import InputError
from sojourn.kinds import Kind, instance, one_of_kind, optional, takes
from sojourn.plot import style as looks
from sojourn.plot.style import FONT_PT

__all__ = ["STYLES", "WIDTHS", "Paper", "Sized", "picture"]

P = ParamSpec("P")

#: Axes to draw into.
AXES = optional(instance(Axes, "Matplotlib axes; expected such as Figure().subplots()"))
#: Sizes, inches: the width of a column, or of a page of two; a picture may have a height of its own.
WIDTHS = {"column": (3.5, 2.4), "page": (7.16, 2.7)}
#: Size of text in print, points.
PRINT_PT = 8.0
#: A picture is laid out for the usual size of text, and shrunk by this factor.
SHRUNK = PRINT_PT / FONT_PT


@dataclass(frozen=True)
class Style:
    """Text of a journal."""

    #: Fonts in order of preference; Matplotlib has all of them, as TrueType.
    family: tuple[str, ...]
    ink: str


STYLES = {"ieee": Style(("STIXGeneral", "DejaVu Sans"), "black")}


class Paper(TypedDict, total=False):
    """Arguments of every picture beside its own: one of `WIDTHS`, and one of `STYLES`."""

    width: str | None
    style: str | None


class Drawing(Protocol):
    """Pictures that can be of other sizes."""

    def _sized(self, size: tuple[float, float]) -> Self:
        """The pictures for a sheet of this width and height, inches."""


class Sized:
    """Pictures that have sizes of their own, and are as wide as a sheet if there is one."""

    #: Width of the sheet, inches; None: each picture has its own.
    _across: float | None = None

    def _sized(self, size: tuple[float, float]) -> Self:
        """The pictures for a sheet of this width, inches; they keep their heights."""
        other = copy.copy(self)
        other._across = size[0]
        return other

    def _figure(self, size: tuple[float, float], rows: int = 1) -> tuple[Figure, list[Axes]]:
        """A figure for a picture of `size`, inches, with `rows` axes."""
        return looks.figure((self._across or size[0], size[1]), rows)


def picture(**kinds: Kind) -> Callable[[Callable[P, Axes]], Callable[P, Axes]]:
    """Make a method of pictures draw for print as well, with the arguments of `Paper`.

    The other arguments are checked as `takes` does, the axes among them.
    """

    def decorate(method: Callable[P, Axes]) -> Callable[P, Axes]:
        checked = takes(ax=AXES, **kinds)(method)

        @functools.wraps(method)
        def drawn(*args: P.args, **kwargs: P.kwargs) -> Axes:
            plots, *given = cast("tuple[Drawing, ...]", args)
            named: dict[str, Any] = dict(kwargs)
            sheet = _sheet(named.pop("width", None), named.pop("style", None), named.get("ax"))
            draw = cast("Callable[..., Axes]", checked)
            if sheet is None:
                return draw(plots, *given, **named)
            return sheet.shrunk(draw(sheet.enlarged(plots), *given, **named))

        drawn.__signature__ = _signature(method)  # type: ignore[attr-defined]
        return drawn

    return decorate


def _signature(method: Callable[..., Axes]) -> inspect.Signature:
    """That of a method, with the arguments of `Paper` one by one."""
    found = inspect.signature(method)
    own = [one for one in found.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    rest = [one for one in found.parameters.values() if one not in own and one.name != "_paper"]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
        for name in Paper.__annotations__
    ]
    return found.replace(parameters=[*own, *more, *rest])


def _sheet(width: object, style: object, ax: object) -> _Sheet | None:
    """The sheet of given arguments; None: a picture of the usual size. Raises `ArgumentError`."""
    width = one_of_kind("width", optional(_one_of(WIDTHS)), width)
    style = one_of_kind("style", optional(_one_of(STYLES)), style)
    if width is not None and ax is not None:
        raise InputError("width: the axes have a figure already; expected width or ax, not both")
    if width is None and style is None:
        return None
    size = WIDTHS[str(width) if width is not None else "column"]
    return _Sheet(None if ax is not None else size, None if style is None else STYLES[str(style)])


def _one_of(names: Iterable[str]) -> Kind:
    """A kind of texts: one of some names."""

    def kind(value: object) -> str:
        if not isinstance(value, str) or value not in names:
            raise TypeError(f"is unknown; expected {' or '.join(names)}")
        return value

    return kind


@dataclass(frozen=True)
class _Sheet:
    #: Width and height, inches; None: the caller's axes.
    size: tuple[float, float] | None
    style: Style | None

    def enlarged(self, plots: Drawing) -> Drawing:
        """The pictures for a sheet that is this one once it is shrunk."""
        if self.size is None:
            return plots
        width, height = self.size
        return plots._sized((width / SHRUNK, height / SHRUNK))

    def shrunk(self, ax: Axes) -> Axes:
        """The picture shrunk, and its text in the style."""
        figure = ax.get_figure(root=True)
        whole = self.size is not None and figure is not None
        parts: Artist = figure if whole and figure is not None else ax
        for part in parts.findobj():
            self._shrink(part)
        for one in figure.axes if whole and figure is not None else [ax]:
            self._shrink_ticks(one)
        if whole and figure is not None:
            figure.set_size_inches(*(side * SHRUNK for side in figure.get_size_inches()))
        return ax

    def _shrink(self, part: Artist) -> None:
        if isinstance(part, Text):
            part.set_fontsize(float(part.get_fontsize()) * SHRUNK)
            if self.style is not None:
                part.set_fontfamily(self.style.family)
                part.set_color(self.style.ink)
        elif isinstance(part, Line2D):
            part.set_linewidth(part.get_linewidth() * SHRUNK)
            part.set_markersize(part.get_markersize() * SHRUNK)
        elif isinstance(part, Patch):
            part.set_linewidth(part.get_linewidth() * SHRUNK)
        elif isinstance(part, Collection):
            part.set_linewidth([width * SHRUNK for width in np.atleast_1d(part.get_linewidth())])

    def _shrink_ticks(self, ax: Axes) -> None:
        """Numbers that are made when the picture is drawn; fixed labels are there already."""
        for axis in (ax.xaxis, ax.yaxis):
            if isinstance(axis.get_major_formatter(), FixedFormatter):
                continue
            axis.set_tick_params(labelsize=PRINT_PT)
            if self.style is not None:
                axis.set_tick_params(labelfontfamily=list(self.style.family), labelcolor=self.style.ink)
