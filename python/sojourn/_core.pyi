"""The compiled half of Sojourn: scenarios, the catalogue, the packet plant and single laws."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, final

import numpy as np
import numpy.typing as npt

from sojourn.laws_in_python import CongestionControl

__all__ = [
    "Acknowledged",
    "Arrival",
    "Cancelled",
    "Departure",
    "LawError",
    "LinkRun",
    "Observation",
    "Proof",
    "RegionMap",
    "Rest",
    "Run",
    "Scenario",
    "ScenarioError",
    "Signal",
    "Site",
    "Ticket",
    "TracedLaw",
    "Verdict",
    "__version__",
    "catalogue_json",
    "check_cc",
    "check_fluid",
    "check_law",
    "explain_json",
    "ocq_json",
    "prove",
    "run",
    "schema_json",
    "sqm_json",
]

__version__: str

class ScenarioError(ValueError):
    """A scenario is not legal; `faults` holds one line for each fault.

    `excerpts` holds for each fault the lines of the file that show it: number, text, characters before the
    place.
    """

    faults: list[str]
    excerpts: list[list[tuple[int, str, int]]]

class Cancelled(Exception):
    """A run was stopped through its ticket."""

class LawError(Exception):
    """A law written in Python failed; what it raised, if anything, is the cause."""

    args: tuple[str, float, str, str]
    """What it did, when in the run, s, in which method, and what is legal there."""

@final
class Verdict:
    """What becomes of a packet."""

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
    """A packet that asks to be let in. It cannot be changed."""

    @property
    def time_s(self) -> float:
        """The present, s since the start of the run."""
    @property
    def len_bytes(self) -> int:
        """Its size on the wire, bytes."""
    @property
    def ecn(self) -> Literal["not_ect", "ect0", "ect1", "ce"]:
        """Its ECN bits."""
    @property
    def ecn_capable(self) -> bool:
        """Whether it may be marked."""
    @property
    def flow(self) -> int:
        """The number of its flow."""
    @property
    def backlog_packets(self) -> int:
        """What the queue holds, without it, packets."""
    @property
    def backlog_bytes(self) -> int:
        """What the queue holds, without it, bytes."""
    @property
    def victim(self) -> int | None:
        """The flow of the held packet that `Verdict.DROP_BOTH` would drop too, chosen at random.

        None where the law does not want one or no packet is held.
        """
    @property
    def u(self) -> tuple[float, float]:
        """Two uniform draws from [0, 1), for this packet alone; the second chooses the victim."""
    def __deepcopy__(self, _memo: object) -> Arrival: ...

@final
class Departure:
    """A packet that is about to leave. It cannot be changed."""

    @property
    def time_s(self) -> float:
        """The present, s since the start of the run."""
    @property
    def len_bytes(self) -> int:
        """Its size on the wire, bytes."""
    @property
    def ecn(self) -> Literal["not_ect", "ect0", "ect1", "ce"]:
        """Its ECN bits."""
    @property
    def ecn_capable(self) -> bool:
        """Whether it may be marked."""
    @property
    def flow(self) -> int:
        """The number of its flow."""
    @property
    def sojourn_s(self) -> float:
        """How long it has waited, s."""
    @property
    def backlog_packets(self) -> int:
        """What stays behind it, packets."""
    @property
    def backlog_bytes(self) -> int:
        """What stays behind it, bytes."""
    @property
    def u(self) -> tuple[float, float]:
        """Two uniform draws from [0, 1), for this packet alone."""
    def __deepcopy__(self, _memo: object) -> Departure: ...

@final
class Site:
    """A law's place: what may be known of the link and its traffic before the first packet."""

    @property
    def rate_bps(self) -> float:
        """The link's rate at the start, bit/s."""
    @property
    def packet_bytes(self) -> float:
        """The mean size of the flows' segments, bytes."""
    @property
    def limit_packets(self) -> float:
        """The buffer's limit, packets; infinite where there is none."""
    @property
    def flows(self) -> float | None:
        """How many long flows there are; None where that is not known."""
    @property
    def base_rtt_s(self) -> float | None:
        """The configured round-trip time without queueing, a mean over the flows, s; None where not known."""
    @staticmethod
    def of_trace(header: str) -> Site:
        """The place that the first line of a trace tells. Raises `ValueError` for what is none."""
    def __deepcopy__(self, _memo: object) -> Site: ...

