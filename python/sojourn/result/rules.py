"""Rules for values of JSON documents: each error names file, key and the expected value."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn.errors import InputError

AS_WRITTEN = "expected as 'sojourn run' wrote it"

#: Bound of every metric; sums of squares below it are finite.
MOST = 1e18
LAST_SEED = 2**64 - 1
#: Longest value that an error shows, characters.
_SHOWN = 40

Rule = Callable[[Any], bool]


def need(path: Path, holder: dict[str, Any], key: str, rule: tuple[Rule, str], *, at: str = "") -> None:
    """Raise `InputError` unless `holder` has the key, with a value that follows the rule."""
    follows, expected = rule
    if key not in holder:
        raise InputError(f"{path}: {at}{key}: is missing; expected {expected}")
    if not follows(holder[key]):
        raise InputError(f"{path}: {at}{key}: {shown(holder, key)} is damaged; expected {expected}")


def shown(holder: dict[str, Any], key: str) -> str:
    """The value as JSON, shortened."""
    if key not in holder:
        return "nothing"
    text = json.dumps(holder[key], ensure_ascii=True)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def is_text(value: Any) -> bool:
    """Text."""
    return isinstance(value, str)


def is_texts(value: Any) -> bool:
    """A list of texts."""
    return isinstance(value, list) and all(map(is_text, value))


def is_whole(value: Any) -> bool:
    """A whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """A whole number from 0 to `LAST_SEED`."""
    return is_whole(value) and 0 <= value <= LAST_SEED


def is_number(value: Any) -> bool:
    """A number from 0 to `MOST`."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= MOST and math.isfinite(value)


def is_list(value: Any) -> bool:
    """A list."""
    return isinstance(value, list)


def is_filled_list(value: Any) -> bool:
    """A non-empty list."""
    return isinstance(value, list) and bool(value)


def is_metric(value: Any) -> bool:
    """A number, or null."""
    return value is None or is_number(value)


AN_OBJECT: tuple[Rule, str] = (lambda value: isinstance(value, dict), "an object")
AN_OBJECT_OR_NULL: tuple[Rule, str] = (
    lambda value: value is None or isinstance(value, dict),
    "an object, or null",
)
TEXT: tuple[Rule, str] = (is_text, "text")
TEXT_OR_NULL: tuple[Rule, str] = (lambda value: value is None or is_text(value), "text, or null")
FLAG_OR_NULL: tuple[Rule, str] = (
    lambda value: value is None or isinstance(value, bool),
    "true or false, or null",
)
COUNT: tuple[Rule, str] = (is_count, "a whole number")
SINGLE: tuple[Rule, str] = (is_metric, f"a number from 0 to {MOST:g}, or null")
LISTED: tuple[Rule, str] = (
    lambda value: value is None or (isinstance(value, list) and all(map(is_metric, value))),
    f"a list of numbers from 0 to {MOST:g} and nulls, or null",
)
NAME: tuple[Rule, str] = (lambda value: isinstance(value, str) and bool(value), "a name")
NAME_OR_NULL: tuple[Rule, str] = (lambda value: value is None or NAME[0](value), "a name, or null")
PLACES: dict[str, tuple[Rule, str]] = {
    "plant": NAME,
    "qdisc": NAME,
    "seed": (is_count, f"a whole number from 0 to {LAST_SEED}"),
    "link": NAME,
}
