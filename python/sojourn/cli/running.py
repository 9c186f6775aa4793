"""The output of the command `run`: sentences and tables of a result, in one of several formats."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sojourn.cli import printing

if TYPE_CHECKING:
    from pathlib import Path

    from sojourn.cli.options import RunOptions
    from sojourn.result import Result
    from sojourn.result.tables import Table

__all__ = ["deliver", "summary"]


def deliver(result: Result, options: RunOptions, records: Path | None = None) -> printing.Delivery:
    """Print the result, then write the folder, with the files of the folder `records`."""
    delivery = printing.Delivery()
    delivery.show(lambda: _printed(result, options))
    if options.place is not None:
        from sojourn.result.folder import renew

        place = options.place
        delivery.write(place.folder, lambda: renew(result, place, records))
        if delivery.written and not options.quiet:
            printing.note(f"wrote {place.folder}")
    return delivery


def _printed(result: Result, options: RunOptions) -> str:
    if options.as_json:
        return result.to_json(cost=True)
    return summary(result, options.form, every=options.all_metrics)


def summary(result: Result, form: str = "table", *, every: bool = False) -> str:
    """What the result shows in sentences, then for each link tables by variants, by class and by queue.

    Of metrics by variants those that differ, or `every` one. CSV has every metric as it is, and no sentence.
    Output is bounded: only the first links, and the first classes of each, are printed.
    """
    if form == "csv":
        return result.summary(wide=True).write_csv()
    parts = [*_sentences(result), *_tables(result, every=every)]
    return _WRITERS[form](result.title, parts)


def _sentences(result: Result) -> Iterator[str]:
    """The meaning of the numbers, and what they show."""
    from sojourn.report import verdicts
    from sojourn.result import trust, words

    yield words.seeds_note(result)
    if result.links:
        yield verdicts.opening(result, result.baseline())
    yield from trust.lines(result)


def _tables(result: Result, *, every: bool) -> Iterator[Table | str]:
    """Tables of each link, and of the classes that cross none."""
    from sojourn.report.differing import differing
    from sojourn.report.verdicts import by_plant, headline
    from sojourn.result import tables
    from sojourn.result.words import NO_QDISC, views

    shown = {*result.links[: tables.MOST_LINKS], None}
    for link, view in views(result):
        if link not in shown:
            continue
        if link is not None:
            table = tables.by_variant(view) if every else tables.by_variant(view, *differing(view))
            if len(result.links) > 1:
                notes = (by_plant(headline, view), *table.notes)
                table = replace(table, title=link, notes=notes)
            yield table
            both = tables.agreement(result.for_link(link)) if len(result.plants) > 1 else None
            yield from [] if both is None else [both]
        yield from tables.by_window(view)
        if view.classes:
            yield tables.by_class(view, "by class" if link is not None else NO_QDISC)
        if link is not None:
            for variant in view.variants:
                if len(view.queues(variant.qdisc)) > 1:
                    yield tables.by_queue(view, variant)
    left = len(result.links) - tables.MOST_LINKS
    if left > 0:
        yield f"and {left} more links: --json and --out have them"


def _as_text(title: str, parts: list[Table | str]) -> str:
    """For a terminal: wrapped, and tables split to fit its width."""
    width = max(72, shutil.get_terminal_size((110, 24)).columns)
    seeds, *rest = (
        textwrap.fill(part, min(100, width)) if isinstance(part, str) else _fitted(part, width)
        for part in parts
    )
    return "\n\n".join([f"{title}\n{seeds}", *rest])


def _fitted(table: Table, width: int) -> str:
    names, *columns = map(list, table.columns)
    return "\n".join(
        [
            *textwrap.wrap(table.title, width),
            *(printing.by_rows(part, width) for part in printing.beside(names, columns, width)),
            *(textwrap.fill(note, min(100, width)) for note in table.notes),
        ]
    )


def _as_markdown(title: str, parts: list[Table | str]) -> str:
    from sojourn.result.markup import markdown, markdown_text

    blocks = (markdown_text(part) if isinstance(part, str) else markdown(part) for part in parts)
    return "\n\n".join([f"**{markdown_text(title)}**", *blocks])


def _as_latex(title: str, parts: list[Table | str]) -> str:
    """Tables with sentences as comments; the first one names the package that they need."""
    from sojourn.result.markup import comment, latex

    blocks = (comment(part) if isinstance(part, str) else latex(part) for part in parts)
    return "\n\n".join([comment(f"{title}. Needs \\usepackage{{booktabs}}."), *blocks])


_WRITERS = {"table": _as_text, "markdown": _as_markdown, "latex": _as_latex}
