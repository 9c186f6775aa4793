"""The command `plot`: one figure of a result, a sweep or a certificate as a file, and the list of figures."""

from __future__ import annotations

import contextlib
import difflib
import io
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.cli import options, printing
from sojourn.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sojourn.plot.paper import Paper

__all__ = ["draw", "listed"]

#: Most letters of a name in an error.
MOST_LETTERS = 60
#: Dots per inch of a PNG, as journals demand of photographs.
DPI = 300
#: Dates and the program's version are left out, so that the same figure is the same file.
METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def draw(
    of: str,
    spec: str,
    place: Path,
    *,
    qdisc: str | None,
    link: str | None,
    paper: tuple[str | None, str | None],
) -> None:
    """Draw a figure of a result, of a sweep or of a scenario's certificate and write it.

    `paper` has its width and its style.
    """
    from sojourn.report import put_bytes

    kind = _kind(of)
    if qdisc is not None and kind != "certificate":
        raise InputError(
            f"--qdisc: belongs to a certificate; expected none, as {of} is the folder of a {kind}"
        )
    figure = _drawn(KINDS[kind].read(of, qdisc, link), kind, spec, paper)
    options.make_room(place)
    put_bytes(place, _saved(figure, place.suffix.lower().removeprefix(".")))
    printing.say(str(place))


def _kind(of: str) -> str:
    """Kind of the subject: the store of a sweep, else a scenario, else a result. Raises `InputError`."""
    from sojourn.cli.sweeping import is_store
    from sojourn.scenario import gallery

    known = gallery()
    try:
        exists, is_file = Path(of).exists(), Path(of).is_file()
    except OSError as error:
        shown = of if len(of) <= MOST_LETTERS else f"{of[:MOST_LETTERS]}..."
        raise InputError(
            f"{shown}: cannot be read ({error.strerror}); expected a folder or a scenario"
        ) from None
    if exists and is_store(Path(of)):
        return "sweep"
    if exists or of in known:
        return "certificate" if is_file or not exists else "result"
    near = difflib.get_close_matches(of.removesuffix(".toml"), known, n=1)
    hint = f'did you mean "{near[0]}"? ' if near else ""
    raise InputError(
        f"{of}: there is no such folder or scenario; {hint}expected a folder that 'sojourn run --out' or "
        "'sojourn sweep' wrote, or a scenario"
    )


def _of_result(folder: str, _qdisc: str | None, link: str | None) -> Subject:
    from sojourn.result import Result

    with printing.hushed():
        result = Result.read(folder)
    if link is not None:
        with _prefixed("--"):
            result.check_link(link)
        result = result.for_link(link)
    return Subject(result.plot)


def _of_sweep(folder: str, _qdisc: str | None, link: str | None) -> Subject:
    from sojourn.sweep import load

    found = load(Path(folder))
    levels = {axis: found.plan[axis].unique(maintain_order=True).to_list() for axis in found.axes}
    links = found.summary()["link"].unique().to_list() if link is not None else []
    if link is not None and link not in links:
        raise InputError(f'--link: "{link}" is no link of the sweep; expected {", ".join(map(str, links))}')
    return Subject(found.plot, {} if link is None else {"link": link}, levels)


def _of_scenario(file: str, qdisc: str | None, link: str | None) -> Subject:
    from sojourn.prove import prove
    from sojourn.scenario import load

    scenario = load(file)
    with _prefixed("--"):
        return Subject(prove(scenario, qdisc, link=link).plot)


@dataclass(frozen=True)
class Subject:
    """What is drawn: the plots, further arguments of all of them, and the values of the axes that choose."""

    plots: Any
    arguments: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Sequence[object]] = field(default_factory=dict)

    def level(self, name: str, text: str) -> object:
        """The value of an axis that a text is, as TOML or as it is shown; other arguments stay texts."""
        from sojourn.sweep.quantities import quantity

        try:
            given = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            given = text
        as_number = quantity(text)
        values = (given, text if as_number is None else as_number.value)
        return next((one for one in self.levels.get(name, ()) if one in values or str(one) == text), text)


def _plots_of_results() -> type:
    from sojourn.plot import Plots

    return Plots


def _plots_of_sweeps() -> type:
    from sojourn.sweep.plots import Plots

    return Plots


def _plots_of_certificates() -> type:
    from sojourn.prove.plots import Plots

    return Plots


@dataclass(frozen=True)
class Kind:
    """A kind of subject: how one is read, its figures, and what writes one."""

    read: Callable[[str, str | None, str | None], Subject]
    #: The class of its plots, imported when it is called: Matplotlib is slow to load.
    plots: Callable[[], type]
    #: The command and the subject, for errors.
    made: str
    #: Beginning of the summaries of its figures in the list, where those of results come first.
    prefix: str = ""


KINDS: Mapping[str, Kind] = {
    "result": Kind(_of_result, _plots_of_results, "a folder of 'sojourn run --out'"),
    "sweep": Kind(_of_sweep, _plots_of_sweeps, "a folder of 'sojourn sweep'", "of a sweep: "),
    "certificate": Kind(_of_scenario, _plots_of_certificates, "a scenario", "of a certificate: "),
}


def _drawn(of: Subject, kind: str, spec: str, paper: tuple[str | None, str | None]) -> Axes:
    from sojourn.plot.named import parse

    width, style = paper
    on: Paper = {}
    if width is not None:
        on["width"] = width
    if style is not None:
        on["style"] = style
    with _prefixed("FIGURE: "):
        _check(spec.partition(":")[0], kind)
        figure, arguments = parse(spec, type(of.plots), f"a {kind}", of.levels)
        given = {name: of.level(name, text) for name, text in arguments.items()}
        if twice := of.arguments.keys() & given.keys():
            raise InputError(f"{min(twice)}: is given by an option, too; expected once")
        return figure.draw(of.plots, {**of.arguments, **given}, on)


def _check(figure: str, kind: str) -> None:
    """Raise `InputError` for a figure of other kinds alone, with what they are drawn of."""
    from sojourn.plot.named import figures

    of = [name for name, one in KINDS.items() if figure in figures(one.plots())]
    if of and kind not in of:
        made = " or ".join(KINDS[name].made for name in of)
        raise InputError(f"{figure}: is a figure of a {' or a '.join(of)}, not of a {kind}; expected {made}")


@contextlib.contextmanager
def _prefixed(place: str) -> Iterator[None]:
    """Begin the lines of an `InputError` with a place."""
    try:
        yield
    except InputError as error:
        raise InputError(*(f"{place}{line}" for line in error.lines)) from None


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
            "of": kind,
            "summary": f"{of.prefix}{one.summary}{_arguments(one.arguments)}",
            "arguments": [{"name": name, "default": value} for name, value in one.arguments.items()],
            "required": list(one.needs),
        }
        for kind, of in KINDS.items()
        for one in figures(of.plots()).values()
    ]


def _arguments(arguments: Any) -> str:
    """Such as `` Arguments: metric=sojourn_mean_s.``; empty without any."""
    if not arguments:
        return ""
    shown = (name if value is None else f"{name}={value}" for name, value in arguments.items())
    return f" Arguments: {', '.join(shown)}."
