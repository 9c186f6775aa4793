"""Records of runs, on request: captures of links, tables of packets, connections and gauges, logs of flows.

A record is streamed into a file of its own while its run goes on; a run that does not finish leaves none.
Rows of tables are then put together, those of all runs in one Parquet file for each kind.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sojourn import _core
from sojourn.errors import InputError, refusal
from sojourn.files import part_of_name
from sojourn.kinds import shown
from sojourn.scenario import Scenario, ScenarioError

#: Kinds of records, with their subject and content.
KINDS = {
    "pcap": ("LINK", "packets that the link sends, and those that its other direction brings"),
    "arrivals": ("LINK", "the same in front of its qdisc, dropped packets too"),
    "packets": ("LINK", "a row for each packet that leaves the queue of the link"),
    "flows": ("", "a row for each connection"),
    "gauges": ("FLOW", "a row for each change of the window, RTT and pacing rate of a flow"),
    "qlog": ("FLOW", "segments and metrics at the sender of a flow"),
    "flent": ("", "a data file of Flent for each run"),
    "trace": ("", "the calls of the first qdisc and its answers, of a live run"),
}
#: A data file of Flent is made of the packets of these links, once all runs have ended.
FLENT = "flent"
#: The kind of a live run; the others are of runs of the packet plant.
LIVE = "trace"
#: Suffixes of the files of a run.
_SUFFIXES = {"pcap": "pcapng", "arrivals": "pcapng", "qlog": "sqlog", LIVE: "jsonl"}
#: Kinds with a table, whose rows are in files with this suffix until all runs have ended.
TABLES = ("packets", "flows", "gauges")
_ROWS = "rows"
#: Rows read at a time: memory does not grow with their number.
_AT_ONCE = 250_000

_WORD, _LONG, _SHORT, _BYTE, _REAL = "<u4", "<u8", "<u2", "u1", "<f8"
#: Rows as crates/sim/src/record/rows.rs writes them.
_PACKET = np.dtype(
    [
        *((name, _LONG) for name in ("time", "sojourn", "seq", "ack")),
        *((name, _WORD) for name in ("flow", "class")),
        *((name, _SHORT) for name in ("connection", "size", "payload", "flags")),
        *((name, _BYTE) for name in ("kind", "forward", "ecn", "fate", "again")),
        ("", _BYTE, 3),
    ]
)
_COUNTS = (
    "packets",
    "bytes",
    "retransmitted",
    "retransmitted_bytes",
    "acked_bytes",
    "acks",
    "echoes",
    "timers",
)
_FLOW = np.dtype(
    [
        *((name, _WORD) for name in ("flow", "class")),
        *((name, _LONG) for name in ("connection", "first", "last", *_COUNTS)),
    ]
)
_GAUGE = np.dtype(
    [
        ("time", _LONG),
        *(
            (name, _REAL)
            for name in ("cwnd_bytes", "ssthresh_bytes", "flight_bytes", "srtt_s", "rto_s", "pacing_bps")
        ),
    ]
)
#: A record of a run: kind, subject, path.
Record = tuple[str, str, Path]


class NoTable(Exception):
    """A table of records could not be written: its kind, and why."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(
            f"the table of {kind} cannot be written ({why}); its rows are kept in files *.{_ROWS}"
        )


@dataclass(frozen=True)
class Request:
    """A record to make of each run: its kind, and its subject."""

    kind: str
    subject: str

    @classmethod
    def read(cls, text: str) -> Request:
        """Read a text such as ``"pcap=bottleneck"``. Raises `InputError`.

        >>> Request.read("pcap=bottleneck")
        Request(kind='pcap', subject='bottleneck')
        """
        kind, equals, subject = (part.strip() for part in text.partition("="))
        if kind not in KINDS:
            forms = ", ".join(
                f"{name}={subject}" if subject else name for name, (subject, _) in KINDS.items()
            )
            raise InputError(f'"{text}" is no record; expected {forms}')
        if not KINDS[kind][0]:
            if equals:
                raise InputError(f'"{text}" names "{subject}"; expected {kind} alone')
            return cls(kind, "")
        if not equals or not subject:
            raise InputError(f'"{text}" names no {KINDS[kind][0]}; expected {kind}={KINDS[kind][0]}')
        return cls(kind, subject)


