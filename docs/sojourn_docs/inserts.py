"""Facts that are inserted into pages while they are built, so that they are never stale.

`<!-- insert KIND ARGUMENT -->` in a page is replaced before the page is read:

    summary LAW        a law in one sentence, from the catalogue
    idea LAW           the idea of a law, from the catalogue
    parameters NAME    the table of an entry's parameters, from the catalogue
    source LAW         the source of a law or congestion control, from the catalogue
    applications       the parameters of every application, from the catalogue
    portrait LAW       a law's queue, delays and stability region
    panels LINK        the queue under every law on a link of scenarios/behaviour
    exhibits           scenarios with a picture and the sentences of their reports
    truth_simulators   our numbers beside those of ns-2 and ns-3
    truth_kernel       the same beside a kernel's qdiscs
    truth_published    the same beside published runs of Linux
    run LAW            a picture and a table of a run under tail drop and under the law
    windows            a picture and a table of runs under each congestion control
    beside LAW         a comparison of a law with ns-3
    behaviour LINK     runs of every law on a link of scenarios/behaviour
    catalogue KIND     the table of all laws, qdiscs, ccs, apps, links or profiles
    gallery FOLDER     the table of a folder of scenarios, from their titles
    settings           every setting of TCP, by profile
    metrics            every metric of a result, with its unit
    window_metrics     those that only windows of time have
    scenario           every key of a scenario file
    topic NAME         the forms of a value of many keys, such as distribution
    commands           every command's own help
    api                every public name of the package
    page FILE          a page from the top of the repository, its links turned
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from typer.testing import CliRunner

import sojourn as sj
from sojourn import catalogue
from sojourn.custom import InPython
from sojourn.scenario import gallery
from sojourn_docs import behaviour, beside, exhibits, portraits, runs, truth, windows

_INSERT = re.compile(r"<!-- insert (\w+)(?: (\S+))? -->")
_ROOT = Path(__file__).resolve().parents[2]


def prepare(app: Sphinx, config: Config) -> None:
    """Create a folder for the pictures of runs that Sphinx copies into the built pages."""
    pictures = Path(app.doctreedir).parent / "pictures"
    (pictures / "runs").mkdir(parents=True, exist_ok=True)
    config.html_static_path = [*config.html_static_path, str(pictures)]
    app.sojourn_pictures = pictures / "runs"  # type: ignore[attr-defined]


def fill(app: Sphinx, page: str, text: list[str]) -> None:
    """Replace the inserts of one page."""

    def replacement(found: re.Match[str]) -> str:
        kind, argument = found.groups()
        pictures, static = app.sojourn_pictures, "../" * page.count("/") + "_static/runs"  # type: ignore[attr-defined]
        given = [argument] if argument else []
        if kind in _DRAWN:
            return _DRAWN[kind](*given, pictures, static)
        if kind not in _INSERTS:
            known = ", ".join([*_DRAWN, *_INSERTS])
            raise ExtensionError(f'{page}: there is no insert "{kind}"; expected {known}')
        return _INSERTS[kind](*given)

    text[0] = _INSERT.sub(replacement, text[0])


def shorten_law(app: Sphinx, what: str, name: str, made: Any, options: Any, lines: list[str]) -> None:  # noqa: PLR0917
    """Replace the parameters in the docstring of an entry's class by a link to its page."""
    del app, what, options
    stem, kind = getattr(made, "stem", None), name.split(".")[-2]
    if stem is not None:
        if kind == "ccs" and catalogue.explain(stem)["live_only"]:
            lines[:] = [f"{lines[0]} See :doc:`/howto/run-live`.", ""]
            return
        page = {"apps": "/scenarios", "links": "/links"}.get(kind, f"/{kind}/{stem}")
        lines[:] = [f"{lines[0]} Parameters: :doc:`{page}`.", ""]


def parameters(name: str) -> str:
    """The table of an entry's parameters."""
    fields = catalogue.explain(name)["fields"]
    if not fields:
        return "None."
    has_symbols = any(field["symbol"] for field in fields)
    rows = (
        [
            f"`{field['key']}`",
            *([field["symbol"]] if has_symbols else []),
            _default(field),
            _values(field),
            _with_reason(field),
        ]
        for field in fields
    )
    symbol = ["symbol"] if has_symbols else []
    return _table(["parameter", *symbol, "default", "range", "meaning"], rows)


