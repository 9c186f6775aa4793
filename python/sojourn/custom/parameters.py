"""Parameters of laws, qdiscs and congestion controls written in Python, their kinds and labels."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass

from sojourn.errors import InputError
from sojourn.kinds import like, one_of_kind

__all__ = [
    "LONGEST_LABEL",
    "Parameter",
    "check_kinds",
    "data_of",
    "defaults_of",
    "label_of",
    "parameters_of",
]

#: Longest label, characters: it must fit into a table or beside a picture.
LONGEST_LABEL = 60


@dataclass(frozen=True)
class Parameter:
    """A parameter of an object, as text; `default`: True if it is at its default."""

    name: str
    value: str
    default: bool


def label_of(law: object, option: str = "--qdisc") -> str:
    """The law's name in results: its own `label`, or its class and the parameters not at their defaults.

    Raises `InputError`, with `option` at its beginning, if it is too long.
    """
    chosen = getattr(law, "label", None)
    label = _built_label(law) if chosen is None else str(chosen)
    if len(label) > LONGEST_LABEL:
        text = "label" if chosen is not None else "its name and parameters"
        message = f"{text}: {label[:20]!r}... has {len(label)} letters"
        expected = f"expected label = text of at most {LONGEST_LABEL} letters"
        raise InputError(f"{option}: {type(law).__name__}: {message}; {expected}")
    return label


def _built_label(law: object) -> str:
    changed = [f"{one.name}={one.value}" for one in parameters_of(law) if not one.default]
    name = type(law).__name__
    return f"{name}:{','.join(changed)}" if changed else name


def parameters_of(law: object) -> list[Parameter]:
    """Parameters that are attributes of the object."""
    found = []
    for name, default in defaults_of(type(law)).items():
        if name != "label" and hasattr(law, name):
            value = getattr(law, name)
            # Arrays compare element by element; text compares as a whole.
            found.append(Parameter(name, _written(value), repr(value) == repr(default)))
    return found


def defaults_of(kind: type) -> dict[str, object]:
    """Parameters of a class with their defaults: its public values and its constructor's arguments."""
    found = {name: value for name, value in data_of(kind).items() if not name.startswith("_")}
    for name, taken in inspect.signature(kind).parameters.items():
        if taken.kind not in (taken.VAR_POSITIONAL, taken.VAR_KEYWORD):
            found[name] = taken.default
    if is_dataclass(kind):
        made = {field.name: field.default_factory for field in fields(kind)}
        found |= {name: factory() for name, factory in made.items() if factory is not MISSING}
    # Every controller has a period, even if its class leaves it to its objects.
    if hasattr(kind, "update"):
        found.setdefault("period", MISSING)
    return found


def check_kinds(kind: type, given: Mapping[str, object]) -> None:
    """Raise `ArgumentError` for a parameter that is not of its default's kind: a number, a flag or text.

    A parameter annotated with more than one kind takes any value. A run checks the attributes of the bases,
    such as a period, where it reads them.
    """
    defaults = defaults_of(kind)
    annotated: dict[str, object] = {}
    for one in reversed(kind.__mro__):
        annotated |= vars(one).get("__annotations__", {})
    for name in given.keys() - _OF_BASES:
        written, value = annotated.get(name), given[name]
        if written is None or getattr(written, "__name__", written) in _SINGLE_KINDS:
            one_of_kind(f"{kind.__name__}: {name}", like(defaults.get(name)), value)


#: Attributes of the base classes.
_OF_BASES = {"label", "overflow", "period", "link", "target_packets", "wants_victim"}
#: Annotations of one kind.
_SINGLE_KINDS = ("float", "int", "bool", "str")


def data_of(kind: type) -> dict[str, object]:
    """Attributes of a class and its bases, without methods, properties and Python's own names."""
    found: dict[str, object] = {}
    for one in reversed(kind.__mro__):
        for name, value in vars(one).items():
            found.pop(name, None)
            if not name.startswith("__") and not callable(value) and not hasattr(value, "__get__"):
                found[name] = value
    return found


def _written(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return " ".join(text.split())
