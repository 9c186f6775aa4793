//! The tables of a file: reads sections by the table of keys and collects errors.

use super::strays::{flatten, has_key, inner_table, stray as stray_key};
use crate::diagnostics::{Diagnostic, MOST_LINES, Place};
use crate::keys::{Key, Preset, keys_of};
use crate::tree::{Node, Tree};
use sojourn_params::{InputError, Value, draws};
use sojourn_params::{Kind, Quantity};
use sojourn_units::{LinkRate, Rate, Span, nearest};
use std::rc::Rc;

/// Reads a file beside the scenario by its name, or returns the reason why it cannot.
pub type Files = Rc<dyn Fn(&str) -> Result<Vec<u8>, String>>;

/// Collects errors while it reads. A method that returns None has reported why.
pub(super) struct Reader {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) files: Files,
    /// The end of the run, where that is known.
    pub(super) end: Option<Span>,
    /// The top-level table whose keys are present without its header.
    pub(super) lost: Option<&'static Key>,
}

/// A table of the file: the keys that it has and that exist.
pub(super) struct Section<'a> {
    /// Its name in the table of keys.
    pub(super) table: &'static str,
    /// Its dotted path in the file.
    pub(super) path: String,
    pub(super) place: Place,
    pub(super) given: Vec<Entry<'a>>,
    /// Keys present under another name, or without the header of their table.
    pub(super) meant: Vec<&'static str>,
}

/// A key of the file, with its value where that is valid by itself.
pub(super) struct Entry<'a> {
    pub(super) key: &'static Key,
    pub(super) node: &'a Node,
    pub(super) value: Option<Value>,
}

impl Reader {
    /// A time below the duration.
    pub(super) fn within_run(
        &mut self,
        section: &Section<'_>,
        name: &'static str,
        duration: Option<Span>,
    ) -> Option<Span> {
        let (time, duration) = (section.get::<Span>(name)?, duration?);
        if time < duration {
            return Some(time);
        }
        let message =
            format!("{time} is not below the duration of {duration}; expected less than the duration");
        self.refuse(section, name, &message);
        None
    }

    /// A rate in bit/s, where packets are of `packet` bytes.
    pub(super) fn rate(
        &mut self,
        section: &Section<'_>,
        name: &'static str,
        packet: f64,
        fastest: f64,
    ) -> Option<Rate> {
        let given = section.get::<LinkRate>(name)?;
        let rate = given.bits(packet);
        if (SLOWEST..=fastest).contains(&rate.bits_per_second()) {
            return Some(rate);
        }
        let most = Rate::from_bits_per_second(fastest);
        let message = format!("{given} is out of range; expected {SLOWEST} bit/s to {most}");
        self.refuse(section, name, &message);
        None
    }

    /// The name and the parameters of a table such as `{ law = "red", KEY = VALUE }`.
    pub(super) fn named_table(
        &mut self,
        node: &Node,
        path: &str,
        (name, message, example): (&str, &str, &str),
        entries: &[(String, Node)],
    ) -> Result<(String, Vec<(String, Value)>), InputError> {
        let mut named = None;
        let mut params = Vec::new();
        for (key, child) in entries {
            match child.value() {
                Ok(value) if key == name => named = Some(String::read(&value)),
                Ok(value) => params.push((key.clone(), value)),
                Err(message) => self.inner_error(node, path, &InputError::new(key, message)),
            }
        }
        let missing =
            || format!("is missing; expected the name of a {message}, as in {{ {name} = \"{example}\" }}");
        let named =
            named.unwrap_or_else(|| Err(missing())).map_err(|message| InputError::new(name, message))?;
        Ok((named, params))
    }

    /// Reports an error inside the value at `path`: at the line of its key, or of the whole value without one.
    pub(super) fn inner_error(&mut self, node: &Node, path: &str, error: &InputError) {
        let own = match &node.tree {
            Tree::Table(entries) => entries.iter().find(|(key, _)| *key == error.key),
            _ => None,
        };
        let place = own.map_or(&node.place, |(_, child)| &child.place);
        let key = if error.key.is_empty() { path.into() } else { format!("{path}.{}", error.key) };
        self.report(place, &key, &error.message);
    }

    /// The tables of a list.
    pub(super) fn list<'a>(&mut self, table: &'static str, node: &'a Node) -> Vec<Section<'a>> {
        let Tree::List(items) = &node.tree else { return Vec::new() };
        let path = |place: usize| format!("{table}[{place}]");
        items.iter().enumerate().filter_map(|(place, item)| self.section(table, &path(place), item)).collect()
    }

