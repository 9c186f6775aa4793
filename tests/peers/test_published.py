"""Published runs of Linux with CUBIC alone: each number lies within the interval of a further run of ours.

`published_bounds.csv` has the intervals, from the spread of our seeds; `peers/published.py` writes it anew. A
few seeds are run here, so that the intervals are those of the current program. A number outside is inside
under the settings that `EXPLAINED` names, or one of fq_codel, or listed in `UNEXPLAINED`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from functools import cache

import pytest

from published import BOUNDS, Row, Value, bounds, rows

#: Number of the bounds' first seeds that are run.
SEEDS = range(1, 4)
#: The same for a run under a setting.
MORE_SEEDS = range(1, 9)
#: Linux: PRR also after an echo of congestion, and windows of whole segments.
PRR = {"flows.0.tcp.ecn_prr": "true"}
BOTH = {**PRR, "flows.0.tcp.cubic_counts_segments": "true"}
#: Linux before 5.6: a connection to a known host begins with the slow-start threshold of the last one.
CACHED = {"flows.0.tcp.cached_ssthresh": "true"}

#: row, value -> the settings of the differing mechanisms, chosen for each number: docs/deviations/linux.md
EXPLAINED: dict[tuple[str, str], Mapping[str, str]] = {
    ("codel 20 Mbit/s 40 ms", "goodput_bps"): BOTH,
    ("codel 20 Mbit/s 40 ms", "sojourn_mean_s"): BOTH,
    ("codel 20 Mbit/s 5 ms", "sojourn_mean_s"): PRR,
    ("requests 10 ms beside cubic", "fct_geomean_s of requests"): CACHED,
    ("requests 10 ms beside cubic", "fct_p50_s of requests"): CACHED,
    ("requests 10 ms beside cubic", "fct_p95_s of requests"): CACHED,
    ("requests 80 ms beside cubic", "fct_geomean_s of requests"): CACHED,
    ("requests 80 ms beside cubic", "fct_p50_s of requests"): CACHED,
    ("requests 80 ms beside cubic", "fct_p95_s of requests"): CACHED,
}
UNEXPLAINED = {
    ("codel 100 Mbit/s 5 ms", "goodput_bps"),
}
OUTSIDE = UNEXPLAINED | set(EXPLAINED)
#: Of fq_codel: goodputs there are means of tcp_delivery_rate, which falls short of the goodput where a window
#: is reduced (crates/sim/tests/delivery_rate.rs has the same of ours), and ours have next to no spread. The
#: largest shortfall, and the largest difference of a share.
SHORTFALL, OF_SHARES = 0.056, 0.01


@cache
def ours(name: str) -> dict[str, list[float]]:
    return row(name).run(SEEDS)


@cache
def under(name: str, settings: tuple[tuple[str, str], ...]) -> dict[str, dict[str, object]]:
    changed = row(name).under(dict(settings))
    return {str(line["metric"]): line for line in bounds(changed, changed.run(MORE_SEEDS))}


@cache
def interval(name: str, value: str) -> dict[str, float]:
    with BOUNDS.open() as file:
        [line] = [line for line in csv.DictReader(file) if (line["row"], line["metric"]) == (name, value)]
    return {key: float(line[key]) for key in ("published", "n", "mean", "sd", "low", "high")}


def row(name: str) -> Row:
    return next(row for row in rows() if row.name == name)


def cases() -> list[tuple[Row, Value]]:
    return [(row, value) for row in rows() for value in row.values]


def test_every_row_of_cubic_alone_is_there() -> None:
    assert len(rows()) == 8 + 8 + 4 + 4
    assert {(row.name, value.name) for row, value in cases()} >= OUTSIDE
    with BOUNDS.open() as file:
        known = [(line["row"], line["metric"]) for line in csv.DictReader(file)]
    assert known == [(row.name, value.name) for row, value in cases()]


@pytest.mark.parametrize(
    ("row", "value"), [pytest.param(*case, id=f"{case[0].name}, {case[1].name}") for case in cases()]
)
def test_the_published_number_is_within_the_interval(row: Row, value: Value) -> None:
    found = interval(row.name, value.name)
    assert found["published"] == value.published
    inside = found["low"] <= value.published <= found["high"]
    if row.name.startswith("fq_codel") and not inside:
        assert -SHORTFALL <= value.published / found["mean"] - 1 <= 0.01, f"{found}"
        return
    assert inside != ((row.name, value.name) in OUTSIDE), f"{found}"


@pytest.mark.parametrize(
    "row", [row for row in rows() if row.name.startswith("fq_codel")], ids=lambda row: row.name
)
def test_two_flows_share_fq_codel_as_published(row: Row) -> None:
    one, other = (interval(row.name, value.name) for value in row.values)
    published, mean = (one[key] / (one[key] + other[key]) for key in ("published", "mean"))
    assert abs(published - mean) <= OF_SHARES, f"{published} and {mean}"


@pytest.mark.parametrize(("name", "value"), list(EXPLAINED))
def test_the_mechanisms_explain_the_whole_row(name: str, value: str) -> None:
    for line in under(name, tuple(EXPLAINED[name, value].items())).values():
        if (name, line["metric"]) not in UNEXPLAINED:
            low, published, high = (float(str(line[key])) for key in ("low", "published", "high"))
            assert low <= published <= high, f"{line}"


def test_both_settings_leave_the_delay_at_5_ms_outside() -> None:
    line = under("codel 20 Mbit/s 5 ms", tuple(BOTH.items()))["sojourn_mean_s"]
    assert float(str(line["low"])) > float(str(line["published"])), f"{line}"


def test_late_binding_alone_explains_the_requests_at_160_ms() -> None:
    each = under("requests 160 ms alone", (("flows.0.app.http.late_binding", "false"),))
    line = each["fct_geomean_s"]
    assert float(str(line["low"])) > float(str(line["published"])), f"{line}"


@pytest.mark.parametrize(
    ("row", "value"), [pytest.param(*case, id=f"{case[0].name}, {case[1].name}") for case in cases()]
)
def test_the_interval_is_that_of_the_current_program(row: Row, value: Value) -> None:
    found, seen = interval(row.name, value.name), ours(row.name)[value.name]
    apart = abs(math.fsum(seen) / len(seen) - found["mean"])
    # Shares have long tails: a flow with an isolated loss stays behind for a minute.
    assert apart <= 4 * found["sd"] / math.sqrt(len(seen)) + 1e-6 * abs(found["mean"]), f"{seen} and {found}"