@dataclass(frozen=True)
class Recording:
    """Records of each run, and the folder for their files; `flent_links` have the packets of Flent's."""

    requests: tuple[Request, ...]
    folder: Path
    flent_links: tuple[str, ...] = ()

    @property
    def makes_flent(self) -> bool:
        """True if each run has a data file of Flent."""
        return any(one.kind == FLENT for one in self.requests)

    def of_run(self, qdisc: str, seed: int, *, live: bool = False) -> tuple[Record, ...]:
        """The records of a run, live or not, under the qdisc of this name among `files.parts_of_names`.

        >>> one = Recording((Request("pcap", "bottleneck"),), Path("out"))
        >>> [path.name for _, _, path in one.of_run("pi", 7)]
        ['bottleneck.pi.seed7.pcapng']
        """
        run = f"{qdisc}.seed{seed}"
        kinds = [one for one in self.requests if one.kind != FLENT and (one.kind == LIVE) == live]
        own = ((one.kind, one.subject, self._path(one, run)) for one in kinds)
        hidden = (
            (FLENT, link, self.folder / f"{part_of_name(link)}.{FLENT}.{run}.{_ROWS}")
            for link in self.flent_links
            if not live
        )
        return (*own, *hidden)

    def _path(self, request: Request, run: str) -> Path:
        stem = part_of_name(request.subject) if request.kind in ("pcap", "qlog") else _file(request)
        return self.folder / f"{stem}.{run}.{_SUFFIXES.get(request.kind, _ROWS)}"

    def names(self, runs: Iterable[Iterable[Record]]) -> set[str]:
        """Names of all files that runs with these records leave."""
        made = (*TABLES, FLENT)
        found = {path.name for records in runs for kind, _, path in records if kind not in made}
        return found | {f"{one.kind}.parquet" for one in self.requests if one.kind in TABLES}

    def complete(self, runs: Sequence[Recorded], classes: Sequence[str]) -> None:
        """Put the rows of finished runs together, one table for each kind; their own files are removed.

        `classes` are the names of classes of flows. Of a table that cannot be written the rows stay as they
        were recorded, and the others are written. Raises `NoTable` with the first.
        """
        failed: NoTable | None = None
        for kind in (kind for kind in TABLES if any(one.kind == kind for one in self.requests)):
            path = self.folder / f"{kind}.parquet"
            try:
                frame = pl.io.plugins.register_io_source(_Rows(kind, runs, classes), schema=_schema(kind))
                frame.sink_parquet(path, row_group_size=_AT_ONCE)
            except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                self.discard([(kind, "", path)])
                failed = failed or NoTable(kind, " ".join(str(error).split()))
                continue
            except BaseException:
                self.discard([(kind, "", path)])
                raise
            for one in runs:
                self.discard(record for record in one.records if record[0] == kind)
        if failed is not None:
            raise failed

    @staticmethod
    def discard(records: Iterable[Record]) -> None:
        """Remove the files of a run that did not finish."""
        for *_, path in records:
            with suppress(OSError):
                os.unlink(path)


@dataclass(frozen=True)
class Recorded:
    """The records of a finished run."""

    qdisc: str
    seed: int
    records: tuple[Record, ...]

    def flent_packets(self, classes: Sequence[str]) -> pl.DataFrame | None:
        """The packets that were recorded for its data file of Flent; None: none."""
        found = [
            _table("packets", np.fromfile(path, _PACKET), subject, classes)
            for kind, subject, path in self.records
            if kind == FLENT
        ]
        return pl.concat(found) if found else None


def of_core(records: Sequence[Record]) -> tuple[Record, ...]:
    """Records as the compiled half makes them."""
    return tuple(("packets" if kind == FLENT else kind, subject, path) for kind, subject, path in records)


