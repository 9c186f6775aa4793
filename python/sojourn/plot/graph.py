"""A network as data for a picture: nodes, edges, and the paths of the classes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sojourn.result.traffic import app_of

__all__ = [
    "Arc",
    "Class",
    "Edge",
    "Graph",
    "app_of",
    "bits_per_second",
    "count_of",
    "is_plain",
    "label_of",
    "links_of",
    "of",
    "route_of",
]

#: A network with more nodes or links is drawn near its queues, with this many nodes.
MOST_NODES, MOST_EDGES = 24, 40
KEPT = 14
#: Most classes with a path drawn; no two of them share a colour.
MOST_CLASSES = 6
#: Default path of a class of a dumbbell.
THERE = ["left", "right"]


@dataclass(frozen=True)
class Arc:
    """One direction of a link."""

    name: str
    rate: str
    delay: str
    #: True if the direction has a qdisc.
    queue: bool

    @property
    def capacity(self) -> str:
        """Rate and delay as text."""
        return ", ".join(part for part in (self.rate, self.delay) if part and not part.startswith("0 "))


@dataclass
class Edge:
    """Two nodes, and the arcs from the first to the second and back."""

    ends: tuple[str, str]
    there: Arc | None = None
    back: Arc | None = None

    @property
    def arcs(self) -> list[Arc]:
        """The directions, one or two."""
        return [arc for arc in (self.there, self.back) if arc is not None]

    @property
    def capacity(self) -> tuple[str, ...]:
        """Rate and delay as text, of both directions if they differ."""
        return tuple(dict.fromkeys(arc.capacity for arc in self.arcs))

    @property
    def has_queue(self) -> bool:
        """True if either direction has a qdisc."""
        return any(arc.queue for arc in self.arcs)


@dataclass(frozen=True)
class Class:
    """A class of flows: its label and path."""

    label: str
    #: Index of its colour.
    place: int
    #: Pairs of nodes, one link each; undrawn parts of the path are left out.
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Graph:
    """The drawn parts, and a note on the others."""

    nodes: list[str]
    edges: list[Edge]
    classes: list[Class]
    note: str


def is_plain(scenario: dict[str, Any]) -> bool:
    """True for a dumbbell whose data all go the same way: one queue between senders and receivers."""
    back = (scenario.get("bottleneck") or {}).get("back") or {}
    ways = [route_of(flows) for flows in scenario.get("flows") or []]
    has_queue = bool(back.get("qdisc") or back.get("buffer"))
    return not scenario.get("links") and not has_queue and all(way == THERE for way in ways)


def links_of(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """The links as a file with `[[links]]` has them."""
    start, end = THERE
    ends = {"name": "bottleneck", "from": start, "to": end}
    return scenario.get("links") or [ends | (scenario.get("bottleneck") or {})]


def route_of(flows: dict[str, Any]) -> list[str]:
    """Nodes on the path of a class's data."""
    return [str(node) for node in flows.get("route") or THERE]


def count_of(flows: dict[str, Any]) -> str:
    """Number of flows of a class; an upper bound if they arrive during the run."""
    return f"{'at most ' if flows.get('arrivals') else ''}{flows.get('count', 1)}"


def label_of(flows: dict[str, Any]) -> str:
    """Number of flows, their name, and their traffic."""
    app = app_of(flows)[0] if flows.get("app") else None
    name, sends = flows.get("name") or app, flows.get("cc") or app
    traffic = f" ({sends})" if name and sends and sends != name else ""
    return f"{count_of(flows)} × {name or sends or 'flows'}{traffic}"


def of(scenario: dict[str, Any]) -> Graph:
    """Graph of a scenario; of a large network the queues and their neighbourhood."""
    edges = _edges(links_of(scenario))
    nodes = list(dict.fromkeys(end for edge in edges for end in edge.ends))
    kept = nodes
    if len(nodes) > MOST_NODES or len(edges) > MOST_EDGES:
        kept = _around_queues(edges)
    here = set(kept)
    shown = [edge for edge in edges if here.issuperset(edge.ends)]
    flows = scenario.get("flows") or []
    drawn = [_class(one, place, shown) for place, one in enumerate(flows)]
    classes = [one for one in drawn if one.steps][:MOST_CLASSES]
    classes = [Class(one.label, place, one.steps) for place, one in enumerate(classes)]
    notes = []
    if len(kept) < len(nodes):
        notes.append(f"{len(kept)} of {len(nodes)} nodes: queues and what is next to them")
    if len(classes) < len(flows):
        notes.append(f"{len(classes)} of {len(flows)} classes")
    return Graph(kept, shown, classes, "; ".join(notes))


def _edges(links: Iterable[dict[str, Any]]) -> list[Edge]:
    found: dict[frozenset[str], Edge] = {}
    for link in links:
        ends = (str(link.get("from")), str(link.get("to")))
        edge = found.setdefault(frozenset(ends), Edge(ends))
        name = str(link.get("name") or "-".join(ends))
        there: Arc | None = _arc(name, link, {})
        back = None if link.get("one_way") else _arc(f"{name}.back", link.get("back") or {}, link)
        if edge.ends != ends:
            there, back = back, there
        edge.there, edge.back = edge.there or there, edge.back or back
    return list(found.values())


def _arc(name: str, line: dict[str, Any], other: dict[str, Any]) -> Arc:
    """One direction; missing keys are those of the other."""
    rate = line.get("rate") or _trace(line.get("trace") or {}) or other.get("rate")
    delay = line.get("delay") or other.get("delay")
    queue = bool(line.get("qdisc") or line.get("buffer"))
    return Arc(name, str(rate or ""), str(delay or "").replace("us", "µs"), queue)


def _trace(trace: dict[str, Any]) -> str:
    """The trace of a link without a rate: its model and the mean, or the name of its file."""
    for model, parameters in trace.items():
        if isinstance(parameters, dict):
            return f"{model} {parameters.get('mean') or 'trace'}"
    return str(trace.get("file") or ("trace" if trace else "")).rpartition("/")[2]


def _around_queues(edges: list[Edge]) -> list[str]:
    """Nodes at links with a queue, then their neighbours."""
    queues = [edge for edge in edges if edge.has_queue]
    kept = list(dict.fromkeys(end for edge in queues for end in edge.ends))[:KEPT]
    for edge in edges:
        if len(kept) < KEPT and len(set(edge.ends) & set(kept)) == 1:
            kept += [end for end in edge.ends if end not in kept]
    return kept


def _class(flows: dict[str, Any], place: int, edges: list[Edge]) -> Class:
    drawn = {frozenset(edge.ends) for edge in edges}
    steps = tuple(step for step in pairwise(route_of(flows)) if frozenset(step) in drawn)
    return Class(label_of(flows), place, steps)


def bits_per_second(rate: str) -> float | None:
    """A rate such as ``"10 Mbit/s"`` or ``"lte 10 Mbit/s"`` as a number; None for any other text.

    >>> bits_per_second("10 Mbit/s")
    10000000.0
    """
    found = re.fullmatch(r"(?:\S+ )?([0-9.]+(?:e[-+]?[0-9]+)?) ([kMG]?)bit/s", rate)
    if not found:
        return None
    try:
        return float(found[1]) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]]
    except ValueError:
        return None
