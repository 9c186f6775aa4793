"""The pages of pictures: numbers of others beside ours, and the gallery."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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


def test_a_picture_counts_what_is_beyond_its_bound(tmp_path: Path) -> None:
    pairs = [
        truth.Pair("a", "drops", 100.0, 101.0, 99.0, 103.0, agrees=True),
        truth.Pair("b", "drops", 100.0, 200.0, 190.0, 210.0, agrees=False),
        truth.Pair("b", "marks", 0.0, 0.0, 0.0, 0.0, agrees=True),
    ]
    text = truth._drawn(pairs, truth.OF_KERNEL, "kernel", tmp_path, static="static")
    assert "2 of 3 numbers are within the bound" in text
    assert (tmp_path / "truth_kernel.svg").is_file()


@pytest.mark.parametrize("one", exhibits.EXHIBITS, ids=lambda one: one.scenario)
def test_the_gallery_has_a_question_for_each_picture(one: exhibits.Exhibit) -> None:
    assert sj.load(one.scenario).title.endswith("?")
    assert len(one.qdiscs) > 1


def test_a_law_without_a_model_has_no_region() -> None:
    assert portraits._region("codel") is None
    assert portraits._region("pi") is not None