    /// Reads one table; reports unknown keys, missing keys and invalid values.
    pub(super) fn section<'a>(
        &mut self,
        table: &'static str,
        path: &str,
        node: &'a Node,
    ) -> Option<Section<'a>> {
        let place = node.place.clone();
        let mut section = Section { table, path: path.into(), place, given: Vec::new(), meant: Vec::new() };
        section.meant.extend(self.lost.filter(|lost| lost.table == table).map(|lost| lost.name));
        let Tree::Table(entries) = &node.tree else {
            self.report(&node.place, path, "is not a table; expected KEY = VALUE lines, or { KEY = VALUE }");
            return None;
        };
        let mut flat = Vec::new();
        flatten(entries, table, "", &mut flat);
        let mut has_strays = false;
        for (name, child) in flat {
            let message = match keys_of(table).find(|key| key.name == name) {
                // Keys after one below a missing header are below it, too.
                None if self.is_full() || has_strays => continue,
                None => {
                    let stray = self.table_of_stray(&section, &name, child, entries);
                    has_strays = stray.is_some();
                    section.meant.extend(stray.map(|table| table.name));
                    section.meant.extend(nearest(&name, keys_of(table).map(|key| key.name)));
                    stray.map_or_else(|| unknown(&name, table), stray_key)
                }
                Some(key) if section.given(key.name) => "is given twice; expected once".into(),
                Some(key) => {
                    // Values with keys of their own are read later.
                    let nested =
                        matches!(key.kind(), Kind::Table | Kind::Tables | Kind::Qdisc | Kind::Control);
                    let whole = || child.value().and_then(|value| self.beside(&key.kind(), value));
                    let read = if nested { child.outline() } else { whole() };
                    let value = read.and_then(|value| key.check(&value).map(|()| value));
                    let (value, wrong) =
                        value.map_or_else(|message| (None, message), |value| (Some(value), String::new()));
                    section.given.push(Entry { key, node: child, value });
                    wrong
                }
            };
            if !message.is_empty() {
                self.report(&child.place, &section.path_of(&name), &message);
            }
        }
        let is_there = |key: &Key| {
            let is_there = |name: &str| section.given(name) || section.meant.contains(&name);
            is_there(key.name) || key.instead().is_some_and(is_there)
        };
        for key in keys_of(table).filter(|key| key.preset == Preset::Required && !is_there(key)) {
            self.report(&node.place, &section.path_of(key.name), &key.missing());
        }
        Some(section)
    }

    /// The table that an unknown key belongs to, where only the header of that is missing.
    fn table_of_stray(
        &self,
        section: &Section<'_>,
        name: &str,
        node: &Node,
        entries: &[(String, Node)],
    ) -> Option<&'static Key> {
        let in_file = matches!(node.place, Place::File(_));
        let lost = self.lost.filter(|lost| has_key(lost, name));
        let given = |name: &str| entries.iter().any(|(key, _)| key == name);
        lost.or_else(|| inner_table(section.table, name, given)).filter(|_| in_file)
    }

    /// A distribution whose table is in a file of its own, with the table.
    fn beside(&self, kind: &Kind, value: Value) -> Result<Value, String> {
        match &value {
            Value::Table(entries) if matches!(kind, Kind::TimeDraw | Kind::SizeDraw) => match &entries[..] {
                [(key, Value::Text(name))] if key == "file" => {
                    let text = (self.files)(name)?;
                    draws::table_of(&text).map_err(|message| format!("{name}, {message}"))
                }
                _ => Ok(value),
            },
            _ => Ok(value),
        }
    }

    /// Reports a valid value that does not fit the rest of the file.
    pub(super) fn refuse(&mut self, section: &Section<'_>, name: &str, message: &str) {
        let place = section.node(name).map_or(&section.place, |node| &node.place);
        self.report(place, &section.path_of(name), message);
    }

    pub(super) fn report(&mut self, place: &Place, key: &str, message: &str) {
        if !self.is_full() {
            self.diagnostics.push(Diagnostic { place: place.clone(), error: InputError::new(key, message) });
        }
    }

    /// Further errors would not be listed.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.len() > MOST_LINES
    }
}

impl<'a> Section<'a> {
    /// The value of a key, or its default; None where there is neither, or the value is invalid.
    pub(super) fn get<T: Quantity>(&self, name: &str) -> Option<T> {
        let value = match self.given.iter().find(|entry| entry.key.name == name) {
            Some(entry) => entry.value.clone()?,
            None => keys_of(self.table).find(|key| key.name == name)?.preset.value()?,
        };
        T::read(&value).ok()
    }

    /// True where the file has the key, valid or not.
    pub(super) fn given(&self, name: &str) -> bool {
        self.given.iter().any(|entry| entry.key.name == name)
    }

    /// Node of a key whose value is valid by itself.
    pub(super) fn node(&self, name: &str) -> Option<&'a Node> {
        let entry = self.given.iter().find(|entry| entry.key.name == name)?;
        entry.value.is_some().then_some(entry.node)
    }

    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }
}

fn unknown(name: &str, table: &str) -> String {
    let names: Vec<&str> = keys_of(table).map(|key| key.name).collect();
    InputError::unknown(name, &names).message
}

/// Flows of all groups, and of one.
pub(super) const MOST_FLOWS: u64 = 1_000_000;
/// The slowest link, bit/s.
pub(super) const SLOWEST: f64 = 1.0;
/// The fastest bottleneck, bit/s: the smallest segment still takes a nanosecond.
pub(super) const FASTEST: f64 = 1e12;
/// The fastest access link, bit/s.
pub(super) const FASTEST_ACCESS: f64 = 1e13;
