"""The qdisc sqm from Python: shares by utility, and what its results have."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sojourn as sj

TWO = """
title = "Two flows"
duration = "60 s"
warmup = "10 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "300 packets"
[[flows]]
name = "near"
access = { rate = "100 Mbit/s", delay = "7.5 ms" }
[[flows]]
name = "far"
access = { rate = "100 Mbit/s", delay = "27.5 ms" }
[[flows]]
name = "call"
app = "voip"
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> sj.Result:
    path = tmp_path_factory.mktemp("sqm") / "two.toml"
    path.write_text(TWO)
    qdiscs = [
        sj.qdiscs.Sqm(utility="equal", reserved={"rate": "500 kbit/s"}),
        "sqm:period=1 s,elephant=64 kB,reserved.rate=500 kbit/s",
    ]
    return sj.run(sj.load(path), qdiscs=qdiscs)


def _goodput(result: sj.Result, qdisc: str, name: str) -> float:
    return float(np.mean(list(result.values(qdisc, "goodput_bps", traffic_class=name).values())))


def test_flows_have_the_shares_of_their_utility(result: sj.Result) -> None:
    equal, reno = (variant.qdisc for variant in result.variants)
    rates = [[_goodput(result, qdisc, name) for name in ("near", "far")] for qdisc in (equal, reno)]
    # The window of a flow of 120 ms takes seconds to grow back; the other has what it leaves.
    assert rates[0][0] / rates[0][1] == pytest.approx(1.0, abs=0.25)
    # As 1 / D, 40 and 120 ms.
    assert rates[1][0] / rates[1][1] == pytest.approx(3.0, abs=0.6)


def test_results_have_its_queues_and_its_inner_values(result: sj.Result) -> None:
    _, reno = (variant.qdisc for variant in result.variants)
    series = result.series.filter(pl.col("qdisc") == reno)
    last = {
        name: series.filter(pl.col("name").cast(pl.String) == name)["value"].to_list()[-1]
        for name in ("active_queues", "elephants", "p", "price", "utility", "regret")
    }
    # The call sends no 64 kB in a period; pi = w / x^2 of the near flow, 2 / 0.04^2 by 3/4 of the link.
    assert last["elephants"] == 2
    assert last["price"] == pytest.approx(1250 / (0.75 * 9.5e6 / 8 / 1500) ** 2, rel=0.02)
    assert 0 <= last["p"] < 1
    assert last["utility"] < 0
    assert abs(last["regret"]) < abs(last["utility"]) * 20
    p99 = {name: result.values(reno, "sojourn_p99_s", queue=name)[1] for name in ("elephants", "reserved")}
    assert p99["reserved"] < 0.004 < p99["elephants"]
