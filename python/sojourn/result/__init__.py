"""Results: measurements of runs as named records, readable without Sojourn."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError, MissingError
from sojourn.kinds import flag, named_texts, optional, path, takes, text, texts
from sojourn.result.statistics import estimate

if TYPE_CHECKING:
    import pandas as pd

    from sojourn.plot import Plots
    from sojourn.result.equivalence import Agreement

__all__ = ["SCHEMA", "SEEDLESS", "Result", "Row", "Variant"]

#: Schema number written into result.json; every earlier one is read too.
SCHEMA = 1

#: Plants without randomness: a qdisc has one run there, under the lowest of the seeds.
SEEDLESS = ("fluid",)

Metric = float | list[float | None] | None

#: Columns of the table of windows, with their types: a row has one metric of one window.
WINDOW_KINDS: dict[str, Any] = {
    "window": pl.String,
    "from_s": pl.Float64,
    "until_s": pl.Float64,
    "plant": pl.String,
    "link": pl.String,
    "qdisc": pl.String,
    "seed": pl.UInt64,
    "class": pl.String,
    "queue": pl.String,
    "name": pl.String,
    "value": pl.Float64,
}


@dataclass(frozen=True)
class Variant:
    """A qdisc in a plant. Its runs differ by seed alone."""

    qdisc: str
    plant: str

    @property
    def seeded(self) -> bool:
        """True if its runs differ: a plant without randomness has one run, and no interval.

        >>> Variant("pi", "fluid").seeded
        False
        """
        return self.plant not in SEEDLESS

    def run_name(self, seed: int) -> str:
        """Name of one of its runs in errors.

        >>> Variant("pi", "packet").run_name(3)
        'pi, seed 3'
        """
        return f"{self.qdisc}, {f'seed {seed}' if self.seeded else f'{self.plant} plant'}"


@dataclass(frozen=True)
class Row:
    """One run at one link: a scenario in one plant with one qdisc and one seed.

    The row covers all traffic of the link, the class `traffic_class`, or one `queue` of the qdisc. A class
    whose data cross no link with a qdisc has a row without a link: the measurements of its flows, without
    those of a queue.
    """

    plant: str
    qdisc: str
    seed: int
    link: str | None
    #: Metric name -> number, list of numbers (one for each change), or None if it does not apply.
    metrics: dict[str, Metric]
    #: Packets offered, delivered, dropped and held at the end, over the whole run; empty without a link.
    conservation: dict[str, int]
    #: Cost of the run on this machine, no function of scenario and seed. In a run with several rows the first
    #: one has it.
    cost: dict[str, float | int | None] = field(default_factory=dict, compare=False)
    #: Class of the row's packets and flows; None: all traffic of the link.
    traffic_class: str | None = None
    #: Queue of the qdisc, or group of queues, that the row's packets went through; None: all of them.
    queue: str | None = None
    #: The link's own qdisc, if `qdisc` names those of several links.
    qdisc_here: str | None = None
    #: Of a live run: whether the machine kept time, and lost nothing; `verdict` is good, degraded or void.
    #: The first of several rows has it.
    trust: dict[str, float | int | str | None] = field(default_factory=dict)

    @takes(cost=flag)
    def document(self, *, cost: bool) -> dict[str, Any]:
        """The row as in result.json, with its cost if requested."""
        row = {
            "plant": self.plant,
            "qdisc": self.qdisc,
            "seed": self.seed,
            "link": self.link,
            **({} if self.traffic_class is None else {"class": self.traffic_class}),
            **({} if self.queue is None else {"queue": self.queue}),
            **({} if self.qdisc_here is None else {"qdisc_here": self.qdisc_here}),
            "metrics": self.metrics,
            "conservation": self.conservation,
            **({"trust": self.trust} if self.trust else {}),
        }
        return row | {"cost": self.cost} if cost and self.cost else row


@dataclass(frozen=True)
class Result:
    """The runs of one scenario, ordered by qdisc and plant (as given) and seed.

    Each run has a row in `runs` for every link with a qdisc and, if the scenario has several classes of
    traffic, one for every class whose data cross the link; a class whose data cross none has a row without a
    link. Under a qdisc of several queues each queue that had packets has a row, too. `rows` gives one row for
    each run. `series` has the columns time (s), plant, link, qdisc, seed, name, value: every sampled quantity
    over steps of a fixed length, each at its end, null: no sample.
    `distributions` has plant, link, qdisc, seed, name, value, cumulative (0..1). Texts in both are of the
    type `polars.Enum`. `provenance` has place, time and command of the result. `windows` has the metrics of
    the windows of time that the scenario names, one a row: window, from_s, until_s, plant, link, qdisc, seed,
    class, queue, name, value; without windows it is empty.
    """

    scenario: dict[str, Any]
    runs: tuple[Row, ...]
    series: pl.DataFrame
    distributions: pl.DataFrame
    provenance: dict[str, Any] = field(default_factory=dict, compare=False)
    windows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=WINDOW_KINDS))

    def __repr__(self) -> str:
        """The title and a line for each qdisc."""
        from sojourn.result.metrics import QUEUE_MEAN_PACKETS, SOJOURN_MEAN_S, UTILIZATION
        from sojourn.result.words import cell, fitted, variant_at, views

        count = self.run_count
        lines = [f"Result: {self.title}; {count} run{'' if count == 1 else 's'}"]
        for link, view in views(self):
            if link is None:
                continue
            columns = [fitted(view, column) for column in (UTILIZATION, QUEUE_MEAN_PACKETS, SOJOURN_MEAN_S)]
            place = f"{link}, " if len(self.links) > 1 else ""
            for variant in view.variants:
                cells = [(column, cell(view, variant, column)) for column in columns]
                facts = (f"{column.short} {text} {column.unit}" for column, text in cells if text)
                name = f"{place}{variant_at(view, variant, link)}"
                lines.append(f"  {name}: {', '.join(facts) or 'nothing was measured'}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from sojourn.notebook import of_result

        return of_result(self)

    @property
    def qdiscs(self) -> list[str]:
        """The qdiscs, in the given order.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc, qdiscs=["tail_drop", "pi"]).qdiscs
        ['tail_drop', 'pi']
        """
        return list(dict.fromkeys(row.qdisc for row in self.runs))

    @property
    def plants(self) -> list[str]:
        """The plants, in the given order.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).plants
        ['packet']
        """
        return list(dict.fromkeys(variant.plant for variant in self.variants))

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Each qdisc in each plant, in the order of the runs, as compared in tables, pictures and pages.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).variants
        (Variant(qdisc='pi:target=100 packets', plant='packet'),)
        """
        return tuple(Variant(*one) for one in dict.fromkeys((row.qdisc, row.plant) for row in self.runs))

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc, seeds=[3, 1]).seeds
        [1, 3]
        """
        return sorted({row.seed for row in self.runs})

    @property
    def links(self) -> list[str]:
        """Links with a qdisc, first those that data cross; otherwise in the order of the scenario.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).links
        ['bottleneck']
        """
        return list(dict.fromkeys(row.link for row in self.runs if row.link is not None))

    @property
    def places(self) -> list[str | None]:
        """The links of the rows; last, if there are any, None for classes that cross no qdisc.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).places
        ['bottleneck']
        """
        return [*self.links, *([None] if any(row.link is None for row in self.runs) else [])]

    @property
    def classes(self) -> list[str]:
        """The classes of traffic, in the order of the scenario; empty if it has only one.

        >>> import sojourn as sj
        >>> sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})).classes
        ['bulk', 'bulk2']
        """
        names = (row.traffic_class for row in self.runs)
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def run_count(self) -> int:
        """Number of runs, each with a row at every link.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), seeds=[1, 2]).run_count
        2
        """
        return len({(row.plant, row.qdisc, row.seed) for row in self.runs})

    @takes(qdisc=optional(text), link=optional(text))
    def queues(self, qdisc: str | None = None, link: str | None = None) -> list[str]:
        """Names of the queues of a qdisc, or of groups of queues, that had packets; empty: it has one queue.

        Of all qdiscs by default, at `link` (default: the first). Raises `InputError` for an unknown qdisc or
        link.

        >>> import sojourn as sj
        >>> scenario = sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})
        >>> sj.run(scenario, ["fq_codel", "codel"]).queues("fq_codel")
        ['bulk', 'bulk2']
        """
        if qdisc is not None:
            self.check_qdisc(qdisc)
        if link is not None:
            self.check_link(link)
        place = self.links[0] if link is None else link
        rows = (row for row in self.runs if row.link == place and qdisc in (None, row.qdisc))
        return list(dict.fromkeys(row.queue for row in rows if row.queue is not None))

    @takes(link=optional(text), traffic_class=optional(text), queue=optional(text))
    def rows(
        self, link: str | None = None, traffic_class: str | None = None, *, queue: str | None = None
    ) -> tuple[Row, ...]:
        """One row for each run: of all traffic at a link, of one class, or of one queue.

        Default: the first link; for a class the first one that its data cross, and if they cross none, its
        row without a link. A run in which the class's data do not cross the link, or whose qdisc there has no
        such queue, has no row. Raises `InputError` for an unknown link or class, and for a class and a queue.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> [row.traffic_class for row in result.rows(traffic_class="bulk2")]
        ['bulk2']
        """
        if traffic_class is not None:
            self.check_class(traffic_class)
            if queue is not None:
                raise InputError("queue: rows are of a class or of a queue; expected one of the two")
        if link is None and queue is None:
            return self._first_rows.get(traffic_class, ())
        place = self.links[0] if link is None else link
        self.check_link(place)
        return self._rows.get((place, traffic_class, queue), ())

    @cached_property
    def _rows(self) -> dict[tuple[str | None, str | None, str | None], tuple[Row, ...]]:
        """Rows by link, class and queue, each in the order of `runs`."""
        found: dict[tuple[str | None, str | None, str | None], list[Row]] = {}
        for row in self.runs:
            found.setdefault((row.link, row.traffic_class, row.queue), []).append(row)
        return {place: tuple(rows) for place, rows in found.items()}

    @cached_property
    def _first_rows(self) -> dict[str | None, tuple[Row, ...]]:
        """Rows of each class, and of all traffic, at the first link that has any."""
        found: dict[str | None, tuple[Row, ...]] = {}
        for (_, traffic_class, queue), rows in self._rows.items():
            if queue is None:
                found.setdefault(traffic_class, rows)
        return found

    @takes(link=optional(text))
    def for_link(self, link: str | None) -> Result:
        """The measurements at one link alone, of all traffic and class by class.

        None: the classes whose data cross no link with a qdisc. Raises `InputError` for an unknown link.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).for_link("bottleneck").plot.queue().get_ylabel()
        'queue, packets'
        """
        if link is not None:
            self.check_link(link)
        if all(row.link == link for row in self.runs):
            return self
        return self._among([link])

    def _among(self, links: list[str | None]) -> Result:
        """The measurements at some links alone."""
        seen = pl.col("link").is_in([link for link in links if link is not None])
        if None in links:
            seen |= pl.col("link").is_null()
        return replace(
            self,
            runs=tuple(row for row in self.runs if row.link in links),
            series=self.series.filter(seen),
            distributions=self.distributions.filter(seen),
            windows=self.windows.filter(seen),
        )

    @takes(plant=text)
    def for_plant(self, plant: str) -> Result:
        """The runs in one plant alone. Raises `InputError` for a plant without runs.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).for_plant("packet").run_count
        1
        """
        self.check_plant(plant)
        if len(self.plants) == 1:
            return self
        return replace(
            self,
            runs=tuple(row for row in self.runs if row.plant == plant),
            series=self.series.filter(pl.col("plant") == plant),
            distributions=self.distributions.filter(pl.col("plant") == plant),
            windows=self.windows.filter(pl.col("plant") == plant),
        )

    @takes(name=text)
    def check_plant(self, name: str) -> None:
        """Raise `InputError` for a plant without runs.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).check_plant("packet")
        """
        if all(variant.plant != name for variant in self.variants):
            raise InputError(f'plant: "{name}" is not a plant here; expected {_listed(self.plants)}')

    @takes(name=text)
    def check_qdisc(self, name: str) -> None:
        """Raise `InputError` for a qdisc without runs.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), "pi").check_qdisc("pi")
        """
        if name not in self._qdiscs:
            raise InputError(f'qdisc: "{name}" is not a qdisc here; expected {_listed(self.qdiscs)}')

    @takes(name=text)
    def check_link(self, name: str) -> None:
        """Raise `InputError` for a link without measurements.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).check_link("bottleneck")
        """
        if name not in self._watched:
            raise InputError(f'link: "{name}" is not a link here; expected {_listed(self.links)}')

    @takes(name=text)
    def check_class(self, name: str) -> None:
        """Raise `InputError` for an unknown class of traffic.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> result.check_class("bulk2")
        """
        if name not in self._first_rows:
            expected = f"expected {_listed(self.classes)}" if self.classes else "the scenario has only one"
            raise InputError(f'class: "{name}" is no class of traffic here; {expected}')

    @takes(name=text)
    def check_metric(self, name: str) -> None:
        """Raise `InputError` for an unknown metric; one that an older result lacks does not apply.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).check_metric("jain_index")
        """
        from sojourn.result.metrics import ALL

        if name not in self._metrics and all(column.metric != name for column in ALL):
            near = difflib.get_close_matches(name, self._metrics, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(
                f"metric: \"{name}\" is not a metric{hint}; expected what 'sojourn list metrics' prints"
            )

    @cached_property
    def _qdiscs(self) -> set[str]:
        return set(self.qdiscs)

    @cached_property
    def _watched(self) -> set[str]:
        return set(self.links)

    @cached_property
    def _metrics(self) -> dict[str, None]:
        """Names of all metrics, in order."""
        return dict.fromkeys(name for row in self.runs for name in row.metrics)

    @takes(named=optional(text))
    def baseline(self, named: str | None = None) -> str:
        """The qdisc that the others are compared with: the named one, else the first.

        A law's name is enough if only one qdisc has that law. Raises `InputError` for an unknown one.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc, qdiscs=["tail_drop", "pi:target=50packets"]).baseline("pi")
        'pi:target=50 packets'
        """
        if named is None:
            return self.qdiscs[0]
        found = [qdisc for qdisc in self.qdiscs if named in (qdisc, qdisc.partition(":")[0])]
        if named in found:
            return named
        if len(found) != 1:
            raise InputError(
                f'--baseline: "{named}" is not a qdisc here; expected {" or ".join(self.qdiscs)}'
            )
        return found[0]

    @property
    def title(self) -> str:
        """The scenario's title.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).title
        'Fifty long flows on a 10 Mbit/s link'
        """
        return str(self.scenario.get("title") or "Untitled scenario")

    @takes(
        qdisc=text,
        metric=text,
        link=optional(text),
        traffic_class=optional(text),
        plant=optional(text),
        queue=optional(text),
        window=optional(text),
    )
    def values(
        self,
        qdisc: str,
        metric: str,
        link: str | None = None,
        traffic_class: str | None = None,
        *,
        plant: str | None = None,
        queue: str | None = None,
        window: str | None = None,
    ) -> dict[int, float]:
        """The metric of every seed in which it applies: seed -> value, in the metric's own unit.

        That of all traffic, of one class or of one queue, at `link` (default: that of `rows`), in `plant`
        (default: the first). In a `window` of time, which must be a single one: ``"run"``, ``"10 s..40 s"``,
        or the times of one of the phases. Raises `InputError` for an unknown qdisc, metric, link, class,
        plant or window.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> used = sj.run(sc, "pi", seeds=[1, 2]).values("pi", "utilization")
        >>> {seed: round(value, 2) for seed, value in used.items()}
        {1: 1.0, 2: 1.0}
        """
        self.check_qdisc(qdisc)
        if window is None:
            self.check_metric(metric)
        if plant is None:
            plant = self.variants[0].plant
        else:
            self.check_plant(plant)
        if window is not None:
            from sojourn.result import windows

            place = windows.Place(qdisc, plant, link, traffic_class, queue)
            return windows.values(self, window, metric, place)
        found_rows = self.rows(link, traffic_class, queue=queue)
        rows = (row for row in found_rows if (row.qdisc, row.plant) == (qdisc, plant))
        found = {row.seed: row.metrics.get(metric) for row in rows}
        return {seed: float(value) for seed, value in found.items() if isinstance(value, int | float)}

    @takes(window=optional(text), wide=flag)
    def summary(self, window: str | None = None, *, wide: bool = False) -> pl.DataFrame:
        """Mean and 95 % interval (Student's t) of every metric over the seeds.

        One row for each qdisc, link, class, queue, metric and plant: `n` seeds, `mean`, `ci95_low`,
        `ci95_high` in the metric's own unit; the interval is null for one seed, class and queue for all
        traffic together, and the link for a class whose data cross no link with a qdisc. An entry of a list
        is named ``settling_s[0]``, and is left out unless every seed has it: the mean over the seeds that
        settled would flatter the law. Metrics that are null in every run are left out.

        With `window`, as the scenario has it (``"phases"``) or by its times (``"10 s..40 s"``), the same of
        each such window, after the columns `window`, `from_s` and `until_s`. Raises `InputError` for an
        unknown one.

        `wide` makes one row for each qdisc, link, class and queue (and window): a metric has a column of
        means under its name, and after it the half-width of the interval as ``METRIC_ci95``; `n` is then the
        largest number of seeds of a metric.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> table = sj.run(sc, seeds=[1, 2]).summary()
        >>> table.filter(table["metric"] == "queue_mean_packets")["n"].item()
        2
        """
        from sojourn.result import wide as pivot

        long = self._summary(window)
        return pivot.widened(long) if wide else long

    def _summary(self, window: str | None) -> pl.DataFrame:
        """One row for each metric."""
        if window is not None:
            from sojourn.result import windows

            return windows.summary(windows.chosen(self, window))
        kinds = pl.Schema(
            {
                # Of ten columns Polars prints the first four and the last four.
                "qdisc": pl.String,
                "link": pl.String,
                "class": pl.String,
                "metric": pl.String,
                "queue": pl.String,
                "plant": pl.String,
                "n": pl.Int64,
                "mean": pl.Float64,
                "ci95_low": pl.Float64,
                "ci95_high": pl.Float64,
            }
        )
        return pl.DataFrame(_summary_rows(self.runs), schema=kinds)

    @takes(window=optional(text), wide=flag)
    def to_pandas(self, window: str | None = None, *, wide: bool = False) -> pd.DataFrame:
        """The same as `summary`, as a table of pandas.

        Raises `MissingError` without pandas and pyarrow, which are the extra ``sojourn[pandas]``.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("dumbbell", {"duration": "41 s"}))
        >>> list(result.to_pandas().columns)[:4]  # doctest: +SKIP
        ['qdisc', 'link', 'class', 'metric']
        """
        table = self.summary(window, wide=wide)
        try:
            return table.to_pandas()
        except ImportError:
            raise MissingError("to_pandas: pandas is not installed; pip install sojourn[pandas]") from None

    @takes(metrics=texts, link=optional(text))
    def to_latex(self, metrics: Sequence[str] = (), link: str | None = None) -> str:
        r"""A LaTeX table of metrics by qdiscs at `link` (default: the first), for the package booktabs.

        A cell is the mean over the seeds with the half-width of its 95 % interval. `metrics` are names of
        ``sojourn list metrics``; by default those of the summary. One that applies to classes alone, such as
        `qoo`, has a row of dashes. Raises `InputError` for an unknown metric or link.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> print(sj.run(sc, ["tail_drop", "pi"], seeds=[1]).to_latex(["utilization"]))
        \begin{tabular}{lrr}
        \toprule
         & tail\_drop & pi \\
        \midrule
        utilisation, \% & 100.0 & 100.0 \\
        \bottomrule
        \end{tabular}
        """
        from sojourn.result import markup, tables

        return markup.latex(tables.of_metrics(self.for_link(link or self.links[0]), metrics))

    def warm_up(self) -> pl.DataFrame:
        """The warm-up that MSER-5 finds in the backlog of each run and link, beside the scenario's.

        Columns link, qdisc, plant, seed, `found_s`, `warmup_s` (the scenario's), and `verdict`: ``long
        enough``, ``short``, or ``not settled`` where half of the series does not suffice. The backlog is that
        from time 0 to the first scheduled change (K. White, M. Cobb, S. Spratt 2000). Plants without
        randomness have no row.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).warm_up()["verdict"].to_list()
        ['long enough']
        """
        from sojourn.result.warmup import warm_ups

        return warm_ups(self)

    @takes(requirements=optional(named_texts), file=optional(path))
    def qoo(
        self, requirements: Mapping[str, str] | None = None, file: str | Path | None = None
    ) -> pl.DataFrame:
        """Quality of Outcome of each class with requirements, in each run: draft-ietf-ippm-qoo.

        Columns qdisc, plant, seed, class (null in a scenario with one), requirements, the scores `latency`,
        `loss` and `throughput`, and `qoo`, the least of them: 0 unacceptable, 100 optimal. By default classes
        have the requirement set of their application (``call``: voip, ``game`` and ``web``), and others no
        row; `requirements` names the set of each class instead, and `file` is a TOML file of other sets, in
        the form of ``sojourn/result/requirements.toml``. Scores that were not measured are null. Raises
        `InputError` for an unknown class or set, and for a file of another form.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("home/game", {"duration": "12 s", "warmup": "2 s"}))
        >>> result.qoo()["requirements"].to_list()
        ['game']
        """
        from sojourn.result import qoo

        return qoo.table(self, requirements, file)

    def agreement(
        self, other: Result | None = None, tolerance: str | float = "5%", metrics: Sequence[str] = ()
    ) -> Agreement:
        """Whether this result and another agree within a tolerance; without `other` its first two plants.

        Variants of the same qdisc and plant are compared at the first link: each metric's means over the
        seeds by two one-sided tests, seed by seed where both have the same seeds, with bounds that are the
        share `tolerance` of this result's mean; and the share of time that the backlog is above this one's
        median, within `tolerance` of all time. Of the backlogs of one seed the alignment by dynamic time
        warping stands beside that. `metrics` replaces those of the usual table. Raises `InputError`.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> result = sj.run(sc, "pi", seeds=[1, 2])
        >>> result.agreement(result, "1%", ["utilization"]).metrics["verdict"].to_list()
        ['agrees']
        """
        from sojourn.result.equivalence import compare, share_of

        return compare(self, other, share_of(tolerance), metrics)

    @takes(cost=flag)
    def to_json(self, *, cost: bool = False) -> str:
        """The result as one JSON document; `cost` adds the cost of each run on this machine.

        >>> import json
        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> list(json.loads(sj.run(sc).to_json()))
        ['schema', 'scenario', 'runs', 'summary']
        """
        document = {
            "schema": SCHEMA,
            "scenario": self.scenario,
            "runs": [row.document(cost=cost) for row in self.runs],
            "summary": _summary_rows(self.runs),
        }
        if len(self.windows):
            from sojourn.result import windows

            document["windows"] = windows.documents(self.windows)
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @takes(folder=path, packets=optional(path))
    def to_flent(self, folder: str | Path, packets: str | Path | None = None) -> list[Path]:
        """Write a data file of Flent (``.flent.gz``, version 4) for each run into a folder; their paths.

        It begins where the warm-up ends: goodputs of bulk flows in steps of 0.2 s, and pings. The test is
        ``tcp_nup`` or ``tcp_ndown`` for bulk flows one way, ``rrul_be`` for ``app = "rrul"``, and else
        ``rrul_be_nflows``. Pings are those of the classes with ``app = "ping"``; without one, where all
        packets wait in one queue, what a ping would find there. `packets` is the ``packets.parquet`` of a
        record of the links, by which pings are exact and flows have goodputs of their own; without it flows
        of a class share its goodput equally. ``record="flent"`` of `sojourn.run` does both.

        Files of the same names are replaced. Raises `InputError` if no test of Flent is like the scenario,
        and `NotWritten`.

        >>> import tempfile
        >>> import sojourn as sj
        >>> result = sj.run(sj.load("dumbbell", {"duration": "41 s"}), "pi")
        >>> with tempfile.TemporaryDirectory() as place:
        ...     [file.name for file in result.to_flent(place)]
        ['tcp_nup.pi.seed1.flent.gz']
        """
        from sojourn.flent.writing import write_all

        return write_all(self, Path(folder), None if packets is None else Path(packets))

    @takes(folder=path)
    def write(self, folder: str | Path) -> Path:
        """Write the result folder, whole or not at all; an earlier result there is replaced.

        If the earlier result had its report in the folder, a new report is written too, with the same
        baseline if the result has that qdisc. Raises `InputError` if the folder holds anything else, and
        `NotWritten`, with the actual place of the runs, if it cannot be written or has changed meanwhile.

        >>> import tempfile
        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> with tempfile.TemporaryDirectory() as place:
        ...     sorted(file.name for file in sj.run(sc).write(f"{place}/first").iterdir())
        ['distributions.parquet', 'provenance.json', 'result.json', 'series.parquet']
        """
        from sojourn.result import folder as folders

        return folders.renew(self, folders.claim(Path(folder)))

    @classmethod
    @takes(folder=path)
    def read(cls, folder: str | Path) -> Result:
        """Read a result folder. Raises `InputError` with one line if it is not whole.

        >>> import tempfile
        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> with tempfile.TemporaryDirectory() as place:
        ...     folder = sj.run(sc, seeds=[7]).write(f"{place}/first")
        ...     sj.Result.read(folder).seeds
        [7]
        """
        from sojourn.result import folder as folders

        return folders.read(Path(folder))

    @property
    def plot(self) -> Plots:
        """Pictures of this result: ``result.plot.queue()`` gives a Matplotlib axes.

        With several links they show the first, ``result.for_link("r2-r3").plot.queue()`` another. Classes of
        traffic are shown wherever their data go.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).plot.queue().get_xlabel()
        'time, s'
        """
        from sojourn.plot import Plots

        if len(self.links) < 2:
            return Plots(self)
        return Plots(self._among([self.links[0], None]), everywhere=self)

    @takes(path=path, baseline=optional(text))
    def report(self, path: str | Path, *, baseline: str | None = None) -> Path:
        """Write the report: one self-contained HTML page. Returns its path.

        Differences are taken to `baseline`, a qdisc of the result; the first one by default.

        >>> import tempfile
        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> with tempfile.TemporaryDirectory() as place:
        ...     sj.run(sc).report(f"{place}/page.html").name
        'page.html'
        """
        from sojourn import report

        return report.write(self, Path(path), self.baseline(baseline))


def _listed(names: list[str]) -> str:
    """List names, such as ``a or b``; of many the first ones."""
    more = f" or {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return " or ".join(names[:MOST_NAMES]) + more


#: Most names that an error lists.
MOST_NAMES = 20


def _summary_rows(rows: tuple[Row, ...]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str, str | None, str | None, str | None], list[Row]] = {}
    for row in rows:
        place_of_row = (row.plant, row.qdisc, row.link, row.traffic_class, row.queue)
        groups.setdefault(place_of_row, []).append(row)
    found: list[dict[str, Any]] = []
    for (plant, qdisc, link, traffic_class, queue), group in groups.items():
        columns: dict[str, list[float]] = {}
        for row in group:
            for name, value in _scalars(row.metrics):
                columns.setdefault(name, []).append(value)
        place: dict[str, Any] = {"plant": plant, "qdisc": qdisc, "link": link}
        if traffic_class is not None:
            place["class"] = traffic_class
        if queue is not None:
            place["queue"] = queue
        for name, values in columns.items():
            if "[" in name and len(values) < len(group):
                continue
            interval = estimate(values)
            found.append(
                place
                | {
                    "metric": name,
                    "n": interval.n,
                    "mean": interval.mean,
                    "ci95_low": interval.low,
                    "ci95_high": interval.high,
                }
            )
    return found


def _scalars(metrics: dict[str, Metric]) -> list[tuple[str, float]]:
    """The numbers among the metrics; the entries of a list by their index."""
    found: list[tuple[str, float]] = []
    for name, value in metrics.items():
        if isinstance(value, list):
            found += [(f"{name}[{place}]", float(one)) for place, one in enumerate(value) if one is not None]
        elif value is not None:
            found.append((name, float(value)))
    return found
