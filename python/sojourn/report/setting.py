"""The scenario as sentences."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from sojourn.plot import graph
from sojourn.result.words import seconds

#: Most items named one by one; the others are counted.
MOST_NAMED = 6
#: Keys of a link, or of a class, that are worded below.
LINK_KEYS = ("name", "from", "to", "rate", "delay", "buffer", "qdisc", "back", "one_way")
USUAL = (("framing", "ip"),)
WAY_KEYS = ("name", "stream", "from", "to", "route", "back")
TCP_KEYS = ("cc", "profile", "tcp")
CLASS_KEYS = (
    *WAY_KEYS,
    *TCP_KEYS,
    *("count", "app", "ecn", "segment", "access", "start", "stop"),
)
APP_KEYS = ("rate", "every", "reads")


def sentences(scenario: dict[str, Any]) -> list[str]:
    """The scenario in a few sentences; unset keys are left out."""
    if not graph.is_plain(scenario):
        found = [_network(graph.links_of(scenario)), *_classes(scenario.get("flows") or [])]
    else:
        found = [f"{_flows(scenario)} {_link(scenario.get('bottleneck') or {})}."]
    found.append(_time(scenario))
    changes = scenario.get("at") or []
    found += [_change(change) for change in changes[:MOST_NAMED]]
    if len(changes) > MOST_NAMED:
        found.append(f"There are {len(changes) - MOST_NAMED} more changes.")
    return [re.sub(r"(\d) us\b", r"\1 µs", sentence) for sentence in found if sentence]


def _flows(scenario: dict[str, Any]) -> str:
    groups = scenario.get("flows") or []
    if not groups:
        return "Traffic meets"
    parts = [_group(group) for group in groups]
    if len(parts) > MOST_NAMED:
        parts = [*parts[:MOST_NAMED], f"{len(groups) - MOST_NAMED} more classes of flows"]
    one = len(groups) == 1 and groups[0].get("count", 1) == 1
    return f"{_joined(parts)} {'shares' if one else 'share'}"


def _network(links: list[dict[str, Any]]) -> str:
    """Size of the network, and its queues."""
    nodes = {link.get(end) for link in links for end in ("from", "to")}
    size = f"A network of {_counted(len(nodes), 'node')} with {_counted(len(links), 'link')} between them"
    queues: dict[str, list[str]] = {}
    for link in links:
        name, back = str(link.get("name")), link.get("back") or {}
        for called, line in ((name, link), (f"{name}.back", {**link, "buffer": None, "qdisc": None, **back})):
            if line.get("qdisc") or line.get("buffer"):
                queues.setdefault(_line(line), []).append(called)
    parts = [f"{_listed(names)} ({line})" for line, names in queues.items()]
    if len(parts) > MOST_NAMED:
        parts = [*parts[:MOST_NAMED], f"{len(parts) - MOST_NAMED} more kinds of links"]
    return f"{size}; packets wait at {_joined(parts)}." if parts else f"{size}."


def _line(link: dict[str, Any]) -> str:
    """One direction of a link."""
    parts = [str(link["rate"])] if link.get("rate") else []
    if link.get("delay"):
        parts.append(f"{link['delay']} one way")
    if link.get("buffer"):
        parts.append(f"a buffer of {link['buffer']}")
    return ", ".join([*parts, *_others(link, LINK_KEYS)])


def _classes(groups: list[dict[str, Any]]) -> list[str]:
    parts = [_way(group) for group in groups[:MOST_NAMED]]
    if len(groups) > MOST_NAMED:
        parts.append(f"There are {_counted(len(groups) - MOST_NAMED, 'more class')}.")
    return parts


def _way(group: dict[str, Any]) -> str:
    """A class and its path."""
    name = f"{group['name']}: " if group.get("name") else ""
    route = graph.route_of(group)
    between = _listed(route[1:-1]) if len(route) <= MOST_NAMED else f"{len(route) - 1} links"
    over = f" over {between}" if len(route) > 2 else ""
    way = f" from {route[0]} to {route[-1]}{over}"
    back = [str(node) for node in group.get("back") or []]
    if back and back != route[::-1]:
        between = _listed(back[1:-1]) if len(back) <= MOST_NAMED else f"{len(back) - 1} links"
        way += f", and back over {between}" if between else ", and straight back"
    return f"{name}{_group(group)}{way}."


def _group(group: dict[str, Any]) -> str:
    count = graph.count_of(group)
    app, params = graph.app_of(group)
    tcp = dict(group.get("tcp") or {})
    is_tcp = app == "bulk" or bool(group.get("cc"))
    details = [str(value) for value in (group.get("cc") if is_tcp else params.get("rate"),) if value]
    if params.get("every"):
        details.append(f"one each {_brief(params['every'])}")
    if not is_tcp:
        details.append("UDP")
    if (sack := tcp.pop("sack", None)) is not None:
        details.append("with SACK" if sack else "without SACK")
    if tcp.pop("timestamps", False):
        details.append("with timestamps")
    if group.get("profile") not in (None, "default"):
        details.append(f"{group['profile']} profile")
    details += [f"{key} = {_value(value)}" for key, value in tcp.items()]
    if params.get("reads"):
        details.append(f"read at {params['reads']}")
    # Datagrams have sizes, TCP has segments.
    details += _others(params, APP_KEYS if is_tcp else (*APP_KEYS, "size"))
    details += _others(group, CLASS_KEYS)
    details += _times(group)
    details += _access(group)
    details.append("with ECN" if group.get("ecn") else "without ECN")
    if size := group.get("segment") or (None if is_tcp else params.get("size")):
        details.append(f"packets of {_brief(size)}")
    kind = "long" if app == "bulk" else app
    return f"{count} {kind} {'flow' if count == '1' else 'flows'} ({', '.join(details)})"


def _times(group: dict[str, Any]) -> Iterator[str]:
    """When its flows begin and end, where that is not the default."""
    match group.get("start"):
        case {"random": ["0 s", "1 s"]}:
            pass
        case {"random": [first, last]}:
            yield f"starting at random from {first} to {last}"
        case {"spread": [first, last]}:
            yield f"starting evenly from {first} to {last}"
        case dict() | list() as start:
            yield f"start {_brief(start)}"
        case str() as start:
            yield f"from {start} on"
    if group.get("stop"):
        yield f"until {_brief(group['stop'])}"


def _access(group: dict[str, Any]) -> Iterator[str]:
    """Delay of its access links."""
    match (group.get("access") or {}).get("delay"):
        case {"random": [first, last]} | {"spread": [first, last]}:
            yield f"access links of {first} to {last} one way"
        case str() as delay if seconds(delay):
            yield f"access links of {delay} one way"


def _others(table: dict[str, Any], worded: Collection[str]) -> list[str]:
    """The keys without words of their own, verbatim."""
    rest = (
        (key, value)
        for key, value in table.items()
        if key not in worded and value not in (None, False) and (key, value) not in USUAL
    )
    return [key if value is True else f"{key.replace('_', ' ')} {_brief(value)}" for key, value in rest]


def _brief(value: object) -> str:
    """A value, shortened: a table to its keys, a long list to its length."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_brief(of)}" for key, of in value.items() if of is not None)
    if isinstance(value, list):
        if len(value) > MOST_NAMED or any(isinstance(item, list | dict) for item in value):
            return f"of {_counted(len(value), 'value')}"
        return " to ".join(map(_value, value))
    return _value(value)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _link(link: dict[str, Any]) -> str:
    rate = link.get("rate")
    parts = [f"a link of {rate}" if rate else "one link"]
    if link.get("delay"):
        parts.append(f"{link['delay']} one way")
    if link.get("buffer"):
        parts.append(f"a buffer of {link['buffer']}")
    parts += _others(link, LINK_KEYS)
    if back := (link.get("back") or {}):
        parts.append(f"{_line(back)} on the way back")
    return parts[0] if len(parts) == 1 else f"{parts[0]} with {' and '.join(parts[1:])}"


def _time(scenario: dict[str, Any]) -> str:
    duration, warmup = scenario.get("duration"), scenario.get("warmup")
    if not duration:
        return ""
    first = f", the first {warmup} not measured" if warmup and not str(warmup).startswith("0 ") else ""
    return f"The run lasts {duration}{first}."


def _change(change: dict[str, Any]) -> str:
    values = ", ".join(f"{key} becomes {_brief(value)}" for key, value in (change.get("set") or {}).items())
    again = f" and every {change['every']} from then on" if change.get("every") else ""
    until = f" until {change['until']}" if change.get("until") else ""
    return f"At {change.get('time')}{again}{until}, {values}." if values else ""


def _joined(parts: list[str]) -> str:
    """Join parts, as in ``a, b and c``."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _listed(names: list[str]) -> str:
    """The same; of many names the first and the last."""
    if not names:
        return ""
    return (
        _joined(names)
        if len(names) <= MOST_NAMED
        else f"{', '.join(names[: MOST_NAMED - 1])}, ... {names[-1]}"
    )


def _counted(count: int, noun: str) -> str:
    """Count with its noun, such as ``1 node`` and ``2 classes``."""
    ending = "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{'' if count == 1 else ending}"
