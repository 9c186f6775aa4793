"""Kinds of pictures: for each the keys that a grid gives, how it is drawn, what it says, and its caption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from sojourn.result import words
from sojourn.sweep.claims import counted, judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sojourn.sweep import Sweep

__all__ = ["KINDS", "THEORY", "Kind", "Picture", "combinations", "line_kinds", "named"]

#: Figures of a certificate, on which a metric may be regressed, with their names in pictures.
THEORY = {
    "phase_margin_deg": "phase margin, degrees",
    "gain_margin": "gain margin",
    "delay_margin_s": "delay margin, s",
    "modulus_margin": "modulus margin",
    "crossover_rad_s": "crossover, rad/s",
    "queue_mean_packets": "predicted queue mean, packets",
    "queue_std_packets": "predicted queue deviation, packets",
    "p": "predicted p",
}
At = Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """A picture of a sweep."""

    #: A name of `KINDS`.
    kind: str
    metric: str
    #: Axes of a map, a curve or completion times; `y` of a cloud is its other metric.
    x: str | None = None
    y: str | None = None
    #: Figure of a certificate.
    on: str | None = None
    #: The claim of a map, in the metric's unit.
    most: float | None = None
    least: float | None = None
    #: Values of other axes.
    at: At = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as keys of a grid."""
        keys = {name: value for name, value in asdict(self).items() if value not in (None, {})}
        return {keys.pop("kind"): keys.pop("metric")} | keys

    @property
    def given(self) -> dict[str, Any]:
        """Arguments of the method of `Plots` that the kind has, but for the metric and values of axes."""
        keys = {"x": self.x, "y": self.y, "on": self.on, "most": self.most, "least": self.least}
        return {name: value for name, value in keys.items() if value is not None}


class Kind:
    """A kind of pictures."""

    #: Keys that a grid must give, and those that it may.
    needed: ClassVar[tuple[str, ...]] = ()
    allowed: ClassVar[tuple[str, ...]] = ()

    def places(self, of: Sweep, one: Picture) -> list[At]:  # noqa: ARG002
        """Values of the other axes, for which it is drawn each; by default it is drawn once."""
        return [one.at]

    def draw(self, of: Sweep, one: Picture, at: At) -> Axes:
        """Draw it by the method of `Plots` that has its name. Raises `InputError`."""
        axes: Axes = getattr(of.plot, one.kind)(one.metric, **one.given, **at)
        return axes

    def say(self, of: Sweep, one: Picture) -> list[str]:  # noqa: ARG002
        """Sentences on what it shows; none by default. Raises `InputError`."""
        return []

    def caption(self, one: Picture) -> str:
        """The line under it."""
        raise NotImplementedError


class Map(Kind):
    """Shades over two axes, with the border of a claim."""

    needed = ("x", "y")
    allowed = ("most", "least")

    def places(self, of: Sweep, one: Picture) -> list[At]:
        return [dict(one.at) | at for at in combinations(of, [one.x, one.y, *one.at])]

    def say(self, of: Sweep, one: Picture) -> list[str]:
        """At how many points each of the others is shown to hold the claim."""
        if one.most is None and one.least is None:
            return []
        column = words.column_named(one.metric)
        bounds = [
            f"{sign} {bound * column.scale:.4g}{f' {column.unit}' if column.unit else ''}"
            for sign, bound in (("at most", one.most), ("at least", one.least))
            if bound is not None
        ]
        rows = judged(of, one.metric, one.most, one.least, at=one.at)
        others = [name for name in of.axes if name not in (one.x, one.y, *one.at)]
        varied = [name for name in others if rows[name].n_unique() > 1]
        claim = f"{capital(column.short)} is {' and '.join(bounds)}"
        if not varied:
            return [f"{claim}: {counted(rows['verdict'].to_list())}."]
        parts = [
            f"{named(of, dict(zip(varied, key, strict=True)))} {counted(own['verdict'].to_list())}"
            for key, own in rows.group_by(varied, maintain_order=True)
        ]
        return [f"{claim}: {'; '.join(parts)}."]

    def caption(self, one: Picture) -> str:
        if one.most is None and one.least is None:
            return "Means over the seeds."
        return (
            "Means over the seeds; the line is the border of the claim, and a question mark a mean whose "
            "95 % interval does not show its side."
        )


class Curve(Kind):
    """Means over an axis."""

    needed = ("x",)

    def caption(self, one: Picture) -> str:  # noqa: ARG002
        return "Means over the seeds, with their 95 % intervals (Student's t)."


