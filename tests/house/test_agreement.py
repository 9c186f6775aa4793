"""Names repeated in several files agree."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sojourn.live import parent


@pytest.fixture(scope="module")
def cargo(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def citation(root: Path) -> str:
    return (root / "CITATION.cff").read_text()


def test_one_licence(cargo: dict[str, Any], project: dict[str, Any], citation: str, root: Path) -> None:
    listed = re.search(r"^license:\n((?:  .*\n)+)", citation, flags=re.MULTILINE)
    assert listed
    # In this format a list of licences is a choice among them.
    cited = " OR ".join(re.findall(r"^  - (\S+)$", listed[1], flags=re.MULTILINE))
    assert cargo["license"] == project["license"] == cited == "MIT OR Apache-2.0"
    assert "SPDX-License-Identifier: MIT OR Apache-2.0\n" in (root / "LICENSE").read_text()


def test_one_version(cargo: dict[str, Any], project: dict[str, Any], citation: str) -> None:
    assert project["dynamic"] == ["version"], "the wheel's version is that of Cargo.toml"
    assert re.search(r"^version: (.*)$", citation, flags=re.MULTILINE)[1] == cargo["version"]
    assert importlib.metadata.version("sojourn") == cargo["version"]


def test_every_crate_inherits_from_the_workspace(root: Path) -> None:
    for manifest in [*root.glob("crates/*/Cargo.toml"), root / "exchange" / "Cargo.toml"]:
        package = tomllib.loads(manifest.read_text())["package"]
        for key in ("version", "license", "edition", "publish"):
            assert package[key] == {"workspace": True}, f"{manifest.parent.name}: {key}"


def test_one_list_of_run_time_packages(project: dict[str, Any], root: Path) -> None:
    lines = (root / "requirements" / "run.in").read_text().splitlines()
    assert project["dependencies"] == [line for line in lines if not line.startswith("#")]


def test_one_oldest_python(project: dict[str, Any], root: Path) -> None:
    tools = tomllib.loads((root / "pyproject.toml").read_text())["tool"]
    assert project["requires-python"] == ">=3.11"
    assert tools["ruff"]["target-version"] == "py311"
    assert tools["mypy"]["python_version"] == "3.11"
    assert "--python-version 3.11 " in (root / "ci.sh").read_text()


def test_each_step_that_a_machine_may_refuse_has_an_advice(root: Path) -> None:
    source = "\n".join(file.read_text() for file in (root / "crates/live/src").rglob("*.rs"))
    texts = dict(re.findall(r'const (\w+): &str = "([^"]+)";', source))
    named = set(re.findall(r'\brefused\(\s*"([^"]+)"', source))
    named |= {texts[name] for name in re.findall(r"\brefused\(\s*([A-Z]+)\b", source)}
    # Settings, which have one advice, are refused by their path.
    assert {step for step in named if not step.startswith("/proc/sys/")} == set(parent._ADVICE)
