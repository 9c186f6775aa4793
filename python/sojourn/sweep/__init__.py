"""Sweeps: a scenario over a grid or a sample of its parameters, kept in a store that survives any kill.

`grid.py` reads the grid, with `axes.py` (values and samples) and `conditions.py`; `cells.py` makes scenarios
of its points, and names each cell by a hash of all that it depends on (`plan.py` has the table of them);
`engines.py` runs them, `local.py` on threads; `store.py` keeps them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError, Interrupted
from sojourn.kinds import shown
from sojourn.progress import of_cells
from sojourn.result import SEEDLESS
from sojourn.simulate import SEED_LIMIT
from sojourn.sweep import analysis
from sojourn.sweep.cells import setting_of
from sojourn.sweep.designs import Designer
from sojourn.sweep.engines import ENGINES, Engine, check
from sojourn.sweep.grid import Grid, read
from sojourn.sweep.pictures import THEORY
from sojourn.sweep.plan import Sizes, cells_left, designer_of, known, make
from sojourn.sweep.quantities import in_unit
from sojourn.sweep.store import (
    WINDOW_ROWS,
    WINDOWS,
    Record,
    Store,
    collected,
    columns,
    opened,
    scan,
    value_of,
    whole,
)
from sojourn.sweep.theory import add as add_theory
from sojourn.sweep.until import Until, imprecise, needed
from sojourn.sweep.until import read as read_until

if TYPE_CHECKING:
    from sojourn.sweep.plots import Plots

__all__ = ["ENGINES", "Sweep", "load", "sweep"]

#: Called with the numbers of cells that are done and to do, and the cell that has finished; before and after
#: the cells with numbers of what else takes long, and its name: "points planned" or "certificates".
Watch = Callable[[int, int, Record | str], None]


@dataclass(frozen=True)
class Sweep:
    """The cells of a grid, in its store.

    >>> import sojourn as sj
    >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
    >>> found = sj.sweep(grid, out="build/doc.sweep")
    >>> found.table().select("qdisc", "seed").collect().rows()
    [('pi', 1), ('codel', 1)]
    """

    #: The folder.
    folder: Path
    #: One row a cell, in the order of the grid: its hash, the place of its point, the values of its axes,
    #: plant and seed.
    plan: pl.DataFrame
    #: Cells that this call ran, and those that it found.
    ran: int
    found: int
    #: The question and the pictures of the grid, as keys of its file; its sample, and the keys of its axes.
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plot(self) -> Plots:
        """Pictures: ``curve()`` over an axis, ``map()`` over two, and ``cloud()`` of two metrics.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.plot.cloud("queue_mean_packets", "utilization").get_xlabel()
        'queue mean, packets'
        """
        from sojourn.sweep.plots import Plots

        return Plots(self)

    def table(self, *, in_order: bool = True) -> pl.LazyFrame:
        """One row a cell, link, class and queue: the axes, plant, seed, `spec` (the qdisc), and all metrics.

        Axes whose values are quantities are numbers in SI units: s, bit/s, B, packets. Of the table only the
        columns that a query names are read; their rows are put into the order of the grid in memory. All
        metrics of the million cells that a sweep may have are 0.4 GB, and some times that while they are
        ordered. Without `in_order` rows have any order, and only the plan is in memory where Polars streams
        (``.collect(engine="streaming")``, ``.sink_parquet(...)``). `.collect()` reads the table. Cells that
        failed have no row (`failures`).

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.table().filter(pl.col("qdisc") == "pi").select("utilization").collect().height
        1
        """
        return self._rows(self.plan, in_order=in_order)

    def _rows(self, plan: pl.DataFrame, *, in_order: bool = True) -> pl.LazyFrame:
        own = scan(self.folder).filter(pl.col("error").is_null()).drop("error", WINDOW_ROWS)
        return _at_places(plan, own, in_order=in_order)

    def _samples(self) -> pl.LazyFrame:
        """Rows of all packets of a link, each cell once: Saltelli's scheme may have it at several points."""
        plan = self.plan.unique([*self.axes, "seed"], keep="first", maintain_order=True)
        return self._rows(plan).filter(pl.col("class").is_null(), pl.col("queue").is_null())

    def windows(self, *, in_order: bool = True) -> pl.LazyFrame:
        """One row a cell, window, link, class, queue and metric, for scenarios with windows of time.

        The axes, plant, seed and `spec`, then `window`, `from_s`, `until_s`, `link`, `class`, `queue`, `name`
        and `value`, as the windows of a result have them; read as it is needed. There may be many more rows
        than memory has room for: `in_order` is that of `table`.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> grid["set"]["windows"] = ["40 s..41 s"]
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> chosen = found.windows().filter(pl.col("name") == "utilization").collect()
        >>> chosen.select("qdisc", "window", "until_s").rows()
        [('pi', '40 s..41 s', 41.0), ('codel', '40 s..41 s', 41.0)]
        """
        specs = scan(self.folder).filter(pl.col("row") == 0).select("cell", "spec")
        plan = collected(self.folder, self.plan.lazy().join(specs, on="cell", maintain_order="left"))
        return _at_places(plan, scan(self.folder, WINDOWS), in_order=in_order)

    def written(self, axis: str, value: Any) -> str:
        """A value of an axis as text, quantities with the unit of the axis's first value.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> sj.sweep(grid, out="build/doc.sweep").written("qdisc", "pi")
        'pi'
        """
        unit = (self.about.get("units") or {}).get(axis)
        if isinstance(value, float):
            return f"{value:.6g}" if unit is None else in_unit(value, unit)
        if isinstance(value, str) and value.startswith('{"design": "'):
            return f"design of {json.loads(value)['design']}"
        return str(value)

    def failures(self) -> pl.DataFrame:
        """Cells that failed, with their `error`, a line each.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.failures().height
        0
        """
        own = scan(self.folder).filter(pl.col("error").is_not_null()).select("cell", "error")
        failed = collected(self.folder, own)
        return self.plan.join(failed, on="cell", how="inner", maintain_order="left")

    @property
    def unfinished(self) -> int:
        """Number of cells that have not finished: of a sweep that was ended, or that still runs.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> sj.sweep(grid, out="build/doc.sweep").unfinished
        0
        """
        return self.plan["cell"].n_unique() - self.ran - self.found

    @property
    def axes(self) -> list[str]:
        """Columns of the plan that distinguish points: the axes and the plant.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.axes
        ['qdisc', 'plant']
        """
        return [name for name in self.plan.columns if name not in ("cell", "point", "seed")]

    def summary(self, *metrics: str, first: int | None = None) -> pl.DataFrame:
        """Mean of each metric over the seeds of a point, with the 95 % interval by replications.

        Student's t, with the seeds as independent samples; the interval is null for one seed. Without
        `metrics` all that some cell has. Rows of all packets of a link alone, not those of classes; with
        `first` those of so many points that have rows.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.summary("utilization").select("qdisc", "metric", "n").rows()
        [('pi', 'utilization', 1), ('codel', 'utilization', 1)]
        """
        known = [name for name, kind in columns().items() if kind == pl.Float64()]
        chosen = [_metric(name, "metrics") for name in metrics or known]
        places = [*self.axes, "spec", "link"]
        table = self._samples()
        if first is not None:
            firsts = table.select(self.axes).unique(maintain_order=True).head(first)
            table = table.join(firsts, on=self.axes, how="semi", nulls_equal=True)
        values = (
            table.select(*places, *chosen)
            .unpivot(index=places, variable_name="metric")
            .drop_nulls("value")
            .group_by(*places, "metric", maintain_order=True)
            .agg("value")
            .collect()
        )
        return analysis.estimated(values, "value")

    def quantiles(self, metric: str, quantile: float) -> pl.DataFrame:
        """Quantile of a metric over the seeds of each point, with its 95 % interval by order statistics.

        The axes, `spec` and link, number of seeds `n`, `value` and the interval, whatever the distribution;
        an end is null where so few seeds do not bound it: the median needs 6, the 0.9 quantile 36 for both
        ends. Raises `InputError`.

        >>> import sojourn as sj
        >>> axes = {"qdisc": ["pi", "codel"]}
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": axes, "seeds": "1..6"}
        >>> found = sj.sweep(grid, out="build/doc.sweep").quantiles("queue_mean_packets", 0.5)
        >>> found["value"][1] < found["ci95_low"][0]
        True
        """
        _metric(metric)
        if isinstance(quantile, bool) or not isinstance(quantile, int | float) or not 0 < quantile < 1:
            raise InputError(f"quantile: {shown(quantile)} is no quantile; expected 0 < quantile < 1")
        places = [*self.axes, "spec", "link"]
        return analysis.quantiles(self._samples().select(*places, _metric(metric)), metric, quantile)

    def imprecise(self) -> pl.DataFrame:
        """Points whose mean has not the precision of `until`, a row for each link.

        The axes, number of values `n`, `mean`, and `share`: the half-width of the 95 % interval by the mean,
        null where there is none. No rows for a sweep without `until`.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.imprecise().height
        0
        """
        given = self.about.get("until")
        points = self.plan.select(self.axes).unique(maintain_order=True)
        if given is None:
            schema = {"link": pl.String(), "n": pl.UInt32(), "mean": pl.Float64(), "share": pl.Float64()}
            return points.clear().with_columns(**{name: pl.lit(None, kind) for name, kind in schema.items()})
        until = Until(**given)
        return imprecise(until, self.summary(until.metric), points)

    def differences(self, axis: str, baseline: object, metric: str) -> pl.DataFrame:
        """Mean difference of a metric from a baseline on one axis, at each point of the others.

        Differences are taken seed by seed (common random numbers); intervals are Student's, 95 %. `p` is that
        of the paired test, `p_holm` the same corrected by Holm for all rows of this table. A run of a plant
        without randomness is a constant, with which the run of each seed is compared (the one-sample test).
        Raises `InputError`.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.differences("qdisc", "codel", "queue_mean_packets").select("qdisc", "n").rows()
        [('pi', 1)]
        """
        if axis not in self.axes:
            raise InputError(f"axis: {shown(axis)} is no axis; expected {', '.join(self.axes)}")
        levels = self.plan[axis].unique(maintain_order=True).to_list()
        if baseline not in levels:
            raise InputError(f"baseline: {shown(baseline)} is not on the axis; expected one of {levels}")
        _metric(metric)
        others = [name for name in self.axes if name != axis]
        rows = (
            self._samples().select(*self.axes, "link", "seed", _metric(metric)).drop_nulls(metric).collect()
        )
        pairs = analysis.paired(rows, metric, axis, baseline)
        found = pairs.group_by(*others, "link", axis, maintain_order=True).agg("difference")
        return analysis.tested(found)

    def anova(self, metric: str, *factors: str, interactions: bool = True) -> pl.DataFrame:
        """Which axes move the mean of a metric: an analysis of variance at each link.

        A row for each factor, for each pair of them with `interactions`, and for the residual: sum of squares
        (type II), degrees of freedom, F, p, p corrected by Holm for all rows of this table, and partial eta
        squared. Factors are axes, by default all with two values or more; each value is a level, and a cell
        is a sample. Where levels share seeds, which are common random numbers, seeds are blocks and have a
        row ``seed``; without that row samples are independent. A plant without randomness is no sample: the
        factor `plant` is refused with one, and other factors are those of the runs of packets. Raises
        `InputError`.

        >>> import sojourn as sj
        >>> axes = {"qdisc": ["pi", "codel"]}
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": axes, "seeds": [1, 2]}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.anova("queue_mean_packets")["effect"].to_list()
        ['qdisc', 'seed', 'residual']
        """
        _metric(metric)
        for name in factors:
            if name not in self.axes:
                raise InputError(f"factors: {shown(name)} is no axis; expected {', '.join(self.axes)}")
            if factors.count(name) > 1:
                raise InputError(f"factors: {name} is named twice; expected each once")
        chosen = list(factors) or [name for name in self.axes if self.plan[name].n_unique() > 1]
        plants = self.plan["plant"].unique(maintain_order=True).to_list()
        sampled = [plant for plant in plants if plant not in SEEDLESS]
        if sampled and sampled != plants and "plant" in chosen:
            others = ", ".join(name for name in chosen if name != "plant") or "an axis of runs of packets"
            fixed = next(plant for plant in plants if plant in SEEDLESS)
            raise InputError(
                f"factors: plant has {fixed}, whose runs are no sample; expected {others}, or differences()"
            )
        own = self._samples().filter(pl.col("plant").is_in(sampled or plants))
        rows = own.select("link", "seed", *chosen, _metric(metric)).drop_nulls(metric).collect()
        return analysis.analysed(rows, metric, chosen, interactions=interactions)

    def claim(
        self,
        metric: str,
        *,
        most: float | str | None = None,
        least: float | str | None = None,
        link: str | None = None,
    ) -> pl.DataFrame:
        """Whether the mean of a metric is within bounds at each point, as its 95 % interval shows it.

        A row for each point of the plan: its axes, `n`, `mean`, the interval over the seeds, and `verdict`:
        ``holds`` or ``does not hold`` where the whole interval is on one side of the bounds, ``undecided``
        where it crosses one, ``one seed`` where there is no interval, ``failed`` where a cell failed, and
        ``no value``. Bounds are in the metric's unit, or texts such as ``"20 ms"``; `link` is by default the
        first. Raises `InputError`.

        >>> import sojourn as sj
        >>> axes = {"qdisc": ["pi", "codel"]}
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": axes, "seeds": [1, 2]}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.claim("queue_mean_packets", most=50)["verdict"].to_list()
        ['does not hold', 'holds']
        """
        from sojourn.sweep.claims import bounds, judged

        if most is None and least is None:
            raise InputError("most: a claim has no bound; expected most, least, or both")
        _metric(metric)
        return judged(self, metric, *bounds(metric, most, least), link=link)

    def theory(self) -> pl.DataFrame:
        """Certificates of the points, a row each: its axes, verdict, margins and predicted figures.

        Null where the certificate has no such figure. Raises `InputError` for a grid without
        ``theory = true``.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid | {"theory": True}, out="build/doc.sweep")
        >>> found.theory().select("qdisc", "verdict").rows()[0]
        ('pi', 'stable')
        """
        from sojourn.sweep.theory import known

        if not self.about.get("theory"):
            raise InputError("theory: the grid has no certificates; expected theory = true in it")
        return (
            self.plan.unique([*self.axes, "cell"], keep="first", maintain_order=True)
            .drop("point", "seed")
            .join(known(self.folder), on="cell", how="inner", maintain_order="left")
            .drop("cell")
        )

    def sensitivity(self, metric: str) -> pl.DataFrame:
        """Sobol's indices of a metric: the shares of its variance that each drawn axis explains.

        A row for each axis, link, and point of the other axes: ``first``, the share of the axis alone, and
        ``total``, its share with that of its interactions, each with the half-width of its 95 % interval by
        bootstrap. The metric is its mean over the seeds; `points` is the number of points. Raises
        `InputError` for a grid without ``sample.method = "saltelli"``, or where a point has no value, and
        `MissingError` without SALib.

        >>> import sojourn as sj
        >>> axes = {"target": {"key": "bottleneck.qdisc.target", "from": "50 packets", "to": "150 packets"}}
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": axes}
        >>> grid |= {"sample": {"method": "saltelli", "points": 2}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.sensitivity("queue_mean_packets")["axis"].to_list()  # doctest: +SKIP
        ['target']
        """
        _metric(metric)
        sample = self.about.get("sample") or {}
        if sample.get("method") != "saltelli":
            raise InputError(
                'sensitivity: the grid has another sample; expected sample.method = "saltelli" in it'
            )
        return analysis.sensitivity(self, metric, list(self.about["drawn"]), int(sample["points"]))

    def regression(self, metric: str, on: str) -> pl.DataFrame:
        """Straight lines through the means of a metric over a figure of the certificates.

        `on` is a column of `theory`. A row for each qdisc and link: number of points, slope, intercept, share
        of the variance (`r_squared`), Spearman's rank correlation with its p, and p corrected by Holm for all
        rows. Points without the figure are left out. Raises `InputError`.

        >>> import sojourn as sj
        >>> axes = {"flows[0].count": [30, 50, 70]}
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": axes, "theory": True}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> found.regression("mark_ratio", "p")["rank_correlation"].to_list()
        [1.0]
        """
        _metric(metric)
        if on not in THEORY:
            raise InputError(f"on: {shown(on)} is no figure of theory; expected {', '.join(THEORY)}")
        return analysis.regression(self, metric, on)

    def report(self, path: str | Path) -> Path:
        """Write the page of the sweep, one offline HTML file; returns its path.

        It shows the pictures of the grid, or some that suit its axes, with what they say, the means of the
        points, and the failures. Raises `InputError`, `NotWritten`, and `MissingError` for indices without
        SALib.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> sj.sweep(grid, out="build/doc.sweep").report("build/doc.html").name
        'doc.html'
        """
        from sojourn.sweep.page import write

        return write(self, Path(path))

    def to_json(self) -> str:
        """The counts, the failures and the summary as a JSON document.

        >>> import sojourn as sj
        >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
        >>> found = sj.sweep(grid, out="build/doc.sweep")
        >>> json.loads(found.to_json())["cells"]
        2
        """
        document = {
            "schema": 1,
            "store": str(self.folder),
            "cells": self.plan["cell"].n_unique(),
            "ran": self.ran,
            "found": self.found,
            "failed": self.failures().to_dicts(),
            "until": self.about.get("until"),
            "imprecise": self.imprecise().to_dicts(),
        }
        text = json.dumps(document, indent=1, ensure_ascii=False)
        # Of many rows an indented document takes several times as long.
        rows = self.summary().write_json()
        return f'{text.removesuffix("}").rstrip()},\n "summary": {rows}\n}}'


