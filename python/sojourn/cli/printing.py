"""Output of the commands: results on stdout, all else on stderr."""

from __future__ import annotations

import functools
import io
import itertools
import json
import logging
import os
import re
import shutil
import sys
import textwrap
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from sojourn.errors import WriteWarning, settle

if TYPE_CHECKING:
    from pathlib import Path

    from sojourn.conform import Difference
    from sojourn.design import Design
    from sojourn.deviations import Deviations
    from sojourn.errors import Diagnostic
    from sojourn.ocq import Table
    from sojourn.prove import Certificate
    from sojourn.prove.beside import Beside
    from sojourn.prove.several import Proven
    from sojourn.simulate import Watch
    from sojourn.validity import Validity
    from sojourn.validity.grid import ValidityMap


# Most notes on a scenario that are printed one by one.
_MOST_NOTES = 8
# Beginning of a line about an option or an argument.
_NAMED = re.compile(r"--|[A-Z]+: ")


class ReaderGone(Exception):
    """The reader of stdout has closed it: nothing more is worth printing."""


def prepare() -> None:
    """Set up the streams: replace characters that the terminal lacks; keep stderr for Sojourn's lines.

    Matplotlib warns where it cannot keep its cache in the user's home; it then works without. No command
    opens a window, and the user's choice of a backend for them may not be installed.
    """
    _Printed.anything = False
    os.environ["MPLBACKEND"] = "agg"
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def is_terminal(stream: TextIO | None) -> bool:
    """True if the stream is a terminal; a closed one is None."""
    return stream is not None and stream.isatty()


def say(text: str) -> None:
    """Print on stdout; a reader that has gone is no error."""
    if sys.stdout is None:
        raise ReaderGone
    try:
        _Printed.anything = True
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
        raise ReaderGone from None


def say_refused(found: Sequence[Diagnostic]) -> None:
    """Print errors of the input as one JSON document, unless stdout has one already."""
    if found and not _Printed.anything:
        with suppress(ReaderGone):
            say(json.dumps({"errors": [one._asdict() for one in found]}, indent=1, ensure_ascii=False))


class _Printed:
    """State of stdout in this command."""

    anything = False


def drop_stdout() -> None:
    """Redirect stdout to the null device: the interpreter flushes it once more at exit."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Print on stderr; ignore a terminal or reader that has gone."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def hushed() -> Iterator[None]:
    """Suppress what Polars' compiled half prints of a damaged file: the error has its line."""
    try:
        kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # stderr is closed
        yield
        return
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def remark(notes: Sequence[str]) -> None:
    """Print notes on a scenario on stderr; of many only the first."""
    for one in notes[:_MOST_NOTES]:
        note(f"note: {one}")
    if len(notes) > _MOST_NOTES:
        note(f"note: and {len(notes) - _MOST_NOTES} more")


def complain(lines: Sequence[str], command: str, drawings: Sequence[str] = ()) -> None:
    """Print the lines of an error; one that begins with an option or argument gets the command before it.

    At a terminal the lines of the file that show an error follow it.
    """
    shown = drawings if drawings and is_terminal(sys.stderr) else [""] * len(lines)
    for line, drawing in zip(lines, shown, strict=True):
        note(one_line(f"{command}: {line}" if _NAMED.match(line) else line))
        if drawing:
            note(drawing)


def one_line(text: str) -> str:
    """Reduce text to one printable line of bounded length, whatever it quotes."""
    cut = text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} ..."
    return "".join(one if one.isprintable() or _is_byte(one) else ascii(one)[1:-1] for one in cut)


def _is_byte(letter: str) -> bool:
    """True for a byte of a name that is not UTF-8; it is printed as a replacement character."""
    return 0xDC80 <= ord(letter) <= 0xDCFF


#: Most characters in a line of an error.
MOST_LETTERS = 2000


