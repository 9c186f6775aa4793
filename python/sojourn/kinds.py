"""Kinds of arguments: the values of a public function, and an error that names an invalid argument.

A kind is a function of a value: it returns the value as the package uses it, or raises `TypeError` with the
expected one.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from operator import index
from typing import ParamSpec, SupportsFloat, SupportsIndex, TypeVar, cast

from sojourn.errors import ArgumentError

__all__ = [
    "count",
    "flag",
    "folder",
    "instance",
    "like",
    "number",
    "one_of_kind",
    "optional",
    "path",
    "plain",
    "setting",
    "shown",
    "takes",
    "text",
    "texts",
    "whole",
    "whole_of",
]

P = ParamSpec("P")
T = TypeVar("T")
Kind = Callable[[object], object]

#: Longest value that an error shows, characters.
_MOST_SHOWN = 60
MOST_COUNTED = 1_000_000


def takes(**kinds: Kind) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Check each of these arguments by its kind. Raises `ArgumentError` with one line that names it.

    >>> @takes(count=whole)
    ... def twice(count):
    ...     return 2 * count
    >>> twice("x")
    Traceback (most recent call last):
    sojourn.errors.ArgumentError: count: 'x' is not a whole number; expected such as 50
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            given = signature.bind(*args, **kwargs)
            for name, kind in kinds.items():
                if name in given.arguments:
                    given.arguments[name] = one_of_kind(name, kind, given.arguments[name])
            return function(*given.args, **given.kwargs)

        return checked

    return decorate


def one_of_kind(name: str, kind: Kind, value: object) -> object:
    """The value as its kind converts it. Raises `ArgumentError`."""
    try:
        return kind(value)
    except TypeError as error:
        raise ArgumentError(f"{name}: {shown(value)} {error}") from None


def whole_of(name: str, value: object) -> int:
    """The whole number of an argument. Raises `ArgumentError`.

    >>> import numpy as np
    >>> whole_of("points", np.int64(2))
    2
    """
    return cast("int", one_of_kind(name, whole, value))


def plain(value: object) -> object:
    """Convert a NumPy scalar to Python's own number; anything else is returned unchanged.

    >>> import numpy as np
    >>> plain(np.float32(0.5)), plain(np.True_), plain("x")
    (0.5, True, 'x')
    """
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        return cast("object", value.item())  # type: ignore[attr-defined]
    return value


def text(value: object) -> str:
    """Text without characters that no file and no terminal can have.

    The name of a law's file may hold any byte.
    """
    if not isinstance(value, str):
        raise TypeError("is not text; expected a text in quotes")
    try:
        os.fsencode(value) if ".py" in value else value.encode()
    except UnicodeEncodeError:
        raise TypeError("holds what is no character; expected text") from None
    return str(value)


def path(value: object) -> str | os.PathLike[str]:
    """Name of a file or a folder; it may hold bytes that are not UTF-8."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise TypeError('is no file name; expected a text such as "page.html", or a pathlib.Path')
    name = os.fspath(value)
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise TypeError("is no file name; expected characters that a name can have") from None
    if not name.strip() or "\0" in name:
        raise TypeError("is no file name; expected one that is not empty")
    return value


def folder(value: object) -> str | os.PathLike[str]:
    """Name of a folder; it may hold bytes that are not UTF-8."""
    try:
        return path(value)
    except TypeError:
        raise TypeError('is no folder; expected a text such as "results", or a pathlib.Path') from None


def number(value: object) -> float:
    """A number, NumPy's included; not True or False."""
    value = plain(value)
    try:
        if (
            isinstance(value, str | bytes | bool)
            or not isinstance(value, SupportsFloat)
            or hasattr(value, "shape")
        ):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError("is not a number; expected such as 0.1") from None
    except OverflowError:
        raise TypeError("is too large; expected such as 0.1") from None


def whole(value: object) -> int:
    """A whole number, NumPy's included; not True or False."""
    value = plain(value)
    try:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex) or hasattr(value, "shape"):
            raise TypeError
        return index(value)
    except TypeError:
        raise TypeError("is not a whole number; expected such as 50") from None


def count(value: object) -> int:
    """A number of points, or of other items in a picture."""
    found = whole(value)
    if not 1 <= found <= MOST_COUNTED:
        raise TypeError(f"is out of range; expected 1 to {MOST_COUNTED}")
    return found


def setting(value: object) -> object:
    """A parameter of an entry of a catalogue: text, a number, a flag, or a list or a dict of such."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return text(value)
    try:
        if isinstance(value, Mapping):
            return {text(key): setting(inner) for key, inner in value.items()}
        return [setting(one) for one in value]  # type: ignore[attr-defined]
    except TypeError:
        expected = 'text such as "100 packets", a number, True, False, or a list or a dict of them'
        raise TypeError(f"is not a parameter; expected {expected}") from None
    except RecursionError:
        raise TypeError("is nested too deeply; expected a list or a dict of values") from None


def like(default: object) -> Kind:
    """Kind of a default: a flag, a number or text; any value for another default."""
    if isinstance(default, bool):
        return flag
    if isinstance(default, int | float):
        return number
    return text if isinstance(default, str) else lambda value: value


def texts(value: object) -> tuple[str, ...]:
    """A list of texts, or one text alone."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        raise TypeError('is no list of texts; expected such as ["utilization"]')
    return tuple(text(one) for one in items)


def named_texts(value: object) -> dict[str, str]:
    """A text for each of several names."""
    if not isinstance(value, Mapping) or not all(
        isinstance(one, str) for pair in value.items() for one in pair
    ):
        raise TypeError('is no text by name; expected such as {"call": "game"}')
    return {text(name): text(of) for name, of in value.items()}


def flag(value: object) -> bool:
    """True or False, NumPy's included."""
    value = plain(value)
    if not isinstance(value, bool):
        raise TypeError("is neither True nor False; expected one of them")
    return value


def instance(kind: type, expected: str) -> Kind:
    """An object of a class; `expected` describes it."""

    def check(value: object) -> object:
        if not isinstance(value, kind):
            raise TypeError(f"is not {expected}")
        return value

    return check


def function(value: object) -> object:
    """A function, or any other object that can be called."""
    if not callable(value):
        raise TypeError("is no function; expected one, such as print")
    return value


def optional(kind: Kind) -> Kind:
    """None, or a value of the kind."""
    return lambda value: None if value is None else kind(value)


def shown(value: object) -> str:
    """A value in an error: one short line, whatever its class returns."""
    try:
        line = repr(value)
    except Exception:
        line = f"an object of {type(value).__name__}"
    line = " ".join(line.split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]}..."
