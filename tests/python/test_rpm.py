"""Responsiveness (draft-ietf-ippm-responsiveness-09) and ping-RPM, against numbers worked by hand."""

from __future__ import annotations

import json

import pytest

import sojourn as sj

#: Base RTT of the path below, s; its rate, bit/s, and the window of a load-generating connection, bit.
RTT, RATE, WINDOW = 0.040, 10e6, 100 * 1500 * 8
ACCESS = {"access": {"rate": "1 Gbit/s", "delay": "0 s"}}


def scenario(app, *, rate="10 Mbit/s", qdisc="tail_drop", also=(), **keys):
    """A path of 40 ms; a connection has at most 100 segments of 1500 B under way."""
    return sj.Scenario.from_dict(
        {
            "title": "a responsiveness test",
            "duration": "30 s",
            "warmup": "10 s",
            "bottleneck": {"rate": rate, "delay": "20 ms", "buffer": "1000 packets", "qdisc": qdisc},
            "flows": [{"app": app, **ACCESS, "tcp": {"receive_window": 100}}, *also],
            **keys,
        }
    )


def metrics(given):
    (row,) = sj.run(given).rows()
    return row.metrics


# ---- By hand ---------------------------------------------------------------------------------------


def test_an_idle_path_has_its_round_trips():
    """Three round trips of 40 ms: 60 / 0.040 = 1500. Without load there are no self probes."""
    found = metrics(scenario({"rpm": {"connections": 0}}, rate="1 Gbit/s"))
    for name in ("tcp_f_s", "tls_f_s", "http_f_s"):
        assert found[name] == pytest.approx(RTT, rel=2e-3), name
    assert found["foreign_rpm"] == pytest.approx(60 / RTT, rel=2e-3)
    assert (found["http_l_s"], found["loaded_rpm"], found["responsiveness_rpm"]) == (None, None, None)


def test_a_test_without_tls_has_the_formula_of_the_tcp_only_case():
    found = metrics(scenario({"rpm": {"connections": 0, "tls": False}}, rate="1 Gbit/s"))
    assert found["tls_f_s"] is None
    assert found["foreign_rpm"] == pytest.approx(60 / RTT, rel=2e-3)


def test_a_standing_queue_delays_both_kinds_of_probes():
    """One window of 1.2 Mbit at 10 Mbit/s is a round trip of 120 ms, base RTT included: 60 / 0.120 = 500."""
    found = metrics(scenario({"rpm": {"connections": 1}}))
    assert found["http_l_s"] == pytest.approx(WINDOW / RATE, rel=0.03)
    assert found["tcp_f_s"] == pytest.approx(WINDOW / RATE, rel=0.03)
    assert found["responsiveness_rpm"] == pytest.approx(500, rel=0.03)


def test_fair_queueing_spares_foreign_probes_alone():
    """Foreign probes wait for packets of 1.2 ms, at most two; self probes wait behind the window."""
    found = metrics(scenario({"rpm": {"connections": 1}}, qdisc="sfq"))
    assert RTT < found["tcp_f_s"] < RTT + 2 * 0.0012
    assert found["http_l_s"] == pytest.approx(WINDOW / RATE, rel=0.03)
    assert found["responsiveness_rpm"] == pytest.approx((found["foreign_rpm"] + 500) / 2, rel=0.03)


def test_the_formula_is_that_of_the_trimmed_means():
    found = metrics(scenario({"rpm": {"connections": 2}}, duration="15 s"))
    foreign = 60 / ((found["tcp_f_s"] + found["tls_f_s"] + found["http_f_s"]) / 3)
    loaded = 60 / found["http_l_s"]
    assert found["foreign_rpm"] == pytest.approx(foreign)
    assert found["loaded_rpm"] == pytest.approx(loaded)
    assert found["responsiveness_rpm"] == pytest.approx((foreign + loaded) / 2)