def _at_places(plan: pl.DataFrame, own: pl.LazyFrame, *, in_order: bool) -> pl.LazyFrame:
    """Rows of a store with the columns of their cells; cells of other grids have none."""
    if in_order:
        places = plan.lazy().with_row_index("_place")
        return places.join(own, on="cell", how="inner").sort("_place", "row").drop("_place", "row")
    # Of a left join the right side alone is in memory.
    joined = own.join(plan.lazy(), on="cell", how="left").filter(pl.col("point").is_not_null()).drop("row")
    names = joined.collect_schema().names()
    return joined.select(*plan.columns, *(name for name in names if name not in plan.columns))


def _metric(name: str, place: str = "metric") -> pl.Expr:
    """A metric as a column of its name."""
    found = value_of(name)
    if found is None:
        raise InputError(f"{place}: {shown(name)} is no metric with one value; see 'sojourn list metrics'")
    return found


def sweep(
    grid: str | Path | Mapping[str, Any],
    out: str | Path | None = None,
    *,
    jobs: int | None = None,
    engine: str = "local",
    cluster: str | None = None,
    until: Mapping[str, float] | str | None = None,
    most_seeds: int | None = None,
    retry: bool = False,
) -> Sweep:
    """Run a scenario at all points of a grid, and continue where an earlier call has ended.

    `grid` is the file of a grid (TOML), or its keys as a dict, in which `scenario` may be a `Scenario` and
    values may be objects of `sojourn.laws`. `out` is the folder of the store; for a file the default is its
    name with ``.sweep``, in the current folder. Cells that the store has are not run again; those that fail
    are recorded with their message, and the others go on; with `retry` failures of earlier calls are run
    again. `jobs` is the number of threads (default: one a processor). `engine` is ``"local"``, or ``"dask"``
    or ``"ray"``: on the cluster at the address `cluster`, or on `jobs` processes of this machine, for which a
    script needs an ``if __name__ == "__main__"``. Neither changes the table.

    With `until`, such as ``{"queue_mean_packets": 0.02}`` or ``"queue_mean_packets=2%"``, each point has
    further seeds until the half-width of the metric's 95 % interval at each link is at most that share of its
    mean: 20 at least, and `most_seeds` (100) at most. `imprecise` has the points that did not reach it.

    Raises `InputError` for a grid that is wrong, with one line; `MissingError` without the engine's package,
    and `SojournError` where its processes fail; `NotWritten` where the store cannot be
    written, and `Interrupted` on Ctrl-C: the cells that had finished are kept in both cases. The how-to "Run
    a campaign" has the keys of a grid.

    >>> import sojourn as sj
    >>> grid = {"scenario": "dumbbell", "set": {"duration": "41 s"}, "axes": {"qdisc": ["pi", "codel"]}}
    >>> sj.sweep(grid, out="build/doc.sweep").plan.columns
    ['cell', 'point', 'qdisc', 'plant', 'seed']
    """
    check(engine, cluster)
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise InputError(f"jobs: {shown(jobs)} is not a number of workers; expected 1 or more")
    if until is None and most_seeds is not None:
        raise InputError("most_seeds: belongs to a precision; expected until with it")
    precision = None if until is None else read_until(until, most_seeds)
    on = Engine(engine, cluster, jobs or os.cpu_count() or 1)
    with of_cells() as watch:
        return carry_out(read(grid), folder_of(grid, out), on, watch=watch, until=precision, retry=retry)


