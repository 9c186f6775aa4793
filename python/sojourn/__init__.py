"""Sojourn: active queue management, from the equation to the wire.

>>> import sojourn as sj
>>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
>>> result = sj.run(sc, qdiscs=["tail_drop", sj.laws.Pi(target="100 packets")], seeds=range(1, 3))
>>> result.summary().columns
['qdisc', 'link', 'class', 'metric', 'queue', 'plant', 'n', 'mean', 'ci95_low', 'ci95_high']
"""

from __future__ import annotations

# Nothing is imported before the command can report Ctrl-C: type checkers take this for True.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sojourn import apps, ccs, laws, links, ocq, qdiscs, theorems
    from sojourn._core import (
        Acknowledged,
        Arrival,
        Departure,
        LinkContext,
        Observation,
        OperatingPoint,
        Packet,
        Signal,
        Verdict,
        __version__,
    )
    from sojourn.custom import CongestionControl, Controller, Law, Qdisc
    from sojourn.design import Design, design
    from sojourn.errors import (
        InputError,
        Interrupted,
        LawFailed,
        MissingError,
        NotWritten,
        RunFailed,
        WriteWarning,
    )
    from sojourn.prove import Certificate, prove
    from sojourn.reproduce import reproduce
    from sojourn.result import Result
    from sojourn.scenario import Scenario, load
    from sojourn.simulate import run
    from sojourn.sweep import Sweep, sweep

__all__ = [
    "Acknowledged",
    "Arrival",
    "Certificate",
    "CongestionControl",
    "Controller",
    "Departure",
    "Design",
    "InputError",
    "Interrupted",
    "Law",
    "LawFailed",
    "LinkContext",
    "MissingError",
    "NotWritten",
    "Observation",
    "OperatingPoint",
    "Packet",
    "Qdisc",
    "Result",
    "RunFailed",
    "Scenario",
    "Signal",
    "Sweep",
    "Verdict",
    "WriteWarning",
    "__version__",
    "apps",
    "ccs",
    "design",
    "laws",
    "links",
    "load",
    "ocq",
    "prove",
    "qdiscs",
    "reproduce",
    "run",
    "sweep",
    "theorems",
]

# Lazy imports: importing the package alone stays cheap.
_HOMES = {
    "CongestionControl": "sojourn.custom",
    "Controller": "sojourn.custom",
    "Law": "sojourn.custom",
    "Qdisc": "sojourn.custom",
    "InputError": "sojourn.errors",
    "Interrupted": "sojourn.errors",
    "LawFailed": "sojourn.errors",
    "MissingError": "sojourn.errors",
    "NotWritten": "sojourn.errors",
    "RunFailed": "sojourn.errors",
    "WriteWarning": "sojourn.errors",
    "Certificate": "sojourn.prove",
    "Design": "sojourn.design",
    "Result": "sojourn.result",
    "Scenario": "sojourn.scenario",
    "load": "sojourn.scenario",
    "run": "sojourn.simulate",
    "Sweep": "sojourn.sweep",
    "Acknowledged": "sojourn._core",
    "Arrival": "sojourn._core",
    "Departure": "sojourn._core",
    "Observation": "sojourn._core",
    "OperatingPoint": "sojourn._core",
    "Packet": "sojourn._core",
    "Signal": "sojourn._core",
    "LinkContext": "sojourn._core",
    "Verdict": "sojourn._core",
    "__version__": "sojourn._core",
}


#: Modules among the public names, some of which are called.
_ROOMS = (
    "apps",
    "ccs",
    "design",
    "laws",
    "links",
    "ocq",
    "prove",
    "qdiscs",
    "reproduce",
    "sweep",
    "theorems",
)


def __getattr__(name: str) -> Any:
    import importlib

    if name in _ROOMS:
        return importlib.import_module(f"sojourn.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'sojourn' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
