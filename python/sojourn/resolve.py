"""A scenario under its qdiscs and congestion controls, resolved from the arguments of `run` and `prove`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sojourn._core import catalogue_json
from sojourn.custom import STAND_IN, CongestionControl, Controller, CustomLaw, CustomQdisc, Law
from sojourn.custom import Qdisc as CustomWhole
from sojourn.custom.files import control_named, inner_named, names_a_file, qdisc_named
from sojourn.custom.parameters import parameters_of
from sojourn.custom.template import ControlTemplate, LawTemplate, inspect_control, inspect_law
from sojourn.entries import Entry, written_in_python
from sojourn.errors import InputError, refusal
from sojourn.kinds import one_of_kind, shown, text, whole
from sojourn.scenario import QdiscSpec, Scenario, ScenarioError, at_link, place_of, with_qdisc

__all__ = ["Control", "Qdisc", "Setup", "under_qdisc", "under_qdiscs", "with_controls"]

#: A qdisc or a law written in Python.
_Custom = Law | Controller | CustomWhole
#: A qdisc: text, parameters, or a law or qdisc written in Python; `{LINK: ...}` applies to one link.
Qdisc = str | QdiscSpec | _Custom | Mapping[str, str | QdiscSpec | _Custom]
#: Types of one qdisc, as opposed to a list of them.
QDISC_TYPES = (str, QdiscSpec, CustomQdisc, type, Mapping)
#: A congestion control: in Python, one of `sojourn.ccs`, or text such as ``"cubic"`` or ``"mycc.py:MyCc"``.
Control = CongestionControl | Entry | str

_CONTROL = (
    'expected a text such as "cubic" or "FILE.py:CLASS", or an object of a class on sojourn.CongestionControl'
)


@dataclass(frozen=True)
class Setup:
    """A scenario under a qdisc; a `law` in Python, or a qdisc, replaces what its `form` says."""

    label: str
    scenario: Scenario
    law: LawTemplate | None = None


def under_qdiscs(scenario: Scenario, qdiscs: Sequence[Qdisc | None], option: str) -> list[Setup]:
    """The scenario under each qdisc, each once; None: under its own. Raises `InputError`."""
    setups = [under_qdisc(scenario, qdisc, option, scheduled=True) for qdisc in qdiscs]
    check_labels(setups, option)
    return setups


def check_labels(setups: Sequence[Setup], option: str) -> None:
    """Raise `InputError` if two setups share a label."""
    labels = [one.label for one in setups]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            custom = any(one.label == label and one.law is not None for one in setups)
            more = ", or a label of its own for a law in Python" if custom else ""
            raise InputError(f"{option}: {label} is given twice; expected each qdisc once{more}")


def under_qdisc(
    scenario: Scenario, qdisc: Qdisc | None, option: str = "--qdisc", *, scheduled: bool = False
) -> Setup:
    """The scenario under a qdisc, at all links whose qdisc may be replaced; None: under its own.

    If `scheduled`, a law in Python must accept the parameters of the scenario's schedule, too.

    Raises `InputError` with lines that begin with `option`.
    """
    if qdisc is None:
        return Setup(scenario.qdisc, scenario)
    link, alone = _link_and_qdisc(qdisc, option)
    before = ""
    if link is not None:
        scenario, option, before = at_link(scenario, link, option), f"{option}: {link}", f"{link}="
    inner = _inner(alone, option)
    if inner is not None:
        key, outer, own = inner
        replaced = with_qdisc(scenario, outer, option)
        law = _inspected_inner(replaced, own, key, option)
        return Setup(before + _label_with(replaced.qdisc, key, law), replaced, law)
    if isinstance(alone, str) and names_a_file(alone):
        alone = qdisc_named(alone, option)
    if isinstance(alone, CustomQdisc) or (isinstance(alone, type) and issubclass(alone, CustomQdisc)):
        changes = _scheduled(scenario, link) if scheduled else ()
        law = inspect_law(alone, scenario.contexts, option, changes)
        return Setup(before + law.label, scenario, law)
    replaced = with_qdisc(scenario, alone, option)
    return Setup(before + replaced.qdisc, replaced)


def _inner(qdisc: object, option: str) -> tuple[str, str, CustomQdisc] | None:
    """Key of what is in Python within a qdisc, the SPEC of that qdisc with a stand-in, and the object."""
    if isinstance(qdisc, Entry) and (found := written_in_python(qdisc)) is not None:
        key, outer, law = found
        return key, outer.spec(), law
    return inner_named(qdisc, option) if isinstance(qdisc, str) else None


def _inspected_inner(scenario: Scenario, law: CustomQdisc, key: str, option: str) -> LawTemplate:
    """Template of a law for each queue of the scenario's qdisc, or of a qdisc behind its shapers."""
    option = f"{option}: {key}"
    if isinstance(law, CustomLaw):
        return inspect_law(law, scenario.queue_contexts, option, of_each_queue=True)
    if key.rpartition(".")[2] == "qdisc":
        return replace(inspect_law(law, scenario.queue_contexts, option), form="shaped")
    message = f"{type(law).__name__} is a qdisc, and a queue has a law"
    raise InputError(
        f"{option}: {message}; expected an object of a class on sojourn.Controller or sojourn.Law"
    )


