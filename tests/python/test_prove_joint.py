"""Certificates of links that are congested together, compared with the running fluid.

NETWORKS_LONG=1 runs ten networks, as ./ci.sh networks does.
"""

import math
import os
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn as sj

#: All that `./ci.sh networks` compares; `test` runs two networks.
SEEDS = range(10) if "NETWORKS_LONG" in os.environ else (0, 1)
#: Frequency of PI's updates, Hz, and its zero, 1/s.
RATE, ZERO = 80, 0.48
#: Time between samples, s: ten in a period of the fastest oscillation. Four steps of integration an update.
SAMPLE = 0.05
STEPS = f'fluid_step = "{250 / RATE} ms"\nsample = "{SAMPLE} s"\n'


@dataclass(frozen=True)
class Queue:
    """A link in one direction, under PI or RED."""

    name: str
    target: int
    rate_mbit: float
    a: float
    is_red: bool = False

    def qdisc(self) -> str:
        """The qdisc in TOML."""
        if self.is_red:
            least, most = self.target / 2, 4 * self.target
            return f'"red:min={least}packets,max={most}packets,max_p=0.1,weight=0.0002"'
        keys = ",".join(f"{key}={value:.9g}" for key, value in self.gains().items())
        return f'"pi:target={self.target}packets,rate={RATE}Hz,{keys}"'

    def gains(self) -> dict[str, float]:
        """a and b of PI."""
        return {"a": self.a, "b": self.a * (1 - ZERO / RATE)}


@dataclass(frozen=True)
class Network:
    """Links in a row, some with data both ways, and classes over parts of it."""

    queues: tuple[Queue, ...]
    backs: tuple[Queue, ...]
    delays_ms: tuple[float, ...]
    classes: tuple[Mapping[str, object], ...]

    def scenario(self, path: Path, lasts_s: float, warmup_s: float, more: str = "") -> sj.Scenario:
        """The scenario of the network."""
        text = f'title = "row"\nduration = "{lasts_s} s"\nwarmup = "{warmup_s} s"\n{STEPS}'
        for place, (queue, delay) in enumerate(zip(self.queues, self.delays_ms, strict=True)):
            text += (
                f'[[links]]\nname = "{queue.name}"\nfrom = "r{place}"\nto = "r{place + 1}"\n'
                f'rate = "{queue.rate_mbit:.4f} Mbit/s"\ndelay = "{delay:.4f} ms"\n'
                f'buffer = "5000 packets"\nqdisc = {queue.qdisc()}\n'
            )
            if self.backs:
                back = self.backs[place]
                text += f'back = {{ rate = "{back.rate_mbit:.4f} Mbit/s", buffer = "5000 packets", '
                text += f"qdisc = {back.qdisc()} }}\n"
        for one in self.classes:
            text += '[[flows]]\ncc = "newreno"\n'
            text += "".join(f"{key} = {value}\n" for key, value in one.items())
        path = path / "row.toml"
        path.write_text(text + more)
        return sj.load(str(path))

    def with_gains(self, factor: float, only: str | None = None) -> "Network":
        """The same with other gains of PI: all, or those of one link."""

        def changed(queues: tuple[Queue, ...]) -> tuple[Queue, ...]:
            return tuple(
                replace(one, a=one.a * factor) if only in (None, one.name) else one for one in queues
            )

        return replace(self, queues=changed(self.queues), backs=changed(self.backs))

    def queue(self, name: str) -> Queue:
        """The link of this name."""
        return next(one for one in (*self.queues, *self.backs) if one.name == name)


def drawn(seed: int) -> Network:
    """A network of 2 to 6 congested links; every third one has data both ways."""
    draw = random.Random(seed)
    count = 2 + seed % 5
    both = seed % 3 == 2
    hops = (count + 1) // 2 if both else count

    def queue(name: str) -> Queue:
        a = draw.uniform(5e-5, 5e-4)
        is_red = not both and draw.random() < 0.25
        return Queue(name, draw.choice([40, 60, 80]), draw.uniform(8, 12), a, is_red)

    classes = []

    def add(first: int, last: int) -> None:
        delay, segment = draw.uniform(2, 30), draw.choice([500, 1000, 1500])
        classes.append(
            {
                "name": f'"f{len(classes)}"',
                "from": f'"r{first}"',
                "to": f'"r{last}"',
                "count": draw.randint(12, 24) if abs(last - first) == 1 else draw.randint(4, 10),
                "ecn": str(draw.random() < 0.8).lower(),
                "segment": f'"{segment} B"',
                "access": f'{{ rate = "1 Gbit/s", delay = "{delay:.4f} ms" }}',
            }
        )

    for hop in range(hops):
        ends = [(hop, hop + 1)]
        if hop + 2 <= hops:
            ends.append((hop, draw.randint(hop + 2, hops)))
        for first, last in ends:
            add(first, last)
            if both:
                add(last, first)
    queues = tuple(queue(f"l{hop}") for hop in range(hops))
    backs = tuple(queue(f"l{hop}.back") for hop in range(hops)) if both else ()
    delays = tuple(draw.uniform(1, 10) for _ in range(hops))
    return Network(queues, backs, delays, tuple(classes))


#: Time after which a network under unstable gains oscillates, and time that is then measured, s.
GROWN, SEEN = 300, 60


def proven(network: Network, path: Path) -> sj.prove.Certificate:
    """The certificate of the network."""
    return sj.prove(network.scenario(path, 60, 0))


def rest_s(certificate: sj.prove.Certificate, times: float) -> int:
    """So many time constants of the slowest pole, s."""
    return math.ceil(-times / certificate.poles[0].real)


