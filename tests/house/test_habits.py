"""Decisions carry their status, and the page for contributors names every crate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_a_status(page: Path) -> None:
    status = re.search(r"\A# .*\n\nStatus: (.*)\n", page.read_text())
    assert status, f"{page.name}: expected 'Status: ...' below the title"
    by = re.search(r"superseded by \[\d+\]\((\S+)\)", status[1])
    assert status[1] == "accepted." or by, f"{page.name}: {status[1]}"
    assert by is None or (page.parent / by[1]).is_file()


def test_contributing_names_every_crate() -> None:
    crates = {manifest.parent.name for manifest in (ROOT / "crates").glob("*/Cargo.toml")}
    layout = (ROOT / "CONTRIBUTING.md").read_text().partition("`crates/`")[2].partition("\n- `python/")[0]
    named = set(re.findall(r"^  - `(\w+)`:", layout, flags=re.MULTILINE))
    assert named == crates


def test_the_glossary_has_forty_words_at_most() -> None:
    glossary = (ROOT / "ARCHITECTURE.md").read_text().partition("## Glossary")[2]
    words = re.findall(r"^\| (?!word|---)([^|]+) \|", glossary, flags=re.MULTILINE)
    assert 20 < len(words) <= 40
