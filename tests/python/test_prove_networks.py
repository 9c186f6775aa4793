"""Certificates of networks: the congested links, compared with the running fluid and with packets."""

import math
import os
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import sojourn as sj

LONG = os.environ.get("LONG") == "1"
PI_50 = "pi:target=50packets"
#: Slower than by the law's own rule, so that a chain of two oscillates.
PI_150 = "pi:target=150packets,a=4.614e-4,b=4.586e-4"
#: The same with eight tenths of its gain.
SLOWER = "pi:target=150packets,a=3.691e-4,b=3.669e-4"
#: Slow enough for small windows both ways.
SLOW = "pi:target=50packets,a=1e-4,b=9.98e-5"
#: Laws with and without a target, and some that declare no equilibrium.
LAWS = [
    "pi:target=40packets",
    "red:min=20packets,max=200packets,max_p=0.2",
    "fb_ocq:form=profile",
    "rem:target=60packets",
    "tail_drop",
    "codel:target=20ms,interval=200ms",
]


@dataclass(frozen=True)
class Hop:
    """A link."""

    name: str
    qdisc: str = PI_50
    rate_mbit: float = 10
    delay_ms: float = 1
    buffer_packets: int = 2000


@dataclass(frozen=True)
class Flows:
    """A class that crosses the links from the first letter of its way to the last."""

    name: str
    way: str
    count: int = 20
    delay_ms: float = 20
    #: Further keys; None removes one.
    more: Mapping[str, object] = field(default_factory=dict)


def in_a_row(tmp_path: Path, hops: Sequence[Hop], classes: Sequence[Flows], lasts_s=200, warmup_s=100):
    """The scenario of links in a row."""
    text = f'title = "row"\nduration = "{lasts_s} s"\nwarmup = "{warmup_s} s"\n'
    for number, hop in enumerate(hops):
        text += (
            f'[[links]]\nname = "{hop.name}"\nfrom = "r{number}"\nto = "r{number + 1}"\n'
            f'rate = "{hop.rate_mbit} Mbit/s"\ndelay = "{hop.delay_ms:.6f} ms"\n'
            f'buffer = "{hop.buffer_packets} packets"\nqdisc = "{hop.qdisc}"\n'
        )
    places = [hop.name for hop in hops]
    for one in classes:
        keys = {
            "name": one.name,
            "from": f"r{places.index(one.way[0])}",
            "to": f"r{places.index(one.way[-1]) + 1}",
            "count": one.count,
            "cc": "newreno",
            "ecn": True,
            "segment": "1000 B",
            **one.more,
        }
        text += "[[flows]]\n"
        text += "".join(f"{key} = {value_of(value)}\n" for key, value in keys.items() if value is not None)
        text += f'access = {{ rate = "1 Gbit/s", delay = "{one.delay_ms:.6f} ms" }}\n'
    path = tmp_path / "row.toml"
    path.write_text(text)
    return sj.load(str(path))


def value_of(value):
    """A value in TOML."""
    return str(value).lower() if isinstance(value, bool | int) else f'"{value}"'


#: The windows of papers, whose numbers some tests have.
PUBLISHED = {"fluid_window": "mgt"}


def chain(tmp_path, a, b, both=40, first=10, second=10):
    """Two links of these rates, Mbit/s, with so many flows over both and over each."""
    hops = [Hop(name, PI_150, rate, delay_ms=20) for name, rate in (("a", a), ("b", b))]
    classes = [Flows("both", "ab", both), Flows("first", "a", first), Flows("second", "b", second)]
    in_a_row(tmp_path, hops, [one for one in classes if one.count], 300, 200)
    return sj.load(str(tmp_path / "row.toml"), PUBLISHED)


def fork(tmp_path, law, rate_mbit, second=PI_50, scale=1.0):
    """Two links, the first of 10 Mbit/s; 20 flows over it, 20 over both, all delays `scale` times as long."""
    hops = [Hop("a", law, delay_ms=scale), Hop("b", second, rate_mbit, delay_ms=scale)]
    classes = [Flows("short", "a", delay_ms=2 * scale), Flows("long", "ab", delay_ms=60 * scale)]
    return in_a_row(tmp_path, hops, classes)


def third(tmp_path, last, second_mbit):
    """a under PI, and c, crossed only by flows that cross b: where b is full, c is the cause."""
    hops = [Hop("a", rate_mbit=8), Hop("b", rate_mbit=second_mbit), Hop("c", last, 8)]
    classes = [Flows("x", "ab", delay_ms=30), Flows("y", "bc", delay_ms=60), Flows("z", "c", delay_ms=6)]
    return in_a_row(tmp_path, hops, classes, 120, 60)


