"""The texts that make up a law, a qdisc or a congestion control in Python: they name its cells in a store."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from weakref import WeakKeyDictionary

from sojourn.custom import BASES, InPython
from sojourn.custom.parameters import parameters_of

__all__ = ["facts_of", "note"]

#: Texts of modules as they were when first seen: those that run, even if a file has changed since.
_TEXTS: WeakKeyDictionary[ModuleType, bytes] = WeakKeyDictionary()
#: Names and hashes of a module and of those that it imports.
_HASHES: WeakKeyDictionary[ModuleType, tuple[str, ...]] = WeakKeyDictionary()


def facts_of(law: InPython) -> list[str] | None:
    """Parameters of an object, and a hash of each text that it is made of; None if Python has none.

    These are the whole files of its class and of its author's bases, and modules beside them that they import
    by a statement, and so on; of a class without a file, as in a notebook, its own source. Of an installed
    package it is the file of the class alone. Python's own modules and files that a law reads are left out.
    """
    own = [f"{one.name}={one.value}" for one in parameters_of(law) if not one.default]
    found: list[str] = []
    for kind in type(law).__mro__:
        if kind in BASES or kind.__module__.partition(".")[0] in ("sojourn", *sys.stdlib_module_names):
            continue
        module = sys.modules.get(kind.__module__)
        if module is not None and _path_of(module) is not None:
            found += _hashes(module)
            continue
        try:
            found.append(f"{kind.__qualname__} {_hash(inspect.getsource(kind).encode())}")
        except (OSError, TypeError):
            return None
    return [*own, *dict.fromkeys(found)]


def note(module: ModuleType, text: bytes) -> None:
    """Note the text of a module that has just run, and those of the modules that it has imported."""
    _TEXTS[module] = text
    _hashes(module)


def _hashes(module: ModuleType) -> tuple[str, ...]:
    if module not in _HASHES:
        _HASHES[module] = tuple(f"{name} {_hash(text)}" for name, text in sorted(_closure(module).items()))
    return _HASHES[module]


def _closure(module: ModuleType) -> dict[str, bytes]:
    """Texts of a module and of those beside it that it imports, by their paths within its folder."""
    path = _path_of(module)
    assert path is not None, "a module with a file"
    dotted = module.__name__ if module.__name__.replace(".", "").isidentifier() else path.stem
    depth = dotted.count(".") + (path.stem == "__init__")
    root = path.parents[min(depth, len(path.parents) - 1)]
    # Within a package its own modules alone, and of what is installed the module itself.
    within = root / dotted.partition(".")[0] if depth else root
    if any(path.is_relative_to(place) for place in _installed()):
        within = path
    package = path.parent.relative_to(root).parts
    found: dict[str, bytes] = {}
    waiting: list[tuple[Path, ModuleType | None, tuple[str, ...]]] = [(path, module, package)]
    while waiting:
        file, loaded, package = waiting.pop()
        name = file.relative_to(root).as_posix()
        if name in found:
            continue
        text = _text(file, loaded)
        if text is None:
            continue
        found[name] = text
        for parts in _imported(text, package):
            for inner, one in ((parts, "__init__.py"), (parts[:-1], f"{parts[-1]}.py")):
                beside = root.joinpath(*inner, one)
                if beside.is_relative_to(within) and beside.is_file():
                    waiting.append((beside, sys.modules.get(".".join(parts)), inner))
    return found


@functools.cache
def _installed() -> tuple[Path, ...]:
    """Folders of installed packages."""
    return tuple({Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")})


def _text(path: Path, module: ModuleType | None) -> bytes | None:
    """Text of a file: as first seen, where a module of it has run."""
    if module is not None and _path_of(module) == path and module in _TEXTS:
        return _TEXTS[module]
    try:
        text = path.read_bytes()
    except OSError:
        return None
    if module is not None and _path_of(module) == path:
        _TEXTS[module] = text
    return text


def _imported(text: bytes, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Names that a text imports, in parts: those that may be modules."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [tuple(one.name.split(".")) for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            start = above + tuple(node.module.split(".") if node.module else ())
            names = [start, *((*start, one.name) for one in node.names)]
        else:
            continue
        for parts in names:
            if parts and parts[0] != "sojourn":
                yield from (parts[: place + 1] for place in range(len(parts)))


def _path_of(module: ModuleType) -> Path | None:
    """The file of a module, if it is one of Python's source."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return None
    path = Path(file).resolve()
    return path if module in _TEXTS or path.is_file() else None


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
