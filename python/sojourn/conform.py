"""Golden decision traces: the folder `vectors/`, replayed through a law call by call.

A trace is a file of JSON lines. The first names the law, its link context and, if the trace tests one clause
of the law's source, that clause; each other line is one call of the law with the expected answer. The trace
of a qdisc of several queues has packets: its calls are arrivals and dequeues, its answers the packets sent,
dropped and marked. `vectors/README.md` documents every key, so that a law or a qdisc in any language can be
tested with the traces: also one written in Python, a `sojourn.Law`, `sojourn.Controller` or `sojourn.Qdisc`.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sojourn import files, kinds, stops
from sojourn.conversation import LONGEST_ANSWER, TIMEOUT_S, TOO_MUCH, CommandResult, run_program
from sojourn.custom import CustomLaw, CustomQdisc
from sojourn.custom import Qdisc as CustomWhole
from sojourn.errors import ArgumentError, InputError, LawFailed, missing_core
from sojourn.kinds import shown, takes

try:
    from sojourn import _core
    from sojourn.custom.lines import failure_of
    from sojourn.custom.template import LawTemplate, inspect_law
except ImportError as error:
    raise missing_core(error) from error

__all__ = [
    "TIMEOUT_S",
    "Difference",
    "TracedLaw",
    "TracedQdisc",
    "against",
    "compare",
    "passage",
    "replay",
    "replayed",
    "traces",
    "without_answers",
]

#: A law or a qdisc written in Python as an argument.
A_LAW = kinds.instance(
    CustomQdisc, "a law; expected an object of a class on sojourn.Law, sojourn.Controller or sojourn.Qdisc"
)
#: The largest trace, bytes.
_MOST_BYTES = 100_000_000
_SHIPPED = Path(__file__).parent / "vectors"
_ANSWERS = ("verdict", "p", "next_ns", "sent", "dropped", "marked", "update_ns", "not_before_ns")
#: What a qdisc under test answers.
_FATES = ("sent", "dropped", "marked")
_VERDICTS = ("pass", "mark", "drop", "drop_both")
#: Packets in the longest answer of a qdisc.
_PACKETS_OF_AN_ANSWER = 20
_AN_ANSWER = 'a JSON object such as {"sent": 7, "dropped": [], "marked": []}'
_EXPECTED = "expected a JSON object on each line, as vectors/README.md documents"


class Difference(str):
    """A difference in one line of text: ``FILE:LINE: answers X, expected Y``.

    `number` is the line of the trace, None if the difference concerns no single one; `call` and `header` are
    that line and the first one as in the file, the header with the law's parameters and link context.
    """

    number: int | None
    call: str | None
    header: str

    def __new__(cls, text: str, header: str, number: int | None = None, call: str | None = None) -> Self:
        """The text with the lines that it concerns."""
        made = super().__new__(cls, text)
        made.header, made.number, made.call = header, number, call
        return made


class TracedLaw:
    """One law from its start, called step by step.

    Parameters
    ----------
    header
        The first line of a trace as a dictionary: `law`, `params`, `about`, and the `context` with
        `rate_bps`, `packet_bytes`, `limit_packets`, `flows` and `base_rtt_ns`.
    law
        A law written in Python, which replaces the one named in the header.

    Raises
    ------
    InputError
        For an invalid header, or a law that cannot run in its link context.

    Examples
    --------
    >>> from sojourn.conform import TracedLaw
    >>> context = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
    >>> law = TracedLaw({"trace": 1, "law": "tail_drop", "params": {}, "about": "a packet", "link": context})
    >>> packet = {"len": 1000, "ecn": "ect0", "flow": 1, "backlog_packets": 0, "backlog_bytes": 0}
    >>> law.answer({"call": "arrival", "now_ns": 0, **packet, "u": [0.5, 0.5]})
    {'verdict': 'pass'}
    """

    def __init__(self, header: Mapping[str, Any], law: CustomLaw | None = None) -> None:
        line = _document("header", header)
        try:
            self._template = None if law is None else _inspected(law, _core.LinkContext.of_trace(line))
            self._law = _core.TracedLaw(line, self._template)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from None

    def answer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Make one call of the law; returns its answer, empty for a call without one.

        Times must not decrease. An answer in `call` is ignored.

        Raises
        ------
        InputError
            For an invalid call, with what was expected.
        LawFailed
            If a law written in Python fails: one line that names its code.

        Examples
        --------
        >>> from sojourn.conform import TracedLaw
        >>> context = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
        >>> law = TracedLaw({"trace": 1, "law": "tail_drop", "params": {}, "about": "idle", "link": context})
        >>> law.answer({"call": "idle", "now_ns": 0})
        {}
        """
        try:
            answer: dict[str, Any] = json.loads(self._law.answer(_document("call", call)))
        except ValueError as error:
            raise InputError(str(error)) from None
        except _core.LawError as error:
            raise _failed(self._template, error) from error.__cause__
        return answer