@final
class Rest:
    """Where a law and its traffic rest. It cannot be changed."""

    @property
    def p(self) -> float:
        """The probability that holds the traffic there."""
    @property
    def backlog_packets(self) -> float:
        """The backlog there, packets."""
    @property
    def flows(self) -> float:
        """How many flows answer."""
    @property
    def capacity_pps(self) -> float:
        """The link's rate, packets/s."""
    @property
    def rtt_s(self) -> float:
        """The mean round-trip time there, queueing included, s."""

@final
class Observation:
    """What a law sees at an update. It cannot be changed.

    All that is counted is counted since the last update (at the first one, since the start of the run).
    """

    @property
    def time_s(self) -> float:
        """The present, s since the start of the run."""
    @property
    def elapsed_s(self) -> float:
        """Time since the last update, s."""
    @property
    def backlog_packets(self) -> float:
        """Backlog now, packets; the one being sent is not in it."""
    @property
    def backlog_bytes(self) -> float:
        """Backlog now, bytes."""
    @property
    def sojourn_s(self) -> float:
        """How long the packet at the head of the queue has waited, s; 0 where there is none."""
    @property
    def arrivals_packets(self) -> float:
        """Packets that arrived, those that were dropped included."""
    @property
    def arrivals_bytes(self) -> float:
        """Their bytes."""
    @property
    def departures_packets(self) -> float:
        """Packets handed to the link."""
    @property
    def departures_bytes(self) -> float:
        """Their bytes."""
    @property
    def drops_packets(self) -> float:
        """Packets dropped, by the law or because the buffer was full."""
    @property
    def marks_packets(self) -> float:
        """Packets marked."""
    @property
    def busy_s(self) -> float:
        """Time with a backlog, s."""
    @property
    def capacity_bps(self) -> float | None:
        """The link's rate, bit/s; None where it is not known."""
    @property
    def capacity_pps(self) -> float | None:
        """The link's rate, packets/s of the mean size; None where it is not known."""
    @property
    def base_rtt_s(self) -> float | None:
        """The configured round-trip time without queueing, a mean over the flows, s; None where not known."""
    @property
    def mean_packet_bytes(self) -> float:
        """The mean size of the flows' segments, bytes."""
    @property
    def limit_packets(self) -> float:
        """The buffer's limit, packets; infinite where there is none."""
    @property
    def applied_p(self) -> float:
        """The share of the arrivals that the law really dropped or marked."""
    def __deepcopy__(self, _memo: object) -> Observation: ...

@final
class Acknowledged:
    """An ACK of new data."""

    @property
    def time_s(self) -> float:
        """The present, s since the start of the run."""
    @property
    def acked_bytes(self) -> int:
        """Bytes newly acknowledged."""
    @property
    def flight_bytes(self) -> int:
        """Bytes in flight after it."""
    @property
    def rtt_s(self) -> float | None:
        """The round-trip time that this ACK shows, s; None where it shows none."""
    @property
    def smoothed_rtt_s(self) -> float | None:
        """The smoothed round-trip time, s; None before the first measurement."""
    @property
    def acked_to(self) -> int:
        """How far the data is acknowledged, bytes from its start."""
    @property
    def sent_to(self) -> int:
        """How far it was sent: a round trip is over when `acked_to` has come to where this was before."""
    @property
    def marked(self) -> bool:
        """Whether it echoes congestion."""
    def __deepcopy__(self, _memo: object) -> Acknowledged: ...

