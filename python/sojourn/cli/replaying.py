"""The command `replay`: the trace of a live qdisc, on the simulator's qdisc, or behind another one."""

from __future__ import annotations

import json
from pathlib import Path

from sojourn import errors, files
from sojourn.cli import printing

__all__ = ["run"]

#: Most bytes of a trace: some ten million packets.
_MOST_BYTES = 4_000_000_000
#: Columns of the table: keys, heads and factors.
_COLUMNS = (
    ("offered", "offered", None),
    ("delivered", "delivered", None),
    ("dropped", "dropped", None),
    ("marked", "marked", None),
    ("sojourn_mean_s", "sojourn mean, ms", 1e3),
    ("sojourn_p95_s", "p95, ms", 1e3),
    ("sojourn_p99_s", "p99, ms", 1e3),
)


def run(trace: str, qdiscs: list[str], *, as_json: bool) -> None:
    """Replay a trace, then pass its arrivals through each qdisc. Raises `SojournError` for a difference."""
    from sojourn import conform

    text = _text(Path(trace))
    difference = conform.replayed(text)
    own = _qdisc_of(text, trace)
    rows = {name: conform.passage(text, name) for name in dict.fromkeys([own, *qdiscs])} if qdiscs else {}
    if as_json:
        document = {"trace": trace, "qdisc": own, "difference": difference, "passages": rows}
        printing.say(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        printing.say(_lines(own, difference, text.count("\n") - 1, rows))
    if difference is not None:
        raise errors.SojournError(f"{trace}: {difference}")


def _text(path: Path) -> str:
    try:
        data = files.read(path, _MOST_BYTES)
    except OSError as error:
        raise errors.InputError(f"TRACE: {path}: cannot be read ({files.why(error)})") from None
    return data.decode("utf-8", "replace")


def _qdisc_of(text: str, trace: str) -> str:
    try:
        return str(json.loads(text.partition("\n")[0])["qdisc"])
    except (ValueError, KeyError, TypeError):
        expected = "expected the trace of a live run: sojourn lab FILE --record trace --out FOLDER"
        raise errors.InputError(f"TRACE: {trace}: line 1 names no qdisc; {expected}") from None


def _lines(
    own: str, difference: str | None, calls: int, rows: dict[str, dict[str, float | int | None]]
) -> str:
    if difference is None:
        lines = [f"{own}: all {calls} calls have the same answers in the simulator's qdisc, bit for bit."]
    else:
        lines = [f"{own}: the simulator's qdisc answers differently."]
    if rows:
        names = ["qdisc", *rows]
        columns = [
            [head, *(_cell(row[key], factor) for row in rows.values())] for key, head, factor in _COLUMNS
        ]
        lines += ["", printing.by_rows([names, *columns], 110)]
        lines += [
            "The arrivals are those of the trace: senders do not answer to another qdisc's drops and marks."
        ]
    return "\n".join(lines)


def _cell(value: float | int | None, factor: float | None) -> str:
    if value is None:
        return "none"
    return str(value) if factor is None else f"{value * factor:.2f}"
