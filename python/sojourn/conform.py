"""Golden decision traces: the folder `vectors/`, replayed through a law call by call.

A trace is a file of JSON lines. The first says which law at which place, and where the trace was made for one
clause of the law's source, that clause; each other line is one call of the law with the answer expected.
`vectors/README.md` tells every key, so that a law in any language can be held to the same answers: one
written in Python, too, a `sojourn.Law` or a `sojourn.Controller`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sojourn.errors import InputError, LawFailed, missing_core
from sojourn.laws_in_python import LawInPython

try:
    from sojourn import _core
    from sojourn.laws_in_python.lines import failure_of
    from sojourn.laws_in_python.parameters import label_of
    from sojourn.laws_in_python.template import own_copy, template_of
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["TracedLaw", "against", "compare", "replay", "traces"]

_SHIPPED = Path(__file__).parent / "vectors"
# Bytes for a line of an answer, with room for other words than ours.
_LONGEST_ANSWER = 64
_ANSWERS = ("verdict", "p", "next_ns")
_LEGAL = "legal: a JSON object on each line, as vectors/README.md tells"


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
        line = json.dumps(header)
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
            answer: dict[str, Any] = json.loads(self._law.answer(json.dumps(call)))
        except ValueError as fault:
            raise InputError(str(fault)) from None
        except _core.LawError as fault:
            assert self._own is not None
            raise LawFailed(
                f"{label_of(self._own)}: {failure_of(self._own, fault)}", None
            ) from fault.__cause__
        return answer


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


def replay(path: str | Path, law: LawInPython | None = None) -> list[str]:
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
    header, *calls = _objects(path)
    with _told(path, 1):
        told = TracedLaw(header, law)
    differences = []
    for number, call in enumerate(calls, start=2):
        with _told(path, number):
            answer = told.answer(call)
        if law is not None and answer.get("p", 0.0) is None:
            del answer["p"]
        expected = {key: call.get(key) for key in answer}
        if answer != expected:
            what = f"answers {_words(answer)}, expected {_words(expected)}"
            differences.append(f"{path}:{number}: {what}{_clause(header)}")
    return differences


def compare(path: str | Path, verdicts: Sequence[str]) -> list[str]:
    """Hold verdicts that somebody else gave, one for each arrival and departure in order, against a trace.

    Gives one line for each that differs. After the first one the conversation is no longer that of the other
    law, so the rest may be its consequences.

    Raises
    ------
    InputError
        For a file that cannot be read or is no trace.

    Examples
    --------
    >>> from sojourn.conform import compare
    >>> compare("vectors/red/below_min.jsonl", ["pass"] * 8 + ["mark", "drop"])[0]  # doctest: +ELLIPSIS
    'vectors/red/below_min.jsonl:10: answers mark, expected drop (Floyd and Jacobson 1993, figure 2: ...)'
    """
    header, *calls = _objects(path)
    asked = [(number, call["verdict"]) for number, call in enumerate(calls, start=2) if "verdict" in call]
    differences = [
        f"{path}:{number}: answers {_quoted(said)}, expected {expected}{_clause(header)}"
        for (number, expected), said in zip(asked, verdicts, strict=False)
        if said != expected
    ]
    if len(verdicts) != len(asked):
        place = f"{path}:{asked[len(verdicts)][0]}" if len(verdicts) < len(asked) else str(path)
        differences.append(f"{place}: {len(verdicts)} verdicts, expected {len(asked)}{_clause(header)}")
    return differences


def against(path: str | Path, command: str) -> list[str]:
    """Ask another program: the trace without its answers on stdin, one verdict a line on stdout.

    It answers each `arrival` and each `departure`, and nothing else. Gives one line for each difference, as
    `compare` does.

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
    lines = [{key: value for key, value in told.items() if key not in _ANSWERS} for told in _objects(path)]
    told = "".join(json.dumps(line) + "\n" for line in lines)
    answers, ended = _conversation(command, told, len(lines) * _LONGEST_ANSWER)
    differences = compare(path, [line.strip() for line in answers.splitlines() if line.strip()])
    if ended is None:
        differences.append(f"{path}: the command said much more than it was asked, and was stopped")
    elif ended != 0:
        differences.append(f"{path}: the command ended with exit code {ended}")
    return differences


def _conversation(command: str, told: str, limit: int) -> tuple[str, int | None]:
    """What a program answers, up to `limit` bytes, and its exit code; None where it was stopped there."""
    try:
        words = shlex.split(command)
        if not words:
            raise ValueError("it is empty")
        # A file and no pipe: a program may answer before it has read everything, or read nothing at all.
        with TemporaryFile() as asked:
            asked.write(told.encode())
            asked.seek(0)
            program = subprocess.Popen(words, stdin=asked, stdout=subprocess.PIPE)
    except (OSError, ValueError) as fault:
        raise InputError(f'--against: "{command}" cannot be started ({fault}); legal: a command') from None
    with program:
        try:
            assert program.stdout is not None
            said = program.stdout.read(limit + 1)
            if len(said) > limit:
                program.kill()
                return said[:limit].decode(errors="replace"), None
            return said.decode(errors="replace"), program.wait()
        except BaseException:
            program.kill()
            raise


def _words(answer: Mapping[str, Any]) -> str:
    if "verdict" in answer:
        return str(answer["verdict"])
    return ", ".join(f"{key} {value}" for key, value in answer.items())


def _quoted(said: str) -> str:
    """A verdict of somebody else's: a word, or as much of what it is as a line bears."""
    return said if said.isprintable() and len(said) <= 20 else f"{said[:20]!r}"


def _clause(header: Mapping[str, Any]) -> str:
    return f" ({header['clause']})" if "clause" in header else ""


def _placed(law: LawInPython, site: _core.Site) -> LawInPython:
    """A copy at the start of its run."""
    try:
        return own_copy(template_of(law, [site]), site)
    except InputError as fault:
        raise InputError(*(line.removeprefix("--disc: ") for line in fault.lines)) from fault.__cause__


def _objects(path: str | Path) -> list[dict[str, Any]]:
    """The lines of a trace; at least one."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            lines = list(file)
    except OSError as fault:
        raise InputError(f"{path}: cannot be read ({fault.strerror}); legal: a file of JSON lines") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8; {_LEGAL}") from None
    if not lines:
        raise InputError(f"{path}:1: the file is empty; {_LEGAL}")
    return [_object(f"{path}:{number}", line) for number, line in enumerate(lines, start=1)]


def _object(place: str, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as fault:
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