def test_load_generating_connections_add_up():
    """Two more each 2 s, four at most: four windows of 120 ms.

    A self probe waits for its connection's turn, too: at most while the other three send their windows.
    """
    app = {"rpm": {"connections": 4, "initial": 2, "increase": 2, "interval": "2 s", "every": "1 s"}}
    found = metrics(scenario(app))
    assert found["tcp_f_s"] == pytest.approx(4 * WINDOW / RATE, rel=0.01)
    assert 4 * WINDOW / RATE < found["http_l_s"] < 7 * WINDOW / RATE


def test_windows_of_time_have_the_responsiveness_of_their_probes():
    app = {"rpm": {"connections": 2, "interval": "10 s", "every": "500 ms"}}
    result = sj.run(scenario(app, warmup="0 s", windows=["4 s..10 s", "14 s..20 s"]))
    (qdisc,) = result.qdiscs
    for window, queued in (("4 s..10 s", 1), ("14 s..20 s", 2)):
        found = result.values(qdisc, "tcp_f_s", window=window)[1]
        assert found == pytest.approx(queued * WINDOW / RATE, rel=0.02), window


# ---- Ping ------------------------------------------------------------------------------------------


def test_ping_rpm_is_a_minute_over_the_mean_round_trip():
    """One window of 1.2 Mbit at 10 Mbit/s is a round trip of 120 ms, of a ping as well: 60 / 0.120 = 500."""
    result = sj.run(scenario("bulk", also=[{"name": "ping", "app": "ping", **ACCESS}]))
    (ping,) = result.rows(traffic_class="ping")
    assert ping.metrics["ping_rpm"] == pytest.approx(60 / ping.metrics["rtt_mean_s"])
    assert ping.metrics["ping_rpm"] == pytest.approx(500, rel=0.03)
    (bulk,) = result.rows(traffic_class="bulk")
    assert (bulk.metrics["ping_rpm"], bulk.metrics["responsiveness_rpm"]) == (None, None)


@pytest.mark.parametrize("name", ["home/bufferbloat", "home/rrul"])
def test_the_idle_ping_is_that_of_a_run_of_pings_alone(name: str):
    loaded = sj.load(name, {"duration": "20 s", "warmup": "5 s"})
    keys = json.loads(loaded.to_json())
    pings = [group for group in keys["flows"] if group["app"] == "ping" or "ping" in group["app"]][:1]
    alone = sj.Scenario.from_dict({**keys, "flows": pings, "at": []})
    of_loaded, *_ = sj.run(loaded, ["fq_codel"]).rows(traffic_class=pings[0]["name"])
    of_alone = sj.run(alone, ["tail_drop"]).rows()[0]
    idle = of_loaded.metrics["rtt_idle_s"]
    assert idle == of_alone.metrics["rtt_idle_s"]
    # Quantiles are from a histogram.
    assert of_alone.metrics["rtt_p50_s"] == pytest.approx(idle, rel=0.002)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("links/lte", {}),
        ("links/verizon_lte", {}),
        ("links/shared_air", {}),
        ("home/bufferbloat", {"home.up.impairments.jitter": "5 ms"}),
        ("home/bufferbloat", {"at": [{"time": "20 s", "set": {"up.delay": "40 ms"}}]}),
    ],
)
def test_a_way_that_varies_has_no_idle_round_trip(name, changes):
    result = sj.run(sj.load(name, {"duration": "45 s", **changes}), seeds=[1])
    found = [
        row.metrics["rtt_idle_s"] for one in [None, *result.classes] for row in result.rows(traffic_class=one)
    ]
    assert set(found) == {None}
    assert any(row.metrics["ping_rpm"] for row in result.rows())


def test_only_pings_have_an_idle_round_trip():
    result = sj.run(scenario("bulk", also=[{"name": "ping", "app": "ping", **ACCESS}]))
    assert [row.metrics["rtt_idle_s"] for row in result.rows(traffic_class="bulk")] == [None]
    assert [row.metrics["rtt_idle_s"] for row in result.rows()] == [None]
