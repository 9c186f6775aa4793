"""The command `report` of data files of Flent: their page, and their summary in the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli import options, printing
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.flent import Capture

__all__ = ["are_captures", "report"]


def are_captures(places: Sequence[str]) -> bool:
    """True if the names are those of data files of Flent. Raises `InputError` for files beside a folder."""
    found = [options.is_capture(place) for place in places]
    if not any(found) and len(places) > 1:
        raise InputError(
            f"DIR: {len(places)} folders are given; expected one, or files such as a{options.CAPTURE}"
        )
    if any(found) and not all(found):
        other = next(place for place, one in zip(places, found, strict=True) if not one)
        raise InputError(f"DIR: {other} is no data file of Flent; expected such alone, or one folder")
    return all(found)


def report(places: Sequence[str], named: Path | None, baseline: str | None) -> None:
    """Print the summaries of captures, and write their page: by default beside the first."""
    from sojourn.flent import page, read

    if baseline is not None:
        raise InputError("--baseline: captures of Flent have none; expected a folder of a result with it")
    if len(places) > page.MOST:
        raise InputError(f"DIR: {len(places)} captures are given; expected at most {page.MOST} on a page")
    captures = [read(place) for place in places]
    path = named or Path(places[0][: -len(options.CAPTURE)] + ".html")
    options.make_room(path)
    with printing.hushed():
        page.write(captures, path)
    printing.say(
        "\n\n".join(_summary(one, name) for one, name in zip(captures, page.names_of(captures), strict=True))
    )
    printing.say(f"\n{path}")


def _summary(capture: Capture, name: str) -> str:
    """The table that Flent prints as its summary, under the name of the capture."""
    from sojourn.flent.page import COLUMNS, cells

    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    rows = [[line.name, *cells(line), line.unit] for line in capture.summary()]
    return f"{name}: {capture.test}\n\n" + printing.table(["", *COLUMNS, "unit"], rows, width)
