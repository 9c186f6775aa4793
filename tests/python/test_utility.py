"""Regret, utility and price of a qdisc that shares its link: in results, in pictures, on the page."""

import json

import numpy as np
import polars as pl
import pytest

import sojourn as sj
from sojourn.report.page import page

SQM = "sqm:period=1 s,coordinator=centralised"
SERIES = ["price", "regret", "utility"]
LINK = "r2-r3"


def scenario(seconds):
    """The gallery's, before the CUBIC flows come: ten flows over one of two links each."""
    late = {f"flows[{group}].start": f"{seconds - 0.01} s" for group in (2, 3)}
    return sj.load("sqm/scenario2", {"duration": f"{seconds} s", "warmup": "2 s"} | late)


@pytest.fixture(scope="module")
def flows():
    return sj.run(scenario(12), [SQM, "codel"], seeds=[1, 2])


def series(result, name, qdisc=SQM):
    rows = result.series.filter(
        (pl.col("name") == name)
        & (pl.col("qdisc") == qdisc)
        & (pl.col("link") == LINK)
        & (pl.col("seed") == 1)
    )
    return rows["time"].to_numpy(), rows["value"].to_numpy()


def test_series_have_the_values_of_each_period(flows):
    for name in SERIES:
        time, value = series(flows, name)
        assert time.size > 100, name
        assert np.isfinite(value).all(), name
        # Constant between the ends of periods.
        changes = time[1:][np.diff(value) != 0]
        settled = changes[changes > 6.5]
        assert np.all(np.abs(settled - np.round(settled)) < 0.05), (name, settled)
        assert series(flows, name, "codel")[0].size == 0


def test_the_price_is_that_of_the_flows_shares(flows):
    """One price for five flows of Reno: C = sum of sqrt(w / pi), w = 2 / D^2."""
    base_rtts = 2 * (5e-3 + 2 * np.linspace(17.5e-3, 42.5e-3, 5))
    capacity = 50e6 / 12_000
    price = (np.sum(np.sqrt(2) / base_rtts) / capacity) ** 2
    assert series(flows, "price")[1][-1] == pytest.approx(price, rel=0.02)
    # U = -w / x for alpha = 2: at the optimum -sqrt(w pi) each; of what is left beside a full reserved queue.
    utility = -np.sum(np.sqrt(2 * price) / base_rtts) / 0.9
    assert series(flows, "utility")[1][-1] == pytest.approx(utility, rel=0.02)


def test_the_steps_of_the_source_lose_more_than_the_optimum():
    optimum, printed = "sqm:period=1 s", "sqm:period=1 s,step=printed"
    result = sj.run(scenario(20), [optimum, printed])
    assert series(result, "regret", printed)[1][-1] > series(result, "regret", optimum)[1][-1]


def test_pictures_show_them(flows):
    there = flows.for_link(LINK)
    for draw, label in (
        (there.plot.regret, "regret, utility"),
        (there.plot.utility, "utility of a period"),
        (there.plot.price, "price"),
    ):
        ax = draw()
        assert ax.get_ylabel() == label
        low, high = ax.get_ylim()
        drawn = [line.get_ydata() for line in ax.get_lines() if len(line.get_ydata()) > 2]
        assert drawn, label
        last = drawn[0][np.isfinite(drawn[0])][-1]
        assert low < last < high, label


def test_without_them_a_picture_is_refused():
    result = sj.run(sj.load("dumbbell", {"duration": "41 s"}), "codel")
    with pytest.raises(sj.InputError, match=r"^regret: no qdisc of the result has one; expected a qdisc"):
        result.plot.regret()
    assert "chart-regret" not in page(result)


def test_the_page_has_their_charts(flows):
    text = page(flows)
    for name in SERIES:
        assert f"chart-{name}" in text, name


def test_they_are_kept_in_a_folder(flows, tmp_path):
    flows.write(tmp_path / "kept")
    again = sj.Result.read(tmp_path / "kept")
    table = pl.read_parquet(tmp_path / "kept" / "series.parquet")
    assert set(SERIES) <= set(table["name"].unique())
    assert again.series.equals(flows.series)
    assert json.loads((tmp_path / "kept" / "result.json").read_text())["runs"]
