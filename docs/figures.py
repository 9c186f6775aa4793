"""Figures that pages quote from runs: repeats the runs, compares, and writes what changed into the pages.

    python docs/figures.py [--write] [PAGE...]        (make figures, make figures ARGS=--write)

A page ties a figure to the command whose result it is by comments that no reader of the built page sees.
Before a table:

    <!-- figures
    rows: discs
    columns: --set flows[0].ecn=true; --set flows[0].ecn=false
    cells: queue_mean_packets ± queue_std_packets
    -->

`rows` and `columns` list, separated by semicolons, discs (a SPEC), changes to the command (words that begin with
`--`) and `-` for what is no figure of ours; `discs` stands for those of the command, in order. With
`columns: metrics` each column has a cell of its own, and `cells` lists them. After a number in the text:

    179 ms<!-- figure: #1 rtt_p50_s*1e3 --set flows[0].count=6 -->

where `#1` is the first disc of the command. The command is the next `sojourn run` of a block of the page, that of
`figure above:` the one before, or what `command:` says in a comment of a table. A metric may be scaled, `ci`
is the half-width of the 95 % interval of the metric before it, and a figure has as many decimals as the page gives it.

Figures that no command repeats here stand under `<!-- measured: WHERE -->`: by which test or target of make they
are repeated, or when and with what they were seen.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")
_COMMENT = re.compile(r"<!-- (figures|figure|figure above)(?::|\n)(.*?)-->", re.DOTALL)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Args = tuple[str, ...]


class Misplaced(Exception):
    """A comment that ties nothing: the page and line, and what is wrong."""


@dataclass(frozen=True)
class Figure:
    """A number of a page, and the run that it is of."""

    page: Path
    #: Where it stands in the page's text.
    start: int
    end: int
    written: str
    #: The words after `sojourn run`.
    command: Args
    #: Whether the page prints that very command.
    is_printed: bool
    disc: str
    metric: str
    scale: float
    #: Whether it is the half-width of the metric's interval.
    is_interval: bool

    def measured(self) -> str:
        """The figure as the run has it, with as many decimals as the page gives it."""
        low, mean, high = summary(self.command)[self.disc, self.metric]
        value = self.scale * ((high - low) / 2 if self.is_interval else mean)
        _, point, decimals = self.written.partition(".")
        return f"{value:.{len(decimals) if point else 0}f}"

    def place(self) -> str:
        """The page and the line, and what the figure is."""
        line = self.page.read_text(encoding="utf-8").count("\n", 0, self.start) + 1
        return f"{self.page.relative_to(ROOT)}:{line}: {self.disc} {self.metric}"


def figures(page: Path) -> list[Figure]:
    """Every figure of a page that is tied to a run. Raises `Misplaced`."""
    text = page.read_text(encoding="utf-8")
    found: list[Figure] = []
    for comment in _COMMENT.finditer(text):
        try:
            make = _of_table if comment[1] == "figures" else _in_text
            found += make(page, text, comment)
        except (KeyError, IndexError, ValueError) as fault:
            line = text.count("\n", 0, comment.start()) + 1
            raise Misplaced(f"{page.relative_to(ROOT)}:{line}: {fault!r} in {comment[0]}") from fault
    return found


@functools.cache
def summary(command: Args) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Low end, mean and high end of each disc's metrics under `sojourn run COMMAND`."""
    words = [sys.executable, "-m", "sojourn", "run", *command, "--json", "--quiet"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(('sojourn', 'run', *command))}: {done.stderr}")
    rows = json.loads(done.stdout)["summary"]
    given = [word for flag, word in zip(command, command[1:], strict=False) if flag == "--disc"]
    discs = dict(zip(dict.fromkeys(row["disc"] for row in rows), given, strict=False))
    return {
        (discs[row["disc"]], row["metric"]): (row["ci95_low"], row["mean"], row["ci95_high"])
        for row in rows
        if row["mean"] is not None
    }


# ---- What the comments say ----------------------------------------------------------------------


def _of_table(page: Path, text: str, comment: re.Match[str]) -> list[Figure]:
    said = dict(line.split(": ", 1) for line in comment[2].strip().splitlines())
    base = _words(said["command"]) if "command" in said else _command(text, comment.end())
    rows, columns = (_axis(said[key], base) for key in ("rows", "columns"))
    cells = [cell.strip() for cell in said["cells"].split(";")]
    found: list[Figure] = []
    table = list(_table(text, comment.end()))
    assert len(table) == len(rows), ValueError(f"{len(table)} rows")
    for row, line in zip(rows, table, strict=True):
        for number, (column, cell) in enumerate(zip(columns or cells, line, strict=True)):
            own = cells[number] if columns is None else cells[0]
            found += _figures(
                page, text, cell, base, [row, "" if columns is None else column], own, "command" in said
            )
    return found


def _in_text(page: Path, text: str, comment: re.Match[str]) -> list[Figure]:
    base = _command(text, comment.start(), above=comment[1].endswith("above"))
    words = comment[2].split()
    change = next((place for place, word in enumerate(words) if word.startswith("--")), len(words))
    disc = words[0] if not words[0].startswith("#") else _discs(base)[int(words[0][1:]) - 1]
    spec = " ".join(words[1:change])
    numbers = list(_NUMBER.finditer(text, max(0, comment.start() - 60), comment.start()))
    first = numbers[-len(_metrics(spec))]
    return _figures(
        page, text, (first.start(), comment.start()), base, [disc, " ".join(words[change:])], spec, False
    )


