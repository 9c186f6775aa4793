"""Cells: a point of a grid under a seed, with the scenario that it runs and the hash that names it."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sojourn import _core
from sojourn.custom.identity import facts_of
from sojourn.custom.template import ControlTemplate, LawTemplate
from sojourn.errors import InputError, SojournError
from sojourn.resolve import Setup, under_qdisc, with_controls
from sojourn.result import SEEDLESS, Variant
from sojourn.simulate import check_plant
from sojourn.simulate.pool import Job
from sojourn.sweep.grid import Grid, Point, changes_of

__all__ = ["Cell", "Setting", "setting_of", "settings"]

#: Gains of a designed qdisc at a scenario: its SPEC.
Designer = Callable[[Any, Any], str]


@dataclass(frozen=True)
class Setting:
    """What runs at a point: a scenario under a qdisc; or the line that refuses it."""

    point: Point
    setup: Setup | None
    refused: str | None
    digest: bytes

    def cell(self, seed: int) -> str:
        """Hash of scenario, law, plant, seed and build: 128 bits of SHA-256, in hexadecimal digits."""
        seeded = "" if self.point.plant in SEEDLESS else str(seed)
        return hashlib.sha256(self.digest + seeded.encode()).hexdigest()[:32]

    def job(self, seed: int) -> Job:
        """The run of a setting that is not refused."""
        assert self.setup is not None
        return Job(self.setup.scenario, Variant(self.setup.label, self.point.plant), seed, self.setup.law)


@dataclass(frozen=True)
class Cell:
    """A cell to run: its hash, its point and its seed."""

    name: str
    place: int
    point: Point
    seed: int


def settings(grid: Grid, designer: Designer) -> Iterator[Setting]:
    """The setting at each point of the grid, one at a time."""
    for point in grid.points():
        yield setting_at(grid, point, designer)


def setting_at(grid: Grid, point: Point, designer: Designer) -> Setting:
    """The setting of a point; wrong values there refuse it, and it alone."""
    try:
        setup = _setup(grid, point, designer)
    except InputError as error:
        facts = [grid.base.to_json(), json.dumps(point.columns, sort_keys=True), point.plant]
        return Setting(point, None, error.lines[0], _digest("refused", *facts))
    return Setting(point, setup, None, _digest(point.plant, *_identity(setup)))


def setting_of(grid: Grid, cell: Cell, designer: Designer) -> Setting:
    """The setting of a planned cell. Raises `SojournError` where it is not the one that its hash names.

    A file of a law in Python may change while its sweep runs.
    """
    found = setting_at(grid, cell.point, designer)
    if found.cell(cell.seed) == cell.name:
        return found
    # Half of an edited file may be none of a law.
    what = ", ".join(_files(found)) or (found.refused or "a point of the grid").partition("; expected")[0]
    raise SojournError(f"{what}: changed while the sweep ran; run it again: finished cells are kept")


def _files(setting: Setting) -> list[str]:
    """Files of the laws and controls in Python of a setting."""
    if setting.setup is None:
        return []
    found = (
        getattr(sys.modules.get(type(one.original).__module__), "__file__", None)
        for one in _templates(setting.setup)
    )
    return sorted({one for one in found if one is not None})


def _templates(setup: Setup) -> list[LawTemplate | ControlTemplate]:
    """Laws and controls in Python of a setup."""
    return [one for _, one in setup.scenario.custom_ccs] + ([] if setup.law is None else [setup.law])


def _setup(grid: Grid, point: Point, designer: Designer) -> Setup:
    overrides, qdisc, cc = changes_of(grid, point)
    scenario = grid.base.with_(**overrides) if overrides else grid.base
    scenario = with_controls(scenario, cc, "cc")
    if isinstance(qdisc, dict) and "design" in qdisc:
        qdisc = designer(scenario, qdisc)
    setup = under_qdisc(scenario, qdisc, "qdisc", scheduled=True)
    check_plant(setup.scenario, point.plant, own_law=setup.law is not None)
    return setup


def _identity(setup: Setup) -> Iterator[str]:
    """All that a run depends on, but for plant and seed; the title is no part of it."""
    keys = json.loads(setup.scenario.to_json())
    keys.pop("title", None)
    yield json.dumps(keys, sort_keys=True, ensure_ascii=False)
    yield setup.label
    for name, content in sorted(setup.scenario.files.items()):
        yield f"{name} {hashlib.sha256(content).hexdigest()}"
    for template in _templates(setup):
        facts = facts_of(template.original)
        if facts is None:
            message = f"{template.label} has no source text, which names its cells"
            raise InputError(f"qdisc: {message}; expected a law in a file")
        yield from (template.label, *facts)


def _digest(*facts: str) -> bytes:
    """SHA-256 of texts, of the version and of the build."""
    found = hashlib.sha256(f"sojourn {_core.__version__} {_core.__build__}".encode())
    for fact in facts:
        data = fact.encode("utf-8", "surrogateescape")
        found.update(len(data).to_bytes(8, "big") + data)
    return found.digest()
