//! Every key of a scenario file, in one table.
//!
//! Reading, defaults, the JSON schema and the help all follow from [`KEYS`]. Those of `[flows.tcp]` are the knobs of
//! `sojourn_tcp`, which are told there.

mod kinds;
mod rows;

pub(crate) use kinds::{Name, Names, Paper, ProfileName, StreamName, Title, word};
pub(crate) use rows::LONGEST_DELAY;

use crate::app::is_of_an_app;
use Preset::{Required, Words};
use rows::{LINK, ROWS};
use sojourn_tcp::knobs::{KNOBS, Knob, knob};
use sojourn_units::Value;
use sojourn_units::param::Kind;
use std::fmt;
use std::sync::LazyLock;

/// A key of a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The table that it stands in, `"flows.access"`; empty at the top of the file.
    pub table: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// What stands where it is left out.
    pub preset: Preset,
    /// The legal range, in words.
    pub rule: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Where that is defined; empty where it is Sojourn's own.
    pub source: &'static str,
    /// The range of a whole number.
    pub(crate) bounds: Option<(i64, i64)>,
    kind: fn() -> Kind,
    /// Reads a value of the key's type; says whether it is in the legal range.
    legal: fn(&Value) -> Result<bool, String>,
}

/// What stands where a key is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preset {
    /// It must be given.
    Required,
    /// This text.
    Text(&'static str),
    /// This whole number.
    Whole(i64),
    /// This number.
    Number(f64),
    /// Two times in a table under this word.
    Times(&'static str, [&'static str; 2]),
    /// Something that follows from other keys, or nothing; in words.
    Words(&'static str),
    /// What the profile of TCP has.
    Profile(&'static Knob),
}

/// All keys of a scenario file, in the order in which they are taught.
pub fn explain() -> &'static [Key] {
    &KEYS
}

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let rows = |table: &'static str| ROWS.iter().filter(move |key| key.table == table).copied();
    let mut keys: Vec<Key> = rows("").collect();
    for (table, role) in DIRECTIONS {
        let link = LINK.iter().map(|key| key.in_direction(table, *role));
        // What a link joins comes before what it is like.
        let (ends, more): (Vec<Key>, Vec<Key>) = rows(table).partition(|key| key.preset == Required);
        keys.extend(ends.into_iter().chain(link).chain(more));
    }
    keys.extend(rows("home"));
    keys.extend(rows("flows"));
    keys.extend(SHORT.iter().filter_map(|name| knob(name)).map(|knob| of_knob("flows", knob)));
    keys.extend(rows("flows.access"));
    keys.extend(KNOBS.iter().map(|knob| of_knob("flows.tcp", knob)));
    keys.extend(["at", "at.set"].into_iter().flat_map(rows));
    keys
});

/// What a table that speaks of one direction of a link makes of the keys that are left out.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// It is where packets queue.
    Congested,
    /// It is any link of a graph.
    Any,
    /// It is the other direction of one.
    Back,
}

/// The tables that speak of one direction of a link, and so have the keys of [`LINK`].
static DIRECTIONS: &[(&str, Role)] = &[
    ("bottleneck", Role::Congested),
    ("bottleneck.back", Role::Back),
    ("parking_lot", Role::Congested),
    ("parking_lot.back", Role::Back),
    ("two_bottlenecks", Role::Congested),
    ("two_bottlenecks.back", Role::Back),
    ("home.up", Role::Congested),
    ("home.down", Role::Congested),
    ("links", Role::Any),
    ("links.back", Role::Back),
];

/// The key of a knob of TCP.
fn of_knob(table: &'static str, knob: &'static Knob) -> Key {
    Key {
        table,
        name: knob.name,
        preset: Preset::Profile(knob),
        rule: knob.rule,
        about: knob.about,
        source: knob.source,
        bounds: knob.bounds,
        kind: knob.kind,
        legal: knob.legal,
    }
}

/// Knobs of TCP that may stand in the group of flows itself: those that people turn most.
pub(crate) const SHORT: &[&str] = &["sack", "timestamps", "initial_window", "delayed_ack", "min_rto"];

