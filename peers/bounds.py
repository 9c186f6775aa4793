"""Bounds within which Sojourn and a peer must agree on a metric, and the rows that bind.

Two sets. `LAWS`, where transports are those of the peer: utilisation within 1 percentage point, the mean
queue within 10 % or 5 packets, its standard deviation within 30 %, drop and mark ratios within 20 %.
`TRANSPORTS`, where the senders are compared: utilisation within 1.5 points, the mean queue within 15 % or 3
packets, the ratios within 25 %, Jain's index within 0.05. No bound on a queue is below 3 packets
(tests/reference/README.md). `NETWORKS` are those of `TRANSPORTS`, with the queue's spread and 95th
percentile, the delay, and the goodput of classes.

A row binds if the peer's standard deviation over seeds is under a tenth of its mean and at least 50 drops or
marks lie behind a ratio; otherwise the 95 % intervals of both sides must overlap. If both sides hardly vary
(a single flow repeats itself to the packet) their intervals are points: a difference within the bound of a
binding row agrees, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

#: metric -> (relative tolerance, absolute tolerance); the wider of the two holds.
Bounds = Mapping[str, tuple[float, float]]
LAWS: Bounds = {
    "utilization": (0.0, 0.01),
    "queue_mean_packets": (0.10, 5.0),
    "queue_std_packets": (0.30, 3.0),
    "drop_ratio": (0.20, 0.0),
    "mark_ratio": (0.20, 0.0),
}
TRANSPORTS: Bounds = {
    "utilization": (0.0, 0.015),
    "queue_mean_packets": (0.15, 3.0),
    "drop_ratio": (0.25, 0.0),
    "mark_ratio": (0.25, 0.0),
    "jain_index": (0.0, 0.05),
}
NETWORKS: Bounds = {
    **TRANSPORTS,
    "queue_std_packets": (0.30, 3.0),
    "queue_p95_packets": (0.15, 3.0),
    "sojourn_mean_s": (0.15, 0.0),
    "goodput_bps": (0.10, 0.0),
}
#: Fewest drops or marks for which a ratio binds.
FEWEST_EVENTS = 50


@dataclass(frozen=True)
class Sample:
    """A metric over n seeds: its mean and standard deviation."""

    n: int
    mean: float
    sd: float

    @staticmethod
    def of(values: Sequence[float]) -> Sample:
        """Mean and standard deviation of these values; a single one has no known spread: 0."""
        mean = math.fsum(values) / len(values)
        squares = math.fsum((value - mean) ** 2 for value in values)
        return Sample(len(values), mean, math.sqrt(squares / max(len(values) - 1, 1)))

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean, by Student's t."""
        if self.n == 1:
            return self.mean, self.mean
        half = float(stdtrit(self.n - 1, 0.975)) * self.sd / math.sqrt(self.n)
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class Verdict:
    """True if a metric agrees, and the rule applied."""

    metric: str
    ours: Sample
    peer: Sample
    agrees: bool
    rule: str

    @property
    def difference(self) -> float:
        """Ours minus the peer's."""
        return self.ours.mean - self.peer.mean

    def line(self) -> str:
        """The verdict in one line."""
        return (
            f"{self.metric}: {self.ours.mean:.6g} against {self.peer.mean:.6g} +- {self.peer.sd:.2g}, "
            f"differs by {self.difference:+.3g}; {self.rule}"
        )


def verdict(metric: str, ours: Sample, peer: Sample, *, events: float, bounds: Bounds) -> Verdict:
    """Verdict on one metric; `events`: drops or marks a seed of the peer."""
    relative, absolute = bounds[metric]
    allowed = max(relative * abs(peer.mean), absolute)
    ratio = metric.endswith("_ratio")
    if ratio and peer.mean == 0 and peer.sd == 0:
        return Verdict(metric, ours, peer, ours.mean == 0, "both must be 0")
    quiet = ratio and events < FEWEST_EVENTS
    steady = peer.sd < 0.1 * abs(peer.mean)
    close = abs(ours.mean - peer.mean) <= allowed
    if steady and (close or not quiet):
        return Verdict(metric, ours, peer, close, f"allowed {allowed:.3g}")
    (low, high), (peer_low, peer_high) = ours.interval(), peer.interval()
    agrees = low <= peer_high and peer_low <= high
    rule = f"intervals {low:.4g}..{high:.4g} and {peer_low:.4g}..{peer_high:.4g} must overlap"
    return Verdict(metric, ours, peer, agrees, rule)
