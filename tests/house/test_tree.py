"""The tree names no machine and no package registry, and its locks are complete."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

# Joined here, so that this file does not match its own pattern.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("index", "crates", "io"),
        ("static", "crates", "io"),
        ("registry", "npmjs", "org"),
        ("proxy", "golang", "org"),
        ("deb", "debian", "org"),
    )
]
PLACES = re.compile(rb"/(?:home|Users)/[a-z]|/(?:root|work|mnt|builds)/|[A-Z]:\\Users")
INDEX = "registry+https://github.com/rust-lang/crates.io-index"


def test_no_registry_host(tree: list[Path], root: Path) -> None:
    faults = [
        f"{path.relative_to(root)}: names {host}"
        for path in tree
        for host in REGISTRIES
        if host.encode() in path.read_bytes()
    ]
    assert not faults, "\n".join(faults)


def test_no_path_of_a_machine(tree: list[Path], root: Path) -> None:
    faults = [
        f"{path.relative_to(root)}:{number}: {line.decode(errors='replace').strip()}"
        for path in tree
        if path != Path(__file__)
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if PLACES.search(line)
    ]
    assert not faults, "\n".join(faults)


def test_the_pattern_finds_paths() -> None:
    for text in (b"x /home/ann/y", b'"/root/.cargo"', b"cd /work/tree", b"C:\\Users\\ann", b"/Users/ann"):
        assert PLACES.search(text), text
    for text in (b"a/home.rs", b"the root/leaf", b"https://example.com/homes"):
        assert not PLACES.search(text), text


def test_python_locks_pin_by_hash_and_name_no_host(root: Path) -> None:
    locks = sorted((root / "requirements").glob("*.lock"))
    assert [lock.stem for lock in locks] == [
        "bootstrap",
        "dev",
        "docs",
        "engines",
        "flent",
        "optimal",
        "pandas",
        "run",
        "sensitivity",
        "ui",
    ]
    for lock in locks:
        text = lock.read_text()
        assert "://" not in text, f"{lock.name} names a host"
        assert not re.search(r"^-", text, flags=re.MULTILINE), f"{lock.name} carries an option"
        for pin in re.split(r"^(?=[a-zA-Z0-9])", text, flags=re.MULTILINE)[1:]:
            assert re.match(r"\S+==\S+ ", pin), f"{lock.name}: {pin.splitlines()[0]} is not pinned"
            assert "--hash=sha256:" in pin, f"{lock.name}: {pin.splitlines()[0]} has no hash"


def test_the_dev_lock_extends_the_run_lock(root: Path) -> None:
    run, dev = (pins(root / "requirements" / f"{name}.lock") for name in ("run", "dev"))
    assert run <= dev, f"./ci.sh lock brings them in step: {sorted(run - dev)}"


def test_the_other_locks_go_with_the_dev_lock(root: Path) -> None:
    # All are installed into .venv: a package in two of them has one version, or one for each Python.
    dev = pins(root / "requirements" / "dev.lock")
    names = {pin.partition("==")[0] for pin in dev}
    for name in ("docs", "optimal", "sensitivity", "ui", "pandas", "engines"):
        both = {
            pin for pin in pins(root / "requirements" / f"{name}.lock") if pin.partition("==")[0] in names
        }
        assert both <= dev, f"{name}: ./ci.sh lock brings them in step: {sorted(both - dev)}"


def test_the_cargo_lock_names_the_index_alone(root: Path) -> None:
    packages = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    assert {package["source"] for package in packages if "source" in package} == {INDEX}


def pins(lock: Path) -> set[str]:
    return set(re.findall(r"^[a-zA-Z0-9]\S+==\S+", lock.read_text(), flags=re.MULTILINE))
