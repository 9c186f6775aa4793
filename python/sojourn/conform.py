"""Golden decision traces: the folder `vectors/`, replayed through a law call by call.

A trace is a file of JSON lines. The first says which law at which place, and where the trace was made for one
clause of the law's source, that clause; each other line is one call of the law with the answer expected.
`vectors/README.md` tells every key, so that a law in any language can be held to the same answers: one
written in Python, too, a `sojourn.Law` or a `sojourn.Controller`.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sojourn import files, kinds
from sojourn.conversation import LONGEST_ANSWER, TIMEOUT_S, TOO_MUCH, CommandResult, run_program
from sojourn.errors import ArgumentError, InputError, LawFailed, missing_core
from sojourn.kinds import shown, takes
from sojourn.laws_in_python import LawInPython

try:
    from sojourn import _core
    from sojourn.laws_in_python.lines import failure_of
    from sojourn.laws_in_python.parameters import label_of
    from sojourn.laws_in_python.template import own_copy, template_of
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = [
    "TIMEOUT_S",
    "Difference",
    "TracedLaw",
    "against",
    "compare",
    "replay",
    "traces",
    "without_answers",
]

#: A law written in Python as an argument.
A_LAW = kinds.instance(
    LawInPython, "a law; expected an object of a class on sojourn.Law or sojourn.Controller"
)
#: The largest trace that is read, bytes.
_MOST_BYTES = 100_000_000
_SHIPPED = Path(__file__).parent / "vectors"
_ANSWERS = ("verdict", "p", "next_ns")
_VERDICTS = ("pass", "mark", "drop", "drop_both")
_LEGAL = "legal: a JSON object on each line, as vectors/README.md tells"


class Difference(str):
    """A difference in one line of text: ``FILE:LINE: answers X, expected Y``.

    `number` is the line of the trace, None where the difference is about no single one; `call` and `header`
    are that line and the first one as they stand in the file, the header with the law's parameters and place.
    """

    number: int | None
    call: str | None
    header: str

    def __new__(cls, text: str, header: str, number: int | None = None, call: str | None = None) -> Self:
        """The text with what it is about."""
        made = super().__new__(cls, text)
        made.header, made.number, made.call = header, number, call
        return made


class TracedLaw:
    """One law, new, which is told one thing after the other.

    Parameters
    ----------
    header
        The first line of a trace as a dictionary: `law`, `params`, `about`, and the `site` with
        `rate_bps`, `packet_bytes`, `limit_packets`, `flows` and `base_rtt_ns`.
    law
        A law written in Python, which takes the place of the one that the header names.

    Raises
    ------
    InputError
        For a header that is none, or a law that does not fit its place.

    Examples
    --------
    >>> from sojourn.conform import TracedLaw
    >>> site = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
    >>> law = TracedLaw({"trace": 1, "law": "tail_drop", "params": {}, "about": "a packet", "site": site})
    >>> packet = {"len": 1000, "ecn": "ect0", "flow": 1, "backlog_packets": 0, "backlog_bytes": 0}
    >>> law.answer({"call": "arrival", "now_ns": 0, **packet, "u": [0.5, 0.5]})
    {'verdict': 'pass'}
    """

    def __init__(self, header: Mapping[str, Any], law: LawInPython | None = None) -> None:
        line = _document("header", header)
        try:
            self._own = None if law is None else _placed(law, _core.Site.of_trace(line))
            self._law = _core.TracedLaw(line, self._own)
        except InputError:
            raise
        except ValueError as fault:
            raise InputError(str(fault)) from None

    def answer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Tell the law one thing; gives its answer, which is empty where there is nothing to answer.

        Times must not run back. An answer that stands in `call` is passed over.

        Raises
        ------
        InputError
            For a call that is none, with what is legal.
        LawFailed
            Where a law written in Python failed: one line that names its code.

        Examples
        --------
        >>> from sojourn.conform import TracedLaw
        >>> site = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
        >>> law = TracedLaw({"trace": 1, "law": "tail_drop", "params": {}, "about": "idle", "site": site})
        >>> law.answer({"call": "idle", "now_ns": 0})
        {}
        """
        try:
            answer: dict[str, Any] = json.loads(self._law.answer(_document("call", call)))
        except ValueError as fault:
            raise InputError(str(fault)) from None
        except _core.LawError as fault:
            assert self._own is not None
            raise LawFailed(
                f"{label_of(self._own)}: {failure_of(self._own, fault)}", None
            ) from fault.__cause__
        return answer


@takes(law=kinds.optional(kinds.text))
def traces(law: str | None = None) -> list[Path]:
    """The golden traces that came with Sojourn: all, or those of one law.

    Raises
    ------
    InputError
        For a law that has none, with those that have.

    Examples
    --------
    >>> from sojourn.conform import traces
    >>> "control_law.jsonl" in [path.name for path in traces("codel")]
    True
    """
    found = sorted(_SHIPPED.glob("*/*.jsonl"))
    laws = sorted({path.parent.name for path in found})
    if law is not None and law not in laws:
        raise InputError(f'--law: "{law}" has no traces; legal: {", ".join(laws)}')
    return [path for path in found if law in (None, path.parent.name)]


