"""The page: scenario, results, and the commands to repeat them."""

from __future__ import annotations

import json
import re
import shlex
from html import escape

from sojourn.plot import Canvas, Plots
from sojourn.report import (
    answer,
    chapters,
    classes,
    comparison,
    first,
    live,
    queues,
    rrul,
    setting,
    tradeoff,
    users,
    verdicts,
    windows,
)
from sojourn.report.document import asset, document
from sojourn.report.figures import svg
from sojourn.report.parts import figure_of, prose, variant
from sojourn.report.service import service
from sojourn.result import Result, metrics, tables, trust, words
from sojourn.result.words import NO_QDISC

NETWORK = Canvas(size=(5.9, 1.6))
#: Note on the columns by class.
CLASS_MEANING = (
    "by class",
    "queue, sojourn, drops and marks of the class's own packets, over those that it offered",
)

# The plants, as adverbs of a run.
WAYS = {"fluid": "as a fluid", "packet": "packet by packet", "live": "live by the kernel's own TCP"}

# Most notes on the scenario that are shown.
MOST_NOTES = 8

#: Note before the answer at a link where the page begins with what users notice.
ALL_PACKETS = "By the delay of all packets at this link; what users notice is above."
#: Ways to zoom, for pointers and for keys.
HINT = (
    "drag to zoom, double-click for the whole run; "
    "keys: + and \u2212 zoom, \u2190 and \u2192 move, Esc: whole run"
)


def page(result: Result, baseline: str | None = None) -> str:
    """The whole page as text. It needs no other file and no network.

    Without scripts its pictures are still. Differences are taken to `baseline`, a qdisc of the result; the
    first one by default.
    """
    chosen = result.baseline(baseline)
    sights = live.sights(result)
    scripts = _scripts()
    body = [
        _head(result, chosen),
        tradeoff.section(result, stated=True) if _begins_with_delays(result) else "",
        _scene(result),
        _left_out(result, sights),
        _tools(result, sights),
        *(_at_link(sight, chosen, _called(result)) for sight in sights),
        _repeat(result),
        _meanings(result),
    ]
    return document(
        result.title, body, head=f"{baseline_mark(chosen)}\n", data=_numbers_of(sights), scripts=scripts
    )


def baseline_mark(qdisc: str) -> str:
    """The mark of the page's baseline, read by a page that replaces it."""
    return f'<meta name="sojourn-baseline" content="{escape(qdisc)}">'


def _numbers_of(sights: list[live.Sight]) -> str:
    """The charts' numbers, as data that no browser runs."""
    numbers = json.dumps(live.data(sights), separators=(",", ":"), allow_nan=False)
    numbers = numbers.replace("<", "\\u003c")  # text of the user cannot end the script
    return f'<script type="application/json" id="data">{numbers}</script>\n'


def _scripts() -> tuple[str, str]:
    """Scripts of every page: uPlot and ours."""
    # The whole licence replaces uPlot's banner, an address and its version.
    plotter = re.sub(r"^/\*!.*?\*/\n", "", asset("vendor/uPlot.iife.min.js"), flags=re.S)
    licence = asset("vendor/uPlot.LICENSE")
    return f"\n/* uPlot\n\n{licence}*/\n{plotter}", f"\n{asset('page.js')}"


def _at_link(sight: live.Sight, baseline: str, called: str) -> str:
    """The measurements at one link; each of several has a part of its own, chosen in the bar.

    `called` names the qdisc of its answer.
    """
    view, ids = sight.view, sight.ids
    if not view.links:
        return _at_no_qdisc(sight)
    parts = [
        ""
        if _begins_with_delays(view) and not ids
        else tradeoff.section(
            view, ids, stated=bool(ids), note="" if ids else _all_packets(called), called=called
        ),
        chapters.section(sight, chapters.DISTRIBUTION),
        comparison.summary(view, ids),
        comparison.differences(view, baseline, ids),
        comparison.agreement(view, ids),
        classes.section(sight),
        queues.section(view, ids),
        windows.section(view, ids),
        *(chapters.section(sight, chapter) for chapter in chapters.CHAPTERS),
    ]
    text = "\n".join(part for part in parts if part)
    if not ids:
        return text
    (link,) = view.links
    shown = " shown" if sight.place == 0 else ""
    sentences = first.section(view, called=called) or _paragraph(
        "verdict", verdicts.by_plant(verdicts.headline, view)
    )
    sentences = _all_packets(called) + sentences
    return (
        f'<section class="link{shown}" id="{ids}link">\n<h2 class="place">At {escape(link)}</h2>\n'
        f"{sentences}{text}\n</section>"
    )


def _all_packets(called: str) -> str:
    """A note before the answer at a link of a page that begins with what users notice."""
    return _paragraph("note", ALL_PACKETS) if called == answer.CALLED_BESIDE_USERS else ""


def _called(result: Result) -> str:
    """Name of the answers at links."""
    return answer.CALLED_BESIDE_USERS if users.applies(result) else answer.CALLED


