"""One stem, its places: what the catalogue lists has its class, its vectors, its pages."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn.catalogue import entries

# fifo is one queue under a law: the laws have its places.
STEMS = [("laws", entry["name"]) for entry in entries("laws")] + [
    ("qdiscs", entry["name"]) for entry in entries("qdiscs") if entry["name"] != "fifo"
]


def missing(root: Path, kind: str, stem: str) -> Iterator[str]:
    """Places that the stem lacks."""
    name = "".join(part.capitalize() for part in stem.split("_"))
    if getattr(getattr(importlib.import_module(f"sojourn.{kind}"), name, None), "stem", None) != stem:
        yield f"class {name} in python/sojourn/{kind}.py: cargo run -p xtask -- generate"
    if not any((root / "vectors" / stem).glob("*.jsonl")):
        yield f"vectors/{stem}: a SPEC in xtask/src, and cargo run -p xtask -- bless"
    page = root / "docs" / kind / f"{stem}.md"
    if not page.is_file():
        yield f"docs/{kind}/{stem}.md"
    elif not any(deviations(root, kind, stem, page.read_text())):
        yield f"a page of docs/deviations for docs/{kind}/{stem}.md"


def deviations(root: Path, kind: str, stem: str, text: str) -> list[bool]:
    """Whether the pages of deviations are there: that of a law, or those that a qdisc's page links to."""
    named = [stem] if kind == "laws" else re.findall(r"deviations/(\w+)\.md", text)
    return [(root / "docs" / "deviations" / f"{name}.md").is_file() for name in named]


@pytest.mark.parametrize(("kind", "stem"), STEMS)
def test_a_stem_has_its_places(root: Path, kind: str, stem: str) -> None:
    assert not (lacks := list(missing(root, kind, stem))), f"{stem} lacks {'; '.join(lacks)}"


def test_a_stem_without_places_is_found(root: Path) -> None:
    stem = "fq_none"
    assert [line.partition(":")[0] for line in missing(root, "qdiscs", stem)] == [
        "class FqNone in python/sojourn/qdiscs.py",
        f"vectors/{stem}",
        f"docs/qdiscs/{stem}.md",
    ]


def test_no_folder_of_vectors_is_without_a_stem(root: Path) -> None:
    folders = {path.parent.name for path in (root / "vectors").glob("*/*.jsonl")}
    assert folders == {stem for _, stem in STEMS}
