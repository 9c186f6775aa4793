"""The command `compare`, and the notes of `run --warm-up`: their work and their output."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.cli import options, printing
from sojourn.errors import InputError, SojournError

if TYPE_CHECKING:
    from sojourn.flent import Capture
    from sojourn.result import Result
    from sojourn.result.equivalence import Agreement

__all__ = ["run", "warm_ups"]


def run(
    left: str, right: str | None, tolerance: str | None, metrics: Sequence[str], *, as_json: bool
) -> None:
    """Print the agreement of two results. Raises `SojournError` where it is not shown."""
    share = 0.05 if tolerance is None else options.TOLERANCE(tolerance)
    with printing.hushed():
        first = _read(options.LEFT(left))
        second = None if right is None else _read(options.RIGHT(right))
    try:
        found = _agreement(first, second, share, metrics)
    except InputError as error:
        raise InputError(*(_flagged(line) for line in error.lines)) from None
    delivery = printing.Delivery()
    delivery.show(lambda: found.to_json() if as_json else _shown(found))
    outcome = None
    if not found.agrees:
        counts = {name: found.verdicts.count(name) for name in dict.fromkeys(found.verdicts)}
        parts = ", ".join(f"{number} {_WORDS[name]}" for name, number in counts.items())
        outcome = SojournError(f"not shown to agree within {100 * share:g} %: {parts}")
    delivery.conclude("sojourn compare", outcome)


def _read(name: str) -> Result | Capture:
    """A result folder, or a data file of Flent."""
    from sojourn.result import Result

    if options.is_capture(name):
        from sojourn.flent import read

        return read(name)
    return Result.read(name)


def _agreement(
    first: Result | Capture, second: Result | Capture | None, share: float, metrics: Sequence[str]
) -> Agreement:
    from sojourn.result import Result

    if isinstance(first, Result) and (second is None or isinstance(second, Result)):
        return first.agreement(second, share, metrics)
    from sojourn.flent.comparing import compare

    if second is None:
        raise InputError("compare: a capture of Flent has one plant; expected another one, or a result")
    return compare(first, second, share, metrics)


_WORDS = {"agrees": "agree", "differs": "differ", "undecided": "undecided", "one seed": "of one seed"}


def _flagged(line: str) -> str:
    """The line of an error of an argument, with its option."""
    for name, flag in (("metrics: ", "--metric: "), ("metric: ", "--metric: "), ("compare: ", "B: ")):
        if line.startswith(name):
            return flag + line.removeprefix(name)
    return line


def _shown(found: Agreement) -> str:
    """A table for each pair of variants, and a line on their backlogs."""
    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    pairs = dict.fromkeys(
        pair for part in (found.metrics, found.series) for pair in part.select("left", "right").rows()
    )
    blocks = []
    for left, right in pairs:
        rows = found.metrics.filter(left=left, right=right).to_dicts()
        head = ["", f"A: {left}", f"B: {right}", "B / A", "p", f"within {100 * found.tolerance:g} %"]
        lines = [printing.table(head, [_row(row, found) for row in rows], width)] if rows else []
        lines += [_backlogs(row) for row in found.series.filter(left=left, right=right).to_dicts()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _row(row: dict[str, Any], found: Agreement) -> list[str]:
    from sojourn.result.words import column_named

    column = found.columns.get(row["metric"]) or column_named(row["metric"])
    means = [f"{row[f'mean_{side}'] * column.scale:.4g}" for side in ("left", "right")]
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3f}"
    return [column.long, *means, ratio, _p(row["p"]), row["verdict"]]


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _backlogs(row: dict[str, Any]) -> str:
    runs = "1 run" if row["n"] == 1 else f"{row['n']} runs"
    text = (
        f"backlog above {row['level_packets']:.4g} packets: {100 * row['above_left']:.1f} % and "
        f"{100 * row['above_right']:.1f} % of the time, {row['verdict']} (p {_p(row['p'])}, {runs} each)"
    )
    if row["apart_packets"] is None:
        return text
    aligned = f"{row['apart_packets']:.3g} packets apart, shifted by up to {row['shift_s']:.3g} s"
    return f"{text}; aligned in time {aligned}"


def warm_ups(result: Result) -> list[str]:
    """A line for each qdisc, plant and link: the longest warm-up over the seeds."""
    import polars as pl

    rows = result.warm_up()
    lines = []
    for place, own in rows.group_by("link", "qdisc", "plant", maintain_order=True):
        link, qdisc, plant = map(str, place)
        of = f"the backlog of {qdisc} ({plant})" + (f" at {link}" if len(result.links) > 1 else "")
        scenario = f"the scenario has {own['warmup_s'][0]:g} s"
        open_ = own.filter(pl.col("verdict") == "not settled").height
        longest = f"{max(own['found_s']):g} s"
        if open_:
            lines.append(
                f"MSER-5 finds no end of the warm-up in {of}, {open_} of {own.height} runs; {scenario}"
            )
            continue
        seeds = f" (longest of {own.height} runs)" if own.height > 1 else ""
        short = ", which is too short" if (own["verdict"] == "short").any() else ""
        lines.append(f"MSER-5 finds {longest} of warm-up in {of}{seeds}; {scenario}{short}")
    return lines
