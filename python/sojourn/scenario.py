"""Scenarios as Python sees them: thin over the compiled half, which parses and checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from sojourn.errors import InputError, missing_core

try:
    from sojourn._core import Scenario, ScenarioError
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["DiscSpec", "Scenario", "load", "with_disc"]


@runtime_checkable
class DiscSpec(Protocol):
    """Anything that names a disc with parameters: the classes of `sojourn.laws`."""

    def spec(self) -> str:
        """The disc as text, such as ``red:min=50packets,max=150packets``."""


def load(path: str | Path, overrides: Mapping[str, str] | None = None) -> Scenario:
    """Read and check a scenario file.

    `overrides` maps dotted keys to TOML values as text (a bare word is a string), such as
    ``{"bottleneck.rate": "6 Mbit/s", "flows.0.count": "20"}``. Raises `InputError` with one line
    for each fault. The file format is described by ``sojourn explain scenario``.

    >>> import sojourn as sj
    >>> sj.load("scenarios/dumbbell.toml", {"duration": "50 s"}).duration_s
    50.0
    """
    try:
        text = Path(path).read_bytes()
    except OSError as fault:
        raise InputError(_unreadable(path, fault)) from None
    try:
        # A name that is not UTF-8 shows with marks of replacement.
        name = str(path).encode("utf-8", "replace").decode()
        return Scenario.parse(text, name, list((overrides or {}).items()))
    except ScenarioError as fault:
        raise InputError(*fault.faults) from None


def with_disc(scenario: Scenario, disc: str | DiscSpec) -> Scenario:
    """The same scenario with another disc at the bottleneck.

    `disc` is a text such as ``"pi:target=100packets"`` or one of `sojourn.laws`. Raises `InputError`.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml")
    >>> with_disc(sc, "tail_drop").disc
    'tail_drop'
    """
    if isinstance(disc, type) or not isinstance(disc, str | DiscSpec):
        raise InputError(f'--disc: {disc!r} is not a disc; legal: a text such as "pi", or sj.laws.Pi()')
    spec = disc if isinstance(disc, str) else disc.spec()
    try:
        return scenario.with_disc(spec)
    except ScenarioError as fault:
        raise InputError(*fault.faults) from None


def _unreadable(path: str | Path, fault: OSError) -> str:
    if isinstance(fault, FileNotFoundError):
        return f"{path}: there is no such file; legal: a scenario file (TOML), see 'sojourn list scenarios'"
    if isinstance(fault, IsADirectoryError):
        return f"{path}: is a folder; legal: a scenario file (TOML)"
    return f"{path}: cannot be read ({fault.strerror}); legal: a readable scenario file (TOML)"
