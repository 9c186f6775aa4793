"""The figures that pages quote from commands match the commands' output.

`docs/figures.py` documents how a page ties a figure to its command; `make figures ARGS=--write` brings pages
up to date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import figures  # noqa: E402

FIGURES = {page: figures.figures(page) for page in figures.PAGES}


#: Every command that a figure is tied to, with the figures of its page.
RUNS = [
    (page, command)
    for page, found in FIGURES.items()
    for command in dict.fromkeys(figure.command for figure in found)
]


def name(value: object) -> str:
    return value.stem if isinstance(value, Path) else " ".join(map(str, value))[:60]  # type: ignore[call-overload]


@pytest.mark.slow
@pytest.mark.thinned(6)
@pytest.mark.parametrize(("page", "command"), RUNS, ids=name)
def test_a_figure_matches_its_command(page: Path, command: figures.Args) -> None:
    stale = [
        f"{figure.place()}: {figure.written}, now {figure.measured()}"
        for figure in FIGURES[page]
        if figure.command == command and figure.measured() != figure.written
    ]
    assert not stale, "make figures ARGS=--write\n" + "\n".join(stale)


@pytest.mark.parametrize("page", figures.PAGES, ids=name)
def test_every_command_of_a_page_is_tied_to_a_figure(page: Path) -> None:
    tied = {figure.command for figure in FIGURES[page]}
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```sh\n.*?^```\n\n?(.*?)$", text, re.MULTILINE | re.DOTALL):
        inserted = block[1].startswith(("<!-- insert", "<!-- no figure -->"))
        for _, command in figures.commands(block[0]):
            assert command in tied or inserted, f"{page.name}: nothing is quoted of: sojourn {name(command)}"


def test_figures_measured_elsewhere_are_repeated_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for page in figures.PAGES:
        for where in re.findall(r"<!-- measured: (.*?) -->", page.read_text(encoding="utf-8"), re.DOTALL):
            places = [re.split(r"[,;: ]", place)[0] for place in where.split() if "/" in place]
            missing = [place for place in places if not (ROOT / place).exists()]
            assert not missing, f"{page.name}: {missing}"
            made = re.findall(r"\bmake ([\w-]+)", where)
            assert set(made) <= targets, f"{page.name}: {where}"
            once = "once, " in where
            assert places or made or once, (
                f"{page.name}: {where}: a test, a target of make, or once and with what"
            )


def test_a_stale_figure_is_found_and_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "The queue is 5.0<!-- figure: #2 queue_mean_packets --> packets, give or take 3.\n\n"
        "<!-- figures\nrows: qdiscs\ncolumns: --set a=1; -; --set a=2\n"
        "cells: queue_mean_packets ± ci\n-->\n\n"
        "| | one | theirs | two |\n|---|---|---|---|\n"
        "| x | **7.0 ± 1** | 9 | 7.0 ± 1 |\n| y | 7 ± 1 | 9 | 7 ± 1 |\n\n"
        "```sh\nsojourn run file --qdisc x --qdisc y:z=1 \\\n  --set a=1\n```\n"
    )
    repeated = []

    def summary(command: figures.Args) -> figures.Numbers:
        repeated.append(command)
        return {(qdisc, "queue_mean_packets"): (5.0, 7.0, 9.0) for qdisc in ("x", "y:z=1")}

    monkeypatch.setattr(figures, "summary", summary)
    found = figures.figures(page)
    assert [(figure.written, figure.measured()) for figure in found] == [
        ("5.0", "7.0"),
        *[("7.0", "7.0"), ("1", "2")] * 2,
        *[("7", "7"), ("1", "2")] * 2,
    ]
    same, other = (("run", "file", "--qdisc", "x", "--qdisc", "y:z=1", "--set", f"a={a}") for a in (1, 2))
    assert set(repeated) == {same, other}
    monkeypatch.setattr(sys, "argv", ["figures", "--write", str(page)])
    assert figures.main() == 0
    assert "is 7.0<!--" in page.read_text()
    assert "| x | **7.0 ± 2** | 9 | 7.0 ± 2 |" in page.read_text()


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Figures of a page of that text, with commands that print a given document."""

    def page(text: str, document: dict[str, object]) -> list[figures.Figure]:
        monkeypatch.setattr(figures, "ROOT", tmp_path)
        monkeypatch.setattr(figures, "document", lambda _: document)
        figures.summary.cache_clear()
        (tmp_path / "page.md").write_text(text)
        return figures.figures(tmp_path / "page.md")

    yield page
    figures.summary.cache_clear()


