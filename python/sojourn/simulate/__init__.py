"""Simulate: run a scenario in every plant for every disc and seed, and gather one result.

The runs go in background threads, outside the interpreter's lock; the calling thread watches for
Ctrl-C and shows progress. The result is ordered by disc, plant and seed, never by completion, so it
is the same for any number of workers.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sojourn import _core
from sojourn._core import LawError
from sojourn.errors import InputError, Interrupted, LawFailed, RunFailed
from sojourn.kinds import flag, shown, takes, text, whole
from sojourn.laws_in_python import Controller, InPython, Law, LawInPython
from sojourn.laws_in_python.files import law_of, names_a_file
from sojourn.laws_in_python.lines import failure_of, source_of
from sojourn.laws_in_python.parameters import label_of
from sojourn.laws_in_python.template import template_of, try_changes
from sojourn.result import SEEDLESS, Arm, Result
from sojourn.scenario import (
    A_SCENARIO,
    DiscSpec,
    Scenario,
    ScenarioError,
    at_link,
    each_once,
    place_of,
    with_disc,
)
from sojourn.simulate.controls import Control, sources, with_controls
from sojourn.simulate.gather import Finished, Origin, gather
from sojourn.simulate.pool import Job, Outcome, Watch, drive

__all__ = [
    "MAX_RUNS",
    "PLANTS",
    "SEED_LIMIT",
    "Control",
    "Disc",
    "Names",
    "Request",
    "Watch",
    "carry_out",
    "check_plant",
    "check_plants",
    "run",
    "runs_of_a_disc",
]

#: What names a disc: a text, parameters, or a law written in Python; `{LINK: ...}` is one for a link alone.
Disc = str | DiscSpec | Law | Controller | Mapping[str, str | DiscSpec | Law | Controller]

#: What is one disc, no list of them.
_ONE = (str, DiscSpec, LawInPython, type, Mapping)

#: A disc without its place.
_Anywhere = str | DiscSpec | Law | Controller | LawInPython

#: The plants that exist.
PLANTS = ("fluid", "packet")
#: Where a scenario runs if nothing else is said.
USUAL = ("packet",)
#: Seeds are below this (a u64).
SEED_LIMIT = 2**64
#: One call starts at most so many runs of a plant.
MAX_RUNS = 100_000


@dataclass(frozen=True)
class Names:
    """What the parts of a request are called where it comes from, as faults name them."""

    discs: str = "--disc"
    cc: str = "--cc"
    seeds: str = "--seeds"
    jobs: str = "--jobs"
    plants: str = "--plant"


@dataclass(frozen=True)
class Request:
    """What to run: every disc with every seed, in every plant; in one without randomness once.

    `discs` are texts such as ``"red:min=50packets,max=150packets"`` or ``"mylaw.py:MyLaw"``, objects of
    `sojourn.laws`, or laws written in Python, each for all links with a disc, or ``{LINK: ...}`` and
    ``"LINK=..."`` for one of them; none means the scenario's own discs. `seeds` are whole numbers from 0 to
    2**64 - 1, each once. `jobs` is the number of worker threads, None for one a processor. `command` is
    noted in the provenance. `cc` is a congestion control for all flows that use TCP, or one for
    each of some groups of flows, by their places.
    """

    scenario: Scenario
    discs: Sequence[Disc] | Disc = ()
    seeds: Iterable[int] = (1,)
    jobs: int | None = None
    plants: Sequence[str] | str = USUAL
    command: Sequence[str] = ()
    cc: Control | Mapping[int, Control] | None = None
    names: Names = field(default_factory=Names)


def run(
    scenario: Scenario,
    discs: Sequence[Disc] | Disc | None = None,
    seeds: Iterable[int] = (1,),
    jobs: int | None = None,
    *,
    cc: Control | Mapping[int, Control] | None = None,
    plants: Sequence[str] | str = USUAL,
) -> Result:
    """Run a scenario for every disc and seed, in every plant.

    `discs` are texts such as ``"red:min=50packets,max=150packets"`` or ``"mylaw.py:MyLaw"``, objects of
    `sojourn.laws`, or laws written in Python (`sojourn.Law`, `sojourn.Controller`), or one such; None means
    the scenario's own discs. Each stands at every link that has a disc; written ``"LINK=codel"`` or
    ``{"LINK": MyLaw()}`` at that link alone, while the others keep theirs. `seeds` are whole numbers from 0
    to 2**64 - 1, each once. `jobs` is the number of worker threads (default: one a processor); it never
    changes the result. `cc` is a congestion control for all flows that use TCP, or some by the places of
    groups of flows, as in ``{0: "cubic", 1: MyCc()}``: a text such as ``"cubic:hystart=false"`` or
    ``"mycc.py:MyCc"``, or one written in Python (`sojourn.CongestionControl`). `plants` are ``"packet"``
    (packet by packet), ``"fluid"`` (delay differential equations: one run a disc, under the lowest seed), or
    a list of both, whose results then lie beside each other.

    Raises `InputError` for illegal input; `RunFailed` when a run fails (`LawFailed` where what is written in
    Python did) and `Interrupted` on Ctrl-C, with the finished runs as `.result`.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
    >>> sj.run(sc, discs=["tail_drop", "pi"], seeds=[1]).discs[0]
    'tail_drop'
    """
    if discs is not None and not isinstance(discs, _ONE):
        discs = _listed(discs)
    names = Names("discs", "cc", "seeds", "jobs", "plants")
    given = () if discs is None else discs
    return carry_out(Request(scenario, given, seeds, jobs, plants, cc=cc, names=names))


def carry_out(
    request: Request, watch: Watch | None = None, settled: Callable[[], None] | None = None
) -> Result:
    """Do what `run` does, for a request.

    `watch` is called some ten times a second with the number of finished runs and the fraction of all
    work that is done (0..1); `settled` once, when no run is at work any more.
    """
    names = request.names
    plants = [request.plants] if isinstance(request.plants, str) else request.plants
    check_plants(plants, names.plants)
    scenario = _own_scenario(request)
    discs = _placed_discs(scenario, request.discs, names.discs)
    for plant in plants:
        for one in discs:
            _check_in(plant, one, names.discs)
    seeds = _checked_seeds(request.seeds, MAX_RUNS // len(discs), names.seeds)
    workers = _workers(request.jobs, names.jobs)
    tasks = [
        Job(one.scenario, Arm(one.label, plant), seed, one.law)
        for one in discs
        for plant in plants
        for seed in _seeds_in(plant, seeds)
    ]
    started, clock = time.time(), time.monotonic()
    outcome = drive(tasks, min(workers, len(tasks)), watch, settled)
    origin = Origin(
        command=list(request.command),
        started=started,
        wall_s=time.monotonic() - clock,
        asked=len(tasks),
        workers=workers,
        interrupted=outcome.interrupted,
        notes=scenario.notes,
        laws={one.label: source_of(one.law) for one in discs if one.law is not None},
        ccs=sources(scenario),
    )
    return _conclude(json.loads(scenario.to_json()), outcome, origin)


def check_plants(plants: Sequence[str], option: str = "--plant") -> None:
    """Raise `InputError` for a plant that does not exist."""
    if not isinstance(plants, Sequence):
        raise InputError(f"{option}: {shown(plants)} is no list of plants; legal: {', '.join(PLANTS)}")
    for plant in plants:
        if plant not in PLANTS:
            raise InputError(f'{option}: "{plant}" does not exist; legal: {", ".join(PLANTS)}')
    if len(plants) != len(set(plants)) or not plants:
        raise InputError(f"{option}: each plant once; legal: {', '.join(PLANTS)}")


@takes(scenario=A_SCENARIO, plant=text, own_law=flag)
def check_plant(scenario: Scenario, plant: str, *, own_law: bool = False) -> None:
    """Raise `InputError`, with one line for each fault, where a plant has no model of the scenario.

    With `own_law` a law of the caller's own stands in the place of each disc that may be replaced, and those
    discs need no model.

    >>> import sojourn as sj
    >>> check_plant(sj.load("dumbbell"), "packet")
    """
    if plant != "fluid":
        return
    try:
        _core.check_fluid(scenario, own_law)
    except ScenarioError as fault:
        raise InputError(*fault.faults) from None


def runs_of_a_disc(plants: Sequence[str], seeds: Sequence[int]) -> int:
    """How many runs each disc has: one for each seed, and one in a plant without randomness.

    >>> runs_of_a_disc(["fluid", "packet"], range(5))
    6
    """
    return sum(len(_seeds_in(plant, seeds)) for plant in plants)


def _seeds_in(plant: str, seeds: Sequence[int]) -> Sequence[int]:
    """The seeds under which a disc runs in a plant, of those that were asked for, lowest first."""
    return seeds[:1] if plant in SEEDLESS else seeds


def _check_in(plant: str, one: _Placed, option: str) -> None:
    """Raise `InputError` where a plant has no model of the scenario, or of its law."""
    if plant != "fluid":
        return
    if isinstance(one.law, Law):
        legal = "legal there: a sojourn.Controller, which gives a probability"
        raise InputError(f"{option}: {one.label} judges packets, and the fluid plant has none; {legal}")
    check_plant(one.scenario, plant, own_law=one.law is not None)


def _listed(discs: object) -> list[Disc]:
    """The discs of a list that holds any."""
    legal = 'legal: a disc such as "pi", or a list of them'
    if not isinstance(discs, Iterable):
        raise InputError(f"discs: {shown(discs)} is no list of discs; {legal}")
    found = list(discs)
    if not found:
        raise InputError(f"discs: the list is empty; {legal}, or None for the scenario's own")
    return found


@dataclass(frozen=True)
class _Placed:
    """A scenario under a disc; `law` stands for the scenario's law where it is not None."""

    label: str
    scenario: Scenario
    law: LawInPython | None = None


