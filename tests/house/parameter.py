"""A parameter more is one line in one file: a copy of the tree gains three, found wherever users look.

It compiles the copy, which takes minutes, so `make test` leaves it out: `make parameter`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A whole number from 1 to 9, after the first line of each struct.
LINE = '/// a number that nothing uses\n{key}: u32 = 7, in 1 to 9, "a test needs one", "no source";'
PLACES = {
    "law_novelty": ("crates/aqm/src/laws/pi.rs", "pub struct Params {"),
    "app_novelty": ("crates/scenario/src/apps/web.rs", "pub struct Web {"),
    "link_novelty": ("crates/scenario/src/tables/links.rs", "pub struct Direction {"),
}
# Its name in lists, and the key that sets it.
NAMES = {
    "law_novelty": ("pi.law_novelty", "bottleneck.qdisc.law_novelty"),
    "app_novelty": ("web.app_novelty", "flows[0].app.web.app_novelty"),
    "link_novelty": ("bottleneck.link_novelty", "bottleneck.link_novelty"),
}
each = pytest.mark.parametrize("key", list(PLACES))


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    """The tree with a line more in three files, generated and built."""
    place = ROOT / "build" / "parameter"
    tree = place / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    for key, (file, head) in PLACES.items():
        before = (tree / file).read_text()
        assert before.count(head) == 1
        (tree / file).write_text(before.replace(head, f"{head}\n{LINE.format(key=key)}"))
    cargo = ["cargo", "--quiet"]
    environment = os.environ | {"CARGO_TARGET_DIR": str(place / "target"), "PYO3_PYTHON": sys.executable}
    for arguments in (
        [*cargo, "run", "--locked", "-p", "xtask", "--", "generate"],
        [*cargo, "build", "--locked", "-p", "sojourn-py", "--lib"],
    ):
        subprocess.run(arguments, cwd=tree, check=True, env=environment)
    (built,) = (place / "target" / "debug").glob("lib*core*.so")
    shutil.copy2(built, tree / "python" / "sojourn" / "_core.abi3.so")
    yield tree
    shutil.rmtree(tree)


def python(copy: Path, *arguments: str) -> str:
    paths = os.pathsep.join([str(copy / "python"), str(copy / "docs")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sojourn(copy: Path, *arguments: str) -> str:
    return python(copy, "-m", "sojourn", *arguments)


@each
def test_explain_has_it(copy: Path, key: str) -> None:
    text = sojourn(copy, "explain", NAMES[key][0])
    assert "a number that nothing uses" in text
    assert "a test needs one" in text


@each
def test_the_list_of_keys_has_it(copy: Path, key: str) -> None:
    rows = {row["name"]: row for row in json.loads(sojourn(copy, "list", "keys", "--json"))}
    name, place = NAMES[key]
    assert (rows[name]["set"], rows[name]["bounds"], rows[name]["default"]) == (
        place,
        {"low": 1, "high": 9, "open": []},
        7,
    )


@each
def test_the_schema_has_it(copy: Path, key: str) -> None:
    text = (copy / "schema" / "scenario.schema.json").read_text()
    assert f'"{key}"' in text
    assert "a number that nothing uses; expected 1 to 9; default: a test needs one" in text


@each
def test_set_reads_and_checks_it(copy: Path, key: str) -> None:
    place = NAMES[key][1]
    traffic = {"at": [], "flows[0].app": "web", "duration": "3 s", "warmup": "1 s"}
    load = "import sojourn as sj; print(sj.load('dumbbell', {changes!r}).to_json())"
    python(copy, "-c", load.format(changes=traffic | {place: 8}))
    with pytest.raises(AssertionError, match=rf"{key}: 10 is out of range; expected 1 to 9"):
        python(copy, "-c", load.format(changes=traffic | {place: 10}))


def test_a_spec_has_it(copy: Path) -> None:
    shown = sojourn(copy, "check", "dumbbell", "--set", "at=[]", "--qdisc", "pi:law_novelty=8")
    assert "law_novelty=8" in shown


@pytest.mark.parametrize(("key", "of"), [("law_novelty", "laws.Pi"), ("app_novelty", "apps.Web")])
def test_the_class_in_python_has_it(copy: Path, key: str, of: str) -> None:
    module, name = of.split(".")
    (copy / "typed.py").write_text(f"import sojourn as sj\nprint(sj.{of}({key}=8).spec())\n")
    assert f"{key}=8" in python(copy, "typed.py")
    checked = python(copy, "-m", "mypy", "--config-file", "pyproject.toml", "typed.py")
    assert "Success" in checked
    (copy / "typed.py").write_text(f"from sojourn.{module} import {name}\n{name}({key}='eight')\n")
    with pytest.raises(AssertionError):
        python(copy, "-m", "mypy", "--config-file", "pyproject.toml", "typed.py")


@pytest.mark.parametrize(
    ("key", "insert"),
    [("law_novelty", "parameters('pi')"), ("app_novelty", "applications()"), ("link_novelty", "scenario()")],
)
def test_the_page_has_it(copy: Path, key: str, insert: str) -> None:
    page = python(copy, "-c", f"from sojourn_docs import inserts; print(inserts.{insert})")
    (row,) = {line for line in page.splitlines() if key in line and "back" not in line} or {""}
    assert "a number that nothing uses" in row