@takes(text=kinds.text)
def replayed(text: str) -> str | None:
    """The first answer of a new qdisc that differs from the trace of a live one; None: all are the same.

    >>> from sojourn.conform import replayed
    >>> replayed("{}")
    'line 1: link: is not an object'
    """
    return stops.interruptible(lambda: _core.replay_trace(text))


@takes(text=kinds.text, qdisc=kinds.text)
def passage(text: str, qdisc: str) -> dict[str, float | int | None]:
    """Counts and sojourn times of the arrivals of a trace behind another qdisc at its link.

    Raises `InputError` for a line that cannot be read, and for a qdisc that cannot be there.

    >>> from sojourn.conform import passage
    >>> link = '{"rate_bps": 8e6, "packet_bytes": 1000, "limit_packets": 20}'
    >>> passage('{"qdisc": "tail_drop", "link": %s}' % link, "codel")["offered"]
    0
    """
    try:
        return stops.interruptible(lambda: _core.passage_of_trace(text, qdisc))
    except ValueError as error:
        raise InputError(str(error)) from None


class TracedQdisc:
    """One qdisc from its start, called step by step: packets in, packets out.

    Parameters
    ----------
    header
        `qdisc`, a SPEC; `link` with `rate_bps`, `packet_bytes`, `limit_packets`, `flows` and `base_rtt_ns`;
        `flows`, for each its `class`, `dscp`, `from_host` and `to_host`, or `classes`, a number of classes,
        each of one flow of its own number; `seed` of the draws (default 0).
    qdisc
        A qdisc written in Python, which replaces the one named in the header.

    Raises
    ------
    InputError
        For an invalid header, or a qdisc that does not fit its link.

    Examples
    --------
    >>> from sojourn.conform import TracedQdisc
    >>> context = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
    >>> qdisc = TracedQdisc({"qdisc": "fq_codel", "link": context})
    >>> packet = {"id": 7, "len": 1000, "ecn": "ect0", "flow": 1}
    >>> qdisc.answer({"call": "enqueue", "now_ns": 0, **packet})["packets"]
    1
    >>> qdisc.answer({"call": "dequeue", "now_ns": 1000})["sent"]
    7
    """

    def __init__(self, header: Mapping[str, Any], qdisc: CustomWhole | None = None) -> None:
        line = _document("header", header)
        try:
            self._template = None if qdisc is None else _inspected(qdisc, _core.LinkContext.of_trace(line))
            self._qdisc = _core.TracedQdisc(line, self._template)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from None

    def answer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Make one call, `enqueue`, `dequeue`, `update`, `rate` or `set_params`; returns what it did.

        `sent`, `dropped` and `marked` have the numbers of packets; `u` the draws that verdicts of the call
        used, a pair each; `update_ns` the time of the next update. Times must not decrease.

        Raises
        ------
        InputError
            For an invalid call, with what was expected.
        LawFailed
            If a qdisc written in Python fails: one line that names its code.

        Examples
        --------
        >>> from sojourn.conform import TracedQdisc
        >>> qdisc = TracedQdisc({"qdisc": "drr", "link": {"rate_bps": 1e6, "packet_bytes": 1000}})
        >>> qdisc.answer({"call": "dequeue", "now_ns": 0})["sent"] is None
        True
        """
        try:
            answer: dict[str, Any] = json.loads(self._qdisc.answer(_document("call", call)))
        except ValueError as error:
            raise InputError(str(error)) from None
        except _core.LawError as error:
            raise _failed(self._template, error) from error.__cause__
        return answer


@takes(law=kinds.optional(kinds.text), qdisc=kinds.optional(kinds.text))
def traces(law: str | None = None, qdisc: str | None = None) -> list[Path]:
    """Golden traces shipped with Sojourn: all, or those of one law, or of one qdisc of several queues.

    Raises
    ------
    InputError
        For a law or a qdisc without traces, with those that have some.

    Examples
    --------
    >>> from sojourn.conform import traces
    >>> "control_law.jsonl" in [path.name for path in traces("codel")]
    True
    """
    found = sorted(_SHIPPED.glob("*/*.jsonl"))
    if law is None and qdisc is None:
        return found
    if law is not None and qdisc is not None:
        raise InputError("--qdisc: is given with --law; expected one of them")
    option, name = ("--law", law) if qdisc is None else ("--qdisc", qdisc)
    of_qdiscs = {path.parent for path in found if _is_of_a_qdisc(path)}
    known = {path.parent.name for path in found if (path.parent in of_qdiscs) == (qdisc is not None)}
    if name not in known:
        other = "--qdisc" if qdisc is None else "--law"
        hint = f"; did you mean {other} {name}?" if name in {path.parent.name for path in found} else ""
        raise InputError(f'{option}: "{name}" has no traces{hint}; expected {", ".join(sorted(known))}')
    return [path for path in found if path.parent.name == name]


@takes(path=kinds.path, law=kinds.optional(A_LAW))
def replay(path: str | Path, law: CustomQdisc | None = None) -> list[Difference]:
    """Replay a trace through a new law of its kind; returns one line for each answer that differs.

    A line names the clause that the trace tests, if any.

    With a `law` written in Python, through a copy of that one. The "p" of the trace is compared only if the
    law has a "p" among its `gauges`. The trace of a qdisc takes a `sojourn.Qdisc`, whose packets sent,
    dropped and marked are compared.

    Raises
    ------
    InputError
        For an unreadable file or an invalid trace: one line that begins with its name and the line.

    Examples
    --------
    >>> from sojourn.conform import replay
    >>> replay("vectors/codel/overload_idle.jsonl")
    []
    """
    trace = _Trace(path)
    with _located(path, 1):
        traced = _traced(trace, law)
    differences = []
    for number, call in trace.calls:
        with _located(path, number):
            answer = traced.answer(call)
        if law is not None and answer.get("p", 0.0) is None:
            del answer["p"]
        if trace.is_of_a_qdisc:
            compared = _FATES if law is not None else (*_ANSWERS, "u")
            answer = {key: answer[key] for key in compared if key in call}
        expected = {key: call.get(key) for key in answer}
        if answer != expected:
            message = f"answers {_words(answer)}, expected {_words(expected)}"
            differences.append(trace.differs(number, f"{message}{trace.clause}"))
    return differences


@takes(path=kinds.path)
def compare(path: str | Path, verdicts: Sequence[str]) -> list[Difference]:
    """Compare verdicts, one for each arrival and departure in order, with those of a trace.

    Of a qdisc the answers to each enqueue and dequeue are compared, texts as `against` has them.
    Returns one line for each that differs; a word that is no verdict comes first and alone. After the first
    difference the two laws have seen different queues, so later ones may be its consequences.

    Raises
    ------
    InputError
        For an unreadable file, an invalid trace, and verdicts that are no list of words.

    Examples
    --------
    >>> from sojourn.conform import compare
    >>> compare("vectors/red/below_min.jsonl", ["pass"] * 8 + ["mark", "drop"])[0]  # doctest: +ELLIPSIS
    'vectors/red/below_min.jsonl:10: answers mark, expected drop (Floyd and Jacobson 1993, figure 2: ...)'
    """
    if isinstance(verdicts, str) or not isinstance(verdicts, Sequence):
        message = f"{shown(verdicts)} is no list of verdicts"
        raise ArgumentError(f'verdicts: {message}; expected such as ["pass", "drop"]')
    return _compared(_Trace(path), verdicts)


@takes(path=kinds.path, command=kinds.text, timeout_s=kinds.number)
def against(path: str | Path, command: str, timeout_s: float = TIMEOUT_S) -> list[Difference]:
    """Replay a trace with another program: calls without answers on stdin, one answer a line on stdout.

    The program has `timeout_s` seconds, and all its descendants end with it (elsewhere than on Linux: its
    process group). A law answers each `arrival` and each `departure` with a verdict, and nothing else. A
    qdisc answers each `enqueue` and each `dequeue` with an object, the numbers of the packets that it
    ``{"sent": 7, "dropped": [3], "marked": []}``; what is missing is none. Returns one line for
    each difference, as `compare` does. A program that fails, does not end or writes no verdict is reported
    as such, in the first line, before any consequences.

    Raises
    ------
    InputError
        For an invalid trace, or a program that cannot be started.

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
    longest = LONGEST_ANSWER * (_PACKETS_OF_AN_ANSWER if trace.is_of_a_qdisc else 1)
    result = run_program(command, stdin, len(trace.raw) * longest, timeout_s)
    verdicts = [line.strip() for line in result.stdout.splitlines() if line.strip()]
    differences = _compared(trace, verdicts)
    answers = [line for line in verdicts[: len(trace.expected)] if trace.reads(line) is not None]
    failed = _failure(result, f"{len(answers)} of {len(trace.expected)} {trace.noun}s")
    if not failed:
        return differences
    # The first word of a flood shows that the program does not follow the protocol.
    if result.reason == TOO_MUCH and len(answers) < len(verdicts[: len(trace.expected)]):
        return [*differences, trace.differs(None, failed)]
    return [trace.differs(None, failed), *differences]


