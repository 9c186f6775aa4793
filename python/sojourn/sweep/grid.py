"""The grid of a sweep: its file read and checked, and its points."""

from __future__ import annotations

import functools
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

from sojourn import files
from sojourn.entries import Entry
from sojourn.errors import InputError
from sojourn.kinds import shown, whole
from sojourn.scenario import Scenario, campaigns, load_as, place_of
from sojourn.simulate import PLANTS, SEED_LIMIT, check_plants
from sojourn.sweep.about import About, Level, picture
from sojourn.sweep.analysis import names
from sojourn.sweep.axes import METHODS, Axis, Sample, axis, check_level, points, repeated
from sojourn.sweep.conditions import Condition, condition
from sojourn.sweep.store import value_of

__all__ = ["MOST_CELLS", "Grid", "Point", "read"]

#: Most cells of a sweep.
MOST_CELLS = 1_000_000
#: Grids that are shipped.
#: Largest file of a grid, bytes.
_MOST_BYTES = 10_000_000
_KEYS = ("title", "question", "scenario", "set", "axes", "plants", "seeds", "sample", "where", "exclude")
#: Keys of a grid that change no cell.
_ABOUT = ("pictures", "theory")
#: Keys that are no keys of a scenario: the values of --qdisc and --cc.
QDISC, CC = "qdisc", "cc"
#: The name in conditions that is neither of an axis nor of a column.
_LAW = "law"
_EXAMPLE = 'expected such as axes = { qdisc = ["pi", "codel"], "flows[0].count" = [5, 20] }'


@dataclass(frozen=True)
class Point:
    """One point of the grid in one plant."""

    #: Values by the names of axes, as written.
    given: dict[str, Any]
    #: The same as columns have them.
    columns: dict[str, Any]
    plant: str


@dataclass(frozen=True)
class Grid:
    """A grid of a base scenario; made by `read`."""

    base: Scenario
    axes: tuple[Axis, ...]
    plants: tuple[str, ...]
    #: Ascending.
    seeds: tuple[int, ...]
    sample: Sample | None
    conditions: tuple[Condition, ...]
    #: Values by axis of points that are left out.
    excluded: tuple[dict[str, Any], ...]
    #: Its question, and how its page shows the answer.
    about: About = field(default_factory=About)
    #: Its file as lines of errors begin with; empty: it is none.
    before: str = ""

    def blamed(self, line: str) -> str:
        """The line of an error of a point, with the grid, and with the axis whose key it begins with."""
        owners = (
            one.name
            for one in self.axes
            for key in one.keys
            if line.startswith((f"{key}:", f"{key}.", f"{key}["))
        )
        owner = next(owners, None)
        return f"{self.before}{line}" if owner is None else f"{self.before}axes.{owner}: {line}"

    @functools.cached_property
    def repeated(self) -> int:
        """Number of points of the sample that equal an earlier one, and are left out."""
        return repeated(self.axes, self.sample)

    def points(self) -> Iterator[Point]:
        """Points that meet the conditions. Raises `InputError` where a condition has no value."""
        law = functools.partial(_law, axes=self.axes, base=self.base)
        for given in points(self.axes, self.sample):
            columns = {one.name: one.shown(given[one.name]) for one in self.axes}
            for plant in self.plants:
                values = columns | {"plant": plant, "law": law(columns)}
                if all(one.holds(values) for one in self.conditions) and not self._is_excluded(values):
                    yield Point(given, columns, plant)

    def _is_excluded(self, values: Mapping[str, Any]) -> bool:
        return any(all(values[name] == value for name, value in one.items()) for one in self.excluded)


