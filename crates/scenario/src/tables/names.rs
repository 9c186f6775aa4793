//! Texts of a file with rules of their own: titles and names.

use sojourn_params::{ErrorKind, Errors, InputError, Kind, Quantity, Value, word};
use sojourn_tcp::PROFILES;
use std::collections::{BTreeMap, BTreeSet};

/// A title: one line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Title(pub(crate) String);

/// The name of a profile of TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileName(pub(crate) &'static str);

impl Quantity for Title {
    const RULE: &'static str = "one line, not empty, at most 200 letters";

    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<Title, Errors> {
        let text = String::read(value)?;
        let problem = match text.trim() {
            "" => "is empty",
            line if line.chars().count() > 200 => "is longer than 200 letters",
            line if line.contains(char::is_control) => "is more than one line",
            _ => return Ok(Title(text)),
        };
        Err(InputError::new(ErrorKind::Range, problem, Title::RULE).into())
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

impl Quantity for ProfileName {
    fn kind() -> Kind {
        Kind::Word(PROFILES)
    }
    fn read(value: &Value) -> Result<ProfileName, Errors> {
        Ok(ProfileName(PROFILES[word(value, PROFILES, "is no known profile")?]))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.into())
    }
}

/// Names of nodes, links and classes, in words.
pub(super) const NAMES: &str = "letters, digits, - and _, at most 32";
/// Names of random streams, in words: long enough for an application and two nodes.
pub(super) const STREAMS: &str = "letters, digits, -, _ and spaces, at most 120";

/// True for [`NAMES`].
pub(super) fn is_name(text: &str) -> bool {
    is_made_of(text, "-_", 32)
}

/// True for [`STREAMS`].
pub(super) fn is_stream(text: &str) -> bool {
    is_made_of(text, "-_ ", 120)
}

fn is_made_of(text: &str, others: &str, longest: usize) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    (1..=longest).contains(&text.len()) && text.chars().all(is_allowed)
}

/// Names of classes, of whose groups each has a name or none, and an application: the name, or that of the application,
/// numbered where it is taken.
pub(crate) fn class_names(groups: &[(Option<&str>, &str)]) -> Vec<String> {
    let mut taken: BTreeSet<String> = groups.iter().filter_map(|(name, _)| name.map(String::from)).collect();
    let mut numbers = BTreeMap::new();
    let mut usual = |app: &str| numbered(app, "", &mut numbers, |name| taken.insert(name.into()));
    groups.iter().map(|(name, app)| name.map_or_else(|| usual(app), String::from)).collect()
}

/// The first of STEM, STEM2, STEM3 ... that `takes` accepts; `numbers` has the last number of each stem.
pub(crate) fn numbered(
    stem: &str,
    between: &str,
    numbers: &mut BTreeMap<String, u32>,
    mut takes: impl FnMut(&str) -> bool,
) -> String {
    let number = numbers.entry(stem.into()).or_default();
    loop {
        *number += 1;
        let name = if *number == 1 { stem.into() } else { format!("{stem}{between}{number}") };
        if takes(&name) {
            return name;
        }
    }
}
