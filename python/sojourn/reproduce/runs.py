"""Runs of a paper's experiments, each a sweep of its own store, and their samples by name."""

from __future__ import annotations

import itertools
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn.reproduce.figures import Figure
from sojourn.reproduce.live import Trusted, measure
from sojourn.reproduce.paper import (
    CONTROLS,
    TODAY,
    Claim,
    Experiment,
    Name,
    Paper,
    Setting,
    in_variant,
    split,
)
from sojourn.result.windows import EVERY
from sojourn.result.words import seconds

if TYPE_CHECKING:
    from sojourn.sweep import Watch
    from sojourn.sweep.store import Record

__all__ = ["Sample", "Samples", "carry_out", "command"]

Sample = npt.NDArray[np.float64]
#: A class of traffic, several, or None: all of it.
Classes = str | tuple[str, ...] | None


class Samples:
    """Values by seed of each experiment, qdisc, window and metric."""

    def __init__(self, *, quick: bool = False) -> None:
        #: True if fewer seeds ran than the paper's file has.
        self.quick = quick
        self._found: dict[tuple[str, str, str | None, str | None, Classes, str], Sample] = {}
        #: Experiments that ran.
        self.experiments: set[str] = set()
        #: Seeds of each experiment, in the order of its values.
        self.seeds: dict[str, list[int]] = {}
        #: Settling times of each seed, one a stretch between changes, None where it did not settle.
        self.settling: dict[tuple[str, str], list[list[float | None] | None]] = {}
        #: Times and values by figure, place, qdisc and metric of figures over time.
        self.series: dict[tuple[str, str, str, str], tuple[Sample, Sample]] = {}
        #: Runs that failed, a line each; a live run that is void is one.
        self.failures: list[str] = []
        #: Trust in each live run.
        self.trust: list[Trusted] = []

    def add(
        self, experiment: Experiment, seeds: Sequence[int], table: pl.DataFrame, windows: pl.DataFrame
    ) -> None:
        """Add the tables of an experiment's sweep; a seed without a value has not a number."""
        self.experiments.add(experiment.name)
        self.seeds[experiment.name] = list(seeds)
        places: list[tuple[str | None, Classes]] = [
            (link, None) for link in (None, *experiment.links.values())
        ]
        places += [(None, traffic_class) for traffic_class in experiment.classes.values()]
        for link, traffic_class in places:
            whole = _rows(experiment, table, link, traffic_class)
            for (qdisc,), rows in whole.group_by("qdisc", maintain_order=True):
                if link is None and traffic_class is None and "settling_s" in rows.columns:
                    times = dict(zip(rows["seed"], rows["settling_s"].to_list(), strict=True))
                    self.settling[experiment.name, str(qdisc)] = [times.get(seed) for seed in seeds]
                for column in [] if isinstance(traffic_class, tuple) else rows.columns:
                    if rows[column].dtype.is_float():
                        own = (experiment.name, str(qdisc), link, None, traffic_class, column)
                        self._found[own] = _by_seed(rows["seed"], rows[column], seeds)
            parts = _rows(experiment, windows, link, traffic_class)
            for within, text in experiment.windows.items():
                is_several = text.startswith(EVERY) or isinstance(traffic_class, tuple)
                within_rows = parts.filter(_times(text))
                own_rows = _placed(within_rows) if is_several else within_rows
                for (qdisc, metric), rows in own_rows.group_by("qdisc", "name", maintain_order=True):
                    key = (experiment.name, str(qdisc), link, within, traffic_class, str(metric))
                    self._found[key] = (
                        _by_seed_and_place(rows, seeds)
                        if is_several
                        else _by_seed(rows["seed"], rows["value"], seeds)
                    )

    def add_failures(self, experiment: Experiment, failed: pl.DataFrame) -> None:
        """Add the cells of a sweep that failed, a line each."""
        for row in failed.sort("qdisc", "seed").iter_rows(named=True):
            self.failures.append(f"{experiment.name}, {row['qdisc']}, seed {row['seed']}: {row['error']}")

    def of(self, name: Name, qdisc: str) -> Sample:
        """Values by seed. Raises `LookupError` where there is none."""
        found = self._found[name.of, qdisc, name.link, name.window, name.traffic_class, name.metric]
        if np.isnan(found).all():
            raise LookupError(name.metric)
        return found


