"""The parameters of what is written in Python: what its author and its user may set, and how that is told."""

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

#: Letters of a label: longer ones leave no room in a table or beside a picture.
LONGEST_LABEL = 60


@dataclass(frozen=True)
class Parameter:
    """A parameter of an object, as text; `default` says whether it is at its default."""

    name: str
    value: str
    default: bool


def label_of(law: object, option: str = "--disc") -> str:
    """The law's name in results: its own choice, or its class and what is not at its default.

    Raises `InputError`, with `option` at its beginning, where that is too long.
    """
    chosen = getattr(law, "label", None)
    label = _built_label(law) if chosen is None else str(chosen)
    if len(label) > LONGEST_LABEL:
        what = "label" if chosen is not None else "its name and parameters"
        told = f"{what}: {label[:20]!r}... has {len(label)} letters"
        legal = f"legal: label = text of at most {LONGEST_LABEL} letters"
        raise InputError(f"{option}: {type(law).__name__}: {told}; {legal}")
    return label


def _built_label(law: object) -> str:
    changed = [f"{one.name}={one.value}" for one in parameters_of(law) if not one.default]
    name = type(law).__name__
    return f"{name}:{','.join(changed)}" if changed else name


def parameters_of(law: object) -> list[Parameter]:
    """The parameters that the object keeps under their names."""
    found = []
    for name, default in defaults_of(type(law)).items():
        if name != "label" and hasattr(law, name):
            value = getattr(law, name)
            # Arrays are equal element by element; as text, anything is equal or not.
            found.append(Parameter(name, _written(value), repr(value) == repr(default)))
    return found


def defaults_of(kind: type) -> dict[str, object]:
    """The parameters of a class with their defaults: its public values and what its constructor takes."""
    found = {name: value for name, value in data_of(kind).items() if not name.startswith("_")}
    for name, taken in inspect.signature(kind).parameters.items():
        if taken.kind not in (taken.VAR_POSITIONAL, taken.VAR_KEYWORD):
            found[name] = taken.default
    if is_dataclass(kind):
        made = {field.name: field.default_factory for field in fields(kind)}
        found |= {name: factory() for name, factory in made.items() if factory is not MISSING}
    # Every controller has a period, also one whose class leaves it to its objects.
    if hasattr(kind, "update"):
        found.setdefault("period", MISSING)
    return found


def check_kinds(kind: type, given: Mapping[str, object]) -> None:
    """Raise `ArgumentError` for a parameter that is not of its default's kind: a number, a flag or text.

    A class that annotates a parameter as more than one kind takes what it will. What the bases of laws have,
    a period for example, a run checks where it reads it.
    """
    defaults = defaults_of(kind)
    annotated: dict[str, object] = {}
    for one in reversed(kind.__mro__):
        annotated |= vars(one).get("__annotations__", {})
    for name in given.keys() - _OF_BASES:
        written, value = annotated.get(name), given[name]
        if written is None or getattr(written, "__name__", written) in _SINGLE_KINDS:
            one_of_kind(f"{kind.__name__}: {name}", like(defaults.get(name)), value)


#: What the bases of laws and of congestion controls give a name to.
_OF_BASES = {"label", "overflow", "period", "site", "target_packets", "wants_victim"}
#: Annotations that are of one kind.
_SINGLE_KINDS = ("float", "int", "bool", "str")


def data_of(kind: type) -> dict[str, object]:
    """What stands in a class and its bases beside methods, properties and Python's own names."""
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
