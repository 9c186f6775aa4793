"""Figures that pages quote from runs and certificates: repeats the runs, compares or rewrites the figures.

    python docs/figures.py [--write] [PAGE...]        (make figures, make figures ARGS=--write)

A page ties a figure to its command by comments, which the built page does not show.
Before a table:

    <!-- figures
    rows: qdiscs
    columns: --set flows[0].ecn=true; --set flows[0].ecn=false
    cells: queue_mean_packets ± queue_std_packets
    -->

`rows` and `columns` list, separated by semicolons, qdiscs (a SPEC, `#2` for the second one of the command,
`.` for the file's own), changes to the command (words that begin with `--`, also after a qdisc), cells of
their own (after a `@`), nothing for the unchanged command, and `-` for cells that are no figures of ours;
`qdiscs` means those of the command, in order.
With `columns: metrics` each column has a cell of its own, and `cells` lists them, again with `-` for none;
a row's own cell that ends in a dot is a prefix of each. After a number in the text:

    179 ms<!-- figure: #1 rtt_p50_s*1e3 --set flows[0].count=6 -->

The command is the next `sojourn run` or `sojourn prove` of a block of the page, for `figure above:`
the one before, `command:` in the comment of a table, or the words after `of` in that of a
number. A metric is that of the whole link in the packet plant, `fluid:METRIC` that of the fluid,
`CLASS/METRIC` that of a class or, if no class has the name, of a queue, `LINK.METRIC` and
`LINK.CLASS/METRIC` where there are several links. For `sojourn prove` it is the
path of a number in the JSON document of the qdisc's certificate, such as `gain_margin`,
`textbook.phase_margin_deg` or `loops.0.poles.0.0`; `PLACE#2` is the second number of a text, and null is
written ∞. A metric may be scaled; `ci` is the half-width of the 95 % interval of the metric before it. A
figure has as many decimals as the page gives it.

Figures that no command repeats have a `<!-- measured: WHERE -->` beside them: the tests or targets of make
that repeat them, or `once, with` the tool. `<!-- no figure -->` follows a command without quoted results.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?|∞")
_COMMENT = re.compile(r"<!-- (figures|figure|figure above)(?::|\n)(.*?)-->", re.DOTALL)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^sojourn (?:run|prove) .*?(?=^sojourn |^\n|\Z)", re.MULTILINE | re.DOTALL)
#: Exit codes of a command that has printed its document: of `prove` 1 is unstable and 4 not proven.
_DONE = {"run": (0,), "prove": (0, 1, 4)}
#: Flags that print the document and nothing else.
_JSON = {"run": ("--json", "--quiet"), "prove": ("--json",)}

#: The words after `sojourn`.
Args = tuple[str, ...]
Span = tuple[int, int]
#: (qdisc, metric) -> low end, mean and high end; of a certificate all three are the number.
Numbers = dict[tuple[str, str], tuple[float, float, float]]


class Misplaced(Exception):
    """Invalid comment: the page and line, and the error."""


@dataclass(frozen=True)
class Figure:
    """A number of a page, and its run or certificate."""

    page: Path
    #: Its place in the page's text.
    span: Span
    written: str
    command: Args
    qdisc: str
    metric: str
    scale: float
    #: True for the half-width of the metric's interval.
    is_interval: bool

    def measured(self) -> str:
        """The figure by the run, with as many decimals as on the page."""
        found = summary(self.command).get((self.qdisc, self.metric))
        if found is None:
            raise Misplaced(f"{self.place()}: no such number under sojourn {shlex.join(self.command)}")
        low, mean, high = found
        value = self.scale * ((high - low) / 2 if self.is_interval else mean)
        text = f"{value:.{len(self.written.partition('.')[2])}f}"
        return "∞" if math.isinf(value) else text.replace("-", "−") if "−" in self.written else text

    def place(self) -> str:
        """The page and the line, the qdisc and the metric."""
        return f"{_line(self.page, self.span[0])}: {self.qdisc} {self.metric}"


def figures(page: Path) -> list[Figure]:
    """Every figure of a page that is tied to a run. Raises `Misplaced`."""
    text = page.read_text(encoding="utf-8")
    found: list[Figure] = []
    for comment in _COMMENT.finditer(text):
        read = _of_table if comment[1] == "figures" else _in_text
        try:
            found += read(page, text, comment)
        except (LookupError, ValueError) as error:
            raise Misplaced(f"{_line(page, comment.start())}: {error} in {comment[0]}") from error
    return found


@functools.cache
def summary(command: Args) -> Numbers:
    """The numbers of each qdisc under `sojourn COMMAND`."""
    found = document(command)
    return _of_certificates(command, found) if command[0] == "prove" else _of_runs(command, found)


def document(command: Args) -> dict[str, Any]:
    """The JSON document that `sojourn COMMAND` prints."""
    flags = [flag for flag in _JSON[command[0]] if flag not in command]
    words = [sys.executable, "-m", "sojourn", *command, *flags]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in _DONE[command[0]]:
        raise RuntimeError(f"{shlex.join(('sojourn', *command))}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _of_runs(command: Args, found: dict[str, Any]) -> Numbers:
    rows = found["summary"]
    # Names of qdiscs are those of the command; the document has them in full, in the same order.
    qdiscs = dict(zip(dict.fromkeys(row["qdisc"] for row in rows), _qdiscs(command) or [""], strict=True))
    several = len({row["link"] for row in rows} - {None}) > 1
    classes = {row["class"] for row in rows if row.get("class")}
    numbers = {}
    for row in rows:
        name = row["metric"] if row["plant"] == "packet" else f"{row['plant']}:{row['metric']}"
        part = row.get("class") or row.get("queue")
        if row.get("queue") in classes:
            continue  # a class of the same name has the figure
        name = f"{part}/{name}" if part else name
        name = f"{row['link']}.{name}" if several and row["link"] is not None else name
        numbers[qdiscs[row["qdisc"]], name] = (row["ci95_low"], row["mean"], row["ci95_high"])
    return numbers


def _of_certificates(command: Args, found: dict[str, Any]) -> Numbers:
    certificates = found.get("certificates", [found])
    return {
        (qdisc, place): (number, number, number)
        for qdisc, certificate in zip(_qdiscs(command) or [""], certificates, strict=True)
        for place, number in _leaves(certificate)
    }


def _leaves(part: object, place: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a document with their places; null is infinite."""
    if isinstance(part, dict | list):
        for name, inner in part.items() if isinstance(part, dict) else enumerate(part):
            yield from _leaves(inner, f"{place}.{name}" if place else str(name))
    elif isinstance(part, str):
        for count, number in enumerate(_NUMBER.finditer(part), 1):
            yield f"{place}#{count}", float(number[0].replace("−", "-").replace("∞", "inf"))
    elif part is None:
        yield place, math.inf
    elif isinstance(part, int | float):
        yield place, float(part)


