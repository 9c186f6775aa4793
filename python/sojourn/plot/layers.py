"""Where the nodes of a network stand: in columns, from those that send to those that receive."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from sojourn.plot.graph import Edge, Graph

#: How often nodes are moved next to their neighbours; it settles sooner.
ROUNDS = 24
#: How much more than others a node weighs for each class that passes it.
STRAIGHT = 1e6

#: Links get no more bends than this together, else none: they would leave the nodes no room.
MOST_BENDS = 12

#: Column, and height in steps, up.
Place = tuple[int, float]
Places = dict[str, Place]
#: Where a link between two nodes has its bends, from the first node on.
Bends = dict[tuple[str, str], list[Place]]


def places(graph: Graph) -> tuple[Places, Bends]:
    """A column and a height for each node; both directions of time give the same picture.

    A link that passes columns has a bend in each of them, which has its room as a node has.
    """
    columns = _columns(graph)
    bends = _bends(graph, columns)
    parts = [Edge(part) for edge in graph.edges for part in pairwise(_chain(edge, bends))]
    among = {node: column for chain in bends.values() for node, column in chain.items()}
    at = columns | among
    heights = _heights(replace(graph, nodes=[*graph.nodes, *among], edges=parts), at)
    return (
        {node: (columns[node], heights[node]) for node in graph.nodes},
        {ends: [(at[node], heights[node]) for node in chain] for ends, chain in bends.items()},
    )


def _bends(graph: Graph, columns: dict[str, int]) -> dict[tuple[str, str], dict[str, int]]:
    """For each link that passes columns a name and a column for each of its bends, from its first node on."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for edge in graph.edges:
        first, last = (columns[end] for end in edge.ends)
        passed = range(first + 1, last) if first < last else range(first - 1, last, -1)
        if passed:
            found[edge.ends] = {"\0".join((*edge.ends, str(column))): column for column in passed}
    return found if sum(map(len, found.values())) <= MOST_BENDS else {}


def _chain(edge: Edge, bends: dict[tuple[str, str], dict[str, int]]) -> list[str]:
    """The ends of a link and its bends between them."""
    return [edge.ends[0], *bends.get(edge.ends, {}), edge.ends[1]]


def _columns(graph: Graph) -> dict[str, int]:
    """Data go to the right where they can: a node stands behind those that send to it.

    The first class on a link says which way is to the right.
    """
    after: dict[str, list[str]] = {node: [] for node in graph.nodes}
    before: dict[str, list[str]] = {node: [] for node in graph.nodes}
    used = set()
    for one in sorted(graph.classes, key=lambda one: -len(one.steps)):
        # What goes to the left most of the time is seen from its end.
        to_right = sum(end in after[start] for start, end in one.steps)
        to_left = sum(start in after[end] for start, end in one.steps)
        steps = [(end, start) for start, end in one.steps] if to_left > to_right else one.steps
        for start, end in steps:
            if frozenset((start, end)) not in used and not _leads(after, end, start):
                used.add(frozenset((start, end)))
                after[start].append(end)
                before[end].append(start)
    columns: dict[str, int] = {}
    for node in _in_order(graph.nodes, before, after):
        if before[node] or after[node]:
            columns[node] = max((columns[other] + 1 for other in before[node]), default=0)
    # Those who only send stand next to those who hear them.
    for node in graph.nodes:
        if after[node] and not before[node]:
            columns[node] = min(columns[other] for other in after[node]) - 1
    _place_rest(graph, columns)
    first = min(columns.values(), default=0)
    return {node: column - first for node, column in columns.items()}


def _leads(after: dict[str, list[str]], start: str, end: str) -> bool:
    """Whether there is a way to the right from one node to another."""
    seen, open_ = {start}, [start]
    while open_:
        for node in after[open_.pop()]:
            if node not in seen:
                seen.add(node)
                open_.append(node)
    return end in seen


def _in_order(nodes: list[str], before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """The nodes, each behind all those before it."""
    waits = {node: len(before[node]) for node in nodes}
    ready = [node for node in nodes if not waits[node]]
    for node in ready:
        for other in after[node]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return ready


def _place_rest(graph: Graph, columns: dict[str, int]) -> None:
    """What no class passes: between its neighbours, or beside the one that it has, as the link is written."""
    near = _neighbours(graph)
    written = {edge.ends for edge in graph.edges}
    rest = [node for node in graph.nodes if node not in columns]
    while rest:
        known = [node for node in rest if any(other in columns for other in near[node])]
        for node in known or rest[:1]:
            beside = [other for other in near[node] if other in columns]
            at = [columns[other] for other in beside]
            if len(at) == 1:
                columns[node] = at[0] + (-1 if (node, beside[0]) in written else 1)
            else:
                columns[node] = round(sum(at) / len(at)) if at else 0
            rest.remove(node)


def _heights(graph: Graph, columns: dict[str, int]) -> dict[str, float]:
    """Each node level with its neighbours, as far as its column leaves room; ways stay straight."""
    near = _neighbours(graph)
    weight = dict.fromkeys(graph.nodes, 1.0)
    for one in graph.classes:
        for node in {end for step in one.steps for end in step}:
            weight[node] += STRAIGHT
    stacks: dict[int, list[str]] = {}
    for node in graph.nodes:
        stacks.setdefault(columns[node], []).append(node)
    heights = {node: -float(place) for stack in stacks.values() for place, node in enumerate(stack)}
    for _ in range(ROUNDS):
        for column in [*sorted(stacks), *sorted(stacks, reverse=True)]:
            stack = stacks[column]
            wanted = {node: _mean(heights, weight, near[node]) for node in stack}
            stack.sort(key=lambda node: -round(wanted[node], 6))
            heights |= _apart(stack, wanted, weight)
    middle = (max(heights.values(), default=0.0) + min(heights.values(), default=0.0)) / 2
    return {node: round(height - middle, 3) for node, height in heights.items()}


def _mean(heights: dict[str, float], weight: dict[str, float], nodes: list[str]) -> float:
    whole = sum(weight[node] for node in nodes)
    return sum(weight[node] * heights[node] for node in nodes) / whole if whole else 0.0


def _apart(stack: list[str], wanted: dict[str, float], weight: dict[str, float]) -> dict[str, float]:
    """Heights for the nodes of a column, from the top, a step apart and about where they want to be."""
    # The height of the first of some nodes that stand a step apart, their weight, the nodes.
    groups: list[tuple[float, float, list[str]]] = []
    for node in stack:
        top, heavy, nodes = wanted[node], weight[node], [node]
        while groups and groups[-1][0] - len(groups[-1][2]) < top:
            first, more, before = groups.pop()
            top = (more * first + heavy * (top + len(before))) / (more + heavy)
            heavy, nodes = more + heavy, before + nodes
        groups.append((top, heavy, nodes))
    return {node: top - place for top, _, nodes in groups for place, node in enumerate(nodes)}


def _neighbours(graph: Graph) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {node: [] for node in graph.nodes}
    for edge in graph.edges:
        one, other = edge.ends
        near[one].append(other)
        near[other].append(one)
    return near