def _at_no_qdisc(sight: live.Sight) -> str:
    """The classes that cross no qdisc, beside the parts of the links."""
    return (
        f'<section class="link" id="{sight.ids}link">\n<h2 class="place">{NO_QDISC.capitalize()}</h2>\n'
        f'<p class="verdict">The data of these classes cross no link with a qdisc.</p>\n'
        f"{classes.section(sight)}\n</section>"
    )


def _begins_with_delays(result: Result) -> bool:
    """True if the page begins with the delays at its link, as opposed to what users notice."""
    return len(result.links) == 1 and not users.applies(result)


def _head(result: Result, baseline: str) -> str:
    """The title and the answer; beside it what users notice."""
    answered = first.section(result, "headline") if _begins_with_delays(result) else ""
    answered = answered or _serving(result, baseline)
    answered = answered or _paragraph("headline", verdicts.opening(result, baseline))
    noticed = (users.section(result) if users.applies(result) else "") + rrul.section(result, baseline)
    return (
        f'<header>\n<p class="kind">Sojourn report: {prose(_extent(result))}</p>\n'
        f"<h1>{escape(result.title)}</h1>\n{answered}{_incomplete(result)}{_trust(result)}{noticed}</header>"
    )


def _serving(result: Result, baseline: str) -> str:
    """What users notice: the best qdisc, the order of all, and what it changes.

    Empty without it, and with several plants.
    """
    found = service(result) if users.applies(result) and len(result.plants) == 1 else None
    if found is None:
        return ""
    changed = users.headline(result, baseline, listed=False)
    return (
        f'<p class="headline"><strong>{prose(found.lead)}</strong>: {prose(found.why)}.</p>\n'
        f"{found.table(result)}\n{_paragraph('note', changed) if changed else ''}"
    )


def _paragraph(kind: str, text: str) -> str:
    return f'<p class="{kind}">{prose(text)}</p>\n'


def _scene(result: Result) -> str:
    """The network and its setting."""
    ran = " ".join(setting.sentences(result.scenario))
    network = svg(figure_of(Plots(result, NETWORK).network()), "network", f"The network. {ran}")
    return (
        f'<section class="scene" id="scene">\n<div><h2>Setting</h2>\n{_paragraph("setting", ran)}'
        f'{_notes(result)}</div>\n<figure id="network">{network}</figure>\n</section>'
    )


def _left_out(result: Result, sights: list[live.Sight]) -> str:
    """Note on the links that the page leaves out."""
    left = len(result.links) - sum(len(sight.view.links) for sight in sights)
    if not left:
        return ""
    shown = f"The {tables.MOST_LINKS} links of the highest mean utilisation are shown"
    return f'<p class="note">{shown}; the result has {left} more.</p>\n'


def _extent(result: Result) -> str:
    qdiscs = len(result.qdiscs)
    qdisc = "qdisc" if qdiscs == 1 else "qdiscs"
    named = [WAYS[plant] for plant in result.plants if plant in WAYS]
    how = " and ".join([*filter(None, [", ".join(named[:-1])]), *named[-1:]])
    if not any(one.seeded for one in result.variants):
        return f"{qdiscs} {qdisc}, {how}"
    return f"{qdiscs} {qdisc}, {words.seed_count(result)}, {how}"


def _trust(result: Result) -> str:
    """A line for each live run, the worst first; a warning if it is not good."""
    runs = trust.runs(result)
    shown = [(row, trust.named(row)) for row in runs[:MOST_NOTES]]
    # The kind of the rest is that of its worst run.
    shown += [(row, f"and {len(runs) - MOST_NOTES} more") for row in runs[MOST_NOTES : MOST_NOTES + 1]]
    kinds = ["note" if row.trust["verdict"] == "good" else "warning" for row, _ in shown]
    return "".join(
        f'<p class="{kind}">{escape(line)}</p>\n' for kind, (_, line) in zip(kinds, shown, strict=True)
    )


def _incomplete(result: Result) -> str:
    requested = result.provenance.get("runs_planned")
    if not isinstance(requested, int) or requested <= result.run_count:
        return ""
    return f'<p class="warning">Not whole: {result.run_count} of {requested} runs finished.</p>\n'


def _notes(result: Result) -> str:
    """Warnings about valid but surprising settings."""
    notes = result.provenance.get("notes") or []
    return "".join(f'<p class="note">Note: {prose(note)}</p>\n' for note in notes[:MOST_NOTES])


def _tools(result: Result, sights: list[live.Sight]) -> str:
    """The sticky bar: legend of the qdiscs, and controls; for scripts alone."""
    laws = "".join(
        f'<button type="button" class="toggle" data-law="{place}" aria-pressed="true">'
        f"{variant(result, one)}</button>"
        for place, one in enumerate(result.variants)
    )
    return (
        f'<div class="tools" role="group" aria-label="Charts">\n{_links(result, sights)}'
        f'<div class="laws">{laws}</div>\n'
        f'<span class="hint" id="keys">{HINT}</span>'
        '<button type="button" class="plain" id="whole" hidden>whole run</button>'
        '<button type="button" class="plain" id="overlay" hidden>overlay</button>'
        '<button type="button" class="plain" id="theme">dark</button>\n</div>'
    )


