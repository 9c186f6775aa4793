"""The compiled half of Sojourn: scenarios, the catalogue, the packet plant and single laws."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, final

import numpy as np
import numpy.typing as npt

from sojourn.custom.template import ControlTemplate, LawTemplate

__all__ = [
    "Acknowledged",
    "Arrival",
    "Cancelled",
    "Departure",
    "LawError",
    "LinkContext",
    "LinkRun",
    "LiveRefused",
    "Observation",
    "OperatingPoint",
    "Packet",
    "Proof",
    "RegionMap",
    "Run",
    "Scenario",
    "ScenarioError",
    "Shell",
    "Signal",
    "Ticket",
    "TracedLaw",
    "TracedQdisc",
    "Verdict",
    "__build__",
    "__version__",
    "catalogue_json",
    "check_cc",
    "check_fluid",
    "check_law",
    "check_live",
    "check_packet",
    "check_qdisc",
    "check_records",
    "end_with_parent",
    "explain_json",
    "leave_machine",
    "margins_at",
    "margins_over",
    "ocq_fast",
    "ocq_feedback",
    "ocq_follow",
    "ocq_json",
    "ocq_least_cells",
    "ocq_sweep",
    "ocq_switching",
    "ocq_x_s",
    "passage_of_trace",
    "prove",
    "quantity",
    "replay_trace",
    "run",
    "schema_json",
    "sqm_json",
]

__version__: str
#: Hash of the sources of the compiled half, in hexadecimal digits.
__build__: str

class ScenarioError(ValueError):
    """An invalid scenario; `errors` holds one line for each error.

    `diagnostics` holds the parts of each error, by the fields of `sojourn.errors.Diagnostic`.
    """

    errors: list[str]
    diagnostics: list[dict[str, Any]]

class Cancelled(Exception):
    """A run was stopped through its ticket."""

class LiveRefused(Exception):
    """The machine does not allow a live run. Arguments: the step, the error number, and its text."""

class LawError(Exception):
    """A law written in Python failed; the exception that it raised, if any, is the cause."""

    args: tuple[str, float, str, str]
    """Its message, the time in the run, s, the method, and what was expected there."""

@final
class Verdict:
    """The verdict on a packet."""

    PASS: ClassVar[Verdict]
    MARK: ClassVar[Verdict]
    DROP: ClassVar[Verdict]
    DROP_BOTH: ClassVar[Verdict]
    def __deepcopy__(self, _memo: object) -> Verdict: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...

@final
class Arrival:
    """A packet that arrives, read-only."""

    @property
    def time_s(self) -> float:
        """Simulated time, s since the start of the run."""
    @property
    def len_bytes(self) -> int:
        """Size on the wire, bytes."""
    @property
    def ecn(self) -> Literal["not_ect", "ect0", "ect1", "ce"]:
        """ECN codepoint."""
    @property
    def ecn_capable(self) -> bool:
        """True if the packet may be marked (ECT)."""
    @property
    def flow(self) -> int:
        """Number of the packet's flow."""
    @property
    def backlog_packets(self) -> int:
        """Backlog without this packet, packets."""
    @property
    def backlog_bytes(self) -> int:
        """Backlog without this packet, bytes."""
    @property
    def victim(self) -> int | None:
        """Flow of the held packet that `Verdict.DROP_BOTH` would drop too, chosen at random.

        None if the law uses no victim or no packet is held.
        """
    @property
    def u(self) -> tuple[float, float]:
        """Two uniform draws from [0, 1), for this packet alone; the second chooses the victim."""
    def __deepcopy__(self, _memo: object) -> Arrival: ...