@final
class Signal:
    """Loss, an echo of congestion, or a timeout."""

    @property
    def kind(self) -> Literal["loss", "ecn", "timeout"]:
        """Which of them it is."""
    @property
    def flight_bytes(self) -> int:
        """Bytes that were outstanding."""
    @property
    def again(self) -> bool:
        """Whether this timeout comes after another one, or after a reduction by ECN, of the same segment."""
    def __deepcopy__(self, _memo: object) -> Signal: ...

@final
class Scenario:
    """A checked scenario. It cannot be changed; `at_link` and what begins with `with` give new ones.

    The lines of a `ScenarioError` of theirs do not say who asked.
    """

    @staticmethod
    def parse(
        text: bytes,
        name: str,
        overrides: list[tuple[str, str]] = ...,
        files: Callable[[str], bytes] | None = None,
    ) -> Scenario:
        """Read a scenario; `overrides` are dotted keys with TOML values. Raises `ScenarioError`."""
    def at_link(self, link: str) -> Scenario:
        """The same, in which only the disc of this link gives way to another. Raises `ScenarioError`."""
    def with_disc(self, spec: str) -> Scenario:
        """The same with another disc at every link whose disc may be replaced. Raises `ScenarioError`."""
    def with_cc(self, groups: list[int], spec: str) -> Scenario:
        """The same with another one of the catalogue's congestion controls there. Raises `ScenarioError`."""
    def with_guest(self, groups: list[int], template: CongestionControl, label: str) -> Scenario:
        """The same with a congestion control in Python, called `label`, there. Raises `ScenarioError`."""
    def describe(self, label: str | None = None, parameters: str = "") -> str:
        """What would run, in words, with the network drawn.

        With a `label`, under a law of the caller's own; `parameters` has a line for each that it has.
        """
    def to_json(self) -> str:
        """All keys, the defaults filled in."""
    @property
    def title(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def disc(self) -> str:
        """The canonical name of the disc with its parameters."""
    @property
    def guests(self) -> list[tuple[int, CongestionControl]]:
        """The congestion controls in Python with the places of their groups of flows."""
    @property
    def notes(self) -> list[str]:
        """What is legal and will surprise, a sentence each."""
    @property
    def sites(self) -> list[Site]:
        """What the law of each link whose disc may be replaced may know of its place; at least one."""

@final
class Ticket:
    """Watches and stops one run from another thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Ask the run to stop; it then raises `Cancelled`."""
    @property
    def progress(self) -> float:
        """The fraction of the simulated time that is done, 0 to 1."""

@final
class TracedLaw:
    """A law, new, at the place that the first line of a trace says; `law` stands for the law it names."""

    def __new__(cls, header: str, law: object | None = None) -> TracedLaw: ...
    def answer(self, call: str) -> str:
        """The answer to one line of a trace, as JSON.

        Raises `ValueError` for what is no call, and `LawError` when a law in Python fails.
        """

@final
class Run:
    """What one run measured."""

    @property
    def links(self) -> list[LinkRun]:
        """What was seen at each link that has a disc; last, if there are any, of classes that cross none."""
    @property
    def events(self) -> int: ...
    @property
    def cpu_s(self) -> float: ...

@final
class LinkRun:
    """What one run measured at one link, or of the classes that no link sees."""

    @property
    def link(self) -> str | None: ...
    @property
    def disc(self) -> str | None:
        """The label of the link's disc; None without a link, and where a law in Python stood in its place."""
    @property
    def rows_json(self) -> str:
        """Objects with class, metrics and conservation: packets offered, delivered, dropped and still held.

        The first one, whose class is null, is about all packets; the others are, where the run has several
        classes of traffic, about those whose data cross the link. Where there is no link, they are about the
        classes that cross none, and conservation is empty.
        """
    @property
    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """`time_s` and, equally long, every sampled quantity; NaN where nothing happened."""
    @property
    def distributions(self) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
        """By name: values, and the fraction of samples at or below each."""

def run(
    scenario: Scenario,
    seed: int,
    ticket: Ticket,
    laws: Sequence[object] = ...,
    plant: str = "packet",
) -> Run:
    """Run a plant once, packet or fluid, without the interpreter's lock.

    `laws` are a run's own `sojourn.Law`s or `sojourn.Controller`s, one for each of the scenario's sites,
    in the place of its own; the lock is taken when they are asked, and for the scenario's congestion
    controls in Python. Raises `Cancelled`, and `LawError` when one of them fails.
    """

@final
class Proof:
    """A certificate; its loops are numbered as in its JSON."""

    @property
    def json(self) -> str:
        """All of it."""
    def response(
        self, of: int, frequencies: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """L of a loop at these frequencies, rad/s: real and imaginary parts."""
    def step(self, of: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """The closed loop's answer to a step: times, s, and packets; None where its roots are not known."""
    def region(
        self,
        flows: tuple[float, float] | None = None,
        base_rtt_s: tuple[float, float] | None = None,
        points: int = 200,
        threads: int = 2,
    ) -> RegionMap:
        """The map over N and the round trip without queueing, s."""

@final
class RegionMap:
    """For which loads and round trips a certificate holds."""

    #: Meshes along the side of a block that is filled in.
    BLOCK: ClassVar[int]
    #: Evaluations that its points may take.
    MOST_EVALUATIONS: ClassVar[int]

    @property
    def flows(self) -> npt.NDArray[np.float64]:
        """N of each column."""
    @property
    def base_rtt_s(self) -> npt.NDArray[np.float64]:
        """The round trip of each row, s."""
    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """0 stable, 1 unstable, 2 not proven; from 3 on the place of a reason why nothing is told."""
    @property
    def counted(self) -> int:
        """At so many points roots were counted; the others lie in blocks whose corners agree."""
    @property
    def evaluations(self) -> int:
        """Evaluations that its points took."""
    @property
    def is_cut(self) -> bool:
        """Whether evaluations ran out before the curves were followed to their ends."""
    @property
    def reasons(self) -> list[str]:
        """What fails somewhere."""
    @property
    def boundary(self) -> list[list[npt.NDArray[np.float64]]]:
        """Curves between stable and unstable: N, the round trip in s, the frequency in rad/s."""

def prove(
    scenario: Scenario, link: str | None = None, laws: Sequence[object] = ..., label: str = ""
) -> Proof:
    """Certify a link; it may be left out where only one can be congested.

    Under `laws` called `label`, where there are any, one for each of the scenario's sites. Raises
    `ScenarioError`; `LawError` for a law that fails.
    """

def ocq_json(instance: Sequence[float], inputs: Sequence[float] | None = None) -> str:
    """The optimal control of w, mu, a, R, x0, t_f, and what `inputs` do. Raises `ScenarioError`."""

def sqm_json(capacity: float, alpha: float, flows: Sequence[Sequence[float]], asked: Sequence[float]) -> str:
    """SQM's link; flows are k, w, D, Q, and asked a phase margin and rho. Raises `ScenarioError`."""

def check_fluid(scenario: Scenario, own_laws: bool = False) -> None:
    """Raise `ScenarioError` where the fluid plant has no model; discs under `own_laws` need none."""

def check_cc(cc: object) -> None:
    """Raise `ValueError` with one line when what a run reads from a congestion control is not legal."""

def check_law(law: object) -> None:
    """Raise `ValueError` with one line when what a run reads from a law written in Python is not legal."""

def catalogue_json(kind: str) -> str:
    """Everything of a kind (`laws`, `discs`, `ccs`, `apps`, `profiles`, `knobs`), as a JSON array."""

def explain_json(name: str) -> str | None:
    """One entry of the catalogue, `scenario`, or keys of it, as a JSON object; None when unknown."""

def schema_json() -> str:
    """The JSON schema of scenario files."""