@contextmanager
def progress(runs: int | str, *, show: bool) -> Iterator[Watch | None]:
    """Show the progress of a number of runs on stderr, or with a text."""
    number, text = (0, runs) if isinstance(runs, str) else (runs, "")
    with bar("runs", show=show, text=text) as update:
        yield None if update is None else lambda done, fraction: update(done, number, fraction)


@contextmanager
def bar(noun: str, *, show: bool, text: str = "") -> Iterator[Callable[[int, int, float], None] | None]:
    """Show a progress bar with the time left on stderr, removed when the work is done.

    The function takes what is done, out of how many, and the fraction of all work. `text` replaces counts.
    """
    with stages(text or noun, show=show) as update:
        if update is None:
            yield None
        else:
            yield lambda done, total, fraction: update(text or f"{done} of {total} {noun}", fraction)


@contextmanager
def stages(text: str, *, show: bool) -> Iterator[Callable[[str, float], None] | None]:
    """Show the same bar with a text of its own at each step: the function takes it and the fraction."""
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    shown = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    task = shown.add_task(text, total=1.0)

    def update(now: str, fraction: float) -> None:
        with suppress(OSError):  # a terminal that has gone away ends no run
            shown.update(task, completed=fraction, description=now)

    with suppress(OSError):
        shown.start()
    try:
        yield update
    finally:
        with suppress(OSError):
            shown.stop()


@contextmanager
def warned() -> Iterator[None]:
    """Print a line on stderr for each `WriteWarning`; other warnings are unaffected."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", WriteWarning)
        show = warnings.showwarning

        def line(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, WriteWarning):
                note(one_line(f"warning: {message}"))
            else:
                show(message, category, *place, **more)

        warnings.showwarning = line
        yield


@dataclass
class Delivery:
    """Printing and writing of a result; a failure of one part does not stop the others."""

    printed: bool = False
    #: Paths written.
    written: list[Path] = field(default_factory=list)
    #: Failures, that of printing first.
    errors: list[Exception] = field(default_factory=list)

    def show(self, make: Callable[[], str]) -> None:
        """Print the result of `make` on stdout, unless printing has failed before."""
        if self.printed or not self.errors:
            self.printed = self._attempt(lambda: say(make()))

    def write(self, path: Path, write: Callable[[], object]) -> None:
        """Write the file or folder at the path."""
        if self._attempt(write):
            self.written.append(path)

    def _attempt(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except Exception as error:
            self.errors.append(error)
            return False
        return True

    def __str__(self) -> str:
        """Such as ``: printed and written to out``; empty if nothing was delivered."""
        facts = ["printed"] * self.printed
        facts += [f"written to {', '.join(map(str, self.written))}"] if self.written else []
        return f": {' and '.join(facts)}" if facts else ""

    def conclude(self, command: str, outcome: BaseException | None = None) -> None:
        """Raise the outcome of the command, else the first failure; print the lines of the other failures.

        A reader that has gone is no failure, and no outcome where there is another.
        """
        errors = [error for error in self.errors if not isinstance(error, ReaderGone)]
        if outcome is None and self.errors:
            *errors, outcome = errors or self.errors
        for error in errors:
            complain(settle(error, command)[1], command)
        if outcome is not None:
            raise outcome


def difference(path: Path, differences: Sequence[Difference]) -> str:
    """First difference of a trace, the calls after it that may follow from it, and the law's input."""
    more = f" (and {len(differences) - 1} more)" if len(differences) > 1 else ""
    return "\n".join([f"{_short(path, differences[0])}{more}", *_put_to(differences[0])])


def conformance(found: Mapping[Path, Sequence[Difference]], *, interrupted: bool, as_json: bool) -> str:
    """Replayed traces: the number that pass, or all differences as a document."""
    if not as_json:
        held = sum(not differences for differences in found.values())
        return f"{held} of {len(found)} traces pass"
    traces = [
        {
            # The folder is that of a law or of a qdisc.
            "law": path.parent.name,
            "trace": path.stem,
            "holds": not differences,
            "differences": [_short(path, one) for one in differences],
            "first": _first(differences[0]) if differences else None,
        }
        for path, differences in found.items()
    ]
    holds = not any(found.values()) and not interrupted
    return json.dumps({"schema": 1, "holds": holds, "interrupted": interrupted, "traces": traces}, indent=1)