def apart(tmp_path, rates, ways):
    """Two links in a row, and a class on each way."""
    hops = [Hop(name, rate_mbit=rate, delay_ms=5) for name, rate in zip("ab", rates, strict=True)]
    return in_a_row(tmp_path, hops, [Flows(f"f{place}", way) for place, way in enumerate(ways)], 60, 0)


def drawn(tmp_path, seed):
    """Three links under laws with and without targets, and classes over parts of them."""
    draw = random.Random(seed)
    hops = [Hop(name, draw.choice(LAWS), draw.choice([2, 4, 8, 10, 20, 50]), 10, 1000) for name in "klm"]
    classes = []
    for number in range(draw.randint(2, 4)):
        first = draw.randint(0, 2)
        way = "klm"[first : draw.randint(first + 1, 3)]
        ecn = {"ecn": draw.choice([True, False])}
        classes.append(
            Flows(f"f{number}", way, draw.choice([4, 8, 16, 30]), draw.choice([1, 5, 20, 60]), ecn)
        )
    return in_a_row(tmp_path, hops, classes, 160, 80)


class Ramp(sj.Controller):
    """A curve of the user's."""

    period = "5 ms"
    slope = 2e-4

    def update(self, seen):
        return self.steady_state_p(seen.backlog_packets)

    def steady_state_p(self, backlog_packets):
        return min(1.0, self.slope * backlog_packets)

    def linear(self, point):  # noqa: ARG002
        return [self.slope], [1]


def measured(scenario, metric):
    """The metric of each link in the running fluid."""
    runs = sj.run(scenario, plants="fluid").runs
    return {run.link: run.metrics[metric] for run in runs if run.traffic_class is None}


def names_of(certificate):
    """Links that are certified together."""
    return [one["link"] for one in certificate.links]


def load_of(certificate, link):
    """Load of another link that a certificate assumes."""
    (text,) = (one for one in certificate.assumptions if "Other queues stay empty" in one)
    return float(re.search(rf"\b{link} \(load ([0-9.]+) %\)", text)[1]) / 100


def test_of_several_links_the_rates_choose():
    chain = sj.load("arm_pfc/chain")
    assert names_of(sj.prove(chain)) == ["queue2", "queue3", "queue4"]
    # The same error on each of them is that of the scenario.
    with pytest.raises(sj.InputError, match='"cubic" has no linear model'):
        sj.prove(sj.load("scenarios/networks/parking_lot.toml", PUBLISHED))


@pytest.mark.parametrize(("rates", "link"), [((10, 5), "b"), ((5, 10), "a")])
def test_the_bottleneck_of_all_flows_is_chosen(tmp_path, rates, link):
    found = sj.prove(apart(tmp_path, rates, ["ab"]))
    assert (found.link, found.verdict) == (link, "stable")


def test_separately_full_links_need_a_choice(tmp_path):
    with pytest.raises(sj.InputError, match="expected --link with one of a, b"):
        sj.prove(apart(tmp_path, (10, 10), ["a", "b"]))


def test_jointly_congested_links_are_proven_together(tmp_path):
    tight, wide = 10, 10_000
    alone = [
        sj.prove(chain(tmp_path, tight, wide, second=0), link="a"),
        sj.prove(chain(tmp_path, wide, tight, first=0), link="b"),
    ]
    for found in alone:
        assert found.verdict == "stable"
        assert round(found.margins["phase_margin_deg"]) == 44
    assert any("(load 0.1 %)" in text for text in alone[0].assumptions)
    together = chain(tmp_path, tight, tight)
    # Each alone is stable, and both together keep oscillating.
    swings = measured(together, "queue_std_packets")
    assert [round(swings[link]) for link in ("a", "b")] == [29, 31]
    for link in ("a", "b"):
        found = sj.prove(together, link=link)
        assert (found.verdict, found.link, names_of(found)) == ("unstable", link, ["a", "b"])
        assert found.poles[0].real > 0.1
        assert found.loop("network", sampled=True, link=link) == found.loops[-1]
        assert not any("One link" in text for text in found.assumptions)
    assert "Are a and b stable?" in found.report(tmp_path / "page.html").read_text()
    with pytest.raises(sj.InputError, match="map: a, b are congested together, and a map is of one link"):
        found.region()
    # At eight tenths of the gains they stay at rest.
    gains = dict.fromkeys(("links[0].qdisc", "links[1].qdisc"), SLOWER)
    slower = sj.load(str(tmp_path / "row.toml"), PUBLISHED | gains)
    assert sj.prove(slower).verdict == "stable"
    assert max(measured(slower, "queue_std_packets").values()) < 0.5


