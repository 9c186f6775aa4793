"""Options and arguments of commands, each described once: name, text, help, and the reader of its text."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import typer

from sojourn.errors import InputError
from sojourn.listed import KINDS

if TYPE_CHECKING:
    from sojourn import files
    from sojourn.sweep.until import Until

T = TypeVar("T")

#: Lists of `sojourn list`.
LISTS = (*KINDS, "keys", "scenarios", "campaigns", "papers", "figures")

# Bytes of a scenario searched for its title.
_MOST_BYTES = 10_000_000
# Most seeds of --seeds.
_MOST_SEEDS = 100_000


@dataclass(frozen=True)
class Option(Generic[T]):
    """An option of a command that takes a value, or an argument.

    `names` are its names, the longest last; an argument has none. `metavar` is its text in help. `read` makes
    a value of the text; its errors have the problem and the expected text, and the option precedes them.
    """

    names: tuple[str, ...]
    metavar: str
    read: Callable[[str], T]
    help: str
    is_repeated: bool = False

    @property
    def declared(self) -> Any:
        """The option or argument as typer takes it."""
        if not self.names:
            return typer.Argument(metavar=self.metavar, help=self.help, show_default=False)
        repeated: dict[str, Any] = {"default_factory": list} if self.is_repeated else {}
        return typer.Option(*self.names, metavar=self.metavar, help=self.help, show_default=False, **repeated)

    def __call__(self, text: str) -> T:
        """Read a given text."""
        try:
            return self.read(text)
        except InputError as error:
            name = self.names[-1] if self.names else self.metavar
            raise InputError(*(f"{name}: {line}" for line in error.lines)) from None

    def or_none(self, text: str | None) -> T | None:
        """Read a text that may not be given."""
        return None if text is None else self(text)


@dataclass(frozen=True)
class RunOptions:
    """The options of `sojourn run`."""

    file: str
    qdiscs: tuple[str, ...]
    cc: str | dict[int, str] | None
    overrides: dict[str, str]
    #: Windows of time are those of --window.
    by_window: bool
    seeds: Sequence[int]
    plants: tuple[str, ...]
    jobs: int | None
    place: files.Claim | None
    records: tuple[str, ...]
    #: Format of the tables.
    form: str
    #: All metrics are printed, not those alone that differ.
    all_metrics: bool
    as_json: bool
    quiet: bool
    #: The warm-up that each backlog has is printed.
    warm_up: bool
    command: tuple[str, ...]


def word(text: str) -> str:
    """A text that is a value as it is."""
    return text


# ---- The scenario, and what replaces parts of it -------------------------------------------------

FILE = Option(
    (),
    "FILE",
    word,
    "A scenario file (TOML), or a name from 'sojourn list scenarios'.",
)
CHECKED = Option(
    (),
    "FILE",
    word,
    "A scenario or a grid (TOML), or a name from 'sojourn list scenarios' or 'sojourn list campaigns'.",
)
QDISC = Option(
    ("--qdisc",),
    "SPEC",
    word,
    "A qdisc instead of the scenario's own, at every link that has one: NAME or NAME:KEY=VALUE,KEY=VALUE; "
    "a law in Python: FILE.py:CLASS. LINK=SPEC replaces that link's alone. Repeat the option to compare "
    "several.",
    is_repeated=True,
)


def _control(text: str) -> tuple[int | None, str]:
    """A congestion control, and the place of its group; None: all flows."""
    if not text.lstrip().startswith("flows["):
        return None, text
    group = re.fullmatch(r"\s*flows\[([0-9]{1,6})\]\s*=(.*)", text, flags=re.DOTALL)
    if group is None:
        raise InputError(f'"{text}" names no group of flows; expected flows[0]=SPEC')
    return int(group[1]), group[2].strip()


CC = Option(
    ("--cc",),
    "SPEC",
    _control,
    "A congestion control instead of the scenario's: NAME, NAME:KEY=VALUE,KEY=VALUE or, in Python, "
    "FILE.py:CLASS for all flows; flows[N]=SPEC for one group of them. Repeat it for other groups.",
    is_repeated=True,
)


def controls(given: Sequence[str]) -> str | dict[int, str] | None:
    """Congestion controls of --cc: one for all flows, or by the places of groups."""
    found: dict[int, str] = {}
    for place, spec in map(CC, given):
        if place is None:
            if len(given) > 1:
                times = f"and --cc is given {len(given)} times"
                raise InputError(
                    f'--cc: "{spec}" is for all flows, {times}; expected once, or flows[0]=SPEC each'
                )
            return spec
        if place in found:
            raise InputError(f"--cc: flows[{place}] is given twice; expected each group once")
        found[place] = spec
    return found or None


def _assignment(text: str) -> tuple[str, str]:
    """A key and its value."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise InputError(f'"{text}" has no key or no "="; expected KEY=VALUE such as duration="60 s"')
    return key, value