def read(
    given: str | Path | Mapping[str, Any],
    *,
    seeds: Sequence[int] | None = None,
    changes: Mapping[str, str] = MappingProxyType({}),
) -> Grid:
    """Read and check a grid: a TOML file, a name of `campaigns`, or keys as a dict.

    In a dict `scenario` may be a `Scenario`. `seeds` replace those of the grid, and `changes` are those of
    --set: keys of the scenario with texts of TOML. Raises `InputError` with one line, which begins with the
    file and the key.
    """
    if isinstance(given, Mapping):
        return _Reader("", Path(), seeds, changes).grid(given)
    place = Path(given)
    if not place.exists():
        place = campaigns().get(str(given), place)
    try:
        content = files.read(place, _MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        message = (
            "there is no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({reason})"
        )
        raise InputError(
            f"{given}: {message}; expected a grid (TOML), or one of 'sojourn list campaigns'"
        ) from None
    if len(content) > _MOST_BYTES:
        raise InputError(f"{given}: is too large; expected a grid (TOML) of at most 10 MB")
    try:
        keys = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{given}{_position(error)}; expected a grid (TOML)") from None
    found = _Reader(f"{given}: ", place.parent, seeds, changes).grid(keys)
    return replace(found, about=replace(found.about, source=content.decode()))


def _position(error: Exception) -> str:
    """Place and message of an error of TOML: ``:LINE:COLUMN: MESSAGE``."""
    message = " ".join(str(error).split())
    found = re.search(r" \(at line ([0-9]+), column ([0-9]+)\)$", message)
    if found is None:
        return f": cannot be read ({message.replace(' (at end of document)', ' at its end')})"
    return f":{found[1]}:{found[2]}: {message[: found.start()]}"


@dataclass(frozen=True)
class _Reader:
    """Reads the keys of a grid; errors begin with `before`, the file."""

    before: str
    folder: Path
    #: Those of --seeds and --set.
    seeds: Sequence[int] | None = None
    changes: Mapping[str, str] = field(default_factory=dict)

    def grid(self, keys: Mapping[str, Any]) -> Grid:
        for key in keys:
            if key not in (*_KEYS, *_ABOUT):
                expected = ", ".join((*_KEYS, *_ABOUT))
                raise self._error(f"{shown(key)} is no key of a grid; expected {expected}")
        axes = self._axes(keys.get("axes"))
        sample = self._sample(keys.get("sample"), axes)
        self._check_clashes(axes)
        base = self._base(keys, axes)
        plants = self._plants(keys.get("plants", ["packet"]))
        self._check_keys(axes, base)
        levels = _levels(axes, plants, base)
        readers = {one.name: one.read for one in axes} | {"plant": str, "law": str}
        found = Grid(
            base=base,
            axes=axes,
            plants=plants,
            seeds=self._seeds(keys.get("seeds", [1]) if self.seeds is None else list(self.seeds)),
            sample=sample,
            conditions=tuple(
                condition(text, [*levels], f"{self.before}where[{place}]", readers)
                for place, text in enumerate(self._list("where", keys))
            ),
            excluded=tuple(
                self._exclusion(one, levels, place) for place, one in enumerate(self._list("exclude", keys))
            ),
            before=self.before,
            about=self._about(keys, {name: levels[name] for name in levels if name != "law"}),
        )
        if sample is not None and sample.method == "saltelli" and (found.conditions or found.excluded):
            key = "where" if found.conditions else "exclude"
            raise self._error(
                f"{key}: leaves points out, and sample.method saltelli needs all; expected none"
            )
        self._check_size(found)
        return found

    def _error(self, line: str) -> InputError:
        return InputError(f"{self.before}{line}")

    def _base(self, keys: Mapping[str, Any], axes: Sequence[Axis]) -> Scenario:
        for one in axes:
            for key, (mine, text) in itertools.product(one.keys, self.changes.items()):
                if mine == key or _replaces(one, key, mine, is_later=True) or _has(mine, text, key):
                    what = "it" if mine == key else key
                    raise InputError(
                        f"--set {mine}: {self.before}axes.{one.name} sets {what}; expected a key of no axis"
                    )
        given = keys.get("scenario")
        if isinstance(given, Scenario):
            changes = {**keys.get("set", {}), **self.changes}
            return given.with_(**changes) if changes else given
        if not isinstance(given, str) or not given.strip():
            raise self._error(
                f'scenario: {shown(given)} is no scenario; expected a file, or a name such as "dumbbell"'
            )
        changes = keys.get("set", {})
        if not isinstance(changes, Mapping):
            raise self._error(f'set: {shown(changes)} is no table; expected such as {{ duration = "20 s" }}')
        beside = self.folder / given
        option = f"{self.before}set."
        try:
            return load_as(beside if beside.is_file() else given, {**changes, **self.changes}, option)
        except InputError as error:
            raise InputError(*(self._of_set(line, option) for line in error.lines)) from None

    def _of_set(self, line: str, option: str) -> str:
        """The line of an error of an override, with --set where it is one of the command."""
        key = line.removeprefix(option).partition(":")[0]
        mine = line.startswith(option) and any(one == key or one.startswith(key) for one in self.changes)
        return f"--set {line.removeprefix(option)}" if mine else line

    def _check_clashes(self, axes: Sequence[Axis]) -> None:
        """Refuse an axis whose value another one replaces; qdiscs and controls come last, others in order."""
        for (first, one), (later, other) in itertools.product(enumerate(axes), repeat=2):
            for key, its in itertools.product(one.keys, other.keys):
                if first < later and key == its:
                    raise self._error(
                        f"axes.{other.name}: sets {key}, as axes.{one.name} does; expected one axis for a key"
                    )
                if first != later and _replaces(other, its, key, is_later=later > first):
                    raise self._error(
                        f"axes.{one.name}: sets {key}, which axes.{other.name} replaces; expected one of them"
                    )

    def _check_keys(self, axes: Sequence[Axis], base: Scenario) -> None:
        """Refuse keys of axes that no scenario has, by the name of the axis."""
        every = [key for one in axes for key in one.keys]
        for one in axes:
            for key in one.keys:
                if key in (QDISC, CC) or any(_depends(key, other) for other in every if other != key):
                    continue
                value: Any = one.values[0] if one.values is not None else None
                if one.values is None and one.span is not None:
                    value = one.span.at(0.0)
                try:
                    base.with_(**{key: value})
                except InputError as error:
                    if error.diagnostics and error.diagnostics[0].kind == "unknown_key":
                        raise self._error(f"axes.{one.name}: {error.lines[0]}") from None

    def _axes(self, given: object) -> tuple[Axis, ...]:
        if given is None:
            raise self._error(f"axes: are missing; {_EXAMPLE}")
        if not isinstance(given, Mapping) or not given:
            raise self._error(f"axes: {shown(given)} is no table of axes; {_EXAMPLE}")
        for name in given:
            if not isinstance(name, str) or not name.strip():
                raise self._error(f"axes: {shown(name)} is no name of an axis; {_EXAMPLE}")
            if name == _LAW or name in names() or value_of(name) is not None:
                what = "conditions have this name" if name == _LAW else "tables have a column of this name"
                example = f'{name.strip("_")}_of = {{ key = "flows[0].count", values = [2, 5] }}'
                raise self._error(
                    f"axes: {shown(name)} is reserved, as {what}; expected another, such as {example}"
                )
        return tuple(axis(name, value, f"{self.before}axes.{name}") for name, value in given.items())

    def _sample(self, given: object, axes: Sequence[Axis]) -> Sample | None:
        drawn = [one.name for one in axes if one.values is None]
        if given is None:
            if drawn:
                message = f"axes.{drawn[0]}: is a range without points, and there is no sample"
                raise self._error(
                    f'{message}; expected points, or sample = {{ method = "sobol", points = 64 }}'
                )
            return None
        if not isinstance(given, Mapping) or given.keys() - {"method", "points", "seed"}:
            raise self._error(
                f'sample: {shown(given)} is no sample; expected {{ method = "latin", points = 50 }}'
            )
        if not drawn:
            raise self._error("sample: no axis is a range without points; expected one to draw from")
        method, number, seed = given.get("method"), given.get("points", 0), given.get("seed", 1)
        if method not in METHODS:
            raise self._error(f"sample.method: {shown(method)} is unknown; expected {' or '.join(METHODS)}")
        if not _is_whole(number) or not 1 <= number <= MOST_CELLS:
            raise self._error(f"sample.points: {shown(number)} is out of range; expected 1 to {MOST_CELLS}")
        if method != "latin" and number & (number - 1):
            raise self._error(
                f"sample.points: {number} is no power of 2; expected one, as Sobol's sequence has"
            )
        if not _is_whole(seed) or seed < 0:
            raise self._error(f"sample.seed: {shown(seed)} is no seed; expected a whole number from 0")
        return Sample(method, number, seed)

    def _plants(self, given: object) -> tuple[str, ...]:
        named = [given] if isinstance(given, str) else given
        if not isinstance(named, list | tuple):
            raise self._error(f"plants: {shown(given)} is no list of plants; expected {', '.join(PLANTS)}")
        check_plants(named, f"{self.before}plants")
        return tuple(named)

    def _seeds(self, given: object) -> tuple[int, ...]:
        found = seeds_of(given)
        if found is None:
            raise self._error(
                f'seeds: {shown(given)} are no seeds; expected "1..5", or a list such as [1, 3, 5]'
            )
        return found

    def _list(self, key: str, keys: Mapping[str, Any]) -> Sequence[Any]:
        given = keys.get(key, [])
        found = [given] if isinstance(given, str) else given
        if not isinstance(found, list | tuple):
            raise self._error(f"{key}: {shown(given)} is no list; expected one in brackets")
        return found

    def _exclusion(self, given: object, levels: Mapping[str, Level], place: int) -> dict[str, Any]:
        where = f"exclude[{place}]"
        if not isinstance(given, Mapping) or not given:
            raise self._error(
                f'{where}: {shown(given)} is no point; expected such as {{ qdisc = "pi", flows = 5 }}'
            )
        for name in given:
            if name not in levels:
                raise self._error(f"{where}: {shown(name)} is no axis; expected {', '.join(levels)}")
        return {name: levels[name](value, f"{self.before}{where}.{name}") for name, value in given.items()}

    def _about(self, keys: Mapping[str, Any], levels: Mapping[str, Level]) -> About:
        texts = {}
        for key in ("title", "question"):
            texts[key] = keys.get(key, "")
            if not isinstance(texts[key], str):
                raise self._error(f"{key}: {shown(texts[key])} is no text; expected one")
        theory = keys.get("theory", False)
        if not isinstance(theory, bool):
            raise self._error(f"theory: {shown(theory)} is neither true nor false")
        pictures = tuple(
            picture(one, levels, f"{self.before}pictures[{place}]")
            for place, one in enumerate(self._list("pictures", keys))
        )
        for place, one in enumerate(pictures):
            if one.kind == "regression" and not theory:
                message = "a regression is on theory; expected theory = true"
                raise self._error(f"pictures[{place}]: {message}")
            given = keys.get("sample")
            if one.kind == "sensitivity" and (
                not isinstance(given, Mapping) or given.get("method") != "saltelli"
            ):
                message = 'indices need their sample; expected sample.method = "saltelli"'
                raise self._error(f"pictures[{place}]: {message}")
        return About(texts["title"], texts["question"], pictures, theory)

    def _check_size(self, grid: Grid) -> None:
        """Refuse a grid of too many cells before its points are made."""
        many = (
            len(grid.plants)
            * len(grid.seeds)
            * (grid.sample.size(sum(one.values is None for one in grid.axes)) if grid.sample else 1)
        )
        for one in grid.axes:
            many *= 1 if one.values is None else len(one.values)
        if many > MOST_CELLS:
            raise self._error(f"axes: these are {many} cells; expected at most {MOST_CELLS}")
        if next(grid.points(), None) is None:
            raise self._error("where: no point of the grid meets the conditions; expected one at least")


def seeds_of(given: object) -> tuple[int, ...] | None:
    """Seeds of a text such as ``"1..5"`` or of a list, ascending; None: they are none."""
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9]{1,20})(?:\.\.([0-9]{1,20}))?\s*", given)
        if found is None:
            return None
        first, last = int(found[1]), int(found[2] or found[1])
        if last >= SEED_LIMIT:
            return None
        given = range(first, last + 1)
    elif _is_whole(given):
        given = [given]
    if not isinstance(given, list | tuple | range) or not given or _longer(given, MOST_CELLS):
        return None
    try:
        numbers = sorted({whole(one) for one in given})
    except TypeError:
        return None
    return (
        tuple(numbers)
        if len(numbers) == len(given) and numbers[0] >= 0 and numbers[-1] < SEED_LIMIT
        else None
    )


