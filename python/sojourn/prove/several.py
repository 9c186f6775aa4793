"""Certificates of several laws, and the reasons of those without one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sojourn.errors import InputError, RunFailed
from sojourn.prove import Certificate, certify
from sojourn.prove.beside import Beside
from sojourn.prove.words import listed
from sojourn.resolve import Setup, check_labels, under_qdisc
from sojourn.scenario import Scenario

if TYPE_CHECKING:
    from sojourn.simulate import Watch
    from sojourn.validity.grid import ValidityMap

#: Flows and base RTTs (s) of a map, None for the default ones.
Ends = tuple[tuple[float, float] | None, tuple[float, float] | None]


#: Reason for no map of margins.
OWN_LAW = "the declared model of a law in Python is known at the scenario's own point alone"


@dataclass(frozen=True)
class Runs:
    """Runs of checks: seeds of packets, workers, and points along an axis of a map."""

    seeds: Sequence[int] | None = None
    jobs: int | None = None
    points: int | None = None


@dataclass
class Proven:
    """The certificates so far: all of them, or those before Ctrl-C."""

    #: Number of qdiscs requested, and True if maps are.
    requested: int
    mapped: bool
    #: True if certificates are compared with the plants.
    checked: bool = False
    #: True if large deviations are requested.
    deviates: bool = False
    certificates: list[Certificate] = field(default_factory=list)
    #: What stands beside each certificate.
    beside: list[Beside] = field(default_factory=list)
    #: One line for each qdisc without a proof, and for each run that failed.
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    interrupted: bool = False

    def to_json(self) -> str:
        """The certificate as its own document, those of several qdiscs in a list of one; with their maps."""
        documents = [
            json.loads(one.to_json()) | other.to_dict()
            for one, other in zip(self.certificates, self.beside, strict=True)
        ]
        document = documents[0] if self.requested == 1 else {"schema": 1, "certificates": documents}
        return json.dumps(document, indent=1, ensure_ascii=False)

    @property
    def progress(self) -> str:
        """Numbers of certificates and of what stands beside them, of those requested."""
        kinds = (
            (self.mapped, sum(one.region is not None for one in self.beside), "maps"),
            (self.checked, sum(one.check is not None for one in self.beside), "checks"),
            (
                self.checked and self.mapped,
                sum(one.grid is not None for one in self.beside),
                "maps of checks",
            ),
            (self.deviates, sum(one.large is not None for one in self.beside), "large deviations"),
        )
        parts = [
            f"{done} of {self.requested} {what}"
            for is_requested, done, what in kinds
            if is_requested and self.certificates
        ]
        finished = f"{len(self.certificates) or 'none'} of {self.requested} certificates"
        return f"{listed([finished, *parts])} had finished"


def prove_each(
    scenario: Scenario,
    qdiscs: Sequence[str],
    link: str | None,
    ends: Ends | None,
    *,
    settled: Callable[[], None],
    runs: Runs | None = None,
    iterations: int | None = None,
    watch: Watch | None = None,
) -> Proven:
    """Certify a link under each qdisc, or under its own if none is named; all first, then their maps.

    A failure of one qdisc is noted and the others go on; Ctrl-C stops after the finished ones. `ends` are
    those of the maps, None: no maps; `runs` are those of checks, None: no checks; `iterations` are those of
    large deviations, None: none; `watch` gets the progress of both; `settled` is called when all is computed.

    Raises `InputError` if a qdisc is named twice.
    """
    from sojourn.deviations import deviations
    from sojourn.validity import check

    found = Proven(max(1, len(qdiscs)), ends is not None, runs is not None, iterations is not None)
    try:
        for one in _resolved(scenario, qdiscs, found):
            _certify(one, link, found)
        for certificate, beside in zip(found.certificates, found.beside, strict=True):
            if not certificate.loops:
                grid = ends if runs is not None else None
                requested = {
                    "map": ends,
                    "margin_map": ends,
                    "deviations": iterations,
                    "check": runs,
                    "check_map": grid,
                }
                why = f"there is no loop: {certificate.reason}"
                beside.not_shown |= {key: why for key, value in requested.items() if value is not None}
                continue
            if ends is not None:
                with _noted(found, certificate.law):
                    beside.region = certificate.region(*ends)
                    if certificate._law is None:
                        beside.margins = certificate.margin_map(*ends)
                    else:
                        beside.not_shown["margin_map"] = OWN_LAW
            if iterations is not None:
                with _noted(found, certificate.law):
                    beside.large = deviations(certificate, iterations, watch)
            if runs is not None:
                with _noted(found, certificate.law):
                    beside.check = check(certificate, runs.seeds, runs.jobs, watch)
                if ends is not None and beside.check is not None:
                    with _noted(found, certificate.law):
                        beside.grid = _check_map(certificate, ends, runs, watch)
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
        into.beside.append(Beside())
    except InputError as error:
        known = ("--", one.label)
        into.refused += (line if line.startswith(known) else f"{one.label}: {line}" for line in error.lines)


@contextmanager
def _noted(into: Proven, law: str) -> Iterator[None]:
    """Notes what is refused or failed under a law, and goes on."""
    try:
        yield
    except InputError as error:
        into.refused += (f"{law}: {line}" for line in error.lines)
    except RunFailed as error:
        into.failed += error.lines


def _check_map(certificate: Certificate, ends: Ends, runs: Runs, watch: Watch | None) -> ValidityMap:
    from sojourn.validity.grid import POINTS, Extent, check_map
    from sojourn.validity.grid import Runs as OfMap

    extent = Extent(*ends, POINTS if runs.points is None else runs.points)
    return check_map(certificate, extent, OfMap(runs.seeds, runs.jobs, watch))
