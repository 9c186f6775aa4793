"""Published runs of Linux with CUBIC alone: each number lies where a run of ours may lie.

`tests/reference/published/bounds.csv` has the intervals, from the spread of our seeds; `peers/published.py`
writes it anew. A few seeds are run here, so that the intervals are those of the program as it is.
"""

from __future__ import annotations

import csv
import math
from functools import cache

import pytest

from published import BOUNDS, Row, Value, rows

#: Of the seeds of the bounds, the first few.
SEEDS = range(1, 4)
SLOW_START = "Linux leaves slow start at once where the delay grows: docs/deviations/linux.md"
WHOLE = "the kernel's CUBIC counts whole segments: docs/deviations/linux.md"
#: row, value -> the mechanism; docs/deviations/linux.md has the run that differs in it alone.
NOT_MET: dict[tuple[str, str], str] = {
    ("codel 20 Mbit/s 40 ms", "goodput_bps"): WHOLE,
    ("codel 20 Mbit/s 40 ms", "sojourn_mean_s"): WHOLE,
    ("codel 20 Mbit/s 5 ms", "sojourn_mean_s"): WHOLE,
    ("requests 10 ms beside cubic", "fct_p50_s of requests"): SLOW_START,
    ("requests 10 ms beside cubic", "fct_p95_s of requests"): SLOW_START,
    ("requests 80 ms beside cubic", "fct_p50_s of requests"): SLOW_START,
    ("requests 80 ms beside cubic", "fct_p95_s of requests"): SLOW_START,
    ("requests 160 ms alone", "fct_p50_s"): SLOW_START,
}


@cache
def ours(name: str) -> dict[str, list[float]]:
    return next(row for row in rows() if row.name == name).run(SEEDS)


@cache
def interval(row: str, value: str) -> dict[str, float]:
    with BOUNDS.open() as file:
        [line] = [line for line in csv.DictReader(file) if (line["row"], line["metric"]) == (row, value)]
    return {key: float(line[key]) for key in ("published", "n", "mean", "sd", "low", "high")}


def cases() -> list[tuple[Row, Value]]:
    return [(row, value) for row in rows() for value in row.values]


def marked(row: Row, value: Value) -> object:
    why = NOT_MET.get((row.name, value.name))
    marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
    return pytest.param(row, value, id=f"{row.name}, {value.name}", marks=marks)


def test_every_row_of_cubic_alone_is_there() -> None:
    assert len(rows()) == 8 + 4 + 4
    assert set(NOT_MET) <= {(row.name, value.name) for row, value in cases()}
    with BOUNDS.open() as file:
        known = [(line["row"], line["metric"]) for line in csv.DictReader(file)]
    assert known == [(row.name, value.name) for row, value in cases()]


@pytest.mark.parametrize(("row", "value"), [marked(row, value) for row, value in cases()])
def test_the_published_number_is_where_a_run_of_ours_may_be(row: Row, value: Value) -> None:
    found = interval(row.name, value.name)
    assert found["published"] == value.published
    assert found["low"] <= value.published <= found["high"], f"{found}"


@pytest.mark.parametrize(
    ("row", "value"), [pytest.param(*case, id=f"{case[0].name}, {case[1].name}") for case in cases()]
)
def test_the_interval_is_that_of_the_program_as_it_is(row: Row, value: Value) -> None:
    found, seen = interval(row.name, value.name), ours(row.name)[value.name]
    apart = abs(math.fsum(seen) / len(seen) - found["mean"])
    # Shares have long tails: a flow that loses alone stays behind for a minute.
    assert apart <= 4 * found["sd"] / math.sqrt(len(seen)) + 1e-6 * abs(found["mean"]), f"{seen} and {found}"
