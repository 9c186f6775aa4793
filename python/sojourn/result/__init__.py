"""Results: what runs measured, as named records that are read without Sojourn."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from sojourn.errors import InputError
from sojourn.kinds import flag, optional, path, takes, text
from sojourn.result.statistics import estimate

if TYPE_CHECKING:
    from sojourn.plot import Plots

__all__ = ["SCHEMA", "SEEDLESS", "Arm", "Result", "Run"]

#: The schema number written into result.json; every earlier one is read too.
SCHEMA = 1

#: The plants without randomness: a disc has one run there, under the lowest seed that was asked for.
SEEDLESS = ("fluid",)

Metric = float | list[float | None] | None


@dataclass(frozen=True)
class Arm:
    """A disc in a plant: what a result compares, as a trial does its arms. Its runs differ by seed alone."""

    disc: str
    plant: str

    @property
    def seeded(self) -> bool:
        """Whether its runs differ at all: a plant without randomness has one run, and no interval.

        >>> Arm("pi", "fluid").seeded
        False
        """
        return self.plant not in SEEDLESS

    def run_told(self, seed: int) -> str:
        """One of its runs as a fault names it.

        >>> Arm("pi", "packet").run_told(3)
        'pi, seed 3'
        """
        return f"{self.disc}, {f'seed {seed}' if self.seeded else f'{self.plant} plant'}"


@dataclass(frozen=True)
class Run:
    """One run: a scenario in one plant with one disc and one seed, seen at one link.

    It is about all traffic of the link, or about that of one class: `traffic_class` names it. A class whose
    data cross no link with a disc has a row without a link: what its flows got, and nothing of a queue.
    """

    plant: str
    disc: str
    seed: int
    link: str | None
    #: Metric name -> number, list of numbers (one for each change), or None where it does not apply.
    metrics: dict[str, Metric]
    #: Packets offered, delivered, dropped and held at the end, over the whole run; empty without a link.
    conservation: dict[str, int]
    #: What the run cost on this machine; not a function of scenario and seed.
    #: Of a run that is seen at several links or class by class, the first row has it.
    cost: dict[str, float | int | None] = field(default_factory=dict, compare=False)
    #: The class whose packets and flows it is about; None: all traffic of the link.
    traffic_class: str | None = None
    #: The link's own disc, where `disc` names those of several links.
    disc_here: str | None = None

    @takes(cost=flag)
    def document(self, *, cost: bool) -> dict[str, Any]:
        """The run as it stands in result.json, with its cost where asked for."""
        row = {
            "plant": self.plant,
            "disc": self.disc,
            "seed": self.seed,
            "link": self.link,
            **({} if self.traffic_class is None else {"class": self.traffic_class}),
            **({} if self.disc_here is None else {"disc_here": self.disc_here}),
            "metrics": self.metrics,
            "conservation": self.conservation,
        }
        return row | {"cost": self.cost} if cost and self.cost else row


@dataclass(frozen=True)
class Result:
    """The runs of one scenario, ordered by disc and plant (as given) and seed.

    Each run has a row in `runs` for every link that has a disc, and where the scenario has several classes of
    traffic, one for every class whose data cross the link; a class whose data cross none has a row without a
    link. `seen` gives one row a run. `series` has the
    columns time (s), plant, link, disc, seed, name, value: every sampled quantity over steps of a fixed
    length, each at its end, null where nothing happened. `distributions` has plant, link, disc, seed, name,
    value, cumulative (0..1). Texts in both are of the type `polars.Enum`. `provenance` says where, when and
    by which command the result was made.
    """

    scenario: dict[str, Any]
    runs: tuple[Run, ...]
    series: pl.DataFrame
    distributions: pl.DataFrame
    provenance: dict[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """The title and a line for each disc."""
        from sojourn.result.words import QUEUE, SOJOURN, UTILIZATION, arm_at, cell, fitted, views

        count = self.run_count
        lines = [f"Result: {self.title}; {count} run{'' if count == 1 else 's'}"]
        for link, view in views(self):
            if link is None:
                continue
            columns = [fitted(view, column) for column in (UTILIZATION, QUEUE, SOJOURN)]
            place = f"{link}, " if len(self.links) > 1 else ""
            for arm in view.arms:
                told = [(column, cell(view, arm, column)) for column in columns]
                facts = (f"{column.short} {text} {column.unit}" for column, text in told if text)
                name = f"{place}{arm_at(view, arm, link)}"
                lines.append(f"  {name}: {', '.join(facts) or 'nothing was measured'}")
        return "\n".join(lines)

    @property
    def discs(self) -> list[str]:
        """The discs, in the order in which they were given.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc, discs=["tail_drop", "pi"]).discs
        ['tail_drop', 'pi']
        """
        return list(dict.fromkeys(run.disc for run in self.runs))

    @property
    def plants(self) -> list[str]:
        """The plants, in the order in which they were given.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).plants
        ['packet']
        """
        return list(dict.fromkeys(arm.plant for arm in self.arms))

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """Each disc in each plant, in the order of the runs: what tables, pictures and pages compare.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).arms
        (Arm(disc='pi:target=100 packets', plant='packet'),)
        """
        return tuple(Arm(*one) for one in dict.fromkeys((run.disc, run.plant) for run in self.runs))

    @property
    def seeds(self) -> list[int]:
        """The seeds, in order.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc, seeds=[3, 1]).seeds
        [1, 3]
        """
        return sorted({run.seed for run in self.runs})

    @property
    def links(self) -> list[str]:
        """The links that were watched: those that have a disc, first those that data cross.

        Otherwise they stand in the order of the scenario.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).links
        ['bottleneck']
        """
        return list(dict.fromkeys(run.link for run in self.runs if run.link is not None))

    @property
    def places(self) -> list[str | None]:
        """Where rows are: the links, and last, where there are any, None for classes that cross no disc.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).places
        ['bottleneck']
        """
        return [*self.links, *([None] if any(run.link is None for run in self.runs) else [])]

    @property
    def classes(self) -> list[str]:
        """The classes of traffic, in the order of the scenario; none where it has only one.

        >>> import sojourn as sj
        >>> sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"})).classes
        ['bulk', 'bulk2']
        """
        names = (run.traffic_class for run in self.runs)
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def run_count(self) -> int:
        """How many runs there were, each seen at every link.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"}), seeds=[1, 2]).run_count
        2
        """
        return len({(run.plant, run.disc, run.seed) for run in self.runs})

    @takes(link=optional(text), traffic_class=optional(text))
    def seen(self, link: str | None = None, traffic_class: str | None = None) -> tuple[Run, ...]:
        """One row a run: of all traffic at a link, or of one class.

        Where no link is named, it is the first one; of a class the first one that its data cross, and where
        they cross none, its row without a link. A run in which the class's data do not cross the link has
        none. Raises `InputError` for a link that was not watched and for a class that is not there.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> [run.traffic_class for run in result.seen(traffic_class="bulk2")]
        ['bulk2']
        """
        if traffic_class is not None:
            self.check_class(traffic_class)
        if link is None:
            return self._first_rows.get(traffic_class, ())
        self.check_link(link)
        return self._rows.get((link, traffic_class), ())

    @cached_property
    def _rows(self) -> dict[tuple[str | None, str | None], tuple[Run, ...]]:
        """The rows by link and class, each in the order of `runs`."""
        found: dict[tuple[str | None, str | None], list[Run]] = {}
        for run in self.runs:
            found.setdefault((run.link, run.traffic_class), []).append(run)
        return {place: tuple(rows) for place, rows in found.items()}

    @cached_property
    def _first_rows(self) -> dict[str | None, tuple[Run, ...]]:
        """The rows of each class, and of all traffic, at the first link that has any."""
        found: dict[str | None, tuple[Run, ...]] = {}
        for (_, traffic_class), rows in self._rows.items():
            found.setdefault(traffic_class, rows)
        return found

    @takes(link=optional(text))
    def at(self, link: str | None) -> Result:
        """What was seen at one link alone, of all traffic and class by class.

        None: the classes whose data cross no link with a disc. Raises `InputError` when no link of that name
        was watched.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc).at("bottleneck").plot.queue().get_ylabel()
        'queue, packets'
        """
        if link is not None:
            self.check_link(link)
        if all(run.link == link for run in self.runs):
            return self
        return self._among([link])

    def _among(self, links: list[str | None]) -> Result:
        """What was seen at some links alone."""
        seen = pl.col("link").is_in([link for link in links if link is not None])
        if None in links:
            seen |= pl.col("link").is_null()
        return replace(
            self,
            runs=tuple(run for run in self.runs if run.link in links),
            series=self.series.filter(seen),
            distributions=self.distributions.filter(seen),
        )

    @takes(plant=text)
    def within(self, plant: str) -> Result:
        """What ran in one plant alone. Raises `InputError` when nothing ran in a plant of that name.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).within("packet").run_count
        1
        """
        self.check_plant(plant)
        if len(self.plants) == 1:
            return self
        return replace(
            self,
            runs=tuple(run for run in self.runs if run.plant == plant),
            series=self.series.filter(pl.col("plant") == plant),
            distributions=self.distributions.filter(pl.col("plant") == plant),
        )

    @takes(name=text)
    def check_plant(self, name: str) -> None:
        """Raise `InputError` for a plant in which nothing ran.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).check_plant("packet")
        """
        if all(arm.plant != name for arm in self.arms):
            raise InputError(f'plant: "{name}" is not a plant here; legal: {_legal(self.plants)}')

    @takes(name=text)
    def check_link(self, name: str) -> None:
        """Raise `InputError` for a link that was not watched.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).check_link("bottleneck")
        """
        if name not in self._watched:
            raise InputError(f'link: "{name}" was not watched; legal: {_legal(self.links)}')

    @takes(name=text)
    def check_class(self, name: str) -> None:
        """Raise `InputError` for a class of traffic that is not there.

        >>> import sojourn as sj
        >>> result = sj.run(sj.load("transports/cubic_newreno", {"duration": "2 s", "warmup": "1 s"}))
        >>> result.check_class("bulk2")
        """
        if name not in self._first_rows:
            told = f"legal: {_legal(self.classes)}" if self.classes else "the scenario has only one"
            raise InputError(f'class: "{name}" is no class of traffic here; {told}')

    @takes(name=text)
    def check_metric(self, name: str) -> None:
        """Raise `InputError` for what is no metric; an older result may lack one, which then does not apply.

        >>> import sojourn as sj
        >>> sj.run(sj.load("dumbbell", {"duration": "41 s"})).check_metric("jain_index")
        """
        from sojourn.result.words import ALL_COLUMNS

        if name not in self._metrics and all(column.metric != name for column in ALL_COLUMNS):
            near = difflib.get_close_matches(name, self._metrics, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise InputError(f"metric: \"{name}\" is none{hint}; legal: what 'sojourn list metrics' prints")

    @cached_property
    def _discs(self) -> set[str]:
        return set(self.discs)

    @cached_property
    def _watched(self) -> set[str]:
        return set(self.links)

    @cached_property
    def _metrics(self) -> dict[str, None]:
        """The names of all metrics, in order."""
        return dict.fromkeys(name for run in self.runs for name in run.metrics)

    @takes(named=optional(text))
    def baseline(self, named: str | None = None) -> str:
        """The disc that the others are compared with: the one that is named, else the first.

        A law's name is enough where only one disc has that law. Raises `InputError` when there is none.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> sj.run(sc, discs=["tail_drop", "pi:target=50packets"]).baseline("pi")
        'pi:target=50 packets'
        """
        if named is None:
            return self.discs[0]
        found = [disc for disc in self.discs if named in (disc, disc.partition(":")[0])]
        if named in found:
            return named
        if len(found) != 1:
            raise InputError(f'--baseline: "{named}" is not a disc here; legal: {" or ".join(self.discs)}')
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
        disc=text,
        metric=text,
        link=optional(text),
        traffic_class=optional(text),
        plant=optional(text),
    )
    def values(
        self,
        disc: str,
        metric: str,
        link: str | None = None,
        traffic_class: str | None = None,
        *,
        plant: str | None = None,
    ) -> dict[int, float]:
        """The metric of every seed in which it applies: seed -> value, in the metric's own unit.

        It is that of all traffic or of one class, at `link` or, where none is named, where `seen` looks; in
        `plant` or, where none is named, in the first one. Raises `InputError` for a disc, a metric, a link, a
        class or a plant that is not there.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> used = sj.run(sc, "pi", seeds=[1, 2]).values("pi", "utilization")
        >>> {seed: round(value, 2) for seed, value in used.items()}
        {1: 1.0, 2: 1.0}
        """
        if disc not in self._discs:
            raise InputError(f'disc: "{disc}" is not a disc here; legal: {_legal(self.discs)}')
        self.check_metric(metric)
        if plant is None:
            plant = self.arms[0].plant
        else:
            self.check_plant(plant)
        rows = (run for run in self.seen(link, traffic_class) if (run.disc, run.plant) == (disc, plant))
        found = {run.seed: run.metrics.get(metric) for run in rows}
        return {seed: float(value) for seed, value in found.items() if isinstance(value, int | float)}

    def summary(self) -> pl.DataFrame:
        """Mean and 95 % interval (Student's t) of every metric over the seeds.

        One row for each disc, link, class, metric and plant: `n` seeds, `mean`, `ci95_low`, `ci95_high` in
        the metric's own unit; the interval is null for one seed, the class for all traffic together, and the
        link for a class whose data cross no link with a disc. An
        entry of a list is named ``settling_s[0]``, and is left out unless every seed has it: the mean of
        those that settled would flatter the law. Metrics that are null in every run are left out.

        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> table = sj.run(sc, seeds=[1, 2]).summary()
        >>> table.filter(table["metric"] == "queue_mean_packets")["n"].item()
        2
        """
        kinds = pl.Schema(
            {
                # Of nine columns Polars prints the first four and the last four.
                "disc": pl.String,
                "link": pl.String,
                "class": pl.String,
                "metric": pl.String,
                "plant": pl.String,
                "n": pl.Int64,
                "mean": pl.Float64,
                "ci95_low": pl.Float64,
                "ci95_high": pl.Float64,
            }
        )
        return pl.DataFrame(_summary_rows(self.runs), schema=kinds)

    @takes(cost=flag)
    def to_json(self, *, cost: bool = False) -> str:
        """The result as one JSON document; `cost` adds what each run cost on this machine.

        >>> import json
        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> list(json.loads(sj.run(sc).to_json()))
        ['schema', 'scenario', 'runs', 'summary']
        """
        document = {
            "schema": SCHEMA,
            "scenario": self.scenario,
            "runs": [run.document(cost=cost) for run in self.runs],
            "summary": _summary_rows(self.runs),
        }
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @takes(folder=path)
    def write(self, folder: str | Path) -> Path:
        """Write the result folder, whole or not at all; an earlier result there is replaced.

        Where the earlier result had its report in the folder, the new one gets its own, with the same
        baseline where it has that disc. Raises `InputError` when the folder holds anything else, and
        `NotWritten`, with the place where the runs are kept instead, when it cannot be written or somebody
        else has written there meanwhile.

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
        """Read a result folder. Raises `InputError` with one line when it is not whole.

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

        Of several links they show the first, ``result.at("r2-r3").plot.queue()`` another one. Classes of
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
        """Write the report: one HTML page that needs nothing else. Returns its path.

        Differences are taken to `baseline`, a disc of the result; the first one where none is named.

        >>> import tempfile
        >>> import sojourn as sj
        >>> sc = sj.load("dumbbell", {"duration": "41 s"})
        >>> with tempfile.TemporaryDirectory() as place:
        ...     sj.run(sc).report(f"{place}/page.html").name
        'page.html'
        """
        from sojourn import report

        return report.write(self, Path(path), self.baseline(baseline))


def _legal(names: list[str]) -> str:
    """Such as ``a or b``; of many the first ones."""
    more = f" or {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return " or ".join(names[:MOST_NAMES]) + more


#: A fault tells so many names of what is legal.
MOST_NAMES = 20


def _summary_rows(runs: tuple[Run, ...]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str, str | None, str | None], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.plant, run.disc, run.link, run.traffic_class), []).append(run)
    rows: list[dict[str, Any]] = []
    for (plant, disc, link, traffic_class), group in groups.items():
        columns: dict[str, list[float]] = {}
        for run in group:
            for name, value in _scalars(run.metrics):
                columns.setdefault(name, []).append(value)
        place: dict[str, Any] = {"plant": plant, "disc": disc, "link": link}
        if traffic_class is not None:
            place["class"] = traffic_class
        for name, values in columns.items():
            if "[" in name and len(values) < len(group):
                continue
            found = estimate(values)
            rows.append(
                place
                | {
                    "metric": name,
                    "n": found.n,
                    "mean": found.mean,
                    "ci95_low": found.low,
                    "ci95_high": found.high,
                }
            )
    return rows


def _scalars(metrics: dict[str, Metric]) -> list[tuple[str, float]]:
    """The numbers among the metrics; the entries of a list by their place."""
    found: list[tuple[str, float]] = []
    for name, value in metrics.items():
        if isinstance(value, list):
            found += [(f"{name}[{place}]", float(one)) for place, one in enumerate(value) if one is not None]
        elif value is not None:
            found.append((name, float(value)))
    return found
