"""A plan of runs: arguments resolved and checked, before any run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.custom import Law
from sojourn.errors import Diagnostic, InputError, refusal
from sojourn.files import parts_of_names
from sojourn.kinds import flag, shown, takes, text, whole
from sojourn.resolve import QDISC_TYPES, Control, Qdisc, Setup, under_qdiscs, with_controls
from sojourn.result import SEEDLESS, Variant
from sojourn.scenario import A_SCENARIO, Scenario, ScenarioError
from sojourn.simulate import flent_files, records
from sojourn.simulate.pool import Job
from sojourn.simulate.records import Record, Recording

#: All plants.
PLANTS = ("fluid", "packet", "live")
#: Default plants of a scenario.
DEFAULT_PLANTS = ("packet",)
#: Exclusive upper bound of seeds (u64).
SEED_LIMIT = 2**64
#: Most runs of a plant in one call.
MAX_RUNS = 100_000


@dataclass(frozen=True)
class Names:
    """Names of the arguments in errors."""

    qdiscs: str = "--qdisc"
    cc: str = "--cc"
    seeds: str = "--seeds"
    jobs: str = "--jobs"
    plants: str = "--plant"
    record: str = "--record"


@dataclass(frozen=True)
class Plan:
    """Runs to do: every setup in every plant with every seed; one in a plant without randomness.

    Made by `make_plan`; `command` goes into the provenance.
    """

    scenario: Scenario
    setups: tuple[Setup, ...]
    plants: tuple[str, ...]
    #: Ascending.
    seeds: tuple[int, ...]
    workers: int
    command: tuple[str, ...]
    #: Records to make of the runs of packets; None: none.
    recording: Recording | None = None

    @property
    def jobs(self) -> list[Job]:
        """One job for each run, in the order of the result."""
        names = parts_of_names([one.label for one in self.setups])
        return [
            Job(one.scenario, Variant(one.label, plant), seed, one.law, self._records(plant, name, seed))
            for one, name in zip(self.setups, names, strict=True)
            for plant in self.plants
            for seed in _seeds_in(plant, self.seeds)
        ]

    def _records(self, plant: str, qdisc: str, seed: int) -> tuple[Record, ...]:
        if self.recording is None or plant not in ("packet", "live"):
            return ()
        return self.recording.of_run(qdisc, seed, live=plant == "live")


def make_plan(
    scenario: Scenario,
    qdiscs: Sequence[Qdisc] | Qdisc | None = None,
    seeds: Iterable[int] = (1,),
    jobs: int | None = None,
    *,
    cc: Control | Mapping[int, Control] | None = None,
    plants: Sequence[str] | str = DEFAULT_PLANTS,
    record: Sequence[str] | str = (),
    into: Path | None = None,
    command: Sequence[str] = (),
    names: Names | None = None,
) -> Plan:
    """Resolve and check the arguments of `sojourn.run`; `names` are for errors. Raises `InputError`.

    `into` is the folder for the files of `record`.
    """
    names = names or Names()
    listed = _listed(qdiscs, names.qdiscs)
    plants = (plants,) if isinstance(plants, str) else plants
    check_plants(plants, names.plants)
    if not isinstance(scenario, Scenario):
        raise InputError(f"scenario: {shown(scenario)} is not a scenario; expected what sj.load(FILE) gives")
    scenario = with_controls(scenario, cc, names.cc)
    setups = under_qdiscs(scenario, listed, names.qdiscs)
    if "packet" in plants:
        check_plant(scenario, "packet")
    if "fluid" in plants:
        _check_fluids(setups, names.qdiscs)
    if "live" in plants:
        _check_live(setups, names.plants)
    numbers = _checked_seeds(seeds, MAX_RUNS // len(setups), names.seeds)
    # A live run has the machine for itself: others beside it would make it late.
    workers = 1 if "live" in plants else _checked_workers(jobs, names.jobs)
    requests = records.requests_of(record, names.record)
    records.check(requests, setups[0].scenario, plants, names.record)
    flent_links = flent_files.links_of(requests, setups[0].scenario, names.record)
    recording = None if into is None or not requests else Recording(requests, into, flent_links)
    return Plan(scenario, tuple(setups), tuple(plants), tuple(numbers), workers, tuple(command), recording)


def seeds_and_workers(
    seeds: Iterable[int], jobs: int | None, names: Names | None = None
) -> tuple[tuple[int, ...], int]:
    """Seeds in ascending order, and the number of workers. Raises `InputError`.

    >>> seeds_and_workers([3, 1], 2)
    ((1, 3), 2)
    """
    names = names or Names()
    return tuple(_checked_seeds(seeds, MAX_RUNS, names.seeds)), _checked_workers(jobs, names.jobs)


def check_plants(plants: Sequence[str], option: str = "--plant") -> None:
    """Raise `InputError` for a plant that does not exist; `option` precedes the line, if there is one."""
    before = f"{option}: " if option else ""
    if not isinstance(plants, Sequence):
        raise InputError(f"{before}{shown(plants)} is no list of plants; expected {', '.join(PLANTS)}")
    for plant in plants:
        if plant not in PLANTS:
            raise InputError(f'{before}"{plant}" does not exist; expected {", ".join(PLANTS)}')
    if len(plants) != len(set(plants)) or not plants:
        raise InputError(f"{before}each plant once; expected {', '.join(PLANTS)}")


@takes(scenario=A_SCENARIO, plant=text, own_law=flag)
def check_plant(scenario: Scenario, plant: str, *, own_law: bool = False) -> None:
    """Raise `InputError`, with one line for each error, if a plant has no model of the scenario.

    With `own_law` a law in Python replaces each qdisc that may be replaced, and those qdiscs need no model.

    >>> import sojourn as sj
    >>> check_plant(sj.load("dumbbell"), "packet")
    """
    try:
        match plant:
            case "packet":
                _core.check_packet(scenario)
            case "fluid":
                _core.check_fluid(scenario, own_law)
            case _:
                _core.check_live(scenario)
    except ScenarioError as error:
        raise refusal(error) from None


def runs_of_a_qdisc(plants: Sequence[str], seeds: Sequence[int]) -> int:
    """Number of runs of each qdisc: one for each seed, and one in a plant without randomness.

    >>> runs_of_a_qdisc(["fluid", "packet"], range(5))
    6
    """
    return sum(len(_seeds_in(plant, seeds)) for plant in plants)


def _seeds_in(plant: str, seeds: Sequence[int]) -> Sequence[int]:
    """Seeds of a plant's runs; the lowest alone in one without randomness."""
    return seeds[:1] if plant in SEEDLESS else seeds


