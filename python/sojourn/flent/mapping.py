"""Tests of Flent that scenarios correspond to: bulk flows of one client up, down, or both, and pings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.flent.capture import DOWNLOAD, UPLOAD

#: Most flows of a file.
MOST_FLOWS = 1000
EXPECTED = 'expected [[flows]] with app = "bulk" or "rrul" between the client and the server'
#: Flows each way, and pings, of rrul_be.
_RRUL_FLOWS, _RRUL_PINGS = 4, 4


@dataclass(frozen=True)
class Traffic:
    """A class of flows: its name, its number of flows, its congestion control, and its links."""

    name: str
    count: int
    cc: str | None
    #: Links of its data, and of what comes back.
    forth: tuple[str, ...]
    back: tuple[str, ...]


@dataclass(frozen=True)
class Mapped:
    """A scenario as a test of Flent."""

    test: str
    uploads: tuple[Traffic, ...]
    downloads: tuple[Traffic, ...]
    pings: tuple[Traffic, ...]
    #: Nodes at both ends.
    client: str
    server: str

    @property
    def flow_names(self) -> dict[str, list[str]]:
        """Names of the series of all flows, by direction."""
        counts = {UPLOAD: _count(self.uploads), DOWNLOAD: _count(self.downloads)}
        return {way: [self._flow(way, place) for place in range(1, n + 1)] for way, n in counts.items()}

    def _flow(self, direction: str, place: int) -> str:
        if self.test == "rrul_be":
            return f"TCP {direction} BE{'' if place == 1 else place}"
        return f"TCP {direction}{' BE' if self.test == 'rrul_be_nflows' else ''}::{place}"

    @property
    def ping_names(self) -> list[str]:
        """Names of the series of pings: the first is of ICMP, the others of UDP."""
        if self.test == "rrul_be":
            return ["Ping (ms) ICMP", *(f"Ping (ms) UDP BE{place}" for place in range(1, _RRUL_PINGS))]
        return ["Ping (ms) ICMP", *(["Ping (ms) UDP BE"] if self.test == "rrul_be_nflows" else [])]

    @property
    def parameters(self) -> dict[str, str]:
        """Parameters of the test."""
        counts = {"upload_streams": _count(self.uploads), "download_streams": _count(self.downloads)}
        return {} if self.test == "rrul_be" else {name: str(n) for name, n in counts.items() if n}


def mapped(scenario: Mapping[str, Any]) -> Mapped:
    """The test that a scenario (its JSON) corresponds to. Raises `InputError` if there is none."""
    client, links = _network(scenario)
    changed = {key for change in scenario["at"] for key in change["set"]}
    uploads: list[Traffic] = []
    downloads: list[Traffic] = []
    pings: list[Traffic] = []
    server = ""
    for place, flows in enumerate(scenario["flows"]):
        app = flows["app"] if isinstance(flows["app"], str) else next(iter(flows["app"]))
        if app not in ("bulk", "ping"):
            continue
        way = flows["route"] or ([flows["from"], flows["to"]] if flows["from"] else ["left", "right"])
        if client not in (way[0], way[-1]):
            ends = f"class {flows['name']} runs from {way[0]} to {way[-1]}"
            raise InputError(f"flent: {ends}, past the client {client}; {EXPECTED}")
        traffic = Traffic(
            flows["name"],
            _fixed(flows, {f"{flows['name']}.count", f"flows[{place}].count"} & changed),
            _name_of(flows["cc"]),
            _along(links, way),
            _along(links, flows["back"] or way[::-1]),
        )
        server = server or (way[-1] if way[0] == client else way[0])
        if app == "bulk":
            (uploads if way[0] == client else downloads).append(traffic)
        elif traffic.count == 1:
            pings.append(traffic)
    if not uploads and not downloads:
        message = "no test of Flent is like this scenario, which has no bulk flows"
        raise InputError(f"flent: {message}; {EXPECTED}")
    test = _test(_count(uploads), _count(downloads), len(pings))
    return Mapped(test, tuple(uploads), tuple(downloads), tuple(pings), client, server)


def _test(up: int, down: int, pings: int) -> str:
    if up + down > MOST_FLOWS:
        raise InputError(f"flent: the scenario has {up + down} bulk flows; expected at most {MOST_FLOWS}")
    if not down:
        return "tcp_nup"
    if not up:
        return "tcp_ndown"
    return "rrul_be" if up == down == _RRUL_FLOWS and pings == _RRUL_PINGS else "rrul_be_nflows"


def _network(scenario: Mapping[str, Any]) -> tuple[str, dict[tuple[str, str], str]]:
    """The client, where the first link begins, and the names of links by their ends."""
    if scenario.get("bottleneck") is not None:
        return "left", {("left", "right"): "bottleneck", ("right", "left"): "bottleneck.back"}
    links: dict[tuple[str, str], str] = {}
    for link in scenario["links"]:
        links[link["from"], link["to"]] = link["name"]
        if not link["one_way"]:
            links.setdefault((link["to"], link["from"]), f"{link['name']}.back")
    return scenario["links"][0]["from"], links


def _along(links: Mapping[tuple[str, str], str], way: Sequence[str]) -> tuple[str, ...]:
    return tuple(links[step] for step in itertools.pairwise(way) if step in links)


def _fixed(flows: Mapping[str, Any], changes: set[str]) -> int:
    """Number of flows of a class. Raises `InputError` where it varies."""
    if changes or flows["arrivals"] or flows["lifetime"] or not isinstance(flows["count"], int):
        message = "has flows that come and go, and Flent's tests have a fixed number"
        raise InputError(f"flent: class {flows['name']} {message}; {EXPECTED}")
    return flows["count"]


def _name_of(control: object) -> str | None:
    """Name of a congestion control, with parameters or without."""
    if isinstance(control, dict):
        return str(next(iter(control), None))
    return None if control is None else str(control)


def _count(classes: Sequence[Traffic]) -> int:
    return sum(one.count for one in classes)