@final
class Packet:
    """A packet in a `sojourn.Qdisc`."""

    def mark(self) -> bool:
        """Mark the packet with congestion experienced; False if it is not ECN-capable, and then unchanged."""
    def drop(self) -> None:
        """Drop the packet: the qdisc no longer holds it."""
    @property
    def len_bytes(self) -> int:
        """Size on the wire, bytes."""
    @property
    def flow(self) -> int:
        """Number of the packet's flow."""
    @property
    def class_name(self) -> str:
        """Name of the class of its flow; empty if unknown."""
    @property
    def dscp(self) -> int:
        """DSCP, 0 to 63."""
    @property
    def from_host(self) -> int:
        """Number of the host that sends it."""
    @property
    def to_host(self) -> int:
        """Number of the host that receives it."""
    @property
    def ecn(self) -> Literal["not_ect", "ect0", "ect1", "ce"]:
        """ECN codepoint."""
    @property
    def ecn_capable(self) -> bool:
        """True if the packet may be marked (ECT)."""
    @property
    def arrival_s(self) -> float:
        """Time of its arrival, s since the start of the run."""
    @property
    def u(self) -> tuple[float, float]:
        """Two uniform draws from [0, 1), for this packet alone."""
    def __deepcopy__(self, _memo: object) -> Packet: ...

@final
class Departure:
    """A packet that is about to leave, read-only."""

    @property
    def time_s(self) -> float:
        """Simulated time, s since the start of the run."""
    @property
    def len_bytes(self) -> int:
        """Size on the wire, bytes."""
    @property
    def ecn(self) -> Literal["not_ect", "ect0", "ect1", "ce"]:
        """ECN codepoint."""
    @property
    def ecn_capable(self) -> bool:
        """True if the packet may be marked (ECT)."""
    @property
    def flow(self) -> int:
        """Number of the packet's flow."""
    @property
    def sojourn_s(self) -> float:
        """Sojourn time, s."""
    @property
    def backlog_packets(self) -> int:
        """Backlog behind the packet, packets."""
    @property
    def backlog_bytes(self) -> int:
        """Backlog behind the packet, bytes."""
    @property
    def u(self) -> tuple[float, float]:
        """Two uniform draws from [0, 1), for this packet alone."""
    def __deepcopy__(self, _memo: object) -> Departure: ...

@final
class LinkContext:
    """The link and its traffic as configured, known to a law before the first packet."""

    @property
    def rate_bps(self) -> float:
        """The link's initial rate, bit/s."""
    @property
    def packet_bytes(self) -> float:
        """Mean segment size of the flows, bytes."""
    @property
    def limit_packets(self) -> float:
        """The buffer's limit, packets; infinite without one."""
    @property
    def flows(self) -> float | None:
        """Number of long flows; None: unknown."""
    @property
    def base_rtt_s(self) -> float | None:
        """Configured base RTT, mean over the flows, s; None: unknown."""
    @staticmethod
    def of_trace(header: str) -> LinkContext:
        """Parse the link context in the first line of a trace. Raises `ValueError` for any other line."""
    def __deepcopy__(self, _memo: object) -> LinkContext: ...

@final
class OperatingPoint:
    """Equilibrium of a law and its traffic, read-only."""

    @property
    def p(self) -> float:
        """Equilibrium probability."""
    @property
    def backlog_packets(self) -> float:
        """Equilibrium backlog, packets."""
    @property
    def flows(self) -> float:
        """Number of responsive flows."""
    @property
    def capacity_pps(self) -> float:
        """The link's rate, packets/s."""
    @property
    def rtt_s(self) -> float:
        """Mean round-trip time at equilibrium, queueing included, s."""