def _listed(qdiscs: Sequence[Qdisc] | Qdisc | None, option: str) -> list[Qdisc | None]:
    """The qdiscs as a list; None in it: the scenario's own. Raises `InputError` for an empty one."""
    if qdiscs is None or isinstance(qdiscs, QDISC_TYPES):
        return [qdiscs]
    expected = 'expected a qdisc such as "pi", or a list of them'
    if not isinstance(qdiscs, Iterable):
        raise InputError(f"{option}: {shown(qdiscs)} is no list of qdiscs; {expected}")
    found: list[Qdisc | None] = [*qdiscs]
    if not found:
        raise InputError(f"{option}: the list is empty; {expected}, or None for the scenario's own")
    return found


def _check_live(setups: Sequence[Setup], option: str) -> None:
    """Raise `InputError` for what the live plant does not carry."""
    found: dict[str, Diagnostic] = {}
    for one in setups:
        try:
            check_plant(one.scenario, "live")
        except InputError as error:
            for each in error.diagnostics:
                text = f"{option} live: {each.text}"
                found[text] = each._replace(text=text)
    if found:
        raise InputError(*found, diagnostics=list(found.values()))


def _check_fluids(setups: Sequence[Setup], option: str) -> None:
    """Raise `InputError` with all errors of the fluid plant; those of some qdiscs begin with their label."""
    refused: dict[str, list[Diagnostic]] = {}
    for one in setups:
        try:
            _check_fluid(one, option)
        except InputError as error:
            refused[one.label] = error.diagnostics
    if not refused:
        return
    texts = [{found.text for found in diagnostics} for diagnostics in refused.values()]
    common = set.intersection(*texts) if len(refused) == len(setups) else set()
    # A dictionary: an error that is common to all is reported once.
    found = {
        text: each._replace(text=text)
        for label, diagnostics in refused.items()
        for each in diagnostics
        for text in [each.text if each.text in common else _of(label, each.text)]
    }
    raise InputError(*found, diagnostics=list(found.values()))


def _of(label: str, line: str) -> str:
    """The line of a qdisc with its label, unless it begins with an option."""
    return line if line.startswith("--") else f"{label}: {line}"


def _check_fluid(one: Setup, option: str) -> None:
    """Raise `InputError` if the fluid plant has no model of the scenario, or of its law."""
    if one.law is not None and one.law.form in ("qdisc", "shaped"):
        message = f"{one.label} is a qdisc in Python, and the fluid plant has no packets"
        raise InputError(f"{option}: {message}; expected a qdisc of the catalogue, or a sojourn.Controller")
    if one.law is not None and one.law.form == "queues":
        message = f"{one.label} has a law in Python in each queue, as the packet plant alone can"
        raise InputError(f"{option}: {message}; expected a law of the catalogue there")
    if one.law is not None and isinstance(one.law.original, Law):
        expected = "expected a sojourn.Controller there, which gives a probability"
        raise InputError(f"{option}: {one.label} judges packets, and the fluid plant has none; {expected}")
    check_plant(one.scenario, "fluid", own_law=one.law is not None)


def _checked_workers(jobs: int | None, option: str) -> int:
    if jobs is None:
        return os.cpu_count() or 1
    try:
        workers = whole(jobs)
    except TypeError:
        workers = 0
    if workers < 1:
        raise InputError(f"{option}: {shown(jobs)} is not a number of workers; expected 1 or more")
    return workers


def _checked_seeds(seeds: Iterable[int], most: int, option: str) -> list[int]:
    numbers: list[int] = []
    seen: set[int] = set()
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        message = f"{shown(seeds)} is no list of seeds"
        raise InputError(f"{option}: {message}; expected whole numbers such as range(1, 6)")
    for one in seeds:
        try:
            seed = whole(one)
        except TypeError:
            seed = -1
        if not 0 <= seed < SEED_LIMIT:
            raise InputError(f"{option}: {shown(one)} is not a seed; expected 0 to {SEED_LIMIT - 1}")
        if seed in seen:
            raise InputError(f"{option}: {seed} is given twice; expected each seed once")
        if len(numbers) >= most:
            raise InputError(f"{option}: more than {most} seeds; expected at most {MAX_RUNS} runs at once")
        seen.add(seed)
        numbers.append(seed)
    if not numbers:
        raise InputError(f"{option}: no seed is given; expected at least one")
    return sorted(numbers)
