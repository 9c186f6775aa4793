"""Every dependency has a licence compatible with `MIT OR Apache-2.0`."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Unicode-3.0",
    "Zlib",
}
# File-level copyleft: allowed in tools that check or test, not at run time.
TOOLS_ONLY = {"MPL-2.0"}
# Copyleft of libraries: allowed in extras, which users install by themselves.
EXTRAS_ONLY = {"LGPL-2.1-or-later", "LGPL-3.0-or-later"}

# Licence names of packages before licence expressions existed.
CLASSIFIERS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

#: Begin of the MIT licence's text.
PERMISSION = "Permission is hereby granted, free of charge, to any person obtaining a copy"


def test_rust_dependencies(root: Path) -> None:
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, cwd=root, capture_output=True, check=True).stdout)[
        "packages"
    ]
    assert packages
    faults = [
        f"{package['name']} {package['version']}: licence {package['license']!r}"
        for package in packages
        if not permits(package["license"], ALLOWED)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("lock", "allowed"),
    [
        ("run", ALLOWED),
        ("dev", ALLOWED | TOOLS_ONLY),
        ("optimal", ALLOWED | EXTRAS_ONLY),
        ("sensitivity", ALLOWED | EXTRAS_ONLY),
        ("ui", ALLOWED | TOOLS_ONLY),
        ("pandas", ALLOWED | EXTRAS_ONLY),
        ("engines", ALLOWED | TOOLS_ONLY | EXTRAS_ONLY),
    ],
)
def test_python_dependencies(root: Path, lock: str, allowed: set[str]) -> None:
    packages = locked(root / "requirements" / f"{lock}.lock")
    assert packages
    if lock == "engines" and importlib.util.find_spec("ray") is None:
        pytest.skip("Dask and Ray are not installed: make engines")
    faults = [
        f"{name}: {licence!r}" for name in packages if not permits(licence := licence_of(name), allowed)
    ]
    assert not faults, "\n".join(faults)


def test_vendored_files_are_as_published_and_have_their_licence(root: Path) -> None:
    vendor = root / "python" / "sojourn" / "report" / "vendor"
    sums = dict(line.split("  ")[::-1] for line in (vendor / "SHA256SUMS").read_text().splitlines())
    assert {path.name for path in vendor.iterdir()} == {*sums, "SHA256SUMS", "README.md"}
    for name, wanted in sums.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == wanted, name
    assert (vendor / "uPlot.LICENSE").read_text().startswith("The MIT License (MIT)")


@pytest.mark.parametrize(
    ("expression", "good"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("LGPL-2.1-or-later", False),
        ("MIT OR LGPL-2.1-or-later", True),
        ("MIT AND LGPL-2.1-or-later", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(MIT OR Apache-2.0) AND AGPL-3.0", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Unlicense OR MIT", True),
        ("Unlicense", False),
        ("", False),
        (None, False),
    ],
)
def test_expressions(expression: str | None, good: bool) -> None:
    assert permits(expression, ALLOWED) is good


def permits(expression: str | None, allowed: set[str]) -> bool:
    """True if an SPDX expression can be met with allowed licences alone; OR is a choice."""
    words = re.findall(r"[()]|[^\s()]+", (expression or "").replace("/", " OR "))
    return bool(words) and either(words, allowed) and not words


def either(words: list[str], allowed: set[str]) -> bool:
    good = both(words, allowed)
    while words and words[0].upper() == "OR":
        words.pop(0)
        good = both(words, allowed) or good
    return good


def both(words: list[str], allowed: set[str]) -> bool:
    good = single(words, allowed)
    while words and words[0].upper() == "AND":
        words.pop(0)
        good = single(words, allowed) and good
    return good


def single(words: list[str], allowed: set[str]) -> bool:
    if not words:
        return False
    if words[0] != "(":
        good = words.pop(0) in allowed
        if words and words[0].upper() == "WITH":  # an exception only adds permissions
            del words[:2]
        return good
    words.pop(0)
    good = either(words, allowed)
    return bool(words) and words.pop(0) == ")" and good


def locked(lock: Path) -> list[str]:
    """Names that a lock pins for this interpreter and machine."""
    lines = re.findall(r"^([a-zA-Z0-9][^\\\n#]*?) *\\?$", lock.read_text(), flags=re.MULTILINE)
    pins = [Requirement(line) for line in lines]
    return sorted({pin.name for pin in pins if pin.marker is None or pin.marker.evaluate()})


def licence_of(name: str) -> str:
    """SPDX expression of an installed package, from whichever field carries it."""
    about = importlib.metadata.metadata(name)
    if expression := about.get("License-Expression"):
        return expression
    classifiers = [
        c.rpartition(" :: ")[2] for c in about.get_all("Classifier", []) if c.startswith("License ::")
    ]
    named = [CLASSIFIERS[c] for c in classifiers if c in CLASSIFIERS]
    # The old free field holds a short name, or a whole text.
    field = about.get("License", "")
    if PERMISSION in " ".join(field.split()):
        return "MIT"
    line = field.partition("\n")[0]
    return " AND ".join(named) or CLASSIFIERS.get(line, line)