@takes(line=kinds.text)
def without_answers(line: str) -> str:
    """A line of a trace as input of a program under test: byte for byte, without the members of the answer.

    >>> without_answers('{"call":"arrival","now_ns":0,"u":[0.5, 1e-3],"verdict":"pass"}')
    '{"call":"arrival","now_ns":0,"u":[0.5, 1e-3]}'
    """
    kept, decoder = [], json.JSONDecoder()
    start, end = line.find("{") + 1, line.rfind("}")
    if not 0 < start <= end:
        raise InputError(f"line: {shown(line)} is no object; {_EXPECTED}")
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
    """Lines of a trace, parsed and as in the file."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.raw = _lines(path)
        self.header, *calls = (
            _object(f"{path}:{number}", line) for number, line in enumerate(self.raw, start=1)
        )
        self.calls = list(enumerate(calls, start=2))
        self.is_of_a_qdisc = "qdisc" in self.header
        self.noun = "answer" if self.is_of_a_qdisc else "verdict"
        #: Calls with an answer of a program, each with its line and the answer.
        self.expected: list[tuple[int, Any]] = [
            (number, _fates(call) if self.is_of_a_qdisc else call["verdict"])
            for number, call in self.calls
            if ("dropped" if self.is_of_a_qdisc else "verdict") in call
        ]
        #: End of each difference, if the trace tests one clause.
        self.clause = f" ({self.header['clause']})" if "clause" in self.header else ""

    def reads(self, answer: object) -> Any:
        """The answer of a program; None if it is none."""
        if not self.is_of_a_qdisc:
            return answer if answer in _VERDICTS else None
        try:
            found = json.loads(str(answer))
        except (ValueError, RecursionError):
            return None
        return _fates(found) if isinstance(found, dict) and found.keys() <= set(_FATES) else None

    def differs(self, number: int | None, message: str) -> Difference:
        """The difference at a line, or in the trace as a whole."""
        header = self.raw[0].rstrip()
        if number is None:
            return Difference(f"{self.path}: {message}", header)
        return Difference(f"{self.path}:{number}: {message}", header, number, self.raw[number - 1].rstrip())


def _compared(trace: _Trace, verdicts: Sequence[str]) -> list[Difference]:
    pairs = list(zip(trace.expected, verdicts, strict=False))
    for (number, expected), answer in pairs:
        if trace.reads(answer) is None:
            words = _AN_ANSWER if trace.is_of_a_qdisc else ", ".join(_VERDICTS)
            message = f"answers {_quoted(answer)}, which is no {trace.noun}; expected {words}"
            return [trace.differs(number, f"{message}: here {_text_of(expected)}")]
    differences = [
        trace.differs(number, f"answers {_text_of(answer)}, expected {_text_of(expected)}{trace.clause}")
        for (number, expected), answer in ((one, trace.reads(answer)) for one, answer in pairs)
        if answer != expected
    ]
    if len(verdicts) != len(trace.expected):
        place = trace.expected[len(verdicts)][0] if len(verdicts) < len(trace.expected) else None
        differences.append(
            trace.differs(place, f"{len(verdicts)} {trace.noun}s, expected {len(trace.expected)}")
        )
    return differences


def _failure(result: CommandResult, progress: str) -> str | None:
    """Failure of a program, whatever it answered."""
    if result.returncode == 0:
        return None
    last = f": {result.last_stderr_line}" if result.last_stderr_line else ""
    return f"the command {result.reason} after {progress}{last}"


def _words(answer: Mapping[str, Any]) -> str:
    if "verdict" in answer:
        return str(answer["verdict"])
    return ", ".join(f"{key} {value}" for key, value in answer.items())


def _fates(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The packets sent, dropped and marked in an answer, or in a line of a trace."""
    return {
        "sent": answer.get("sent"),
        "dropped": answer.get("dropped", []),
        "marked": answer.get("marked", []),
    }


