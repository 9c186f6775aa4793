"""Templates of laws, qdiscs and congestion controls: inspected once, copied for every run and every flow."""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CoroutineType
from typing import Generic, Literal, TypeVar

from sojourn.custom import BASES, CongestionControl, Controller, CustomQdisc, InPython, Law, Qdisc
from sojourn.custom.congestion import CC_CALLS
from sojourn.custom.law import CALLS
from sojourn.custom.lines import line_of, message_of, shown, source_of
from sojourn.custom.parameters import data_of, label_of
from sojourn.custom.qdisc import QDISC_CALLS
from sojourn.errors import InputError, missing_core

try:
    from sojourn._core import LawError, LinkContext, check_cc, check_law, check_qdisc
except ImportError as error:
    raise missing_core(error) from error

__all__ = ["ControlTemplate", "LawTemplate", "Template", "inspect_control", "inspect_law"]

Kind = TypeVar("Kind", bound=InPython)


@dataclass(frozen=True)
class Template(Generic[Kind]):
    """A law or a congestion control that can run, as `inspect_law` and `inspect_control` return it."""

    #: A copy that user code has no reference to.
    original: Kind
    label: str
    #: Source of its class; None if Python does not have it.
    source: str | None
    #: Methods that its class defines, of those that a run calls; None for a controller.
    calls: tuple[str, ...] | None


@dataclass(frozen=True)
class LawTemplate(Template[CustomQdisc]):
    """A law or a qdisc that can run."""

    #: In a run: the law of the only queue, the law of each queue of the scenario's qdisc, a qdisc, or one
    #: behind the shapers of the scenario's.
    form: Literal["law", "queues", "qdisc", "shaped"] = "law"

    def start(self, context: LinkContext) -> CustomQdisc:
        """A run's own copy, reset. Raises `LawError` for any error of the law's own code."""
        try:
            return _own(self.original, {"link": context})
        except (Exception, SystemExit) as error:
            raise LawError(message_of(error), 0.0, "reset", "") from error


class ControlTemplate(Template[CongestionControl]):
    """A congestion control that can run."""

    def start(self, mss: int, window: float) -> CongestionControl:
        """A flow's own copy, reset. Raises any error of the control's own code."""
        return _own(self.original, {"mss": mss, "cwnd": window, "ssthresh": math.inf})


def inspect_law(
    law: CustomQdisc | type[CustomQdisc],
    contexts: Sequence[LinkContext],
    option: str = "--qdisc",
    changes: Iterable[Mapping[str, object]] = (),
    *,
    of_each_queue: bool = False,
) -> LawTemplate:
    """Template of the law or qdisc, tried at each of `contexts`, and with `changes` at the first.

    With `of_each_queue` it is copied for each queue of a qdisc, in the middle of a run.

    Raises `InputError`, with `option` at its beginning, if it cannot run there.
    """
    if isinstance(law, type):
        name = law.__name__
        raise InputError(f"{option}: {name} is a class; expected an object of it, {name}()")
    _check_methods(law, option)
    original = _copied(law, option)
    calls = None
    with _located(law, option):
        label = label_of(original, option)
        for context in contexts:
            own = _own(original, {"link": context})
            calls = _calls_of(own)
            _check(own, _reader_of(own), option, calls)
    if of_each_queue:
        _check_per_queue(own, option)
    _check_label(law, label, option)
    for number, parameters in enumerate(changes):
        if number == 0:
            own = _own(original, {"link": contexts[0]})
        _change(own, parameters, option)
        _check(own, _reader_of(own), option, calls)
    form: Literal["law", "queues", "qdisc"] = "queues" if of_each_queue else "law"
    if isinstance(original, Qdisc):
        form = "qdisc"
    return LawTemplate(original, label, source_of(original), calls, form)


