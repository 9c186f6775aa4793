//! Kinds of values that only files have: names, words, and tables that are read with their own keys.

use crate::sessions::PRESETS;
use sojourn_tcp::PROFILES;
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Value, did_you_mean};

/// A word of a list.
pub(crate) fn word(
    value: &Value,
    what: &str,
    legal: &'static [&'static str],
) -> Result<&'static str, String> {
    let Value::Text(text) = value else {
        return Err(format!("{value} is not text; legal: {}", legal.join(", ")));
    };
    legal.iter().find(|word| *word == text).copied().ok_or_else(|| {
        let hint = did_you_mean(text, legal.iter().copied());
        format!("\"{text}\" is no known {what}{hint} (legal: {})", legal.join(", "))
    })
}

/// A line of text that can stand as a heading.
pub(crate) struct Title(pub(crate) String);

impl Quantity for Title {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<Title, String> {
        let text = String::read(value)?;
        let said = match text.trim() {
            "" => "is empty",
            line if line.chars().count() > 200 => "is longer than 200 letters",
            line if line.contains(char::is_control) => "is more than one line",
            _ => return Ok(Title(text)),
        };
        Err(format!("{said}; legal: one line, not empty, at most 200 letters"))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

/// What a node, a link or a class may be called.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name(pub(crate) String);

impl Quantity for Name {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<Name, String> {
        let text = String::read(value)?;
        let legal = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(legal) {
            return Ok(Name(text));
        }
        Err(format!("{value} is no name; legal: {NAME_RULE}"))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

/// What random streams may go by.
pub(crate) struct StreamName(pub(crate) String);

impl Quantity for StreamName {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<StreamName, String> {
        let text = String::read(value)?;
        let legal = |letter: char| letter.is_ascii_alphanumeric() || "-_ ".contains(letter);
        if (1..=LONGEST_STREAM).contains(&text.len()) && text.chars().all(legal) {
            return Ok(StreamName(text));
        }
        Err(format!(
            "{value} is no name of a stream; legal: letters, digits, -, _ and spaces, at most {LONGEST_STREAM}"
        ))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

/// Names of nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl Quantity for Names {
    fn kind() -> Kind {
        Kind::Names
    }
    fn read(value: &Value) -> Result<Names, String> {
        match value {
            Value::List(items) => items
                .iter()
                .map(|item| Name::read(item).map(|Name(name)| name))
                .collect::<Result<_, _>>()
                .map(Names),
            other => Err(format!("{other} is not a list of names; write it like {}", Kind::Names.example())),
        }
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(|name| Value::Text(name.clone())).collect())
    }
}

/// What is legal as a name.
const NAME_RULE: &str = "letters, digits, - and _, at most 32";
/// Letters of a name.
const LONGEST_NAME: usize = 32;

/// Letters of a stream's: an application, two names and what is between and behind them.
const LONGEST_STREAM: usize = 120;

/// A value of a kind that another key decides.
pub(super) struct Anything(Value);

impl Quantity for Anything {
    fn kind() -> Kind {
        Kind::Any
    }
    fn read(value: &Value) -> Result<Anything, String> {
        Ok(Anything(value.clone()))
    }
    fn write(&self) -> Value {
        self.0.clone()
    }
}

/// The name of a paper whose mice are known.
pub(crate) struct Paper(pub(crate) &'static str);

impl Quantity for Paper {
    fn kind() -> Kind {
        Kind::Word(PRESETS)
    }
    fn read(value: &Value) -> Result<Paper, String> {
        word(value, "preset", PRESETS).map(Paper)
    }
    fn write(&self) -> Value {
        Value::Text(self.0.into())
    }
}

/// The name of a profile of TCP.
pub(crate) struct ProfileName(pub(crate) &'static str);

impl Quantity for ProfileName {
    fn kind() -> Kind {
        Kind::Word(PROFILES)
    }
    fn read(value: &Value) -> Result<ProfileName, String> {
        word(value, "profile", PROFILES).map(ProfileName)
    }
    fn write(&self) -> Value {
        Value::Text(self.0.into())
    }
}

/// Kinds that have keys or a law of their own below them: here only the outer shape is checked.
macro_rules! shapes {
    ($($name:ident: $kind:ident, $pattern:pat, $what:literal;)*) => {$(
        pub(super) struct $name(Value);

        impl Quantity for $name {
            fn kind() -> Kind {
                Kind::$kind
            }
            fn read(value: &Value) -> Result<$name, String> {
                match value {
                    $pattern => Ok($name(value.clone())),
                    _ => Err(format!("is not {}", $what)),
                }
            }
            fn write(&self) -> Value {
                self.0.clone()
            }
        }
    )*};
}

shapes! {
    Section: Table, Value::Table(_), "a table; legal: KEY = VALUE lines under a [table], or { KEY = VALUE }";
    Sections: Tables, Value::List(_), "a list of tables; legal: [[double brackets]] before each";
    Disc: Disc, Value::Table(_) | Value::Text(_),
        "a disc; write it like { law = \"red\" } or \"red:min=50packets\"";
    Control: Control, Value::Table(_) | Value::Text(_),
        "a congestion control; write it like { name = \"cubic\" } or \"cubic:hystart=false\"";
}