# ---- Comments -----------------------------------------------------------------------------------


def _of_table(page: Path, text: str, comment: re.Match[str]) -> Iterator[Figure]:
    keys = dict(line.split(": ", 1) for line in comment[2].strip().splitlines())
    base = words(keys["command"]) if "command" in keys else _command(text, comment.end())
    rows, columns = (_axis(keys[key], base) for key in ("rows", "columns"))
    cells = [cell.strip() for cell in keys["cells"].split(";")]
    by_metric = columns == ["metrics"]
    for row, line in zip(rows, _table(text, comment.end()), strict=True):
        for number, (column, span) in enumerate(zip(cells if by_metric else columns, line, strict=True)):
            of, own = _own_cell([row] if by_metric else [row, column])
            cell = cells[number] if by_metric else cells[0]
            if own.endswith("."):
                own = cell if cell == "-" else own + cell
            spec = own or cell
            yield from _figures(page, text, span, _run(base, of), spec)


def _in_text(page: Path, text: str, comment: re.Match[str]) -> Iterator[Figure]:
    figure, of, command = comment[2].partition(" of sojourn ")
    base = words(f"sojourn {command}") if of else _command(text, comment.start(), above="above" in comment[1])
    name, dashes, changes = figure.partition(" --")
    qdisc, *spec = name.split()
    numbers = list(_NUMBER.finditer(text, max(0, comment.start() - 40), comment.start()))
    first = numbers[-len(_metrics(" ".join(spec)))]
    run = _run(base, [qdisc, dashes + changes])
    return _figures(page, text, (first.start(), comment.start()), run, " ".join(spec))


def _figures(  # noqa: PLR0917 (a place, and its content)
    page: Path, text: str, span: Span, run: tuple[Args, str] | None, spec: str
) -> Iterator[Figure]:
    if run is None or spec == "-":
        return
    metrics, numbers = _metrics(spec), list(_NUMBER.finditer(text, *span))
    if len(numbers) != len(metrics):
        raise ValueError(f"{text[slice(*span)]!r} is not {spec}")
    last = ""
    for number, (metric, scale) in zip(numbers, metrics, strict=True):
        last = last if metric == "ci" else metric
        yield Figure(page, number.span(), number[0], *run, last, scale, metric == "ci")


def _run(base: Args, of: Sequence[str]) -> tuple[Args, str] | None:
    """The command with the changes of its row and column, and the qdisc; None if they name no run of ours."""
    if "-" in of:
        return None
    command, qdisc = base, ""
    for item in of:
        name, dashes, changes = f" {item}".partition(" --")
        command = _changed(command, tuple(shlex.split(dashes + changes)))
        qdisc = name.strip() or qdisc
    if qdisc.startswith("#"):
        qdisc = _qdiscs(base)[int(qdisc[1:]) - 1]
    elif qdisc == ".":
        return command, ""
    known = _qdiscs(command)
    if qdisc and qdisc not in known:
        command = _changed(command, ("--qdisc", qdisc))
    return command, qdisc or (known[0] if known else "")


