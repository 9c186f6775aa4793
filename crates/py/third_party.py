"""Write the notices of all crates linked into the extension: `third_party.py FILE`.

The licences require that their texts accompany every copy. The texts are read from the crates' own sources,
so they are those of the versions in Cargo.lock.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HEAD = """\
The compiled part of Sojourn, _core.abi3.so, holds the crates named below and the Rust standard library.
The licence of each follows its name; where a crate leaves the choice and MIT is one, it is used under MIT,
but under Apache-2.0 where its sources hold no text.

The Rust standard library is (c) The Rust Project contributors, MIT OR Apache-2.0; it is used under
Apache-2.0, whose text is in LICENSE-APACHE beside Sojourn's own licence.
"""
ROOT = Path(__file__).resolve().parents[2]
RULE = "=" * 80
NOTICES = ("copying", "copyright", "licence", "license", "notice")


def main() -> None:
    """Write the file."""
    crates = linked()
    parts = [HEAD, *(part(crate) for crate in crates)]
    Path(sys.argv[1]).write_text("\n".join(parts), encoding="utf-8")
    print(f"{sys.argv[1]}: {len(crates)} crates")


def linked() -> list[dict[str, Any]]:
    """Third-party crates in the extension, by name; macros run in the compiler and are not in it."""
    tree = cargo("tree", "-p", "sojourn-py", "-e", "normal,no-proc-macro", "--prefix", "none")
    wanted = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    found = [
        package
        for package in json.loads(cargo("metadata", "--format-version", "1"))["packages"]
        if package["source"] is not None and (package["name"], f"v{package['version']}") in wanted
    ]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def part(crate: dict[str, Any]) -> str:
    """A crate's name, version and licence texts."""
    name = f"{crate['name']} {crate['version']} ({crate['license']})"
    folder = Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.name.lower().startswith(NOTICES))
    if any("mit" in path.name.lower() for path in files):
        files = [path for path in files if "apache" not in path.name.lower()]
    if not files and "Apache-2.0" in crate["license"].split():
        # Section 4(a) wants a copy of the licence, which is the same for all.
        files = [ROOT / "LICENSE-APACHE"]
    if not files:
        sys.exit(f"{name}: its sources hold no licence text")
    texts = [path.read_text(encoding="utf-8").strip() for path in files]
    return "\n\n".join([f"{RULE}\n{name}\n{RULE}", *texts]) + "\n"


def cargo(*arguments: str) -> str:
    """Output of cargo."""
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    main()
