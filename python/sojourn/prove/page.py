"""The page of certificates: one offline file, the verdict first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.plot import style
from sojourn.prove import headline, maps, words
from sojourn.prove.region import VERDICTS
from sojourn.report import put
from sojourn.report.document import document
from sojourn.report.figures import svg
from sojourn.report.parts import figure_of, name, pictures, prose

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sojourn.deviations import Deviations
    from sojourn.prove import Certificate
    from sojourn.prove.beside import Beside
    from sojourn.validity import Validity


#: Sizes of a picture as wide as the page, inches, for pages of several widths.
WIDTHS = {"wide": (14.5, 6.4), "middle": (8.8, 5.6), "narrow": (5.1, 4.6)}

PICTURES = (
    (
        "bode",
        "Bode plot",
        "Gain and phase of the loop with its exact delay, whose phase falls without bound. The gain margin "
        "is marked where the phase crosses \u2212180 degrees, the phase margin where the gain crosses 0 dB.",
    ),
    ("nyquist", "Nyquist plot", "L(jw) near \u22121, with the same margins."),
    (
        "poles",
        "Poles",
        "The closed loop's slowest poles, 1/s; right of 0: unstable. Poles ten times as fast are left out.",
    ),
    ("step", "Unit step response", "The backlog where from time 0 on the law observes a packet less."),
)

OF_NOISE = (
    "spectrum",
    "Noise",
    "Predicted spectral density of the backlog under random signals; that of a run: plot.spectrum(result).",
)


def write(certificates: Sequence[Certificate], beside: Sequence[Beside], path: Path) -> Path:
    """Write the page, whole or not at all."""
    return put(path, lambda: page(certificates, beside))


def page(certificates: Sequence[Certificate], beside: Sequence[Beside]) -> str:
    """The whole page as text. It needs no other file and no network."""
    title = f"Certificate: {certificates[0].link} under {', '.join(one.law for one in certificates)}"
    sections = [
        _section(one, other, f"c{place}-", alone=len(certificates) == 1)
        for place, (one, other) in enumerate(zip(certificates, beside, strict=True))
    ]
    headlines = "".join(f'<p class="headline">{prose(str(one))}</p>\n' for one in certificates)
    head = (
        '<header>\n<p class="kind">Sojourn certificate</p>\n'
        f"<h1>{_question(certificates[0])}</h1>\n{headlines}</header>"
    )
    return document(title, [head, _overview(certificates, beside), *sections, _meanings()])


def _question(one: Certificate) -> str:
    """The heading of the page."""
    links = [escape(each["link"]) for each in one.links] or [escape(one.link)]
    return f"{'Are' if len(links) > 1 else 'Is'} {words.listed(links)} stable?"


def _section(one: Certificate, beside: Beside, ids: str, *, alone: bool) -> str:
    """All of one certificate; the verdict of the only one is at the head of the page."""
    from sojourn.validity import words as of_check

    parts = [f'<section id="{ids}law">\n<h2>{name(one.law)}</h2>']
    parts += [] if alone else [f'<p class="verdict">{prose(str(one))}</p>']
    parts += [f'<p class="note">{prose(line)}</p>' for line in beside.remarks()]
    if one.classes:
        parts.append(_classes(one))
    if one.loops:
        parts.append(_links(one) if one.links else _equilibrium(one))
        parts += [f'<p class="note">{prose(line)}</p>' for line in words.remarks(one)]
        parts += ['<div class="pictures">', *_pictures(one, ids), "</div>"]
        parts += [*_region(one, beside, ids), _loops(one)]
    if beside.large is not None:
        parts += _deviations(one, beside.large, ids)
    if beside.check is not None:
        parts.append(_check(beside.check, ids))
    if beside.grid is not None:
        about = " ".join(["Largest error, percent.", *of_check.of_map(beside.grid)])
        parts.append(_picture(beside.grid.plot(), f"{ids}grid", "Where the theory holds", about))
    assumptions = "".join(f"<li>{prose(sentence)}</li>\n" for sentence in one.assumptions)
    parts.append(f'<h3 class="over">Assumptions</h3>\n<ul>\n{assumptions}</ul>\n</section>')
    return "\n".join(parts)


def _classes(one: Certificate) -> str:
    """Verdicts on queues that share the link, and the sigmas of their prices."""
    verdicts = [(title, [str(verdict), *cells]) for title, verdict, cells in words.class_rows(one)]
    columns = [("verdict", ""), *((title, unit) for title, unit, _ in words.OF_CLASS)]
    text = _by_class("Classes at their shares", columns, verdicts)
    sigmas = words.sigma_rows(one)
    if sigmas:
        columns = [(title, unit) for title, unit, _ in words.OF_SIGMA]
        text += _by_class("Sigmas of their prices", columns, sigmas)
        text += f'\n<p class="note">{prose(words.ABOUT_SIGMA)}</p>'
    return text


def _links(one: Certificate) -> str:
    """Equilibrium of links that are certified together."""
    columns = [("law", ""), *((title, unit) for title, unit, _ in words.OF_LINK)]
    rows = [(link, [escape(law), *cells]) for link, (law, *cells) in words.link_rows(one)]
    return _by_class("Equilibrium", columns, rows, "link")


def _by_class(
    caption: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[str, Sequence[str]]],
    kind: str = "class",
) -> str:
    """A table with a row for each class, or of another kind."""
    heads = "".join(
        f'<th scope="col">{escape(title)}<span class="unit">{escape(unit)}</span></th>'
        for title, unit in columns
    )
    named = [escape(title) for title, _ in columns]
    body = "\n".join(
        f'<tr><th scope="row">{name(title)}</th>'
        + "".join(f'<td data-name="{head}">{cell}</td>' for head, cell in zip(named, cells, strict=True))
        + "</tr>"
        for title, cells in rows
    )
    return (
        f'<h3 class="over">{escape(caption)}</h3>\n<div class="scroll"><table>\n'
        f'<thead><tr><th scope="col">{kind}</th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _deviations(one: Certificate, large: Deviations, ids: str) -> list[str]:
    """Large deviations: sentences, the table of responses, and pictures."""
    from sojourn.deviations import words as of_deviations

    notes = "\n".join(f"<p>{prose(line)}</p>" for line in of_deviations.sentences(large))
    parts = ['<h3 class="over">Large deviations</h3>', notes]
    rows = of_deviations.rows(large)
    if rows:
        parts.append(_by_class("After a step", of_deviations.COLUMNS, rows, "step"))
        parts += [f'<p class="note">{prose(line)}</p>' for line in of_deviations.dashes(large)]
    pictures = [(kind, title, about) for kind, title, about in OF_DEVIATIONS if kind == "cycles" or rows]
    drawn = [
        _picture(getattr(one.plot, kind)(), f"{ids}{kind}", title, about) for kind, title, about in pictures
    ]
    return [*parts, '<div class="pictures">', *drawn, "</div>"]


#: Pictures of large deviations.
OF_DEVIATIONS = (
    ("sensitivity", "Sensitivity", "S = 1 / (1 + L) and T = L / (1 + L) of the loop of the verdict."),
    ("disturbances", "Disturbances", "The linearised backlog after steps, less its equilibrium."),
    ("cycles", "Limit cycles", "First harmonic of the fluid's cycles by the factor on the loop's gain."),
)


def _check(found: Validity, ids: str) -> str:
    """Verdict on the theory beside the plants."""
    from sojourn.validity import words as of_check

    about = f"{of_check.about(found)} {of_check.whose(found)}"
    return (
        '<h3 class="over">Theory beside packets</h3>\n'
        + "\n".join(_compared(one) for one in (found, *found.others))
        + f'\n<p class="note">{prose(about)}</p>\n'
        '<div class="pictures">\n'
        + "\n".join(
            _picture(getattr(found.plot, kind)(), f"{ids}{kind}", title, meaning)
            for kind, title, meaning in of_check.PICTURES
            if kind in found.plot.kinds
        )
        + "\n</div>"
    )


def _compared(found: Validity) -> str:
    """Verdict and figures of the plants at a link."""
    from sojourn.validity import words as of_check

    heads = "".join(f'<th scope="col">{escape(title)}</th>' for title in of_check.COLUMNS)
    body = "\n".join(
        f'<tr><th scope="row">{escape(title)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for title, cells in of_check.rows(found)
    )
    return (
        f'<p class="verdict">{prose(str(found))}</p>\n'
        f'<div class="scroll"><table>\n<thead><tr><th scope="col"></th>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _overview(certificates: Sequence[Certificate], beside: Sequence[Beside]) -> str:
    """The margins of all laws in a table, and the borders of their stability over each other."""
    parts = [_table_of_margins(certificates)] if any(one.loops for one in certificates) else []
    named = [
        (one.law, other.region)
        for one, other in zip(certificates, beside, strict=True)
        if other.region is not None
    ]
    if len(named) > 1:
        parts.append(
            _wide(
                lambda ax: maps.borders(named, ax, above=True),
                "borders",
                "Stability regions",
                "Border between stable and unstable of each law, over the number of flows and the base RTT; "
                "the laws keep their designs for the scenario. In the white area a law is unstable or has no "
                "verdict.",
            )
        )
    return "\n".join(parts)


def _table_of_margins(certificates: Sequence[Certificate]) -> str:
    """A row of margins for each law, and whose they are."""
    found = [{margin.name: margin for margin in headline.margins(one)} for one in certificates]
    names = list(dict.fromkeys(name for row in found for name in row))
    rows = [
        (one.law, [escape(one.verdict), *(_margin(row.get(name)) for name in names)])
        for one, row in zip(certificates, found, strict=True)
    ]
    about = list(dict.fromkeys(filter(None, map(headline.whose, certificates))))
    notes = "\n".join(f'<p class="note">{prose(line)}</p>' for line in about)
    return _by_class("Margins", [("verdict", ""), *((title, "") for title in names)], rows, "law") + notes


def _margin(found: headline.Margin | None) -> str:
    """A margin with its detail, for a cell."""
    if found is None:
        return "-"
    detail = f'<span class="half">{escape(found.detail)}</span>' if found.detail else ""
    return f"{escape(found.value)}{detail}"


def _loops(one: Certificate) -> str:
    """All loops that were analysed, folded away: the verdict is that of one."""
    heads = "".join(
        f'<th scope="col">{escape(title)}<span class="unit">{escape(unit)}</span></th>'
        for title, unit, *_ in words.COLUMNS
    )
    body = "\n".join(
        f'<tr><th scope="row">{escape(loop)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for loop, cells in words.rows(one)
    )
    notes = "\n".join(f'<p class="note">{prose(note)}</p>' for note in words.marks(one))
    return (
        "<details>\n<summary>All loops: models of the same link under the same law</summary>\n"
        '<div class="scroll"><table>\n'
        f'<thead><tr><th scope="col">loop</th>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        f"</table></div>\n{notes}\n</details>"
    )


def _equilibrium(one: Certificate) -> str:
    equilibrium = one.equilibrium
    if equilibrium is None:
        return ""
    windows = ", ".join(
        f"{words.short(c['window_packets'])} packets ({c['name']})" for c in equilibrium["classes"]
    )
    text = (
        f"The equilibrium is at p = {words.short(equilibrium['p'])} and "
        f"{words.short(equilibrium['backlog_packets'])} packets, "
        f"{words.short(1e3 * equilibrium['sojourn_s'])} ms of queueing in a round trip of "
        f"{words.short(1e3 * equilibrium['rtt_s'])} ms; windows are {windows}."
    )
    best = one.optimality
    if best is not None:
        text += (
            " That is the equilibrium of its optimal control: over "
            f"{words.short(best['t_f_s'])} s from there the "
            f"cheapest run stays until {words.short(best['stays_until_s'])} s, and none "
            "is cheaper by more than "
            f"{words.short(best['gap'])} packets s."
        )
    return f"<p>{prose(text)}</p>"


def _pictures(one: Certificate, ids: str) -> list[str]:
    return [
        _picture(getattr(one.plot, kind)(), f"{ids}{kind}", title, f"{meaning}{_dashed(one, kind)}")
        for kind, title, meaning in (*PICTURES, *([] if one.noise is None else [OF_NOISE]))
    ]


def _dashed(one: Certificate, kind: str) -> str:
    """What thin lines are in a picture; empty where there is none."""
    if kind not in ("bode", "nyquist", "step"):
        return ""
    if one.links:
        return " Thin: the loop broken at each other link."
    return " Dashed: the loop of the textbook." if one.textbook else ""


def _region(one: Certificate, beside: Beside, ids: str) -> list[str]:
    """The stability region with contours of the phase margin; empty without a map."""
    region, margins = beside.region, beside.margins
    if region is None:
        if margins is None:
            return []
        alone = "Phase margin of the same law; shaded: unstable. White: there is no loop."
        return [_picture(one.plot.margin_map(margins), f"{ids}margins", "Phase margin", alone)]
    barren = bool((region.cells >= len(VERDICTS)).any())
    about = [
        *(["Grey: there is no verdict, for the reason in the legend."] if barren else []),
        *(["Contours: phase margin, degrees."] if margins is not None else []),
        words.of_map(region),
        region.filled_in(),
    ]
    return [
        _wide(
            lambda ax: maps.region(ax, region, margins, above=True),
            f"{ids}map",
            "Stability region",
            " ".join(about),
        )
    ]


def _wide(draw: Callable[[Axes], Axes], ids: str, title: str, meaning: str) -> str:
    """A picture as wide as the page, drawn for pages of several widths."""
    drawn = {kind: draw(style.figure(size)[1][0]) for kind, size in WIDTHS.items()}
    caption = f'<figcaption class="note">{prose(meaning)}</figcaption>'
    found = pictures(ids, f"{title}. {meaning}", drawn)
    return f'<figure id="{ids}">\n<h3 class="over">{title}</h3>\n{found}\n{caption}\n</figure>'


def _picture(ax: Axes, ids: str, title: str, meaning: str) -> str:
    drawn = svg(figure_of(ax), ids, f"{title}. {meaning}")
    caption = f'<figcaption class="note">{prose(meaning)}</figcaption>'
    return f'<figure id="{ids}">\n<h3>{title}</h3>\n<div class="still">{drawn}</div>\n{caption}\n</figure>'


def _meanings() -> str:
    terms = "".join(
        f"<dt>{escape(title)}</dt><dd>{escape(meaning)}</dd>" for title, meaning in headline.MEANINGS
    )
    return f'<section id="meanings">\n<h2>Meanings of the margins</h2>\n<dl>{terms}</dl>\n</section>\n'
