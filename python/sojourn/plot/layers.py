"""Where the nodes of a network stand: in columns, from those that send to those that receive."""

from __future__ import annotations

from sojourn.plot.graph import Graph

#: How often nodes are moved next to their neighbours; it settles sooner.
ROUNDS = 24

#: Column, and height in steps, up.
Places = dict[str, tuple[int, float]]


def places(graph: Graph) -> Places:
    """A column and a height for each node; both directions of time give the same picture."""
    columns = _columns(graph)
    heights = _heights(graph, columns)
    return {node: (columns[node], heights[node]) for node in graph.nodes}


def _columns(graph: Graph) -> dict[str, int]:
    """Data go to the right where they can: a node stands behind those that send to it.

    The first class on a link says which way is to the right.
    """
    after: dict[str, list[str]] = {node: [] for node in graph.nodes}
    before: dict[str, list[str]] = {node: [] for node in graph.nodes}
    used = set()
    for one in sorted(graph.classes, key=lambda one: -len(one.steps)):
        for start, end in one.steps:
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
    """What no class passes: between its neighbours, or behind the one that it has."""
    near = _neighbours(graph)
    rest = [node for node in graph.nodes if node not in columns]
    while rest:
        known = [node for node in rest if any(other in columns for other in near[node])]
        for node in known or rest[:1]:
            at = [columns[other] for other in near[node] if other in columns]
            columns[node] = 0 if not at else at[0] + 1 if len(at) == 1 else round(sum(at) / len(at))
            rest.remove(node)


def _heights(graph: Graph, columns: dict[str, int]) -> dict[str, float]:
    """Each node level with its neighbours, as far as those of its column leave room."""
    near = _neighbours(graph)
    stacks: dict[int, list[str]] = {}
    for node in graph.nodes:
        stacks.setdefault(columns[node], []).append(node)
    heights = {node: -float(place) for stack in stacks.values() for place, node in enumerate(stack)}
    for _ in range(ROUNDS):
        for column in [*sorted(stacks), *sorted(stacks, reverse=True)]:
            stack = stacks[column]
            wanted = {
                node: sum(heights[other] for other in near[node]) / max(1, len(near[node])) for node in stack
            }
            stack.sort(key=lambda node: -wanted[node])
            heights |= _apart(stack, wanted)
    middle = (max(heights.values(), default=0.0) + min(heights.values(), default=0.0)) / 2
    return {node: round(height - middle, 3) for node, height in heights.items()}


def _apart(stack: list[str], wanted: dict[str, float]) -> dict[str, float]:
    """Heights for the nodes of a column, from the top, a step apart and about where they want to be."""
    groups: list[tuple[float, list[str]]] = []
    for node in stack:
        group = (wanted[node], [node])
        while groups and _low(groups[-1]) - 1 < _high(group):
            (middle, nodes), (other, more) = groups.pop(), group
            both = nodes + more
            group = ((middle * len(nodes) + other * len(more)) / len(both), both)
        groups.append(group)
    return {
        node: _high(group) - place for group in groups for place, node in enumerate(group[1])
    }


def _high(group: tuple[float, list[str]]) -> float:
    return group[0] + (len(group[1]) - 1) / 2


def _low(group: tuple[float, list[str]]) -> float:
    return group[0] - (len(group[1]) - 1) / 2


def _neighbours(graph: Graph) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {node: [] for node in graph.nodes}
    for edge in graph.edges:
        one, other = edge.ends
        near[one].append(other)
        near[other].append(one)
    return near