impl Key {
    /// The key as it stands in a table that speaks of one direction of a link.
    fn in_direction(self, table: &'static str, role: Role) -> Key {
        let preset = match (role, self.name) {
            (Role::Any, "disc") => {
                Words("none; tail_drop where there is a buffer, which --disc leaves alone")
            }
            (Role::Back, "disc") => Words("none"),
            (Role::Back, "rate" | "delay" | "framing") => Words("as the other direction"),
            _ => self.preset,
        };
        Key { table, preset, ..self }
    }

    /// Its dotted path, `"flows.count"`.
    pub fn path(&self) -> String {
        if self.table.is_empty() { self.name.into() } else { format!("{}.{}", self.table, self.name) }
    }

    /// Whether it is one of those that every direction of a link has.
    pub fn is_of_a_link(&self) -> bool {
        DIRECTIONS.iter().any(|(table, _)| *table == self.table)
            && LINK.iter().any(|key| key.name == self.name)
    }

    /// Whether it is only for the applications that it is told with.
    pub fn is_of_some_apps(&self) -> bool {
        self.table == "flows" && self.name != "segment" && is_of_an_app(self.name)
    }

    /// The key that may stand in its stead, where it must be given.
    pub fn instead(&self) -> Option<&'static str> {
        (self.name == "rate" && self.preset == Required).then_some("trace")
    }

    /// What a value looks like.
    pub fn kind(&self) -> Kind {
        (self.kind)()
    }

    /// What is legal, in words; empty where its kind says it all.
    pub fn range(&self) -> String {
        match self.bounds {
            Some((low, high)) => format!("{low} to {high}"),
            None => self.rule.into(),
        }
    }

    /// Checks a value by itself; the refusal says what is legal.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        let legal = match value {
            Value::Whole(_) if self.bounds.is_some() => (self.legal)(value).unwrap_or(false),
            _ => (self.legal)(value)?,
        };
        if legal { Ok(()) } else { Err(format!("{value} is out of range; legal: {}", self.range())) }
    }

    /// What is said where the key is missing.
    pub(crate) fn missing(&self) -> String {
        let range = self.range();
        let range = if range.is_empty() { range } else { format!(" ({range})") };
        let legal = match self.kind() {
            Kind::Text => format!("text in quotes{range}"),
            Kind::Table => format!("a table [{}]", self.path()),
            Kind::Tables => format!("one or more tables [[{}]]", self.path()),
            kind => format!("a {kind} such as {}{range}", kind.example()),
        };
        format!("is missing; legal: {legal}")
    }
}

impl Preset {
    /// The value that stands in a file's stead; None where it takes more than that.
    pub fn value(&self) -> Option<Value> {
        match self {
            Preset::Required | Preset::Words(_) | Preset::Profile(_) => None,
            Preset::Text(text) => Some(Value::Text((*text).into())),
            Preset::Whole(number) => Some(Value::Whole(*number)),
            Preset::Number(number) => Some(Value::Number(*number)),
            Preset::Times(word, ends) => {
                let ends = ends.iter().map(|end| Value::Text((*end).into())).collect();
                Some(Value::Table(vec![((*word).into(), Value::List(ends))]))
            }
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.value()) {
            (Preset::Words(words), _) => f.write_str(words),
            (Preset::Profile(knob), _) => write!(f, "as the profile: {}", knob.by_profile()),
            (_, Some(value)) => value.fmt(f),
            (_, None) => f.write_str("required"),
        }
    }
}

/// The keys of one table of the file.
pub(crate) fn keys_of(table: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_legal_value() {
        for key in explain() {
            if let Some(value) = key.preset.value() {
                assert_eq!(key.check(&value), Ok(()), "{}", key.path());
            }
        }
    }

    #[test]
    fn every_table_is_a_key_of_another() {
        for key in KEYS.iter().filter(|key| !key.table.is_empty()) {
            let parent = KEYS.iter().find(|parent| parent.path() == key.table).expect(key.table);
            assert!(matches!(parent.kind(), Kind::Table | Kind::Tables), "{}", parent.path());
        }
    }
}
