"""Laws and congestion controls in files of their author's: ``FILE.py:CLASS:KEY=VALUE,KEY=VALUE``."""

from __future__ import annotations

import difflib
import hashlib
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from sojourn.errors import InputError
from sojourn.files import read
from sojourn.laws_in_python import BASES, CongestionControl, InPython, LawInPython
from sojourn.laws_in_python.lines import said_by, shown
from sojourn.laws_in_python.parameters import defaults_of

__all__ = ["control_named", "law_of", "names_a_file"]

_SPEC = re.compile(r"(?P<file>.+?\.py)(?::(?P<name>[^:]*)(?::(?P<list>.*))?)?", flags=re.DOTALL)
_LEGAL = "legal: FILE.py:CLASS or FILE.py:CLASS:KEY=VALUE,KEY=VALUE"
#: Bytes of a file of laws: the beginning of a longer one would be another program.
_MOST_BYTES = 100_000_000
#: What a file is looked through for, and what its classes are made on.
_WORDS: dict[type, tuple[str, str]] = {
    LawInPython: ("law", "sojourn.Controller or sojourn.Law"),
    CongestionControl: ("congestion control", "sojourn.CongestionControl"),
}

Kind = TypeVar("Kind", bound=InPython)


def names_a_file(spec: str) -> bool:
    """Whether a SPEC names a Python file."""
    return _SPEC.fullmatch(spec.strip()) is not None


def law_of(spec: str, option: str = "--disc") -> LawInPython:
    """The law that a SPEC such as ``mylaw.py:MyLaw:gain=2e-4`` names; runs the file.

    Raises `InputError` with one line that begins with `option`.
    """
    return _object_of(spec, LawInPython, option)


def control_named(spec: str, option: str = "--cc") -> CongestionControl:
    """The congestion control that a SPEC such as ``mycc.py:MyCc:gain=2`` names; runs the file.

    Raises `InputError` with one line that begins with `option`.
    """
    return _object_of(spec, CongestionControl, option)


def _object_of(spec: str, base: type[Kind], option: str) -> Kind:
    found = _SPEC.fullmatch(spec.strip())
    if found is None:
        raise InputError(f'{option}: "{spec}" names no Python file; {_LEGAL}')
    module = _module(found["file"], option)
    kind = _class(module, found["name"] or "", base, option)
    parameters = _parameters(found["list"], option)
    try:
        return kind(**parameters)
    except (Exception, SystemExit) as fault:
        said = said_by(fault) or type(fault).__name__
        legal = "" if "legal: " in said else f"; legal: {', '.join(sorted(defaults_of(kind)))}"
        raise InputError(f"{option}: {found['file']}:{kind.__name__}: {shown(said)}{legal}") from fault


def _module(file: str, option: str) -> ModuleType:
    """The file as a module, run once; a module beside it can be imported as in a script."""
    path = Path(file)
    try:
        text = read(path, _MOST_BYTES)
    except OSError as fault:
        raise InputError(f"{option}: {file}: cannot be read ({fault.strerror}); {_LEGAL}") from None
    if len(text) > _MOST_BYTES:
        raise InputError(
            f"{option}: {file}: is too large; legal: a file of at most {_MOST_BYTES // 10**6} MB"
        )
    # A file that was edited is another module.
    name = f"{path.resolve()} {hashlib.sha256(text).hexdigest()}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = file
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.insert(0, folder)
    # Dataclasses and deepcopy look a class's module up by its name.
    sys.modules[name] = module
    try:
        exec(compile(text, file, "exec", dont_inherit=True), vars(module))
    except BaseException as fault:
        del sys.modules[name]
        if isinstance(fault, KeyboardInterrupt):
            raise
        raise InputError(
            f"{option}: {_place(file, fault)}: {type(fault).__name__}: {shown(said_by(fault))}"
        ) from fault
    return module


def _place(file: str, fault: BaseException) -> str:
    """The last line of the file that took part, ``FILE:LINE``."""
    if isinstance(fault, SyntaxError) and fault.filename == file:
        return f"{file}:{fault.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == file]
    return f"{file}:{lines[-1]}" if lines else file


def _class(module: ModuleType, name: str, base: type[Kind], option: str) -> type[Kind]:
    file = module.__file__
    found = vars(module).get(name)
    if isinstance(found, type) and issubclass(found, base):
        return found
    known = [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, base) and value not in BASES
    ]
    what, bases = _WORDS[base]
    if not known:
        raise InputError(f"{option}: {file}: holds no {what}; legal: a class on {bases}")
    legal = f"(legal: {', '.join(known)})"
    if not name:
        raise InputError(f"{option}: {file} names no class of it; write {file}:{known[0]} {legal}")
    near = difflib.get_close_matches(name, known, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    raise InputError(f'{option}: {file}: "{name}" is not a {what} in it{hint} {legal}')


def _parameters(text: str | None, option: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for item in text.split(",") if text is not None else ():
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key:
            raise InputError(f'{option}: "{item.strip()}" is not KEY=VALUE; {_LEGAL}')
        if key in found:
            raise InputError(f'{option}: "{key}" is given twice; legal: each key once')
        found[key] = _scalar(value)
    return found


def _scalar(text: str) -> object:
    """A whole number, a number, true or false, or else text, as in any other SPEC."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
