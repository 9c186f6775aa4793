//! `python/sojourn/laws.py`: a parameter class for each law of the catalogue.

use sojourn_aqm::catalogue::LAWS;
use sojourn_params::{Field, Kind};
use sojourn_params::{Page, Value};
use std::fmt::Write;

/// Text of the module.
pub(crate) fn module() -> String {
    let mut names: Vec<String> = LAWS.iter().map(|entry| class_name(entry.page.stem)).collect();
    names.sort();
    let listed: String = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
    let mut text = HEAD.replace("@ALL@", &listed);
    for entry in LAWS {
        text += &class(&entry.page);
    }
    text
}

fn class(page: &Page) -> String {
    let fields = (page.fields)();
    let mut text = String::from("\n\n@_checked\n@dataclass(frozen=True, kw_only=True)\n");
    let _ = writeln!(text, "class {}(_Law):", class_name(page.stem));
    let _ = writeln!(text, "    \"\"\"{}.", capitalised(page.summary));
    paragraph(&mut text, "", page.idea);
    if !page.equation.is_empty() {
        paragraph(&mut text, "", &format!("Equation: {}", page.equation));
    }
    paragraph(&mut text, "", &format!("Source: {}.", page.source));
    if !fields.is_empty() {
        text += "\n    None stands for the default.\n";
    }
    for field in &fields {
        paragraph(&mut text, "    ", &described(field));
    }
    text += "    \"\"\"\n\n";
    let _ = writeln!(text, "    stem: ClassVar[str] = \"{}\"", page.stem);
    if !fields.is_empty() {
        text.push('\n');
    }
    for field in &fields {
        let _ = writeln!(text, "    {}: {} | None = None", field.key, type_of(&field.kind));
    }
    text
}

/// Description of one parameter: meaning, kind with an example, range, default, reason.
fn described(field: &Field) -> String {
    let default = match &field.default {
        Value::Absent => "none".into(),
        value => value.to_string(),
    };
    let (kind, range) = (&field.kind, field.range());
    let range = if range.is_empty() { range } else { format!("; {range}") };
    let values = match kind {
        Kind::Flag => kind.to_string(),
        Kind::Word(_) => format!("{kind}{range}"),
        _ => format!("{kind}, such as {}{range}", kind.example()),
    };
    format!("{}: {} ({values}). Default {default}: {}.", field.key, field.about, field.why)
}

fn type_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Number => "float",
        Kind::Whole => "int",
        Kind::Flag => "bool",
        Kind::Wholes => "int | Sequence[int]",
        _ => "str",
    }
}

/// Adds a paragraph of the docstring, after an empty line where it is not indented.
fn paragraph(text: &mut String, indent: &str, words: &str) {
    if indent.is_empty() {
        text.push('\n');
    }
    let mut line = format!("    {indent}");
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(text, "{line}");
            let hang = if indent.is_empty() { "" } else { "    " };
            line = format!("    {indent}{hang}");
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    let _ = writeln!(text, "{line}");
}

/// `tail_drop` -> `TailDrop`.
fn class_name(stem: &str) -> String {
    stem.split('_').map(capitalised).collect()
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Longest line, columns.
const WIDTH: usize = 100;

const HEAD: &str = r#""""The parameters of the queue laws, one class each.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the law's file, not this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, ClassVar, TypeVar

from sojourn.errors import refuse_unknown
from sojourn.kinds import one_of_kind, setting

__all__ = [
@ALL@]


@dataclass(frozen=True, kw_only=True)
class _Law:
    """Common part of the classes."""

    stem: ClassVar[str]

    def spec(self) -> str:
        """SPEC of the law for the command line, with the parameters that have a value.

        >>> import sojourn as sj
        >>> sj.laws.Pi(target="100 packets").spec()
        'pi:target=100 packets'
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        given = [f"{name}={_written(value)}" for name, value in values if value is not None]
        return f"{self.stem}:{','.join(given)}" if given else self.stem


_Kind = TypeVar("_Kind", bound=type[_Law])


def _checked(kind: _Kind) -> _Kind:
    """Make the constructor reject unknown parameters, naming the known ones, and values of a wrong kind."""
    construct: Any = kind.__init__
    known = [field.name for field in fields(kind)]

    @wraps(construct)
    def checked(self: _Law, *values: Any, **parameters: Any) -> None:
        refuse_unknown(kind, parameters, known)
        for name, value in parameters.items():
            parameters[name] = one_of_kind(f"{kind.__name__}: {name}", setting, value)
        construct(self, *values, **parameters)

    kind.__init__ = checked  # type: ignore[assignment, method-assign]
    return kind


def _written(value: str | float | bool | Sequence[int]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_has_a_class_and_every_parameter_a_line() {
        let module = module();
        for entry in LAWS {
            assert!(module.contains(&format!("class {}(_Law):", class_name(entry.page.stem))));
            for field in (entry.page.fields)() {
                assert!(module.contains(&format!("    {}: ", field.key)), "{}", field.key);
            }
        }
        assert!(module.lines().all(|line| line.len() <= 110));
    }

    #[test]
    fn stems_become_class_names() {
        assert_eq!(class_name("tail_drop"), "TailDrop");
        assert_eq!(class_name("pi"), "Pi");
    }
}