def carry_out(
    paper: Paper,
    out: Path,
    jobs: int | None,
    *,
    quick: bool = False,
    live: bool = False,
    watch: Watch | None = None,
) -> Samples:
    """Run what the stores in `out` lack, and read the samples; live experiments on request alone.

    These come first: a machine that does not allow them has lost no time.
    """
    from sojourn.sweep import carry_out as sweep
    from sojourn.sweep.engines import Engine
    from sojourn.sweep.grid import read
    from sojourn.sweep.store import collected

    samples = Samples(quick=quick)
    if live:
        _add_live(samples, paper, out, watch)
    packets = [one for one in paper.experiments.values() if one.plant == "packet"]
    chosen = [one for one in packets if one.quick_seeds or not quick]
    parts = [(one, part) for one in chosen for part in _parts(paper, one, quick=quick)]
    grids = [read(_grid(one, part, quick=quick)) for one, part in parts]
    total = sum(len(grid.seeds) * len(part.qdiscs) for grid, (_, part) in zip(grids, parts, strict=True))
    metrics = _metrics(paper)
    done = 0
    for grid, (experiment, part) in zip(grids, parts, strict=True):
        engine = Engine("local", None, jobs or os.cpu_count() or 1)
        own = _further(watch, done, total)
        store = ".".join([paper.name, experiment.name, *part.name, "sweep"])
        found = sweep(grid, out / store, engine, watch=own)
        done += found.plan.height
        named = pl.col("qdisc").cast(pl.String).replace(part.qdiscs)
        windows = found.windows().filter(pl.col("name").is_in(metrics))
        tables = [collected(found.folder, of) for of in (found.table(), windows)]
        samples.add(experiment, grid.seeds, *(of.with_columns(named) for of in tables))
        samples.add_failures(experiment, found.failures())
    for figure in paper.figures:
        if figure.kind == "series" and (figure.quick or not quick):
            _add_series(samples, paper, figure, (out, jobs))
    return samples


def _add_live(samples: Samples, paper: Paper, out: Path, watch: Watch | None) -> None:
    """Make the live runs that the folders lack, one after the other, and add all of them."""
    experiments = [one for one in paper.experiments.values() if one.plant == "live"]
    plans = [(one, _settings(paper, one), seeds_of(one, quick=samples.quick)) for one in experiments]
    total = sum(len({of.key for of in settings}) * len(seeds) for _, settings, seeds in plans)
    made = itertools.count(1)

    def done() -> None:
        if watch is not None:
            watch(next(made), total, "live runs")

    metrics = _metrics(paper)
    for experiment, settings, seeds in plans:
        folder = out / f"{paper.name}.{experiment.name}"
        found = measure(experiment, settings, seeds, folder, done=done)
        samples.add(experiment, seeds, found.table, found.windows.filter(pl.col("name").is_in(metrics)))
        samples.failures += found.failures
        samples.trust += found.trust


def seeds_of(experiment: Experiment, *, quick: bool) -> list[int]:
    """Seeds of an experiment; of a live one the numbers of its repeats."""
    return list(range(1, (experiment.quick_seeds if quick else experiment.seeds) + 1))


#: Mean queue of a window, and the range that it is in for nine tenths of the time.
MEAN_QUEUE, BAND = "queue_mean_packets", ("queue_p05_packets", "queue_p95_packets")