def applications() -> str:
    """The parameters of every application that has some."""
    names = [entry["name"] for entry in catalogue.entries("apps") if entry["fields"]]
    return "\n\n".join(f"### Parameters of `{name}`\n\n{parameters(name)}" for name in names)


def summary(law: str) -> str:
    """The one-sentence summary of a law."""
    text = _cell(catalogue.explain(law)["summary"])
    return f"{text[0].upper()}{text[1:]}."


def idea(law: str) -> str:
    """The idea of a law."""
    return _cell(catalogue.explain(law)["idea"])


def source(name: str) -> str:
    """The publication or document that defines an entry."""
    return str(catalogue.explain(name)["source"]) + "."


def behaviour_of_all(link: str) -> str:
    """The table of every law's behaviour on a link."""
    head, *rows = behaviour.table(link)
    return _table(head, ([_qdisc_linked(qdisc), *map(_unbroken, cells)] for qdisc, *cells in rows))


def entries(kind: str) -> str:
    """All entries of a kind, with links to their pages."""
    rows = (
        [_linked(kind, entry["name"]), entry["summary"], entry["source"]] for entry in catalogue.entries(kind)
    )
    return _table(["name", "meaning", "source"], rows)


def scenarios_of(folder: str) -> str:
    """The scenarios of a folder of the gallery, with their titles."""
    names = [name for name in gallery() if name.startswith(f"{folder}/")]
    return _table(["name", "question"], ([f"`{name}`", sj.load(name).title] for name in names))


def scenario() -> str:
    """The keys of a scenario file, a table for each table of the file."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for field in catalogue.entries("keys"):
        if field["of"] != "scenario":
            continue
        tables.setdefault(field["key"].rpartition(".")[0], []).append(field)
    return "\n\n".join(_keys(name, fields) for name, fields in tables.items())


def topic(name: str) -> str:
    """The forms of a value of many keys."""
    return _table(
        ["written", "meaning"], ([f"`{form}`", about] for form, about in catalogue.explain(name)["forms"])
    )


def metrics() -> str:
    """Every metric of a result."""
    rows = ([f"`{one['name']}`", one["unit"], one["summary"]] for one in catalogue.entries("metrics"))
    return _table(["name", "unit", "meaning"], rows)


def window_metrics() -> str:
    """Every metric that only windows of time have."""
    rows = ([f"`{one['name']}`", one["unit"], one["summary"]] for one in catalogue.entries("window_metrics"))
    return _table(["name", "unit", "meaning"], rows)


def settings() -> str:
    """Every setting of TCP, by profile."""
    profiles = [catalogue.explain(entry["name"]) for entry in catalogue.entries("profiles")]
    rows = (
        [
            f"`{same[0]['key']}`",
            *(_default(field) for field in same),
            _values(same[0]),
            same[0]["about"],
            same[0]["source"],
        ]
        for same in zip(*(profile["fields"] for profile in profiles), strict=True)
    )
    names = [f"in `{profile['name']}`" for profile in profiles]
    return _table(["setting", *names, "range", "meaning", "source"], rows)


def commands() -> str:
    """The help of every command, as the command prints it."""
    from sojourn.cli import app

    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    return "\n\n".join([_help(app), *(f"## sojourn {name}\n\n{_help(app, name)}" for name in names)])


def api() -> str:
    """The public names: functions, classes, errors, then the laws."""
    apart = {"apps", "ccs", "laws", "links", "qdiscs", "__version__"}
    names = [name for name in sj.__all__ if name not in apart]
    groups = (
        ("Functions", [name for name in names if inspect.isroutine(getattr(sj, name))]),
        ("Classes", [name for name in names if _is_class(name) and not _is_error(name)]),
        ("Errors", [name for name in names if _is_error(name)]),
    )
    return "\n\n".join(_documented(*group) for group in groups)


def root_page(name: str) -> str:
    """A page that stands at the top of the repository, with its links as seen from here."""
    text = (_ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", _turned, text)


#: Inserts with pictures: they have the folder of these, and its place as seen from the page.
_DRAWN: dict[str, Callable[..., str]] = {
    "portrait": portraits.of_law,
    "panels": portraits.together,
    "exhibits": exhibits.shown,
    "truth_simulators": truth.simulators,
    "truth_kernel": truth.kernel,
    "truth_published": truth.published,
    "run": runs.shown,
    "windows": windows.shown,
}
_INSERTS: dict[str, Callable[..., str]] = {
    "summary": summary,
    "idea": idea,
    "parameters": parameters,
    "source": source,
    "applications": applications,
    "behaviour": behaviour_of_all,
    "beside": beside.table,
    "catalogue": entries,
    "gallery": scenarios_of,
    "scenario": scenario,
    "topic": topic,
    "settings": settings,
    "metrics": metrics,
    "window_metrics": window_metrics,
    "commands": commands,
    "api": api,
    "page": root_page,
}


def _keys(table: str, fields: Sequence[dict[str, Any]]) -> str:
    rows = (
        [
            f"`{field['key'].rpartition('.')[2]}`",
            _default(field),
            _values(field),
            f"{field['about']} ({field['source']})" if field["source"] else field["about"],
        ]
        for field in fields
    )
    title = f"Keys of `{table}`" if table else "Keys at the top of the file"
    return f"## {title}\n\n" + _table(["key", "default", "range", "meaning"], rows)


def _help(app: typer.Typer, *words: str) -> str:
    shown = CliRunner(env={"COLUMNS": "84"}).invoke(app, [*words, "--help"], prog_name="sojourn")
    if shown.exit_code != 0:
        raise ExtensionError(f"sojourn {' '.join(words)} --help: {shown.output}")
    return f"```text\n{shown.output.rstrip()}\n```"


def _documented(title: str, names: Sequence[str]) -> str:
    parts = []
    for name in names:
        kind = "autofunction" if inspect.isroutine(getattr(sj, name)) else "autoclass"
        parts.append(f".. {kind}:: sojourn.{name}")
        if kind == "autoclass":
            # Scenarios and results come from functions, not from constructors.
            parts[-1] += "\n   :members:\n   :exclude-members: __init__, parse, of_trace"
            if issubclass(getattr(sj, name), InPython):
                parts[-1] += "\n   :inherited-members: object"
    return f"## {title}\n\n```{{eval-rst}}\n" + "\n\n".join(parts) + "\n```"


def _is_class(name: str) -> bool:
    return inspect.isclass(getattr(sj, name))


def _is_error(name: str) -> bool:
    return _is_class(name) and issubclass(getattr(sj, name), BaseException)


def _linked(kind: str, name: str) -> str:
    page = _ROOT / "docs" / kind / f"{name}.md"
    return f"[{name}](/{kind}/{name}.md)" if page.exists() else f"`{name}`"


def _qdisc_linked(qdisc: str) -> str:
    """A qdisc's law, linked; the asterisk of a missed target stays."""
    law = re.match(r"\w+", qdisc)[0]  # type: ignore[index]
    return _linked("laws", law) + (" \\*" if qdisc.endswith("*") else "")