def _short(path: Path, difference: Difference) -> str:
    return difference.removeprefix(f"{path.parents[1]}/")


def _first(difference: Difference) -> dict[str, Any]:
    """The trace's line and its law's parameters and link context, as a document."""
    header = json.loads(difference.header)
    call = None if difference.call is None else json.loads(difference.call)
    of = {"params": header["params"]} if "params" in header else {"qdisc": header["qdisc"]}
    return {"line": difference.number, "call": call, **of, "link": header["link"]}


def _put_to(difference: Difference) -> list[str]:
    """The same as text; lists and tables as in the file."""
    header = json.loads(difference.header)
    if "qdisc" in header:
        lines = [f"  {header['qdisc']} at {json.dumps(header['link'])}"]
    else:
        params = json.dumps(header["params"], ensure_ascii=False) if header["params"] else "its defaults"
        lines = [f"  {header['law']} under {params} at {json.dumps(header['link'])}"]
    return lines if difference.call is None else [*lines, f"  line {difference.number}: {difference.call}"]


#: Spaces between two columns.
GAP = 3
#: The same for tables of many columns.
NARROW = 2


def by_rows(columns: list[list[str]], width: int, gap: int = GAP) -> str:
    """A table of columns, each with its heading first."""
    head, *rows = zip(*columns, strict=True)
    return table(head, rows, width, gap)


def beside(
    names: list[str], columns: list[list[str]], width: int, gap: int = GAP
) -> Iterator[list[list[str]]]:
    """Split columns into tables that fit the width, each beginning with the names."""

    def room(column: list[str]) -> int:
        # A header is broken into several lines.
        return max(map(len, [*column[0].split(), *column[1:]])) + gap

    free = width - max(map(len, names))
    part, left = [names], free
    for column in columns:
        if room(column) > left and len(part) > 1:
            yield part
            part, left = [names], free
        part.append(column)
        left -= room(column)
    yield part


def deliver_proven(found: Proven, folder: Path | None, output: Path | None, *, as_json: bool) -> Delivery:
    """Print the certificates, then write the folder and the page; print their paths."""
    from sojourn import files

    text, delivery = found.to_json(), Delivery()
    delivery.show(lambda: text if as_json else proven(found))
    _write_proven(found, text, files_of(folder, output), delivery)
    pages = [
        path for path in files_of(folder, output) if path in delivery.written and path.name != CERTIFICATE
    ]
    pages = [path for path in pages if not files.is_stream(path)]
    if pages and not as_json:
        delivery.show(lambda: "\n" + "\n\n".join(map(str, pages)))
    return delivery


def _write_proven(found: Proven, text: str, places: Sequence[Path], into: Delivery) -> None:
    """Write the pages, then the document."""
    from sojourn.cli.options import make_room
    from sojourn.prove.page import page
    from sojourn.report import put, put_text

    drawn = functools.cache(lambda: page(found.certificates, found.beside))

    def write(place: Path) -> None:
        make_room(place)
        if place.name == CERTIFICATE:
            put_text(place, text + "\n")
        else:
            put(place, drawn)

    for place in sorted(places, key=lambda one: one.name != CERTIFICATE):
        into.write(place, functools.partial(write, place))


#: Name of the document in the folder of `sojourn prove --out`.
CERTIFICATE = "certificate.json"


def files_of(folder: Path | None, output: Path | None) -> list[Path]:
    """Files that `sojourn prove` writes: the pages, and the document last."""
    pages = [] if output is None else [output]
    return pages if folder is None else [*pages, folder / "certificate.html", folder / CERTIFICATE]


def proven(found: Proven) -> str:
    """Each verdict in a sentence, then its margins and what stands beside it."""
    pairs = zip(found.certificates, found.beside, strict=True)
    return "\n\n".join(certificate(one, beside) for one, beside in pairs)


