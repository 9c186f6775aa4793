"""The scenario in words."""

from __future__ import annotations

import re
from typing import Any

#: A sentence names so many links.
NAMED = 6


def sentences(scenario: dict[str, Any]) -> list[str]:
    """What ran, in a few sentences; what the scenario does not say is left out."""
    links = scenario.get("links")
    place = _network(links) if links else _link(scenario.get("bottleneck") or {})
    found = [f"{_flows(scenario)} {place}.", _time(scenario)]
    found += [_change(change) for change in scenario.get("at") or []]
    return [re.sub(r"(\d) us\b", r"\1 µs", sentence) for sentence in found if sentence]


def _flows(scenario: dict[str, Any]) -> str:
    groups = scenario.get("flows") or []
    if not groups:
        return "Traffic meets"
    parts = [_group(group) for group in groups]
    text = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]
    one = len(groups) == 1 and groups[0].get("count", 1) == 1
    return f"{text} {'shares' if one else 'share'}"


def _group(group: dict[str, Any]) -> str:
    count = group.get("count", 1)
    bulk = group.get("app", "bulk") == "bulk"
    kind = "long" if bulk else str(group["app"])
    details = [str(group[key]) for key in ("cc" if bulk else "rate",) if group.get(key)]
    if group.get("every"):
        details.append(f"one each {group['every']}")
    if not bulk:
        details.append("UDP")
    if group.get("sack") is not None:
        details.append("with SACK" if group["sack"] else "without SACK")
    if group.get("timestamps"):
        details.append("with timestamps")
    if group.get("profile") not in (None, "default"):
        details.append(f"{group['profile']} profile")
    details += [f"{key} = {_value(value)}" for key, value in (group.get("tcp") or {}).items()]
    if group.get("reads"):
        details.append(f"read at {group['reads']}")
    details.append("with ECN" if group.get("ecn") else "without ECN")
    if size := group.get("segment") or group.get("size"):
        details.append(f"packets of {_drawn(size)}")
    return f"{count} {kind} {'flow' if count == 1 else 'flows'} ({', '.join(details)})"


def _drawn(value: object) -> str:
    """A quantity, or a distribution of it as a file has it."""
    if not isinstance(value, dict):
        return str(value)
    if "table" in value:
        return "sizes from a table"
    return ", ".join(f"{key} {' to '.join(map(str, of)) if isinstance(of, list) else of}" for key, of in value.items())


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _link(link: dict[str, Any]) -> str:
    rate = link.get("rate")
    parts = [f"a link of {rate}" if rate else "one link"]
    if link.get("delay"):
        parts.append(f"{link['delay']} one way")
    if link.get("buffer"):
        parts.append(f"a buffer of {link['buffer']}")
    return parts[0] if len(parts) == 1 else f"{parts[0]} with {' and '.join(parts[1:])}"


def _network(links: list[dict[str, Any]]) -> str:
    """Each link with its rate; of many, those with a disc, and how many more there are."""
    told = [link for link in links if link.get("disc") or (link.get("back") or {}).get("disc")] or links
    told = links if len(links) <= NAMED else told[:NAMED]
    parts = [
        f"{link.get('name')} of {link.get('rate')}" if link.get("rate") else str(link.get("name"))
        for link in told
    ]
    more = len(links) - len(told)
    parts += [f"{more} more"] * (more > 0)
    text = ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else parts[0]
    return f"{len(links)} links: {text}" if len(links) > 1 else f"the link {text}"


def _time(scenario: dict[str, Any]) -> str:
    duration, warmup = scenario.get("duration"), scenario.get("warmup")
    if not duration:
        return ""
    first = f", the first {warmup} not measured" if warmup and not str(warmup).startswith("0 ") else ""
    return f"The run lasts {duration}{first}."


def _change(change: dict[str, Any]) -> str:
    what = ", ".join(f"{key} becomes {value}" for key, value in (change.get("set") or {}).items())
    return f"At {change.get('time')}, {what}." if what else ""