@final
class Observation:
    """State of the queue at an update, read-only.

    All counts start at the last update (for the first update, at the start of the run).
    """

    @property
    def time_s(self) -> float:
        """Simulated time, s since the start of the run."""
    @property
    def elapsed_s(self) -> float:
        """Time since the last update, s."""
    @property
    def backlog_packets(self) -> float:
        """Backlog now, packets, without the one in transmission."""
    @property
    def backlog_bytes(self) -> float:
        """Backlog now, bytes."""
    @property
    def sojourn_s(self) -> float:
        """Sojourn time of the packet at the head of the queue, s; 0: empty queue."""
    @property
    def arrivals_packets(self) -> float:
        """Packets that arrived, dropped ones included."""
    @property
    def arrivals_bytes(self) -> float:
        """Bytes that arrived, dropped ones included."""
    @property
    def departures_packets(self) -> float:
        """Packets handed to the link."""
    @property
    def departures_bytes(self) -> float:
        """Bytes handed to the link."""
    @property
    def drops_packets(self) -> float:
        """Packets dropped, by the law or at a full buffer."""
    @property
    def marks_packets(self) -> float:
        """Packets marked."""
    @property
    def busy_s(self) -> float:
        """Time with a backlog, s."""
    @property
    def capacity_bps(self) -> float | None:
        """The link's rate, bit/s; None: unknown."""
    @property
    def capacity_pps(self) -> float | None:
        """The link's rate, packets/s of the mean size; None: unknown."""
    @property
    def base_rtt_s(self) -> float | None:
        """Configured base RTT, mean over the flows, s; None: unknown."""
    @property
    def mean_packet_bytes(self) -> float:
        """Mean segment size of the flows, bytes."""
    @property
    def limit_packets(self) -> float:
        """The buffer's limit, packets; infinite without one."""
    @property
    def applied_p(self) -> float:
        """Fraction of the arrivals that the law dropped or marked."""
    def __deepcopy__(self, _memo: object) -> Observation: ...

@final
class Acknowledged:
    """An ACK of new data."""

    @property
    def time_s(self) -> float:
        """Simulated time, s since the start of the run."""
    @property
    def acked_bytes(self) -> int:
        """Bytes newly acknowledged."""
    @property
    def flight_bytes(self) -> int:
        """Bytes in flight after this ACK."""
    @property
    def rtt_s(self) -> float | None:
        """RTT sample of this ACK, s; None: no sample."""
    @property
    def smoothed_rtt_s(self) -> float | None:
        """Smoothed RTT, s; None before the first sample."""
    @property
    def acked_to(self) -> int:
        """Cumulative ACK, bytes from the start of the data."""
    @property
    def sent_to(self) -> int:
        """Highest byte sent: a round trip is over when `acked_to` reaches this value of its start."""
    @property
    def marked(self) -> bool:
        """True if the ACK echoes congestion."""
    def __deepcopy__(self, _memo: object) -> Acknowledged: ...

@final
class Signal:
    """Loss, an echo of congestion, or a timeout."""

    @property
    def kind(self) -> Literal["loss", "ecn", "timeout"]:
        """``loss``, ``ecn`` or ``timeout``."""
    @property
    def flight_bytes(self) -> int:
        """Bytes that were outstanding."""
    @property
    def again(self) -> bool:
        """True if this timeout follows another one, or a reduction by ECN, of the same segment."""
    def __deepcopy__(self, _memo: object) -> Signal: ...

