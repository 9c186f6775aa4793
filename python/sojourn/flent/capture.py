"""A capture: the content of a data file of Flent, and the numbers that its summary has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

#: Directions of data, as names of series have them.
UPLOAD, DOWNLOAD = "upload", "download"
DIRECTIONS = (UPLOAD, DOWNLOAD)
#: Series that Flent computes of others.
_COMPUTED = ("sum", "avg", "fairness")
_FLOW = re.compile(r"TCP (?P<direction>upload|download)\b(?P<label>.*)")
_PING = re.compile(r"Ping \(ms\)(?P<label>.*)")


@dataclass(frozen=True)
class Samples:
    """Samples of a series: times, s since the begin of the test, and values; `spans` are their lengths, s."""

    times: Numbers
    values: Numbers
    spans: Numbers | None = None

    @property
    def mean(self) -> float:
        """Mean of the values, weighted by the lengths of their intervals if they have any."""
        if self.spans is not None and self.spans.sum() > 0:
            return float(np.average(self.values, weights=self.spans))
        return float(self.values.mean())

    def within(self, begin: float, end: float) -> Samples:
        """The samples of a window of time."""
        inside = (self.times >= begin) & (self.times <= end)
        return Samples(
            self.times[inside], self.values[inside], None if self.spans is None else self.spans[inside]
        )


@dataclass(frozen=True)
class Line:
    """A line of the summary: average, median and 99th percentile of a series, and its number of samples."""

    name: str
    unit: str
    mean: float
    median: float | None
    p99: float | None
    count: int


@dataclass(frozen=True)
class Capture:
    """One test of Flent: metadata, and series by name over common times.

    `results` has the values at `x_values` (s since the begin; null: no value), `raw_values` the samples as
    they were taken, each with its time ``t`` (s since 1970) and its value ``val``; a series that is computed
    of others has none there. Goodputs are in Mbit/s, pings in ms.
    """

    metadata: Mapping[str, Any]
    x_values: Sequence[float]
    results: Mapping[str, Sequence[float | None]]
    raw_values: Mapping[str, Sequence[Mapping[str, Any]]]
    #: Name of the file.
    origin: str = field(default="", compare=False)

    @property
    def test(self) -> str:
        """Name of the test, such as ``tcp_nup``."""
        return str(self.metadata.get("NAME") or "")

    @property
    def title(self) -> str:
        """The title that the user gave, or the name of the test."""
        return str(self.metadata.get("TITLE") or "") or self.test

    def flows(self, direction: str) -> list[str]:
        """Series of the TCP flows of a direction, in the order of their numbers."""
        return sorted((name for name in self.results if _direction_of(name) == direction), key=_by_number)

    @cached_property
    def pings(self) -> list[str]:
        """Series of pings."""
        found = {name: of["label"] for name in self.results if (of := _PING.fullmatch(name))}
        return sorted((name for name, label in found.items() if not _computed(label)), key=_by_number)

    def samples(self, name: str) -> Samples:
        """Samples of a series: the raw ones, and for a series without any its values at `x_values`."""
        raw = [one for one in self.raw_values.get(name, ()) if one.get("val") is not None and "t" in one]
        if raw:
            times = np.array([float(one["t"]) for one in raw]) - self.begin
            spans = [one.get("dur") for one in raw]
            whole = all(isinstance(one, int | float) for one in spans)
            values = np.array([float(one["val"]) for one in raw])
            return Samples(times, values, np.array(spans, float) if whole else None)
        values = _column(self.results[name])
        has = ~np.isnan(values)
        return Samples(np.asarray(self.x_values, float)[has], values[has])

    @cached_property
    def begin(self) -> float:
        """Time of `x_values` = 0, s since 1970; without a time in the metadata that of the first sample."""
        from datetime import UTC, datetime

        given = self.metadata.get("T0") or self.metadata.get("TIME")
        try:
            return datetime.fromisoformat(str(given)).replace(tzinfo=UTC).timestamp()
        except ValueError:
            times = (float(one["t"]) for of in self.raw_values.values() for one in of if "t" in one)
            return min(times, default=0.0)

    @cached_property
    def loaded(self) -> tuple[float, float]:
        """First and last time at which TCP flows have samples, s; without flows all time."""
        every = [self.samples(name) for of in DIRECTIONS for name in self.flows(of)]
        begins = [
            one.times[0] - (0 if one.spans is None else one.spans[0]) for one in every if len(one.times)
        ]
        ends = [one.times[-1] for one in every if len(one.times)]
        if not begins:
            return 0.0, max(self.x_values, default=0.0)
        return float(min(begins)), float(max(ends))

    def goodput(self, direction: str) -> float | None:
        """Sum of the mean goodputs of a direction's flows, Mbit/s; None without flows."""
        means = [of.mean for name in self.flows(direction) if len((of := self.samples(name)).values)]
        return sum(means) if means else None

    def total(self, direction: str) -> tuple[Numbers, Numbers]:
        """Goodput of a direction over time: `x_values` and Mbit/s, NaN where no flow has a value."""
        columns = [_column(self.results[name]) for name in self.flows(direction)]
        times = np.asarray(self.x_values, float)
        if not columns:
            return times, np.full(len(times), np.nan)
        table = np.vstack(columns)
        summed = np.where(np.isnan(table).all(axis=0), np.nan, np.nansum(table, axis=0))
        return times, summed

    def loaded_pings(self) -> Numbers:
        """All pings while TCP flows send, ms."""
        parts = [self.samples(name).within(*self.loaded).values for name in self.pings]
        return np.concatenate(parts) if parts else np.empty(0)

    def summary(self) -> list[Line]:
        """A line for each series, as in the summary that Flent prints.

        The average is that of the metadata, as far as they have one; quantiles are of the raw samples, and a
        computed series has none.
        """
        return [line for name in sorted(self.results) if (line := self._line(name)) is not None]

    def _line(self, name: str) -> Line | None:
        of = self.samples(name)
        if not len(of.values):
            return None
        about = (self.metadata.get("SERIES_META") or {}).get(name) or {}
        given = about.get("MEAN_VALUE")
        mean = float(given) if isinstance(given, int | float) else float(of.values.mean())
        unit = str(about.get("UNITS") or ("ms" if name.startswith("Ping") else "Mbits/s"))
        if not self.raw_values.get(name):
            return Line(name, unit, mean, None, None, len(of.values))
        median, p99 = np.percentile(of.values, [50, 99])
        return Line(name, unit, mean, float(median), float(p99), len(of.values))


def _direction_of(name: str) -> str | None:
    """Direction of the series of a flow; None: it is none."""
    found = _FLOW.fullmatch(name)
    if found is None or _computed(found["label"]) or "::tcp_" in found["label"]:
        return None
    return found["direction"]


def _computed(label: str) -> bool:
    return label.strip() in _COMPUTED


def _by_number(name: str) -> tuple[str, int]:
    """Sorting key of names that end with a number."""
    found = re.fullmatch(r"(.*?)(\d{0,9})", name, flags=re.S)
    assert found is not None
    return found[1], int(found[2] or 0)


def _column(values: Sequence[float | None]) -> Numbers:
    return np.array([np.nan if value is None else value for value in values], float)
