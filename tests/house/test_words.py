"""The words of the code that a how-to names stand in the code, and the files that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: What pages show by the line; what is in boxes of its own is compiled, run or included.
BOX = re.compile(r"(?ms)^```.*?^```$")
CODE = re.compile(r"`([^`\n]+)`")
#: A word of a program, and a place that the reader fills.
WORD = re.compile(r"\b[A-Za-z_]\w+")
A_PLACE = re.compile(r"<[^>]*>")
#: A file by the end of its path.
FILE = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:rs|py)")
#: Files that the reader writes.
THE_READERS = {"wave.rs", "mylaw.py"}


@pytest.fixture(scope="session")
def words(tree: list[Path]) -> set[str]:
    """All words of the code, of its files' names too."""
    code = [file for file in tree if file.suffix in {".rs", ".py", ".toml"} or file.name == "ci.sh"]
    names = {word for file in code for word in re.findall(r"\w+", str(file))}
    return names.union(*(re.findall(r"\w+", file.read_text(encoding="utf-8")) for file in code))


def unknown(text: str, words: set[str]) -> list[str]:
    code = [A_PLACE.sub("", part) for part in CODE.findall(BOX.sub("", text))]
    return sorted({word for part in code for word in WORD.findall(part)} - words)


def missing(text: str, tree: list[Path]) -> list[str]:
    named = {part for part in CODE.findall(BOX.sub("", text)) if FILE.fullmatch(part)}
    ends = tuple(f"/{file}" for file in tree)
    return sorted(
        part
        for part in named
        if part.split("/")[-1] not in THE_READERS and not any(end.endswith(f"/{part}") for end in ends)
    )


def test_the_words_of_the_pages_for_builders_stand_in_the_code(
    root: Path, tree: list[Path], words: set[str]
) -> None:
    how_tos = {page.name: page.read_text() for page in sorted((root / "docs" / "howto").glob("*.md"))}
    assert len(how_tos) > 5
    faults = [f"{name}: {file}" for name, text in how_tos.items() for file in missing(text, tree)]
    pages = how_tos | {"ARCHITECTURE.md": (root / "ARCHITECTURE.md").read_text()}
    faults += [f"{name}: {word}" for name, text in pages.items() for word in unknown(text, words)]
    assert not faults, "named, and not there:\n" + "\n".join(faults)


def test_what_is_gone_is_found(tree: list[Path], words: set[str]) -> None:
    # Put together here, so that this file does not hold what it looks for.
    gone = "_".join(("of", "nothing", "there"))
    assert unknown(f"made in `{gone}`, by `of_source(x)` for `<{gone}>`\n```\n`{gone}`\n```\n", words) == [
        gone
    ]
    assert missing("in `apps/mod.rs`, `apps/gone.rs`, `wave.rs`", tree) == ["apps/gone.rs"]
