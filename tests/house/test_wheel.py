"""The wheel is complete, and has no trace of the machine that built it."""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.built

#: Words of MIT, BSD and Apache licences.
LICENCE = r"Permission is hereby granted|Redistribution and use|TERMS AND CONDITIONS FOR USE"


@pytest.fixture(scope="module")
def wheel(root: Path) -> zipfile.ZipFile:
    wheels = list((root / "dist").glob("*.whl"))
    if not wheels:
        pytest.skip("there is no wheel in dist: ./ci.sh wheel builds it")
    assert len(wheels) == 1
    return zipfile.ZipFile(wheels[0])


def test_it_serves_every_python_from_3_11(wheel: zipfile.ZipFile) -> None:
    assert "-cp311-abi3-" in str(wheel.filename)


def test_it_carries_types_and_licences(wheel: zipfile.ZipFile) -> None:
    names = {name.split("/", 1)[1] for name in wheel.namelist()}
    wanted = {"py.typed", "_core.pyi", "_core.abi3.so", "laws.py"}
    wanted |= {f"licenses/{name}" for name in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE")}
    wanted |= {f"report/{name}" for name in ("page.css", "page.js")}
    wanted |= {f"report/vendor/uPlot.{name}" for name in ("iife.min.js", "min.css", "LICENSE")}
    assert not wanted - names
    assert not [name for name in names if "sboms" in name or "__pycache__" in name]


def test_it_carries_the_notices_of_all_crates_in_the_extension(wheel: zipfile.ZipFile, root: Path) -> None:
    text = wheel.read("sojourn/THIRD-PARTY.txt").decode()
    tree = ["cargo", "tree", "--locked", "-p", "sojourn-py", "-e", "normal,no-proc-macro", "--prefix", "none"]
    lines = subprocess.run(tree, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    crates = {tuple(line.split()[:2]) for line in lines if line and not line.startswith("sojourn-")}
    assert len(crates) > 20
    _, *notices = re.split(r"^=+\n(\S+) (\S+) \(.+\)\n=+\n", text, flags=re.MULTILINE)
    assert {
        (name, f"v{version}") for name, version in zip(notices[::3], notices[1::3], strict=True)
    } == crates
    for name, licence in zip(notices[::3], notices[2::3], strict=True):
        assert re.search(LICENCE, licence), name
    assert not re.search(r"registry|\.cargo|/src/", text)


def test_it_carries_the_gallery(wheel: zipfile.ZipFile, root: Path) -> None:
    gallery = root / "scenarios"
    held = {
        name.removeprefix("sojourn/gallery/"): wheel.read(name)
        for name in wheel.namelist()
        if name.startswith("sojourn/gallery/")
    }
    files = [path for path in gallery.rglob("*") if path.suffix in (".toml", ".trace")]
    assert held == {path.relative_to(gallery).as_posix(): path.read_bytes() for path in files}


def test_it_carries_the_campaigns(wheel: zipfile.ZipFile, root: Path) -> None:
    prefix = "sojourn/campaigns/"
    held = {
        name.removeprefix(prefix): wheel.read(name) for name in wheel.namelist() if name.startswith(prefix)
    }
    assert held == {path.name: path.read_bytes() for path in (root / "campaigns").glob("*.toml")}


def test_it_carries_the_golden_traces(wheel: zipfile.ZipFile, root: Path) -> None:
    prefix = "sojourn/vectors/"
    held = {
        name.removeprefix(prefix): wheel.read(name) for name in wheel.namelist() if name.startswith(prefix)
    }
    vectors = root / "vectors"
    assert held == {
        path.relative_to(vectors).as_posix(): path.read_bytes()
        for pattern in ("*/*.jsonl", "examples/*.py", "examples/*.c")
        for path in vectors.glob(pattern)
    }


def test_it_names_no_path_of_this_machine(wheel: zipfile.ZipFile, root: Path) -> None:
    sysroot = subprocess.run(
        ["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True
    ).stdout
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    target = os.environ.get("CARGO_TARGET_DIR", str(root / "target"))
    places = [place.strip().encode() for place in (str(root), cargo, target, sysroot)]
    faults = [
        f"{name} holds {place.decode()}"
        for name in wheel.namelist()
        for place in places
        if place in wheel.read(name)
    ]
    assert not faults, "\n".join(faults)
