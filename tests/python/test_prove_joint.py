"""Certificates of links that are congested together, compared with the running fluid."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest

import sojourn as sj

#: Round trips after which a run is at rest, or oscillates, s, and the time that is then measured.
RESTS, SEEN = 300, 60


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
        return f'"pi:target={self.target}packets,a={self.a:.9g},b={self.a * PROPORTION:.9g}"'


@dataclass(frozen=True)
class Network:
    """Links in a row, some with data both ways, and classes over parts of it."""

    queues: tuple[Queue, ...]
    backs: tuple[Queue, ...]
    delays_ms: tuple[float, ...]
    classes: tuple[Mapping[str, object], ...]

    def scenario(self, path: Path, lasts_s: float, warmup_s: float, more: str = "") -> sj.Scenario:
        """The scenario of the network."""
        text = f'title = "row"\nduration = "{lasts_s} s"\nwarmup = "{warmup_s} s"\n'
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


def measured(scenario: sj.Scenario) -> dict[str, dict[str, float]]:
    """Metrics of each link in the running fluid."""
    runs = sj.run(scenario, plants="fluid").runs
    return {run.link: run.metrics for run in runs if run.traffic_class is None}


#: b by a of PI.
PROPORTION = 0.997
#: Seeds of ten networks; the first two run in the quick checks.
SEEDS = [0, 5, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3, 4, 6, 7, 8, 9))]


def settled(network: Network, path: Path, certificate: sj.prove.Certificate) -> sj.Scenario:
    """The network over many time constants of its slowest pole."""
    lasts = RESTS if certificate.verdict == "unstable" else max(RESTS, -12 / certificate.poles[0].real)
    return network.scenario(path, math.ceil(lasts) + SEEN, math.ceil(lasts))


def calm(network: Network, path: Path) -> tuple[Network, sj.prove.Certificate]:
    """The same with gains of PI at which every loop has a margin."""
    for _ in range(10):
        found = sj.prove(network.scenario(path, 60, 0))
        margins = [one["gain_margin"] for one in found.links]
        if found.verdict == "stable" and min(margin or math.inf for margin in margins) > 1.5:
            return network, found
        network = network.with_gains(0.7)
    raise AssertionError("no gains are calm")


@pytest.mark.parametrize("seed", SEEDS)
def test_verdicts_on_networks_are_those_of_the_running_fluid(tmp_path, seed):
    network = drawn(seed)
    found = sj.prove(network.scenario(tmp_path, 60, 0))
    assert len(found.links) == 2 + seed % 5
    seen = measured(settled(network, tmp_path, found))
    swings = {
        one["link"]: seen[one["link"]]["queue_std_packets"] / network.queue(one["link"]).target
        for one in found.links
    }
    if found.verdict == "stable":
        assert max(swings.values()) < 0.02, swings
    else:
        assert found.verdict == "unstable", found.reason
        assert max(swings.values()) > 0.1, swings


@pytest.mark.parametrize("seed", SEEDS)
def test_p_of_a_network_is_that_of_the_fluid_at_rest(tmp_path, seed):
    network, found = calm(drawn(seed), tmp_path)
    seen = measured(settled(network, tmp_path, found))
    for one in found.links:
        metrics, rest = seen[one["link"]], one["equilibrium"]
        p = metrics["mark_ratio"] + metrics["drop_ratio"]
        assert p == pytest.approx(rest["p"], rel=1e-3), one["link"]
        assert metrics["queue_mean_packets"] == pytest.approx(rest["backlog_packets"], rel=1e-3), one["link"]


def growth(network: Network, path: Path, link: str, rests: float) -> float:
    """Growth of deviations of a link's queue, nepers, in 300 s after its target has moved by a 200th.

    The gain of the link changes with the target: until then the network is at rest.
    """
    queue = network.queue(link)
    target = queue.target * 1.005
    changes = {"a": f"{queue.a:.9g}", "b": f"{queue.a * PROPORTION:.9g}", "target": f'"{target} packets"'}
    keys = ", ".join(f'"{link}.qdisc.{key}" = {value}' for key, value in changes.items())
    calm_one = network.with_gains(1 / 4, link)
    begin = math.ceil(rests)
    at = f'[[at]]\ntime = "{begin} s"\nset = {{ {keys} }}\n'
    series = sj.run(calm_one.scenario(path, begin + 400, 1, at), plants="fluid").series
    backlog = series.filter((pl.col("name") == "queue_packets") & (pl.col("link") == link))

    def swing(since: float) -> float:
        between = (pl.col("time") >= begin + since) & (pl.col("time") < begin + since + 60)
        return float(backlog.filter(between)["value"].std())

    return math.log(swing(330) / swing(30))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_critical_gain_of_a_link_is_that_of_the_fluid(tmp_path, seed):
    network, found = calm(drawn(seed), tmp_path)
    of_pi = [one for one in found.links if one["law"].startswith("pi") and one["gain_margin"]]
    nearest = min(of_pi, key=lambda one: one["gain_margin"])
    link, margin = nearest["link"], nearest["gain_margin"]
    rests = max(100, -12 / found.poles[0].real)
    below, above = (
        growth(network.with_gains(margin * share, link), tmp_path, link, rests) for share in (0.98, 1.02)
    )
    assert below < 0 < above, (link, margin, below, above)
