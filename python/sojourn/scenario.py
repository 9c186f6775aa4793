"""Scenarios as Python sees them: thin over the compiled half, which parses and checks."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from sojourn import files
from sojourn.errors import ArgumentError, InputError, missing_core
from sojourn.kinds import instance, number, one_of_kind, plain, takes, text, whole
from sojourn.kinds import shown as in_an_error

try:
    from sojourn._core import Scenario, ScenarioError
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = [
    "DiscSpec",
    "Scenario",
    "ScenarioError",
    "Setting",
    "at_link",
    "gallery",
    "load",
    "place_of",
    "with_disc",
]

#: A scenario as an argument.
A_SCENARIO = instance(Scenario, "a scenario; expected what sj.load(FILE) gives")
#: What an override may be: TOML as text, or a plain value.
Setting = str | float | bool

_GALLERY = Path(__file__).parent / "gallery"
# The largest scenario file, bytes; a device or a pipe may never end.
_MOST_BYTES = 10_000_000
# The largest file that a scenario names, bytes.
_MOST_RECORDED = 100_000_000
# A disc for one link, such as "up=codel"; a disc alone has no "=" before its first ":".
_AT_LINK = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*=(.*)", flags=re.DOTALL)
_A_FILE = "legal: a scenario file (TOML), or a name from 'sojourn list scenarios'"


@runtime_checkable
class DiscSpec(Protocol):
    """Anything that names a disc with parameters: the classes of `sojourn.laws`."""

    def spec(self) -> str:
        """The disc as text, such as ``red:min=50packets,max=150packets``."""


def load(path: str | Path, overrides: Mapping[str, Setting] | None = None) -> Scenario:
    """Read and check a scenario file, or one of the `gallery` by its name.

    `overrides` maps dotted keys to numbers, True or False, or TOML values as text (a bare word is a
    string), such as ``{"bottleneck.rate": "6 Mbit/s", "flows[0].count": 20}``. Raises `InputError` with
    one line for each fault. The file format is described by ``sojourn explain scenario``.

    >>> import sojourn as sj
    >>> sj.load("scenarios/dumbbell.toml", {"duration": "50 s"}).duration_s
    50.0
    >>> sj.load("dumbbell").title
    'Fifty long flows on a 10 Mbit/s link'
    """
    settings = _settings({} if overrides is None else overrides)
    text = _read(path)
    try:
        # A name that is not UTF-8 shows with marks of replacement.
        name = str(path).encode("utf-8", "replace").decode()
        return Scenario.parse(text, name, settings, partial(_beside, _place(path).parent))
    except ScenarioError as fault:
        raise InputError(*fault.faults, excerpts=fault.excerpts) from None


def gallery() -> dict[str, Path]:
    """The scenarios that came with Sojourn: name -> file.

    >>> gallery()["dumbbell"].name
    'dumbbell.toml'
    """
    shipped = sorted(_GALLERY.glob("**/*.toml"))
    return {path.relative_to(_GALLERY).with_suffix("").as_posix(): path for path in shipped}


@takes(scenario=A_SCENARIO)
def with_disc(scenario: Scenario, disc: str | DiscSpec, option: str = "--disc") -> Scenario:
    """The same scenario with another disc at every link that has one, or at the link that `disc` names.

    `disc` is a text such as ``"pi:target=100packets"`` or ``"LINK=pi"``, or one of `sojourn.laws`. Raises
    `InputError` with lines that begin with `option`.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml")
    >>> with_disc(sc, "tail_drop").disc
    'tail_drop'
    >>> with_disc(sc, "bottleneck=codel").disc
    'codel'
    """
    link, alone = place_of(disc) if isinstance(disc, str) else (None, disc)
    if link is not None:
        return with_disc(at_link(scenario, link, option), alone, f"{option}: {link}")
    if isinstance(disc, type) or not isinstance(disc, str | DiscSpec):
        what = in_an_error(disc)
        raise InputError(f'{option}: {what} is not a disc; legal: a text such as "pi", or sj.laws.Pi()')
    spec = one_of_kind(option, text, disc if isinstance(disc, str) else disc.spec())
    try:
        return scenario.with_disc(cast("str", spec))
    except ScenarioError as fault:
        raise InputError(*(f"{option}: {line}" for line in fault.faults)) from None


@takes(disc=text)
def place_of(disc: str) -> tuple[str | None, str]:
    """The link that a text such as ``"up=codel"`` is for, and the disc; None where it is for every link.

    >>> place_of("up=red:max=60packets")
    ('up', 'red:max=60packets')
    >>> place_of("red:max=60packets")
    (None, 'red:max=60packets')
    """
    found = _AT_LINK.fullmatch(disc)
    return (found[1], found[2].strip()) if found else (None, disc)


@takes(scenario=A_SCENARIO)
def at_link(scenario: Scenario, link: str, option: str = "--disc") -> Scenario:
    """The same scenario, in which only the disc of this link gives way to another one.

    Raises `InputError` with a line that begins with `option`.
    """
    try:
        return scenario.at_link(cast("str", one_of_kind(option, text, link)))
    except ScenarioError as fault:
        raise InputError(*(f"{option}: {line}" for line in fault.faults)) from None


def each_once(labels: Sequence[str], option: str, in_python: Collection[str] = ()) -> None:
    """Raise `InputError` where two discs have one label; `in_python` are those of laws written in Python.

    >>> each_once(["pi", "codel"], "--disc")
    """
    for place, label in enumerate(labels):
        if label in labels[:place]:
            more = ", or a label of its own for a law in Python" if label in in_python else ""
            raise InputError(f"{option}: {label} is given twice; legal: each disc once{more}")


def _settings(overrides: Mapping[str, Setting]) -> list[tuple[str, str]]:
    """Keys and TOML values as text."""
    if not isinstance(overrides, Mapping):
        what = in_an_error(overrides)
        raise InputError(f'overrides: {what} is no dict; legal: such as {{"duration": "60 s"}}')
    return [(_key(key), _toml(key, value)) for key, value in overrides.items()]


def _key(key: object) -> str:
    if not isinstance(key, str):
        what = in_an_error(key)
        raise InputError(f'overrides: {what} is not a key; legal: text such as "flows[0].count"')
    return cast("str", one_of_kind("overrides", text, key))


def _toml(key: str, value: object) -> str:
    value = plain(value)
    if isinstance(value, str):
        return cast("str", one_of_kind(key, text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind in (whole, number):
        try:
            return repr(kind(value))
        except TypeError:
            pass
    what = in_an_error(value)
    raise InputError(f"{key}: {what} is not a value; legal: a number, True or False, or TOML as text")


def _read(path: str | Path) -> bytes:
    """The bytes of the file. Raises `InputError`."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"path: {in_an_error(path)} is no file name; {_A_FILE}")
    if not str(path).strip() or "\0" in str(path):
        raise InputError(f'"{str(path).encode("unicode_escape").decode()}": is no file name; {_A_FILE}')
    try:
        text = files.read(_place(path), _MOST_BYTES)
    except OSError as fault:
        raise InputError(_unreadable(path, fault)) from None
    except ValueError:
        raise InputError(f"{in_an_error(path)}: is no file name; {_A_FILE}") from None
    if len(text) > _MOST_BYTES:
        raise InputError(f"{path}: is too large; legal: a scenario file (TOML) of at most 10 MB")
    return text


def _beside(folder: Path, name: str) -> bytes:
    """The bytes of a file that a scenario in `folder` names. Raises `InputError` of one line.

    A scenario may come from anybody, so that it reads nothing outside of its folder.
    """
    legal = "legal: a file in the scenario's folder or below, named from there"
    try:
        place = (folder / name).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise InputError(f'"{name}" is outside of the scenario\'s folder; {legal}')
        text = files.read(place, _MOST_RECORDED)
    except InputError:
        raise
    except (files.NotAFile, IsADirectoryError):
        raise InputError(f'"{name}" is no file; {legal}') from None
    except (OSError, ValueError, RuntimeError) as fault:
        what = fault.strerror if isinstance(fault, OSError) else fault
        raise InputError(f'"{name}" cannot be read: {what}; {legal}') from None
    if len(text) > _MOST_RECORDED:
        raise InputError(f'"{name}" is too large; legal: a file of at most 100 MB')
    return text


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
