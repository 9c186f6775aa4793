"""Identifiers and files that pages name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: Inline code of pages; code blocks are compiled, run or included.
BOX = re.compile(r"(?ms)^```.*?^```$")
CODE = re.compile(r"`([^`\n]+)`")
#: An identifier, and a placeholder.
WORD = re.compile(r"\b[A-Za-z_]\w+")
#: A method or a constant of one of our types.
MEMBER = re.compile(r"\b([A-Z]\w+)::(\w+)")
A_PLACE = re.compile(r"<[^>]*>")
#: A file by the end of its path.
FILE = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:rs|py)")
#: Files that the reader writes.
THE_READERS = {"wave.rs", "mylaw.py", "laws/wave/mod.rs", "laws/wave/fluid.rs"}


@pytest.fixture(scope="session")
def words(tree: list[Path]) -> set[str]:
    """All words of the code, including its files' names."""
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
        if THE_READERS.isdisjoint((part, part.split("/")[-1]))
        and not any(end.endswith(f"/{part}") for end in ends)
    )


def test_identifiers_in_the_how_tos_exist(root: Path, tree: list[Path], words: set[str]) -> None:
    how_tos = {page.name: page.read_text() for page in sorted((root / "docs" / "howto").glob("*.md"))}
    assert len(how_tos) > 5
    faults = [f"{name}: {file}" for name, text in how_tos.items() for file in missing(text, tree)]
    pages = how_tos | {"ARCHITECTURE.md": (root / "ARCHITECTURE.md").read_text()}
    faults += [f"{name}: {word}" for name, text in pages.items() for word in unknown(text, words)]
    assert not faults, "named, and not there:\n" + "\n".join(faults)


def test_members_of_types_that_pages_name_exist(root: Path, tree: list[Path]) -> None:
    code = {file: file.read_text(encoding="utf-8") for file in tree if file.suffix == ".rs"}
    pages = [*sorted((root / "docs").rglob("*.md")), root / "ARCHITECTURE.md"]
    gone = [
        f"{page.relative_to(root)}: {word}" for page in pages for word in gone_members(page.read_text(), code)
    ]
    assert not gone, "named, and not there:\n" + "\n".join(gone)


def gone_members(text: str, code: dict[Path, str]) -> list[str]:
    """`Type::name` in inline code without a `name` in any file that defines or implements `Type`."""
    found = {match for part in CODE.findall(BOX.sub("", text)) for match in MEMBER.findall(part)}
    return sorted(f"{kind}::{name}" for kind, name in found if not is_member(kind, name, code))


def is_member(kind: str, name: str, code: dict[Path, str]) -> bool:
    home = re.compile(rf"\b(?:struct|enum|trait|type) {kind}\b|\bimpl\b.*\b{kind}\b")
    inside = re.compile(rf"\b{name}\b")
    return any(home.search(file) and inside.search(file) for file in code.values())


def test_a_missing_member_is_found() -> None:
    code = {Path("a.rs"): "trait Law {\n    fn on_idle(&mut self);\n}\n"}
    assert gone_members("`Law::on_idle` and `Law::overflow`", code) == ["Law::overflow"]


def test_a_missing_identifier_is_found(tree: list[Path], words: set[str]) -> None:
    # Joined here, so that this file does not match its own pattern.
    gone = "_".join(("of", "nothing", "there"))
    assert unknown(f"made in `{gone}`, by `of_source(x)` for `<{gone}>`\n```\n`{gone}`\n```\n", words) == [
        gone
    ]
    assert missing("in `apps/mod.rs`, `apps/gone.rs`, `wave.rs`", tree) == ["apps/gone.rs"]
