"""The command `plot`: one figure of a result as a file, and the list of figures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from sojourn.cli import options, printing
from sojourn.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from sojourn.plot.paper import Paper
    from sojourn.result import Result

__all__ = ["draw", "listed"]

#: Dots per inch of a PNG, as journals demand of photographs.
DPI = 300
#: Dates and the program's version are left out, so that the same figure is the same file.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def draw(
    folder: str, spec: str, place: Path, *, link: str | None, paper: tuple[str | None, str | None]
) -> None:
    """Draw a figure of the result in `folder` and write it; `paper` has its width and its style."""
    from sojourn.report import put_bytes
    from sojourn.result import Result

    with printing.hushed():
        result = Result.read(folder)
    if link is not None:
        try:
            result.check_link(link)
        except InputError as error:
            raise InputError(*(f"--{line}" for line in error.lines)) from None
        result = result.for_link(link)
    drawn = _drawn(result, spec, paper)
    options.make_room(place)
    put_bytes(place, _saved(drawn, place.suffix.lower().removeprefix(".")))
    printing.say(str(place))


def _drawn(result: Result, spec: str, paper: tuple[str | None, str | None]) -> Axes:
    from sojourn.plot.named import parse

    width, style = paper
    on: Paper = {}
    if width is not None:
        on["width"] = width
    if style is not None:
        on["style"] = style
    try:
        figure, arguments = parse(spec)
        return figure.draw(result.plot, arguments, on)
    except InputError as error:
        raise InputError(*(f"FIGURE: {line}" for line in error.lines)) from None


def _saved(drawn: Axes, form: str) -> bytes:
    """The file of the picture's figure, on white."""
    import matplotlib

    from sojourn.plot.style import PAPER

    into = io.BytesIO()
    saved = drawn.get_figure(root=True)
    assert saved is not None
    # The ids of an SVG come from this text.
    with matplotlib.rc_context({"svg.hashsalt": "sojourn"}):
        saved.savefig(into, format=form, dpi=DPI, facecolor=PAPER, metadata=METADATA[form])
    return into.getvalue()


def listed() -> list[dict[str, Any]]:
    """Figures with their arguments, as `sojourn list` prints them."""
    from sojourn.plot.named import figures

    return [
        {
            "name": one.name,
            "summary": one.summary + _arguments(one.arguments),
            "arguments": [{"name": name, "default": value} for name, value in one.arguments.items()],
            "required": list(one.needs),
        }
        for one in figures().values()
    ]


def _arguments(arguments: Any) -> str:
    """Such as `` Arguments: metric=sojourn_mean_s.``; empty without any."""
    if not arguments:
        return ""
    shown = (name if value is None else f"{name}={value}" for name, value in arguments.items())
    return f" Arguments: {', '.join(shown)}."