@takes(path=kinds.path, law=kinds.optional(A_LAW))
def replay(path: str | Path, law: LawInPython | None = None) -> list[Difference]:
    """Replay a trace through a new law of its kind; gives one line for each answer that differs.

    A line names the clause that the trace was made for, where it was made for one.

    With a `law` written in Python, through a copy of that one. A law that shows no "p" among its `gauges`
    is not held to the trace's.

    Raises
    ------
    InputError
        For a file that cannot be read or is no trace: one line that begins with its name and the line.

    Examples
    --------
    >>> from sojourn.conform import replay
    >>> replay("vectors/codel/overload_idle.jsonl")
    []
    """
    trace = _Trace(path)
    with _told(path, 1):
        told = TracedLaw(trace.header, law)
    differences = []
    for number, call in trace.calls:
        with _told(path, number):
            answer = told.answer(call)
        if law is not None and answer.get("p", 0.0) is None:
            del answer["p"]
        expected = {key: call.get(key) for key in answer}
        if answer != expected:
            what = f"answers {_words(answer)}, expected {_words(expected)}"
            differences.append(trace.differs(number, f"{what}{trace.clause}"))
    return differences


@takes(path=kinds.path)
def compare(path: str | Path, verdicts: Sequence[str]) -> list[Difference]:
    """Hold verdicts that somebody else gave, one for each arrival and departure in order, against a trace.

    Gives one line for each that differs; a word that is no verdict comes first and alone. After the first
    difference the conversation is no longer that of the other law, so the rest may be its consequences.

    Raises
    ------
    InputError
        For a file that cannot be read or is no trace, and for verdicts that are no list of words.

    Examples
    --------
    >>> from sojourn.conform import compare
    >>> compare("vectors/red/below_min.jsonl", ["pass"] * 8 + ["mark", "drop"])[0]  # doctest: +ELLIPSIS
    'vectors/red/below_min.jsonl:10: answers mark, expected drop (Floyd and Jacobson 1993, figure 2: ...)'
    """
    if isinstance(verdicts, str) or not isinstance(verdicts, Sequence):
        what = f"{shown(verdicts)} is no list of verdicts"
        raise ArgumentError(f'verdicts: {what}; legal: such as ["pass", "drop"]')
    return _compared(_Trace(path), verdicts)


@takes(path=kinds.path, command=kinds.text, timeout_s=kinds.number)
def against(path: str | Path, command: str, timeout_s: float = TIMEOUT_S) -> list[Difference]:
    """Put a trace to another program: its lines without answers on stdin, one verdict a line on stdout.

    The program gets `timeout_s` seconds, and all that descends from it ends with it (elsewhere than on
    Linux: its process group). It answers each `arrival` and each `departure`, and nothing else. Gives one
    line for each difference, as `compare` does. A program that fails, does not end or writes what is no
    verdict is reported as such, in the first line, before anything that may come of it.

    Raises
    ------
    InputError
        For a file that is no trace, or a program that cannot be started.

    Examples
    --------
    >>> from sojourn.conform import against
    >>> always = 'while read line; do case "$line" in *arrival*|*departure*) echo pass;; esac; done'
    >>> against("vectors/tail_drop/rate_stall.jsonl", f"sh -c '{always}'")
    []
    """
    if not 0 < timeout_s < math.inf:
        raise InputError(f"timeout_s: {timeout_s} is no time; expected seconds above 0, such as 10")
    trace = _Trace(path)
    stdin = "".join(without_answers(line) for line in trace.raw).encode()
    result = run_program(command, stdin, len(trace.raw) * LONGEST_ANSWER, timeout_s)
    verdicts = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    differences = _compared(trace, verdicts)
    answers = [line for line in verdicts[: len(trace.asked)] if line in _VERDICTS]
    failed = _failure(result, f"{len(answers)} of {len(trace.asked)} verdicts")
    if not failed:
        return differences
    # What floods us with other words does not know the protocol, and its first word shows that.
    if result.reason == TOO_MUCH and len(answers) < len(verdicts[: len(trace.asked)]):
        return [*differences, trace.differs(None, failed)]
    return [trace.differs(None, failed), *differences]


@takes(line=kinds.text)
def without_answers(line: str) -> str:
    """A line of a trace as a program under test gets it: byte for byte, the members with the answers cut out.

    >>> without_answers('{"call":"arrival","now_ns":0,"u":[0.5, 1e-3],"verdict":"pass"}')
    '{"call":"arrival","now_ns":0,"u":[0.5, 1e-3]}'
    """
    kept, decoder = [], json.JSONDecoder()
    start, end = line.find("{") + 1, line.rfind("}")
    if not 0 < start <= end:
        raise InputError(f"line: {shown(line)} is no object; {_LEGAL}")
    at = start
    while line[at:end].strip():
        key, after = decoder.raw_decode(line, _past_blanks(line, at))
        _, after = decoder.raw_decode(line, _past_blanks(line, line.index(":", after) + 1))
        comma = line.find(",", after, end)
        stop = end if comma < 0 else comma
        if key not in _ANSWERS:
            kept.append(line[at:stop])
        at = stop + 1
    return line[:start] + ",".join(kept) + line[end:]