def _text_of(answer: object) -> str:
    """An answer in a difference: a verdict, or what is there of a qdisc's."""
    if not isinstance(answer, Mapping):
        return str(answer)
    some = [f"{key} {json.dumps(value)}" for key, value in answer.items() if value not in (None, [])]
    return ", ".join(some) or "nothing"


def _traced(trace: _Trace, law: CustomQdisc | None) -> TracedLaw | TracedQdisc:
    """The trace's law or qdisc at its start, or `law` in its place."""
    if trace.is_of_a_qdisc:
        if law is not None and not isinstance(law, CustomWhole):
            message = f"{type(law).__name__} is a law, and the trace is of a qdisc"
            raise InputError(f"{message}; expected an object of a class on sojourn.Qdisc")
        return TracedQdisc(trace.header, law)
    if law is not None and not isinstance(law, CustomLaw):
        message = f"{type(law).__name__} is a qdisc, and the trace is of a law"
        raise InputError(f"{message}; expected an object of a class on sojourn.Law or sojourn.Controller")
    return TracedLaw(trace.header, law)


def _is_of_a_qdisc(path: Path) -> bool:
    with path.open(encoding="utf-8") as lines:
        return "qdisc" in json.loads(lines.readline())


def _failed(template: LawTemplate | None, error: _core.LawError) -> LawFailed:
    """Failure of a law or a qdisc written in Python."""
    assert template is not None
    return LawFailed(f"{template.label}: {failure_of(template.original, error)}", None)


