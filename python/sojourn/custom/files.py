"""Laws, qdiscs and congestion controls in files of the user: ``FILE.py:CLASS:KEY=VALUE,KEY=VALUE``."""

from __future__ import annotations

import difflib
import hashlib
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from sojourn.custom import BASES, STAND_IN, CongestionControl, CustomLaw, CustomQdisc, InPython
from sojourn.custom.identity import note
from sojourn.custom.lines import message_of, shown
from sojourn.custom.parameters import defaults_of
from sojourn.errors import InputError
from sojourn.files import read

__all__ = ["control_named", "inner_named", "law_named", "module_of", "names_a_file", "qdisc_named"]

_SPEC = re.compile(r"(?P<file>.+?\.py)(?::(?P<name>[^:]*)(?::(?P<list>.*))?)?", flags=re.DOTALL)
#: One KEY=VALUE of a SPEC; a comma within brackets ends none.
_ITEM = re.compile(r"(?:\[[^\]]*\]|\{[^}]*\}|[^,])+")
_EXPECTED = "expected FILE.py:CLASS or FILE.py:CLASS:KEY=VALUE,KEY=VALUE"
#: Most bytes of a file of laws: the beginning of a longer one would be another program.
_MOST_BYTES = 100_000_000
#: Classes that a file may hold: their name in errors, and their bases.
_WORDS: dict[type, tuple[str, str]] = {
    CustomQdisc: ("law or qdisc", "sojourn.Controller, sojourn.Law or sojourn.Qdisc"),
    CustomLaw: ("law", "sojourn.Controller or sojourn.Law"),
    CongestionControl: ("congestion control", "sojourn.CongestionControl"),
}

Kind = TypeVar("Kind", bound=InPython)


def names_a_file(spec: str) -> bool:
    """True if a SPEC names a Python file."""
    return _SPEC.fullmatch(spec.strip()) is not None


def qdisc_named(spec: str, option: str = "--qdisc") -> CustomQdisc:
    """The law or qdisc named by a SPEC such as ``mylaw.py:MyLaw:gain=2e-4``; runs the file.

    Raises `InputError` with one line that begins with `option`.
    """
    return _object_of(spec, CustomQdisc, option)


def law_named(spec: str, option: str = "--qdisc") -> CustomLaw:
    """The law named by a SPEC such as ``mylaw.py:MyLaw:gain=2e-4``; runs the file.

    Raises `InputError` with one line that begins with `option`.
    """
    return _object_of(spec, CustomLaw, option)


def inner_named(spec: str, option: str = "--qdisc") -> tuple[str, str, CustomQdisc] | None:
    """What is in Python within a qdisc, as in ``drr:law=mylaw.py:MyLaw,law.gain=2e-4``; runs its file.

    A law, or behind a shaper a qdisc. Returns its key, the SPEC with `STAND_IN` in its place, and the object;
    None: there is none. Raises `InputError` with one line that begins with `option`.
    """
    qdisc, _, items = spec.partition(":")
    if not qdisc.strip().isidentifier():
        return None
    pairs = [item.partition("=") for item in _ITEM.findall(items)]
    named = [(key.strip(), value) for key, _, value in pairs if names_a_file(value)]
    if not named:
        return None
    (key, text), *others = named
    if others:
        raise InputError(f"{option}: {others[0][0]}: is a second law or qdisc in Python; expected one")
    kept, own = [], []
    for name, equals, value in pairs:
        if name.strip().startswith(f"{key}."):
            own.append(f"{name.strip().removeprefix(f'{key}.')}{equals}{value}")
        else:
            kept.append(f"{key}={STAND_IN}" if value is text else f"{name}{equals}{value}")
    # Parameters of the object may stand behind its class, too.
    has_list = text.count(":") > 1
    named_with = qdisc_named if key.rpartition(".")[2] == "qdisc" else law_named
    found = named_with(text + ("," if has_list else ":") * bool(own) + ",".join(own), f"{option}: {key}")
    return key, f"{qdisc}:{','.join(kept)}", found


def control_named(spec: str, option: str = "--cc") -> CongestionControl:
    """The congestion control named by a SPEC such as ``mycc.py:MyCc:gain=2``; runs the file.

    Raises `InputError` with one line that begins with `option`.
    """
    return _object_of(spec, CongestionControl, option)


def _object_of(spec: str, base: type[Kind], option: str) -> Kind:
    found = _SPEC.fullmatch(spec.strip())
    if found is None:
        raise InputError(f'{option}: "{spec}" names no Python file; {_EXPECTED}')
    module = module_of(found["file"], option)
    kind = _class(module, found["name"] or "", base, option)
    parameters = _parameters(found["list"], option)
    try:
        return kind(**parameters)
    except (Exception, SystemExit) as error:
        message = message_of(error) or type(error).__name__
        expected = "" if "expected " in message else f"; expected {', '.join(sorted(defaults_of(kind)))}"
        raise InputError(f"{option}: {found['file']}:{kind.__name__}: {shown(message)}{expected}") from error


def module_of(file: str, option: str) -> ModuleType:
    """The file as a module, run once; a module beside it can be imported as in a script."""
    path = Path(file)
    try:
        text = read(path, _MOST_BYTES)
    except OSError as error:
        raise InputError(f"{option}: {file}: cannot be read ({error.strerror}); {_EXPECTED}") from None
    if len(text) > _MOST_BYTES:
        raise InputError(
            f"{option}: {file}: is too large; expected a file of at most {_MOST_BYTES // 10**6} MB"
        )
    # An edited file is another module.
    name = f"{path.resolve()} {hashlib.sha256(text).hexdigest()}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = file
    if (folder := str(path.resolve().parent)) not in sys.path:
        sys.path.insert(0, folder)
    # Dataclasses and deepcopy look up a class's module by name.
    sys.modules[name] = module
    try:
        exec(compile(text, file, "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(
            f"{option}: {_place(file, error)}: {type(error).__name__}: {shown(message_of(error))}"
        ) from error
    note(module, text)
    return module


def _place(file: str, error: BaseException) -> str:
    """Last line of the file in a traceback, ``FILE:LINE``."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{file}:{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
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
    noun, bases = _WORDS[base]
    if not known:
        raise InputError(f"{option}: {file}: holds no {noun}; expected a class on {bases}")
    expected = f"(expected {', '.join(known)})"
    if not name:
        raise InputError(f"{option}: {file} names no class of it; write {file}:{known[0]} {expected}")
    near = difflib.get_close_matches(name, known, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    raise InputError(f'{option}: {file}: "{name}" is not a {noun} in it{hint} {expected}')


def _parameters(text: str | None, option: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for item in text.split(",") if text is not None else ():
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key:
            raise InputError(f'{option}: "{item.strip()}" is not KEY=VALUE; {_EXPECTED}')
        if key in found:
            raise InputError(f'{option}: "{key}" is given twice; expected each key once')
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