def _past_blanks(line: str, at: int) -> int:
    while line[at] in " \t\r\n":
        at += 1
    return at


class _Trace:
    """The lines of a trace, read and as they stand in the file."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.raw = _lines(path)
        self.header, *calls = (
            _object(f"{path}:{number}", line) for number, line in enumerate(self.raw, start=1)
        )
        self.calls = list(enumerate(calls, start=2))
        #: The lines that are answered by a verdict, and which.
        self.asked = [(number, call["verdict"]) for number, call in self.calls if "verdict" in call]
        #: What a difference ends in where the trace was made for one clause.
        self.clause = f" ({self.header['clause']})" if "clause" in self.header else ""

    def differs(self, number: int | None, what: str) -> Difference:
        """What differs at a line, or in the trace as a whole."""
        header = self.raw[0].rstrip()
        if number is None:
            return Difference(f"{self.path}: {what}", header)
        return Difference(f"{self.path}:{number}: {what}", header, number, self.raw[number - 1].rstrip())


def _compared(trace: _Trace, verdicts: Sequence[str]) -> list[Difference]:
    pairs = list(zip(trace.asked, verdicts, strict=False))
    for (number, expected), said in pairs:
        if said not in _VERDICTS:
            what = f"answers {_quoted(said)}, which is no verdict; expected {', '.join(_VERDICTS)}"
            return [trace.differs(number, f"{what}: here {expected}")]
    differences = [
        trace.differs(number, f"answers {said}, expected {expected}{trace.clause}")
        for (number, expected), said in pairs
        if said != expected
    ]
    if len(verdicts) != len(trace.asked):
        place = trace.asked[len(verdicts)][0] if len(verdicts) < len(trace.asked) else None
        differences.append(trace.differs(place, f"{len(verdicts)} verdicts, expected {len(trace.asked)}"))
    return differences


def _failure(result: CommandResult, progress: str) -> str | None:
    """What went wrong with a program, whatever it answered."""
    if result.returncode == 0:
        return None
    last = f": {result.last_stderr_line}" if result.last_stderr_line else ""
    return f"the command {result.reason} after {progress}{last}"


def _words(answer: Mapping[str, Any]) -> str:
    if "verdict" in answer:
        return str(answer["verdict"])
    return ", ".join(f"{key} {value}" for key, value in answer.items())


def _quoted(said: object) -> str:
    """An answer of somebody else's, as much of it as a line bears."""
    if not isinstance(said, str):
        return repr(said)[:20]
    return f'"{said}"' if said.isprintable() and len(said) <= 20 else f"{said[:20]!r}"


def _document(name: str, given: object) -> str:
    """An object of a trace as JSON; NumPy's numbers are numbers. Raises `ArgumentError`."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name}: {shown(given)} is no dictionary; expected an object of a trace")
    try:
        return json.dumps(dict(given), default=_plain_json)
    except (TypeError, ValueError, RecursionError) as fault:
        raise ArgumentError(f"{name}: cannot be JSON ({fault}); expected an object of a trace") from None


def _plain_json(value: object) -> object:
    found = kinds.plain(value)
    if found is value:
        raise TypeError(f"{shown(value)} is no value")
    return found


def _placed(law: LawInPython, site: _core.Site) -> LawInPython:
    """A copy at the start of its run."""
    try:
        return own_copy(template_of(law, [site]), site)
    except InputError as fault:
        raise InputError(*(line.removeprefix("--disc: ") for line in fault.lines)) from fault.__cause__


def _lines(path: str | Path) -> list[str]:
    """The lines of a trace as they stand in the file; at least one."""
    try:
        text = files.read(path, _MOST_BYTES)
        if len(text) > _MOST_BYTES:
            raise InputError(f"{path}: is too large; legal: at most {_MOST_BYTES // 10**6} MB")
        lines = list(io.StringIO(text.decode("utf-8"), newline=""))
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8; {_LEGAL}") from None
    except (OSError, ValueError) as fault:
        raise InputError(
            f"{path}: cannot be read ({files.why(fault)}); legal: a file of JSON lines"
        ) from None
    if not lines:
        raise InputError(f"{path}:1: the file is empty; {_LEGAL}")
    return lines


def _object(place: str, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{place}: is not JSON ({fault}); {_LEGAL}") from None
    if not isinstance(found, dict):
        raise InputError(f"{place}: is not an object; {_LEGAL}")
    return found


@contextmanager
def _told(path: str | Path, number: int) -> Iterator[None]:
    """What a law says of one line begins with its place."""
    try:
        yield
    except InputError as fault:
        raise InputError(*(f"{path}:{number}: {line}" for line in fault.lines)) from None
