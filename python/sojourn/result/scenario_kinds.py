"""Kinds of the parts of a scenario that pages and pictures read: a third party's file may hold anything."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.result.rules import (
    AN_OBJECT,
    AN_OBJECT_OR_NULL,
    AS_WRITTEN,
    COUNT,
    FLAG_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    Rule,
    is_filled_list,
    is_list,
    is_texts,
    need,
)
from sojourn.result.words import seconds

#: Longest run, seconds.
_LONGEST_S = 1e12

Check = Callable[[Path, Any, str], None]


def check(path: Path, document: dict[str, Any]) -> None:
    """Raise `InputError` if the scenario in result.json has a part that is not of its kind.

    The line names the file, the key and the expected value.
    """
    need(path, document, "scenario", AN_OBJECT)
    scenario = document["scenario"]
    _object(path, scenario, "scenario", {"title": TEXT, "duration": _SOME_TIME, "warmup": _TIME})
    for key in ("flows", "at"):
        need(path, scenario, key, _OBJECTS if key == "flows" else _ANY_OBJECTS, at="scenario.")
    for key, rule in (
        ("links", _ANY_OBJECTS_OR_NULL),
        ("bottleneck", AN_OBJECT_OR_NULL),
        ("sample", _TIME_OR_NULL),
        ("windows", (is_texts, "a list of texts")),
    ):
        if key in scenario:
            need(path, scenario, key, rule, at="scenario.")
    for key, of_one in (("flows", _flows), ("at", _change), ("links", _link)):
        for place, one in enumerate(scenario.get(key) or []):
            at = f"scenario.{key}[{place}]"
            need(path, {at: one}, at, AN_OBJECT)
            of_one(path, one, at)
    if scenario.get("bottleneck"):
        _link(path, scenario["bottleneck"], "scenario.bottleneck")
    if (seconds(scenario["warmup"]) or 0.0) > (seconds(scenario["duration"]) or 0.0):
        raise InputError(f"{path}: scenario.warmup: is longer than the run; {AS_WRITTEN}")


def _flows(path: Path, flows: dict[str, Any], at: str) -> None:
    _object(path, flows, at, {"count": COUNT, "access": AN_OBJECT_OR_NULL})
    _known(path, flows, at, _OF_FLOWS)
    _known(path, flows.get("access") or {}, f"{at}.access", {"rate": TEXT_OR_NULL, "delay": _DELAY})


def _change(path: Path, change: dict[str, Any], at: str) -> None:
    _object(path, change, at, {"time": _TIME, "set": AN_OBJECT})
    _known(path, change, at, {"every": TEXT_OR_NULL, "until": TEXT_OR_NULL})


def _link(path: Path, link: dict[str, Any], at: str) -> None:
    _known(path, link, at, _OF_LINKS)
    _known(
        path, link.get("trace") or {}, f"{at}.trace", dict.fromkeys(("model", "mean", "file"), TEXT_OR_NULL)
    )
    if link.get("back"):
        _link(path, link["back"], f"{at}.back")


def _object(path: Path, holder: dict[str, Any], at: str, rules: Mapping[str, tuple[Rule, str]]) -> None:
    """Check that each of the keys is present, with a value that its rule allows."""
    for key, rule in rules.items():
        need(path, holder, key, rule, at=f"{at}.")


def _known(path: Path, holder: dict[str, Any], at: str, rules: Mapping[str, tuple[Rule, str]]) -> None:
    """Check those of the keys that are present."""
    _object(path, holder, at, {key: rule for key, rule in rules.items() if key in holder})


def _is_time(value: object) -> bool:
    found = seconds(value)
    return found is not None and math.isfinite(found) and found <= _LONGEST_S


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _is_delay(value: object) -> bool:
    """A text, or a distribution: an object with one list, such as ``{"spread": ["38 ms", "42 ms"]}``."""
    if isinstance(value, dict):
        return all(isinstance(one, list) for one in value.values())
    return value is None or isinstance(value, str)


def _is_entry(value: object) -> bool:
    return (
        isinstance(value, dict) and len(value) == 1 and all(isinstance(one, dict) for one in value.values())
    )


_TIME: tuple[Rule, str] = (_is_time, 'a time such as "60 s"')
_SOME_TIME: tuple[Rule, str] = (
    lambda value: _is_time(value) and seconds(value) != 0,
    'a time such as "60 s"',
)
_TIME_OR_NULL: tuple[Rule, str] = (lambda value: value is None or _is_time(value), "a time, or null")
_OBJECTS: tuple[Rule, str] = (is_filled_list, "a list of objects, one at least")
_ANY_OBJECTS: tuple[Rule, str] = (is_list, "a list of objects")
_ANY_OBJECTS_OR_NULL: tuple[Rule, str] = (
    lambda value: value is None or isinstance(value, list),
    "a list of objects, or null",
)
_NAMES_OR_NULL: tuple[Rule, str] = (
    lambda value: value is None or _is_names(value),
    "a list of names, or null",
)
_DELAY: tuple[Rule, str] = (_is_delay, "a time, or how it is distributed")

_APP: tuple[Rule, str] = (
    lambda value: value is None or isinstance(value, str) or _is_entry(value),
    "a name, or an object with the parameters under the name",
)

_QDISC: tuple[Rule, str] = (
    lambda value: value is None or isinstance(value, str | dict),
    "a name, or an object, or null",
)

_OF_FLOWS = {
    **dict.fromkeys(("name", "cc", "profile", "segment"), TEXT_OR_NULL),
    **dict.fromkeys(("arrivals", "tcp"), AN_OBJECT_OR_NULL),
    "app": _APP,
    "ecn": FLAG_OR_NULL,
    **dict.fromkeys(("route", "back"), _NAMES_OR_NULL),
}
_OF_LINKS = {
    **dict.fromkeys(("name", "from", "to", "rate", "delay", "buffer", "framing"), TEXT_OR_NULL),
    **dict.fromkeys(("back", "trace"), AN_OBJECT_OR_NULL),
    "qdisc": _QDISC,
    "one_way": FLAG_OR_NULL,
}