@final
class Scenario:
    """A checked, immutable scenario; `at_link` and the methods that begin with `with` return new ones.

    The lines of their `ScenarioError` do not name the argument.
    """

    @staticmethod
    def parse(
        content: bytes | dict[str, object],
        name: str,
        overrides: list[tuple[str, str]] = ...,
        files: Callable[[str], bytes] | None = None,
    ) -> Scenario:
        """Parse the text of a scenario, or a dict of its keys; `overrides` are dotted keys with TOML values.

        Raises `ScenarioError`.
        """
    def at_link(self, link: str) -> Scenario:
        """A copy whose qdisc may be replaced at this link alone. Raises `ScenarioError`."""
    def with_qdisc(self, spec: str) -> Scenario:
        """A copy with another qdisc at every link whose qdisc may be replaced. Raises `ScenarioError`."""
    def with_cc(self, groups: list[int], spec: str) -> Scenario:
        """A copy with another of the catalogue's congestion controls in these groups.

        Raises `ScenarioError`.
        """
    def with_custom_cc(self, groups: list[int], template: ControlTemplate, label: str) -> Scenario:
        """A copy with a congestion control in Python, called `label`, in these groups.

        Raises `ScenarioError`.
        """
    def describe(self, label: str | None = None, parameters: str = "") -> str:
        """Description of the run, with the network drawn.

        With a `label`: under a law in Python; `parameters` has one line for each of its parameters.
        """
    def _repr_html_(self) -> str:
        """The title and the setting in sentences, for notebooks."""
    @staticmethod
    def rewritten(text: bytes, name: str) -> str | None:
        """The text of a scenario file with moved keys in their places; None if none has moved.

        Raises `ScenarioError`.
        """
    @staticmethod
    def from_dict(keys: Mapping[str, object], folder: str | os.PathLike[str] | None = ...) -> Scenario:
        """A scenario of the keys of a file; `folder` has the files that it names, default the current one.

        Values are as in a file: quantities are text with a unit, tables are dicts; None leaves a key
        out. Raises `InputError`.
        """
    def with_(self, **changes: str | float | bool) -> Scenario:
        """A copy with other values of keys: ``sc.with_(**{"bottleneck.rate": "6 Mbit/s"}, duration="50 s")``.

        Keys and values are those of the overrides of `sojourn.load`. Raises `InputError`.
        """
    def to_toml(self) -> str:
        """Text of a scenario file, every default filled in.

        It reads back as an equal scenario beside the same files; a congestion control in Python has one of
        the catalogue in its place.
        """
    @property
    def source(self) -> tuple[bytes | dict[str, object], str, list[tuple[str, str]]]:
        """Text or keys, name and overrides that it was read from."""
    @property
    def changes(self) -> list[tuple[Any, ...]]:
        """The changes since, as method names with their arguments."""
    @property
    def files(self) -> dict[str, bytes]:
        """Files that the scenario names, with their bytes."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def __copy__(self) -> Scenario: ...
    def __deepcopy__(self, _memo: object) -> Scenario: ...
    def to_json(self) -> str:
        """All keys as JSON, defaults filled in."""
    @property
    def title(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def qdisc(self) -> str:
        """Canonical name of the qdisc with its parameters."""
    @property
    def custom_ccs(self) -> list[tuple[int, ControlTemplate]]:
        """Templates of congestion controls in Python, each with the place of its group of flows."""
    @property
    def custom_labels(self) -> list[str]:
        """Labels of `custom_ccs`, in the same order."""
    @property
    def notes(self) -> list[str]:
        """Warnings about valid but surprising settings, one sentence each."""
    @property
    def contexts(self) -> list[LinkContext]:
        """Context of each law whose qdisc may be replaced; at least one."""
    @property
    def queue_contexts(self) -> list[LinkContext]:
        """Context of each queue of a qdisc that may be replaced; at least one."""

@final
class Ticket:
    """Watches and stops one run from another thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Request the run to stop; it then raises `Cancelled`."""
    def check(self) -> None:
        """Raise `Cancelled` if the run was cancelled."""
    @property
    def cancelled(self) -> bool:
        """The run was cancelled."""
    @property
    def progress(self) -> float:
        """Fraction of the simulated time that is done, 0 to 1; set for a run in another process."""
    @progress.setter
    def progress(self, share: float) -> None: ...

@final
class TracedLaw:
    """A law at its start, in the link context of a trace's first line; `law` replaces the law named there."""

    def __new__(cls, header: str, law: LawTemplate | None = None) -> TracedLaw: ...
    def answer(self, call: str) -> str:
        """Answer to one line of a trace, as JSON.

        Raises `ValueError` for an invalid call, and `LawError` when a law in Python fails.
        """

@final
class TracedQdisc:
    """A qdisc at its start, in the link context of a trace's first line."""

    def __new__(cls, header: str, qdisc: LawTemplate | None = None) -> TracedQdisc: ...
    def answer(self, call: str) -> str:
        """Answer to one line of a trace, as JSON.

        Raises `ValueError` for an invalid call, `LawError` if a qdisc in Python fails.
        """

@final
class Run:
    """The measurements of one run."""

    @property
    def links(self) -> list[LinkRun]:
        """Measurements at each link with a qdisc; last, if any, those of classes that cross no such link."""
    @property
    def windows(
        self,
    ) -> list[tuple[str, tuple[float, float], tuple[str | None, str | None, str | None], dict[str, float]]]:
        """Windows of time: name, start and end (s), link, class and queue, and the metrics that apply."""
    @property
    def events(self) -> int: ...
    @property
    def cpu_s(self) -> float: ...
    @property
    def ended_s(self) -> float | None:
        """The end of a live run that was ended early, s; None where it has its duration."""
    @property
    def trust(self) -> dict[str, float | int | str | None] | None:
        """Facts about a live run that the trust in it follows from; None in the other plants."""