SET = Option(
    ("--set",),
    "KEY=VALUE",
    _assignment,
    "Change a key of the scenario: a dotted key and a TOML value (a bare word is a string).",
    is_repeated=True,
)


def overrides(given: Sequence[str]) -> dict[str, str]:
    """Keys and values of --set."""
    found: dict[str, str] = {}
    for key, value in map(SET, given):
        if key in found:
            raise InputError(f"--set: {key} is given twice; expected each key once")
        found[key] = value
    return found


WINDOW = Option(
    ("--window",),
    "SPEC",
    word,
    "Metrics of a window of time beside those after the warm-up: '10 s..40 s'; phases, from each change to "
    "the next; run, from 0 s; measured; 'every 1 s'. Repeat the option for several.",
    is_repeated=True,
)


def with_windows(given: dict[str, str], windows: Sequence[str]) -> dict[str, str]:
    """The overrides with the windows of --window."""
    if not windows:
        return given
    if "windows" in given:
        raise InputError("--window: --set windows is given, too; expected one of them")
    return given | {"windows": json.dumps(list(windows), ensure_ascii=False)}


def of_windows(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines of errors that name --window in place of the key that it sets."""
    return tuple(re.sub(r"--set windows(\[\d+\])?: ", "--window: ", line) for line in lines)


# ---- Runs ----------------------------------------------------------------------------------------


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 2**64:
        raise InputError(f'"{text}" is not a seed; expected 0 to {2**64 - 1}')
    return int(text)


def _several_seeds(text: str) -> Sequence[int]:
    """Seeds of a list of numbers and ranges."""
    numbers = [seed for part in text.split(",") for seed in _seed_range(part.strip(), text)]
    if len(numbers) > _MOST_SEEDS:
        raise _too_many(text)
    return numbers


def _seed_range(part: str, text: str) -> Sequence[int]:
    """Seeds of A..B or N, a part of `text`."""
    found = re.fullmatch(r"([0-9]{1,20})(?:\.\.([0-9]{1,20}))?", part)
    if not found:
        raise InputError(f'"{text}" is not a range; expected A..B such as 1..5, or a list such as 1,3,5')
    first, last = int(found[1]), int(found[2] or found[1])
    if last >= 2**64:
        raise InputError(f"{last} is not a seed; expected 0 to {2**64 - 1}")
    if first > last:
        raise InputError(f'"{part}" is empty; expected A..B with A not above B')
    if last - first >= _MOST_SEEDS:
        raise _too_many(text)
    return range(first, last + 1)


def _too_many(text: str) -> InputError:
    return InputError(f'"{text}" is too many; expected at most {_MOST_SEEDS} seeds')


SEED = Option(("--seed",), "N", _seed, "The seed, a whole number from 0 (default: 1).")
COMMAND = Option(("--command",), "TEXT", word, "With --shell: run this command in place of a shell.")
SERVER = Option(
    ("--server",),
    "COMMAND",
    word,
    "With --shell: a server at the other end, in place of netserver, irtt and iperf3 where they are "
    "installed. Repeat it for several.",
)
SHELL = (
    "Open a shell at the senders' end of the links, for programs of your own: the server is 10.90.0.2. The "
    "scenario's flows do not run."
)
SEEDS = Option(
    ("--seeds",),
    "A..B,N",
    _several_seeds,
    "All seeds from A to B, both included, and N: a list such as 1..3,7.",
)


def seeds(single: str | None, several: str | None) -> Sequence[int]:
    """Seeds of --seed and --seeds."""
    if single is not None and several is not None:
        raise InputError("sojourn run: --seed, --seeds: both are given; expected one of them")
    if single is not None:
        return [SEED(single)]
    return [1] if several is None else SEEDS(several)


def _plants(text: str) -> Sequence[str]:
    from sojourn import simulate

    plants = tuple(name.strip() for name in text.split(","))
    simulate.check_plants(plants, "")
    return plants


PLANT = Option(
    ("--plant",),
    "NAMES",
    _plants,
    "The plant: packet (packet by packet), fluid (delay differential equations), live (packets of this "
    "machine's own TCP, in real time), or several, to compare them: fluid,packet (default: packet).",
)

TRACE = Option(
    (),
    "TRACE",
    word,
    "The trace of a live run, which sojourn lab FILE --record trace --out FOLDER has written.",
)
OTHER_QDISC = Option(
    ("--qdisc",),
    "SPEC",
    word,
    "Pass the arrivals through another qdisc, such as codel or fq_codel:quantum=300B, too. Repeat it for "
    "others.",
    is_repeated=True,
)


def _jobs(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise InputError(f'"{text}" is not a number of workers; expected 1 or more')
    return int(text)


JOBS = Option(("--jobs",), "N", _jobs, "Runs at a time (default: one per processor).")
RECORD = Option(
    ("--record",),
    "KIND=NAME",
    word,
    "Record each run of packets in files of --out. pcap=LINK: a capture (pcapng) of what the link sends and "
    "its other direction brings; arrivals=LINK: the same in front of the qdisc. packets=LINK, flows, "
    "gauges=FLOW: tables (Parquet) of packets, connections, and windows over time. qlog=FLOW: a log of its "
    "events. flent: a data file that Flent opens. trace: the calls of the first qdisc of a live run, for "
    "sojourn replay. A FLOW is a class and a number, as bulk/0. Repeat it for others.",
    is_repeated=True,
)


def records(given: Sequence[str], out: object) -> tuple[str, ...]:
    """Records of --record, which are files of --out."""
    if given and out is None:
        raise InputError("--record: no folder for its files is given; expected --out DIR, too")
    return tuple(given)


#: Formats of the tables of `sojourn run`.
FORMATS = ("table", "csv", "markdown", "latex")


def _format(text: str) -> str:
    if text not in FORMATS:
        raise InputError(f'"{text}" is no format; expected {", ".join(FORMATS)}')
    return text


FORMAT = Option(
    ("--format",),
    "NAME",
    _format,
    "Format of the tables: table (the default), markdown, latex (for the package booktabs), or csv: every "
    "metric in its own unit, a row for each qdisc, link, class and queue.",
)
ALL = "All metrics, also those that do not differ and those of no summary."


def form(named: str | None, *, as_json: bool) -> str:
    """The format of --format, which --json excludes."""
    if named is not None and as_json:
        raise InputError("--format, --json: both are given; expected one of them")
    return "table" if named is None else FORMAT(named)


WARM_UP = "Also the warm-up that MSER-5 finds in each backlog, beside the scenario's."


# ---- Results and pages ---------------------------------------------------------------------------


def _folder(text: str) -> Path:
    if not text.strip() or "\0" in text:
        raise InputError(f'"{text}" is not a name; expected a folder, new or with an earlier result')
    return Path(text)


def _page(text: str) -> Path:
    if not text.strip() or "\0" in text:
        raise InputError(f'"{text}" is not a name; expected a file such as page.html')
    return Path(text)


def page(option: Option[Path], text: str | None) -> Path | None:
    """The page of an option, if one is given; an error of its ending begins with its name."""
    named = option.or_none(text)
    if named is not None:
        from sojourn.report import check_name

        check_name(named)
    return named


def _result_folder(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise InputError(
            f"\"{text}\" is not a name; expected a folder that 'sojourn run --out' or 'sweep' wrote"
        )
    return text


#: Endings of a figure's file.
PICTURES = (".pdf", ".svg", ".png")


def _picture(text: str) -> Path:
    if Path(text).suffix.lower() not in PICTURES or "\0" in text:
        raise InputError(f'"{text}" has no ending of a picture; expected {" or ".join(PICTURES)}')
    return Path(text)


def _width(text: str) -> str:
    from sojourn.plot.paper import WIDTHS

    if text not in WIDTHS:
        raise InputError(f'"{text}" is unknown; expected {" or ".join(WIDTHS)}')
    return text


def _style(text: str) -> str:
    from sojourn.plot.paper import STYLES

    if text not in STYLES:
        raise InputError(f'"{text}" is unknown; expected {" or ".join(STYLES)}')
    return text


#: Ending of the name of a data file of Flent.
CAPTURE = ".flent.gz"


def is_capture(name: str) -> bool:
    """True for the name of a data file of Flent."""
    return name.lower().endswith(CAPTURE)


PICTURED = Option(
    (),
    "DIR|FILE",
    _result_folder,
    "A folder that 'sojourn run --out' or 'sojourn sweep' wrote, or the scenario of a certificate.",
)
PICTURED_QDISC = Option(
    ("--qdisc",), "SPEC", word, "The qdisc of the certificate, in place of the scenario's."
)
FIGURE = Option(
    (),
    "FIGURE",
    word,
    "A name from 'sojourn list figures', with arguments as NAME:ARGUMENT=VALUE,ARGUMENT=VALUE.",
)
PICTURE = Option(("-o", "--output"), "FILE", _picture, "The file: .pdf, .svg or .png.")
WIDTH = Option(
    ("--width",),
    "NAME",
    _width,
    "Width in print: column (3.5 inches) or page (7.16 inches), with text of 8 points.",
)
STYLE = Option(("--style",), "NAME", _style, "Style of print: ieee, black text in a font like Times.")
PICTURED_LINK = Option(("--link",), "LINK", word, "The link (default: the first).")
FOLDER = Option(
    (),
    "DIR",
    _result_folder,
    "A folder that 'sojourn run --out' or 'sojourn sweep' wrote; or data files of Flent (.flent.gz).",
)
RESULT = Option(("--out",), "DIR", _folder, "Write a result folder.")
PAGE = Option(
    ("-o", "--output"),
    "FILE.html",
    _page,
    "The page (default: DIR/report.html; of captures beside the first).",
)
BASELINE = Option(
    ("--baseline",), "SPEC", word, "The qdisc that the others are compared with (default: the first)."
)


def _share(text: str) -> float:
    from sojourn.result.equivalence import share_of

    try:
        return share_of(text)
    except InputError as error:
        raise InputError(*(line.partition(": ")[2] for line in error.lines)) from None


LEFT = Option(
    (),
    "A",
    _result_folder,
    "A folder that 'sojourn run --out' wrote, or a data file of Flent (.flent.gz): the reference.",
)
RIGHT = Option(
    (),
    "B",
    _result_folder,
    "Another one, of which the same qdiscs and plants are compared; without it two plants of A.",
)
TOLERANCE = Option(
    ("--tolerance",),
    "SHARE",
    _share,
    "Difference that is allowed: a share of A's mean; of backlogs a share of time (default: 5%).",
)
COMPARED = Option(
    ("--metric",), "NAME", word, "A metric to compare. Repeat it for several.", is_repeated=True
)


def make_room(place: Path) -> None:
    """Create the folders above the page of --output."""
    from sojourn.report import not_written

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise not_written(place, error) from None


# ---- Sweeps --------------------------------------------------------------------------------------


def _engine(text: str) -> str:
    from sojourn.sweep import ENGINES

    if text not in ENGINES:
        raise InputError(f'"{text}" is unknown; expected {", ".join(ENGINES)}')
    return text


GRID = Option(
    (),
    "GRID.toml",
    word,
    "A grid: a scenario, and axes of its parameters (TOML); or one of 'list campaigns'.",
)
GRID_SEEDS = Option(
    ("--seeds",), "A..B,N", _several_seeds, "Seeds of each point in place of the grid's: 1..3,7."
)
SWEEP_PAGE = Option(("--page",), "FILE.html", _page, "Write the page of the sweep.")
STORE = Option(("--out",), "DIR", _folder, "The store (default: the grid's name with .sweep).")
ENGINE = Option(
    ("--engine",), "NAME", _engine, "The engine: local (threads of this process, the default), dask or ray."
)
CLUSTER = Option(
    ("--cluster",), "ADDRESS", word, "A cluster of dask or ray (default: processes of this machine)."
)
REPRODUCED = Option(("--out",), "DIR", _folder, "The folder of runs and pages (default: reproduced).")
CELL_JOBS = Option(("--jobs",), "N", _jobs, "Cells at a time (default: one per processor).")
UNTIL = Option(
    ("--until",), "METRIC=SHARE", word, "Further seeds until a mean is that precise, such as utilization=2%."
)


def _most_seeds(text: str) -> int:
    from sojourn.result.statistics import LEAST_REPLICATIONS
    from sojourn.sweep.until import LIMIT

    if not re.fullmatch(r"[0-9]{1,6}", text) or not LEAST_REPLICATIONS <= int(text) <= LIMIT:
        raise InputError(f'"{text}" is not a number of seeds; expected {LEAST_REPLICATIONS} to {LIMIT}')
    return int(text)


MOST_SEEDS = Option(("--most-seeds",), "N", _most_seeds, "Seeds of a point with --until (default: 100).")


def precision(until: str | None, most_seeds: str | None) -> Until | None:
    """The precision of --until and --most-seeds."""
    from sojourn.sweep.until import read

    most = MOST_SEEDS.or_none(most_seeds)
    if until is None:
        if most is not None:
            raise InputError("--most-seeds: belongs to a precision; expected --until with it")
        return None
    try:
        return read(until, most)
    except InputError as error:
        raise InputError(*(f"--{line}" for line in error.lines)) from None


def on_engine(engine: str, cluster: str | None) -> tuple[str, str | None]:
    """The engine of --engine, and the address of --cluster."""
    chosen, address = ENGINE(engine), CLUSTER.or_none(cluster)
    if address is not None and chosen == "local":
        raise InputError("--cluster: belongs to the engines dask and ray; expected --engine with it")
    return chosen, address


CITED = Option((), "FILE", word, "A scenario, or a folder that 'sojourn run --out' or 'sojourn sweep' wrote.")


PAPERS = Option((), "PAPER...", word, "Names of papers, from 'sojourn list papers', or all.")


def papers(given: Sequence[str]) -> list[str]:
    """Names of papers; ``all`` is each of them. Raises `InputError`."""
    from sojourn.reproduce.paper import names, unknown

    known = names()
    found: list[str] = []
    for name in given:
        if name != "all" and name not in known:
            raise InputError(f"PAPER: {unknown(name, 'all')}")
        found += known if name == "all" else [name]
    return list(dict.fromkeys(found))


# ---- Certificates --------------------------------------------------------------------------------

LINK = Option(("--link",), "NAME", word, "The link, if several have a qdisc.")
CERTIFICATE = Option(("--out",), "DIR", _folder, "Write certificate.json and certificate.html there.")
CERTIFICATE_PAGE = Option(("-o", "--output"), "FILE.html", _page, "Write one self-contained offline page.")


def _axes(text: str) -> str:
    """The axes of a map."""
    if text.replace(" ", "").upper() != "N,R":
        raise InputError(f'"{text}" is not a map; expected N,R')
    return text


def _ends(text: str, read: Callable[[str], float | None], example: str) -> tuple[float, float]:
    """Both ends of a range such as ``10..200``."""
    ends = [read(part.strip()) for part in text.split("..")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or not 0 < ends[0] < ends[1]:
        raise InputError(
            f'"{text}" is no range; expected two values above 0, the smaller first, such as {example}'
        )
    return ends[0], ends[1]


def _flows(text: str) -> tuple[float, float]:
    def number(part: str) -> float | None:
        return float(part) if re.fullmatch(r"[0-9]{1,9}", part) else None

    return _ends(text, number, "10..200")


def _time(text: str) -> float:
    from sojourn.units import quantity

    return quantity("time", text)[0]


def _rtts(text: str) -> tuple[float, float]:
    return _ends(text, _time, "50ms..400ms")


MAP = Option(("--map",), "N,R", _axes, "Also map the stability region over numbers of flows and base RTTs.")
FLOWS = Option(("--flows",), "A..B", _flows, "The map's flows (default: a quarter to four times).")
RTT = Option(("--rtt",), "A..B", _rtts, "The map's base RTTs, such as 50ms..400ms.")

CHECK = (
    "Compare the certificate with the scenario in the fluid and the packet plant: whether the theory holds. "
    "The runs are as long as the slowest pole wants, whatever the duration."
)
CHECK_SEEDS = Option(
    ("--seeds",), "A..B,N", _several_seeds, "Seeds of the packets of --check (default: 1..5)."
)


def _points(text: str) -> int:
    from sojourn.validity.grid import MOST_POINTS

    if not re.fullmatch(r"[0-9]{1,3}", text) or not 2 <= int(text) <= MOST_POINTS:
        raise InputError(f'"{text}" is not a number of points; expected 2 to {MOST_POINTS}')
    return int(text)


def _bisections(text: str) -> int:
    from sojourn.deviations import MOST_ITERATIONS

    if not re.fullmatch(r"[0-9]{1,3}", text) or not 1 <= int(text) <= MOST_ITERATIONS:
        raise InputError(f'"{text}" is not a number of bisections; expected 1 to {MOST_ITERATIONS}')
    return int(text)


DEVIATIONS = (
    "Also large deviations: limit cycles, responses to steps, and from which steps the fluid comes back."
)
BISECTIONS = Option(
    ("--iterations",), "N", _bisections, "Bisections of the largest steps of --deviations (default: 12)."
)


def bisections(deviations: bool, iterations: str | None) -> int | None:
    """Bisections of --deviations; None without it."""
    if not deviations:
        if iterations is not None:
            raise InputError("--iterations: belongs to large deviations; expected --deviations with it")
        return None
    from sojourn.deviations import ITERATIONS

    return ITERATIONS if iterations is None else BISECTIONS(iterations)


POINTS = Option(("--points",), "N", _points, "Points along each axis of the map of --check (default: 6).")


@dataclass(frozen=True)
class CheckOptions:
    """The options of --check as they are given, and True if there is a map."""

    seeds: str | None
    jobs: str | None
    points: str | None
    is_mapped: bool

    def read(self, *, check: bool) -> tuple[Sequence[int] | None, int | None, int | None] | None:
        """Seeds, workers and points; None without --check."""
        given = (("--seeds", self.seeds), ("--jobs", self.jobs), ("--points", self.points))
        for flag, value in given if not check else ():
            if value is not None:
                raise InputError(f"{flag}: belongs to a check; expected --check with it")
        if self.points is not None and not self.is_mapped:
            raise InputError("--points: belongs to a map; expected --map N,R with it")
        if not check:
            return None
        return CHECK_SEEDS.or_none(self.seeds), JOBS.or_none(self.jobs), POINTS.or_none(self.points)


def extent(
    over: str | None, flows: str | None, rtt: str | None
) -> tuple[tuple[float, float] | None, tuple[float, float] | None] | None:
    """Flows and base RTTs (s) of a map; None without a map."""
    if MAP.or_none(over) is None:
        for flag, given in (("--flows", flows), ("--rtt", rtt)):
            if given is not None:
                raise InputError(f"{flag}: belongs to a map; expected --map N,R with it")
        return None
    return FLOWS.or_none(flows), RTT.or_none(rtt)


# ---- Designs ------------------------------------------------------------------------------------


def _one_or_both(text: str, read: Callable[[str], Any], example: str) -> tuple[Any, Any]:
    """A value above 0, or both ends of a range such as ``10..200``; those of unlike units in any order."""
    ends = [read(part.strip()) for part in text.split("..")]
    first, last = ends[0], ends[-1]
    if len(ends) <= 2 and None not in ends:
        (low, unit), (high, other) = (end if isinstance(end, tuple) else (end, "") for end in (first, last))
        if low <= 0:
            raise InputError(f'"{text}" is not above 0; expected such as {example}')
        if unit != other or low <= high:
            return first, last
    raise InputError(
        f'"{text}" is no range; expected one value, or the smaller and the larger, such as {example}'
    )


def _design_flows(text: str) -> tuple[float, float]:
    def number(part: str) -> float | None:
        return float(part) if re.fullmatch(r"[0-9]{1,6}", part) else None

    return _one_or_both(text, number, "50..500")


def _design_rtts(text: str) -> tuple[float, float]:
    return _one_or_both(text, _time, "20ms..250ms")


def _capacities(text: str) -> tuple[tuple[float, bool], tuple[float, bool]]:
    """Rates, each with True if it is in bit/s, False in packets/s."""
    from sojourn.units import quantity

    def rate(part: str) -> tuple[float, bool]:
        value, unit = quantity("rate", part)
        return value, unit == "bit/s"

    return _one_or_both(text, rate, "10Mbit/s or 1250packets/s..12500packets/s")


def _degrees(text: str) -> float:
    found = re.fullmatch(r"([0-9]+\.?[0-9]*) ?(deg)?", text)
    if found is None:
        raise InputError(f'"{text}" is no angle; expected degrees such as 45deg')
    return float(found[1])


def _factor(text: str) -> float:
    if not re.fullmatch(r"[0-9]+\.?[0-9]*", text):
        raise InputError(f'"{text}" is no factor; expected such as 2')
    return float(text)


def _bytes(text: str) -> int:
    from sojourn.units import quantity

    size = float(text) if re.fullmatch(r"[0-9]{1,9}", text) else quantity("size", text)[0]
    if not 100 <= size <= 65535:
        raise InputError(f'"{text}" is no size of a packet; expected 100B to 65535B')
    return int(size)


def _form(text: str) -> str:
    from sojourn.design import FORMS

    if text not in FORMS:
        raise InputError(f'"{text}" is no form; expected {", ".join(FORMS)}')
    return text


DESIGN_SPEC = Option(
    (),
    "SPEC",
    word,
    "A law with a rule of gains: pi, rem, pid, pie, pi2, pi_pd, cpc, arm_pfc or red; parameters that are to "
    "stay as they are follow it, as in pi:rate=500Hz, pid:adapt=load or cpc:form=autotune.",
)
DESIGN_FLOWS = Option(
    ("--flows",), "A..B", _design_flows, "Long flows: from the fewest to the most, or a number."
)
DESIGN_RTT = Option(
    ("--rtt",),
    "A..B",
    _design_rtts,
    "Round trips, queueing at the target included: from the shortest to the longest, or one.",
)
CAPACITY = Option(
    ("--capacity",),
    "RATE",
    _capacities,
    "Rate of the link, in the units of scenarios, such as 10Mbit/s or 1250packets/s, or a range A..B.",
)
TARGET = Option(
    ("--target",), "TARGET", word, "What the queue is held at: a delay or a backlog: 5ms, 100packets, 100kB."
)
MARGIN = Option(
    ("--margin",), "DEG", _degrees, "Phase margin at every point, such as 45deg (default: 45deg)."
)
GAIN_MARGIN = Option(("--gain-margin",), "FACTOR", _factor, "Gain margin at every point (default: 2).")
SETTLING = Option(
    ("--settling",),
    "TIME",
    _time,
    "Longest time to within 2 % at any point: 4 time constants of the slowest pole.",
)
SEGMENT = Option(("--segment",), "BYTES", _bytes, "A packet on the wire (default: 1000B).")
MODEL = Option(
    ("--model",),
    "NAME",
    word,
    "Model of the windows: calibrated (as packets have them; default), mgt or full.",
)
DESIGN_CC = Option(("--cc",), "SPEC", word, "Congestion control of the flows (default: newreno).")
EMIT = Option(
    ("--emit",),
    "FORM",
    _form,
    "Print only the line that sets the gains: toml (a scenario), tc (Linux: red, pie) or ns3 (red, pie).",
)


# ---- Optimal control -----------------------------------------------------------------------------

#: What `sojourn ocq` does.
ACTIONS = ("solve", "table")


def _action(text: str) -> str:
    if text not in ACTIONS:
        raise InputError(f'"{text}" is not an action; expected {" or ".join(ACTIONS)}')
    return text


def _names(text: str) -> list[str]:
    """Names in a list such as ``P,A,L``."""
    return [name.strip() for name in text.split(",")]


_FIGURE = r"[-+]?(?:[0-9]*\.?[0-9]+(?:e[-+]?[0-9]+)?|[0-9]+\.|nan|inf)"
#: Units in packets of 1000 B and s, by those of a quantity.
_OF_OCQ = {"bit/s": 1 / 8000, "packets/s": 1.0, "packets": 1.0, "B": 1e-3, "s": 1.0}


def _quantity(kind: str, example: str) -> Callable[[str], float]:
    """Reader of a quantity of a kind, or of a number."""

    def read(text: str) -> float:
        if re.fullmatch(_FIGURE, text.strip()):
            return float(text)
        if not re.match(rf"\s*{_FIGURE}", text):
            raise InputError(f'"{text}" is not a number; expected such as {example}')
        from sojourn.units import quantity

        value, unit = quantity(kind, text)
        if kind == "queue" and unit == "s":
            raise InputError(f'"{text}" is a time; expected packets, such as {example}')
        return value * _OF_OCQ[unit]

    return read


def _signal(kind: str, example: str) -> Callable[[str], float | list[tuple[float, float]]]:
    """Reader of a number, or of a schedule such as ``60@0,0@1``: values, each with its time in s."""
    value, time = _quantity(kind, example), _quantity("time", "0.5")

    def read(text: str) -> float | list[tuple[float, float]]:
        if "@" not in text:
            return value(text)
        steps = [part.partition("@") for part in text.split(",")]
        return [(time(at), value(of)) for of, _, at in steps]

    return read


def _cells(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise InputError(f'"{text}" is not a number of cells; expected such as 1000')
    return int(text)


def _iterations(text: str) -> int:
    from sojourn.ocq.methods import MOST_ITERATIONS

    if not re.fullmatch(r"[0-9]{1,18}", text) or not 1 <= int(text) <= MOST_ITERATIONS:
        raise InputError(f'"{text}" is not a number of iterations; expected 1 to {MOST_ITERATIONS}')
    return int(text)


ACTION = Option(
    (), "ACTION", _action, "solve: one problem by one method; table: every method on known instances."
)
INSTANCE = Option(
    ("--instance",),
    "NAME",
    _names,
    "A known instance: P (the paper's own) or A to L; table takes a list (default: P,A,L).",
)
METHOD = Option(
    ("--method",),
    "NAME",
    _names,
    "switching (exact), fast (interior point), sweep (the paper's Algorithm 1), collocation (IPOPT) or ga "
    "(genetic algorithm); the last two need sojourn[optimal]. table takes a list (default: all; solve: "
    "switching).",
)
LOAD = Option(
    ("--w",),
    "RATE",
    _signal("rate", "60, or a schedule 60@0,0@1"),
    "Offered load, packets/s: a number, or a schedule of values at times such as 60@0,0@1. kbit/s, "
    "Mbit/s and Gbit/s are of packets of 1000 B.",
)
SERVICE = Option(
    ("--mu",), "RATE", _quantity("rate", "50"), "Outflow of a long queue, packets/s; units as of --w."
)
HALF = Option(
    ("--a",), "PACKETS", _quantity("queue", "1"), "Queue at which half of mu flows out; 1 is M/M/1."
)
PRICE = Option(
    ("--R",),
    "SECONDS",
    _signal("time", "0.2, or a schedule 0.2@0,0.1@1"),
    "Cost of a rejected packet, s: a number, or a schedule.",
)
QUEUED = Option(("--x0",), "PACKETS", _quantity("queue", "10"), "Queue at time 0 (default: 0).")
HORIZON = Option(("--tf",), "SECONDS", _quantity("time", "2"), "Horizon, s (default: 1).")
CELLS = Option(("--cells",), "N", _cells, "Cells of the mesh (default: 1000).")
ITERATIONS = Option(
    ("--iterations",),
    "N",
    _iterations,
    "Most iterations (default: sweep 50, fast 60, collocation 500, ga 2500 generations, also in a table).",
)
OPTIMAL_PAGE = Option(("-o", "--output"), "FILE.html", _page, "Write one self-contained offline page, too.")
OPTIMAL = Option(("--out",), "DIR", _folder, "Write ocq.json, with all trajectories, and ocq.html there.")


# ---- Traces --------------------------------------------------------------------------------------

LAW = Option(("--law",), "NAME", word, "The traces of one law only.")
QDISC_NAME = Option(("--qdisc",), "NAME", word, "The traces of one qdisc of several queues only.")
AGAINST = Option(
    ("--against",),
    "COMMAND",
    word,
    "Replay with this program instead of the built-in laws: it reads a trace on stdin, line by line, and "
    "answers each arrival and departure with a verdict on a line of its own; for a qdisc each enqueue and "
    "dequeue with the packets sent, dropped and marked (vectors/README.md).",
)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or float(text) <= 0:
        raise InputError(f'"{text}" is no time; expected seconds above 0, such as 10')
    return float(text)


TIMEOUT = Option(
    ("--timeout",),
    "SECONDS",
    _seconds,
    "Time limit of a program of --against for one trace (default: 10).",
)


def timeout(text: str | None, against: str | None) -> float:
    """Seconds of --timeout, or the default."""
    from sojourn.conform import TIMEOUT_S

    if text is not None and against is None:
        raise InputError("--timeout: belongs to a program; expected --against COMMAND with it")
    return TIMEOUT_S if text is None else TIMEOUT(text)


# ---- Lists and help ------------------------------------------------------------------------------


def _list(text: str) -> str:
    plural = f"{text}s" if f"{text}s" in LISTS else text
    if plural not in LISTS:
        near = difflib.get_close_matches(plural, LISTS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f'"{text}" is not a list; {hint}expected {", ".join(LISTS)}')
    return plural


LISTED = f"""List {", ".join(KINDS)}, keys, figures, or files.

The files are scenarios, campaigns, which are grids for `sojourn sweep`, and papers for `sojourn reproduce`.
Figures are those of `sojourn plot`.

The ccs are congestion controls, links are models of link schedules, profiles and settings are TCP's, metrics
are those of a run and window_metrics those of windows of time alone, and keys are all parameters."""
KIND = Option((), "KIND", _list, f"One of {', '.join(LISTS)}.")
NAME = Option(
    (),
    "NAME",
    word,
    "A name from 'sojourn list', scenario, or a part of one: link, distribution, trace, framing, "
    "impairments, or a key such as flows or bottleneck.rate.",
)


def listed(kind: str) -> list[dict[str, Any]]:
    """The list of `sojourn list KIND`: objects with at least `name` and `summary`."""
    kind = KIND(kind)
    if kind == "scenarios":
        return _scenarios()
    if kind == "campaigns":
        from sojourn.scenario import campaigns

        return [_scenario_entry(name, path, "question") for name, path in campaigns().items()]
    if kind == "papers":
        from sojourn.reproduce.paper import names, read

        return [{"name": one.name, "summary": one.reference} for one in map(read, names())]
    if kind == "figures":
        from sojourn.cli import plotting

        return plotting.listed()
    from sojourn import catalogue

    return catalogue.entries(kind)


def _scenarios() -> list[dict[str, Any]]:
    """Scenarios below ./scenarios by path, and those shipped with Sojourn by name."""
    from sojourn.scenario import gallery

    here = Path("scenarios")
    files = sorted(here.rglob("*.toml"))
    shipped = {name: path for name, path in gallery().items() if (here / f"{name}.toml") not in files}
    return [_scenario_entry(path.as_posix(), path) for path in files] + [
        _scenario_entry(name, path) for name, path in shipped.items()
    ]


def _scenario_entry(name: str, path: Path, key: str = "title") -> dict[str, Any]:
    import tomllib

    from sojourn import files

    try:
        title = tomllib.loads(files.read(path, _MOST_BYTES).decode("utf-8")).get(key)
        summary = str(title) if title else "(no title)"
    except (OSError, ValueError):
        summary = "(cannot be read: see 'sojourn check')"
    return {"name": name, "summary": summary, "path": str(path)}
