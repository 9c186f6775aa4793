"""What there is to choose from, as the compiled half lists it."""

from __future__ import annotations

import difflib
import json
from typing import Any

from sojourn.errors import InputError, missing_core

try:
    from sojourn._core import __version__ as core_version
    from sojourn._core import catalogue_json, explain_json
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["KINDS", "core_version", "entries", "explain"]

KINDS = ("laws", "discs", "ccs", "apps", "profiles", "knobs", "metrics")


def entries(kind: str) -> list[dict[str, Any]]:
    """Everything of one of `KINDS`: objects with at least `name` and `summary`.

    >>> "red" in [entry["name"] for entry in entries("laws")]
    True
    """
    found: list[dict[str, Any]] = json.loads(catalogue_json(kind))
    return found


def explain(name: str) -> dict[str, Any]:
    """One entry by name, ``"scenario"``, or keys of it. Raises `InputError` with the nearest names.

    >>> explain("pi")["kind"]
    'law'
    """
    found = explain_json(name)
    if found is None:
        known = [entry["name"] for kind in KINDS for entry in entries(kind)] + ["scenario"]
        keys = [field["key"] for field in explain("scenario")["fields"]]
        raise InputError(f'sojourn explain: "{name}" is not known; {_nearest(name, known, keys)}')
    entry: dict[str, Any] = json.loads(found)
    return entry


def _nearest(name: str, known: list[str], keys: list[str]) -> str:
    # Keys are meant where the name looks like one.
    close = difflib.get_close_matches(name, keys if "." in name else known, n=3, cutoff=0.5)
    if close:
        return f"nearest: {', '.join(close)}"
    return f"legal: {', '.join(dict.fromkeys(known))}"