def _file(request: Request) -> str:
    """Name of a request in names of files."""
    return f"{part_of_name(request.subject)}.{request.kind}" if request.subject else request.kind


# ---- Tables ------------------------------------------------------------------------------------------

_NAMES = {"qdisc": pl.String(), "seed": pl.UInt64()}
_KINDS = pl.Enum(["segment", "request", "datagram", "damaged"])
_ECNS = pl.Enum(["Not-ECT", "ECT(1)", "ECT(0)", "CE"])
_FATES = pl.Enum(["sent", "dropped", "overflow", "ack filter"])
#: Bits of flags in rows; that of ACK makes the acknowledgment number valid.
_FLAGS = {"syn": 1, "fin": 4, "ece": 8, "cwr": 16}
_ACK = 2


_NOTHING = pl.Series([None], dtype=pl.UInt64)


def _schema(kind: str) -> dict[str, pl.DataType]:
    """Columns of a table and their types."""
    if kind == "packets":
        return {
            **_NAMES,
            "link": pl.String(),
            "time_s": pl.Float64(),
            "sojourn_s": pl.Float64(),
            "fate": _FATES,
            "flow": pl.UInt32(),
            "class": pl.String(),
            "connection": pl.UInt16(),
            "kind": _KINDS,
            "forward": pl.Boolean(),
            "size_bytes": pl.UInt16(),
            "payload_bytes": pl.UInt16(),
            "seq": pl.UInt64(),
            "ack": pl.UInt64(),
            **{flag: pl.Boolean() for flag in _FLAGS},
            "ecn": _ECNS,
            "retransmission": pl.Boolean(),
        }
    if kind == "flows":
        times = {"start_s": pl.Float64(), "end_s": pl.Float64()}
        counts = {name: pl.UInt64() for name in _COUNTS}
        return {
            **_NAMES,
            "flow": pl.UInt32(),
            "class": pl.String(),
            "connection": pl.UInt16(),
            **times,
            **counts,
        }
    gauges = {name: pl.Float64() for name in _GAUGE.names or () if name != "time"}
    return {**_NAMES, "flow": pl.String(), "time_s": pl.Float64(), **gauges}


def _table(kind: str, rows: npt.NDArray[np.void], subject: str, classes: Sequence[str]) -> pl.DataFrame:
    """A table of some rows, without the names of their run."""
    if kind == "gauges":
        columns: dict[str, object] = {"flow": pl.repeat(subject, len(rows), eager=True)}
        columns |= {"time_s": rows["time"] * 1e-9}
        columns |= {name: rows[name] for name in _GAUGE.names or () if name != "time"}
        return pl.DataFrame(columns).fill_nan(None)
    names = pl.Series(list(classes), dtype=pl.String)
    flows = {"flow": rows["flow"], "class": names.gather(rows["class"])}
    if kind == "flows":
        times = {"start_s": rows["first"] * 1e-9, "end_s": rows["last"] * 1e-9}
        return pl.DataFrame(
            flows | {"connection": rows["connection"]} | times | {one: rows[one] for one in _COUNTS}
        )
    waited = rows["sojourn"] != np.iinfo(np.uint64).max
    frame = pl.DataFrame(
        {
            "link": pl.repeat(subject, len(rows), eager=True),
            "time_s": rows["time"] * 1e-9,
            "sojourn_s": np.where(waited, rows["sojourn"] * 1e-9, np.nan),
            **flows,
            "connection": rows["connection"],
            "size_bytes": rows["size"],
            "payload_bytes": rows["payload"],
            "seq": rows["seq"],
            "ack": pl.Series(rows["ack"]).zip_with(pl.Series(rows["flags"] & _ACK != 0), _NOTHING),
            **{flag: rows["flags"] & bit != 0 for flag, bit in _FLAGS.items()},
            "forward": rows["forward"] != 0,
            "retransmission": rows["again"] != 0,
            **{
                name: of.categories.gather(rows[name]).cast(of)
                for name, of in (("kind", _KINDS), ("ecn", _ECNS), ("fate", _FATES))
            },
        }
    )
    return frame.with_columns(pl.col("sojourn_s").fill_nan(None))


