"""What the pictures of a sweep say, in sentences, and pictures that suit a grid without its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError
from sojourn.result import words
from sojourn.sweep.about import THEORY, Picture, read_picture
from sojourn.sweep.claims import counted, judged

if TYPE_CHECKING:
    from sojourn.sweep import Sweep

__all__ = ["answers", "drawings", "pictures"]

#: Pictures of one kind on a page, at most, and sentences.
MOST = 24


def pictures(of: Sweep) -> list[Picture]:
    """The pictures of the grid; of one without, those that suit its axes."""
    given = [read_picture(one) for one in of.about.get("pictures", [])]
    return given or list(_suitable(of))


def drawings(of: Sweep, one: Picture) -> list[Mapping[str, Any]]:
    """Values of the other axes, for which a picture is drawn each; a curve or a cloud is drawn once."""
    if one.kind in ("curve", "cloud", "completion", "regression"):
        return [one.at]
    drawn = of.about.get("drawn", []) if one.kind == "sensitivity" else [one.x, one.y]
    return [dict(one.at) | at for at in _combinations(of, [*drawn, *one.at])]


def answers(of: Sweep) -> list[str]:
    """A sentence for each picture that has a claim, a line, or indices."""
    found: list[str] = []
    for one in pictures(of):
        found += sentences(of, one)
    return found[:MOST]


def sentences(of: Sweep, one: Picture) -> list[str]:
    """What a picture says; or the line why it says nothing. Raises `MissingError` without SALib."""
    try:
        return _sentences(of, one)
    except InputError as error:
        return [_capital(f"{error.lines[0]}.")]


def _sentences(of: Sweep, one: Picture) -> list[str]:
    match one.kind:
        case "map" if one.most is not None or one.least is not None:
            return _claims(of, one)
        case "sensitivity":
            return [_shares(of, one, at) for at in drawings(of, one)]
        case "regression":
            return _lines(of, one)
        case _:
            return []


def _claims(of: Sweep, one: Picture) -> list[str]:
    """At how many points each of the others is shown to hold a claim."""
    column = words.column_named(one.metric)
    bounds = [
        f"{sign} {bound * column.scale:.4g}{f' {column.unit}' if column.unit else ''}"
        for sign, bound in (("at most", one.most), ("at least", one.least))
        if bound is not None
    ]
    rows = judged(of, one.metric, one.most, one.least, at=one.at)
    others = [name for name in of.axes if name not in (one.x, one.y, *one.at)]
    varied = [name for name in others if rows[name].n_unique() > 1]
    claim = f"{_capital(column.short)} is {' and '.join(bounds)}"
    if not varied:
        return [f"{claim}: {counted(rows['verdict'].to_list())}."]
    parts = [
        f"{named(dict(zip(varied, key, strict=True)))} {counted(own['verdict'].to_list())}"
        for key, own in rows.group_by(varied, maintain_order=True)
    ]
    return [f"{claim}: {'; '.join(parts)}."]


def _shares(of: Sweep, one: Picture, at: Mapping[str, Any]) -> str:
    """Indices, the largest first."""
    found = _of_first_link(_at(of.sensitivity(one.metric), at)).sort("total", descending=True)
    parts = [
        f"{name} {_percent(first)} ± {_percent(half)} % ({_percent(total)} ± {_percent(other)} %)"
        for name, first, half, total, other in found.select(
            "axis", "first", "first_half", "total", "total_half"
        ).rows()
    ]
    where = f" ({named(at)})" if at else ""
    of_what = f"{words.column_named(one.metric).short}{where}"
    return f"Shares of the variance of {of_what}, alone (with interactions): {'; '.join(parts)}."


def _percent(share: float) -> str:
    return f"{round(100 * share)}"


def _lines(of: Sweep, one: Picture) -> list[str]:
    """Lines of a regression."""
    assert one.on is not None, "a regression is on a figure of theory"
    found = _of_first_link(of.regression(one.metric, one.on))
    name = found.columns[0]
    parts = [
        f"{row[name]}: {_measured(row, same=one.on == one.metric)} rank correlation "
        f"{row['rank_correlation']:.2f} over {row['n']} points (p {_p(row['p_holm'])})"
        for row in found.iter_rows(named=True)
    ]
    predictor = THEORY[one.on].partition(",")[0]
    return [f"{_capital(words.column_named(one.metric).short)} by {predictor}: {'; '.join(parts)}."]


def _measured(row: Mapping[str, Any], *, same: bool) -> str:
    share = f"R² {row['r_squared']:.2f},"
    if not same:
        return share
    return f"slope {row['slope']:.2f}, {share}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def named(at: Mapping[str, Any]) -> str:
    """Values of axes: a qdisc by itself, others with their names."""
    return ", ".join(
        str(value) if name == "qdisc" else f"{name} {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in at.items()
    )


def _at(rows: pl.DataFrame, at: Mapping[str, Any]) -> pl.DataFrame:
    for name, value in at.items():
        rows = rows.filter(pl.col(name) == value)
    return rows


def _of_first_link(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("link").eq_missing(rows["link"][0])) if rows.height else rows


def _combinations(of: Sweep, taken: Sequence[str | None]) -> Iterator[dict[str, Any]]:
    """Values of the axes that vary and are not taken, in the order of the plan."""
    left = [name for name in of.axes if name not in taken and of.plan[name].n_unique() > 1]
    if not left:
        yield {}
        return
    yield from of.plan.select(left).unique(maintain_order=True).to_dicts()


def _suitable(of: Sweep) -> Iterator[Picture]:
    """Pictures of a grid that names none."""
    if (of.about.get("sample") or {}).get("method") == "saltelli":
        yield Picture("sensitivity", "queue_mean_packets")
    drawn = of.about.get("drawn", [])
    numeric = [
        name
        for name in of.axes
        if name not in drawn and of.plan[name].dtype.is_numeric() and of.plan[name].n_unique() > 1
    ]
    numeric.sort(key=lambda name: -of.plan[name].n_unique())
    rest = [name for name in of.axes if of.plan[name].n_unique() > 1 and name not in drawn]
    across = [*numeric, *(name for name in rest if name not in numeric)][:1]
    if not drawn:
        for metric in ("queue_mean_packets", "sojourn_p95_s", "utilization"):
            yield from (Picture("curve", metric, x=name) for name in across)
    if len(numeric) > 1 and not drawn:
        others = itertools.islice(_combinations(of, numeric[:2]), MOST + 1)
        if len(list(others)) <= MOST:
            yield Picture("map", "sojourn_p95_s", x=numeric[0], y=numeric[1])
    yield Picture("cloud", "sojourn_mean_s", y="utilization")
