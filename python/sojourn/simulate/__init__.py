"""Simulation: run a scenario in every plant for every qdisc and seed, and gather one result.

Arguments become a plan (`plan.py`). Its runs go in background threads, outside the interpreter's lock
(`pool.py`); the calling thread watches for Ctrl-C and shows progress. The result is ordered by qdisc, plant
and seed, never by completion, so it is the same for any number of workers.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sojourn import files, kinds
from sojourn._core import LawError
from sojourn.custom.lines import failure_of
from sojourn.errors import InputError, Interrupted, LawFailed, MissingError, NotWritten, RunFailed
from sojourn.live import LawStopped
from sojourn.progress import of_runs
from sojourn.resolve import Control, Qdisc
from sojourn.result import Result, trust
from sojourn.scenario import Scenario
from sojourn.simulate import flent_files
from sojourn.simulate.gather import Finished, Origin, gather, shortened
from sojourn.simulate.plan import (
    DEFAULT_PLANTS,
    MAX_RUNS,
    PLANTS,
    SEED_LIMIT,
    Names,
    Plan,
    check_plant,
    check_plants,
    make_plan,
    runs_of_a_qdisc,
    seeds_and_workers,
)
from sojourn.simulate.pool import Job, Outcome, Watch, drive
from sojourn.simulate.records import NoTable, Recorded, Recording

__all__ = [
    "MAX_RUNS",
    "PLANTS",
    "SEED_LIMIT",
    "Control",
    "Names",
    "Plan",
    "Qdisc",
    "Watch",
    "carry_out",
    "carry_out_all",
    "check_plant",
    "check_plants",
    "failure",
    "make_plan",
    "run",
    "runs_of_a_qdisc",
    "seeds_and_workers",
]


def run(
    scenario: Scenario,
    qdiscs: Sequence[Qdisc] | Qdisc | None = None,
    seeds: Iterable[int] = (1,),
    jobs: int | None = None,
    *,
    cc: Control | Mapping[int, Control] | None = None,
    plants: Sequence[str] | str = DEFAULT_PLANTS,
    record: Sequence[str] | str = (),
    into: str | Path | None = None,
) -> Result:
    """Run a scenario for every qdisc and seed, in every plant.

    `qdiscs` are texts such as ``"red:min=50packets,max=150packets"`` or ``"mylaw.py:MyLaw"``, objects of
    `sojourn.laws`, or laws written in Python (`sojourn.Law`, `sojourn.Controller`), or one such; None means
    the scenario's own qdiscs. Each replaces the qdisc at every link that has one; written ``"LINK=codel"``
    or ``{"LINK": MyLaw()}``, at that link alone. `seeds` are whole numbers from 0
    to 2**64 - 1, each once. `jobs` is the number of worker threads (default: one a processor); it never
    changes the result. `cc` is a congestion control for all flows that use TCP, or some by the places of
    groups of flows, as in ``{0: "cubic", 1: MyCc()}``: a text such as ``"cubic:hystart=false"`` or
    ``"mycc.py:MyCc"``, one of `sojourn.ccs`, or one in Python (`sojourn.CongestionControl`). `plants` are
    ``"packet"`` (packet by packet), ``"fluid"`` (delay differential equations: one run a qdisc, under the
    lowest seed), ``"live"`` (packets of this machine's own TCP, in real time), or a list of them, to compare
    their results. `record` are records to make of each run of
    packets, such as ``"pcap=bottleneck"``, in files of the folder `into`, which is made if it does not exist;
    files of the same names there are replaced when the runs have ended, and others are left alone.

    Raises `InputError` for invalid input; `RunFailed` when a run fails (`LawFailed` for code written in
    Python) and `Interrupted` on Ctrl-C, with the finished runs as `.result`.

    >>> import sojourn as sj
    >>> sc = sj.load("scenarios/dumbbell.toml", {"duration": "41 s"})
    >>> sj.run(sc, qdiscs=["tail_drop", "pi"], seeds=[1]).qdiscs[0]
    'tail_drop'
    """
    names = Names("qdiscs", "cc", "seeds", "jobs", "plants", "record")
    folder = _folder_for(record, into)
    plan = make_plan(
        scenario, qdiscs, seeds, jobs, cc=cc, plants=plants, record=record, into=folder, names=names
    )
    if folder is None or plan.recording is None:
        return _shown(plan)
    stage = _make(folder, plan.recording.names(job.records for job in plan.jobs))
    staged = replace(plan, recording=replace(plan.recording, folder=stage))
    try:
        result = _shown(staged)
    except RunFailed as error:
        # The files of runs that had finished are kept; the stage is no place of the user's.
        _settle(stage, folder, error.result)
        error.lines = tuple(line.replace(str(stage), str(folder)) for line in error.lines)
        error.args = ("\n".join(error.lines),)
        raise
    except BaseException as error:
        _settle(stage, folder, getattr(error, "result", None))
        raise
    _settle(stage, folder, result)
    return result


def _shown(plan: Plan) -> Result:
    """`carry_out`, with its progress in a notebook."""
    with of_runs(len(plan.jobs)) as watch:
        return carry_out(plan, watch)


def _folder_for(record: Sequence[str] | str, into: str | Path | None) -> Path | None:
    """The folder for records. Raises `InputError` for one without the other."""
    is_none = isinstance(record, str | list | tuple) and not record
    if into is None and not is_none:
        raise InputError("record: no folder for the files is given; expected it as into=FOLDER")
    if into is not None and is_none:
        raise InputError('into: no record is given; expected record="pcap=LINK" or a list of such')
    try:
        return None if into is None else Path(kinds.path(into))
    except TypeError as error:
        raise InputError(f"into: {kinds.shown(into)} {error}") from None


def _make(folder: Path, names: Iterable[str]) -> Path:
    """Make the folder for records, and in it one for those under way. Raises `InputError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if (folder / name).is_dir():
                raise InputError(f"into: {folder / name} is a folder; expected a file, or nothing there")
        return Path(tempfile.mkdtemp(prefix=".sojourn-", dir=folder))
    except OSError as error:
        raise InputError(f"into: {folder} cannot be made ({files.why(error)}); expected a folder") from None


def _settle(stage: Path, folder: Path, result: Result | None) -> None:
    """Move records to their folder, each in place of an earlier one. Raises `RunFailed`.

    Without a result no run has finished, and the folder stays as it was.
    """
    if result is None:
        shutil.rmtree(stage, ignore_errors=True)
        return
    try:
        for name in sorted(os.listdir(stage)):
            os.replace(stage / name, folder / name)
        os.rmdir(stage)
    except OSError as error:
        line = f"into: {folder} cannot be written ({files.why(error)}); the records are in {stage}"
        raise RunFailed(line, result) from None


def carry_out(plan: Plan, watch: Watch | None = None, settled: Callable[[], None] | None = None) -> Result:
    """Do the runs of a plan, and gather them.

    `watch` is called some ten times a second with the number of finished runs and the fraction of all work
    that is done (0..1); `settled` once, when all runs have ended.
    """
    jobs = plan.jobs
    started, clock = time.time(), time.monotonic()
    outcome = drive(jobs, min(plan.workers, len(jobs)), watch, settled)
    origin = Origin(
        command=list(plan.command),
        started=started,
        wall_s=time.monotonic() - clock,
        planned=len(jobs),
        workers=plan.workers,
        interrupted=outcome.interrupted,
        notes=plan.scenario.notes,
        laws={one.label: one.law.source for one in plan.setups if one.law is not None},
        ccs={cc.label: cc.source for _, cc in plan.scenario.custom_ccs},
    )
    finished = [
        Finished(job.variant, job.seed, run)
        for job, run in zip(jobs, outcome.runs, strict=True)
        if run is not None
    ]
    scenario = json.loads(plan.scenario.to_json())
    progress = f"{len(finished) or 'none'} of {len(jobs)} runs had finished"
    if outcome.ended_s is not None:
        progress = f"the run is kept up to {outcome.ended_s:g} s of {scenario['duration']}"
        scenario = shortened(scenario, outcome.ended_s, {name for name, *_ in finished[0].run.windows})
    result = gather(scenario, finished, origin) if finished else None
    lacking = None if plan.recording is None else _complete(plan, plan.recording, outcome, result)
    _raise_for(outcome, result, progress)
    if result is None:
        raise RunFailed("no run finished", None)
    if lacking is not None:
        raise RunFailed(lacking, result)
    voids = trust.voids(result)
    if voids:
        raise RunFailed(trust.void_line(voids), result)
    return result


def _complete(plan: Plan, recording: Recording, outcome: Outcome, result: Result | None) -> str | None:
    """Complete the records of finished runs, and remove those of others; returns why one has no file."""
    done = []
    for job, run in zip(outcome.jobs, outcome.runs, strict=True):
        if run is None:
            recording.discard(job.records)
        elif job.records:
            done.append(Recorded(job.variant.qdisc, job.seed, job.records))
    classes = [flows["name"] for flows in json.loads(plan.scenario.to_json())["flows"]]
    try:
        if recording.makes_flent and result is not None:
            flent_files.complete(recording, done, result, classes)
        recording.complete(done, classes)
    except (NoTable, InputError, NotWritten) as error:
        return str(error)
    return None


def carry_out_all(plans: Sequence[Plan], watch: Watch | None = None) -> list[Result]:
    """Do the runs of several plans side by side, on the workers of the first; a result for each.

    Raises as `carry_out`, without the runs that had finished.
    """
    jobs = [job for plan in plans for job in plan.jobs]
    started, clock = time.time(), time.monotonic()
    outcome = drive(jobs, min(plans[0].workers, len(jobs)), watch)
    done = [run for run in outcome.runs if run is not None]
    _raise_for(outcome, None, f"{len(done) or 'none'} of {len(jobs)} runs had finished")
    results, first = [], 0
    for plan in plans:
        finished = [
            Finished(job.variant, job.seed, run) for job, run in zip(plan.jobs, done[first:], strict=False)
        ]
        first += len(finished)
        origin = Origin(list(plan.command), started, time.monotonic() - clock, len(finished), plan.workers)
        results.append(gather(json.loads(plan.scenario.to_json()), finished, origin))
    return results


def _raise_for(outcome: Outcome, result: Result | None, progress: str) -> None:
    """Raise the error that ended the runs, if any, with the finished runs."""
    if outcome.error is not None:
        if isinstance(outcome.error[1], MissingError | InputError):
            raise outcome.error[1]
        raise failure(*outcome.error, result) from outcome.error[1].__cause__
    if outcome.interrupted:
        raise Interrupted(f"interrupted; {progress}", result)


def failure(job: Job, error: BaseException, result: Result | None = None) -> RunFailed:
    """The error of a run, with its line for the user; `result` holds the runs that had finished."""
    run = job.variant.run_name(job.seed)
    law = getattr(error, "object", None if job.law is None else job.law.original)
    if law is not None and isinstance(error, LawError):
        return LawFailed(f"{run}: {failure_of(law, error)}", result)
    if isinstance(error, LawStopped):
        return LawFailed(f"{run}: {error}", result)
    why = " ".join(str(error).split()) or type(error).__name__
    return RunFailed(f"{run}: the run failed: {why}", result)
