"""The question of a grid, and the pictures that answer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.sweep.claims import bounds
from sojourn.sweep.pictures import KINDS, THEORY, Picture
from sojourn.sweep.store import value_of

__all__ = ["THEORY", "About", "Level", "picture", "read_picture"]

#: Reads a value of an axis; its errors begin with the place, the second argument.
Level = Callable[[object, str], Any]
_EXPECTED = 'expected such as { map = "sojourn_p95_s", x = "flows", y = "delay", most = "20 ms" }'


@dataclass(frozen=True)
class About:
    """The question of a grid, and how its page shows the answer."""

    title: str = ""
    question: str = ""
    pictures: tuple[Picture, ...] = ()
    #: True if certificates of the points stand beside the runs.
    theory: bool = False
    #: Text of the grid's file; empty: it is none.
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The same as a JSON document."""
        pictures = [one.to_dict() for one in self.pictures]
        return {
            "title": self.title,
            "question": self.question,
            "pictures": pictures,
            "theory": self.theory,
            "source": self.source,
        }


def picture(given: object, axes: Mapping[str, Level], place: str) -> Picture:
    """A picture of a grid's file. Raises `InputError` with one line that begins with `place`.

    `axes` have the readers of their values.
    """
    kinds = [key for key in given if key in KINDS] if isinstance(given, Mapping) else []
    if not isinstance(given, Mapping) or len(kinds) != 1:
        raise InputError(f"{place}: {shown(given)} is no picture; {_EXPECTED}")
    (kind,) = kinds
    needed, allowed = KINDS[kind].needed, KINDS[kind].allowed
    for key in needed:
        if key not in given:
            raise InputError(f"{place}.{key}: is missing; expected the keys {', '.join((kind, *needed))}")
    for key in given:
        if key not in (kind, *needed, *allowed, "at"):
            known = ", ".join((kind, *needed, *allowed, "at"))
            raise InputError(f"{place}: {shown(key)} is no key of this picture; expected {known}")
    for key in needed:
        if key == "on":
            _known(given[key], THEORY, f"{place}.{key}")
        elif kind == "cloud":
            _metric(given[key], f"{place}.{key}")
        else:
            _known(given[key], axes, f"{place}.{key}")
    at = given.get("at", {})
    if not isinstance(at, Mapping):
        raise InputError(f'{place}.at: {shown(at)} is no table; expected such as {{ qdisc = "pi" }}')
    for name in at:
        _known(name, axes, f"{place}.at")
    metric = _metric(given[kind], f"{place}.{kind}")
    most, least = bounds(metric, given.get("most"), given.get("least"), f"{place}.")
    return Picture(
        kind=kind,
        metric=metric,
        **{key: given[key] for key in needed},
        most=most,
        least=least,
        at={name: axes[name](value, f"{place}.at.{name}") for name, value in at.items()},
    )


def _metric(given: object, place: str) -> str:
    if not isinstance(given, str) or value_of(given) is None:
        raise InputError(f"{place}: {shown(given)} is no metric with one value; see 'sojourn list metrics'")
    return given


def _known(given: object, names: Mapping[str, Any], place: str) -> None:
    if given not in names:
        raise InputError(f"{place}: {shown(given)} is unknown; expected {', '.join(names)}")


def read_picture(keys: Mapping[str, Any]) -> Picture:
    """The picture of what `Picture.to_dict` gave."""
    kind = next(key for key in keys if key in KINDS)
    return Picture(kind, keys[kind], **{key: value for key, value in keys.items() if key != kind})
