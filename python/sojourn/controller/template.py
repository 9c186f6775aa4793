"""Controllers as templates: checked once, copied for every run."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager

from sojourn.controller import Controller
from sojourn.controller.lines import line_of, shown
from sojourn.controller.parameters import data_of, label_of
from sojourn.errors import InputError, missing_core

try:
    from sojourn._core import LawError, check_controller
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["own_copy", "template_of"]


def template_of(controller: Controller | type[Controller]) -> Controller:
    """A copy of the controller that nobody else holds. Raises `InputError` when it cannot run."""
    if isinstance(controller, type):
        name = controller.__name__
        raise InputError(f"--disc: {name} is a class; legal: an object of it, {name}()")
    if getattr(controller.update, "__func__", None) is Controller.update:
        raise InputError(f"--disc: {type(controller).__name__} has no update; legal: def update(self, seen)")
    template = _copied(controller)
    with _told(controller):
        label = label_of(template)
        _check(own_copy(template))
    if len(label.splitlines()) != 1:
        name = type(controller).__name__
        raise InputError(f"--disc: {name}: label: {label!r} is not a name; legal: text on one line")
    return template


def own_copy(template: Controller) -> Controller:
    """A run's own controller, at the start of the run. Raises whatever the law's own code raises."""
    memo: dict[int, object] = {}
    own = copy.deepcopy(template, memo)
    for name, value in data_of(type(own)).items():
        if name not in vars(own):
            _own_value(own, name, value, memo)
    own.reset()
    return own


def fresh(template: Controller) -> Controller:
    """`own_copy` inside a run: what is raised is a failure of the law."""
    try:
        return own_copy(template)
    except Exception as fault:
        raise LawError(str(fault), 0.0) from fault


def _copied(controller: Controller) -> Controller:
    try:
        return copy.deepcopy(controller)
    except Exception as fault:
        why = shown(f"{type(fault).__name__}: {fault}")
        raise InputError(
            f"--disc: {type(controller).__name__} cannot be copied for each run ({why}); "
            "legal: what copy.deepcopy can copy"
        ) from fault


def _check(trial: Controller) -> None:
    try:
        check_controller(trial)
    except ValueError as fault:
        raise InputError(f"--disc: {type(trial).__name__}: {fault}") from None


def _own_value(own: Controller, name: str, value: object, memo: dict[int, object]) -> None:
    """Give the copy its own of what its class would share among all runs, a list for example."""
    try:
        copied = copy.deepcopy(value, memo)
    except Exception:  # A module, a lock, a logger: nothing that a run has a state of its own in.
        return
    if copied is not value:
        # A frozen dataclass refuses setattr.
        object.__setattr__(own, name, copied)


@contextmanager
def _told(controller: Controller) -> Iterator[None]:
    """What the law's own code raises becomes one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as fault:
        name = type(controller).__name__
        raise InputError(
            f"--disc: {name} cannot be set up for a run: {line_of(controller, fault)}"
        ) from fault
