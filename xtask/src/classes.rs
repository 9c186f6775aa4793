//! A Python class for each entry of a catalogue: `laws.py`, `qdiscs.py`, `ccs.py`, `apps.py` and `links.py` in
//! `python/sojourn/`.

use sojourn_aqm::catalogue::{LAW_CATALOGUE, QDISCS};
use sojourn_params::{Field, Kind, Page, Value, forms_of_words};
use sojourn_scenario::apps::APPS;
use sojourn_scenario::links::LINK_MODELS;
use sojourn_tcp::catalogue::CC_CATALOGUE;
use std::fmt::Write;

/// A module of the classes of a catalogue.
pub(crate) struct Module {
    /// Its file.
    pub path: &'static str,
    /// First sentence of its docstring.
    about: &'static str,
    /// Base of the classes, in `entries.py`.
    base: &'static str,
    pages: fn() -> Vec<Page>,
}

pub(crate) static MODULES: [Module; 5] = [
    Module {
        path: "python/sojourn/laws.py",
        about: "The parameters of the queue laws, one class each",
        base: "Entry",
        pages: LAW_CATALOGUE.pages,
    },
    Module {
        path: "python/sojourn/qdiscs.py",
        about: "The parameters of the qdiscs of several queues, one class each",
        base: "QdiscEntry",
        pages: || QDISCS.iter().map(|entry| entry.page).collect(),
    },
    Module {
        path: "python/sojourn/ccs.py",
        about: "The parameters of the congestion controls, one class each",
        base: "Entry",
        pages: CC_CATALOGUE.pages,
    },
    Module {
        path: "python/sojourn/apps.py",
        about: "The parameters of the applications, one class each",
        base: "Entry",
        pages: APPS.pages,
    },
    Module {
        path: "python/sojourn/links.py",
        about: "The parameters of the models of a link's schedule, one class each",
        base: "Entry",
        pages: LINK_MODELS.pages,
    },
];

impl Module {
    /// Its text.
    pub(crate) fn text(&self) -> String {
        let pages = (self.pages)();
        let classes: String = pages.iter().map(|page| class(page, self.base)).collect();
        let mut names: Vec<String> = pages.iter().map(|page| class_name(page.stem)).collect();
        names.sort();
        let listed: String = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
        let used = |names: &[&'static str]| -> Vec<&str> {
            let is_used = |name: &&&str| classes.contains(&format!("{name}["));
            names.iter().filter(is_used).copied().collect()
        };
        let (abstracts, typing) = (used(&["Mapping", "Sequence"]), used(&["Any", "ClassVar"]).join(", "));
        let any = if abstracts.contains(&"Mapping") { "Any, " } else { "" };
        let abstracts = match abstracts.as_slice() {
            [] => String::new(),
            names => format!("from collections.abc import {}\n", names.join(", ")),
        };
        let inner = if classes.contains("| Inner") { ["Inner"].as_slice() } else { &[] };
        let mut entries = [&[self.base], inner].concat();
        entries.sort_unstable();
        HEAD.replace("@ABOUT@", self.about)
            .replace("@ENTRIES@", &format!("{}, checked", entries.join(", ")))
            .replace("@ABSTRACTS@", &abstracts)
            .replace("@TYPING@", &format!("{any}{typing}"))
            .replace("@ALL@", &listed)
            + &classes
    }
}

fn class(page: &Page, base: &str) -> String {
    let fields = (page.fields)();
    let mut text = String::from("\n\n@checked\n@dataclass(frozen=True, kw_only=True)\n");
    let _ = writeln!(text, "class {}({base}):", class_name(page.stem));
    let _ = writeln!(text, "    \"\"\"{}.", capitalised(page.summary));
    paragraph(&mut text, "", page.idea);
    if !page.equation.is_empty() {
        paragraph(&mut text, "", &format!("Equation: {}", page.equation));
    }
    paragraph(&mut text, "", &format!("Source: {}.", page.source));
    if fields.iter().any(|field| !field.is_required) {
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
        let default = if field.is_required { "" } else { " | None = None" };
        let _ = writeln!(text, "    {}: {}{default}", field.key, type_of(&field.kind));
    }
    text
}

/// Description of one parameter: meaning, kind with an example, range, default, reason.
fn described(field: &Field) -> String {
    let default = match &field.default {
        _ if field.is_required => "Required".into(),
        Value::Absent => format!("Default none: {}", field.why),
        value => format!("Default {value}: {}", field.why),
    };
    let (kind, range) = (&field.kind, field.range());
    let mut values = match kind {
        Kind::Flag => kind.to_string(),
        Kind::Word(words) => words.join(", "),
        Kind::WordOrFlag(words) => forms_of_words(words).join(", "),
        _ => format!("{kind}, such as {}", kind.example()),
    };
    if !range.is_empty() {
        values += &format!("; {range}");
    }
    format!("{}: {} ({values}). {default}.", field.key, field.about)
}

fn type_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Number => "float",
        Kind::NumberOr(_) => "float | str",
        Kind::Whole => "int",
        Kind::Packets => "int | str",
        Kind::Flag => "bool",
        Kind::Wholes => "int | Sequence[int]",
        Kind::List(_) => "Sequence[str]",
        Kind::WordOrFlag(_) => "str | bool",
        Kind::Entry(_) => "str | Mapping[str, Any] | Inner",
        Kind::Times(_) | Kind::TimeDraw | Kind::SizeDraw | Kind::Form(_) => "str | Mapping[str, Any]",
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

const HEAD: &str = r#""""@ABOUT@.

Generated from the catalogue by `cargo run -p xtask -- generate`: change the entry's file, not this one.
"""

from __future__ import annotations

@ABSTRACTS@from dataclasses import dataclass
from typing import @TYPING@

from sojourn.entries import @ENTRIES@

__all__ = [
@ALL@]
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_class_and_every_parameter_a_line() {
        for module in &MODULES {
            let text = module.text();
            for page in (module.pages)() {
                assert!(text.contains(&format!("class {}({}):", class_name(page.stem), module.base)));
                for field in (page.fields)() {
                    assert!(text.contains(&format!("    {}: ", field.key)), "{}", field.key);
                }
            }
            assert!(text.lines().all(|line| line.len() <= 110), "{}", module.path);
        }
    }

    #[test]
    fn stems_become_class_names() {
        assert_eq!(class_name("tail_drop"), "TailDrop");
        assert_eq!(class_name("pi"), "Pi");
    }
}