def certificate(one: Certificate, beside: Beside) -> str:
    """A verdict in a sentence, then its margins and what stands beside it."""
    from sojourn.prove import words

    text = [_wrapped(str(one), "")]
    if one.classes:
        text += [*_classes(one), *_sigmas(one)]
    if one.loops:
        text += _margins(one)
    if beside.region is not None:
        text.append(_wrapped(words.of_map(beside.region), ""))
    text += [] if beside.large is None else _deviations(beside.large)
    text += [] if beside.check is None else _check(beside.check)
    text += [] if beside.grid is None else _check_map(beside.grid)
    text += [_wrapped(line, "") for line in beside.remarks()]
    return "\n\n".join(text)


def _deviations(found: Deviations) -> list[str]:
    """Sentences on large deviations, and the table of responses, split to fit."""
    from sojourn.deviations import words

    text = ["\n".join(_wrapped(line, "") for line in words.sentences(found))]
    rows = words.rows(found)
    if not rows:
        return text
    names, cells = zip(*rows, strict=True)
    columns = [
        ["\n".join(f"{title} {unit}".split()), *column]
        for (title, unit), column in zip(words.COLUMNS, zip(*cells, strict=True), strict=True)
    ]
    parts = beside(["after", *names], columns, _width(), NARROW)
    tables = [by_rows(part, _width(), NARROW) for part in parts]
    return [*text, *tables, *(_wrapped(line, "") for line in words.dashes(found))]


def _check(found: Validity) -> list[str]:
    """The verdict on the theory, its table, split to fit, and what it is about."""
    from sojourn.validity import words

    text = []
    for one in (found, *found.others):
        names, cells = zip(*words.rows(one), strict=True)
        columns = [
            [title, *column] for title, column in zip(words.COLUMNS, zip(*cells, strict=True), strict=True)
        ]
        parts = beside(["", *names], columns, _width(), NARROW)
        text += [_wrapped(str(one), ""), *(by_rows(part, _width(), NARROW) for part in parts)]
    return [*text, _wrapped(f"{words.about(found)} {words.whose(found)}", "")]


def _check_map(found: ValidityMap) -> list[str]:
    """A table of the map, round trips downwards, split to fit, and what its letters mean."""
    from sojourn.validity import words

    names, cells = zip(*words.rows_of_map(found), strict=True)
    columns = [
        [f"{flows:.0f}\nflow{'s' * bool(flows != 1)}", *column]
        for flows, column in zip(found.flows, zip(*cells, strict=True), strict=True)
    ]
    parts = beside(["base RTT", *names], columns, _width(), NARROW)
    tables = [by_rows(part, _width(), NARROW) for part in parts]
    return [*tables, *(_wrapped(line, "") for line in words.of_map(found))]


def _classes(one: Certificate) -> list[str]:
    """Table of the classes whose queues share the link, split to fit."""
    from sojourn.prove import words

    names, verdicts, cells = zip(*words.class_rows(one), strict=True)
    columns = [["verdict", *verdicts]]
    for (title, unit, _), column in zip(words.OF_CLASS, zip(*cells, strict=True), strict=True):
        columns.append(["\n".join(f"{title} {unit}".split()), *column])
    return [by_rows(part, _width(), NARROW) for part in beside(["class", *names], columns, _width(), NARROW)]


def _sigmas(one: Certificate) -> list[str]:
    """Table of the sigmas of their prices, split to fit, and what it is about."""
    from sojourn.prove import words

    rows = words.sigma_rows(one)
    if not rows:
        return []
    names, cells = zip(*rows, strict=True)
    columns = [
        ["\n".join(f"{title} {unit}".split()), *column]
        for (title, unit, _), column in zip(words.OF_SIGMA, zip(*cells, strict=True), strict=True)
    ]
    parts = beside(["class", *names], columns, _width(), NARROW)
    return [*(by_rows(part, _width(), NARROW) for part in parts), _wrapped(words.ABOUT_SIGMA, "")]