def _links(result: Result, sights: list[live.Sight]) -> str:
    """Choice of a link, if there are several."""
    if len(result.links) == 1:
        return ""
    buttons = "".join(
        f'<button type="button" class="place" data-link="{sight.place}" '
        f'aria-pressed="{"true" if sight.place == 0 else "false"}">'
        f"{escape(''.join(sight.view.links) or NO_QDISC)}</button>"
        for sight in sights
    )
    return f'<div class="links" role="group" aria-label="Links">{buttons}</div>\n'


def _repeat(result: Result) -> str:
    origin = result.provenance
    command = origin.get("command") or []
    versions, machine = origin.get("versions") or {}, origin.get("machine") or {}
    facts = [
        ("Seeds", _numbers(result.seeds)),
        (
            "Version",
            f"Sojourn {versions.get('sojourn', 'unknown')}, Python {versions.get('python', 'unknown')}",
        ),
        ("Made", f"{origin.get('started', 'unknown')}, in {_wall(origin.get('wall_s'))}"),
        ("Machine", f"{machine.get('system', 'unknown')} {machine.get('architecture', '')}".strip()),
    ]
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    recipe = _shell(command) if command else _calls(result)
    resolved = json.dumps(result.scenario, indent=1, ensure_ascii=False)
    return (
        '<section id="repeat">\n<h2>Commands to repeat it</h2>\n'
        f"<pre><code>{escape(recipe)}</code></pre>\n<dl>{rows}</dl>\n"
        f'<p class="note">{_promise(result)}</p>\n'
        "<details><summary>The scenario, with every default</summary>\n"
        f"<pre><code>{escape(resolved)}</code></pre>\n</details>\n{_sources(result)}</section>"
    )


def _promise(result: Result) -> str:
    """Whether a repetition gives the same numbers."""
    same = "The same scenario, seeds and version give the same numbers"
    anywhere = "on any machine and with any number of workers"
    live = "Live runs do not repeat: their numbers depend on the machine and its load."
    if "live" not in result.plants:
        return f"{same}, {anywhere}."
    return live if result.plants == ["live"] else f"{same} in the other plants, {anywhere}. {live}"


def _sources(result: Result) -> str:
    """Sources of what is written in Python, each under its label."""
    return "".join(
        f"<details><summary>The source of {escape(label)}</summary>\n"
        f"<pre><code>{escape(source or 'Python had no source of it.')}</code></pre>\n</details>\n"
        for label, source in _python_laws(result).items()
    )


def _python_laws(result: Result) -> dict[str, str | None]:
    """Label -> source."""
    laws = result.provenance.get("laws")
    if not isinstance(laws, dict):
        return {}
    return {str(label): None if source is None else str(source) for label, source in laws.items()}


def _calls(result: Result) -> str:
    """The calls in Python of a result without a command."""
    laws = list(_python_laws(result))
    names = {label: "law" if len(laws) == 1 else f"law_{place}" for place, label in enumerate(laws, 1)}
    calls = [
        f"{name} = ...  # {' '.join(label.split())}: its source is below" for label, name in names.items()
    ]
    qdiscs = ", ".join(names.get(qdisc) or json.dumps(qdisc, ensure_ascii=False) for qdisc in result.qdiscs)
    seeds = result.seeds
    listed = f"range({seeds[0]}, {seeds[-1] + 1})" if _in_a_row(seeds) else str(seeds)
    plants = "" if result.plants == ["packet"] else f", plants={json.dumps(result.plants)}"
    return "\n".join(
        [
            "import sojourn as sj",
            "",
            'scenario = sj.load("scenario.toml")  # the one below',
            *calls,
            f"result = sj.run(scenario, qdiscs=[{qdiscs}], seeds={listed}{plants})",
            'result.report("report.html")',
        ]
    )


def _shell(command: list[object]) -> str:
    """The command for a shell; a long one with a line for each option."""
    whole = shlex.join(map(str, command))
    if len(whole) <= 80:
        return whole
    lines: list[list[str]] = [[]]
    for word in map(str, command):
        if word.startswith("-"):
            lines.append([])
        lines[-1].append(word)
    return " \\\n    ".join(shlex.join(line) for line in lines)


def _meanings(result: Result) -> str:
    found = {name for row in result.runs for name, value in row.metrics.items() if value is not None}
    columns = metrics.ALL if result.classes else metrics.SUMMARY
    meanings = [(one.short, metrics.ABOUT[one.metric]) for one in columns if one.metric in found]
    if result.classes:
        meanings.append(CLASS_MEANING)
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(meaning)}</dd>" for name, meaning in meanings)
    return f'<section id="meanings">\n<h2>Meanings of the columns</h2>\n<dl>{rows}</dl>\n</section>'


def _numbers(seeds: list[int]) -> str:
    if _in_a_row(seeds):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _in_a_row(seeds: list[int]) -> bool:
    return len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1


def _wall(seconds: object) -> str:
    return f"{seconds:.1f} s" if isinstance(seconds, int | float) else "unknown time"