def test_a_link_behind_the_real_bottleneck_is_refused_by_the_rates(tmp_path):
    scenario = chain(tmp_path, 10, 5, first=0, second=0)
    with pytest.raises(
        sj.InputError, match=r"a: b holds these flows back: they load it to 50 %, so that it has no "
    ):
        sj.prove(scenario, link="a")
    found = sj.prove(scenario, link="b")
    assert found.verdict == "stable"
    assert "Other queues stay empty: a (load 50 %)." in found.assumptions
    # The rates are those of the running fluid.
    assert measured(scenario, "utilization")["a"] == pytest.approx(0.5, abs=2e-3)


@pytest.mark.parametrize(("rate", "proven"), [("100 kbit/s", False), ("300 kbit/s", True)])
def test_acks_that_fill_the_reverse_path_are_not_proven(rate, proven):
    # 1250 packets/s, every other one acknowledged with 40 B: 200 kbit/s.
    found = sj.prove(sj.load("dumbbell", {"bottleneck.back": f'{{ rate = "{rate}" }}'}), "pi")
    assert (found.verdict == "stable") == proven
    if not proven:
        assert found.reason.startswith("what comes to bottleneck.back is 200 % of its rate, ACKs counted")


@pytest.mark.parametrize("count", [5000, 20_000])
def test_a_saturated_link_is_the_reason_and_not_the_acks_of_what_it_cannot_carry(count):
    # 1250 packets/s arrive at most, whatever is sent: their ACKs are 2 % of the way back.
    scenario = sj.load("dumbbell", {"flows[0].count": count})
    with pytest.raises(
        sj.InputError, match=r"bottleneck: \d+\.\d+ packets/s arrive even at p = 1; expected at most"
    ):
        sj.prove(scenario, "pi")


#: Laws without a target, whose queues are long all the same.
CURVES = ["red:min=100packets,max=400packets", "fb_ocq:form=profile"]


@pytest.mark.parametrize("law", CURVES)
def test_the_queue_of_a_law_without_a_target_is_in_the_rates(tmp_path, law):
    both = fork(tmp_path, law, 1.5)
    found = sj.prove(both)
    assert names_of(found) == ["a", "b"]
    assert min(measured(both, "utilization").values()) > 0.995
    oscillates = max(measured(both, "queue_std_packets").values()) > 1
    assert found.verdict == ("unstable" if oscillates else "stable")
    # Beyond the flows' demand the second one has no queue, and the load is the running fluid's.
    found = sj.prove(fork(tmp_path, law, 8), link="a")
    assert found.verdict == "stable"
    running = sj.run(fork(tmp_path, law, 8), plants="fluid")
    metrics = {run.link: run.metrics for run in running.runs if run.traffic_class is None}
    assert load_of(found, "b") == pytest.approx(metrics["b"]["utilization"], abs=5e-3)
    assert metrics["a"]["queue_mean_packets"] == pytest.approx(found.equilibrium["backlog_packets"], rel=0.02)
    assert metrics["b"]["queue_mean_packets"] < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("own", [None, Ramp])
def test_drawn_networks_are_stable_only_where_the_fluid_is(tmp_path, own):
    stable = 0
    for seed in range(14 if LONG else 5):
        scenario = drawn(tmp_path, seed)
        law = None if own is None else own()
        found = {}
        for link in "klm":
            try:
                found[link] = sj.prove(scenario, law, link=link)
            except sj.InputError:
                continue
        proven = {link: one for link, one in found.items() if one.verdict == "stable"}
        if not proven:
            continue
        # Many times the time constant of the slowest pole.
        slowest = max(one.poles[0].real for one in proven.values())
        until = max(160, math.ceil(-12 / slowest))
        lasting = {"duration": f"{until} s", "warmup": f"{until - 80} s"}
        scenario = sj.load(str(tmp_path / "row.toml"), lasting)
        runs = sj.run(scenario, qdiscs=None if law is None else [law], plants="fluid").runs
        seen = {run.link: run.metrics for run in runs if run.traffic_class is None}
        for link, one in proven.items():
            rest = one.equilibrium["backlog_packets"]
            assert seen[link]["utilization"] > 0.99, (seed, link, seen)
            assert seen[link]["queue_mean_packets"] == pytest.approx(rest, rel=0.05), (seed, link, seen)
            assert seen[link]["queue_std_packets"] < 0.05 * rest, (seed, link, seen)
            others = [name for text in one.assumptions for name in re.findall(r"([klm]) \(load ", text)]
            for other in others:
                load = load_of(one, other)
                assert load == pytest.approx(seen[other]["utilization"], abs=0.02), (seed, link, seen)
            stable += 1
    assert stable >= (5 if LONG else 2), stable