def _replaces(axis: Axis, key: str, other: str, *, is_later: bool) -> bool:
    """True if a key of an axis, at each of its values, replaces what another key sets."""
    if key == QDISC:
        found = re.fullmatch(r"(?!at\[)(.+?)\.qdisc(?:\..*)?", other)
        return found is not None and all(_link(value) in (None, found[1]) for value in axis.values or ())
    if key == CC:
        found = re.fullmatch(r"flows\[([0-9]+)\]\.cc(?:\..*)?", other)
        return found is not None and all(
            not isinstance(value, Mapping) or int(found[1]) in value for value in axis.values or ()
        )
    return is_later and _depends(other, key)


def _link(qdisc: object) -> str | None:
    """The link that a qdisc is for; None: for each."""
    if isinstance(qdisc, Mapping):
        return None if "design" in qdisc else next(iter(qdisc), None)
    return place_of(qdisc)[0] if isinstance(qdisc, str) else None


def _has(key: str, text: str, inner: str) -> bool:
    """True if a value of --set, a table or a SPEC, has a value for a key within its own."""
    if inner == key or not _depends(inner, key):
        return False
    try:
        value: Any = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    rest = inner.removeprefix(key).removeprefix(".")
    if isinstance(value, str):
        return re.search(rf"[:,]\s*{re.escape(rest)}\s*=", value) is not None
    for part in re.findall(r"[^.\[\]]+", rest):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            return False
    return True