def _unbroken(cell: str) -> str:
    return cell.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def _turned(found: re.Match[str]) -> str:
    """A link of a page at the top, relative to docs/; the bare words if its target is not in docs/."""
    words, link = found.groups()
    if "://" in link or link.startswith("#"):
        return found[0]
    place = link.removeprefix("docs/") if link.startswith("docs/") else link.lower()
    return f"[{words}]({place})" if (_ROOT / "docs" / place.partition("#")[0]).is_file() else words


def _values(field: dict[str, Any]) -> str:
    """The kind of a parameter, with its range or its words."""
    kind, rule = field["kind"], field["rule"] or ", ".join(field["words"])
    return kind if not rule or rule == kind else f"{kind}; {rule}"


def _default(field: dict[str, Any]) -> str:
    """The default; of one that is derived, or none, what applies."""
    if field["is_required"]:
        return "required"
    value = field["default"]
    return field["why"] if value is None else value if isinstance(value, str) else _toml(value)


def _with_reason(field: dict[str, Any]) -> str:
    """The meaning, and the reason of a default that does not state it itself."""
    if field["default"] is None:
        return str(field["about"])
    return f"{field['about']}. Why this default: {field['why']}"


def _toml(value: object) -> str:
    """A value as a scenario file has it."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(inner)}' for key, inner in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(head), ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Text of a table cell, with Markdown's special characters escaped."""
    plain = re.sub(r"[ \n]+", " ", text).strip()
    return plain if plain.startswith(("`", "[")) else re.sub(r"([\\|*_$<\[\]])", r"\\\1", plain)