class Completion(Curve):
    """Completion times over an axis of sizes."""


class Cloud(Kind):
    """Means of two metrics."""

    needed = ("y",)

    def caption(self, one: Picture) -> str:  # noqa: ARG002
        return "A mark for each point: means over the seeds."


class Regression(Kind):
    """Means over a figure of the certificates."""

    needed = ("on",)

    def say(self, of: Sweep, one: Picture) -> list[str]:
        """The lines, of each qdisc."""
        assert one.on is not None, "a regression is on a figure of theory"
        found = _of_first_link(of.regression(one.metric, one.on))
        names = line_kinds(of)
        same = one.on == one.metric
        parts = [
            f"{', '.join(row[name] for name in names)}: "
            f"{self._slope(row) if same else ''}R² {row['r_squared']:.2f}, "
            f"rank correlation {row['rank_correlation']:.2f} over {row['n']} points (p {_p(row['p_holm'])})"
            for row in found.iter_rows(named=True)
        ]
        predictor = THEORY[one.on].partition(",")[0]
        return [f"{capital(words.column_named(one.metric).short)} by {predictor}: {'; '.join(parts)}."]

    @staticmethod
    def _slope(row: Mapping[str, Any]) -> str:
        return f"slope {row['slope']:.2f}, "

    def caption(self, one: Picture) -> str:
        same = " The thin line is equality." if one.on == one.metric else ""
        return f"A mark for each point; lines by least squares.{same}"


class Sensitivity(Kind):
    """Sobol's indices."""

    def places(self, of: Sweep, one: Picture) -> list[At]:
        drawn = of.about.get("drawn", [])
        return [dict(one.at) | at for at in combinations(of, [*drawn, *one.at])]

    def say(self, of: Sweep, one: Picture) -> list[str]:
        """Indices at each place, the largest first."""
        return [self._shares(of, one, at) for at in self.places(of, one)]

    @staticmethod
    def _shares(of: Sweep, one: Picture, at: At) -> str:
        found = of.sensitivity(one.metric)
        for name, value in at.items():
            found = found.filter(pl.col(name) == value)
        found = _of_first_link(found).sort("total", descending=True)
        parts = [
            f"{name} {_percent(first)} ± {_percent(half)} % ({_percent(total)} ± {_percent(other)} %)"
            for name, first, half, total, other in found.select(
                "axis", "first", "first_half", "total", "total_half"
            ).rows()
        ]
        where = f" ({named(of, at)})" if at else ""
        of_what = f"{words.column_named(one.metric).short}{where}"
        return f"Shares of the variance of {of_what}, alone (with interactions): {'; '.join(parts)}."

    def caption(self, one: Picture) -> str:  # noqa: ARG002
        return (
            "Sobol's indices: shares of the variance over all axes, with 95 % intervals by bootstrap. "
            "Shares alone add up to 1 less that of the interactions."
        )


#: Kinds by the keys that name them in a grid, and the methods of `Plots` that draw them.
KINDS: dict[str, Kind] = {
    "map": Map(),
    "curve": Curve(),
    "cloud": Cloud(),
    "completion": Completion(),
    "regression": Regression(),
    "sensitivity": Sensitivity(),
}


def line_kinds(of: Sweep) -> list[str]:
    """Columns that distinguish the lines of regressions: the qdisc, and the plant where there are two."""
    plants = ["plant"] if of.plan["plant"].n_unique() > 1 else []
    return [*(["qdisc"] if "qdisc" in of.axes else ["spec"]), *plants]


def combinations(of: Sweep, taken: Sequence[str | None]) -> Iterator[dict[str, Any]]:
    """Values of the axes that vary and are not taken, in the order of the plan."""
    left = [name for name in of.axes if name not in taken and of.plan[name].n_unique() > 1]
    if not left:
        yield {}
        return
    yield from of.plan.select(left).unique(maintain_order=True).to_dicts()


def named(of: Sweep, at: At) -> str:
    """Values of axes: a qdisc by itself, others with their names."""
    texts = {name: of.written(name, value) for name, value in at.items()}
    return ", ".join(text if name == "qdisc" else f"{name} {text}" for name, text in texts.items())


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return f"{text[:1].upper()}{text[1:]}"


def _of_first_link(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("link").eq_missing(rows["link"][0])) if rows.height else rows


def _percent(share: float) -> str:
    return f"{round(100 * share)}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
