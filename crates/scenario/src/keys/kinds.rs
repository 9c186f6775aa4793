//! Kinds of values of files alone: names, words, and tables that are read with their own keys.

use crate::app::App;
use crate::sessions::PRESETS;
use sojourn_params::Value;
use sojourn_params::{Kind, Quantity};
use sojourn_tcp::PROFILES;
use sojourn_units::did_you_mean;

/// A word of a list.
pub(crate) fn word(
    value: &Value,
    message: &str,
    words: &'static [&'static str],
) -> Result<&'static str, String> {
    let Value::Text(text) = value else {
        return Err(format!("{value} is not text; expected {}", words.join(", ")));
    };
    words.iter().find(|word| *word == text).copied().ok_or_else(|| {
        let hint = did_you_mean(text, words.iter().copied());
        format!("\"{text}\" is no known {message}{hint} (expected {})", words.join(", "))
    })
}

/// The name of an application.
pub(crate) struct AppName(pub(crate) &'static str);

impl Quantity for AppName {
    fn kind() -> Kind {
        Kind::Word(App::NAMES)
    }
    fn read(value: &Value) -> Result<AppName, String> {
        word(value, "application", App::NAMES).map(AppName)
    }
    fn write(&self) -> Value {
        Value::Text(self.0.into())
    }
}

/// A title: one line of text.
pub(crate) struct Title(pub(crate) String);

impl Quantity for Title {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<Title, String> {
        let text = String::read(value)?;
        let problem = match text.trim() {
            "" => "is empty",
            line if line.chars().count() > 200 => "is longer than 200 letters",
            line if line.contains(char::is_control) => "is more than one line",
            _ => return Ok(Title(text)),
        };
        Err(format!("{problem}; expected one line, not empty, at most 200 letters"))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

/// Name of a node, a link or a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name(pub(crate) String);

impl Quantity for Name {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<Name, String> {
        let text = String::read(value)?;
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_allowed) {
            return Ok(Name(text));
        }
        Err(format!("{value} is no name; expected {NAME_RULE}"))
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

/// Name of random streams.
pub(crate) struct StreamName(pub(crate) String);

impl Quantity for StreamName {
    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<StreamName, String> {
        let text = String::read(value)?;
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_ ".contains(letter);
        if (1..=LONGEST_STREAM).contains(&text.len()) && text.chars().all(is_allowed) {
            return Ok(StreamName(text));
        }
        Err(format!(
            "{value} is no name of a stream; expected letters, digits, -, _ and spaces, at most {LONGEST_STREAM}"
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

/// Rule of names.
const NAME_RULE: &str = "letters, digits, - and _, at most 32";
/// Letters of a name.
const LONGEST_NAME: usize = 32;

/// Letters of a stream's name: an application, two names and separators.
const LONGEST_STREAM: usize = 120;

/// A value whose kind depends on another key.
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

/// Kinds with keys or a law below them: only the outer shape is checked here.
macro_rules! shapes {
    ($($name:ident: $kind:ident, $pattern:pat, $message:literal;)*) => {$(
        pub(super) struct $name(Value);

        impl Quantity for $name {
            fn kind() -> Kind {
                Kind::$kind
            }
            fn read(value: &Value) -> Result<$name, String> {
                match value {
                    $pattern => Ok($name(value.clone())),
                    _ => Err(format!("is not {}", $message)),
                }
            }
            fn write(&self) -> Value {
                self.0.clone()
            }
        }
    )*};
}

shapes! {
    Section: Table, Value::Table(_), "a table; expected KEY = VALUE lines under a [table], or { KEY = VALUE }";
    Sections: Tables, Value::List(_), "a list of tables; expected [[double brackets]] before each";
    Qdisc: Qdisc, Value::Table(_) | Value::Text(_),
        "a qdisc; write it like { law = \"red\" } or \"red:min=50packets\"";
    Control: Control, Value::Table(_) | Value::Text(_),
        "a congestion control; write it like { name = \"cubic\" } or \"cubic:hystart=false\"";
}
