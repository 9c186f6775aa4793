"""Scenarios in Python: thin over the compiled half, which parses and checks."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from sojourn import files
from sojourn.entries import Entry
from sojourn.errors import ArgumentError, InputError, NotWritten, missing_core, refusal
from sojourn.kinds import instance, number, one_of_kind, plain, takes, text, whole
from sojourn.kinds import shown as in_an_error

try:
    from sojourn._core import Scenario, ScenarioError
except ImportError as error:
    raise missing_core(error) from error

__all__ = [
    "QdiscSpec",
    "Scenario",
    "ScenarioError",
    "Setting",
    "at_link",
    "gallery",
    "load",
    "place_of",
    "with_qdisc",
]

#: A scenario as an argument.
A_SCENARIO = instance(Scenario, "a scenario; expected what sj.load(FILE) gives")
#: Value of an override: TOML as text, a plain value, list or dict, or an entry such as `sojourn.apps.Web`.
Setting = str | float | bool | Sequence[Any] | Mapping[str, Any] | Entry
#: Text or keys, name and overrides of a scenario, and method names with arguments.
_Source = tuple[bytes | dict[str, object], str, list[tuple[str, str]]]
_Changes = Sequence[tuple[Any, ...]]

_GALLERY = Path(__file__).parent / "gallery"
_CAMPAIGNS = Path(__file__).parent / "campaigns"
# The largest scenario file, bytes; a device or a pipe may never end.
_MOST_BYTES = 10_000_000
# The largest file that a scenario names, bytes.
_MOST_RECORDED = 100_000_000
# A qdisc for one link, such as "up=codel"; a plain qdisc has no "=" before its first ":".
_AT_LINK = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*=(.*)", flags=re.DOTALL)
# The largest integer of a file.
_LARGEST = 2**63 - 1
_A_FILE = "expected a scenario file (TOML), or a name from 'sojourn list scenarios'"


@runtime_checkable
class QdiscSpec(Protocol):
    """Any object that names a qdisc with parameters: the classes of `sojourn.laws`."""

    def spec(self) -> str:
        """The qdisc as text, such as ``red:min=50packets,max=150packets``."""


def load(path: str | Path, overrides: Mapping[str, Setting] | None = None) -> Scenario:
    """Read and check a scenario file, or one of the `gallery` by its name.

    `overrides` maps dotted keys to numbers, True or False, TOML values as text (a bare word is a string),
    dicts, lists, or entries of a catalogue, such as ``{"bottleneck.rate": "6 Mbit/s", "flows[0].count": 20,
    "flows[0].app": sj.apps.Web(objects=20)}``. Raises `InputError` with one line for each error. The file
    format is described by ``sojourn explain scenario``.

    >>> import sojourn as sj
    >>> sj.load("scenarios/dumbbell.toml", {"duration": "50 s"}).duration_s
    50.0
    >>> sj.load("dumbbell").title
    'Fifty long flows on a 10 Mbit/s link'
    """
    return load_as(path, overrides, "")


def load_as(path: str | Path, overrides: Mapping[str, Setting] | None, option: str) -> Scenario:
    """`load`; lines of errors of overrides begin with `option`."""
    settings = _settings({} if overrides is None else overrides)
    try:
        text = _read(path)
    except ArgumentError:
        raise
    except InputError:
        if is_campaign(path):
            raise _a_grid(path) from None
        raise
    try:
        return Scenario.parse(text, _shown_name(path), settings, partial(_beside, _place(path).parent))
    except ScenarioError as error:
        if has_axes(text):
            raise _a_grid(path) from None
        raise refusal(error, setting=option) from None


def has_axes(text: bytes) -> bool:
    """True for the text of a grid of `sojourn.sweep`; false where it is no TOML."""
    try:
        keys = tomllib.loads(text.decode())
    except (ValueError, RecursionError):
        return False
    return "axes" in keys or isinstance(keys.get("scenario"), str)


def is_campaign(path: str | Path) -> bool:
    """True for a name of `sojourn list campaigns` that is none of a scenario or of a file."""
    try:
        if _place(path).exists():
            return False
    except (OSError, ValueError):
        return False
    return str(path) in campaigns()


def campaigns() -> dict[str, Path]:
    """Grids shipped with Sojourn, for `sojourn.sweep`: name -> file.

    >>> list(campaigns())
    ['delay', 'margin', 'red']
    """
    return {path.stem: path for path in sorted(_CAMPAIGNS.glob("*.toml"))}


def _a_grid(path: str | Path) -> InputError:
    return InputError(
        f"{path}: is a grid of campaigns; expected a scenario, or 'sojourn sweep {_shown_name(path)}'"
    )


def rewrite(path: str | Path) -> bool:
    """Put the keys of a scenario file that have moved into their places; False if none has.

    Raises `InputError`, and `NotWritten` where the file cannot be written.
    """
    text = _read(path)
    if not Path(path).is_file():
        raise InputError(f"{path}: is a scenario of the gallery; expected a file of your own")
    try:
        moved = Scenario.rewritten(text, _shown_name(path))
    except ScenarioError as error:
        raise refusal(error) from None
    if moved is not None:
        try:
            files.replace(path, moved.encode())
        except OSError as error:
            raise NotWritten(f"{path}: cannot be written ({error.strerror})") from None
    return moved is not None


def _shown_name(path: str | Path) -> str:
    """Name of a file in errors; what is not UTF-8 is shown with replacement characters."""
    return str(path).encode("utf-8", "replace").decode()


def _from_dict(keys: object, folder: str | Path | None) -> Scenario:
    """`Scenario.from_dict`."""
    if not isinstance(keys, Mapping):
        raise InputError(f"keys: {in_an_error(keys)} is no dict; expected the keys of a scenario file")
    if folder is not None and not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"folder: {in_an_error(folder)} is no folder; expected its path")
    try:
        own = cast("dict[str, object]", _as_json("", keys))
    except RecursionError:
        raise InputError("keys: are nested too deeply; expected the keys of a scenario file") from None
    return _parsed(own, partial(_beside, Path() if folder is None else Path(folder)))


def _changed(scenario: Scenario, changes: Mapping[str, Setting]) -> Scenario:
    """`Scenario.with_`: read again with more overrides, and changed again.

    Earlier changes of what they set are overrides before them, so that the last one holds.
    """
    content, name, overrides = scenario.source
    settings, files = _settings(changes), scenario.files
    before, rest = _as_overrides(scenario, settings)
    read = _parsed(content, files.__getitem__, [*overrides, *before, *settings], name)
    return _after(read, rest)


def _as_html(scenario: Scenario) -> str:
    """`Scenario._repr_html_`."""
    from sojourn.notebook import of_scenario

    return of_scenario(json.loads(scenario.to_json()))


def _as_overrides(
    scenario: Scenario, settings: Sequence[tuple[str, str]]
) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    """Earlier changes of qdiscs and congestion controls that `settings` set, as overrides; and the others."""
    names = [group["name"] for group in json.loads(scenario.to_json())["flows"]]
    controls = [key for key, value in settings if _sets("cc", key, value)]
    controlled = {
        place
        for place, name in enumerate(names)
        for key in controls
        if key == "flows" or key.startswith((f"flows[{place}]", f"flows.{place}.", f"{name}."))
    }
    has_qdisc = any(_sets("qdisc", key, value) for key, value in settings)
    overrides: list[tuple[str, str]] = []
    rest: list[tuple[Any, ...]] = []
    link = "*"
    for change in scenario.changes:
        match change:
            case ("with_qdisc", spec) if has_qdisc and link != "":
                overrides.append((f"{link}.qdisc", spec))
            case ("with_cc" | "with_custom_cc" as method, groups, control, *label):
                if method == "with_cc":
                    overrides += [(f"flows[{place}].cc", control) for place in groups if place in controlled]
                left = [place for place in groups if place not in controlled]
                rest += [(method, left, control, *label)] if left else []
            case _:
                if change[0] == "at_link":
                    link = change[1] if _has_a_table(scenario, change[1]) else ""
                rest.append(change)
    return overrides, rest


def _has_a_table(scenario: Scenario, link: str) -> bool:
    """True for a link with a table of its own: those of a chain share one."""
    content, name, overrides = scenario.source
    try:
        Scenario.parse(
            content, name, [*overrides, (f"{link}.qdisc", "tail_drop")], scenario.files.__getitem__
        )
    except ScenarioError:
        return False
    return True


def _sets(part: str, key: str, value: str) -> bool:
    """True if an override sets this key or one inside it; or a whole table with it."""
    return part in key.split(".") or (value.startswith(("{", "[")) and f'"{part}"' in value)


def _made_again(source: _Source, beside: Mapping[str, bytes], changes: _Changes) -> Scenario:
    """A scenario from its pickle."""
    return _after(Scenario.parse(*source, beside.__getitem__), changes)


def _after(scenario: Scenario, changes: _Changes) -> Scenario:
    """The scenario after these changes."""
    for method, *arguments in changes:
        try:
            scenario = getattr(scenario, method)(*arguments)
        except ScenarioError as error:
            raise refusal(error) from None
    return scenario


def _parsed(
    content: bytes | dict[str, object],
    beside: Callable[[str], bytes],
    settings: Sequence[tuple[str, str]] = (),
    name: str = "",
) -> Scenario:
    """A scenario of a text or of keys, called `name`; errors of overrides begin with their key."""
    try:
        return Scenario.parse(content, name, list(settings), beside)
    except ScenarioError as error:
        raise refusal(error, setting="") from None


def _as_json(key: str, value: object) -> object:
    """The value of a key, of JSON's types."""
    value = value.table() if isinstance(value, Entry) else plain(value)
    if isinstance(value, Mapping):
        for inner in value:
            if not isinstance(inner, str):
                raise InputError(f"{key or 'keys'}: {in_an_error(inner)} is not a key; expected text")
        return {inner: _as_json(f"{key}.{inner}".lstrip("."), item) for inner, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(f"{key}[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, str):
        return one_of_kind(key, text, value)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise InputError(f"{key}: {value:.3e} is too large; expected at most {_LARGEST}")
    if value is None or isinstance(value, bool | int | float):
        return value
    given = in_an_error(value)
    raise InputError(f"{key}: {given} is not a value; expected text, a number, True, False, a list or a dict")


def gallery() -> dict[str, Path]:
    """Scenarios shipped with Sojourn: name -> file.

    >>> gallery()["dumbbell"].name
    'dumbbell.toml'
    """
    shipped = sorted(_GALLERY.glob("**/*.toml"))
    return {path.relative_to(_GALLERY).with_suffix("").as_posix(): path for path in shipped}


@takes(scenario=A_SCENARIO)
def with_qdisc(scenario: Scenario, qdisc: str | QdiscSpec, option: str = "--qdisc") -> Scenario:
    """The same scenario with another qdisc at every link that has one, or at the link that `qdisc` names.

    `qdisc` is a text such as ``"pi:target=100packets"`` or ``"LINK=pi"``, or one of `sojourn.laws`. Raises
    `InputError` with lines that begin with `option`.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml")
    >>> with_qdisc(sc, "tail_drop").qdisc
    'tail_drop'
    >>> with_qdisc(sc, "bottleneck=codel").qdisc
    'codel'
    """
    link, alone = place_of(qdisc) if isinstance(qdisc, str) else (None, qdisc)
    if link is not None:
        return with_qdisc(at_link(scenario, link, option), alone, f"{option}: {link}")
    if isinstance(qdisc, type) or not isinstance(qdisc, str | QdiscSpec):
        if isinstance(qdisc, type) and issubclass(qdisc, Entry):
            name = qdisc.__name__
            raise InputError(f"{option}: {name} is a class; expected an object of it, {name}()")
        given = in_an_error(qdisc)
        raise InputError(f'{option}: {given} is not a qdisc; expected a text such as "pi", or sj.laws.Pi()')
    spec = one_of_kind(option, text, qdisc if isinstance(qdisc, str) else qdisc.spec())
    try:
        return scenario.with_qdisc(cast("str", spec))
    except ScenarioError as error:
        raise refusal(error, before=f"{option}: ") from None


@takes(qdisc=text)
def place_of(qdisc: str) -> tuple[str | None, str]:
    """Link of a text such as ``"up=codel"``, None for every link; and the qdisc.

    >>> place_of("up=red:max=60packets")
    ('up', 'red:max=60packets')
    >>> place_of("red:max=60packets")
    (None, 'red:max=60packets')
    """
    found = _AT_LINK.fullmatch(qdisc)
    return (found[1], found[2].strip()) if found else (None, qdisc)


@takes(scenario=A_SCENARIO)
def at_link(scenario: Scenario, link: str, option: str = "--qdisc") -> Scenario:
    """A copy of the scenario whose qdisc may be replaced at this link alone.

    Raises `InputError` with a line that begins with `option`.
    """
    try:
        return scenario.at_link(cast("str", one_of_kind(option, text, link)))
    except ScenarioError as error:
        raise refusal(error, before=f"{option}: ") from None


def _settings(overrides: Mapping[str, Setting]) -> list[tuple[str, str]]:
    """Keys and TOML values as text."""
    if not isinstance(overrides, Mapping):
        given = in_an_error(overrides)
        raise InputError(f'overrides: {given} is no dict; expected such as {{"duration": "60 s"}}')
    return [(_key(key), _toml(key, value)) for key, value in overrides.items()]


def _key(key: object) -> str:
    if not isinstance(key, str):
        given = in_an_error(key)
        raise InputError(f'overrides: {given} is not a key; expected text such as "flows[0].count"')
    return cast("str", one_of_kind("overrides", text, key))


def _toml(key: str, value: object) -> str:
    value = plain(value)
    if isinstance(value, str):
        return cast("str", one_of_kind(key, text, value))
    if isinstance(value, Entry | Mapping | list | tuple):
        return _inline(key, _as_json(key, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind in (whole, number):
        try:
            return repr(kind(value))
        except TypeError:
            pass
    given = in_an_error(value)
    expected = "expected a number, True or False, a list or a dict, or TOML as text"
    raise InputError(f"{key}: {given} is not a value; {expected}")


def _inline(key: str, value: object) -> str:
    """A value of JSON's types as TOML on one line."""
    if isinstance(value, dict):
        items = (f"{json.dumps(inner)} = {_inline(f'{key}.{inner}', item)}" for inner, item in value.items())
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, list):
        return f"[{', '.join(_inline(f'{key}[{place}]', item) for place, item in enumerate(value))}]"
    if isinstance(value, str):
        return json.dumps(one_of_kind(key, text, value), ensure_ascii=False)
    return _toml(key, value)


def _read(path: str | Path) -> bytes:
    """Bytes of the file. Raises `InputError`."""
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError(f"path: {in_an_error(path)} is no file name; {_A_FILE}")
    if not str(path).strip() or "\0" in str(path):
        raise InputError(f'"{str(path).encode("unicode_escape").decode()}": is no file name; {_A_FILE}')
    try:
        text = files.read(_place(path), _MOST_BYTES)
    except OSError as error:
        raise InputError(_unreadable(path, error)) from None
    except ValueError:
        raise InputError(f"{in_an_error(path)}: is no file name; {_A_FILE}") from None
    if len(text) > _MOST_BYTES:
        raise InputError(f"{path}: is too large; expected a scenario file (TOML) of at most 10 MB")
    return text


def _beside(folder: Path, name: str) -> bytes:
    """Bytes of a file that a scenario in `folder` names. Raises `InputError` of one line.

    A scenario may come from a third party: it may read nothing outside its folder.
    """
    expected = "expected a file in the scenario's folder or below, named from there"
    try:
        place = (folder / name).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise InputError(f'"{name}" is outside of the scenario\'s folder; {expected}')
        text = files.read(place, _MOST_RECORDED)
    except InputError:
        raise
    except (files.NotAFile, IsADirectoryError):
        raise InputError(f'"{name}" is no file; {expected}') from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f'"{name}" cannot be read: {reason}; {expected}') from None
    if len(text) > _MOST_RECORDED:
        raise InputError(f'"{name}" is too large; expected a file of at most 100 MB')
    return text


def _place(path: str | Path) -> Path:
    """Path of the file; a file of that name precedes a scenario of the gallery."""
    place = Path(path)
    return gallery().get(str(path), place) if not place.suffix and not place.is_file() else place


def _unreadable(path: str | Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        meant = str(path).removeprefix("scenarios/").removesuffix(".toml")
        own = [name for name in gallery() if name.rpartition("/")[2] == meant]
        near = own or difflib.get_close_matches(meant, gallery(), n=1)
        meanings = " or ".join(f'"{name}"' for name in near)
        hint = f"did you mean {meanings}? " if near else ""
        expected = "expected a scenario file (TOML), see 'sojourn list scenarios'"
        return f"{path}: there is no such file; {hint}{expected}"
    if isinstance(error, IsADirectoryError):
        return f"{path}: is a folder; expected a scenario file (TOML)"
    return f"{path}: cannot be read ({error.strerror}); expected a readable scenario file (TOML)"