def measured(scenario: sj.Scenario) -> dict[str, dict[str, float]]:
    """Metrics of each link in the running fluid."""
    runs = sj.run(scenario, plants="fluid").runs
    return {run.link: run.metrics for run in runs if run.traffic_class is None}


def calm(network: Network, path: Path) -> tuple[Network, sj.prove.Certificate]:
    """The same with gains of PI at which every loop has a margin."""
    for _ in range(20):
        found = proven(network, path)
        margins = [one["gain_margin"] for one in found.links]
        if found.verdict == "stable" and min(margin or math.inf for margin in margins) > 1.5:
            return network, found
        network = network.with_gains(0.7)
    raise AssertionError("no gains are calm")


def is_at_rest(network: Network, certificate: sj.prove.Certificate, path: Path) -> bool:
    """True if the running fluid has come to the rest of the certificate; fails where it rests elsewhere."""
    begin = rest_s(certificate, 12) if certificate.verdict == "stable" else GROWN
    seen = measured(network.scenario(path, begin + SEEN, begin))
    swings = [
        seen[one["link"]]["queue_std_packets"] / network.queue(one["link"]).target
        for one in certificate.links
    ]
    # Cycles whose p meets 0 are small.
    if max(swings) > 0.02:
        return False
    assert max(swings) < 1e-3, swings
    for one in certificate.links:
        metrics, rest = seen[one["link"]], one["equilibrium"]
        p = metrics["mark_ratio"] + metrics["drop_ratio"]
        assert p == pytest.approx(rest["p"], rel=1e-3), one["link"]
        assert metrics["queue_mean_packets"] == pytest.approx(rest["backlog_packets"], rel=1e-3), one["link"]
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_and_p_of_networks_are_those_of_the_running_fluid(tmp_path, seed):
    network = drawn(seed)
    found = proven(network, tmp_path)
    assert len(found.links) == len(network.queues) + len(network.backs)
    assert found.verdict == ("stable" if is_at_rest(network, found, tmp_path) else "unstable")
    if found.verdict == "unstable":
        assert is_at_rest(*calm(network, tmp_path), tmp_path)


def change(queue: Queue, target: float, time_s: float) -> str:
    """The change to this queue's gains and to another target, in TOML."""
    values = {
        **{key: f"{value:.9g}" for key, value in queue.gains().items()},
        "target": f'"{target} packets"',
    }
    keys = ", ".join(f'"{queue.name}.qdisc.{key}" = {value}' for key, value in values.items())
    return f'[[at]]\ntime = "{time_s} s"\nset = {{ {keys} }}\n'


def growth(queue: np.ndarray, frequency: float) -> float:
    """Growth, 1/s, of an oscillation of this frequency, rad/s, from one half of the samples to the other."""
    size = len(queue) // 2
    turns = np.hanning(size) * np.exp(-1j * frequency * SAMPLE * np.arange(size))
    before, after = (abs(turns @ (half - half.mean())) for half in (queue[:size], queue[-size:]))
    return math.log(after / before) / (SAMPLE * (len(queue) - size))


def test_a_loop_has_a_lower_margin_where_the_others_are_near_their_limit(tmp_path):
    """At 0.98 of the critical gain of l1.back the poles are 1e-4/s from the axis, right of it without l0."""
    network, found = calm(drawn(2), tmp_path)
    margins = {one["link"]: one["gain_margin"] for one in found.links}
    near = network.with_gains(0.98 * margins["l1.back"], "l1.back")
    links = {one["link"]: one for one in proven(near, tmp_path).links}
    lower = links["l0"]["gain_reduction_margin"]
    verdicts = [proven(near.with_gains(lower * share, "l0"), tmp_path).verdict for share in (1.01, 0.99)]
    assert verdicts == ["stable", "unstable"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_critical_gain_of_a_link_is_that_of_the_fluid(tmp_path, seed):
    """At rest the target of one PI steps; it has first 0.98 and then 1.02 times its critical gain."""
    network, found = calm(drawn(seed), tmp_path)
    of_pi = [one for one in found.links if one["law"].startswith("pi") and one["gain_margin"]]
    nearest = min(of_pi, key=lambda one: one["gain_margin"])
    link, shares = nearest["link"], (0.98, 1.02)
    critical = [network.with_gains(nearest["gain_margin"] * share, link) for share in shares]
    below, above = (proven(one, tmp_path) for one in critical)
    assert (below.verdict, above.verdict) == ("stable", "unstable")
    # The oscillation changes by half in a window; other modes have one to die out, and two are compared.
    pole = above.poles[0]
    window = math.ceil(min(200, max(0.5 / pole.real, 40 * math.pi / pole.imag)))
    starts = [rest_s(found, 6), rest_s(found, 6) + 3 * window]
    # p moves by a 50th at once, so that it does not meet 0.
    queues = [one.queue(link) for one in (network, *critical)]
    target = queues[0].target
    step = min(0.005 * target, 0.02 * nearest["equilibrium"]["p"] / queues[1].a)
    changes = change(queues[0], target + step, 0.1)
    changes += "".join(change(one, target, start) for one, start in zip(queues[1:], starts, strict=True))
    scenario = network.scenario(tmp_path, starts[1] + 3 * window, 0, changes)
    series = sj.run(scenario, plants="fluid").series.filter(link=link, name="queue_packets")
    seen = [series.filter(pl.col("time").is_between(one + window, one + 3 * window)) for one in starts]
    falls, grows = (growth(one["value"].to_numpy(), pole.imag) for one in seen)
    assert falls < 0 < grows, (link, falls, grows)
    # Where it neither falls nor grows.
    share = shares[0] + (shares[1] - shares[0]) * falls / (falls - grows)
    assert share == pytest.approx(1, abs=5e-3), (link, falls, grows)
