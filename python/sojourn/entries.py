"""Entries of the catalogues as values: the base of their classes, which are generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import wraps
from typing import Any, ClassVar, TypeVar

from sojourn.custom import STAND_IN, CustomLaw, CustomQdisc
from sojourn.errors import ArgumentError, refuse_unknown
from sojourn.kinds import one_of_kind, setting, text

__all__ = ["Entry", "Inner", "QdiscEntry", "checked", "written_in_python"]


@dataclass(frozen=True, kw_only=True)
class Entry:
    """An entry of a catalogue, with the parameters that have a value; the others have their defaults."""

    stem: ClassVar[str]

    def table(self) -> dict[str, Any]:
        """The entry in a scenario, ``{NAME: {KEY: VALUE}}``.

        >>> import sojourn as sj
        >>> sj.apps.Web(objects=20).table()
        {'web': {'objects': 20}}
        """
        return {self.stem: self._given()}

    def spec(self) -> str:
        """SPEC of the entry for the command line, ``NAME:KEY=VALUE,KEY=VALUE``.

        Raises `ArgumentError` for a parameter that is a table, such as a distribution: `table` has it.

        >>> import sojourn as sj
        >>> sj.laws.Pi(target="100 packets").spec()
        'pi:target=100 packets'
        """
        given = [f"{name}={value}" for name, value in self._settings()]
        return f"{self.stem}:{','.join(given)}" if given else self.stem

    def _given(self) -> dict[str, Any]:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: _in_a_table(value) for name, value in values if value is not None}

    def _settings(self) -> Iterator[tuple[str, str]]:
        """The parameters in a SPEC; those of an entry within stand beside its name."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                yield from self._values(field.name, value)

    def _values(self, key: str, value: object) -> Iterator[tuple[str, str]]:
        """A parameter in a SPEC."""
        if isinstance(value, Entry):
            yield key, value.stem
            yield from ((f"{key}.{inner}", text) for inner, text in value._settings())
        else:
            yield key, _written(f"{type(self).__name__}: {key}", value)


class QdiscEntry(Entry):
    """A qdisc of several queues; the keys of its tables stand beside their name in a SPEC.

    >>> import sojourn as sj
    >>> sj.qdiscs.Drr(by="class", weights={"bulk": 3}).spec()
    'drr:by=class,weights.bulk=3'
    """

    def _values(self, key: str, value: object) -> Iterator[tuple[str, str]]:
        if not isinstance(value, Mapping):
            yield from super()._values(key, value)
            return
        inside = value
        if key.rpartition(".")[2] in self._entries():
            name, inside = self._named(key, value)
            yield key, name
        for inner, one in inside.items():
            yield from self._values(f"{key}.{inner}", one)

    def _named(self, key: str, value: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Name and parameters of an entry as a table."""
        if isinstance(name := value.get("law"), str):
            return name, {inner: one for inner, one in value.items() if inner != "law"}
        match list(value.items()):
            case [(name, Mapping() as inside)]:
                return name, inside
        problem = f"{dict(value)} is not {{NAME: {{KEY: VALUE}}}}"
        raise ArgumentError(
            f"{type(self).__name__}: {key}: {problem}; expected the name of an entry and its parameters"
        )

    def _entries(self) -> Iterator[str]:
        """Parameters that are entries."""
        return (field.name for field in fields(self) if "Inner" in str(field.type))


#: What a parameter may hold that is a whole entry, such as the law of a qdisc.
Inner = Entry | CustomQdisc


def written_in_python(entry: Entry) -> tuple[str, Entry, CustomQdisc] | None:
    """Dotted key of a parameter that is written in Python, the entry with `STAND_IN` there, and the object.

    >>> import sojourn as sj
    >>> written_in_python(sj.qdiscs.Drr(law="pie")) is None
    True
    """
    for field in fields(entry):
        value = getattr(entry, field.name)
        if isinstance(value, CustomQdisc):
            return field.name, replace(entry, **{field.name: STAND_IN}), value
        if isinstance(value, Entry) and (found := written_in_python(value)) is not None:
            key, inner, custom = found
            return f"{field.name}.{key}", replace(entry, **{field.name: inner}), custom
    return None


def _in_a_table(value: object) -> object:
    if isinstance(value, CustomQdisc):
        raise _in_python(type(value).__name__)
    if isinstance(value, Mapping):
        return {key: _in_a_table(one) for key, one in value.items()}
    return value.table() if isinstance(value, Entry) else value


def _written(name: str, value: object) -> str:
    """The value of a parameter in a SPEC."""
    if isinstance(value, CustomQdisc):
        raise _in_python(name)
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        raise ArgumentError(f"{name}: a table has no place in a SPEC; expected table() in place of spec()")
    if isinstance(value, Sequence):
        return f"[{', '.join(_written(name, one) for one in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _in_python(name: str) -> ArgumentError:
    expected = "expected sj.run(scenario, qdiscs=[...]), where objects may be"
    return ArgumentError(f"{name}: what is written in Python has no place in a text or a file; {expected}")


def _setting(value: object) -> object:
    """A parameter; one that is a table may have entries in it, as the reserved queue has its law."""
    if isinstance(value, type) and issubclass(value, Inner):
        raise TypeError(f"is a class; expected an object of it, {value.__name__}()")
    if isinstance(value, Mapping) and any(isinstance(one, Entry) for one in value.values()):
        return {text(key): one if isinstance(one, Entry) else _setting(one) for key, one in value.items()}
    return setting(value)


def _qdisc(value: object) -> object:
    """A parameter that is a qdisc, as text, a table or an object."""
    return value if isinstance(value, Inner) else _setting(value)


def _law(value: object) -> object:
    """A parameter that is a law."""
    if isinstance(value, QdiscEntry) or (isinstance(value, CustomQdisc) and not isinstance(value, CustomLaw)):
        raise TypeError("is a qdisc, and a queue has a law; expected a law such as sj.laws.Codel()")
    return _qdisc(value)


def _kind_of(name: str, annotation: object) -> Callable[[object], object]:
    """Kind of a parameter of this name and type."""
    if "Inner" not in str(annotation):
        return _setting
    return _law if name == "law" else _qdisc


_Kind = TypeVar("_Kind", bound=type[Entry])


def checked(kind: _Kind) -> _Kind:
    """Make the constructor reject unknown parameters, naming the known ones, and values of a wrong kind."""
    construct: Any = kind.__init__
    known = [field.name for field in fields(kind)]
    kinds = {field.name: _kind_of(field.name, field.type) for field in fields(kind)}
    required = [field.name for field in fields(kind) if field.default is MISSING]

    @wraps(construct)
    def checking(self: Entry, *values: Any, **parameters: Any) -> None:
        refuse_unknown(kind, parameters, known)
        for name in required:
            if parameters.get(name) is None:
                raise ArgumentError(f"{kind.__name__}: {name} is missing; expected {name}=VALUE")
        for name, value in parameters.items():
            parameters[name] = one_of_kind(f"{kind.__name__}: {name}", kinds[name], value)
        construct(self, *values, **parameters)

    kind.__init__ = checking  # type: ignore[assignment, method-assign]
    return kind
