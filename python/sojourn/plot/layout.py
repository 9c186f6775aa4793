"""Positions of a network's nodes: columns along the data, from senders to receivers."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean

from sojourn.plot.graph import Graph

#: Sweeps over the columns that order their nodes; the order converges sooner.
SWEEPS = 8
#: Most bends of all links together; with more all links are straight.
MOST_BENDS = 12

#: Column, and height in steps, up.
Place = tuple[int, float]
Bends = dict[tuple[str, str], list[Place]]


def places(graph: Graph) -> tuple[dict[str, Place], Bends]:
    """A place for each node, and one in each column that a link passes, from the link's first end on."""
    columns = _columns(graph)
    chains = {edge.ends: _passed(*edge.ends, columns) for edge in graph.edges}
    if sum(map(len, chains.values())) > MOST_BENDS:
        chains = {}
    at = columns | {bend: column for chain in chains.values() for bend, column in chain.items()}
    near: dict[str, list[str]] = {node: [] for node in at}
    for ends in (edge.ends for edge in graph.edges):
        for one, other in pairwise([ends[0], *chains.get(ends, ()), ends[1]]):
            near[one].append(other)
            near[other].append(one)
    heights = _heights(at, near, {end for one in graph.classes for step in one.steps for end in step})
    bends = {ends: [(at[bend], heights[bend]) for bend in chain] for ends, chain in chains.items() if chain}
    return {node: (columns[node], heights[node]) for node in graph.nodes}, bends


def _passed(first: str, last: str, columns: dict[str, int]) -> dict[str, int]:
    """A name and a column for each bend of a link that passes columns."""
    start, end = columns[first], columns[last]
    passed = range(start + 1, end) if start < end else range(start - 1, end, -1)
    return {f"{first}\0{last}\0{column}": column for column in passed}


def _columns(graph: Graph) -> dict[str, int]:
    """Columns of the nodes: data go to the right if possible; the longest path takes precedence."""
    after: dict[str, list[str]] = {node: [] for node in graph.nodes}

    def leads(start: str, end: str) -> bool:
        return start == end or any(leads(node, end) for node in after[start])

    for steps in sorted((one.steps for one in graph.classes), key=len, reverse=True):
        # A path that runs mostly against earlier ones is placed from its end.
        against = sum((start in after[end]) - (end in after[start]) for start, end in steps) > 0
        for start, end in (step[::-1] if against else step for step in steps):
            if end not in after[start] and not leads(end, start):
                after[start].append(end)
    columns = dict.fromkeys((node for one in graph.classes for step in one.steps for node in step), 0)
    for _ in range(len(columns)):
        for node in columns:
            columns |= {end: max(columns[end], columns[node] + 1) for end in after[node]}
    for node in columns.keys() - {end for ends in after.values() for end in ends}:
        # A pure sender is placed next to its first receiver.
        columns[node] = min((columns[end] for end in after[node]), default=1) - 1
    _place_rest(graph, columns)
    first = min(columns.values(), default=0)
    return {node: columns[node] - first for node in graph.nodes}


def _place_rest(graph: Graph, columns: dict[str, int]) -> None:
    """Place nodes on no path: between their neighbours, or beside the only one, as the link is written."""
    while rest := [node for node in graph.nodes if node not in columns]:
        beside: dict[str, list[Place]] = {node: [] for node in rest}
        for edge in graph.edges:
            for node, other, step in ((*edge.ends, -1), (*edge.ends[::-1], 1)):
                if node in beside and other in columns:
                    beside[node].append((columns[other], step))
        node = max(rest, key=lambda node: len(beside[node]))
        at = [column for column, _ in beside[node]]
        columns[node] = round(fmean(at)) if len(at) > 1 else int(sum(map(sum, beside[node])))


def _heights(columns: dict[str, int], near: dict[str, list[str]], used: set[str]) -> dict[str, float]:
    """Heights a step apart in each column, ordered by the neighbours' heights, used nodes centred."""
    stacks: dict[int, list[str]] = {}
    for node, column in columns.items():
        stacks.setdefault(column, []).append(node)
    heights: dict[str, float] = {}
    for sweep in range(SWEEPS):
        for column in sorted(stacks, reverse=sweep % 2 == 1):
            stack = stacks[column]
            stack.sort(key=lambda node: -fmean([heights.get(one, 0.0) for one in near[node]] or [0.0]))
            middle = fmean(
                [place for place, node in enumerate(stack) if node in used] or [(len(stack) - 1) / 2]
            )
            heights |= {node: middle - place for place, node in enumerate(stack)}
    return heights