def _own_scenario(request: Request) -> Scenario:
    """The scenario with the congestion controls that were asked for."""
    if not isinstance(request.scenario, Scenario):
        what = shown(request.scenario)
        raise InputError(f"scenario: {what} is not a scenario; legal: what sj.load(FILE) gives")
    return with_controls(request.scenario, request.cc, request.names.cc)


def _placed_discs(scenario: Scenario, given: Sequence[Disc] | Disc, option: str) -> list[_Placed]:
    discs = [given] if isinstance(given, _ONE) else list(given)
    placed = [_placed(scenario, disc, option) for disc in discs] or [_Placed(scenario.disc, scenario)]
    each_once([disc.label for disc in placed], option, {disc.label for disc in placed if disc.law})
    return placed


def _placed(scenario: Scenario, disc: Disc | LawInPython, option: str) -> _Placed:
    link, alone = _place(disc, option)
    if link is None:
        return _anywhere(scenario, alone, _changes_of_laws(scenario), option)
    changes = _changes_of_laws(scenario, link)
    one = _anywhere(at_link(scenario, link, option), alone, changes, f"{option}: {link}")
    return replace(one, label=f"{link}={one.label}")


def _place(disc: Disc | LawInPython, option: str) -> tuple[str | None, _Anywhere]:
    """The link that a disc is for, None for every one; and the disc."""
    if isinstance(disc, str):
        return place_of(disc)
    if not isinstance(disc, Mapping):
        return None, disc
    if len(disc) != 1 or not isinstance(next(iter(disc)), str):
        raise InputError(f'{option}: {disc!r} is not one link with its disc; legal: such as {{"up": "pi"}}')
    return next(iter(disc.items()))


