"""Certificates of several laws, and the reasons of those without one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.errors import InputError, RunFailed
from sojourn.prove import Certificate, certify
from sojourn.prove.region import Region
from sojourn.resolve import Setup, check_labels, under_qdisc
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from sojourn.deviations import Deviations
    from sojourn.simulate import Watch
    from sojourn.validity import Validity
    from sojourn.validity.grid import ValidityMap

#: Flows and base RTTs (s) of a map, None for the default ones.
Ends = tuple[tuple[float, float] | None, tuple[float, float] | None]


@dataclass(frozen=True)
class Runs:
    """Runs of checks: seeds of packets, workers, points along an axis of a map, and who watches."""

    seeds: Sequence[int] | None = None
    jobs: int | None = None
    points: int | None = None
    watch: Watch | None = None


@dataclass
class Proven:
    """The certificates so far: all of them, or those before Ctrl-C."""

    #: Number of qdiscs requested, and True if maps are.
    requested: int
    mapped: bool
    #: True if certificates are compared with the plants.
    checked: bool = False
    certificates: list[Certificate] = field(default_factory=list)
    #: Map of each certificate, if any.
    regions: list[Region | None] = field(default_factory=list)
    #: Comparison of each certificate with the plants, if any.
    checks: list[Validity | None] = field(default_factory=list)
    #: Map of each comparison, if any.
    grids: list[ValidityMap | None] = field(default_factory=list)
    #: Large deviations of each certificate, if any.
    deviations: list[Deviations | None] = field(default_factory=list)
    #: One line for each qdisc without a proof.
    refused: list[str] = field(default_factory=list)
    interrupted: bool = False

    def to_json(self) -> str:
        """The certificate as its own document, those of several qdiscs in a list of one; with their maps."""
        documents = [
            json.loads(one.to_json())
            | ({} if region is None else {"map": region.to_dict()})
            | ({} if check is None else {"check": check.to_dict()})
            | ({} if grid is None else {"check_map": grid.to_dict()})
            | ({} if large is None else {"deviations": large.to_dict()})
            for one, region, check, grid, large in zip(
                self.certificates, self.regions, self.checks, self.grids, self.deviations, strict=True
            )
        ]
        document = documents[0] if self.requested == 1 else {"schema": 1, "certificates": documents}
        return json.dumps(document, indent=1, ensure_ascii=False)

    @property
    def progress(self) -> str:
        """Numbers of certificates and maps, of those requested."""
        maps = sum(region is not None for region in self.regions)
        with_maps = f" and {maps} of {self.requested} maps" if self.mapped and self.certificates else ""
        checks = sum(check is not None for check in self.checks)
        with_checks = (
            f" and {checks} of {self.requested} checks" if self.checked and self.certificates else ""
        )
        finished = f"{len(self.certificates) or 'none'} of {self.requested} certificates"
        return f"{finished}{with_maps}{with_checks} had finished"


def prove_each(
    scenario: Scenario,
    qdiscs: Sequence[str],
    link: str | None,
    ends: Ends | None,
    *,
    settled: Callable[[], None],
    runs: Runs | None = None,
    iterations: int | None = None,
) -> Proven:
    """Certify a link under each qdisc, or under its own if none is named; all first, then their maps.

    A failure of one qdisc is noted and the others go on; Ctrl-C stops after the finished ones. `ends` are
    those of the maps, None: no maps; `runs` are those of checks, None: no checks; `iterations` are those of
    large deviations, None: none; `settled` is called when all is computed.

    Raises `InputError` if a qdisc is named twice.
    """
    found = Proven(max(1, len(qdiscs)), ends is not None, runs is not None)
    try:
        for one in _resolved(scenario, qdiscs, found):
            _certify(one, link, found)
        for place, certificate in enumerate(found.certificates):
            if ends is not None and certificate.loops:
                _map(place, ends, found)
            if iterations is not None and certificate.loops:
                _deviate(place, iterations, found)
            if runs is not None and certificate.loops:
                _check(place, runs, found)
            if runs is not None and ends is not None and found.checks[place] is not None:
                _check_map(place, ends, runs, found)
    except KeyboardInterrupt:
        found.interrupted = True
    settled()
    found.refused = list(dict.fromkeys(found.refused))
    return found


def _resolved(scenario: Scenario, qdiscs: Sequence[str], into: Proven) -> list[Setup]:
    """The scenario under each valid qdisc."""
    setups = []
    requested: list[str | None] = [*qdiscs] or [None]
    for qdisc in requested:
        try:
            setups.append(under_qdisc(scenario, qdisc, "--qdisc"))
        except InputError as error:
            into.refused += error.lines
    check_labels(setups, "--qdisc")
    return setups


def _certify(one: Setup, link: str | None, into: Proven) -> None:
    try:
        into.certificates.append(certify(one, link, "--qdisc"))
        into.regions.append(None)
        into.checks.append(None)
        into.grids.append(None)
        into.deviations.append(None)
    except InputError as error:
        known = ("--", one.label)
        into.refused += (line if line.startswith(known) else f"{one.label}: {line}" for line in error.lines)


def _map(place: int, ends: Ends, into: Proven) -> None:
    try:
        into.regions[place] = into.certificates[place].region(*ends)
    except InputError as error:
        into.refused += error.lines


def _check(place: int, runs: Runs, into: Proven) -> None:
    from sojourn.validity import check

    certificate = into.certificates[place]
    try:
        into.checks[place] = check(certificate, runs.seeds, runs.jobs, runs.watch)
    except (InputError, RunFailed) as error:
        into.refused += (f"{certificate.law}: {line}" for line in error.lines)


def _check_map(place: int, ends: Ends, runs: Runs, into: Proven) -> None:
    from sojourn.validity.grid import POINTS, Extent, check_map
    from sojourn.validity.grid import Runs as OfMap

    certificate = into.certificates[place]
    extent = Extent(*ends, POINTS if runs.points is None else runs.points)
    try:
        into.grids[place] = check_map(certificate, extent, OfMap(runs.seeds, runs.jobs, runs.watch))
    except (InputError, RunFailed) as error:
        into.refused += (f"{certificate.law}: {line}" for line in error.lines)


def _deviate(place: int, iterations: int, into: Proven) -> None:
    try:
        into.deviations[place] = into.certificates[place].deviations(iterations)
    except InputError as error:
        into.refused += (f"{into.certificates[place].law}: {line}" for line in error.lines)
