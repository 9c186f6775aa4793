"""The field's words: names that were given up stay away, and doc blocks begin with their subject."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

#: Word that was given up -> the field's word.
GIVEN_UP = {
    r"[Dd]iscs?|DiscSpec|DISCS?": "qdisc",
    r"[Ee]rrands?": "transaction",
    r"[Cc]omings": "churn",
    r"[Gg]uests?": "custom, or callbacks",
    r"[Tt]wins?": "fluid law",
    r"[Kk]nobs?": "setting",
    r"stands_at": "equilibrium_backlog",
    r"[Rr]etuned?|[Rr]etunes": "set_params",
    r"turned_away": "rejected",
    r"voice_rating": "r_factor",
    r"closed_roots": "closed_poles",
    r"take_back": "undo_reduction",
    r"look_for_losses": "detect_losses",
    r"starts_slowly": "in_slow_start",
    r"laws_in_python": "custom",
    r"[Tt]old(?! apart)|[Tt]ells?(?! apart)|[Tt]elling(?! apart)": "describe, state, pass, report",
    r"[Ss]aid|[Aa]sked|[Aa]sks|[Hh]ears|[Hh]eard|[Hh]eeds?": "state, request, receive, respond",
    r"legal: |is not legal": "expected",
    r"[Ff]laws?": "error",
    r"[Ii]nbox(?:es)?": "calendar queue",
    r"patience": "retry_timeout",
    r"[Uu]nasked|[Aa]sking": "dequeues_when_free",
}
#: Files whose words are of their time or of others.
SPARED = (
    "CHANGELOG.md",
    "fuzz/corpus/",
    "fuzz/regressions/",
    "vectors/",
    "tests/reference/",
    "requirements/",
    "tests/house/test_vocabulary.py",
    "python/sojourn/report/vendor/",
)
#: Labels of random streams keep their spelling, as runs depend on it.
LABEL = re.compile(r'Stream::named\((?:[^;"]|"[^"/\n]*/)*"[^"\n]*"|"[^"\s]*/\w+"')
TEXT = {".rs", ".py", ".pyi", ".md", ".toml", ".sh", ".js", ".css", ".pkt", ".snap", ".tcl", ".cc", ".c"}
#: The largest share of doc blocks that begin with a question's word, which hides the subject.
LARGEST_SHARE = 0.08
QUESTION = re.compile(r"(?:What|Whether|How|When|Where)\b")
RUST_DOC = re.compile(r"\s*//[/!] ?(.*)")


def texts(root: Path, tree: list[Path]) -> Iterator[tuple[str, str]]:
    for file in tree:
        name = file.relative_to(root).as_posix()
        if file.suffix in TEXT and not name.startswith(SPARED):
            yield name, file.read_text(encoding="utf-8")


def given_up(text: str, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    """The lines with a word of `pattern` that is no label, by number."""
    bare = LABEL.sub(lambda label: re.sub(r"[^\n]", " ", label[0]), text)
    return [
        (number, word[0])
        for number, line in enumerate(bare.splitlines(), 1)
        for word in pattern.finditer(line)
    ]


def rust_blocks(text: str) -> Iterator[str]:
    """The first line of each doc block."""
    inside = False
    for line in text.splitlines():
        found = RUST_DOC.match(line)
        if found and not inside:
            yield found[1]
        inside = found is not None


def python_blocks(text: str) -> Iterator[str]:
    """The first line of each docstring."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, holders) and (block := ast.get_docstring(node)):
            yield block.partition("\n")[0]


def share_of_questions(blocks: list[str]) -> float:
    return sum(QUESTION.match(block) is not None for block in blocks) / len(blocks)


@pytest.mark.parametrize("word", GIVEN_UP)
def test_a_name_that_was_given_up_stays_away(root: Path, tree: list[Path], word: str) -> None:
    pattern = re.compile(rf"(?<![A-Za-z])(?:{word})(?![a-z])")
    found = [
        f"{name}:{line}: {seen}" for name, text in texts(root, tree) for line, seen in given_up(text, pattern)
    ]
    assert not found, f"write {GIVEN_UP[word]}:\n" + "\n".join(found[:50])


def test_labels_of_random_streams_keep_their_spelling() -> None:
    pattern = re.compile(r"(?<![A-Za-z])disc(?![a-z])")
    assert given_up('Stream::named(seed, "disc"); Stream::named(1, &format!("{name}/disc"))', pattern) == []
    assert given_up('the disc\nlet disc = Stream::named(1, "disc");', pattern) == [(1, "disc"), (2, "disc")]


@pytest.mark.parametrize(
    ("suffixes", "blocks_of"), [((".rs",), rust_blocks), ((".py", ".pyi"), python_blocks)]
)
def test_doc_blocks_begin_with_their_subject(root: Path, tree: list[Path], suffixes, blocks_of) -> None:
    blocks = [
        block for name, text in texts(root, tree) if name.endswith(suffixes) for block in blocks_of(text)
    ]
    assert len(blocks) > 1000
    assert share_of_questions(blocks) <= LARGEST_SHARE


def test_a_question_is_found() -> None:
    rust = "//! What it is.\n//! More.\n\n/// The backlog.\nfn a() {}\n/// Whether it is.\n"
    assert list(rust_blocks(rust)) == ["What it is.", "The backlog.", "Whether it is."]
    assert share_of_questions(list(rust_blocks(rust))) == pytest.approx(2 / 3)
    assert list(python_blocks('"""Where."""\ndef f():\n    """A."""\n')) == ["Where.", "A."]
