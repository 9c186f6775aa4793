"""Spectrum of the packets' backlog of a result, for pictures that lay a predicted one over it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.errors import InputError
from sojourn.kinds import instance
from sojourn.result import Result
from sojourn.result.words import seconds

#: Kind of an argument that is a result.
RESULT = instance(Result, "a result; expected what sojourn.run() gives")
#: Periods of the lowest frequency in a segment of Welch's method, and the least number of samples of one.
PERIODS, LEAST = 4, 64


def of_backlog(
    result: Result, place: tuple[str, str], lowest: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Frequencies, rad/s, and spectral densities of the backlog, packets^2 s, the mean of all seeds.

    `place` is a link and a qdisc. From a frequency of about `lowest` on, by Welch's method, after the
    warm-up. Raises `InputError` if the result has no such backlog, or too few samples.
    """
    from scipy.signal import welch

    link, qdisc = place
    warmup = seconds(result.scenario.get("warmup")) or 0.0
    of = result.series.filter(
        (pl.col("name").cast(pl.String) == "queue_packets")
        & (pl.col("plant").cast(pl.String) == "packet")
        & (pl.col("link").cast(pl.String) == link)
        & (pl.col("qdisc").cast(pl.String) == qdisc)
        & (pl.col("time") > warmup)
    )
    if of.is_empty():
        expected = "expected a run of the certificate's scenario"
        raise InputError(f"result: has no backlog of packets under {qdisc} at {link}; {expected}")
    runs = [one.sort("time") for one in of.partition_by("seed", maintain_order=True)]
    time = runs[0]["time"].to_numpy()
    if len(time) < LEAST:
        raise InputError(f"result: has {len(time)} samples of the backlog; expected {LEAST} or more")
    step = float(np.median(np.diff(time)))
    length = min(len(time), max(LEAST, round(PERIODS * 2 * math.pi / lowest / step)))
    found = [welch(one["value"].to_numpy(), 1 / step, nperseg=length) for one in runs]
    # One-sided, by Hz: twice the density.
    density = np.mean([power for _, power in found], axis=0)[1:] / 2
    return 2 * math.pi * found[0][0][1:], density