@dataclass(frozen=True)
class _Rows:
    """A source of Polars: the rows of all runs, some at a time."""

    kind: str
    runs: Sequence[Recorded]
    classes: Sequence[str]

    def __call__(
        self, columns: list[str] | None, predicate: pl.Expr | None, _rows: int | None, _batch: int | None
    ) -> Iterator[pl.DataFrame]:
        schema = _schema(self.kind)
        for frame in self._frames():
            whole = frame.select(pl.col(name).cast(of) for name, of in schema.items())
            chosen = whole if predicate is None else whole.filter(predicate)
            yield chosen if columns is None else chosen.select(columns)

    def _frames(self) -> Iterator[pl.DataFrame]:
        layout = {"packets": _PACKET, "flows": _FLOW, "gauges": _GAUGE}[self.kind]
        for run in self.runs:
            for _, subject, path in (record for record in run.records if record[0] == self.kind):
                with path.open("rb") as file:
                    while read := file.read(_AT_ONCE * layout.itemsize):
                        rows = np.frombuffer(read, layout)
                        frame = _table(self.kind, rows, subject, self.classes)
                        yield frame.with_columns(qdisc=pl.lit(run.qdisc), seed=pl.lit(run.seed, pl.UInt64))


# ---- Requests ----------------------------------------------------------------------------------------


def requests_of(given: Sequence[str] | str, option: str) -> tuple[Request, ...]:
    """Read the requests, each once; `option` precedes errors. Raises `InputError`."""
    texts = [given] if isinstance(given, str) else given
    found: list[Request] = []
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f'{option}: {shown(text)} is no text; expected one such as "pcap=LINK"')
        try:
            request = Request.read(text)
        except InputError as error:
            raise InputError(*(f"{option}: {line}" for line in error.lines)) from None
        if any((one.kind, _file(one)) == (request.kind, _file(request)) for one in found):
            raise InputError(f'{option}: "{text}" is given twice; expected each record once')
        found.append(request)
    return tuple(found)


def check(requests: Sequence[Request], scenario: Scenario, plants: Sequence[str], option: str) -> None:
    """Raise `InputError` for what the scenario does not have, and without a plant that has packets."""
    simulated = [one for one in requests if one.kind not in (LIVE, FLENT)]
    if simulated and "packet" not in plants:
        raise InputError(
            f"{option}: {simulated[0].kind} is of the plant packet alone; expected the plant packet, too"
        )
    if any(one.kind == LIVE for one in requests) and "live" not in plants:
        raise InputError(
            f"{option}: {LIVE} is of the plant live alone; expected --plant live, or sojourn lab"
        )
    try:
        _core.check_records(scenario, [(one.kind, one.subject) for one in simulated])
    except ScenarioError as error:
        raise refusal(error, before=f"{option} ") from None
    document = json.loads(scenario.to_json())
    changed = {key for change in document["at"] for key in change["set"]}
    if len(simulated) < len(requests) and any(".qdisc." in key for key in changed):
        raise InputError(f"{option}: {LIVE}: has no changes of laws; expected a schedule without any")
    for one in requests:
        if KINDS[one.kind][0] == "FLOW":
            _check_number(one, document["flows"], changed, f"{option} {one.kind}")


def _check_number(request: Request, flows: Sequence[dict[str, Any]], changed: set[str], option: str) -> None:
    """Raise `InputError` for a flow beyond the number that its class has throughout the run."""
    name, _, number = request.subject.partition("/")
    place, of = next((place, of) for place, of in enumerate(flows) if of["name"] == name)
    count = of["count"]
    may_grow = of["arrivals"] or of["lifetime"] or {f"{name}.count", f"flows[{place}].count"} & changed
    if isinstance(count, int) and not may_grow and int(number or 0) >= count:
        raise InputError(f'{option}: "{request.subject}" does not exist; expected {_numbers(name, count)}')


def _numbers(name: str, count: int) -> str:
    return f"{name}/0" if count == 1 else f"{name}/0 to {name}/{count - 1}"