def _quoted(answer: object) -> str:
    """An answer of another program, shortened."""
    if not isinstance(answer, str):
        return repr(answer)[:20]
    return f'"{answer}"' if answer.isprintable() and len(answer) <= 20 else f"{answer[:20]!r}"


def _document(name: str, given: object) -> str:
    """An object of a trace as JSON; NumPy's numbers are numbers. Raises `ArgumentError`."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name}: {shown(given)} is no dictionary; expected an object of a trace")
    try:
        return json.dumps(dict(given), default=_plain_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(f"{name}: cannot be JSON ({error}); expected an object of a trace") from None


def _plain_json(value: object) -> object:
    found = kinds.plain(value)
    if found is value:
        raise TypeError(f"{shown(value)} is no value")
    return found


def _inspected(law: CustomQdisc, context: _core.LinkContext) -> LawTemplate:
    """The law's template, tried in the link context of the trace."""
    try:
        return inspect_law(law, [context])
    except InputError as error:
        raise InputError(*(line.removeprefix("--qdisc: ") for line in error.lines)) from error.__cause__


def _lines(path: str | Path) -> list[str]:
    """Lines of a trace as in the file; at least one."""
    try:
        text = files.read(path, _MOST_BYTES)
        if len(text) > _MOST_BYTES:
            raise InputError(f"{path}: is too large; expected at most {_MOST_BYTES // 10**6} MB")
        lines = list(io.StringIO(text.decode("utf-8"), newline=""))
    except InputError:
        raise
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8; {_EXPECTED}") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({files.why(error)}); expected a file of JSON lines"
        ) from None
    if not lines:
        raise InputError(f"{path}:1: the file is empty; {_EXPECTED}")
    return lines


def _object(place: str, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: is not JSON ({error}); {_EXPECTED}") from None
    if not isinstance(found, dict):
        raise InputError(f"{place}: is not an object; {_EXPECTED}")
    return found


@contextmanager
def _located(path: str | Path, number: int) -> Iterator[None]:
    """Begin the errors of one line with its place."""
    try:
        yield
    except InputError as error:
        raise InputError(*(f"{path}:{number}: {line}" for line in error.lines)) from None