def folder_of(grid: str | Path | Mapping[str, Any], out: str | Path | None) -> Path:
    """Folder of the store. Raises `InputError` where a dict has none."""
    if out is not None:
        return Path(out)
    if isinstance(grid, Mapping):
        raise InputError("out: is missing; expected the folder of the store")
    return Path(f"{Path(grid).stem}.sweep")


def carry_out(
    grid: Grid,
    folder: Path,
    engine: Engine,
    *,
    watch: Watch | None = None,
    until: Until | None = None,
    retry: bool = False,
) -> Sweep:
    """Run the cells of a grid that its store lacks; `watch` is called for each. The engine is closed.

    With `until`, then those of further seeds, until each point has the precision; with `retry` also those
    that have failed before.
    """
    if until is not None and grid.seeds[-1] + max(0, until.most - len(grid.seeds)) >= SEED_LIMIT:
        message = f"{until.most} seeds of a point after {grid.seeds[-1]} are too many"
        raise InputError(f"seeds: {message}; expected all below 2^64, or a lower most_seeds")
    if not folder.exists():
        # A store that exists may have all cells.
        engine.require()
    run = _Run(grid, engine, watch, until, retry)
    try:
        with closing(engine), opened(folder) as store:
            plan = run.carry_out(store)
    except Interrupted:
        raise
    except KeyboardInterrupt:
        # The cells note it themselves; this is while they are planned, put together or certified.
        raise Interrupted(f"interrupted; {run.state(folder)}", None) from None
    return Sweep(folder, plan, run.ran, plan["cell"].n_unique() - run.ran, known(folder)[1])


