"""Numbers as people read them: which metrics a summary shows, in which unit, with how many digits."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sojourn.result import Result
from sojourn.result.statistics import Estimate, estimate

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Column:
    """A metric as people read it: its value times `scale`, in `unit`."""

    metric: str
    short: str
    unit: str
    scale: float = 1.0

    @property
    def long(self) -> str:
        """Name and unit."""
        return f"{self.short}, {self.unit}" if self.unit else self.short


UTILIZATION = Column("utilization", "utilisation", "%", 100)
QUEUE = Column("queue_mean_packets", "queue mean", "packets")
QUEUE_STD = Column("queue_std_packets", "queue sd", "packets")
SOJOURN = Column("sojourn_mean_s", "sojourn mean", "ms", 1e3)
SOJOURN_P95 = Column("sojourn_p95_s", "sojourn p95", "ms", 1e3)
DROPS = Column("drop_ratio", "drops", "%", 100)
MARKS = Column("mark_ratio", "marks", "%", 100)
GOODPUT = Column("goodput_bps", "goodput", "Mbit/s", 1e-6)
JAIN = Column("jain_index", "Jain index", "")

#: What a summary shows, in this order.
COLUMNS = (UTILIZATION, QUEUE, QUEUE_STD, SOJOURN, SOJOURN_P95, DROPS, MARKS, GOODPUT, JAIN)


def scaled(result: Result, disc: str, column: Column) -> Estimate | None:
    """Mean and interval over the seeds in the column's unit; None where the metric does not apply."""
    values = [value * column.scale for value in result.values(disc, column.metric).values()]
    return estimate(values) if values else None


def cell(result: Result, disc: str, column: Column) -> str:
    """Such as ``285.8 ± 1.3``; empty where the metric does not apply."""
    found = scaled(result, disc, column)
    return "" if found is None else with_half(found)


def with_half(found: Estimate) -> str:
    """Mean and half-width, with as many digits as the half-width deserves."""
    digits = decimals(found)
    if found.half is None:
        return f"{found.mean:.{digits}f}"
    half = f"{found.half:.{digits}f}"
    if found.half > 0 and float(half) == 0:
        half = f"<{10**-digits:.{digits}f}"
    return f"{found.mean:.{digits}f} ± {half}"


def decimals(found: Estimate) -> int:
    """Two digits of the half-width, or four of the mean where there is no interval; 0 to 3 decimals."""
    if found.half:
        digits = 1 - math.floor(math.log10(found.half))
    else:
        digits = 3 - math.floor(math.log10(abs(found.mean))) if found.mean else 0
    return min(3, max(0, digits))


def seconds(text: object) -> float | None:
    """A time such as ``"20 ms"`` in seconds; None where the text is not one.

    >>> seconds("20 ms")
    0.02
    """
    found = (
        re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([a-zµ]+)\s*", text)
        if isinstance(text, str)
        else None
    )
    if not found or found[2] not in _SECONDS:
        return None
    try:
        return float(found[1]) * _SECONDS[found[2]]
    except ValueError:
        return None
