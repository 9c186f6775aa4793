"""The compiled half of Sojourn: scenarios, the catalogue, the packet plant and single laws."""

from typing import final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Cancelled",
    "Run",
    "Scenario",
    "ScenarioError",
    "Ticket",
    "TracedLaw",
    "__version__",
    "catalogue_json",
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

@final
class Scenario:
    """A checked scenario. It cannot be changed; `with_disc` gives a new one."""

    @staticmethod
    def parse(text: bytes, name: str, overrides: list[tuple[str, str]] = ...) -> Scenario:
        """Read a scenario; `overrides` are dotted keys with TOML values. Raises `ScenarioError`."""
    def with_disc(self, spec: str) -> Scenario:
        """The same scenario with another disc at the bottleneck. Raises `ScenarioError`."""
    def describe(self) -> str:
        """What would run, in words, with the network drawn."""
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

    def __init__(self, header: str) -> None: ...
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

def run(scenario: Scenario, seed: int, ticket: Ticket) -> Run:
    """Run the packet plant once, without the interpreter's lock. Raises `Cancelled`."""

def catalogue_json(kind: str) -> str:
    """Everything of a kind (`laws`, `discs`, `ccs`, `apps`), as a JSON array."""

def explain_json(name: str) -> str | None:
    """One entry of the catalogue, or of `scenario`, as a JSON object; None when unknown."""

def schema_json() -> str:
    """The JSON schema of scenario files."""
