"""Laws and congestion controls as templates: checked once, copied for every run and every flow."""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CoroutineType
from typing import TypeVar

from sojourn.errors import InputError, missing_core
from sojourn.laws_in_python import BASES, CongestionControl, Controller, InPython, Law, LawInPython
from sojourn.laws_in_python.congestion import CC_CALLS
from sojourn.laws_in_python.law import CALLS
from sojourn.laws_in_python.lines import line_of, said_by, shown
from sojourn.laws_in_python.parameters import data_of, label_of

try:
    from sojourn._core import LawError, Site, check_cc, check_law
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["control_of", "fresh", "own_control", "own_copy", "template_of", "try_changes"]

Kind = TypeVar("Kind", bound=InPython)


def template_of(
    law: LawInPython | type[LawInPython], sites: Sequence[Site], option: str = "--disc"
) -> LawInPython:
    """A copy of the law that nobody else holds.

    Raises `InputError`, with `option` at its beginning, when it cannot run at one of `sites`.
    """
    if isinstance(law, type):
        name = law.__name__
        raise InputError(f"{option}: {name} is a class; legal: an object of it, {name}()")
    _check_methods(law, option)
    template = _copied(law, option)
    with _told(law, option):
        label = label_of(template, option)
        for site in sites:
            _check(own_copy(template, site), check_law, option)
    _check_label(law, label, option)
    return template


def try_changes(
    template: LawInPython, site: Site, changes: Iterable[Mapping[str, object]], option: str = "--disc"
) -> None:
    """Give a copy of the law parameters as a run would, one change after the other.

    Raises `InputError`, with `option` at its beginning, when it does not take them.
    """
    for number, parameters in enumerate(changes):
        if number == 0:
            own = own_copy(template, site)
        try:
            own.retune(**parameters)
        except (Exception, SystemExit) as fault:
            name, told = type(template).__name__, line_of(template, fault, "retune")
            raise InputError(f"{option}: {name} does not take what [[at]] sets: {told}") from fault
        _check(own, check_law, option)


def own_copy(template: LawInPython, site: Site) -> LawInPython:
    """A run's own law, at the start of the run. Raises whatever the law's own code raises."""
    return _own(template, {"site": site})


def control_of(cc: CongestionControl, option: str = "--cc") -> CongestionControl:
    """A copy of the congestion control that nobody else holds.

    Raises `InputError`, with `option` at its beginning, when it cannot run.
    """
    _check_control(cc, option)
    template = _copied(cc, option)
    with _told(cc, option):
        label = label_of(template, option)
        _check(template, check_cc, option)
        # Any segment and any window will do to see whether it starts.
        own = own_control(template, 1460, 14600.0)
    _check_copied(own, option)
    _check_label(cc, label, option)
    return template


def own_control(template: CongestionControl, mss: int, window: float) -> CongestionControl:
    """A flow's own congestion control, at its start. Raises whatever its author's code raises."""
    return _own(template, {"mss": mss, "cwnd": window, "ssthresh": math.inf})


def _own(template: Kind, given: Mapping[str, object]) -> Kind:
    """A copy with what is given to it, reset."""
    memo: dict[int, object] = {}
    own = copy.deepcopy(template, memo)
    for name, value in data_of(type(own)).items():
        if name not in vars(own):
            _own_value(own, name, value, memo)
    for name, value in given.items():
        # A frozen dataclass refuses setattr.
        object.__setattr__(own, name, value)
    # What is written as a generator or a coroutine would never be run, and nobody would be told.
    answer: object = own.reset()
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


def _check_methods(law: LawInPython, option: str) -> None:
    """Refuse a law that would never be asked for anything, or not for what it means to be asked for."""
    name = type(law).__name__
    if isinstance(law, Law):
        _check_calls(law, name, option)
        return
    update = getattr(law, "update", None)
    if not callable(update) or getattr(update, "__func__", None) is Controller.update:
        raise InputError(f"{option}: {name} has no update; legal: def update(self, seen)")


