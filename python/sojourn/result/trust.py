"""Trust in live runs: whether the machine kept time, and lost no packet outside of the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.result import Result, Row

__all__ = ["NUMBERS", "VERDICTS", "fault", "line", "lines", "named", "runs", "void_line", "voids"]

#: Verdicts, the best first: packets were on time; one in a hundred was later than a packet takes on the link;
#: a device dropped packets, or the network was seconds behind the clock.
VERDICTS = ("good", "degraded", "void")
#: Numbers that the trust in a run has.
NUMBERS = ("lateness_p50_s", "lateness_p99_s", "lateness_max_s", "packet_time_s", "device_drops")


def runs(result: Result) -> list[Row]:
    """The live runs, the worst first."""
    found = [row for row in result.runs if row.trust]
    return sorted(found, key=lambda row: VERDICTS.index(row.trust["verdict"]), reverse=True)


def lines(result: Result) -> list[str]:
    """One line for each live run, the worst first.

    >>> import sojourn as sj
    >>> lines(sj.run(sj.load("dumbbell", {"duration": "41 s"})))
    []
    """
    return [named(row) for row in runs(result)]


def named(row: Row) -> str:
    """The line of a live run."""
    return f"{_name(row)}: {line(row.trust)}"


def voids(result: Result) -> list[Row]:
    """Live runs whose results are not valid."""
    return [row for row in runs(result) if row.trust["verdict"] == "void"]


def void_line(rows: list[Row]) -> str:
    """The fault of void runs, and the remedy."""
    names = ", ".join(_name(row) for row in rows)
    faults = dict.fromkeys(fault(row.trust) for row in rows)
    return f"void: {names}: {'; or '.join(faults)}"


def fault(trust: Mapping[str, float | int | str | None]) -> str:
    """The fault of a void run, and the remedy."""
    if not trust.get("device_drops"):
        return "the network was seconds behind the clock; a law in Python must take less time than its period"
    return (
        "a device dropped packets outside of the network; for a good run, lower the rate or the number of "
        "flows, end other programs, and run as root (SCHED_FIFO)"
    )


def line(trust: Mapping[str, float | int | str | None]) -> str:
    """The trust in a run: verdict, lateness, drops of devices, scheduling class and load of the machine.

    The kind of the devices follows their drops if it is not TUN.
    """
    p50, p99, most, packet = (_ms(trust.get(f"{name}_s")) for name in _LATE)
    drops = trust.get("device_drops") or 0
    kind = "" if trust.get("device", "tun") == "tun" else " (AF_PACKET)"
    loads = " to ".join(
        str(trust[key]) for key in ("load_before", "load_after") if trust.get(key) is not None
    )
    return (
        f"{trust['verdict']}; lateness p50 {p50}, p99 {p99}, max {most} (a packet takes {packet}); "
        f"device drops {drops}{kind}; {trust.get('scheduling')}; load {loads or 'unknown'}"
    )


def _name(row: Row) -> str:
    return f"{row.qdisc} live, seed {row.seed}"


#: Names of times.
_LATE = ("lateness_p50", "lateness_p99", "lateness_max", "packet_time")


def _ms(value: float | int | str | None) -> str:
    return "none" if not isinstance(value, int | float) else f"{value * 1e3:.3g} ms"
