"""Scenarios as Python sees them: thin over the compiled half, which parses and checks."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from sojourn.errors import InputError, missing_core

try:
    from sojourn._core import Scenario, ScenarioError
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["DiscSpec", "Scenario", "gallery", "load", "with_disc"]

_GALLERY = Path(__file__).parent / "gallery"


@runtime_checkable
class DiscSpec(Protocol):
    """Anything that names a disc with parameters: the classes of `sojourn.laws`."""

    def spec(self) -> str:
        """The disc as text, such as ``red:min=50packets,max=150packets``."""


def load(path: str | Path, overrides: Mapping[str, str] | None = None) -> Scenario:
    """Read and check a scenario file, or one of the `gallery` by its name.

    `overrides` maps dotted keys to TOML values as text (a bare word is a string), such as
    ``{"bottleneck.rate": "6 Mbit/s", "flows.0.count": "20"}``. Raises `InputError` with one line
    for each fault. The file format is described by ``sojourn explain scenario``.

    >>> import sojourn as sj
    >>> sj.load("scenarios/dumbbell.toml", {"duration": "50 s"}).duration_s
    50.0
    >>> sj.load("dumbbell").title
    'Fifty long flows on a 10 Mbit/s link'
    """
    try:
        text = _place(path).read_bytes()
    except OSError as fault:
        raise InputError(_unreadable(path, fault)) from None
    try:
        # A name that is not UTF-8 shows with marks of replacement.
        name = str(path).encode("utf-8", "replace").decode()
        return Scenario.parse(text, name, list((overrides or {}).items()))
    except ScenarioError as fault:
        raise InputError(*fault.faults) from None


def gallery() -> dict[str, Path]:
    """The scenarios that came with Sojourn: name -> file.

    >>> gallery()["dumbbell"].name
    'dumbbell.toml'
    """
    files = sorted(_GALLERY.glob("**/*.toml"))
    return {path.relative_to(_GALLERY).with_suffix("").as_posix(): path for path in files}


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


def _place(path: str | Path) -> Path:
    """The file meant; a file of that name comes before a scenario of the gallery."""
    place = Path(path)
    return gallery().get(str(path), place) if not place.suffix and not place.is_file() else place


def _unreadable(path: str | Path, fault: OSError) -> str:
    if isinstance(fault, FileNotFoundError):
        meant = str(path).removeprefix("scenarios/").removesuffix(".toml")
        near = difflib.get_close_matches(meant, gallery(), n=1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        legal = "legal: a scenario file (TOML), see 'sojourn list scenarios'"
        return f"{path}: there is no such file; {hint}{legal}"
    if isinstance(fault, IsADirectoryError):
        return f"{path}: is a folder; legal: a scenario file (TOML)"
    return f"{path}: cannot be read ({fault.strerror}); legal: a readable scenario file (TOML)"