def _own_cell(of: Sequence[str]) -> tuple[list[str], str]:
    """The row and the column without their cells, and the cell."""
    parts = [item.partition("@") for item in of]
    return [name.strip() for name, _, _ in parts], "".join(cell for _, _, cell in parts)


def _metrics(spec: str) -> list[tuple[str, float]]:
    """Names and scales in `queue_mean_packets ± ci`, `rtt_p50_s*1e3`; `ci` has its metric's scale."""
    found: list[tuple[str, float]] = []
    for word in spec.replace("±", " ").split():
        name, _, scale = word.partition("*")
        found.append((name, float(scale) if scale else found[-1][1] if name == "ci" else 1.0))
    return found


def _axis(text: str, base: Args) -> list[str]:
    return _qdiscs(base) if text == "qdiscs" else [item.strip() for item in text.split(";")]


def _table(text: str, start: int) -> Iterator[list[Span]]:
    """The spans of the cells of each row of the next table, without its head and first column."""
    last = None
    for number, line in enumerate(re.finditer(r"^\|.*\|$", text[start:], re.MULTILINE)):
        if last is not None and line.start() != last + 1:
            return
        last = line.end()
        if number > 1:
            yield list(pairwise(start + line.start() + bar.start() for bar in re.finditer(r"\|", line[0])))[
                1:
            ]


def _line(page: Path, place: int) -> str:
    line = page.read_text(encoding="utf-8").count("\n", 0, place) + 1
    return f"{page.relative_to(ROOT)}:{line}"


# ---- Commands -----------------------------------------------------------------------------------


def printed(page: Path) -> list[Args]:
    """Every `sojourn run` and `sojourn prove` of the page's blocks."""
    return [command for _, command in commands(page.read_text(encoding="utf-8"))]


def commands(text: str) -> list[tuple[int, Args]]:
    """Every command of a text's blocks, with its place."""
    return [
        (block.start(1) + line.start(), words(line[0]))
        for block in _BLOCK.finditer(text)
        for line in _COMMAND.finditer(block[1])
    ]


def _command(text: str, place: int, *, above: bool = False) -> Args:
    there = [command for start, command in commands(text) if (start < place) == above]
    return there[-1 if above else 0]


def words(line: str) -> Args:
    """The words after `sojourn` of a command, which may go over several lines and end in a comment."""
    return tuple(shlex.split(line.replace("\\\n", " "), comments=True))[1:]


def _qdiscs(command: Args) -> list[str]:
    return [word for flag, word in pairwise(command) if flag == "--qdisc"]


def _changed(command: Args, changes: Args) -> Args:
    """The command with changed flags: a key of `--set` and any other flag replace the earlier ones."""
    name, file, *rest = command
    new = {_key(*flag): flag for flag in _flags(changes)}
    flags: list[Args] = []
    for old in _flags(rest):
        key = _key(*old)
        # Of several qdiscs the first is replaced, and the others are removed.
        if key not in new:
            flags.append(old)
        elif new[key] not in flags:
            flags.append(new[key])
    flags += [flag for flag in new.values() if flag not in flags]
    return (name, file, *(word for flag in flags for word in flag))


def _flags(words: Sequence[str]) -> list[Args]:
    """The flags, each with its value, if any."""
    found: list[Args] = []
    for word in words:
        if word.startswith("-"):
            found.append((word,))
        elif not found or len(found[-1]) > 1:
            raise ValueError(f"{word!r} is the value of no flag")
        else:
            found[-1] += (word,)
    return found


def _key(flag: str, word: str = "") -> str:
    return f"{flag} {word.partition('=')[0]}" if flag == "--set" else flag


# ---- The command of this file -------------------------------------------------------------------


def main() -> int:
    """Compare every figure of the pages; 1 if one is stale and was not written."""
    parser = argparse.ArgumentParser(prog="figures", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures that changed into the pages")
    parser.add_argument("page", nargs="*", type=Path, help="pages (default: all)")
    given = parser.parse_args()
    count = stale = 0
    for page in [path.resolve() for path in given.page] or PAGES:
        found = figures(page)
        new = [(figure, figure.measured()) for figure in found]
        new = [(figure, measured) for figure, measured in new if measured != figure.written]
        for figure, measured in new:
            print(f"{figure.place()}: {figure.written} on the page, {measured} now", flush=True)
        count, stale = count + len(found), stale + len(new)
        if given.write:
            _write(page, new)
    print(f"{count} figures, of which {stale} {'were' if given.write else 'are'} stale")
    return int(stale > 0 and not given.write)


def _write(page: Path, new: Sequence[tuple[Figure, str]]) -> None:
    text = page.read_text(encoding="utf-8")
    for figure, measured in sorted(new, key=lambda one: one[0].span, reverse=True):
        text = text[: figure.span[0]] + measured + text[figure.span[1] :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