def _anywhere(scenario: Scenario, disc: _Anywhere, changes: Iterator[dict[str, Any]], option: str) -> _Placed:
    """The scenario under a disc, at all of its links whose disc may be replaced."""
    if isinstance(disc, str) and names_a_file(disc):
        disc = law_of(disc, option)
    if isinstance(disc, LawInPython) or (isinstance(disc, type) and issubclass(disc, LawInPython)):
        template = template_of(disc, scenario.sites, option)
        try_changes(template, scenario.sites[0], changes, option)
        return _Placed(label_of(template, option), scenario, template)
    variant = with_disc(scenario, disc, option)
    return _Placed(variant.disc, variant)


def _changes_of_laws(scenario: Scenario, link: str | None = None) -> Iterator[dict[str, Any]]:
    """What the schedule sets of the laws, or of that of a link: after each change all that was set so far."""
    given: dict[str, Any] = {}
    for change in json.loads(scenario.to_json())["at"]:
        keys = [key.partition(".disc.") for key in change["set"]]
        found = {
            key: value
            for (at, _, key), value in zip(keys, change["set"].values(), strict=True)
            if key and link in (None, at)
        }
        if found:
            given |= found
            yield dict(given)


def _workers(jobs: int | None, option: str) -> int:
    if jobs is None:
        return os.cpu_count() or 1
    try:
        workers = whole(jobs)
    except TypeError:
        workers = 0
    if workers < 1:
        raise InputError(f"{option}: {shown(jobs)} is not a number of workers; legal: 1 or more")
    return workers


def _checked_seeds(seeds: Iterable[int], most: int, option: str) -> list[int]:
    numbers: list[int] = []
    seen: set[int] = set()
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        what = f"{shown(seeds)} is no list of seeds"
        raise InputError(f"{option}: {what}; legal: whole numbers such as range(1, 6)")
    for given in seeds:
        try:
            seed = whole(given)
        except TypeError:
            seed = -1
        if not 0 <= seed < SEED_LIMIT:
            raise InputError(f"{option}: {shown(given)} is not a seed; legal: 0 to {SEED_LIMIT - 1}")
        if seed in seen:
            raise InputError(f"{option}: {seed} is given twice; legal: each seed once")
        if len(numbers) >= most:
            raise InputError(f"{option}: more than {most} seeds; legal: at most {MAX_RUNS} runs at once")
        seen.add(seed)
        numbers.append(seed)
    if not numbers:
        raise InputError(f"{option}: no seed is given; legal: at least one")
    return sorted(numbers)


def _conclude(scenario: dict[str, Any], outcome: Outcome, origin: Origin) -> Result:
    """The result; or the error that ended the runs, with what had finished."""
    finished = [
        Finished(job.arm, job.seed, run)
        for job, run in zip(outcome.jobs, outcome.runs, strict=True)
        if run is not None
    ]
    result = gather(scenario, finished, origin) if finished else None
    if outcome.fault is not None:
        raise _failed(*outcome.fault, result) from outcome.fault[1].__cause__
    if outcome.interrupted:
        finished_runs = f"{len(finished) or 'none'} of {origin.asked} runs had finished"
        raise Interrupted(f"interrupted; {finished_runs}", result)
    if result is None:
        raise RunFailed("no run finished", None)
    return result


def _failed(job: Job, fault: BaseException, result: Result | None) -> RunFailed:
    run = job.arm.run_told(job.seed)
    guest: InPython | None = getattr(fault, "guest", job.law)
    if guest is not None and isinstance(fault, LawError):
        return LawFailed(f"{run}: {failure_of(guest, fault)}", result)
    why = " ".join(str(fault).split()) or type(fault).__name__
    return RunFailed(f"{run}: the run failed: {why}", result)