def test_a_full_link_whose_law_declares_no_equilibrium_leaves_the_rates_unknown(tmp_path):
    codel = "codel:target=20ms,interval=200ms"
    found = sj.prove(third(tmp_path, codel, 9.3), link="a")
    assert found.verdict == "not proven"
    assert "c" in found.reason
    with pytest.raises(sj.InputError, match="a: b holds these flows back"):
        sj.prove(third(tmp_path, PI_50, 9.3), link="a")


def test_a_full_link_that_shares_no_flow_is_not_called_empty(tmp_path):
    found = sj.prove(third(tmp_path, PI_50, 12), link="a")
    assert found.verdict == "stable"
    assert "Also full, but without a flow in common with this link: c." in found.assumptions
    (empty,) = (one for one in found.assumptions if "Other queues stay empty" in one)
    assert "b (load" in empty
    assert "c (load" not in empty


def test_links_full_apart_from_each_other_are_one_network(tmp_path):
    found = sj.prove(third(tmp_path, PI_50, 12))
    assert (names_of(found), found.verdict) == (["a", "c"], "stable")
    # Their loops do not act on each other: margins are those of each alone, to the neglected aliases.
    for one in found.links:
        alone = sj.prove(third(tmp_path, PI_50, 12), link=one["link"])
        assert one["equilibrium"]["p"] == pytest.approx(alone.equilibrium["p"], rel=1e-6)
        assert one["gain_margin"] == pytest.approx(alone.margins["gain_margin"], rel=1e-3)


def test_acks_take_their_share_of_a_link_that_data_cross(tmp_path):
    text = (
        'title = "both ways"\nduration = "500 s"\nwarmup = "450 s"\nfluid_window = "mgt"\n'
        '[[links]]\nname = "a"\nfrom = "r0"\nto = "r1"\nrate = "8 Mbit/s"\ndelay = "10 ms"\n'
        f'buffer = "2000 packets"\nqdisc = "{SLOW}"\nback = {{ buffer = "2000 packets", qdisc = "{SLOW}" }}\n'
    )
    for name, ends in (("east", ("r0", "r1")), ("west", ("r1", "r0"))):
        text += (
            f'[[flows]]\nname = "{name}"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\ncount = 30\ncc = "newreno"\n'
            'ecn = true\nsegment = "500 B"\naccess = { rate = "1 Gbit/s", delay = "10 ms" }\n'
        )
    path = tmp_path / "both.toml"
    path.write_text(text)
    found = sj.prove(sj.load(str(path)))
    assert (names_of(found), found.verdict) == (["a", "a.back"], "stable")
    marks, drops = (measured(sj.load(str(path)), f"{kind}_ratio") for kind in ("mark", "drop"))
    for one in found.links:
        rest = one["equilibrium"]
        (own,) = rest["classes"]
        # 2000 packets/s of 500 B: data, and for two of them the other way an ACK of 40 B; p are lost.
        rate = own["flows"] * own["window_packets"] / own["rtt_s"]
        assert rate * (1 + 40 / 500 / 2 * (1 - rest["p"])) == pytest.approx(2000, rel=1e-7)
        assert own["window_packets"] ** 2 * rest["p"] == pytest.approx(2, rel=1e-9)
        assert own["rtt_s"] == pytest.approx(0.06 + 2 * 50 / 2000, rel=1e-9)
        assert marks[one["link"]] + drops[one["link"]] == pytest.approx(rest["p"], rel=1e-5)


#: Traffic on the second link alone that has no linear model.
COMES = {"app": {"count": 40, "app": "mice", "cc": None, "ecn": None}, "cc": {"cc": "cubic", "ecn": None}}


