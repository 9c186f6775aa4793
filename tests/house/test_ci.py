"""The verbs behind make: their first lines, and machines that lack something."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def ci(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "ci.sh", *words]
    # A `make test` above passes its own flags down.
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "SOJOURN_"))}
    return subprocess.run(
        command,
        cwd=root,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder of commands with the shell's own tools and no compiler, cargo, Python or ns-2."""
    for tool in ("bash", "cat", "cut", "dirname", "head", "mkdir", "sed", "sort"):
        found = next(Path(p, tool) for p in os.environ["PATH"].split(os.pathsep) if Path(p, tool).exists())
        (tmp_path / tool).symlink_to(found)
    return tmp_path


def test_every_target_of_make_is_a_verb_and_has_its_line(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):  ## \S", makefile, flags=re.MULTILINE)
    known = (
        "help demo check test bench behaviour figures kills live engines parameter peers fuzz docs dist clean"
    )
    assert {*known.split(), "kernel-check", "flent-check"} == set(targets)
    listed = ci(root, "help").stdout
    for verb in {target.replace("-", "_") for target in targets} - {"help"}:
        assert re.search(rf"\./ci\.sh {verb}( \$\(ARGS\))?$", makefile, flags=re.MULTILINE)
        assert re.search(rf"^  {verb} ", listed, flags=re.MULTILINE), verb


def test_an_unknown_verb_is_one_line_and_exit_2(root: Path) -> None:
    done = ci(root, "demmo")
    assert done.returncode == 2
    assert done.stderr.splitlines() == ['ci.sh: no verb "demmo"; ./ci.sh help lists them']


def test_a_missing_toolchain_is_named_with_its_remedy(root: Path, bare: Path) -> None:
    done = ci(root, "setup", PATH=str(bare))
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "ci.sh: this machine lacks a Rust toolchain; to get it: https://rustup.rs"
    ]


def test_a_home_that_cannot_be_written_is_named(root: Path) -> None:
    done = ci(root, "demo", HOME="/proc/nowhere", CARGO_HOME="")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "ci.sh: this machine lacks a home that can be written: cargo keeps crates in /proc/nowhere/.cargo; "
        "to get it: set HOME (or CARGO_HOME) to a folder of yours"
    ]


def test_make_works_under_any_path(root: Path, bare: Path) -> None:
    place = bare / "pa$HOME$$(1)"
    place.mkdir()
    for name in ("Makefile", "ci.sh"):
        shutil.copy2(root / name, place)
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed: apt-get install make")
    for target, code, line in (("demo", 2, "make demo: builds Sojourn"), ("help", 0, "  make help ")):
        path = str(bare) if target == "demo" else os.environ["PATH"]
        done = subprocess.run(
            [make, "-C", place, target], env={"PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done
        assert line in done.stdout
        assert target == "help" or "ci.sh: this machine lacks a Rust toolchain" in done.stderr


def test_the_environment_holds_what_the_locks_name(root: Path) -> None:
    if not (root / ".venv/.sojourn-packages").exists():
        pytest.skip("./ci.sh setup has made no .venv here")
    script = "from importlib.metadata import distributions; print(*{one.name for one in distributions()})"
    command = [root / ".venv/bin/python", "-c", script]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    locks = "".join(
        (root / "requirements" / f"{name}.lock").read_text()
        for name in ("dev", "docs", "optimal", "sensitivity", "ui", "pandas", "engines")
    )
    locked = {plain(name) for name in re.findall(r"(?m)^([\w.-]+)==", locks)}
    assert {plain(name) for name in found} - locked == {"sojourn"}


def plain(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_missing_peers_are_skipped_by_name(root: Path, bare: Path) -> None:
    if (root / "build/ns3").exists():
        pytest.skip("ns-3 is built in this tree")
    done = ci(root, "compared", PATH=str(bare))
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "skipped: comparison with peers (neither ns-2 nor ns-3 is installed: make peers)"
    ]


def test_a_missing_emulator_is_skipped_by_name(root: Path, bare: Path) -> None:
    done = ci(root, "kernel_check", PATH=str(bare))
    assert done.returncode == 3
    assert "skipped: comparison with the kernel (qemu-system-x86_64 is not installed: apt-get" in done.stdout


def test_a_missing_nightly_is_skipped_by_name(root: Path, bare: Path) -> None:
    done = ci(root, "fuzz", "pair", "1", PATH=str(bare))
    assert done.returncode == 3
    assert "skipped: fuzzing (no nightly Rust is installed" in done.stdout


def test_the_closing_lines_have_times_what_was_skipped_and_what_failed(root: Path, tmp_path: Path) -> None:
    text = (root / "ci.sh").read_text()
    # The script with other parts; it calls itself for each.
    parts = """
one() { echo "SKIPPED [2] browser.py:3: no browser"; }
two() { need false "a part" "no tool"; }
three() { false; echo "not reached" >&2; }
four() { exit "${CODE:-0}"; }
whole() { parts one two three four; }
"""
    text = text.replace("\n# ---- Parts of", f"{parts}\n# ---- Parts of", 1)
    text = text.replace("#: setup ", "#: one two three four whole\n#: setup ", 1)
    (tmp_path / "ci.sh").write_text(text)
    done = ci(tmp_path, "whole")
    assert done.returncode == 1
    took, closing = done.stdout.partition("== done\n")[2].splitlines()[:4], done.stdout.splitlines()[-3:]
    assert [line.split()[1:] for line in took] == [["s", part] for part in ("one", "two", "three", "four")]
    assert closing == [
        "skipped: 2 of browser.py (no browser)",
        "skipped: a part (no tool)",
        "failed: three",
    ]
    assert "not reached" not in done.stdout
    assert ci(tmp_path, "whole", CODE="130").returncode == 130


@pytest.mark.parametrize("verb", ["demo", "check", "test"])
def test_it_begins_with_its_purpose_and_its_duration(root: Path, bare: Path, verb: str) -> None:
    done = ci(root, verb, PATH=str(bare))
    assert done.returncode == 3
    assert done.stdout.startswith(f"make {verb}: ")
    assert re.search(r"takes about \d+ to \d+ minutes", done.stdout)