def _margins(one: Certificate) -> list[str]:
    """Table of a certificate's loops, split to fit, and the notes below it."""
    from sojourn.prove import words

    names, cells = zip(*words.rows(one), strict=True)
    columns = [
        ["\n".join(f"{title} {unit}".split()), *column]
        for (title, unit, *_), column in zip(words.COLUMNS, zip(*cells, strict=True), strict=True)
    ]
    parts = beside(["loop", *names], columns, _width(), NARROW)
    notes = [_wrapped(note, "") for note in words.notes(one)]
    return [*(by_rows(part, _width(), NARROW) for part in parts), "\n".join(notes)]


def designed(found: Design) -> str:
    """The answer, the table of its vertices, and all else in sentences."""
    from sojourn.design import words

    answer, *rest = words.sentences(found)
    names, cells = zip(*words.rows(found), strict=True)
    columns = [
        ["\n".join(f"{title} {unit}".split()), *column]
        for (title, unit, _), column in zip(words.COLUMNS, zip(*cells, strict=True), strict=True)
    ]
    parts = beside(["vertex", *names], columns, _width(), NARROW)
    tables = [by_rows(part, _width(), NARROW) for part in parts]
    return "\n\n".join([_wrapped(answer, ""), *tables, "\n".join(_wrapped(line, "") for line in rest)])


#: Document of `sojourn ocq --out`, and its page.
OPTIMAL, OPTIMAL_PAGE = "ocq.json", "ocq.html"


def optimal_files(folder: Path | None, output: Path | None) -> list[Path]:
    """Files that `sojourn ocq` writes: the pages, and the document last."""
    pages = [] if output is None else [output]
    return pages if folder is None else [*pages, folder / OPTIMAL_PAGE, folder / OPTIMAL]


def deliver_optimal(
    found: Table, document: Callable[[bool], str], places: Sequence[Path], as_json: bool | None
) -> Delivery:
    """Print solutions of the control problem, then write the pages and the document; print their paths.

    `document` makes the JSON, with series if True; `as_json` prints it, None the text instead.
    """
    from sojourn import files
    from sojourn.cli.options import make_room
    from sojourn.ocq.page import page
    from sojourn.report import put, put_text

    delivery = Delivery()
    delivery.show(lambda: solutions(found) if as_json is None else document(as_json))
    drawn = functools.cache(lambda: page(found))

    def write(place: Path) -> None:
        make_room(place)
        if place.name == OPTIMAL:
            put_text(place, document(True))
        else:
            put(place, drawn)

    for place in places:
        delivery.write(place, functools.partial(write, place))
    shown = [path for path in delivery.written if path.name != OPTIMAL and not files.is_stream(path)]
    if shown and as_json is None:
        delivery.show(lambda: "\n" + "\n\n".join(map(str, shown)))
    return delivery


def solutions(found: Table) -> str:
    """Each instance with its methods, below the sentences about all; of one solution a sentence."""
    from sojourn.ocq import words

    alone = len(found.rows) == 1
    sentences = [words.verdict(found.rows[0])] if alone else words.headline(found)
    blocks = ["\n".join(_wrapped(sentence, "") for sentence in sentences)] if sentences else []
    for instance in found.instances:
        rows = [(row.name, words.cells(row)) for row in found.of(instance)]
        rows += [] if alone else words.printed(found, instance)
        names, cells = zip(*rows, strict=True)
        columns = [
            ["\n".join(f"{title} {unit}".split()), *column]
            for (title, unit, *_), column in zip(words.COLUMNS, zip(*cells, strict=True), strict=True)
        ]
        parts = beside(["method", *names], columns, _width(), NARROW)
        head = _wrapped(words.about(instance, found.of(instance)[0].solution.problem), "")
        blocks.append("\n".join([head, *(by_rows(part, _width(), NARROW) for part in parts)]))
    blocks += ["\n".join(f"skipped: {line}" for line in found.skipped)] if found.skipped else []
    return "\n\n".join(blocks)


