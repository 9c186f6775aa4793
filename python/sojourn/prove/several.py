"""Laws beside each other: what is proven of each, and why nothing can be of the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sojourn.errors import InputError
from sojourn.prove import Certificate, Placed, certify, placed
from sojourn.prove.region import Region
from sojourn.scenario import Scenario, each_once

#: The flows and the round trips (s) of a map, None where they are the usual ones.
Ends = tuple[tuple[float, float] | None, tuple[float, float] | None]


@dataclass
class Proven:
    """What was proven before all was done, or before Ctrl-C."""

    #: How many discs were asked about, and whether a map was.
    asked: int
    mapped: bool
    certificates: list[Certificate] = field(default_factory=list)
    #: The map of each certificate, if it has one.
    regions: list[Region | None] = field(default_factory=list)
    #: A line for each disc of which nothing can be proven.
    refused: list[str] = field(default_factory=list)
    interrupted: bool = False

    def to_json(self) -> str:
        """The certificate as its own document, those of several discs in a list of one; with their maps."""
        maps = [{} if region is None else {"map": region.to_dict()} for region in self.regions]
        told = [json.loads(one.to_json()) | shown for one, shown in zip(self.certificates, maps, strict=True)]
        document = told[0] if self.asked == 1 else {"schema": 1, "certificates": told}
        return json.dumps(document, indent=1, ensure_ascii=False)

    @property
    def progress(self) -> str:
        """How many certificates and maps there are, of how many."""
        maps = sum(region is not None for region in self.regions)
        with_maps = f" and {maps} of {self.asked} maps" if self.mapped and self.certificates else ""
        return f"{len(self.certificates) or 'none'} of {self.asked} certificates{with_maps} had finished"


def prove_each(
    scenario: Scenario,
    discs: Sequence[str],
    link: str | None,
    ends: Ends | None,
    *,
    settled: Callable[[], None],
) -> Proven:
    """Certify a link under each disc, or under its own where none is named; all first, then their maps.

    What fails for one disc is noted and the others go on; Ctrl-C ends it, and what was done is there. `ends`
    are those of the maps, None where there are none; `settled` is called when all is computed.

    Raises `InputError` where a disc is named twice.
    """
    found = Proven(max(1, len(discs)), ends is not None)
    try:
        for one in _named(scenario, discs, found):
            _certify(one, link, found)
        for place, certificate in enumerate(found.certificates):
            if ends is not None and certificate.loops:
                _map(place, ends, found)
    except KeyboardInterrupt:
        found.interrupted = True
    settled()
    found.refused = list(dict.fromkeys(found.refused))
    return found


def _named(scenario: Scenario, discs: Sequence[str], into: Proven) -> list[Placed]:
    """The scenario under each disc that can be read."""
    named = []
    asked: list[str | None] = [*discs] or [None]
    for disc in asked:
        try:
            named.append(placed(scenario, disc, "--disc"))
        except InputError as fault:
            into.refused += fault.lines
    each_once([one.label for one in named], "--disc", {one.label for one in named if one.law is not None})
    return named


def _certify(one: Placed, link: str | None, into: Proven) -> None:
    try:
        into.certificates.append(certify(one, link, "--disc"))
        into.regions.append(None)
    except InputError as fault:
        known = ("--", one.label)
        into.refused += (line if line.startswith(known) else f"{one.label}: {line}" for line in fault.lines)


def _map(place: int, ends: Ends, into: Proven) -> None:
    try:
        into.regions[place] = into.certificates[place].region(*ends)
    except InputError as fault:
        into.refused += fault.lines
