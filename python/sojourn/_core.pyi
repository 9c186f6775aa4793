"""The compiled half of Sojourn: scenarios, the catalogue, the packet plant and single laws."""

from typing import final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Cancelled",
    "LawError",
    "Observation",
    "Run",
    "Scenario",
    "ScenarioError",
    "Ticket",
    "TracedLaw",
    "__version__",
    "catalogue_json",
    "check_controller",
    "explain_json",
    "run",
    "schema_json",
]

__version__: str

class ScenarioError(ValueError):
    """A scenario is not legal; `faults` holds one line for each fault."""

    faults: list[str]

class Cancelled(Exception):
    """A run was stopped through its ticket."""

class LawError(Exception):
    """A law written in Python failed; what it raised, if anything, is the cause."""

    args: tuple[str, float]
    """What it did, and when in the run, s."""

@final
class Observation:
    """What a controller sees at its sampling instant. It cannot be changed.

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
class Scenario:
    """A checked scenario. It cannot be changed; `with_disc` gives a new one."""

    @staticmethod
    def parse(text: bytes, name: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Read a scenario; `overrides` are dotted keys with TOML values. Raises `ScenarioError`."""
    def with_disc(self, spec: str) -> Scenario:
        """The same scenario with another disc at the bottleneck. Raises `ScenarioError`."""
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
    """A law, new, at the place that the first line of a trace says."""

    def __new__(cls, header: str) -> TracedLaw: ...
    def answer(self, call: str) -> str:
        """The answer to one line of a trace, as JSON. Raises `ValueError` for what is no call."""

@final
class Run:
    """What one run measured."""

    @property
    def metrics_json(self) -> str: ...
    @property
    def link(self) -> str: ...
    @property
    def events(self) -> int: ...
    @property
    def cpu_s(self) -> float: ...
    @property
    def series(self) -> dict[str, npt.NDArray[np.float64]]:
        """`time_s` and, equally long, every sampled quantity; NaN where nothing happened."""
    @property
    def distributions(self) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
        """By name: values, and the fraction of samples at or below each."""
    @property
    def conservation(self) -> dict[str, int]:
        """Packets offered to the disc, delivered, dropped and still held."""

def run(scenario: Scenario, seed: int, ticket: Ticket, controller: object | None = None) -> Run:
    """Run the packet plant once, without the interpreter's lock.

    `controller` is a run's own `sojourn.Controller`, in the place of the scenario's law; the lock is taken
    for each of its updates. Raises `Cancelled`, and `LawError` when the controller fails.
    """

def check_controller(controller: object) -> None:
    """Raise `ValueError` with one line when the `period` or `target_packets` of a controller is not legal."""

def catalogue_json(kind: str) -> str:
    """Everything of a kind (`laws`, `discs`, `ccs`, `apps`), as a JSON array."""

def explain_json(name: str) -> str | None:
    """One entry of the catalogue, or of `scenario`, as a JSON object; None when unknown."""

def schema_json() -> str:
    """The JSON schema of scenario files."""
