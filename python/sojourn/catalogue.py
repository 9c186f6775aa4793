"""The catalogue of the compiled half."""

from __future__ import annotations

import difflib
import json
from typing import Any

from sojourn.errors import InputError, missing_core
from sojourn.kinds import takes, text
from sojourn.listed import KINDS
from sojourn.other_names import OTHER_NAMES, SAME_NAMES, OtherName

try:
    from sojourn._core import __version__ as core_version
    from sojourn._core import catalogue_json, explain_json
except ImportError as error:
    raise missing_core(error) from error

__all__ = ["KINDS", "core_version", "entries", "explain"]

# Longest name that an error shows, characters.
_MOST_LETTERS = 60


@takes(kind=text)
def entries(kind: str) -> list[dict[str, Any]]:
    """All entries of one of `KINDS` or of ``"topics"``: objects with at least `name` and `summary`.

    For ``"keys"`` every parameter of a scenario and of the entries: objects as in the `fields` of an entry,
    with the kind `of` what they are, and the key `set` that an override names. Raises `InputError`.

    >>> "red" in [entry["name"] for entry in entries("laws")]
    True
    """
    try:
        found: list[dict[str, Any]] = json.loads(catalogue_json(kind))
    except ValueError as error:
        raise InputError(f"kind: {error}") from None
    return found


@takes(name=text)
def explain(name: str) -> dict[str, Any]:
    """One entry by name, ``"scenario"``, a topic, or a key. Raises `InputError` with the nearest names.

    Names that people know from elsewhere, such as ``"l4s"`` or ``"copa"``, are topics with what is nearest.

    A parameter of an entry is ``"drr.quantum"``; one of a table, ``"drr.reserved.rate"``; one of the default
    law within, ``"drr.law.target"``.

    >>> explain("pi")["kind"]
    'law'
    """
    # Entries have small letters and underscores; the field's names for them often have not.
    spelled = name.strip().lower().replace("-", "_").replace(" ", "_")
    found = explain_json(name) or explain_json(spelled)
    elsewhere = next((one for one in (name.lower(), spelled) if one in OTHER_NAMES), None)
    if found is None and elsewhere is not None:
        return _elsewhere(elsewhere, OTHER_NAMES[elsewhere])
    if found is None:
        kinds = (*KINDS, "topics")
        known = [entry["name"] for kind in kinds for entry in entries(kind)]
        known += ["scenario", *OTHER_NAMES]
        keys = [field["key"] for field in entries("keys")]
        word = name if len(name) <= _MOST_LETTERS else f"{name[:_MOST_LETTERS]}..."
        raise InputError(f'sojourn explain: "{word}" is not known; {_nearest(name, known, keys)}')
    entry: dict[str, Any] = json.loads(found)
    if (also := SAME_NAMES.get(entry["name"])) is not None:
        entry["idea"] = f"{entry['idea']}\n\n{also}"
    return entry


def _elsewhere(name: str, of: OtherName) -> dict[str, Any]:
    idea = f"{of.here}\n\nNearest: {', '.join(of.nearest)}."
    return {"name": name, "kind": "topic", "summary": of.summary, "idea": idea, "source": of.source}


def _nearest(name: str, known: list[str], keys: list[str]) -> str:
    # A name with a dot or bracket is taken for a key.
    close = difflib.get_close_matches(name, keys if "." in name else known, n=3, cutoff=0.5)
    if close:
        return f"nearest: {', '.join(close)}"
    topics = ", ".join(entry["name"] for entry in entries("topics"))
    lists = ", ".join(KINDS[1:])
    return (
        f"expected a name from 'sojourn list laws' (or {lists}), scenario, {topics}, or a key of a scenario"
    )
