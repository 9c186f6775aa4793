"""Damaged documents: JSON with one error each, reproducible."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

#: Replacements of a value.
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    1.5,
    2**64,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x",
    "60 s",
    "-1 s",
    "1e400 s",
    "nan s",
    "10 Mbit/s",
    "9" * 5000,
    "\ud800",
    "\x00\x1b[2J",
    "$x^2$ <script>",
    [],
    [None],
    [[]],
    ["a", "b"],
    [1, "x", None],
    {},
    {"": None},
    {"a": {"b": [1]}},
    {"spread": "x"},
    {"law": 3},
)


def mutants(text: str, count: int, seed: int) -> Iterator[bytes]:
    """This many damaged copies of a JSON document, a function of the seed."""
    rng = random.Random(seed)
    document = json.loads(text)
    places = list(_places(document))
    others = [place for place in places if "metrics" not in place and place[0] != "summary"]
    for _ in range(count):
        if rng.random() < 0.2:
            yield _torn(text.encode(), rng)
            continue
        changed = copy.deepcopy(document)
        # Metrics are many and alike: half of the mutants are damaged elsewhere.
        place = rng.choice(others if rng.random() < 0.5 else places)
        _damage(changed, place, places, rng)
        yield json.dumps(changed).encode()


def _places(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in items:
        yield (*above, key)
        yield from _places(value, (*above, key))


def _damage(document: Any, place: tuple[Any, ...], places: list[tuple[Any, ...]], rng: random.Random) -> None:
    holder = _at(document, place[:-1])
    kind = rng.randrange(6)
    if kind == 0:
        del holder[place[-1]]
    elif kind == 1 and isinstance(holder, dict):
        holder[f"{place[-1]}_"] = holder.pop(place[-1])
    elif kind == 2:
        holder[place[-1]] = copy.deepcopy(_at(document, rng.choice(places)))
    elif kind == 3:
        holder[place[-1]] = [holder[place[-1]]]
    elif kind == 4 and rng.random() < 0.2:
        for _ in range(rng.choice((50, 900))):
            holder[place[-1]] = {"a": holder[place[-1]]}
    else:
        holder[place[-1]] = copy.deepcopy(rng.choice(VALUES))


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        document = document[key]
    return document


def _torn(text: bytes, rng: random.Random) -> bytes:
    """Bytes cut off, changed or inserted."""
    at = rng.randrange(len(text))
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
    return text[:at] + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9))) + text[at:]
