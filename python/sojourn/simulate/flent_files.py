"""Data files of Flent of finished runs, by the packets that were recorded for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sojourn.errors import InputError
from sojourn.files import parts_of_names
from sojourn.flent import export
from sojourn.flent.mapping import Traffic, mapped
from sojourn.flent.writing import file_name, write
from sojourn.result import Result
from sojourn.scenario import Scenario
from sojourn.simulate.records import FLENT, Recorded, Recording, Request


def links_of(requests: Sequence[Request], scenario: Scenario, option: str) -> tuple[str, ...]:
    """Links whose packets are recorded for Flent: those with a queue that flows or pings cross.

    Raises `InputError` if a data file of Flent is requested, and no test of it is like the scenario.
    """
    if all(one.kind != FLENT for one in requests):
        return ()
    document = json.loads(scenario.to_json())
    try:
        plan = mapped(document)
    except InputError as error:
        raise InputError(*(f"{option} {line}" for line in error.lines)) from None
    queued = set(_queued(document))
    crossed = (link for one in (*plan.uploads, *plan.downloads, *plan.pings) for link in _links(one))
    return tuple(link for link in dict.fromkeys(crossed) if link in queued)


def complete(recording: Recording, runs: Sequence[Recorded], result: Result, classes: Sequence[str]) -> None:
    """Write the file of each run of the result, and remove the rows that were recorded for it.

    Raises `InputError` for a run without pings, and `NotWritten`.
    """
    recorded = {(one.qdisc, one.seed): one for one in runs}
    names = dict(zip(result.qdiscs, parts_of_names(result.qdiscs), strict=True))
    try:
        for variant, seed in export.runs(result):
            own = recorded.get((variant.qdisc, seed)) if variant.plant == "packet" else None
            packets = None if own is None else own.flent_packets(classes)
            capture = export.capture(result, variant, seed, packets)
            path = recording.folder / file_name(capture, names[variant.qdisc], variant, seed)
            write([(path, capture)])
    finally:
        for one in runs:
            recording.discard(record for record in one.records if record[0] == FLENT)


def _links(traffic: Traffic) -> tuple[str, ...]:
    return (*traffic.forth, *traffic.back)


def _queued(scenario: dict[str, Any]) -> Iterator[str]:
    """Names of the links with a queue of their own: a qdisc or a buffer."""
    links = scenario.get("links") or [scenario["bottleneck"] | {"name": "bottleneck"}]
    for link in links:
        for name, of in ((link["name"], link), (f"{link['name']}.back", link.get("back"))):
            if of is not None and (of["qdisc"] is not None or of["buffer"] is not None):
                yield name