def _depends(key: str, other: str) -> bool:
    """True if a key belongs to what another one sets, such as a parameter to its qdisc."""
    return key.startswith((f"{other}.", f"{other}[")) or (other == QDISC and ".qdisc." in key)


def _longer(given: Sequence[object], most: int) -> bool:
    """True for more than so many: `len` has no number for the longest ranges."""
    return len(given[: most + 1]) > most


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _levels(axes: Sequence[Axis], plants: Sequence[str], base: Scenario) -> dict[str, Level]:
    """Readers of the values of axes, of plants and of laws; each refuses those of no point."""

    def among(names: Sequence[str]) -> Level:
        def read(given: object, place: str) -> object:
            check_level(given, given, dict(zip(names, names, strict=True)), place)
            return given

        return read

    values = next((one.levels or {} for one in axes if QDISC in one.keys), {})
    laws = [_name(value) for value in values] or [_name(base.qdisc)]
    return {one.name: one.level for one in axes} | {
        "plant": among(plants),
        "law": among(list(dict.fromkeys(laws))),
    }


def _law(columns: Mapping[str, Any], axes: Sequence[Axis], base: Scenario) -> str:
    """Name of the qdisc of a point, without parameters."""
    return _name(next((columns[one.name] for one in axes if QDISC in one.keys), base.qdisc))


def _name(qdisc: object) -> str:
    """Name of a SPEC, or of the law that is designed."""
    if isinstance(qdisc, str) and qdisc.startswith("{"):
        qdisc = str(json.loads(qdisc).get("design", ""))
    return str(qdisc).partition(":")[0]


def changes_of(grid: Grid, point: Point) -> tuple[dict[str, Any], Any, Any]:
    """Overrides of a point, its qdisc and its congestion control; None: those of the scenario."""
    overrides: dict[str, Any] = {}
    own: dict[str, Any] = {QDISC: None, CC: None}
    for one in grid.axes:
        for key in one.keys:
            value = point.given[one.name]
            if key in own:
                own[key] = value.spec() if isinstance(value, Entry) and key == CC else value
            else:
                overrides[key] = value
    return overrides, own[QDISC], own[CC]