CERTIFICATE = {
    "gain_margin": 2.76,
    "phase_lead_margin_deg": None,
    "textbook": {"phase_margin_deg": -4.38},
    "loops": [{"poles": [[-0.27, 0.26]]}],
    "reason": "p = 0.05556 and p = 0.06217",
}


def test_a_figure_of_a_certificate_is_found_by_its_place(written: Any) -> None:
    found = written(
        "It is 2.8<!-- figure: #2 gain_margin -->, −4.4<!-- figure: #2 textbook.phase_margin_deg -->, "
        "3 %<!-- figure: #2 gain_margin -->, 0.062<!-- figure: #2 reason#2 --> and "
        "1.9<!-- figure: . gain_margin of sojourn prove other -->.\n\n"
        "<!-- figures\nrows: -; #2 @loops.0.poles.0.\ncolumns: metrics\ncells: -; 0; 1\n-->\n\n"
        "| | what | re | im |\n|---|---|---|---|\n| x | 1 | 9 | 9 |\n| y | 2 | -0.3 | 0.26 |\n\n"
        "```sh\nsojourn prove file --qdisc x --qdisc y  # nothing of it\nsojourn run file\n```\n",
        {"certificates": [{}, CERTIFICATE]},
    )
    texts = [figure.measured() for figure in found if figure.qdisc == "y"]
    assert texts == ["2.8", "−4.4", "3", "0.062", "-0.3", "0.26"]
    assert {figure.command for figure in found} == {
        ("prove", "file", "--qdisc", "x", "--qdisc", "y"),
        ("prove", "other"),
    }


def test_a_missing_margin_is_infinite(written: Any) -> None:
    (found,) = written(
        "∞<!-- figure: . phase_lead_margin_deg -->\n\n```sh\nsojourn prove file\n```\n", CERTIFICATE
    )
    assert found.measured() == "∞"


def test_a_figure_of_several_links_names_its_link(written: Any) -> None:
    rows = [
        {
            "qdisc": "x",
            "plant": "packet",
            "link": link,
            "metric": "m",
            "ci95_low": 1,
            "mean": mean,
            "ci95_high": 9,
        }
        for link, mean in (("r1-r2", 2.0), ("r2-r3", 3.0))
    ]
    text = "5<!-- figure: . {} -->\n\n```sh\nsojourn run file\n```\n"
    for metric, mean in (("r1-r2.m", "2"), ("r2-r3.m", "3")):
        (found,) = written(text.format(metric), {"summary": rows})
        assert found.measured() == mean
    (found,) = written(text.format("m"), {"summary": rows})
    with pytest.raises(figures.Misplaced, match="no such number"):
        found.measured()
    (found,) = written(text.format("m"), {"summary": rows[:1]})
    assert found.measured() == "2"


def test_a_flag_may_have_no_value(written: Any) -> None:
    (found,) = written(
        "5<!-- figure: . m --set b=2 -->\n\n```sh\nsojourn run file --json --set b=1 --quiet --jobs 2\n```\n",
        {},
    )
    assert found.command == ("run", "file", "--json", "--set", "b=2", "--quiet", "--jobs", "2")


@pytest.mark.parametrize(
    "comment",
    [
        "5.0<!-- figure: #3 queue_mean_packets -->",
        "none<!-- figure: #1 queue_mean_packets -->",
        "<!-- figures\nrows: qdiscs\ncells: x\n-->",
    ],
)
def test_a_comment_that_ties_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: str
) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"Text.\n\n{comment}\n\n```sh\nsojourn run file --qdisc x\n```\n")
    with pytest.raises(figures.Misplaced, match=r"^page\.md:3: "):
        figures.figures(page)