@pytest.mark.parametrize("key", COMES)
def test_other_traffic_without_a_linear_model_proves_nothing(tmp_path, key):
    other = Flows("other", "b", delay_ms=2, more=COMES[key])
    in_a_row(tmp_path, [Hop("a"), Hop("b", rate_mbit=12)], [other, Flows("long", "ab", delay_ms=60)])
    scenario = sj.load(str(tmp_path / "row.toml"), PUBLISHED)
    found = sj.prove(scenario, link="a")
    assert found.verdict == "not proven"
    assert found.reason == f"traffic of b (other) has no linear model, by its {key}"
    assert not any(
        "stay empty" in text or ("left out" in text and "come" in text) for text in found.assumptions
    )
    # In packets it fills its link, regardless of its equilibrium windows.
    runs = sj.run(sj.load(str(tmp_path / "row.toml"), {"duration": "30 s", "warmup": "10 s"}), seeds=[1]).runs
    seen = {run.link: run.metrics for run in runs if run.traffic_class is None}
    assert seen["b"]["utilization"] > 0.99
    assert seen["a"]["queue_mean_packets"] < 10


def test_a_map_treats_other_links_as_certificates_do(tmp_path):
    here = sj.prove(fork(tmp_path, PI_50, 2), link="a")
    assert here.verdict == "stable"
    classes = here.equilibrium["classes"]
    base = sum(one["flows"] * one["base_rtt_s"] for one in classes) / here.equilibrium["flows"]
    region = here.region((39.9, 40.1), (base / 4, base * 1.01), points=9)
    assert region.shares().keys() == {"stable", "2 links are congested together: a and b"}
    assert region.cells[-1].max() == 0
    assert region.cells[0].min() == 3
    for row, rtt in enumerate(region.rtt_s):
        factor = rtt / base
        found = sj.prove(fork(tmp_path, PI_50, 2, scale=factor), link="a")
        meaning = ["stable", "unstable", "not proven", *region.reasons][region.cells[row][4]]
        # A map is of one link.
        assert meaning == (region.reasons[0] if found.links else found.verdict)


def test_a_full_reverse_path_is_no_bottleneck():
    # ACKs and data share no way here: a link full of ACKs is none of these flows' links.
    both = {f"flows[{number}].{key}": value for number in (0, 1) for key, value in ONE_WAY.items()}
    back = {"bottleneck.qdisc": "pi", "bottleneck.back": '{ buffer = "170 packets", qdisc = "pi" }'}
    slow = {"flows[0].access": '{ rate = "100 kbit/s", delay = "5 ms" }'}
    scenario = sj.load("networks/both_ways", both | back | slow)
    with pytest.raises(
        sj.InputError, match=r"^flows.access: the window of east .* and its access links carry 8.33"
    ):
        sj.prove(scenario, link="bottleneck")


ONE_WAY = {"cc": "newreno", "count": 20, "ecn": "true"}


@pytest.mark.parametrize("law", ["blue", "arm_pfc:form=paper", "tail_drop"])
def test_a_full_link_of_unknown_equilibrium_leaves_the_rates_unknown(tmp_path, law):
    def found(rate_mbit):
        return sj.prove(fork(tmp_path, PI_50, rate_mbit, second=law), link="a")

    assert found(1).verdict == "not proven"
    assert found(1).reason == "b is full, and declares no equilibrium, so that the rates are unknown"
    # Empty under any law.
    assert found(8).verdict == "stable"


@pytest.mark.parametrize("cc", ["newreno", "scalable", "dctcp"])
def test_windows_move_a_queue_by_the_rules_of_their_sender(tmp_path, cc):
    hops = [Hop(name, "pi:target=5packets,a=4.614e-4,b=4.586e-4", delay_ms=20) for name in "ab"]
    classes = [Flows(f"of-{way}", way, 10, more={"cc": cc}) for way in ("ab", "a", "b")]
    found = sj.prove(in_a_row(tmp_path, hops, classes))
    classes = found.links[0]["equilibrium"]["classes"]
    own = math.sqrt(sum(one["flows"] * one["window_sd_packets"] ** 2 for one in classes))
    halved = math.sqrt(sum(one["flows"] * (0.407 * one["window_packets"]) ** 2 for one in classes))
    (warning,) = (text for text in found.warnings if text.startswith("a: The equilibrium backlog"))
    (moved,) = re.findall(r"alone move it by ([\d.]+) packets", warning)
    assert float(moved) == pytest.approx(own, rel=1e-3)
    # Up to 16 packets Scalable TCP is Reno; DCTCP's reductions are those of a share of signals.
    assert (own > 0.9 * halved) == (cc != "dctcp"), (own, halved)
