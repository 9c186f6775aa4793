//! Texts of a file with rules of their own: titles and names.

use sojourn_params::{ErrorKind, Errors, Expected, InputError, Kind, Quantity, Value, word};
use sojourn_tcp::PROFILES;

/// A title: one line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Title(pub(crate) String);

/// Name of a node, a link or a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Name(pub(crate) String);

/// Name of random streams.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamName(pub(crate) String);

/// Names of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Names(pub(crate) Vec<String>);

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

impl Quantity for Name {
    const RULE: &'static str = "letters, digits, - and _, at most 32";

    fn kind() -> Kind {
        Kind::Name
    }
    fn read(value: &Value) -> Result<Name, Errors> {
        let text = String::read(value)?;
        if is_made_of(&text, "-_", LONGEST_NAME) {
            return Ok(Name(text));
        }
        Err(InputError::new(ErrorKind::Range, "is no name", Name::RULE).found(value).into())
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

impl Quantity for StreamName {
    const RULE: &'static str = "letters, digits, -, _ and spaces, at most 120";

    fn kind() -> Kind {
        Kind::Text
    }
    fn read(value: &Value) -> Result<StreamName, Errors> {
        let text = String::read(value)?;
        if is_made_of(&text, "-_ ", LONGEST_STREAM) {
            return Ok(StreamName(text));
        }
        Err(InputError::new(ErrorKind::Range, "is no name of a stream", StreamName::RULE).found(value).into())
    }
    fn write(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

impl Quantity for Names {
    fn kind() -> Kind {
        Kind::List(&Kind::Name)
    }
    fn read(value: &Value) -> Result<Names, Errors> {
        let Value::List(items) = value else {
            let expected = Expected::Like(Names::kind().example().into());
            return Err(InputError::of_type(value, "is not a list of names", expected).into());
        };
        items.iter().map(|item| Name::read(item).map(|Name(name)| name)).collect::<Result<_, _>>().map(Names)
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(|name| Value::Text(name.clone())).collect())
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

fn is_made_of(text: &str, others: &str, longest: usize) -> bool {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || others.contains(letter);
    (1..=longest).contains(&text.len()) && text.chars().all(is_allowed)
}

/// Letters of a name.
const LONGEST_NAME: usize = 32;
/// Letters of a stream's name: an application, two names and separators.
const LONGEST_STREAM: usize = 120;