@final
class LinkRun:
    """Measurements of one run at one link, or of the classes that cross none."""

    @property
    def link(self) -> str | None: ...
    @property
    def qdisc(self) -> str | None:
        """Label of the link's qdisc; None without a link, and where a law in Python replaced it."""
    @property
    def rows(
        self,
    ) -> list[tuple[str | None, str | None, dict[str, float | list[float | None] | None], dict[str, int]]]:
        """Class, queue, metrics, and packets over the whole run: offered, delivered, dropped and still held.

        The first row, of class and queue None, covers all packets; in a run with several classes of traffic
        the next ones cover the classes whose data cross the link; the last ones the queues that the qdisc
        names and that had packets. Without a link the rows cover the classes that cross
        none, without packets; a fluid has no packets either.
        """
    @property
    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """`time_s` and every sampled quantity, of equal length; NaN: no sample."""
    @property
    def distributions(self) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
        """Empirical distributions by name: values, and the fraction of samples at or below each."""

def run(
    scenario: Scenario,
    seed: int,
    ticket: Ticket,
    law: LawTemplate | None = None,
    plant: str = "packet",
    records: Sequence[tuple[str, str, Path]] | None = None,
    trace: Path | None = None,
) -> Run:
    """Run a plant once, packet, fluid or live, without the interpreter's lock.

    Copies of `law`, one for each of the scenario's contexts, replace the scenario's qdisc, or, by its `form`,
    the law of each of that qdisc's queues. The lock is taken for their calls, and for those of the
    scenario's congestion controls in Python. `records` (kind, subject and path of each) are made of a run of
    packets. A live run needs a process that has left the machine's network, and writes the calls of its qdisc
    to the file `trace`. Raises `Cancelled`, `LawError` when one of them fails, `LiveRefused`, and `OSError`
    for a record that cannot be written.
    """

def replay_trace(text: str) -> str | None:
    """Replay the trace of a qdisc on a new one; the first answer that differs, or None."""

def passage_of_trace(text: str, qdisc: str | None = None) -> dict[str, float | int | None]:
    """Counts and sojourn times of the arrivals of a trace behind its qdisc, or that of a SPEC.

    Raises `ValueError` for a line that cannot be read.
    """

