"""Laws as templates: checked once, copied for every run."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from types import CoroutineType

from sojourn.errors import InputError, missing_core
from sojourn.laws_in_python import BASES, Controller, Law, LawInPython
from sojourn.laws_in_python.law import CALLS
from sojourn.laws_in_python.lines import line_of, said_by, shown
from sojourn.laws_in_python.parameters import data_of, label_of

try:
    from sojourn._core import LawError, Site, check_law
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["fresh", "own_copy", "template_of"]


def template_of(law: LawInPython | type[LawInPython], site: Site) -> LawInPython:
    """A copy of the law that nobody else holds. Raises `InputError` when it cannot run at `site`."""
    if isinstance(law, type):
        name = law.__name__
        raise InputError(f"--disc: {name} is a class; legal: an object of it, {name}()")
    _check_methods(law)
    template = _copied(law)
    with _told(law):
        label = label_of(template)
        _check(own_copy(template, site))
    if not label.strip() or not label.isprintable():
        name = type(law).__name__
        raise InputError(f"--disc: {name}: label: {label!r} is not a name; legal: text on one line")
    return template


def own_copy(template: LawInPython, site: Site) -> LawInPython:
    """A run's own law, at the start of the run. Raises whatever the law's own code raises."""
    memo: dict[int, object] = {}
    own = copy.deepcopy(template, memo)
    for name, value in data_of(type(own)).items():
        if name not in vars(own):
            _own_value(own, name, value, memo)
    # A frozen dataclass refuses setattr.
    object.__setattr__(own, "site", site)
    # What is written as a generator or a coroutine would never be run, and nobody would be told.
    answer: object = own.reset()  # type: ignore[func-returns-value]
    if answer is not None:
        if isinstance(answer, CoroutineType):
            # One that is left open has Python warn on stderr that nobody awaited it.
            answer.close()
        raise TypeError(f"reset gave {answer!r}; legal: None")
    return own


def fresh(template: LawInPython, site: Site) -> LawInPython:
    """`own_copy` inside a run: what is raised is a failure of the law."""
    try:
        return own_copy(template, site)
    except (Exception, SystemExit) as fault:
        raise LawError(said_by(fault), 0.0, "reset", "") from fault


def _check_methods(law: LawInPython) -> None:
    """Refuse a law that would never be asked for anything, or not for what it means to be asked for."""
    name = type(law).__name__
    if isinstance(law, Law):
        _check_calls(law, name)
        return
    update = getattr(law, "update", None)
    if not callable(update) or getattr(update, "__func__", None) is Controller.update:
        raise InputError(f"--disc: {name} has no update; legal: def update(self, seen)")


def _check_calls(law: Law, name: str) -> None:
    own = {method for kind in type(law).__mro__ if kind not in BASES for method in vars(kind)}
    own |= vars(law).keys()
    for method in sorted(own.intersection(CALLS)):
        if not callable(given := getattr(law, method, None)):
            what = f"{method} is a {type(given).__name__}"
            raise InputError(f"--disc: {name}: {what}; legal: def {method}(self, ...)")
    for method in sorted(own):
        if method.startswith("on_") and method not in CALLS and callable(getattr(law, method, None)):
            near = difflib.get_close_matches(method, CALLS, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(f'--disc: {name}: "{method}" is never called{hint} (legal: {", ".join(CALLS)})')
    if not own.intersection(CALLS) and law.overflow == "tail":
        legal = f'legal: a method such as {CALLS[0]} or {CALLS[1]}, or overflow = "head"'
        hint = "did you mean on_update, or a sojourn.Controller? " if "update" in own else ""
        raise InputError(f"--disc: {name} does nothing; {hint}{legal}")


def _copied(law: LawInPython) -> LawInPython:
    name = type(law).__name__
    try:
        copied = copy.deepcopy(law)
    except (Exception, SystemExit) as fault:
        why = shown(f"{type(fault).__name__}: {said_by(fault)}")
        raise InputError(
            f"--disc: {name} cannot be copied for each run ({why}); legal: what copy.deepcopy can copy"
        ) from fault
    if type(copied) is not type(law):
        raise InputError(f"--disc: {name}: its copy is a {type(copied).__name__}; legal: a {name}")
    return copied


def _check(trial: LawInPython) -> None:
    try:
        check_law(trial)
    except ValueError as fault:
        raise InputError(f"--disc: {type(trial).__name__}: {fault}") from None


def _own_value(own: LawInPython, name: str, value: object, memo: dict[int, object]) -> None:
    """Give the copy its own of what its class would share among all runs, a list for example."""
    try:
        copied = copy.deepcopy(value, memo)
    except Exception:  # A module, a lock, a logger: nothing that a run has a state of its own in.
        return
    if copied is not value:
        # A frozen dataclass refuses setattr.
        object.__setattr__(own, name, copied)


@contextmanager
def _told(law: LawInPython) -> Iterator[None]:
    """What the law's own code raises becomes one line."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as fault:
        name = type(law).__name__
        raise InputError(
            f"--disc: {name} cannot be set up for a run: {line_of(law, fault, 'reset')}"
        ) from fault
