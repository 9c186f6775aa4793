"""Sources of what ran: of laws, qdiscs, congestion controls, applications, link models and profiles."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sojourn import files
from sojourn.catalogue import core_version, entries
from sojourn.errors import InputError
from sojourn.scenario import load

__all__ = ["bibliography", "named_in", "sources"]

#: Lists of the catalogue by the keys of a scenario that name their entries.
_KINDS = {
    "qdisc": ("laws", "qdiscs"),
    "law": ("laws", "qdiscs"),
    "cc": ("ccs",),
    "app": ("apps",),
    "trace": ("links",),
    "impairments": ("impairments",),
    "profile": ("profiles",),
}
#: Documents of a folder that name what ran: of a sweep, and of a result.
_SWEEP, _RESULT = "sweep.json", "result.json"
_MOST_BYTES = 2_000_000_000
_EXPECTED = "expected a scenario, or a folder that 'sojourn run --out' or 'sojourn sweep' wrote"


def bibliography(path: str | Path) -> list[dict[str, str]]:
    """The sources of a scenario, or of what a result or a sweep has run: `kind`, `name` and `source` each.

    `path` is a scenario file, a name of the gallery, or a folder. The first one is Sojourn itself. Raises
    `InputError`.

    >>> [one["name"] for one in bibliography("dumbbell")][:3]
    ['sojourn', 'pi', 'newreno']
    """
    if Path(path).is_dir():
        return sources(_names_at(Path(path)))
    return sources(named_in(json.loads(load(path).to_json())))


def sources(names: Container[str]) -> list[dict[str, str]]:
    """Sojourn itself, then the entries of the catalogue with these lists and names that have a source."""
    itself = {"kind": "software", "name": "sojourn", "source": f"The Sojourn authors, Sojourn {core_version}"}
    kinds = dict.fromkeys(kind for several in _KINDS.values() for kind in several)
    return [itself] + [
        {"kind": _catalogue(kind)[name]["kind"], "name": name, "source": _catalogue(kind)[name]["source"]}
        for kind in kinds
        for name in _catalogue(kind)
        if f"{kind} {name}" in names and _catalogue(kind)[name]["source"]
    ]


def named_in(keys: Mapping[str, Any], spec: str = "") -> set[str]:
    """List and name of each entry of the catalogue in the keys of a scenario, and in its qdisc's SPEC."""
    found = {fact for key, value in _values(keys) if key in _KINDS for fact in _known(key, _words(value))}
    return found | set(_known("qdisc", re.findall(r"\w+", spec)))


def _names_at(folder: Path) -> set[str]:
    """The names that a folder's document has."""
    try:
        sheet = next(folder / name for name in (_SWEEP, _RESULT) if (folder / name).is_file())
        document = json.loads(files.read(sheet, _MOST_BYTES))
        if sheet.name == _SWEEP:
            return {str(one) for one in document["ran"]}
        own = named_in(document["scenario"])
        others = {one for one in own if not one.startswith(("laws ", "qdiscs "))}
        return others.union(*(named_in({}, run["qdisc"]) for run in document["runs"]))
    except StopIteration:
        raise InputError(f"{folder}: has neither a result nor a sweep; {_EXPECTED}") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{folder}: cannot be read; {_EXPECTED}") from None


def _values(value: object) -> Iterator[tuple[str, object]]:
    """All keys of tables in tables, with their values."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key, inner
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)


def _words(value: object) -> Iterator[str]:
    """Texts and keys of a value."""
    if isinstance(value, str):
        yield from re.findall(r"\w+", value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if inner is not None:
                yield key
                yield from _words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _words(inner)


def _known(key: str, words: Iterable[str]) -> Iterator[str]:
    return (f"{kind} {word}" for word in words for kind in _KINDS[key] if word in _catalogue(kind))


@functools.cache
def _catalogue(kind: str) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in entries(kind)}