@final
class Shell:
    """The links of a scenario between two namespaces, for programs that enter them."""

    def __new__(cls, scenario: Scenario, seed: int, law: LawTemplate | None = None) -> Shell:
        """Open them, in a process that has left the machine, under a law in Python where there is one.

        Raises `LiveRefused` and `OSError`.
        """
    @property
    def has_failed(self) -> bool:
        """The law has failed: it passes all packets from then on."""
    def check(self) -> None:
        """Raise the `LawError` of a law that has failed."""
    @property
    def turns(self) -> int:
        """Rounds of the relay, so far: some a second, unless a law in Python does not return."""
    @property
    def has_v6(self) -> bool:
        """There are addresses of IPv6."""
    def enter(self, place: int) -> None:
        """Move this thread into the senders' namespace (0) or the receivers' (1)."""
    def close(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Close them: a dict of each link's qdisc, whose name is None where it is the law, and the trust."""

def leave_machine() -> None:
    """Move this process, of one thread, out of the machine's network for good. Raises `LiveRefused`."""

def end_with_parent() -> None:
    """End this process once no other can write to its stdin, whatever runs in Python."""

def check_packet(scenario: Scenario) -> None:
    """Raise `ScenarioError`, with a line for each part that the packet plant does not simulate."""

def check_live(scenario: Scenario) -> None:
    """Raise `ScenarioError`, with a line for each part that the live plant does not carry."""

@final
class Proof:
    """A certificate; its loops are numbered as in its JSON."""

    @property
    def json(self) -> str:
        """The certificate as JSON."""
    def response(
        self, of: int, frequencies: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Open-loop response L of a loop at these frequencies, rad/s: real and imaginary parts."""
    def step(self, of: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """Closed-loop step response: times, s, and packets; None: poles unknown."""
    def disturbed(
        self, of: str, size: float
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """Deviation of the backlog after a step: times, s, and packets; None: poles unknown.

        Of ``arrivals`` or ``capacity`` by `size` packets/s, or of ``flows`` by a share of them.
        """
    def cycles(self, harmonics: int) -> tuple[npt.NDArray[np.float64], bool, bool] | None:
        """Limit cycles by amplitude, with so many harmonics; None: there is no branch.

        Rows of gain, amplitude (packets), period (s), least and greatest backlog, least and greatest p, and 1
        where limits make the cycle approximate; True if the last row is the scenario's own; True if
        oscillations begin softly.
        """
    def noise_spectrum(self, frequencies: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
        """Spectral density of the backlog at frequencies, rad/s: packets^2 s.

        Its integral over all frequencies, negative ones too, is 2 pi times the variance. None: the
        certificate has no noise.
        """
    def slope_changes(
        self, farthest: float
    ) -> tuple[float, Literal["packets", "p"], list[tuple[float, float | None, bool]]] | None:
        """Equilibrium of the law and its unit, and the nearest changes of slope up to a factor away.

        Each with its point, the gain beyond over that before (None: no transfer function on one side), and
        True if packets are marked beyond. None: there is no loop.
        """
    def region(
        self,
        flows: tuple[float, float] | None = None,
        base_rtt_s: tuple[float, float] | None = None,
        points: int = 200,
        threads: int = 2,
    ) -> RegionMap:
        """Stability map over N and the base RTT, s."""

@final
class RegionMap:
    """Stability over loads and base RTTs."""

    #: Mesh cells along the side of a block that is filled in.
    BLOCK: ClassVar[int]
    #: Most evaluations for the points.
    MOST_EVALUATIONS: ClassVar[int]

    @property
    def flows(self) -> npt.NDArray[np.float64]:
        """N of each column."""
    @property
    def base_rtt_s(self) -> npt.NDArray[np.float64]:
        """Base RTT of each row, s."""
    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """0 stable, 1 unstable, 2 not proven; from 3 on: index of the reason for no verdict, plus 3."""
    @property
    def counted(self) -> int:
        """Number of points whose poles were counted; the others lie in blocks whose corners agree."""
    @property
    def evaluations(self) -> int:
        """Number of evaluations for the points."""
    @property
    def is_cut(self) -> bool:
        """True if evaluations ran out before the curves were followed to their ends."""
    @property
    def reasons(self) -> list[str]:
        """Reasons of points without a verdict."""
    @property
    def boundary(self) -> list[list[npt.NDArray[np.float64]]]:
        """Curves between stable and unstable: N, base RTT in s, frequency in rad/s."""

def prove(
    scenario: Scenario, link: str | None = None, law: LawTemplate | None = None, label: str = ""
) -> Proof:
    """Certify a link; it may be omitted if only one can be congested.

    If given, copies of `law`, called `label`, replace its law. Raises `ScenarioError`, and `LawError` when
    the law fails.
    """

def margins_at(
    scenario: Scenario,
    at: Sequence[tuple[float, float]],
    with_poles: bool = False,
    accepts_partial: bool = False,
    evaluations: int | None = None,
    link: str | None = None,
) -> tuple[npt.NDArray[np.float64], list[str | None]]:
    """Judge the law of a scenario's link at other numbers of flows and base RTTs, s.

    A row of each: p, backlog, least window, longest round trip, unstable poles, phase margin in degrees,
    gain margin, crossover in rad/s, real part of the rightmost pole; NaN: unlimited or unknown. And the
    reason of a row without values. `accepts_partial`: a model of a part of the law counts. A point
    takes `evaluations` at most, by default those of a certificate; `link` may be omitted if only one can be
    congested. Raises `ScenarioError`.
    """

def margins_over(
    scenario: Scenario,
    flows: tuple[float, float],
    rtt_s: tuple[float, float],
    least_window: float,
    margins: tuple[float, float],
    parts: int,
) -> tuple[int, bool, tuple[float, float] | None, str | None]:
    """Examine margins, in degrees and as a factor, over all N and base RTTs of a box by interval bounds.

    The loop must be stable at one point. Windows below `least_window` packets do not count. Returns the parts
    examined, True if gains follow p, and None twice; with N and base RTT, s, in a part where the bounds stay
    too wide; or 0, False, None and the reason why there are no bounds. Raises `ScenarioError`.
    """

def quantity(kind: str, text: str) -> tuple[float, str]:
    """A quantity as a scenario has it, of ``rate``, ``queue``, ``size`` or ``time``.

    Its value, and the unit of that: ``bit/s``, ``packets/s``, ``packets``, ``B`` or ``s``. Raises
    `ScenarioError`, with a line that lists the units.
    """

def ocq_json(instance: Sequence[float], inputs: Sequence[float] | None = None) -> str:
    """The optimal control of w, mu, a, R, x0, t_f, and the cost of `inputs`. Raises `ScenarioError`."""

def ocq_switching(problem: Sequence[float], steps: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The exact optimum of mu, a, R, x0 and steps (w, end). Raises `ScenarioError`."""

def ocq_sweep(
    problem: Sequence[float],
    cells: Sequence[Sequence[float]],
    start: Sequence[float],
    options: Mapping[str, str | float | None],
) -> dict[str, Any]:
    """Algorithm 1 of mu, a, x0 and cells (h, w, R, bounds of u). Raises `ScenarioError`."""

def ocq_least_cells(queue: Sequence[float], cells: int, longest: float) -> float:
    """Cells that a method on a mesh needs, for mu and a; the longest of `cells` has `longest` s."""

def ocq_follow(
    problem: Sequence[float], parts: Sequence[Sequence[float]]
) -> tuple[list[float], list[float], float, float]:
    """Backlogs, costates, J and gap of mu, a, x0 and parts (end, w, R, bounds of u, u)."""

def ocq_x_s(service: float, half: float, price: float) -> float:
    """x_s of mu, a and R; not above 0 where an empty queue is the best."""

def ocq_feedback(
    queue: Sequence[float],
    price: float | None,
    x_s: float | None,
    penalty: Sequence[float | None],
    backlogs: Sequence[float],
) -> tuple[tuple[float, float, float, float], list[float]] | None:
    """(R, x_s, u_s, eps) of mu and a, and the inputs at `backlogs`; None without a singular arc."""

def ocq_fast(
    problem: Sequence[float], cells: Sequence[Sequence[float]], iterations: int, tolerance: float
) -> dict[str, Any]:
    """The interior-point method; problem and cells as of `ocq_sweep`. Raises `ScenarioError`."""

def sqm_json(
    capacity: float, alpha: float, flows: Sequence[Sequence[float]], margins: Sequence[float]
) -> str:
    """SQM's link; flows are k, w, D, Q, and margins a phase margin and rho. Raises `ScenarioError`."""

def check_fluid(scenario: Scenario, own_laws: bool = False) -> None:
    """Raise `ScenarioError` if the fluid plant has no model; qdiscs under `own_laws` need none."""

def check_records(scenario: Scenario, requests: Sequence[tuple[str, str]]) -> None:
    """Raise `ScenarioError` for records, by kind and subject, of what the scenario does not have."""

def check_cc(cc: object) -> None:
    """Raise `ValueError` with one line for an invalid attribute of a congestion control."""

def check_law(law: object, calls: Sequence[str] | None = None) -> None:
    """Raise `ValueError` with one line for an invalid attribute of a law in Python.

    `calls` are the methods that a `Law` defines; None: a `Controller`.
    """

def check_qdisc(qdisc: object, calls: Sequence[str]) -> None:
    """Raise `ValueError` with one line for an invalid attribute of a qdisc in Python.

    `calls` are the methods that it defines.
    """

def catalogue_json(kind: str) -> str:
    """All entries of a kind (`laws`, `qdiscs`, `ccs`, `apps`, `profiles`, `settings`), as a JSON array."""

def explain_json(name: str) -> str | None:
    """One entry of the catalogue, `scenario`, or keys of it, as a JSON object; None: unknown name."""

def schema_json() -> str:
    """The JSON schema of scenario files."""