def _label_with(label: str, key: str, law: LawTemplate) -> str:
    """Label of a qdisc with a law in Python: its parameters stand beside its name."""
    name, _, parameters = law.label.partition(":")
    items = [f"{key}={name}", *(f"{key}.{item}" for item in parameters.split(",") if item)]
    return label.replace(f"{key}={STAND_IN}", ",".join(items), 1)


def with_controls(
    scenario: Scenario, cc: Control | Mapping[int, Control] | None, option: str = "--cc"
) -> Scenario:
    """The same scenario with one control for all flows that use TCP, or controls by the places of groups.

    Raises `InputError` with lines that begin with `option`.
    """
    if cc is None:
        return scenario
    groups = json.loads(scenario.to_json())["flows"]
    tcp = [place for place, group in enumerate(groups) if group["cc"] is not None]
    for places, control in _controlled_groups(tcp, cc, option):
        scenario = _with_control(scenario, places, control, option)
    _check_sources([template for _, template in scenario.custom_ccs], option)
    return scenario


def _link_and_qdisc(qdisc: Qdisc, option: str) -> tuple[str | None, str | QdiscSpec | CustomQdisc]:
    """Link of a qdisc, None for every one; and the qdisc."""
    if isinstance(qdisc, str):
        return place_of(qdisc)
    if not isinstance(qdisc, Mapping):
        return None, qdisc
    if len(qdisc) != 1 or not isinstance(next(iter(qdisc)), str):
        raise InputError(
            f'{option}: {qdisc!r} is not one link with its qdisc; expected such as {{"up": "pi"}}'
        )
    return next(iter(qdisc.items()))


def _scheduled(scenario: Scenario, link: str | None) -> Iterator[dict[str, Any]]:
    """Parameters of the laws, or of a link's law, after each change of the schedule."""
    parameters: dict[str, Any] = {}
    for change in json.loads(scenario.to_json())["at"]:
        keys = [key.partition(".qdisc.") for key in change["set"]]
        found = {
            key: value
            for (at, _, key), value in zip(keys, change["set"].values(), strict=True)
            if key and link in (None, at)
        }
        if found:
            parameters |= found
            yield dict(parameters)


def _controlled_groups(
    tcp: list[int], cc: Control | Mapping[int, Control], option: str
) -> list[tuple[list[int], Control]]:
    """Groups of flows with the control of each."""
    if not isinstance(cc, Mapping):
        if not tcp:
            raise InputError(
                f"{option}: no flows of the scenario use TCP; expected a scenario with TCP flows"
            )
        return [(tcp, cc)]
    for place in cc:
        try:
            known = whole(place) in tcp
        except TypeError:
            known = False
        if not known:
            expected = f"expected {', '.join(map(str, tcp)) or 'none'}"
            raise InputError(f"{option}: {shown(place)} is no group of flows that use TCP; {expected}")
    return [([whole(place)], control) for place, control in sorted(cc.items())]


def _with_control(scenario: Scenario, groups: list[int], control: Control, option: str) -> Scenario:
    if isinstance(control, str) and names_a_file(control):
        control = control_named(control, option)
    if isinstance(control, Entry):
        control = control.spec()
    try:
        if isinstance(control, str):
            return scenario.with_cc(groups, cast("str", one_of_kind(option, text, control)))
        if isinstance(control, CongestionControl) or (
            isinstance(control, type) and issubclass(control, CongestionControl)
        ):
            template = inspect_control(control, option)
            _check_name(template, option)
            return scenario.with_custom_cc(groups, template, template.label)
    except ScenarioError as error:
        raise refusal(error, before=f"{option}: ") from None
    raise InputError(f"{option}: {shown(control)} is no congestion control; {_CONTROL}")


def _check_name(control: ControlTemplate, option: str) -> None:
    """Refuse the label of a control of the catalogue."""
    if control.label.partition(":")[0] in {entry["name"] for entry in json.loads(catalogue_json("ccs"))}:
        message = f'"{control.label}" is the name of a congestion control of the catalogue'
        raise InputError(f"{option}: {type(control.original).__name__}: {message}; expected another label")


def _check_sources(controls: Sequence[ControlTemplate], option: str) -> None:
    """Refuse one label for two different controls: a result keeps one source under it."""
    known: dict[str, object] = {}
    for control in controls:
        own = (type(control.original), parameters_of(control.original))
        if known.setdefault(control.label, own) != own:
            message = f'two congestion controls are called "{control.label}"'
            raise InputError(f"{option}: {message}; expected a label of its own for each, as in label = NAME")