def _figures(
    page: Path, text: str, span: tuple[int, int], base: Args, of: Sequence[str], spec: str, hidden: bool
) -> Iterator[Figure]:
    if "-" in of or spec == "-":
        return
    discs = [item for item in of if item and not item.startswith("--")]
    disc = discs[0] if discs else _discs(base)[0]
    changes = " ".join(item for item in of if item.startswith("--"))
    command = _changed(base, _split(changes))
    if disc not in _discs(command):
        command = _changed(command, ("--disc", disc))
    metrics = _metrics(spec)
    numbers = list(_NUMBER.finditer(text, *span))
    assert len(numbers) == len(metrics), ValueError(f"{text[slice(*span)]!r} for {spec}")
    last = ""
    for number, (metric, scale) in zip(numbers, metrics, strict=True):
        last = last if metric == "ci" else metric
        of_interval = metric == "ci"
        yield Figure(
            page,
            number.start(),
            number.end(),
            number[0],
            command,
            command == base and not hidden,
            disc,
            last,
            scale,
            of_interval,
        )


def _metrics(spec: str) -> list[tuple[str, float]]:
    """`queue_mean_packets ± ci`, `rtt_p50_s*1e3`: names and scales; the interval has that of its metric."""
    found: list[tuple[str, float]] = []
    for word in spec.split():
        if word == "±":
            continue
        name, _, scale = word.partition("*")
        found.append((name, float(scale) if scale else found[-1][1] if name == "ci" else 1.0))
    return found


def _axis(said: str, base: Args) -> list[str] | None:
    if said == "metrics":
        return None
    return _discs(base) if said == "discs" else [item.strip() for item in said.split(";")]


def _table(text: str, start: int) -> Iterator[list[tuple[int, int]]]:
    """The cells of each row of the next table but for its head and its first column, as places in the text."""
    lines = re.finditer(r"^\|.*\|$", text[start:], re.MULTILINE)
    last = None
    for number, line in enumerate(lines):
        if last is not None and line.start() != last + 1:
            return
        last = line.end()
        if number < 2:
            continue
        bars = [start + line.start() + bar.start() for bar in re.finditer(r"\|", line[0])]
        yield list(zip(bars[1:-1], bars[2:], strict=True))


# ---- Commands -----------------------------------------------------------------------------------


def printed(page: Path) -> list[Args]:
    """The words after `sojourn run` of every such command of the page's blocks."""
    return [command for _, command in _commands(page.read_text(encoding="utf-8"))]


def _commands(text: str) -> list[tuple[int, Args]]:
    found = []
    for block in _BLOCK.finditer(text):
        whole = block[1].replace("\\\n", " ")
        if whole.startswith("sojourn run "):
            found.append((block.start(), _words(whole)))
    return found


def _command(text: str, place: int, *, above: bool = False) -> Args:
    there = [command for start, command in _commands(text) if (start < place) == above]
    return there[-1 if above else 0]


def _words(line: str) -> Args:
    return tuple(shlex.split(line))[2:]


def _split(changes: str) -> Args:
    return tuple(shlex.split(changes))


def _discs(command: Args) -> list[str]:
    return [word for flag, word in zip(command, command[1:], strict=False) if flag == "--disc"]


def _changed(command: Args, changes: Args) -> Args:
    """The command with other words: a key of `--set` and any other flag replace what stood there."""
    if not changes:
        return command
    pairs = list(zip(changes[::2], changes[1::2], strict=True))
    replaced = {_key(*pair) for pair in pairs}
    file, rest = command[0], command[1:]
    kept = [pair for pair in zip(rest[::2], rest[1::2], strict=True) if _key(*pair) not in replaced]
    return (file, *(word for pair in [*kept, *pairs] for word in pair))


def _key(flag: str, word: str) -> str:
    return f"{flag} {word.partition('=')[0]}" if flag == "--set" else "--seeds" if flag == "--seed" else flag


# ---- The command of this file -------------------------------------------------------------------


def main() -> int:
    """Compare every figure of the pages; 1 where one is stale and was not written."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="figures", description=about)
    parser.add_argument("--write", action="store_true", help="write the figures that changed into the pages")
    parser.add_argument("page", nargs="*", type=Path, help="pages (default: all)")
    given = parser.parse_args()
    stale = 0
    for page in [path.resolve() for path in given.page] or PAGES:
        text, changed = page.read_text(encoding="utf-8"), []
        for figure in figures(page):
            measured = figure.measured()
            if measured != figure.written:
                print(f"{figure.place()}: {figure.written} on the page, {measured} now", flush=True)
                changed.append((figure, measured))
        stale += len(changed)
        if given.write and changed:
            for figure, measured in sorted(changed, key=lambda one: -one[0].start):
                text = text[: figure.start] + measured + text[figure.end :]
            page.write_text(text, encoding="utf-8")
    print(f"{stale} figures are stale" + (", and were written" if given.write and stale else ""))
    return int(stale > 0 and not given.write)


if __name__ == "__main__":
    sys.exit(main())
