"""Values of a law's parameters as the core has read them, and in the units of other programs."""

from __future__ import annotations

import json
import math
import re

from sojourn._core import catalogue_json
from sojourn.design.box import Box
from sojourn.errors import InputError
from sojourn.resolve import under_qdisc
from sojourn.scenario import Scenario

__all__ = ["Value", "counted", "defaults", "packets", "short", "size", "spec_with", "time", "values"]

#: A number, a flag, or a text with a unit.
Value = float | str | bool
#: Units as the core writes them.
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


def values(scenario: Scenario, spec: str) -> dict[str, Value]:
    """Parameters of a law's text in their order; texts have a space before the unit. Raises `InputError`."""
    read = json.loads(under_qdisc(scenario, spec, "SPEC").scenario.to_json())["bottleneck"]["qdisc"]
    keys = (item.partition("=")[0].strip() for item in spec.partition(":")[2].split(","))
    return {key: read[key] for key in keys if key}


def defaults(law: str) -> dict[str, Value | None]:
    """Default of each parameter of a law; None: it is derived."""
    (entry,) = (one for one in json.loads(catalogue_json("laws")) if one["name"] == law)
    return {field["key"]: field["default"] for field in entry["fields"]}


def spec_with(law: str, given: dict[str, Value]) -> str:
    """A law's text with these values."""
    texts = (
        f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in given.items()
    )
    return f"{law}:{','.join(texts)}"


def time(value: Value) -> float:
    """A time, s."""
    number, unit = _parts(value)
    return number * _SECONDS[unit]


def size(value: Value) -> float:
    """A size, B."""
    number, unit = _parts(value)
    return number * _BYTES[unit]


def packets(key: str, value: Value, box: Box) -> float:
    """A backlog, packets. Raises `InputError` for a time where rates differ."""
    number, unit = _parts(value)
    if unit in _BYTES:
        return number * _BYTES[unit] / box.segment_bytes
    if unit not in _SECONDS:
        return number
    if box.capacity_pps[0] != box.capacity_pps[1]:
        raise InputError(f"emit: {key} = {value} follows the rate, and rates differ; expected packets")
    return number * _SECONDS[unit] * box.capacity_pps[0]


def _parts(value: Value) -> tuple[float, str]:
    found = re.fullmatch(r"(\S+) (\S+)", str(value))
    return (float(found[1]), found[2]) if found else (float(value), "packets")


def short(value: float | None) -> str:
    """A number in a few digits."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "unlimited" if value > 0 else "none"
    return f"{value:.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def counted(flows: float) -> str:
    """A number of flows.

    >>> counted(1.0), counted(1.5)
    ('1 flow', '1.5 flows')
    """
    return f"{short(flows)} flow{'s' * (flows != 1)}"
