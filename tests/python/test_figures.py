"""The figures that pages quote from commands are what the commands give today.

`docs/figures.py` says how a page ties a figure to its command; `make figures ARGS=--write` brings pages up to
date. Here each command that a page prints is run as it stands, and with it every figure of that very command;
what a page quotes of the same command under other settings is a longer run, which `make figures` does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import figures  # noqa: E402

FIGURES = {page: figures.figures(page) for page in figures.PAGES}
#: The commands that are run, each with the figures of its page.
RUNS = [
    (page, command)
    for page, found in FIGURES.items()
    for command in dict.fromkeys(figure.command for figure in found)
    if command in figures.printed(page) or len({figure.command for figure in found}) == 1
]


def name(value: object) -> str:
    return value.stem if isinstance(value, Path) else " ".join(map(str, value))[:60]  # type: ignore[call-overload]


@pytest.mark.parametrize(("page", "command"), RUNS, ids=name)
def test_a_figure_is_what_its_command_gives(page: Path, command: figures.Args) -> None:
    stale = [
        f"{figure.place()}: {figure.written}, now {figure.measured()}"
        for figure in FIGURES[page]
        if figure.command == command and figure.measured() != figure.written
    ]
    assert not stale, "make figures ARGS=--write\n" + "\n".join(stale)


PAGES = [page for page in figures.PAGES if page.parent.name in ("laws", "deviations", "ccs", "theory")]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_of_a_page_is_tied_to_a_figure(page: Path) -> None:
    tied = {figure.command for figure in FIGURES[page]}
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```sh\n(sojourn run .*?)^```\n\n?(.*?)$", text, re.MULTILINE | re.DOTALL):
        command = figures.words(block[1])
        inserted = block[2].startswith(("<!-- insert", "<!-- no figure -->"))
        assert command in tied or inserted, f"{page.name}: nothing is quoted of: sojourn run {name(command)}"


def test_what_is_measured_elsewhere_is_repeated_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for page in figures.PAGES:
        for where in re.findall(r"<!-- measured: (.*?) -->", page.read_text(encoding="utf-8"), re.DOTALL):
            places = [re.split(r"[,;: ]", place)[0] for place in where.split() if "/" in place]
            missing = [place for place in places if not (ROOT / place).exists()]
            assert not missing, f"{page.name}: {missing}"
            made = re.findall(r"\bmake (\w+)", where)
            assert set(made) <= targets, f"{page.name}: {where}"
            once = "once, " in where
            assert places or made or once, (
                f"{page.name}: {where}: a test, a target of make, or once and with what"
            )


def test_a_stale_figure_is_seen_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "The queue is 5.0<!-- figure: #2 queue_mean_packets --> packets, give or take 3.\n\n"
        "<!-- figures\nrows: discs\ncolumns: --set a=1; -; --set a=2\n"
        "cells: queue_mean_packets ± ci\n-->\n\n"
        "| | one | theirs | two |\n|---|---|---|---|\n"
        "| x | **7.0 ± 1** | 9 | 7.0 ± 1 |\n| y | 7 ± 1 | 9 | 7 ± 1 |\n\n"
        "```sh\nsojourn run file --disc x --disc y:z=1 \\\n  --set a=1\n```\n"
    )
    asked = []

    def summary(command: figures.Args) -> dict[tuple[str, str], tuple[float, float, float]]:
        asked.append(command)
        return {(disc, "queue_mean_packets"): (5.0, 7.0, 9.0) for disc in ("x", "y:z=1")}

    monkeypatch.setattr(figures, "summary", summary)
    found = figures.figures(page)
    assert [(figure.written, figure.measured()) for figure in found] == [
        ("5.0", "7.0"),
        *[("7.0", "7.0"), ("1", "2")] * 2,
        *[("7", "7"), ("1", "2")] * 2,
    ]
    same, other = (("file", "--disc", "x", "--disc", "y:z=1", "--set", f"a={a}") for a in (1, 2))
    assert set(asked) == {same, other}
    monkeypatch.setattr(sys, "argv", ["figures", "--write", str(page)])
    assert figures.main() == 0
    assert "is 7.0<!--" in page.read_text()
    assert "| x | **7.0 ± 2** | 9 | 7.0 ± 2 |" in page.read_text()


@pytest.mark.parametrize(
    "comment",
    [
        "5.0<!-- figure: #3 queue_mean_packets -->",
        "none<!-- figure: #1 queue_mean_packets -->",
        "<!-- figures\nrows: discs\ncells: x\n-->",
    ],
)
def test_a_comment_that_ties_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: str
) -> None:
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"Text.\n\n{comment}\n\n```sh\nsojourn run file --disc x\n```\n")
    with pytest.raises(figures.Misplaced, match=r"^page\.md:3: "):
        figures.figures(page)