def inspect_control(cc: CongestionControl | type[CongestionControl], option: str = "--cc") -> ControlTemplate:
    """Template of the congestion control, tried once.

    Raises `InputError`, with `option` at its beginning, if it cannot run.
    """
    if isinstance(cc, type):
        name = cc.__name__
        raise InputError(f"{option}: {name} is a class; expected an object of it, {name}()")
    _check_control(cc, option)
    original = _copied(cc, option)
    with _located(cc, option):
        label = label_of(original, option)
        _check(original, check_cc, option)
        # Any segment size and any window serve for a trial start.
        own = ControlTemplate(original, label, None, ()).start(1460, 14600.0)
    _check_copied(own, option, "as before each reduction")
    _check_label(cc, label, option)
    calls = _defined(own, CongestionControl, CC_CALLS)
    return ControlTemplate(original, label, source_of(original), calls)


def _calls_of(own: CustomQdisc) -> tuple[str, ...] | None:
    """Methods that a run calls, of those that the class defines; None: a controller."""
    if isinstance(own, Qdisc):
        return _defined(own, Qdisc, QDISC_CALLS)
    return _defined(own, Law, CALLS) if isinstance(own, Law) else None


def _reader_of(own: CustomQdisc) -> Callable[..., None]:
    return check_qdisc if isinstance(own, Qdisc) else check_law


def _defined(law: InPython, base: type, calls: Sequence[str]) -> tuple[str, ...]:
    """Methods, of those that a run calls, that override the base's."""
    return tuple(
        name for name in calls if getattr(getattr(law, name), "__func__", None) is not vars(base)[name]
    )


def _own(original: Kind, values: Mapping[str, object]) -> Kind:
    """A copy with these attributes, reset. Raises any error of the law's own code."""
    memo: dict[int, object] = {}
    own = copy.deepcopy(original, memo)
    for name, value in data_of(type(own)).items():
        if name not in vars(own):
            _own_value(own, name, value, memo)
    for name, value in values.items():
        # A frozen dataclass refuses setattr.
        object.__setattr__(own, name, value)
    # The body of a generator or a coroutine would never run.
    answer: object = own.reset()
    if answer is not None:
        if isinstance(answer, CoroutineType):
            # Python warns on stderr of a coroutine that is never awaited.
            answer.close()
        raise TypeError(f"reset gave {answer!r}; expected None")
    return own


def _change(own: CustomQdisc, parameters: Mapping[str, object], option: str) -> None:
    try:
        own.set_params(**parameters)
    except (Exception, SystemExit) as error:
        name, why = type(own).__name__, line_of(own, error, "set_params")
        raise InputError(f"{option}: {name} does not take what [[at]] sets: {why}") from error


def _check_methods(law: CustomQdisc, option: str) -> None:
    """Refuse a law or qdisc that lacks a method to call, or has a misspelt one."""
    name = type(law).__name__
    if isinstance(law, Qdisc):
        for method, arguments in (("enqueue", "now, packet"), ("dequeue", "now")):
            given = getattr(law, method, None)
            if not callable(given) or getattr(given, "__func__", None) is getattr(Qdisc, method):
                raise InputError(
                    f"{option}: {name} has no {method}; expected def {method}(self, {arguments})"
                )
        _check_spelling(law, name, QDISC_CALLS, option)
        return
    if isinstance(law, Law):
        _check_calls(law, name, option)
        return
    update = getattr(law, "update", None)
    if not callable(update) or getattr(update, "__func__", None) is Controller.update:
        raise InputError(f"{option}: {name} has no update; expected def update(self, seen)")


def _check_calls(law: Law, name: str, option: str) -> None:
    own = _check_spelling(law, name, CALLS, option)
    if not own.intersection(CALLS) and law.overflow == "tail":
        expected = f'expected a method such as {CALLS[0]} or {CALLS[1]}, or overflow = "head"'
        hint = "did you mean on_update, or a sojourn.Controller? " if "update" in own else ""
        raise InputError(f"{option}: {name} does nothing; {hint}{expected}")


