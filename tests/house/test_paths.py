"""Every path of the tree named in our texts exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

#: Folders named in texts, from the root of the tree.
FOLDERS = "benches|crates|docs|fuzz|peers|python|requirements|scenarios|schema|tests|vectors|xtask"
#: A path in backticks, with or without a file; a link; a file named without either.
IN_BACKTICKS = re.compile(rf"`((?:{FOLDERS})/[^`\s]*?)`")
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")
FILE = re.compile(rf"(?<![\w/.~-])((?:{FOLDERS})/(?:[\w-]+/)*[\w-]+\.(?:md|rs|py|toml))\b")
#: Placeholders for a name of the reader's, or for several.
A_PATTERN = re.compile(r"[<>{}*$]|\.\.\.|…|\b[A-Z]{3,}\b")
#: Names of a file of the reader's, or of none: the law that a how-to writes is `wave`.
AN_EXAMPLE = re.compile(r"\b(wave|none|gone)\b")
#: Named where its profile is; it may come after that.
TO_COME = {"docs/deviations/ns3.md"}


def named_in(text: str, file: Path, root: Path) -> set[tuple[str, Path]]:
    """Paths named in a file, each as written and as resolved."""
    named = {(path, root / path) for pattern in (IN_BACKTICKS, FILE) for path in pattern.findall(text)}
    if file.suffix == ".md":
        named |= {
            (link, root / "docs" / link.lstrip("/") if link.startswith("/") else file.parent / link)
            for link in LINK.findall(text)
        }
    to_come = {(root / path).resolve() for path in TO_COME}
    return {
        (path, place)
        for path, place in named
        if not A_PATTERN.search(path) and place.resolve() not in to_come
    }


def missing(file: Path, text: str, root: Path) -> list[str]:
    return sorted(path for path, place in named_in(text, file, root) if not place.exists())


def test_every_path_that_is_named_exists(tree: list[Path], root: Path) -> None:
    texts = [file for file in tree if file.suffix in {".md", ".rs", ".py", ".toml"}]
    assert len(texts) > 300
    faults = [
        f"{file.relative_to(root)}: {path}"
        for file in texts
        for path in missing(file, file.read_text(encoding="utf-8"), root)
        if not AN_EXAMPLE.search(path)
    ]
    assert not faults, "named, and not there:\n" + "\n".join(faults)


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("see `docs/gone.md`", ["docs/gone.md"]),
        ("see docs/gone.md.", ["docs/gone.md"]),
        ("held in `crates/tcp/tests/gone`", ["crates/tcp/tests/gone"]),
        ("[a page](gone.md#there) and [another](https://example.org/docs/gone.md)", ["gone.md"]),
        ("`docs/laws/<stem>.md`, `crates/*/src`, docs/, `tests/house`, [here](README.md)", []),
    ],
)
def test_a_missing_path_is_found(root: Path, line: str, gone: list[str]) -> None:
    assert missing(root / "page.md", line, root) == gone