def _check_calls(law: Law, name: str, option: str) -> None:
    own = {method for kind in type(law).__mro__ if kind not in BASES for method in vars(kind)}
    own |= vars(law).keys()
    for method in sorted(own.intersection(CALLS)):
        if not callable(given := getattr(law, method, None)):
            what = f"{method} is a {type(given).__name__}"
            raise InputError(f"{option}: {name}: {what}; legal: def {method}(self, ...)")
    for method in sorted(own):
        if method.startswith("on_") and method not in CALLS and callable(getattr(law, method, None)):
            near = difflib.get_close_matches(method, CALLS, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(
                f'{option}: {name}: "{method}" is never called{hint} (legal: {", ".join(CALLS)})'
            )
    if not own.intersection(CALLS) and law.overflow == "tail":
        legal = f'legal: a method such as {CALLS[0]} or {CALLS[1]}, or overflow = "head"'
        hint = "did you mean on_update, or a sojourn.Controller? " if "update" in own else ""
        raise InputError(f"{option}: {name} does nothing; {hint}{legal}")


def _check_control(cc: CongestionControl, option: str) -> None:
    """Refuse a congestion control without a curve, and a method that would never be called."""
    name = type(cc).__name__
    for method in ("on_ack", "on_signal"):
        given = getattr(cc, method, None)
        if not callable(given) or getattr(given, "__func__", None) is getattr(CongestionControl, method):
            raise InputError(f"{option}: {name} has no {method}; legal: def {method}(self, ...)")
    own = {method for kind in type(cc).__mro__ if kind not in BASES for method in vars(kind)}
    for method in sorted(own):
        if method.startswith("on_") and method not in CC_CALLS and callable(getattr(cc, method, None)):
            near = difflib.get_close_matches(method, CC_CALLS, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(
                f'{option}: {name}: "{method}" is never called{hint} (legal: {", ".join(CC_CALLS)})'
            )


def _copied(law: Kind, option: str) -> Kind:
    name = type(law).__name__
    try:
        copied = copy.deepcopy(law)
    except (Exception, SystemExit) as fault:
        why = shown(f"{type(fault).__name__}: {said_by(fault)}")
        raise InputError(
            f"{option}: {name} cannot be copied for each run ({why}); legal: what copy.deepcopy can copy"
        ) from fault
    if type(copied) is not type(law):
        raise InputError(f"{option}: {name}: its copy is a {type(copied).__name__}; legal: a {name}")
    return copied


def _check_copied(own: CongestionControl, option: str) -> None:
    """A sender copies a flow's own before each reduction."""
    try:
        copy.deepcopy(own)
    except (Exception, SystemExit) as fault:
        why = f"{type(own).__name__} cannot be copied after reset, as before each reduction"
        told = f"{line_of(own, fault, 'reset')}; legal: what copy.deepcopy can copy"
        raise InputError(f"{option}: {why}: {told}") from fault


def _check_label(law: InPython, label: str, option: str) -> None:
    if not label.strip() or not label.isprintable():
        name = type(law).__name__
        raise InputError(f"{option}: {name}: label: {label!r} is not a name; legal: text on one line")


def _check(trial: InPython, reads: Callable[[object], None], option: str) -> None:
    try:
        reads(trial)
    except ValueError as fault:
        raise InputError(f"{option}: {type(trial).__name__}: {fault}") from None


def _own_value(own: InPython, name: str, value: object, memo: dict[int, object]) -> None:
    """Give the copy its own of what its class would share among all runs, a list for example."""
    try:
        copied = copy.deepcopy(value, memo)
    except Exception:  # A module, a lock, a logger: nothing that a run has a state of its own in.
        return
    if copied is not value:
        # A frozen dataclass refuses setattr.
        object.__setattr__(own, name, copied)


@contextmanager
def _told(law: InPython, option: str) -> Iterator[None]:
    """What the law's own code raises becomes one line."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as fault:
        name = type(law).__name__
        raise InputError(
            f"{option}: {name} cannot be set up for a run: {line_of(law, fault, 'reset')}"
        ) from fault
