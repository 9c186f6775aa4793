"""Allowed imports between crates and between modules: a new arrow is a decision, made in these tables."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CRATES = {
    "units": set(),
    "random": {"units"},
    "params": {"units", "random"},
    "optim": {"units", "random", "params"},
    "aqm": {"units", "random", "params", "optim"},
    "tcp": {"units", "random", "params"},
    "trace": {"units", "random", "params", "aqm"},
    "scenario": {"units", "random", "params", "aqm", "tcp"},
    "describe": {"units", "params", "aqm", "tcp", "scenario"},
    "measure": {"units", "aqm"},
    "fluid": {"units", "params", "optim", "aqm", "scenario", "measure"},
    "workload": {"units", "random", "params", "scenario"},
    "sim": {"units", "random", "params", "aqm", "tcp", "trace", "scenario", "measure", "workload"},
    "live": {
        "units",
        "random",
        "params",
        "aqm",
        "tcp",
        "trace",
        "scenario",
        "measure",
        "workload",
        "sim",
    },
    "py": {
        "units",
        "random",
        "params",
        "optim",
        "aqm",
        "tcp",
        "trace",
        "scenario",
        "describe",
        "measure",
        "fluid",
        "sim",
        "live",
    },
    # Tools, which no crate needs.
    "exchange": {"units", "params", "tcp"},
    "xtask": {"units", "random", "params", "aqm", "tcp", "trace", "scenario", "describe", "measure"},
}
# The only crate that uses Python.
ONLY_IN_PY = {"pyo3", "numpy"}

MODULES = {
    # The package's public names, imported from these on first use.
    "__init__": {
        "_core",
        "apps",
        "ccs",
        "design",
        "errors",
        "laws",
        "links",
        "ocq",
        "custom",
        "prove",
        "qdiscs",
        "reproduce",
        "result",
        "scenario",
        "simulate",
        "sweep",
        "theorems",
    },
    "__main__": {"cli"},
    "cli": {
        "catalogue",
        "citations",
        "conform",
        "design",
        "errors",
        "files",
        "flent",
        "custom",
        "listed",
        "live",
        "ocq",
        "plot",
        "prove",
        "report",
        "reproduce",
        "resolve",
        "result",
        "scenario",
        "simulate",
        "stops",
        "sweep",
        "units",
    },
    "sweep": {
        "_core",
        "catalogue",
        "citations",
        "custom",
        "design",
        "entries",
        "errors",
        "files",
        "kinds",
        "progress",
        "plot",
        "prove",
        "report",
        "live",
        "resolve",
        "result",
        "scenario",
        "simulate",
    },
    "reproduce": {
        "design",
        "errors",
        "files",
        "kinds",
        "progress",
        "ocq",
        "plot",
        "prove",
        "report",
        "result",
        "scenario",
        "simulate",
        "sweep",
        "theorems",
    },
    "citations": {"catalogue", "errors", "files", "scenario"},
    "prove": {
        "_core",
        "errors",
        "kinds",
        "progress",
        "custom",
        "plot",
        "report",
        "resolve",
        "scenario",
        "stops",
        "units",
    },
    # Objects as HTML, which their classes call late.
    "notebook": {"plot", "prove", "report", "result"},
    "progress": set(),
    "deviations": {"errors", "kinds", "prove", "resolve", "simulate", "validity", "stops"},
    "validity": {"errors", "kinds", "plot", "prove", "resolve", "result", "scenario", "simulate"},
    "design": {"_core", "errors", "kinds", "prove", "resolve", "scenario", "stops", "units"},
    "theorems": {"_core", "errors", "kinds"},
    "ocq": {"_core", "errors", "kinds", "plot", "report"},
    "live": {"_core", "errors", "scenario", "custom", "stops", "subreaper"},
    "simulate": {
        "_core",
        "errors",
        "files",
        "flent",
        "kinds",
        "live",
        "custom",
        "progress",
        "resolve",
        "result",
        "scenario",
        "stops",
    },
    "resolve": {"_core", "entries", "errors", "kinds", "custom", "scenario"},
    "custom": {"_core", "errors", "files", "kinds"},
    "report": {"errors", "files", "plot", "result"},
    "flent": {"errors", "files", "plot", "report", "result"},
    "plot": {"errors", "kinds", "result"},
    "catalogue": {"_core", "errors", "kinds", "listed", "other_names"},
    "conform": {"_core", "conversation", "errors", "files", "kinds", "custom", "stops"},
    "scenario": {"_core", "entries", "errors", "files", "kinds"},
    "result": {"errors", "files", "kinds", "units"},
    "laws": {"entries"},
    "qdiscs": {"entries"},
    "ccs": {"entries"},
    "apps": {"entries"},
    "links": {"entries"},
    "entries": {"custom", "errors", "kinds"},
    "conversation": {"errors", "stops"},
    # Run by itself, as a script.
    "subreaper": set(),
    "kinds": {"errors"},
    "listed": set(),
    "other_names": set(),
    "errors": set(),
    "files": set(),
    "stops": set(),
    "units": {"_core", "errors", "kinds"},
    "_core": set(),
}
# Inside a function only: `Result.plot`, `Result.report`, `Result.to_flent`, `Certificate.check` and
# `_repr_html_` pass on their object.
LATE = {
    ("result", "notebook"),
    ("scenario", "notebook"),
    ("prove", "notebook"),
    ("result", "plot"),
    ("result", "report"),
    ("result", "flent"),
    ("prove", "validity"),
    ("prove", "deviations"),
    ("cli", "validity"),
    ("cli", "deviations"),
}


def test_crates_import_only_what_the_table_allows(root: Path) -> None:
    manifests = {path.parent.name: path for path in root.glob("crates/*/Cargo.toml")}
    manifests |= {tool: root / tool / "Cargo.toml" for tool in ("exchange", "xtask")}
    faults = [fault for crate, path in sorted(manifests.items()) for fault in crate_faults(crate, path)]
    assert not faults, "\n".join(faults)


def test_the_fuzz_targets_have_the_crates_of_the_files_they_include(root: Path) -> None:
    worlds = ("crates/tcp/tests/hostile/world", "crates/sim/tests/files")
    sources = [
        file
        for folder in ("fuzz", *worlds)
        for file in (root / folder).rglob("*.rs")
        if file.name != "main.rs"
    ]
    used = {name for file in sources for name in re.findall(r"\bsojourn_(\w+)", file.read_text())} - {"fuzz"}
    manifest = tomllib.loads((root / "fuzz" / "Cargo.toml").read_text())
    assert used == {name.removeprefix("sojourn-") for name in manifest["dependencies"] if "sojourn-" in name}


def test_the_page_of_the_architecture_has_the_table(root: Path) -> None:
    rows = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \| ([\w, ]+) \|$", (root / "ARCHITECTURE.md").read_text(), re.M
    )
    names = [
        (name, set(right.split(", ")) - {"nothing"})
        for left, right in rows
        for name in re.findall(r"\w+", left)
    ]
    assert dict(names) == CRATES


def test_python_modules_import_only_what_the_table_allows(root: Path) -> None:
    package = root / "python" / "sojourn"
    arrows = [arrow for path in sorted(package.rglob("*.py")) for arrow in arrows_of(path, package)]
    faults = [
        f"{a.place}: sojourn.{a.source} -> sojourn.{a.target}: tests/house/test_arrows.py forbids it"
        for a in arrows
        if not allowed(a)
    ]
    assert not faults, "\n".join(faults)


def test_a_new_crate_arrow_is_named(tmp_path: Path) -> None:
    manifest = tmp_path / "Cargo.toml"
    manifest.write_text('[dev-dependencies]\nsojourn-tcp = { path = "../tcp" }\npyo3 = "0.30"\n')
    python, tcp = crate_faults("aqm", manifest)
    assert "sojourn-aqm -> pyo3" in python
    assert "sojourn-aqm -> sojourn-tcp" in tcp


def test_a_new_python_arrow_is_found_in_every_form(tmp_path: Path) -> None:
    package = tmp_path / "sojourn"
    (package / "plot").mkdir(parents=True)
    page = package / "plot" / "__init__.py"
    (package / "simulate.py").touch()
    forms = ("import sojourn.simulate", "from sojourn.simulate import run", "from .. import simulate")
    for form in (
        *forms,
        "from sojourn import simulate",
        "def f():\n    from ..simulate import run",
        "import sojourn",
    ):
        page.write_text(form + "\n")
        assert [allowed(arrow) for arrow in arrows_of(page, package)] == [False], form
    page.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sojourn.simulate import run\n"
    )
    assert arrows_of(page, package) == []


def test_a_late_arrow_is_refused_at_the_top(tmp_path: Path) -> None:
    page = tmp_path / "result.py"
    (tmp_path / "plot.py").touch()
    page.write_text("from sojourn import plot\n")
    assert not allowed(arrows_of(page, tmp_path)[0])
    page.write_text("def f():\n    from sojourn import plot\n")
    assert allowed(arrows_of(page, tmp_path)[0])


def crate_faults(crate: str, manifest: Path) -> list[str]:
    if crate not in CRATES:
        return [f"crates/{crate} is not in the table of tests/house/test_arrows.py"]
    data = tomllib.loads(manifest.read_text())
    tables = [data, *data.get("target", {}).values()]
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    names = sorted({name for table in tables for kind in kinds for name in table.get(kind, {})})
    faults = []
    for name in names:
        ours = name.removeprefix("sojourn-")
        if (ours != name and ours not in CRATES[crate]) or (name in ONLY_IN_PY and crate != "py"):
            faults.append(f"sojourn-{crate} -> {name}: tests/house/test_arrows.py does not allow this arrow")
    return faults


@dataclass(frozen=True)
class Arrow:
    """One import of one of our modules by another; `late` if it is inside a function."""

    source: str
    target: str
    late: bool
    place: str


def allowed(arrow: Arrow) -> bool:
    pair = (arrow.source, arrow.target)
    return arrow.target in MODULES.get(arrow.source, set()) or (arrow.late and pair in LATE)


def arrows_of(path: Path, package: Path) -> list[Arrow]:
    """Arrows that leave one file, except imports for type checkers alone and within a module."""
    relative = path.relative_to(package)
    source = relative.parts[0].removesuffix(".py")
    arrows = []
    for node, late in imports_in(ast.parse(path.read_text()), late=False):
        for target in targets_of(node, relative, package):
            if target != source:
                arrows.append(Arrow(source, target, late, f"{relative}:{node.lineno}"))
    return arrows


def imports_in(node: ast.AST, *, late: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, late
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        return
    late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from imports_in(child, late=late)


def targets_of(node: ast.Import | ast.ImportFrom, relative: Path, package: Path) -> list[str]:
    """Names of our modules that an import reaches; the package itself counts as `__init__`."""
    if isinstance(node, ast.Import):
        dotted = [alias.name for alias in node.names]
    else:
        # A relative import starts at the file's folder and climbs one for each dot after the first.
        above = ["sojourn", *relative.parts[:-1]]
        base = above[: len(above) - node.level + 1] if node.level else []
        start = ".".join([*base, *([node.module] if node.module else [])])
        dotted = [f"{start}.{alias.name}" if start == "sojourn" else start for alias in node.names]
    ours = [name.split(".") for name in dotted if name.split(".")[0] == "sojourn"]
    return sorted({module_of(parts, package) for parts in ours})


def module_of(parts: list[str], package: Path) -> str:
    name = parts[1] if len(parts) > 1 else "__init__"
    exists = name in MODULES or (package / name).is_dir() or (package / f"{name}.py").is_file()
    return name if exists else "__init__"
