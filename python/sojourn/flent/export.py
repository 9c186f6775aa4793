"""Captures of a result: what Flent would have measured at the client, from the end of the warm-up on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from sojourn.errors import InputError
from sojourn.flent.capture import DIRECTIONS, DOWNLOAD, UPLOAD, Capture, Numbers
from sojourn.flent.mapping import Mapped, Traffic, mapped
from sojourn.result import Result, Row, Variant, words

#: Step of the series, s, as far as that of the result allows it: Flent's own default.
STEP_S = 0.2
#: Simulated time has no date: every file begins with the century.
BEGIN = datetime(2000, 1, 1, tzinfo=UTC)
_DATE = "%Y-%m-%dT%H:%M:%S.%fZ"
PING = 'expected [[flows]] with app = "ping", too'


def runs(result: Result) -> list[tuple[Variant, int]]:
    """Variant and seed of each run."""
    found = dict.fromkeys((row.qdisc, row.plant, row.seed) for row in result.runs)
    return [(Variant(qdisc, plant), seed) for qdisc, plant, seed in found]


def capture(result: Result, variant: Variant, seed: int, packets: pl.DataFrame | None = None) -> Capture:
    """The capture of a run. Raises `InputError` if no test of Flent is like the scenario.

    `packets` are those of the run that links have recorded (``packets.parquet``): by them pings are exact and
    flows have goodputs of their own. Without them pings are read off the sampled sojourn times, and flows of
    a class share its goodput equally.
    """
    return _Run(result, mapped(result.scenario), variant, seed, packets).capture()


@dataclass(frozen=True)
class Answers:
    """Answers of a ping: times, s since the begin of the capture, and values."""

    times: Numbers
    values: Numbers

    def within(self, end: float) -> Answers:
        """Those from the begin of the capture to its end."""
        inside = (self.times > 0) & (self.times <= end)
        return Answers(self.times[inside], self.values[inside])


@dataclass(frozen=True)
class _Run:
    """One run of the result, and its test."""

    result: Result
    plan: Mapped
    variant: Variant
    seed: int
    packets: pl.DataFrame | None

    def capture(self) -> Capture:
        """The capture of this run."""
        classes = {UPLOAD: self.plan.uploads, DOWNLOAD: self.plan.downloads}
        flows: dict[str, Numbers] = {}
        for direction, names in self.plan.flow_names.items():
            columns = [column for one in classes[direction] for column in self._flows(one)]
            flows |= dict(zip(names, columns, strict=True))
        answers = dict(zip(self.plan.ping_names, self._pings(), strict=False))
        pings = {name: self._by_step(of) for name, of in answers.items()}
        series = flows | pings | self._computed(flows, pings)
        controls = {
            name: one.cc
            for direction, names in self.plan.flow_names.items()
            for name, one in zip(
                names, [one for one in classes[direction] for _ in range(one.count)], strict=True
            )
        }
        return Capture(
            self._metadata(series, answers, controls),
            [round(float(time), 9) for time in self.times],
            {name: _listed(series[name]) for name in sorted(series)},
            {name: self._raw(name, flows, answers) for name in sorted(series)},
        )

    # ---- Times ---------------------------------------------------------------------------------------

    @cached_property
    def warmup(self) -> float:
        """Begin of the capture, s since the begin of the run."""
        return words.seconds(self.result.scenario.get("warmup")) or 0.0

    @cached_property
    def samples(self) -> tuple[int, int, float]:
        """Samples of the result's series in the capture, those of a step, and their distance, s."""
        every = self._table.select(pl.col("time").unique().sort())["time"].to_numpy()
        apart = float(every[1] - every[0]) if len(every) > 1 else float(every[0])
        count = int((every > self.warmup + apart / 2).sum())
        most = max(1, round(STEP_S / apart))
        return count, next(size for size in range(most, 0, -1) if count % size == 0), apart

    @cached_property
    def step(self) -> float:
        """Length of a step of the capture, s."""
        _, size, apart = self.samples
        return size * apart

    @cached_property
    def times(self) -> Numbers:
        """Ends of the steps, s since the begin of the capture."""
        count, size, _ = self.samples
        return np.asarray(self.step * np.arange(1, count // size + 1), float)

    # ---- Series of the result ------------------------------------------------------------------------

    @cached_property
    def _table(self) -> pl.DataFrame:
        return self.result.series.filter(
            pl.col("qdisc") == self.variant.qdisc,
            pl.col("plant") == self.variant.plant,
            pl.col("seed") == self.seed,
        )

    def _series(self, link: str, name: str) -> Numbers | None:
        """A series after the warm-up, in rows of the samples of a step; None: the result has none."""
        found = self._table.filter(pl.col("link") == link, pl.col("name") == name).sort("time")
        if found.is_empty():
            return None
        count, size, _ = self.samples
        values = found["value"].cast(pl.Float64).to_numpy()[-count:]
        return values.reshape(-1, size)

    def _row(self, traffic: Traffic) -> Row | None:
        """The measurements of a class at the first link that has any; of all traffic if it is alone."""
        name = traffic.name if self.result.classes else None
        rows = self.result.rows(traffic_class=name)
        return next(
            (
                row
                for row in rows
                if (row.qdisc, row.plant, row.seed) == (self.variant.qdisc, self.variant.plant, self.seed)
            ),
            None,
        )

    def _measured(self, ways: Iterable[str]) -> list[str]:
        return [link for link in ways if link in self.result.links]

    # ---- Goodputs ------------------------------------------------------------------------------------

    def _flows(self, traffic: Traffic) -> list[Numbers]:
        """Goodput of each flow of a class over time, Mbit/s; their mean is that of the result."""
        row = self._row(traffic)
        mean = None if row is None else row.metrics.get("goodput_bps")
        if row is None or row.link is None or not isinstance(mean, int | float):
            raise InputError(f"flent: class {traffic.name} crosses no link with a qdisc; expected one")
        shares = self._shares(traffic, row.link)
        course = self._course(traffic, row.link, None if shares is None else np.sum(shares, axis=0))
        whole = course * (mean / 1e6 / course.mean() if course.mean() > 0 else 0.0)
        if shares is None:
            return [whole / traffic.count] * traffic.count
        sent = np.sum(shares, axis=0)
        return [whole * np.where(sent > 0, one / np.maximum(sent, 1), 1 / traffic.count) for one in shares]

    def _course(self, traffic: Traffic, link: str, sent: Numbers | None) -> Numbers:
        """A course over time to which the goodput of a class is proportional."""
        own = self._series(link, f"goodput_bps.{traffic.name}")
        if own is not None:
            return np.asarray(own.mean(axis=1))
        if sent is not None:
            return sent
        # A class that is alone: packets that the qdisc takes, less those that it adds to its backlog.
        offered, dropped, backlog = (
            self._series(link, name) for name in ("offered_packets", "dropped_packets", "queue_packets")
        )
        assert offered is not None
        assert dropped is not None
        assert backlog is not None
        ends = np.concatenate([backlog[:1, 0], backlog[:, -1]])
        return np.asarray(np.maximum(0.0, (offered - dropped).sum(axis=1) - np.diff(ends)))

    def _shares(self, traffic: Traffic, link: str) -> list[Numbers] | None:
        """Bytes of new data of each flow that the link sends in each step; None without a record of it."""
        if self.packets is None or traffic.count == 1:
            return None
        own = self.packets.filter(
            pl.col("link") == link,
            pl.col("class") == traffic.name,
            pl.col("forward"),
            pl.col("fate") == "sent",
            pl.col("payload_bytes") > 0,
        ).unique(["flow", "connection", "seq"], keep="first", maintain_order=True)
        flows = own.partition_by("flow", as_dict=True)
        if len(flows) != traffic.count:
            return None
        edges = self.warmup + np.concatenate([[0.0], self.times])
        return [
            np.histogram(rows["time_s"], edges, weights=rows["payload_bytes"].cast(pl.Float64))[0]
            for _, rows in sorted(flows.items())
        ]

    # ---- Pings ---------------------------------------------------------------------------------------

    def _pings(self) -> list[Answers]:
        """Answers of each ping, ms."""
        if self.plan.pings:
            return [self._ping(one) for one in self.plan.pings]
        bulk = (*self.plan.uploads, *self.plan.downloads)[0]
        links = self._measured((*bulk.forth, *bulk.back))
        if any(self._has_queues(link) for link in links):
            message = f"{self.variant.qdisc} has several queues, and no ping shows the delay of one"
            raise InputError(f"flent: {message}; {PING}")
        row = self._row(bulk)
        assert row is not None
        found = self._sampled(links, None)
        waits = sum(self._at_link(link, "sojourn_mean_s") for link in links)
        return [Answers(found.times, 1e3 * (self._rtt(row) - waits + found.values))]

    def _has_queues(self, link: str) -> bool:
        """True if packets at the link wait in several queues."""
        named = self.result.queues(self.variant.qdisc, link)
        return bool(named) or self._series(link, "active_queues") is not None

    def _ping(self, traffic: Traffic) -> Answers:
        """Answers of a class of one ping: the waits in its queues, and the rest of the result's own times."""
        row = self._row(traffic)
        if row is None:
            raise InputError(f"flent: class {traffic.name} crosses no link with a qdisc; expected one")
        links = self._measured((*traffic.forth, *traffic.back))
        exact = self._recorded(links, traffic.name)
        found = self._sampled(links, traffic.name) if exact is None else exact
        if not len(found.values):
            raise InputError(f"flent: class {traffic.name} has no answer after the warm-up; expected some")
        longest = row.metrics.get("rtt_max_s")
        if exact is not None and isinstance(longest, int | float):
            rest = longest - found.values.max()
        else:
            rest = self._rtt(row) - found.values.mean()
        return Answers(found.times, 1e3 * (rest + found.values))

    def _rtt(self, row: Row) -> float:
        value = row.metrics.get("rtt_mean_s")
        if not isinstance(value, int | float):
            raise InputError("flent: the result has no round-trip times; expected those of a later version")
        return float(value)

    def _at_link(self, link: str, metric: str) -> float:
        values = self.result.values(self.variant.qdisc, metric, link, plant=self.variant.plant)
        return values.get(self.seed, 0.0)

    def _recorded(self, links: Sequence[str], name: str) -> Answers | None:
        """Waits of each answered ping, s, by the record of all links; None without one.

        Back from the last link, a packet is the one that had left the link before it the latest.
        """
        if self.packets is None or set(links) - set(self.packets["link"].unique()):
            return None
        own = self.packets.filter(pl.col("class") == name, pl.col("fate") == "sent").sort("time_s")
        left = [own.filter(pl.col("link") == link) for link in reversed(links)]
        times, waits = left[0]["time_s"].to_numpy(), left[0]["sojourn_s"].to_numpy()
        begun = times - waits
        for one in left[1:]:
            before = one["time_s"].to_numpy()
            places = np.searchsorted(before, begun, side="right") - 1
            times, waits, begun = times[places >= 0], waits[places >= 0], begun[places >= 0]
            places = places[places >= 0]
            own_waits = one["sojourn_s"].to_numpy()[places]
            waits, begun = waits + own_waits, before[places] - own_waits
        return Answers(times - self.warmup, waits).within(self.times[-1])

    def _sampled(self, links: Sequence[str], name: str | None) -> Answers:
        """Waits at the end of each step, s, by the series: in the queue of a class, if it has one.

        Back from the last link, each wait is looked up where the one behind it began.
        """
        times = self.times.copy()
        waits = np.zeros(len(times))
        for link in reversed(links):
            own = None if name is None else self._series(link, f"sojourn_s.{name}")
            rows = self._series(link, "sojourn_s") if own is None else own
            assert rows is not None
            found = self._latest(rows.ravel(), times, none=0.0 if own is None else np.nan)
            waits, times = waits + found, times - np.nan_to_num(found)
        answered = ~np.isnan(waits)
        return Answers(self.times[answered], waits[answered])

    def _latest(self, values: Numbers, times: Numbers, none: float) -> Numbers:
        """The latest sample before each time, s since the begin, of one step; `none` without one."""
        _, size, apart = self.samples
        places = np.clip(np.rint(times / apart).astype(int) - 1, 0, len(values) - 1)
        has = np.flatnonzero(~np.isnan(values))
        if not len(has):
            return np.full(len(times), none)
        latest = has[np.maximum(np.searchsorted(has, places, side="right") - 1, 0)]
        near = (latest <= places) & (places - latest < size)
        return np.where(near, values[latest], none)

    def _by_step(self, answers: Answers) -> Numbers:
        """Mean of the answers in each step; NaN: none."""
        places = np.minimum((answers.times / self.step - 1e-9).astype(int), len(self.times) - 1)
        counts = np.bincount(places, minlength=len(self.times))
        sums = np.bincount(places, weights=answers.values, minlength=len(self.times))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    # ---- What Flent computes, and metadata ------------------------------------------------------------

    def _computed(self, flows: dict[str, Numbers], pings: dict[str, Numbers]) -> dict[str, Numbers]:
        """Sums, means and fairness, as the test has them."""
        found: dict[str, Numbers] = {}
        for direction in DIRECTIONS:
            own = [flows[name] for name in self.plan.flow_names[direction]]
            if not own:
                continue
            table = np.vstack(own)
            found[f"TCP {direction} sum"] = table.sum(axis=0)
            found[f"TCP {direction} avg"] = table.mean(axis=0)
            if self.plan.test in ("tcp_nup", "tcp_ndown"):
                squares = len(own) * (table**2).sum(axis=0)
                found[f"TCP {direction} fairness"] = np.where(
                    squares > 0, table.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1), np.nan
                )
        if self.plan.test.startswith("rrul"):
            found["TCP totals"] = sum((found[f"TCP {one} sum"] for one in DIRECTIONS), np.zeros(1))
            found["Ping (ms) avg"] = _mean(list(pings.values()))
        return found

    def _raw(
        self, name: str, flows: dict[str, Numbers], answers: dict[str, Answers]
    ) -> list[dict[str, float]]:
        """Samples of a series; a computed one has none."""
        begin = BEGIN.timestamp()
        if name in flows:
            span = round(self.step, 9)
            return [
                {"t": round(begin + float(time), 6), "val": round(float(value), 6), "dur": span}
                for time, value in zip(self.times, flows[name], strict=True)
            ]
        if name not in answers:
            return []
        pairs = zip(answers[name].times, answers[name].values, strict=True)
        return [
            {"t": round(begin + float(time), 6), "val": round(float(value), 6), "seq": place}
            for place, (time, value) in enumerate(pairs)
        ]

    def _metadata(
        self, series: dict[str, Numbers], answers: dict[str, Answers], controls: dict[str, str | None]
    ) -> dict[str, Any]:
        """The metadata that Flent's own files have; what a simulation has not is null."""
        from sojourn.flent.writing import FLENT_VERSION

        length = float(self.times[-1])
        link = self._measured((*self.plan.uploads, *self.plan.downloads)[0].forth)[0]
        egress = {"iface": link, "qdiscs": [_qdisc(self.variant.qdisc)], "link_params": {}}
        none = ("BATCH_NAME", "BATCH_TIME", "BATCH_TITLE", "BATCH_UUID", "DATA_FILENAME")
        machine = ("KERNEL_NAME", "KERNEL_RELEASE", "HTTP_GETTER_DNS", "HTTP_GETTER_URLLIST")
        return {
            **dict.fromkeys((*none, *machine)),
            "EGRESS_INFO": egress | dict.fromkeys(("bql", "classes", "driver", "offloads")),
            "FAILED_RUNNERS": 0,
            "FLENT_VERSION": FLENT_VERSION,
            "HOST": self.plan.server,
            "HOSTS": [self.plan.server],
            "HTTP_GETTER_WORKERS": 4,
            "IP_VERSION": 4,
            "LENGTH": round(length, 9),
            "LOCAL_HOST": self.plan.client,
            "MODULE_VERSIONS": {},
            "NAME": self.plan.test,
            "NOTE": self._note(),
            "REMOTE_METADATA": {},
            "SERIES_META": {
                name: _about(
                    place, name, answers[name].values if name in answers else values, controls.get(name)
                )
                for place, (name, values) in enumerate(series.items())
            },
            "STEP_SIZE": round(self.step, 9),
            "SYSCTLS": {},
            "T0": BEGIN.strftime(_DATE),
            "TEST_PARAMETERS": self.plan.parameters,
            "TIME": BEGIN.strftime(_DATE),
            "TITLE": f"{self.variant.qdisc}, {self.variant.plant}, seed {self.seed}",
            "TOTAL_LENGTH": round(length, 9),
        }

    def _note(self) -> str:
        origin = (self.result.provenance.get("versions") or {}).get("sojourn")
        begun = f"It begins {self.warmup:g} s into the run, after the warm-up."
        flows = "Flows of a class have equal shares of its goodput. "
        split = flows if self._is_split() else ""
        program = f"Sojourn {origin}" if origin else "Sojourn"
        return f"{self.result.title} {program}, plant {self.variant.plant}. {split}{begun}"

    def _is_split(self) -> bool:
        """True if flows of a class have equal shares of its goodput."""
        several = any(one.count > 1 for one in (*self.plan.uploads, *self.plan.downloads))
        return several and self.packets is None


def _about(place: int, name: str, values: Numbers, control: str | None) -> dict[str, Any]:
    """Metadata of a series."""
    is_ping = name.startswith("Ping")
    kept = values[~np.isnan(values)]
    kind = {"sum": "SumRunner", "totals": "SumRunner", "avg": "AverageRunner", "fairness": "FairnessRunner"}
    runner = kind.get(name.rsplit(" ", 1)[-1])
    about: dict[str, Any] = {"IDX": place, "UNITS": "ms" if is_ping else "Mbits/s"}
    about["MEAN_VALUE"] = round(float(kept.mean()), 6) if len(kept) else None
    if runner is not None:
        return about | {"RUNNER": runner, "COMPUTED_LATE": False}
    if not is_ping:
        return about | {"RUNNER": "NetperfDemoRunner", **({"CONG_CONTROL": control} if control else {})}
    ends = {"MIN_VALUE": round(float(kept.min()), 6), "MAX_VALUE": round(float(kept.max()), 6)}
    return about | {"RUNNER": "PingRunner" if name.endswith("ICMP") else "IrttRunner"} | ends


def _qdisc(label: str) -> dict[str, Any]:
    name, _, parameters = label.partition(":")
    return {"name": name, "id": "0:", "parent": "root", "params": {"spec": parameters} if parameters else {}}


def _mean(columns: Sequence[Numbers]) -> Numbers:
    """Mean of columns, of those that have a value; NaN where none has."""
    table = np.vstack(columns)
    counts = (~np.isnan(table)).sum(axis=0)
    return np.where(counts > 0, np.nansum(table, axis=0) / np.maximum(counts, 1), np.nan)


def _listed(values: Numbers) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 6) for value in values]
