"""Simulate: run a scenario for every disc and seed, and gather one result.

The runs go in background threads, outside the interpreter's lock; the calling thread watches for
Ctrl-C and shows progress. The result is ordered by disc and seed, never by completion, so it is
the same for any number of workers.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

from sojourn.errors import InputError, Interrupted, RunFailed
from sojourn.result import Result
from sojourn.scenario import DiscSpec, Scenario, with_disc
from sojourn.simulate.gather import Finished, Origin, gather
from sojourn.simulate.pool import Job, Outcome, Watch, drive

__all__ = ["MAX_RUNS", "PLANTS", "SEED_LIMIT", "Request", "Watch", "carry_out", "check_plants", "run"]

#: The plants that exist.
PLANTS = ("packet",)
#: Seeds are below this (a u64).
SEED_LIMIT = 2**64
#: One call starts at most so many runs.
MAX_RUNS = 100_000


@dataclass(frozen=True)
class Request:
    """What to run: every disc with every seed.

    `discs` are texts such as ``"red:min=50packets,max=150packets"`` or objects of `sojourn.laws`; none
    means the scenario's own disc. `seeds` are whole numbers from 0 to 2**64 - 1, each once. `jobs` is
    the number of worker threads, None for one a processor. `command` is noted in the provenance.
    """

    scenario: Scenario
    discs: Sequence[str | DiscSpec] | str | DiscSpec = ()
    seeds: Iterable[int] = (1,)
    jobs: int | None = None
    plants: Sequence[str] = PLANTS
    command: Sequence[str] = ()


def run(
    scenario: Scenario,
    discs: Sequence[str | DiscSpec] | str | DiscSpec = (),
    seeds: Iterable[int] = (1,),
    jobs: int | None = None,
) -> Result:
    """Run a scenario for every disc and seed.

    `discs` are texts such as ``"red:min=50packets,max=150packets"`` or objects of `sojourn.laws`, or one
    such; none means the scenario's own disc. `seeds` are whole numbers from 0 to 2**64 - 1, each once.
    `jobs` is the number of worker threads (default: one a processor); it never changes the result.

    Raises `InputError` for illegal input; `RunFailed` when a run fails and `Interrupted` on Ctrl-C, both
    with the finished runs as `.result`.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
    >>> sj.run(sc, discs=["tail_drop", "pi"], seeds=[1]).discs[0]
    'tail_drop'
    """
    return carry_out(Request(scenario, discs, seeds, jobs))


def carry_out(
    request: Request, watch: Watch | None = None, settled: Callable[[], None] | None = None
) -> Result:
    """Do what `run` does, for a request.

    `watch` is called some ten times a second with the number of finished runs and the fraction of all
    work that is done (0..1); `settled` once, when no run is at work any more.
    """
    check_plants(request.plants)
    variants = _variants(request)
    seeds = _checked_seeds(request.seeds, MAX_RUNS // len(variants))
    workers = _workers(request.jobs)
    tasks = [Job(variant, seed) for variant in variants for seed in seeds]
    started, clock = time.time(), time.monotonic()
    outcome = drive(tasks, min(workers, len(tasks)), watch, settled)
    origin = Origin(
        command=list(request.command),
        started=started,
        wall_s=time.monotonic() - clock,
        asked=len(tasks),
        workers=workers,
        interrupted=outcome.interrupted,
    )
    return _conclude(request.scenario, outcome, origin)


def check_plants(plants: Sequence[str]) -> None:
    """Raise `InputError` for a plant that does not exist."""
    for plant in plants:
        if plant not in PLANTS:
            raise InputError(f'--plant: "{plant}" does not exist; legal: {", ".join(PLANTS)}')
    if len(plants) != len(set(plants)) or not plants:
        raise InputError(f"--plant: each plant once; legal: {', '.join(PLANTS)}")


def _variants(request: Request) -> list[Scenario]:
    if not isinstance(request.scenario, Scenario):
        raise InputError(f"scenario: {request.scenario!r} is not a scenario; legal: what sj.load(FILE) gives")
    discs = [request.discs] if isinstance(request.discs, str | DiscSpec) else list(request.discs)
    variants = [with_disc(request.scenario, disc) for disc in discs] or [request.scenario]
    labels = [variant.disc for variant in variants]
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise InputError(f"--disc: {label} is given twice; legal: each disc once")
    return variants


def _workers(jobs: int | None) -> int:
    workers = jobs if jobs is not None else os.cpu_count() or 1
    if workers < 1:
        raise InputError(f"--jobs: {workers} is not a number of workers; legal: 1 or more")
    return workers


def _checked_seeds(seeds: Iterable[int], most: int) -> list[int]:
    numbers: list[int] = []
    seen: set[int] = set()
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise InputError(f"--seeds: {seeds!r} is no list of seeds; legal: whole numbers such as range(1, 6)")
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, SupportsIndex):
            raise InputError(f"--seeds: {seed!r} is not a seed; legal: 0 to {SEED_LIMIT - 1}")
        if not 0 <= seed < SEED_LIMIT:
            raise InputError(f"--seeds: {seed} is not a seed; legal: 0 to {SEED_LIMIT - 1}")
        if seed in seen:
            raise InputError(f"--seeds: {seed} is given twice; legal: each seed once")
        if len(numbers) >= most:
            raise InputError(f"--seeds: more than {most} seeds; legal: at most {MAX_RUNS} runs at once")
        seen.add(seed)
        numbers.append(index(seed))
    if not numbers:
        raise InputError("--seeds: no seed is given; legal: at least one")
    return sorted(numbers)


def _conclude(scenario: Scenario, outcome: Outcome, origin: Origin) -> Result:
    """The result; or the error that ended the runs, with what had finished."""
    finished = [
        Finished("packet", job.scenario.disc, job.seed, run)
        for job, run in zip(outcome.jobs, outcome.runs, strict=True)
        if run is not None
    ]
    result = gather(json.loads(scenario.to_json()), finished, origin) if finished else None
    if outcome.fault is not None:
        job, why = outcome.fault
        raise RunFailed(f"{job.scenario.disc}, seed {job.seed}: the run failed: {why}", result)
    if outcome.interrupted:
        some = f"kept the {len(finished)} of {origin.asked} runs that had finished"
        none = f"none of {origin.asked} runs had finished; nothing is kept"
        raise Interrupted(f"interrupted; {some if finished else none}", result)
    if result is None:
        raise RunFailed("no run finished", None)
    return result
