"""Options of `sojourn design` as a design, with errors that name the options."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sojourn.cli import options, printing
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.design import Design

#: Options by the arguments of `sojourn.design`.
_ARGUMENTS: dict[str, options.Option[Any]] = {
    "flows": options.DESIGN_FLOWS,
    "rtt_s": options.DESIGN_RTT,
    "capacity_pps": options.CAPACITY,
    "target": options.TARGET,
    "margin_deg": options.MARGIN,
    "gain_margin": options.GAIN_MARGIN,
    "settling_s": options.SETTLING,
    "segment_bytes": options.SEGMENT,
    "model": options.MODEL,
    "cc": options.DESIGN_CC,
    "emit": options.EMIT,
}
_REQUIRED = ("flows", "rtt_s", "capacity_pps", "target")


def designed(spec: str, given: dict[str, str | None], *, drops: bool) -> Design:
    """The design of the options given, by the arguments that they set."""
    from sojourn.design import design
    from sojourn.design.judge import watched

    for name in _REQUIRED:
        if given[name] is None:
            example = "--flows 50..500 --rtt 20ms..250ms --capacity 10Mbit/s --target 5ms"
            raise InputError(f"{_flag(name)}: is missing; expected such as {example}")
    values = {name: _ARGUMENTS[name](text) for name, text in given.items() if text is not None}
    bits, segment = values["capacity_pps"], values.get("segment_bytes", 1000)
    values["capacity_pps"] = tuple(value / (8 * segment) if in_bits else value for value, in_bits in bits)
    if values["capacity_pps"][0] > values["capacity_pps"][1]:
        raise InputError(
            f'--capacity: "{given["capacity_pps"]}" is no range; expected the smaller rate and the larger, '
            f"of packets of {segment} B"
        )
    shown = printing.stages("design", show=printing.is_terminal(sys.stderr))
    with _flagged(), shown as watch, watched(watch):
        return design(spec, **values, ecn=not drops)


def emit(found: Design, form: str) -> str:
    """The line of a form."""
    with _flagged():
        return found.emit(form)


def check_form(spec: str, form: str) -> None:
    """Raises `InputError` for a law that is none, or that the form lacks, before its design."""
    from sojourn.design.arguments import law_of
    from sojourn.design.emit import require_law

    with _flagged():
        law, _, _ = law_of(spec)
        require_law(law, form)


@contextmanager
def _flagged() -> Iterator[None]:
    """Errors about arguments of Python become errors about their options."""
    try:
        yield
    except InputError as error:
        raise InputError(*map(_with_flag, error.lines)) from None


def shortfall(found: Design) -> str:
    """The shortfall of a design that is not met, in a line."""
    from sojourn.design import words

    return words.shortfall(found)


def _flag(name: str) -> str:
    return _ARGUMENTS[name].names[-1]


def _with_flag(line: str) -> str:
    """A line about an argument of Python as one about its option."""
    found = re.match(r"[a-z_]+(?=:)", line)
    if found is None:
        return line
    if found[0] == "ecn":
        drops = line.replace("ecn: is false", "--drops: is given", 1)
        return drops.replace("expected true", "expected no --drops", 1)
    flagged = _flag(found[0]) + line[found.end() :] if found[0] in _ARGUMENTS else line
    return flagged.replace('model = "calibrated"', "--model calibrated")