def load(folder: str | Path) -> Sweep:
    """The sweep that a store has, as its last grid had it; runs nothing. Raises `InputError`."""
    plan, about = known(Path(folder))
    done = collected(Path(folder), whole(Path(folder)))["cell"]
    found = plan["cell"].unique().is_in(done.implode()).sum()
    return Sweep(Path(folder), plan, 0, int(found), about)


@dataclass
class _Run:
    """A call of `carry_out`."""

    grid: Grid
    engine: Engine
    watch: Watch | None
    until: Until | None
    #: True if failures of earlier calls are run again.
    retry: bool
    #: Those that are left, once the store has been read.
    earlier: set[str] | None = None
    #: Cells that it has run, and those that it had to run up to now.
    ran: int = 0
    todo: int = 0

    def carry_out(self, store: Store) -> pl.DataFrame:
        """Run the cells, and certify the points; the plan. Raises `Interrupted`."""
        designer = designer_of(store)
        sizes: dict[int, int] = {}
        plan = self._cells(store, designer, sizes)
        # Each round has more seeds at some point, of which there are at most so many.
        while self.until is not None and (more := needed(self.until, store.folder, plan)):
            sizes |= more
            plan = self._cells(store, designer, sizes)
        store.settle()
        if self.grid.about.theory:
            add_theory(self.grid, plan, store, designer=designer, watch=self._shown("certificates"))
        return plan

    def state(self, folder: Path) -> str:
        """What the store has, for an interrupt."""
        if not self.todo:
            return f"no cell was run; those that had finished before are kept in {folder}"
        return f"{self.ran} of {self.todo} cells had finished and are kept in {folder}"

    def _cells(self, store: Store, designer: Designer, sizes: Sizes) -> pl.DataFrame:
        """Run the cells that the store lacks; the plan. Raises `Interrupted`."""
        plan = make(self.grid, store, designer, sizes, until=self.until, watch=self._shown("points planned"))
        done = self._finished(store, plan)
        left = len(set(plan["cell"]) - done)
        self.todo = self.ran + left
        if left and self.engine.drive(
            cells_left(self.grid, plan, done),
            lambda cell: setting_of(self.grid, cell, designer),
            left,
            lambda record: self._add(store, record),
        ):
            store.flush()
            raise Interrupted(f"interrupted; {self.state(store.folder)}", None)
        store.flush()
        return plan

    def _shown(self, what: str) -> Callable[[int, int], None]:
        """Shows how much has been done of something else than cells."""

        def shown(done: int, todo: int) -> None:
            if self.watch is not None:
                self.watch(done, todo, what)

        return shown

    def _finished(self, store: Store, plan: pl.DataFrame) -> set[str]:
        """Cells that the store has; earlier failures of the plan are taken out of it, to be run again."""
        found = store.finished()
        if self.earlier is None:
            failed = {name for name, error in found.items() if error is not None}
            self.earlier = failed if self.retry else set()
        again = self.earlier & set(plan["cell"])
        if again:
            # Once in a call: what fails again stays.
            self.earlier -= again
            store.settle(without=again)
        return found.keys() - again

    def _add(self, store: Store, record: Record) -> None:
        store.add(record)
        self.ran += 1
        if self.watch is not None:
            self.watch(self.ran, self.todo, record)


class _Verb(ModuleType):
    """The callable module: ``sojourn.sweep(...)`` is ``sojourn.sweep.sweep(...)``."""

    def __call__(
        self, grid: str | Path | Mapping[str, Any], out: str | Path | None = None, **given: Any
    ) -> Sweep:
        return sweep(grid, out, **given)


sys.modules[__name__].__class__ = _Verb
