"""Congestion controls in the place of a scenario's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import cast

from sojourn._core import catalogue_json
from sojourn.errors import InputError
from sojourn.kinds import one_of_kind, shown, text, whole
from sojourn.laws_in_python import CongestionControl
from sojourn.laws_in_python.files import control_named, names_a_file
from sojourn.laws_in_python.lines import source_of
from sojourn.laws_in_python.parameters import label_of, parameters_of
from sojourn.laws_in_python.template import control_of
from sojourn.scenario import Scenario, ScenarioError

__all__ = ["Control", "sources", "with_controls"]

#: What names a congestion control: one in Python, or a text such as ``"cubic"`` or ``"mycc.py:MyCc"``.
Control = CongestionControl | str

_LEGAL = (
    'legal: a text such as "cubic" or "FILE.py:CLASS", or an object of a class on sojourn.CongestionControl'
)


def with_controls(
    scenario: Scenario, given: Control | Mapping[int, Control] | None, option: str = "--cc"
) -> Scenario:
    """The same scenario with one control for all flows that use TCP, or some by the places of groups.

    Raises `InputError` with lines that begin with `option`.
    """
    if given is None:
        return scenario
    groups = json.loads(scenario.to_json())["flows"]
    tcp = [place for place, group in enumerate(groups) if group["cc"] is not None]
    if not isinstance(given, Mapping):
        if not tcp:
            raise InputError(f"{option}: no flows of the scenario use TCP; legal: a scenario with TCP flows")
        return _with_control(scenario, tcp, given, option)
    for place in given:
        try:
            known = whole(place) in tcp
        except TypeError:
            known = False
        if not known:
            told = f"legal: {', '.join(map(str, tcp)) or 'none'}"
            raise InputError(f"{option}: {shown(place)} is no group of flows that use TCP; {told}")
    for place, control in sorted(given.items()):
        scenario = _with_control(scenario, [whole(place)], control, option)
    _check_labels((guest for _, guest in scenario.guests), option)
    return scenario


def sources(scenario: Scenario) -> dict[str, str | None]:
    """The source of each congestion control in Python, by its label."""
    return {label_of(guest): source_of(guest) for _, guest in scenario.guests}


def _with_control(scenario: Scenario, groups: list[int], control: Control, option: str) -> Scenario:
    if isinstance(control, str) and names_a_file(control):
        control = control_named(control, option)
    try:
        if isinstance(control, str):
            return scenario.with_cc(groups, cast("str", one_of_kind(option, text, control)))
        if isinstance(control, CongestionControl):
            template = control_of(control, option)
            label = label_of(template, option)
            _check_name(label, template, option)
            return scenario.with_guest(groups, template, label)
    except ScenarioError as fault:
        raise InputError(*(f"{option}: {line}" for line in fault.faults)) from None
    if isinstance(control, type) and issubclass(control, CongestionControl):
        name = control.__name__
        raise InputError(f"{option}: {name} is a class; legal: an object of it, {name}()")
    raise InputError(f"{option}: {shown(control)} is no congestion control; {_LEGAL}")


def _check_name(label: str, control: CongestionControl, option: str) -> None:
    """Refuse a label that a result would have for a control of the catalogue."""
    if label.partition(":")[0] in {entry["name"] for entry in json.loads(catalogue_json("ccs"))}:
        what = f'{type(control).__name__}: "{label}" is called as one of the catalogue is'
        raise InputError(f"{option}: {what}; legal: a label of its own")


def _check_labels(controls: Iterable[CongestionControl], option: str) -> None:
    """Refuse one label for two different ones: a result keeps one source under it."""
    known: dict[str, object] = {}
    for control in controls:
        label, own = label_of(control), (type(control), parameters_of(control))
        if known.setdefault(label, own) != own:
            what = f'two congestion controls are called "{label}"'
            raise InputError(f"{option}: {what}; legal: a label of its own for each, as in label = NAME")
