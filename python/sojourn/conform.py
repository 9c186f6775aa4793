"""Golden decision traces: the folder `vectors/`, replayed through a law call by call.

A trace is a file of JSON lines. The first says which law at which place; each other line is one call
of the law with the answer expected. `vectors/README.md` tells every key, so that a law in any language
can be held to the same answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, missing_core

try:
    from sojourn import _core
except ImportError as fault:
    raise missing_core(fault) from fault

__all__ = ["Law", "replay"]

_LEGAL = "legal: a JSON object on each line, as vectors/README.md tells"


class Law:
    """One law of the catalogue, new, which is told one thing after the other.

    Parameters
    ----------
    header
        The first line of a trace as a dictionary: `law`, `params`, `about`, and the `site` with
        `rate_bps`, `packet_bytes`, `limit_packets`, `flows` and `base_rtt_ns`.

    Raises
    ------
    InputError
        For a header that is none, or a law that does not fit its place.

    Examples
    --------
    >>> from sojourn.conform import Law
    >>> site = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
    >>> law = Law({"trace": 1, "law": "tail_drop", "params": {}, "about": "a packet", "site": site})
    >>> packet = {"len": 1000, "ecn": "ect0", "flow": 1, "backlog_packets": 0, "backlog_bytes": 0}
    >>> law.answer({"call": "arrival", "now_ns": 0, **packet, "u": [0.5, 0.5]})
    {'verdict': 'pass'}
    """

    def __init__(self, header: Mapping[str, Any]) -> None:
        try:
            self._law = _core.TracedLaw(json.dumps(header))
        except ValueError as fault:
            raise InputError(str(fault)) from None

    def answer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Tell the law one thing; gives its answer, which is empty where there is nothing to answer.

        Times must not run back. An answer that stands in `call` is passed over.

        Raises
        ------
        InputError
            For a call that is none, with what is legal.

        Examples
        --------
        >>> from sojourn.conform import Law
        >>> site = {"rate_bps": 1e6, "packet_bytes": 1000, "limit_packets": 20}
        >>> law = Law({"trace": 1, "law": "tail_drop", "params": {}, "about": "idle", "site": site})
        >>> law.answer({"call": "idle", "now_ns": 0})
        {}
        """
        try:
            answer: dict[str, Any] = json.loads(self._law.answer(json.dumps(call)))
        except ValueError as fault:
            raise InputError(str(fault)) from None
        return answer


def replay(path: str | Path) -> list[str]:
    """Replay a trace through a new law of its kind; gives one line for each answer that differs.

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
        law = Law(header)
    differences = []
    for number, call in enumerate(calls, start=2):
        with _told(path, number):
            answer = law.answer(call)
        expected = {key: call.get(key) for key in answer}
        if answer != expected:
            differences.append(f"{path}:{number}: answers {answer}, expected {expected}")
    return differences


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
