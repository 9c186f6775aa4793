"""Figures and tables of a paper: what is drawn of which experiments, and the values that the paper prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.errors import InputError
from sojourn.kinds import shown
from sojourn.reproduce.predicate import Predicate, predicate

__all__ = ["KINDS", "Figure", "Finding", "Row", "Table", "figures", "tables"]

#: Kinds of figures, with the keys of each beside those of all.
KINDS = {
    # Means of metrics over places with their intervals, a line a law.
    "over": ("at", "x"),
    # Means of metrics at one place with their intervals, a row a law.
    "laws": ("of",),
    # Boxes of the windows of a metric at places, for each law.
    "boxes": ("at", "x"),
    # Distribution of the windows of a metric at one place, a line a law.
    "cdf": ("of",),
    # Means of short windows over time, of one seed, a row of panels a law; with `at` and `x` also a place.
    "series": ("of", "every"),
    # Lines of a calculation.
    "curves": ("of", "x", "y"),
}
#: Further keys that a kind may have.
OPTIONAL = {"curves": ("log", "points")}
_OF_TABLES = {"item", "title", "rows", "settings", "finding", "test"}
_OF_ALL = ("item", "title", "kind", "laws", "metrics", "paper", "level", "quick", "finding", "test")


@dataclass(frozen=True)
class Finding:
    """The finding of a run of a paper's future work."""

    #: The finding in a sentence.
    text: str
    #: The same as a predicate, each name with the setting of its law where that has several.
    test: Predicate


@dataclass(frozen=True)
class Figure:
    """A figure."""

    item: str
    title: str
    kind: str
    #: Experiments by their values on the axis; of a single one "".
    at: Mapping[str, str]
    #: Label of that axis.
    x: str
    #: Label of the other one, of curves.
    y: str
    #: Laws with one of their settings each.
    laws: tuple[tuple[str, str], ...]
    #: Metrics as in predicates, after the law: a link, a window and a class may be before the metric's name.
    metrics: tuple[str, ...]
    #: The paper's values by law, in the metric's own unit: one a metric; over places one a place, of the
    #: last metric.
    paper: Mapping[str, tuple[float, ...]]
    #: Value that the laws are to hold in the first metric.
    level: float | None
    #: Length of the windows of a series.
    every: str
    #: Logarithmic axes of curves, such as "xy".
    log: str
    #: True if curves are points.
    points: bool
    #: False if its own runs are left out with few seeds.
    quick: bool
    #: Of future work of the paper that runs here. None: a figure of the paper.
    finding: Finding | None

    @property
    def name(self) -> str:
        """The item as the name of a file."""
        return "".join(of if of.isalnum() else "_" for of in self.item.lower()).strip("_")


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    of: str
    #: What the paper has.
    paper: str
    #: An expression of predicates.
    ours: str


@dataclass(frozen=True)
class Table:
    """A table."""

    item: str
    title: str
    #: Setting of each law; the first one of a law that has none here.
    settings: Mapping[str, str]
    rows: tuple[Row, ...]
    #: As that of a figure.
    finding: Finding | None


def figures(
    given: Sequence[Mapping[str, Any]],
    laws: Mapping[str, Sequence[str]],
    experiments: Sequence[str],
    measures: Mapping[str, str],
) -> tuple[Figure, ...]:
    """The figures of a paper's file, by names of laws with their settings, and of experiments.

    Raises `InputError`.
    """
    found = tuple(_figure(one, laws, experiments, measures) for one in given)
    items = [one.name for one in found]
    for item in items:
        if items.count(item) > 1:
            raise InputError(f"figures: {item} is there twice; expected an item once")
    return found


def _figure(
    given: Mapping[str, Any],
    laws: Mapping[str, Sequence[str]],
    experiments: Sequence[str],
    measures: Mapping[str, str],
) -> Figure:
    place = str(given.get("item", "figures"))
    kind = given.get("kind")
    if kind not in KINDS:
        raise InputError(f"{place}.kind: {shown(kind)} is no kind; expected {', '.join(KINDS)}")
    own = ("at", "x", "every") if kind == "series" and "at" in given else KINDS[kind]
    unknown = given.keys() - {*_OF_ALL, *own, *OPTIONAL.get(kind, ())}
    needed = ("item", "title", *(("laws", "metrics") if kind != "curves" else ()), *own)
    missing = set(needed) - given.keys()
    if unknown or missing:
        keys = ", ".join(needed)
        wrong = f"{sorted(unknown)[0]} is no key of it" if unknown else f"has no {sorted(missing)[0]}"
        raise InputError(f"{place}: {wrong}; expected {keys}")
    at = given["at"] if "at" in given else {"": given["of"]}
    for experiment in at.values() if kind != "curves" else ():
        if experiment not in experiments:
            raise InputError(f'{place}: "{experiment}" is no experiment; expected {", ".join(experiments)}')
    return Figure(
        item=given["item"],
        title=given["title"],
        kind=kind,
        at=dict(at),
        x=given.get("x", ""),
        y=given.get("y", ""),
        laws=tuple(_laws(place, given.get("laws", ()), laws)),
        metrics=tuple(given.get("metrics", ())),
        paper={law: tuple(map(float, values)) for law, values in given.get("paper", {}).items()},
        level=given.get("level"),
        every=given.get("every", ""),
        log=given.get("log", ""),
        points=given.get("points", False),
        quick=given.get("quick", True),
        finding=_finding(place, given, measures),
    )


def _finding(place: str, given: Mapping[str, Any], measures: Mapping[str, str]) -> Finding | None:
    if ("finding" in given) != ("test" in given):
        raise InputError(f"{place}: expected a finding and its test, or neither")
    if "finding" not in given:
        return None
    return Finding(given["finding"], predicate(given["test"], f"{place}.test", measures))


def _laws(place: str, given: Sequence[str], laws: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    for one in given:
        law, _, setting = one.partition(".")
        if setting not in laws.get(law, ()):
            known = ", ".join(f"{law}.{setting}" for law, of in laws.items() for setting in of)
            raise InputError(f'{place}.laws: "{one}" is no setting of a law; expected some of {known}')
        yield law, setting


def tables(given: Sequence[Mapping[str, Any]], measures: Mapping[str, str]) -> tuple[Table, ...]:
    """The tables of a paper's file. Raises `InputError`."""
    found = []
    for one in given:
        place = str(one.get("item", "tables"))
        if not {"item", "title", "rows"} <= one.keys() <= _OF_TABLES:
            raise InputError(f"{place}: expected item, title and rows, and settings, finding and test or not")
        for row in one["rows"]:
            if row.keys() != {"of", "paper", "ours"}:
                raise InputError(f"{place}.rows: expected of, paper and ours in each")
        rows = tuple(Row(row["of"], str(row["paper"]), row["ours"]) for row in one["rows"])
        finding = _finding(place, one, measures)
        found.append(Table(one["item"], one["title"], one.get("settings", {}), rows, finding))
    return tuple(found)
