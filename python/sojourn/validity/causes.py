"""What breaks a theory, each with its figure: timeouts, bursts, few flows, saturation, published models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sojourn.validity.figures import Series, packet_in_queue, samples
from sojourn.validity.runs import Array

if TYPE_CHECKING:
    from sojourn.prove import Certificate
    from sojourn.result import Result
    from sojourn.validity import Validity

#: Samples that satisfy a condition.
Condition = Callable[[Array], npt.NDArray[np.bool_]]
#: Windows below which timeouts rule, packets, and the share of windows of one packet that is reported.
SMALL_WINDOW, SINGLE = 3.0, 0.05
#: Shares that count: of samples with p = 0, of time with an empty queue, of packets lost to a full buffer.
CLIPPED, EMPTY, OVERFLOW = 0.02, 0.02, 1e-3
#: sd of the queue by that of the windows alone beyond which the packets come in bursts.
BURSTS = 2.0
#: sd of the windows by the queue at equilibrium beyond which the flows are few.
FEW = 0.5
#: Relative error of p beyond which the published windows are named.
PUBLISHED = 0.1


def explained(found: Validity, certificate: Certificate, rest: Result) -> Validity:
    """The same with its causes; those that are far from counting are left out."""
    return replace(found, causes=list(_causes(found, certificate, rest)))


def _causes(found: Validity, certificate: Certificate, rest: Result) -> Iterator[str]:
    yield from _nonlinear(found)
    yield from _timeouts(found, rest)
    yield from _saturation(found, rest)
    yield from _noise(found, certificate)
    yield from _acknowledgments(found, certificate, rest)
    if found.model != "calibrated" and abs(found.errors.get("p", 0.0)) > PUBLISHED:
        yield (
            f"windows: those of {found.model} are the published ones, not those of packets "
            "(plant.fluid.model = calibrated)"
        )


def _nonlinear(found: Validity) -> Iterator[str]:
    """A fluid that does not rest where the linear loop is stable."""
    fluid = found.plants.get("fluid")
    if fluid is None or found.certified != "stable":
        return
    swing, at = fluid["oscillation_packets"].mean, found.plants["linear"]["queue_packets"].mean
    if swing > 0.02 * at:
        yield f"large deviations: the fluid oscillates by {swing:.3g} packets, from its start on"


def _timeouts(found: Validity, rest: Result) -> Iterator[str]:
    window = found.plants["packet"]["window_packets"].mean
    single = _share(rest, found, "window_packets.", lambda values: values < 1.5)
    if window < SMALL_WINDOW or single > SINGLE:
        share = f", {100 * single:.0f} % of them of one" if single > 0.005 else ""
        yield f"timeouts: windows of {window:.2g} packets{share}"


def _saturation(found: Validity, rest: Result) -> Iterator[str]:
    zero = _share(rest, found, "p", lambda values: values <= 0.0)
    full = _share(rest, found, "p", lambda values: values >= 1.0)
    rows = [row.metrics for row in rest.rows(found.link) if row.plant == "packet"]

    def mean(name: str) -> float:
        values = [value for row in rows if isinstance(value := row[name], int | float)]
        return sum(values) / len(values) if values else 0.0

    parts = [
        (zero, CLIPPED, "p is 0 in {} of the samples"),
        (full, CLIPPED, "p is 1 in {} of the samples"),
        (mean("queue_empty_ratio"), EMPTY, "the queue is empty {} of the time"),
        (mean("overflow_ratio"), OVERFLOW, "a full buffer loses {} of the packets"),
    ]
    seen = [text.format(f"{_percent(share)} %") for share, least, text in parts if share > least]
    if seen:
        yield f"saturation: {' and '.join(seen)}"


def _percent(share: float) -> str:
    """Two digits, and whole percents from 10 on."""
    percent = 100 * share
    return f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"


def noise(certificate: Certificate) -> float:
    """Deviation of the queue by windows that random signals reduce independently (docs/theory/prove.md)."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    return math.sqrt(
        sum(one["flows"] * (one["size"] * one["window_sd_packets"]) ** 2 for one in equilibrium["classes"])
    )


def _noise(found: Validity, certificate: Certificate) -> Iterator[str]:
    """Few flows, or bursts: the packets' deviation beside that of the windows alone."""
    equilibrium = certificate.equilibrium
    assert equilibrium is not None, "a loop has an equilibrium"
    alone, at = found.noise_packets, found.plants["linear"]["queue_packets"].mean
    seen = found.plants["packet"]["queue_sd_packets"].mean
    if alone > FEW * at:
        flows = f"{equilibrium['flows']:.3g} flow{'s' * (equilibrium['flows'] != 1)}"
        moved = f"move the queue by {alone:.3g} packets (one sd) about {at:.3g}"
        yield f"few flows: the windows of {flows} alone {moved}"
    if found.certified == "stable" and seen > BURSTS * alone:
        by = f"{seen / alone:.2g} times that of the windows alone"
        yield f"bursts: the queue's sd of {seen:.3g} packets is {by}"


def _acknowledgments(found: Validity, certificate: Certificate, rest: Result) -> Iterator[str]:
    """Data in both directions of links that are congested together."""
    rows = [row for row in rest.rows(found.link) if row.plant == "packet"]
    sizes = [packet_in_queue(row, certificate) for row in rows]
    size = sum(sizes) / len(sizes)
    if size < 1:
        counted = f"backlogs are in packets of data, of which one in the queue is {size:.2f}"
        yield f"acknowledgments: they wait among data, in bunches that theory lacks; {counted}"


def _share(rest: Result, found: Validity, name: str, is_so: Condition) -> float:
    """Share of the samples of the packets' series that satisfy a condition.

    A name that ends with a dot is the begin of those of flows; others are of the link.
    """
    assert found.times is not None, "a check has times"
    names = [
        one
        for one in rest.series["name"].unique(maintain_order=True).to_list()
        if one == name or (name.endswith(".") and one.startswith(name))
    ]
    link = None if name.endswith(".") else found.link
    values = [
        samples(rest, Series(one, "packet", seed, link), found.times.warmup)[1]
        for seed in found.seeds
        for one in names
    ]
    known = np.concatenate([*values, np.empty(0)])
    known = known[np.isfinite(known)]
    return float(np.mean(is_so(known))) if len(known) else 0.0