def band_of(metric: str) -> list[tuple[str, str]]:
    """Metrics of the range about a metric of a figure, with its link or class and without; may be none."""
    place, dot, name = metric.rpartition(".")
    return [(f"{place}{dot}{one}", one) for one in BAND] if name == MEAN_QUEUE else []


def _add_series(samples: Samples, paper: Paper, figure: Figure, where: tuple[Path, int | None]) -> None:
    """Run one seed of a figure's laws with windows that follow each other, and add their values."""
    from sojourn.sweep import carry_out as sweep
    from sojourn.sweep.engines import Engine
    from sojourn.sweep.grid import read
    from sojourn.sweep.store import collected

    out, jobs = where
    engine = Engine("local", None, jobs or os.cpu_count() or 1)
    for (at, own), part in itertools.product(
        series_of(paper, figure).items(), _by_changes(settings_of(paper, figure))
    ):
        place = [at] if at else []
        store = ".".join([paper.name, figure.name, *place, *part.name, "sweep"])
        found = sweep(read(_grid(own, part, quick=False)), out / store, engine)
        samples.add_failures(own, found.failures())
        named = pl.col("qdisc").cast(pl.String).replace(part.qdiscs)
        windows = collected(found.folder, found.windows()).with_columns(named)
        for metric in figure.metrics:
            name = split(f"{own.name}.{figure.laws[0][0]}.{metric}", paper.name, paper.experiments)
            rows = _rows(own, windows, name.link, name.traffic_class)
            for shown, one in ((metric, name.metric), *band_of(metric)):
                for (qdisc,), of in rows.filter(pl.col("name") == one).group_by("qdisc"):
                    ordered = of.drop_nulls("value").sort("from_s")
                    times = (ordered["from_s"] + ordered["until_s"]) / 2
                    key = (figure.name, at, str(qdisc), shown)
                    samples.series[key] = _numbers(times), _numbers(ordered["value"])


def series_of(paper: Paper, figure: Figure) -> dict[str, Experiment]:
    """The experiments of a figure over time, each of one seed with the windows of the figure."""
    own = {"series": f"{EVERY}{figure.every}"}
    return {
        at: replace(paper.experiments[name], windows=own, seeds=1, quick_seeds=1)
        for at, name in figure.at.items()
    }


def settings_of(paper: Paper, figure: Figure) -> list[Setting]:
    """Settings of the laws of a figure."""
    return [next(one for one in paper.laws[law] if one.name == setting) for law, setting in figure.laws]


def figure_command(paper: Paper, figure: Figure, *, quick: bool) -> str:
    """The commands that repeat a figure's runs, a line each; of curves their calculation."""
    if figure.kind == "curves":
        code = f"from sojourn.reproduce.calculations import {paper.name} as of"
        code += f'; print(of.CURVES["{figure.at[""]}"]())'
        return shlex.join(["python3", "-c", code])
    if figure.kind == "series":
        parts = _by_changes(settings_of(paper, figure))
        own = series_of(paper, figure).values()
        return "\n".join(_run(one, part, 1) for one, part in itertools.product(own, parts))
    lines = []
    for name in figure.at.values():
        experiment = paper.experiments[name]
        seeds = (quick and experiment.quick_seeds) or experiment.seeds
        lines += [_run(experiment, part, seeds) for part in _by_changes(settings_of(paper, figure))]
    return "\n".join(lines)


def _metrics(paper: Paper) -> list[str]:
    """Metrics that its claims, findings and figures name: windows may be hundreds, with all metrics each."""
    tests = [test for claim in paper.claims for test in (claim.test, claim.partly) if test is not None]
    tests += [finding.test for _, finding in paper.findings]
    named = {name for test in tests for name in test.names}
    named |= {metric for figure in paper.figures for metric in figure.metrics}
    return sorted({name.rpartition(".")[2] for name in named})


