"""Designed qdiscs: gains by `sojourn.design` for the link and the traffic of each point."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.scenario import Scenario

__all__ = ["Designer"]

#: Arguments of `sojourn.design` that a grid may give.
_GIVEN = ("target", "margin_deg", "gain_margin", "settling_s", "model")
_EXPECTED = 'expected such as { design = "pi2", target = "15 ms" }'


#: Called with the arguments of a new design as a text, and its SPEC or message.
Note = Callable[[str, list[str]], None]


class Designer:
    """Designs qdiscs, each once: `known` has their SPECs, or messages, by their arguments."""

    def __init__(self, known: Mapping[str, list[str]], note: Note | None = None) -> None:
        self.known = dict(known)
        self._note = note
        self._lock = threading.Lock()

    def __call__(self, scenario: Scenario, wanted: Mapping[str, Any]) -> str:
        """SPEC of a law with gains for the scenario's first link. Raises `InputError`."""
        spec, arguments = _arguments(scenario, wanted)
        key = json.dumps([spec, arguments], sort_keys=True)
        with self._lock:
            if key not in self.known:
                found = _designed(spec, arguments)
                if self._note is not None:
                    self._note(key, found)
                self.known[key] = found
        kind, text = self.known[key]
        if kind == "error":
            raise InputError(text)
        return text


def _arguments(scenario: Scenario, wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Arguments of `sojourn.design`: what the grid gives, and what the link and its flows have."""
    from sojourn.design.arguments import target_of

    spec = wanted.get("design")
    if not isinstance(spec, str) or not isinstance(wanted.get("target"), str):
        raise InputError(f"qdisc: {shown(dict(wanted))} is no design; {_EXPECTED}")
    if unknown := sorted(wanted.keys() - {"design", *_GIVEN}):
        raise InputError(f"qdisc: {unknown[0]} is no argument of a design; expected {', '.join(_GIVEN)}")
    link = scenario.contexts[0]
    if link.flows is None or link.base_rtt_s is None:
        raise InputError(
            "qdisc: a design needs long flows and their round trip; expected a scenario with both"
        )
    groups = [group for group in json.loads(scenario.to_json())["flows"] if group["cc"] is not None]
    capacity, segment = link.rate_bps / (8 * link.packet_bytes), round(link.packet_bytes)
    return spec, {
        **{name: wanted[name] for name in _GIVEN if name in wanted},
        "flows": link.flows,
        "rtt_s": link.base_rtt_s + target_of(wanted["target"], segment).in_seconds(capacity),
        "capacity_pps": capacity,
        "segment_bytes": segment,
        "cc": groups[0]["cc"] if groups else "newreno",
        "ecn": all(group["ecn"] for group in groups),
    }


def _designed(spec: str, arguments: dict[str, Any]) -> list[str]:
    from sojourn.design import design, words

    try:
        found = design(spec, **arguments)
    except (InputError, TypeError) as error:
        return ["error", f"design: {error}".splitlines()[0]]
    return ["spec", found.spec] if found.is_met else ["error", f"design: {words.shortfall(found)}"]
