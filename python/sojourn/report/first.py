"""The answer at the head of a page: a sentence, and a table of what other demands would choose."""

from __future__ import annotations

from html import escape

from sojourn.report import answer, verdicts
from sojourn.report.parts import chip, prose
from sojourn.result import Result

#: Heads of the table.
HEADS = ("demand", "qdisc", "sojourn p95", "utilisation", "drops")


def section(result: Result, kind: str = "verdict", called: str = answer.CALLED) -> str:
    """The answer of each plant; empty where no delays can be compared. `kind` is its class of style."""
    views = dict(verdicts.plants(result))
    found = {plant: answer.answer(view, called) for plant, view in views.items()}
    if not any(found.values()):
        return ""
    texts = (
        _sentence(result, plant, kind, prose(verdicts.headline(views[plant])))
        if one is None
        else _answer(result, one, plant, kind)
        for plant, one in found.items()
    )
    return f'<div class="answer">\n{"".join(texts)}</div>\n'


def _sentence(result: Result, plant: str, kind: str, text: str) -> str:
    """A sentence on one plant."""
    begun = f"{verdicts.BEGINNINGS.get(plant, plant)}: " if len(result.plants) > 1 else ""
    return f'<p class="{kind}">{escape(begun)}{text}</p>\n'


def _answer(result: Result, one: answer.Answer, plant: str, kind: str) -> str:
    price = f" {prose(one.price)}" if one.price else ""
    text = f"<strong>{prose(one.lead)}</strong>: {prose(one.why)}.{price}"
    sentence = _sentence(result, plant, kind, text)
    doubts = f'<p class="note">{prose(one.doubts)}</p>\n' if one.doubts else ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    rows = "".join(_row(result, row) for row in one.rows)
    return (
        f"<div>{sentence}{doubts}</div>\n"
        f'<div class="scroll"><table class="demands compact">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody>\n</table></div>\n"
    )


def _row(result: Result, row: answer.Row) -> str:
    places = {one: place for place, one in enumerate(result.variants)}
    texts = (text.replace("less than ", "<") for text in (row.delay, row.use, row.loss or "-"))
    cells = "".join(f"<td>{prose(text)}</td>" for text in texts)
    chips = "".join(chip(result, one, point=True) for one in row.tied[: answer.MOST_TIED])
    return (
        f'<tr data-law="{places[row.tied[0]]}"><th scope="row">{escape(row.label)}</th>'
        f'<td class="qdisc">{chips}{escape(row.name)}</td>{cells}</tr>\n'
    )
