"""Scenarios, results and certificates as HTML, for the value of a cell: plain tables, which load nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from sojourn.result import Result, metrics, words
from sojourn.result.tables import MOST_LINKS

if TYPE_CHECKING:
    from sojourn.prove import Certificate


def of_scenario(scenario: dict[str, Any]) -> str:
    """The title of a scenario, as its JSON has it, its qdiscs, and its setting in sentences."""
    from sojourn.report.setting import sentences

    title = scenario.get("title") or "Untitled scenario"
    return _block(title, _by_link(scenario), _listed(sentences(scenario)))


def of_result(result: Result) -> str:
    """The title of a result, and a table of its qdiscs by metrics for each of the first links."""
    several = len(result.links) > 1
    tables = [
        (_paragraph(link) if several else "") + _by_qdisc(view, link)
        for link, view in islice(words.views(result), MOST_LINKS)
        if link is not None
    ]
    left = len(result.links) - len(tables)
    more = f"{left} more links: `summary()` has them." if left > 0 else ""
    return _block(result.title, *tables, _note(more), _note(words.seeds_note(result)))


def of_certificate(certificate: Certificate) -> str:
    """The verdict of a certificate, the margins of its loop, and its warnings."""
    from sojourn.prove import headline

    margins = headline.margins(certificate)
    values = [one.value if not one.detail else f"{one.value} ({one.detail})" for one in margins]
    table = [_table(["law", *(one.name for one in margins)], [[certificate.law, *values]])] if margins else []
    warnings = [_note(f"Warning: {warning}") for warning in certificate.warnings]
    return _block(str(certificate), *table, _note(headline.whose(certificate)), *warnings)


def _by_link(scenario: dict[str, Any]) -> str:
    """A table of the qdiscs of a scenario; empty without one."""
    from sojourn.plot.graph import links_of

    lines = [
        (name, {**link, **own})
        for link in links_of(scenario)
        for name, own in ((link["name"], link), (f"{link['name']}.back", link.get("back") or {}))
        if own.get("qdisc")
    ]
    rows = [
        [name, line.get("rate") or "-", line.get("buffer") or "-", _qdisc(line["qdisc"])]
        for name, line in lines[:MOST_LINKS]
    ]
    if not rows:
        return ""
    more = _note(f"{len(lines) - MOST_LINKS} more links have a qdisc.") if len(lines) > MOST_LINKS else ""
    return _table(["link", "rate", "buffer", "qdisc"], rows) + more


def _qdisc(of: dict[str, Any]) -> str:
    """A qdisc as the command line has it, such as ``pi:target=100 packets``."""
    if "law" in of:
        name, own = of["law"], {key: value for key, value in of.items() if key != "law"}
    else:
        ((name, own),) = of.items()
    settings = ",".join(f"{key}={value}" for key, value in _flat(own))
    return f"{name}:{settings}" if settings else str(name)


def _flat(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Values of a table by dotted keys."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        elif value is not None:
            yield f"{above}{key}", value


def _by_qdisc(result: Result, link: str) -> str:
    columns = [words.fitted(result, column) for column in metrics.SUMMARY]
    shown = [
        column for column in columns if any(words.scaled(result, one, column) for one in result.variants)
    ]
    heads = [f"{column.short}, {column.unit}" if column.unit else column.short for column in shown]
    rows = [
        [words.variant_at(result, one, link), *(words.cell(result, one, column) or "-" for column in shown)]
        for one in result.variants
    ]
    return _table(["qdisc", *heads], rows)


def _block(title: str, *parts: str) -> str:
    return f"<div>\n<p><strong>{escape(title)}</strong></p>\n" + "\n".join(parts) + "\n</div>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def _note(text: str) -> str:
    return f"<p><small>{escape(text)}</small></p>" if text else ""


def _listed(sentences: Sequence[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "\n</ul>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose rows begin with their names."""
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for name, *cells in rows
    )
    return f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
