"""Columns of a table in which all qdiscs have the same: one line in place of a column."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.report import wording
from sojourn.result import Result, words
from sojourn.result.column import Column


def split(result: Result, columns: Sequence[Column]) -> tuple[list[Column], str]:
    """The columns in which the means of the qdiscs differ to three digits, and a sentence on the others.

    Empty columns are left out. A single qdisc keeps all others.
    """
    varied: list[Column] = []
    same: list[str] = []
    for column in columns:
        texts = _texts(result, column)
        if len(result.variants) > 1 and len(texts) == 1 and "" not in texts:
            same.append(f"{column.short} {texts.pop()}")
        elif texts != {""}:
            varied.append(column)
    return varied, f"Under every qdisc: {wording.both(same)}." if same else ""


def _texts(result: Result, column: Column) -> set[str]:
    """Different means of the column, to three digits; an empty one for a qdisc without the metric."""
    found = [words.scaled(result, variant, column) for variant in result.variants]
    if column.unit == "%":
        return {"" if mean is None else wording.percent(mean) for mean in found}
    unit = f" {column.unit}" if column.unit else ""
    return {"" if mean is None else f"{wording.plain(mean)}{unit}" for mean in found}
