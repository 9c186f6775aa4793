"""Pictures of a sweep: curves over an axis, maps over two, clouds of two metrics."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from sojourn.errors import InputError
from sojourn.kinds import optional, shown, text
from sojourn.plot import style
from sojourn.plot.paper import Sized, picture
from sojourn.result import words
from sojourn.result.statistics import regress
from sojourn.sweep.claims import OPEN, bounds, judged
from sojourn.sweep.pictures import THEORY, line_kinds
from sojourn.sweep.quantities import quantity

if TYPE_CHECKING:
    from sojourn.result.column import Column
    from sojourn.sweep import Sweep

#: Sizes of pictures, inches.
SIZE, SQUARE = (7.2, 4.2), (7.2, 5.0)
#: Most curves that a legend names, and most cells along an axis of a map that have their number.
MOST_NAMED, MOST_NUMBERED = 14, 12

Row = Mapping[str, Any]


class Plots(Sized):
    """Pictures of a sweep. Each takes the caller's axes or makes its own, and returns them.

    For print each has a `width` and a `style`, as those of results have.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._of = sweep

    @picture(metric=text, x=text, link=optional(text))
    def curve(
        self, metric: str, x: str, *, link: str | None = None, ax: Axes | None = None, **at: object
    ) -> Axes:
        """Mean of a metric over an axis, with 95 % intervals: a curve for each point of the others.

        `at` chooses values of other axes, such as ``qdisc="pi"``; `link` is by default the first. More than
        14 curves are thin, in a colour for each value of the first of the other axes. Raises `InputError`.
        """
        rows, column = self._rows(metric, (x,), link, at)
        ax, own = self._axes(ax, SIZE)
        others = [name for name in self._varied(rows) if name != x]
        places, unit = self._places(rows, x)
        curves = [(key, list(of)) for key, of in self._grouped(rows, others)]
        many = len(curves) > MOST_NAMED
        kinds = list(dict.fromkeys(key[:1] if many else key for key, _ in curves))
        for key, of in curves:
            place = kinds.index(key[:1] if many else key)
            across = [places[row[x]] for row in of]
            mean = np.array([row["mean"] * column.scale for row in of])
            low, high = (
                np.clip([_or_nan(row[end]) * column.scale for row in of], column.least, column.most)
                for end in ("ci95_low", "ci95_high")
            )
            look = style.Look(place, style.Stroke(width=style.THIN if many else style.LINE))
            named = ", ".join(kinds[place])
            # Curves of one kind have one entry of the legend.
            again = named in ax.get_legend_handles_labels()[1]
            label = f"_{named}" if again else style.plain(named)
            ax.plot(across, mean, linestyle=look.dash, label=label, **look.line)
            if not many:
                ax.fill_between(across, low, high, color=look.colour, alpha=style.BAND_ALPHA, linewidth=0)
        _ticks(ax, places)
        style.quieten(ax)
        style.label(ax, f"{x}{unit}", column.long)
        if others and len(kinds) <= MOST_NAMED:
            style.legend(ax, above=own)
        return ax

    @picture(metric=text, x=text, y=text, link=optional(text))
    def map(
        self,
        metric: str,
        x: str,
        y: str,
        *,
        most: float | str | None = None,
        least: float | str | None = None,
        link: str | None = None,
        ax: Axes | None = None,
        **at: object,
    ) -> Axes:
        """Mean of a metric over two axes as shades, with its number where there are few cells.

        `most` and `least`, in the metric's own unit or texts such as ``"20 ms"``, are a claim: its border is
        drawn between the means, and the number of a point that is not shown to be on its side
        (`Sweep.claim`) has a question mark. Points that failed have a cross. `at` chooses values of the other
        axes, of which there may be no other with several values. Raises `InputError`.
        """
        rows, column = self._rows(metric, (x, y), link, at)
        high, low = bounds(metric, most, least)
        left = [name for name in self._varied(rows) if name not in (x, y)]
        if left:
            expected = f"expected one of them, such as {left[0]}={rows[0][left[0]]!r}"
            raise InputError(f"{left[0]}: has several values, and a map is of one; {expected}")
        ax, _ = self._axes(ax, SQUARE)
        # All points of the plan: some have failed.
        points = judged(self._of, metric, high, low, link=rows[0]["link"], at=at)
        for name in self._of.axes:
            if name not in (x, y):
                points = points.filter(pl.col(name).eq_missing(rows[0][name]))
        of = points.to_dicts()
        across, up = ([*self._places(of, name)[0]] for name in (x, y))
        values = np.full((len(up), len(across)), np.nan)
        texts = np.full(values.shape, "-", dtype=object)
        for row in of:
            place = up.index(row[y]), across.index(row[x])
            if row["verdict"] == "failed":
                texts[place] = "×"
            elif row["mean"] is not None:
                values[place] = row["mean"]
                is_open = row["verdict"] in OPEN and (high is not None or low is not None)
                texts[place] = f"{column.scale * row['mean']:.3g}{' ?' if is_open else ''}"
        shades = LinearSegmentedColormap.from_list("values", [style.PAPER, style.colour(0)])
        ax.pcolormesh(column.scale * values, cmap=shades, edgecolors=style.RULE, linewidth=style.THIN)
        if max(values.shape) <= MOST_NUMBERED:
            for place in np.ndindex(values.shape):
                ax.text(
                    place[1] + 0.5, place[0] + 0.5, texts[place], ha="center", va="center", color=style.INK
                )
        for line in _border(values, high, low):
            ax.plot(*line, color=style.INK, linewidth=2.2)
        ax.set_xticks(np.arange(len(across)) + 0.5, [self._of.written(x, one) for one in across])
        ax.set_yticks(np.arange(len(up)) + 0.5, [self._of.written(y, one) for one in up])
        style.quieten(ax)
        ax.grid(visible=False)
        style.label(ax, x, y)
        ax.set_title(style.plain(column.long), color=style.MUTED, fontsize=style.FONT_PT, loc="left")
        return ax

    @picture(x=text, y=text, link=optional(text))
    def cloud(
        self,
        x: str = "sojourn_mean_s",
        y: str = "utilization",
        *,
        link: str | None = None,
        ax: Axes | None = None,
        **at: object,
    ) -> Axes:
        """Means of two metrics, a mark for each point of the grid, coloured by the qdisc.

        Raises `InputError`.
        """
        rows, column = self._rows(x, (), link, at)
        others, ordinate = self._rows(y, (), link, at)
        ax, own = self._axes(ax, SIZE)
        key = [*self._of.axes, "spec", "link"]
        heights = {tuple(row[name] for name in key): row["mean"] for row in others}
        kinds = ["qdisc"] if "qdisc" in self._of.axes else ["spec"]
        for place, (names, of) in enumerate(self._grouped(rows, kinds)):
            points = [
                (row["mean"] * column.scale, heights[at_row] * ordinate.scale)
                for row in of
                if (at_row := tuple(row[name] for name in key)) in heights
            ]
            marks: dict[str, Any] = {"linestyle": "none", "marker": "osD^vPX"[place % 7], "markersize": 5}
            ax.plot(
                *zip(*points, strict=True), color=style.colour(place), label=style.plain(names[0]), **marks
            )
        style.quieten(ax)
        ax.margins(x=0.05)
        style.label(ax, column.long, ordinate.long)
        style.legend(ax, above=own)
        return ax

    @picture(metric=text, x=text, link=optional(text))
    def completion(
        self,
        metric: str = "fct_mean_s",
        x: str = "size",
        *,
        link: str | None = None,
        ax: Axes | None = None,
        **at: object,
    ) -> Axes:
        """Completion times over an axis of sizes, both logarithmic: a curve for each point of the others.

        Arguments as those of `curve`. Raises `InputError`.
        """
        drawn = self.curve(metric, x, link=link, ax=ax, **at)
        drawn.set_xscale("log")
        drawn.set_yscale("log")
        for axis in (drawn.xaxis, drawn.yaxis):
            style.plain_numbers(axis)
        return drawn

    @picture(metric=text, on=text, link=optional(text))
    def regression(
        self, metric: str, on: str, *, link: str | None = None, ax: Axes | None = None, **at: object
    ) -> Axes:
        """Means of a metric over a figure of the certificates, with a line by least squares for each qdisc.

        Where theory predicts the metric itself, the thin line is equality. `on` is a column of
        `Sweep.theory`. Raises `InputError`.
        """
        if on not in THEORY:
            raise InputError(f"on: {shown(on)} is no figure of theory; expected {', '.join(THEORY)}")
        rows, column = self._rows(metric, (), link, at)
        axes = self._of.axes
        predicted = {
            tuple(row[name] for name in axes): row[on] for row in self._of.theory().iter_rows(named=True)
        }
        ax, own = self._axes(ax, SIZE)
        kinds = line_kinds(self._of)
        ends: list[float] = []
        for place, (names, of) in enumerate(self._grouped(rows, kinds)):
            places = [(predicted.get(tuple(row[name] for name in axes)), row["mean"]) for row in of]
            known = [(x, y * column.scale) for x, y in places if x is not None]
            if not known:
                continue
            across, up = map(list, zip(*known, strict=True))
            marks: dict[str, Any] = {"linestyle": "none", "marker": "osD^vPX"[place % 7], "markersize": 5}
            ax.plot(across, up, color=style.colour(place), label=style.plain(", ".join(names)), **marks)
            ends += across
            line = regress(across, up)
            if line is not None:
                of_line = [min(across), max(across)]
                heights = [line.intercept + line.slope * end for end in of_line]
                ax.plot(of_line, heights, color=style.colour(place), linewidth=style.LINE)
        if on == metric and ends:
            sides = [min(ends), max(ends)]
            ax.plot(sides, [side * column.scale for side in sides], color=style.MUTED, linewidth=style.THIN)
        style.quieten(ax)
        ax.margins(x=0.05)
        style.label(ax, THEORY[on], column.long)
        style.legend(ax, above=own)
        return ax

    @picture(metric=text, link=optional(text))
    def sensitivity(
        self, metric: str, *, link: str | None = None, ax: Axes | None = None, **at: object
    ) -> Axes:
        """Sobol's indices of a metric, alone and with interactions, with their 95 % intervals.

        `at` chooses values of axes that are not drawn, of which there may be no other with several. Raises
        `InputError` and `MissingError`.
        """
        found = self._of.sensitivity(metric)
        for name, value in at.items():
            if name not in found.columns or not found.filter(pl.col(name) == value).height:
                raise InputError(f"{name}: {shown(value)} is at no index; expected a value of an axis")
            found = found.filter(pl.col(name) == value)
        links = found["link"].unique(maintain_order=True).to_list()
        found = found.filter(pl.col("link").eq_missing(link or links[0]))
        if found.height > found["axis"].n_unique():
            raise InputError("at: indices are of one point; expected a value of each axis that is not drawn")
        ax, own = self._axes(ax, (SIZE[0], 1.2 + 0.55 * found.height))
        up = np.arange(found.height)[::-1]
        for place, (key, title) in enumerate((("first", "alone"), ("total", "with its interactions"))):
            ax.barh(
                up + 0.18 - 0.36 * place,
                found[key].to_numpy(),
                height=0.32,
                xerr=found[f"{key}_half"].to_numpy(),
                color=style.colour(place),
                error_kw={"ecolor": style.INK, "elinewidth": style.THIN, "capsize": 2},
                label=title,
            )
        ax.set_yticks(up, [style.plain(name) for name in found["axis"]])
        style.quieten(ax, "x")
        ends = [found[f"{key}_half"] for key in ("first", "total")]
        ax.set_xlim(
            min(0.0, *(found["first"] - ends[0])),
            1.02 * max(0.01, *(found["first"] + ends[0]), *(found["total"] + ends[1])),
        )
        style.label(ax, f"share of the variance of {words.column_named(metric).short}", "")
        style.legend(ax, above=own)
        return ax

    def _rows(
        self, metric: str, named: Sequence[str], link: str | None, at: Mapping[str, object]
    ) -> tuple[list[dict[str, Any]], Column]:
        """Means of a metric at the points that `at` chooses, of one link; and its column."""
        for name in (*named, *at):
            if name not in self._of.axes:
                raise InputError(f"{name}: is no axis; expected one of {', '.join(self._of.axes)}")
        found = self._of.summary(metric)
        for name, value in at.items():
            levels = found[name].unique(maintain_order=True).to_list()
            if value not in levels:
                raise InputError(f"{name}: {shown(value)} is not on the axis; expected one of {levels}")
            found = found.filter(pl.col(name) == value)
        links = found["link"].unique(maintain_order=True).to_list()
        if link is not None and link not in links:
            raise InputError(f"link: {shown(link)} has no values; expected one of {links}")
        rows = found.filter(pl.col("link").eq_missing(link or (links[0] if links else None))).to_dicts()
        if not rows:
            raise InputError(f"metric: no cell has {metric}")
        return rows, words.column_named(metric)

    def _grouped(
        self, rows: Sequence[Row], names: Sequence[str]
    ) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
        """Rows by the values of these columns, in their order."""
        found: dict[tuple[str, ...], list[Row]] = {}
        for row in rows:
            found.setdefault(tuple(self._of.written(name, row[name]) for name in names), []).append(row)
        yield from found.items()

    def _places(self, rows: Sequence[Row], name: str) -> tuple[dict[Any, float], str]:
        """Places of the values of an axis, in its unit, or their order if they are no numbers; ``, unit``."""
        values = list(dict.fromkeys(row[name] for row in rows))
        if not all(map(_is_number, values)):
            return {value: float(place) for place, value in enumerate(values)}, ""
        unit = (self._of.about.get("units") or {}).get(name)
        one = quantity(f"1 {unit}")
        scale = 1.0 if one is None else one.value
        return {value: value / scale for value in sorted(values)}, "" if one is None else f", {unit}"

    def _varied(self, rows: Sequence[Row]) -> list[str]:
        """Axes with several values among these rows."""
        return [name for name in self._of.axes if len({row[name] for row in rows}) > 1]

    def _axes(self, ax: Axes | None, size: tuple[float, float]) -> tuple[Axes, bool]:
        return (self._figure(size)[1][0], True) if ax is None else (ax, False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ticks(ax: Axes, places: Mapping[Any, float]) -> None:
    """Names at the places of values that are no numbers; factors on a logarithmic axis."""
    if not all(map(_is_number, places)):
        ax.set_xticks(list(places.values()), [_name(one) for one in places])
        return
    low, high = min(places.values()), max(places.values())
    if low > 0 and high / low >= 10:
        ax.set_xscale("log")
        ax.set_xlim(low, high)
        style.plain_numbers(ax.xaxis)


def _border(
    values: np.ndarray[Any, np.dtype[np.float64]], most: float | None, least: float | None
) -> Iterator[tuple[list[int], list[int]]]:
    """Sides of cells between those that meet a claim and those that do not."""
    if most is None and least is None:
        return
    meets = np.ones(values.shape, dtype=bool)
    if most is not None:
        meets &= values <= most
    if least is not None:
        meets &= values >= least
    known = ~np.isnan(values)
    for row, column in itertools.product(*map(range, values.shape)):
        for down, right in ((1, 0), (0, 1)):
            other = row + down, column + right
            if other[0] >= values.shape[0] or other[1] >= values.shape[1]:
                continue
            if known[row, column] and known[other] and meets[row, column] != meets[other]:
                ends = ([column, column + 1], [row + 1] * 2) if down else ([column + 1] * 2, [row, row + 1])
                yield ends


def _name(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
