"""The pages of pictures: numbers of others beside ours, and the gallery."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import sojourn as sj

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

truth = pytest.importorskip("sojourn_docs.truth")
exhibits = pytest.importorskip("sojourn_docs.exhibits")
portraits = pytest.importorskip("sojourn_docs.portraits")


def test_published_runs_beyond_our_intervals_are_marked_and_no_others(tmp_path: Path) -> None:
    head, _, *lines = truth.published(tmp_path, "").splitlines()
    assert head.startswith("| run | number | Linux | ours")
    assert len(lines) == len(truth.of_linux.cases())
    for line, (row, value) in zip(lines, truth.of_linux.cases(), strict=True):
        found = truth.of_linux.interval(row.name, value.name)
        assert ("outside" in line) == (not found["low"] <= value.published <= found["high"]), line
        assert f"{value.published:.4g} |" in line


def test_a_published_number_without_a_reason_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    row, value = next(iter(truth.of_linux.EXPLAINED))
    monkeypatch.setattr(truth.of_linux, "EXPLAINED", {})
    with pytest.raises(LookupError, match="no test has the reason"):
        truth._reason(row, value)


def test_a_picture_counts_what_is_drawn_and_has_the_reason_of_what_is_beyond(tmp_path: Path) -> None:
    pairs = [
        truth.Pair("a", "drops", 100.0, 101.0, 99.0, 103.0),
        truth.Pair("b", "drops", 100.0, 200.0, 190.0, 210.0, "ours drops more: docs/deviations/ns3.md"),
        truth.Pair("b", "marks", 0.0, 0.0, 0.0, 0.0),
    ]
    text = truth._drawn(pairs, truth.OF_KERNEL, "kernel", tmp_path, static="static")
    assert "1 of 2 numbers are within the bound" in text
    assert "Arrows: ratios beyond the scale (1). Not drawn: numbers that are 0 there (1)." in text
    assert text.endswith("- b, drops: ours drops more ([why](/deviations/ns3.md)).")
    assert (tmp_path / "truth_kernel.svg").is_file()


def test_a_ratio_beyond_the_scale_is_an_arrow() -> None:
    axes = Figure().subplots()
    pairs = [truth.Pair(name, "drops", 100.0, ours, ours, ours) for name, ours in (("a", 20.0), ("b", 400.0))]
    truth._ratios(axes, [*pairs, truth.Pair("c", "drops", 100.0, 99.0, 98.0, 100.0)], ["a", "b", "c"])
    assert [line.get_marker() for line in axes.lines if line.get_marker() != "None"] == ["<", ">", "o"]


@pytest.mark.parametrize("one", exhibits.EXHIBITS, ids=lambda one: one.scenario)
def test_the_gallery_has_a_question_for_each_picture(one: exhibits.Exhibit) -> None:
    assert sj.load(one.scenario).title.endswith("?")
    assert len(one.qdiscs) > 1


def test_a_law_without_a_model_has_no_region() -> None:
    assert portraits._region("codel") is None
    assert portraits._region("pi") is not None