def _further(watch: Watch | None, before: int, total: int) -> Watch | None:
    """Shows the cells of one experiment among those of all."""
    if watch is None:
        return None

    def shown(done: int, _todo: int, what: Record | str) -> None:
        if not isinstance(what, str):
            watch(before + done, total, what)

    return shown


def command(paper: Paper, claim: Claim, *, quick: bool) -> str:
    """The commands that repeat a claim's runs one by one, with those of its controls, a line each."""
    if claim.test is None:
        return ""
    lines: dict[str, None] = {}
    names = claim.test.names | (claim.partly.names if claim.partly is not None else frozenset())
    for name, variant in itertools.product(sorted(names), claim.variants or (None,)):
        of_variant = in_variant(name, variant, paper.name, paper.experiments)
        parts = split(of_variant, paper.name, paper.experiments)
        if parts.law is None:
            code = f"from sojourn.reproduce.calculations import {paper.name} as of"
            code += f'; print(of.CALCULATIONS["{parts.of}"]())'
            lines[shlex.join(["python3", "-c", code])] = None
            continue
        experiment = paper.experiments[parts.of]
        offered = claim.settings.get(parts.law)
        own = [one for one in paper.laws[parts.law] if offered is None or one.name in offered]
        if parts.law in claim.about:
            own += _controls(experiment, own)
            own += paper.laws[paper.name] if claim.fails and paper.name in experiment.laws else []
        for part in _by_changes(own):
            seeds = (quick and experiment.quick_seeds) or experiment.seeds
            lines[_run(experiment, part, seeds)] = None
    return "\n".join(lines)


def _run(experiment: Experiment, part: _Part, seeds: int) -> str:
    """The command that runs settings of an experiment which share their changes."""
    words = ["sojourn", "lab" if experiment.plant == "live" else "run", experiment.scenario]
    words += [word for one in part.qdiscs for word in ("--qdisc", one)]
    words += ["--seeds", f"1..{seeds}"]
    changes = {**experiment.changes, **part.changes}
    words += [word for key, value in changes.items() for word in ("--set", f"{key}={_text(value)}")]
    words += [word for window in _windows(experiment) for word in ("--window", window)]
    return shlex.join(words)


#: Between the length of windows and the time that they are within: "every 1 s in 20 s..100 s".
_IN = " in "


def _windows(experiment: Experiment) -> list[str]:
    """Windows of the scenario."""
    return list(dict.fromkeys(window.partition(_IN)[0] for window in experiment.windows.values()))


def _times(window: str) -> pl.Expr:
    """Rows of a window of the file; of several by their length, which a run may write in another unit."""
    of, _, within = window.partition(_IN)
    rows = pl.col("window") == of
    if of.startswith(EVERY):
        length = seconds(of.removeprefix(EVERY)) or 0.0
        lengths = pl.col("until_s") - pl.col("from_s")
        rows = pl.col("window").cast(pl.String).str.starts_with(EVERY) & ((lengths - length).abs() < 1e-9)
    if within:
        first, last = (seconds(time) or 0.0 for time in within.split(".."))
        rows &= (pl.col("from_s") >= first - 1e-9) & (pl.col("until_s") <= last + 1e-9)
    return rows


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the place of their window and class among those of all, in order."""
    ordered = rows.sort("from_s", "class", maintain_order=True)
    return ordered.with_columns(pl.struct("from_s", "class").rle_id().alias("place"))


def _by_seed(seed: pl.Series, value: pl.Series, seeds: Sequence[int]) -> Sample:
    """A value for each of the seeds, which are in order; not a number where one has none."""
    found = np.full(len(seeds), np.nan)
    found[np.searchsorted(seeds, seed.to_numpy())] = _numbers(value)
    return found


def _by_seed_and_place(rows: pl.DataFrame, seeds: Sequence[int]) -> Sample:
    """Values of windows of one length, or of classes, a row a seed; not a number where one has none."""
    places, column = np.unique(rows["place"].to_numpy(), return_inverse=True)
    found = np.full((len(seeds), len(places)), np.nan)
    row = np.searchsorted(seeds, rows["seed"].to_numpy())
    assert len(np.unique(row * len(places) + column)) == rows.height, "a window has one value a seed"
    found[row, column] = _numbers(rows["value"])
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else _toml(value)


def _toml(value: object) -> str:
    """A value of TOML in a line."""
    match value:
        case dict():
            return f"{{ {', '.join(f'{key} = {_toml(of)}' for key, of in value.items())} }}"
        case list():
            return f"[{', '.join(_toml(of) for of in value)}]"
    return json.dumps(value)


@dataclass(frozen=True)
class _Part:
    """The settings of an experiment that share their changes of the scenario: one sweep."""

    #: What the name of its store has, apart from the experiment's.
    name: tuple[str, ...]
    changes: Mapping[str, Any]
    #: Keys of the samples by the qdiscs.
    qdiscs: Mapping[str, str]


def _parts(paper: Paper, experiment: Experiment, *, quick: bool) -> list[_Part]:
    """The sweeps of an experiment: its controls, in the place of its settings, and today's laws last."""
    found = _by_changes(_settings(paper, experiment))
    if experiment.today_quick if quick else experiment.today:
        ran = {key for part in found for key in part.qdiscs.values()}
        found.append(_Part(("today",), {}, {one: one for one in TODAY if one not in ran}))
    return found


