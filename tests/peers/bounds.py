"""The bounds within which Sojourn and a peer must agree on a metric, and when a row binds.

Utilisation within 1 percentage point, the mean queue within 10 % or 5 packets, its standard
deviation within 30 % (no bound on a queue is below 3 packets: tests/reference/README.md), drop and
mark ratios within 20 %. A row binds when the peer's standard
deviation over seeds is under a tenth of its mean and at least 50 events lie behind it; otherwise
the 95 % intervals of both sides must overlap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

#: metric -> (relative tolerance, absolute tolerance); the wider of the two holds.
TOLERANCES = {
    "utilization": (0.0, 0.01),
    "queue_mean_packets": (0.10, 5.0),
    "queue_std_packets": (0.30, 3.0),
    "drop_ratio": (0.20, 0.0),
    "mark_ratio": (0.20, 0.0),
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
        mean = math.fsum(values) / len(values)
        squares = math.fsum((value - mean) ** 2 for value in values)
        return Sample(len(values), mean, math.sqrt(squares / (len(values) - 1)))

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean, by Student's t."""
        half = float(stdtrit(self.n - 1, 0.975)) * self.sd / math.sqrt(self.n)
        return self.mean - half, self.mean + half


def verdict(metric: str, ours: Sample, peers: Sample, events: float) -> tuple[bool, str]:
    """Whether the two agree, and a line that says how; `events`: drops or marks a seed of the peer."""
    relative, absolute = TOLERANCES[metric]
    allowed = max(relative * abs(peers.mean), absolute)
    ratio = metric.endswith("_ratio")
    quiet = ratio and events < FEWEST_EVENTS
    binds = not quiet and peers.sd < 0.1 * abs(peers.mean)
    difference = ours.mean - peers.mean
    line = (
        f"{metric}: {ours.mean:.6g} against {peers.mean:.6g} +- {peers.sd:.2g}, differs by {difference:+.3g}"
    )
    if peers.mean == 0 and peers.sd == 0 and ratio:
        return ours.mean == 0, f"{line}; both must be 0"
    if binds:
        return abs(difference) <= allowed, f"{line}; allowed {allowed:.3g}"
    (low, high), (peer_low, peer_high) = ours.interval(), peers.interval()
    agree = low <= peer_high and peer_low <= high
    return agree, f"{line}; intervals {low:.4g}..{high:.4g} and {peer_low:.4g}..{peer_high:.4g} must overlap"