def _check_spelling(law: CustomQdisc, name: str, calls: Sequence[str], option: str) -> set[str]:
    """Names that the class and the object define; refuse those that only look like methods to call."""
    own = {method for kind in type(law).__mro__ if kind not in BASES for method in vars(kind)}
    own |= vars(law).keys()
    for method in sorted(own.intersection(calls)):
        if not callable(given := getattr(law, method, None)):
            message = f"{method} is a {type(given).__name__}"
            raise InputError(f"{option}: {name}: {message}; expected def {method}(self, ...)")
    for method in sorted(own):
        if method.startswith("on_") and method not in calls and callable(getattr(law, method, None)):
            near = difflib.get_close_matches(method, calls, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(
                f'{option}: {name}: "{method}" is never called{hint} (expected {", ".join(calls)})'
            )
    return own


def _check_control(cc: CongestionControl, option: str) -> None:
    """Refuse a congestion control that never sets the window, or has a method that is never called."""
    name = type(cc).__name__
    for method in ("on_ack", "on_signal"):
        given = getattr(cc, method, None)
        if not callable(given) or getattr(given, "__func__", None) is getattr(CongestionControl, method):
            raise InputError(f"{option}: {name} has no {method}; expected def {method}(self, ...)")
    own = {method for kind in type(cc).__mro__ if kind not in BASES for method in vars(kind)}
    for method in sorted(own):
        if method.startswith("on_") and method not in CC_CALLS and callable(getattr(cc, method, None)):
            near = difflib.get_close_matches(method, CC_CALLS, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(
                f'{option}: {name}: "{method}" is never called{hint} (expected {", ".join(CC_CALLS)})'
            )


def _copied(law: Kind, option: str) -> Kind:
    name = type(law).__name__
    try:
        copied = copy.deepcopy(law)
    except (Exception, SystemExit) as error:
        why = shown(f"{type(error).__name__}: {message_of(error)}")
        raise InputError(
            f"{option}: {name} cannot be copied for each run ({why}); expected what copy.deepcopy can copy"
        ) from error
    if type(copied) is not type(law):
        raise InputError(f"{option}: {name}: its copy is a {type(copied).__name__}; expected a {name}")
    return copied


def _check_per_queue(own: CustomQdisc, option: str) -> None:
    """Refuse a law that cannot be that of each queue of a qdisc."""
    name = type(own).__name__
    if getattr(own, "wants_victim", False):
        message = "draws its victims from the queue of all flows, and so cannot be the law of one flow's"
        raise InputError(f"{option}: {name} {message}; expected wants_victim = False")
    _check_copied(own, option, "for each queue")


def _check_copied(own: InPython, option: str, when: str) -> None:
    """Refuse an object that cannot be copied after `reset`: a sender saves a copy before each reduction."""
    try:
        copy.deepcopy(own)
    except (Exception, SystemExit) as error:
        why = f"{type(own).__name__} cannot be copied after reset, {when}"
        where = f"{line_of(own, error, 'reset')}; expected what copy.deepcopy can copy"
        raise InputError(f"{option}: {why}: {where}") from error


def _check_label(law: InPython, label: str, option: str) -> None:
    if not label.strip() or not label.isprintable():
        name = type(law).__name__
        raise InputError(f"{option}: {name}: label: {label!r} is not a name; expected text on one line")


def _check(trial: InPython, reads: Callable[..., None], option: str, *calls: object) -> None:
    try:
        reads(trial, *calls)
    except ValueError as error:
        raise InputError(f"{option}: {type(trial).__name__}: {error}") from None


def _own_value(own: InPython, name: str, value: object, memo: dict[int, object]) -> None:
    """Copy a mutable value of the class, such as a list, which all runs would share."""
    try:
        copied = copy.deepcopy(value, memo)
    except Exception:  # A module, a lock or a logger holds no state of a run.
        return
    if copied is not value:
        # A frozen dataclass refuses setattr.
        object.__setattr__(own, name, copied)


@contextmanager
def _located(law: InPython, option: str) -> Iterator[None]:
    """Turn an error of the law's own code into one line."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        name = type(law).__name__
        raise InputError(
            f"{option}: {name} cannot be set up for a run: {line_of(law, error, 'reset')}"
        ) from error