def _settings(paper: Paper, experiment: Experiment) -> list[Setting]:
    """All settings of an experiment: its controls, its laws, and controls in the place of its settings."""
    controls = [Setting(name, experiment.controls[name], "") for name in CONTROLS]
    settings = [one for law in experiment.laws for one in paper.laws[law]]
    return [*controls, *settings, *_controls(experiment, [one for one in settings if one.changes])]


def _controls(experiment: Experiment, settings: Iterable[Setting]) -> list[Setting]:
    """The controls in the place of these settings."""
    return [one.instead(experiment.controls[name]) for one in settings for name in CONTROLS]


def _by_changes(settings: Iterable[Setting]) -> list[_Part]:
    groups: dict[str, list[Setting]] = {}
    for one in settings:
        groups.setdefault(json.dumps(one.changes), []).append(one)
    return [
        _Part((of[0].name,) if of[0].changes else (), of[0].changes, {one.qdisc: one.key for one in of})
        for of in groups.values()
    ]


def _grid(experiment: Experiment, part: _Part, *, quick: bool) -> dict[str, object]:
    changes = {**experiment.changes, **part.changes}
    if experiment.windows:
        changes["windows"] = _windows(experiment)
    return {
        "scenario": experiment.scenario,
        "set": changes,
        "seeds": seeds_of(experiment, quick=quick),
        "axes": {"qdisc": list(part.qdiscs)},
    }


def _rows(
    experiment: Experiment, table: pl.DataFrame, link: str | None, traffic_class: Classes
) -> pl.DataFrame:
    """Rows of a link as a whole, by default of the measured one; or of classes, there if they cross it."""
    links = table["link"].drop_nulls().unique(maintain_order=True).to_list()
    link = link or experiment.link or next(iter(links), "")
    whole = table.filter(pl.col("queue").is_null())
    if traffic_class is None:
        return whole.filter((pl.col("link") == link) & pl.col("class").is_null())
    several = [traffic_class] if isinstance(traffic_class, str) else list(traffic_class)
    own = whole.filter(pl.col("class").cast(pl.String).is_in(several))
    key = [name for name in ("qdisc", "seed", "class", "window", "from_s", "name") if name in own.columns]
    return own.sort((pl.col("link") == link).fill_null(False), descending=True, maintain_order=True).unique(
        key, keep="first", maintain_order=True
    )


def _numbers(values: pl.Series) -> Sample:
    return values.cast(pl.Float64).to_numpy().astype(np.float64)