def listing(entries: Sequence[dict[str, Any]]) -> str:
    """Names and summaries, in two columns."""
    left = max(len(entry["name"]) for entry in entries) + 2
    lines = []
    for entry in entries:
        wrapped = textwrap.wrap(entry["summary"], max(30, _width() - left)) or [""]
        lines.append(entry["name"].ljust(left) + wrapped[0])
        lines += [" " * left + more for more in wrapped[1:]]
    return "\n".join(lines)


def explanation(entry: dict[str, Any]) -> str:
    """One entry of the catalogue as a page of text."""
    parts = [f"{entry['name']} ({entry['kind']}): {entry['summary']}"]
    if entry.get("idea"):
        parts.append(_paragraphs(entry["idea"]))
    if entry.get("equation"):
        parts.append(textwrap.indent(entry["equation"].strip("\n"), "    "))
    if entry.get("forms"):
        parts.append("\n".join(f"  {form}\n{_wrapped(about, ' ' * 6)}" for form, about in entry["forms"]))
    if entry.get("fields"):
        heading = _HEADINGS.get(entry["kind"], "Parameters")
        parts.append(f"{heading}\n" + "\n".join(_field(field) for field in entry["fields"]))
    elif entry["kind"] == "metric":
        parts.append(f"Unit: {entry['unit']}" if entry["unit"] != "1" else "A plain number.")
    elif entry["kind"] not in ("framing", "setting", "topic"):
        parts.append("No parameters.")
    if entry.get("source"):
        parts.append(_wrapped(f"Source: {entry['source']}", ""))
    return "\n\n".join(parts)


def of_scenario(name: str, text: str) -> str:
    """A scenario of the gallery: the comment at its head, its title, and commands for it."""
    comment = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
    about = _wrapped(" ".join(line.removeprefix("#").strip() for line in comment), "")
    title = tomllib.loads(text)["title"]
    commands = f"  sojourn check {name}\n  sojourn run {name} --out results"
    return "\n\n".join(part for part in (f"{name} (scenario): {title}", about, commands) if part)


#: Headings of an entry's fields, where they are not parameters.
_HEADINGS = {
    "scenario": "Top-level keys",
    "link": "Keys",
    "key": "Keys",
    "profile": "Settings",
}


def _field(field: dict[str, Any]) -> str:
    symbol = f" ({field['symbol']})" if field.get("symbol") else ""
    default = (
        "required" if field.get("is_required") else _default(field.get("default"), field.get("why") or "")
    )
    head = f"  {field['key']}{symbol}: {field['kind']}, {default}"
    expected = field.get("rule") or ", ".join(field.get("words", []))
    about = [field.get("about"), f"Expected: {expected}" if expected else None]
    if field.get("keys"):
        about.append(f"Keys: {', '.join(field['keys'])}")
    if (field.get("why") or "none") != "none":
        reason = "Why it is required" if field.get("is_required") else "Why this default"
        about.append(f"{reason}: {field['why']}")
    if field.get("source"):
        about.append(f"Source: {field['source']}")
    text = " ".join(part.rstrip(".") + "." for part in about if part)
    return head + ("\n" + _wrapped(text, "      ") if text else "")


def _default(value: object, why: str) -> str:
    if value is None:
        return "no default" if why.startswith("none") else "derived by default"
    return f"default {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"


def _paragraphs(text: str) -> str:
    return "\n\n".join(_wrapped(part, "") for part in text.split("\n\n"))


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(" ".join(text.split()), _width(), initial_indent=indent, subsequent_indent=indent)


def _width() -> int:
    return min(100, max(60, shutil.get_terminal_size((88, 24)).columns))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int, gap: int = GAP) -> str:
    """A table as text, its first column to the left."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=gap < GAP)
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place == 0 else "right", overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    # A label is plain text: brackets and colons in it are no markup.
    console = Console(
        width=width, force_terminal=is_terminal(sys.stdout), highlight=False, markup=False, emoji=False
    )
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
