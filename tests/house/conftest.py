"""Fixtures of the house tests: the root of the tree, and its files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tree(root: Path) -> list[Path]:
    """Every file of the tree that git keeps, or would keep."""
    # Allow a clone of another owner, such as a container's volume.
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("this is no git clone: clone the repository with git to check its files")
    names = done.stdout.decode().split("\0")
    return [root / name for name in sorted(set(names)) if name and (root / name).is_file()]
