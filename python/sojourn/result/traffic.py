"""Classes of traffic as a scenario has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def app_of(group: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name of the application of a group of flows, and its parameters.

    >>> app_of({"app": {"web": {"objects": 20}}}), app_of({})
    (('web', {'objects': 20}), ('bulk', {}))
    """
    match group.get("app"):
        case {**entry} if len(entry) == 1:
            [(name, params)] = entry.items()
            return str(name), dict(params) if isinstance(params, dict) else {}
        case name:
            return str(name or "bulk"), {}
