"""Commands and code of the pages run; their links exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sojourn.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
START = ROOT / "docs" / "getting-started.md"
PAGES = [
    README,
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def commands(page: Path, program: str) -> list[str]:
    lines = [line.partition("#")[0].strip() for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if line.split(" ")[0] == program]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the gallery, every scenario shortened to a few simulated seconds."""
    for file in sorted((ROOT / "scenarios").rglob("*.toml")):
        copy = tmp_path / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(shortened(file.read_text()))
    (tmp_path / "build").mkdir()
    return tmp_path


def shortened(text: str) -> str:
    text = re.sub(r'(?m)^(duration\s*=\s*)".*?"', r'\1"3 s"', text)
    text = re.sub(r'(?m)^(warmup\s*=\s*)".*?"', r'\1"1 s"', text)
    return re.sub(r'(?m)^(time\s*=\s*)".*?"', r'\1"2 s"', text)


def test_the_pages_show_commands_and_python() -> None:
    assert commands(README, "make")
    assert commands(README, ".venv/bin/sojourn")
    assert commands(START, "sojourn")
    assert all(blocks(page, "python") for page in (README, START))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_make_targets_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    named = set(re.findall(r"`make ([a-z-]+)`", page.read_text()))
    named |= {line.split()[1] for line in commands(page, "make")}
    assert named <= targets


@pytest.mark.slow
@pytest.mark.parametrize(("page", "program"), [(README, ".venv/bin/sojourn"), (START, "sojourn")])
def test_the_commands_run(page: Path, program: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    # In their order and in one folder: a later one may read the output of an earlier one.
    for line in commands(page, program):
        assert main(shlex.split(line)[1:]) == 0, line


@pytest.mark.slow
@pytest.mark.parametrize("block", [block for page in PAGES for block in blocks(page, "python")])
def test_the_python_runs(block: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    exec(compile(block, "block", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    # In the documentation a link that starts with a slash starts at docs/.
    places = {t: ROOT / "docs" / t[1:] if t.startswith("/") else page.parent / t for t in targets}
    missing = [t for t, place in places.items() if "://" not in t and not place.exists()]
    assert not missing, f"{page.name} links to {missing}"
