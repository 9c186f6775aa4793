//! The file as a tree of values, each with its place.

use crate::diagnostics::{Diagnostic, Diagnostics, Place};
use crate::keys::explain;
use crate::overrides;
use crate::source::{Position, Source};
use crate::unclosed::unclosed;
use sojourn_aqm::QdiscSpec;
use sojourn_params::Kind;
use sojourn_params::{InputError, Spec, Value};
use sojourn_tcp::cc::Choice;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) tree: Tree,
}

/// Content of a node.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// Text, a number, true or false.
    Leaf(Value),
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in the order written.
    Table(Vec<(String, Node)>),
    /// TOML that no scenario uses; the reason.
    Bad(String),
}

/// Reads the TOML of the file called `name` and applies the overrides.
///
/// Diagnostics of the text as a whole end it; those of overrides are returned with the tree.
pub(crate) fn parse(
    text: &[u8],
    name: &str,
    overrides: &[(String, String)],
) -> Result<(Node, Vec<Diagnostic>), Diagnostics> {
    let text =
        readable(text).map_err(|(position, message)| Diagnostics::of_file(name, position, &message))?;
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(syntax_errors(name, text, &errors));
    }
    if table.get_ref().is_empty() {
        let message = "the file holds no keys; expected a scenario in TOML, see `sojourn explain scenario`";
        return Err(Diagnostics::of_file(name, START, message));
    }
    let mut root = Node { place: Place::File(0), tree: branch(table.get_ref(), &Place::File) };
    let mut diagnostics = Vec::new();
    for (order, (written, value)) in overrides.iter().enumerate() {
        if let Err(diagnostic) = overrides::lay_over(&mut root, order, written, value) {
            diagnostics.push(diagnostic);
        }
    }
    Ok((root, diagnostics))
}

/// The text of a file; or the position and the reason why it is not text.
pub(crate) fn readable(text: &[u8]) -> Result<&str, (Position, String)> {
    let position = |at: usize| {
        let mut lines = text[..at].rsplit(|byte| *byte == b'\n');
        let column = String::from_utf8_lossy(lines.next().unwrap_or_default()).chars().count() + 1;
        Position { line: lines.count() + 1, column }
    };
    if text.len() > LARGEST {
        return Err((START, format!("the file has {} bytes; expected at most {LARGEST}", text.len())));
    }
    if let Some(at) = text.iter().position(|byte| *byte == 0) {
        return Err((position(at), "holds a NUL byte: a binary file; expected TOML text in UTF-8".into()));
    }
    let utf8 = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        let message =
            format!("byte 0x{:02x} is not UTF-8: a binary file; expected TOML text in UTF-8", text[at]);
        (position(at), message)
    })?;
    Ok(utf8.strip_prefix('\u{feff}').unwrap_or(utf8))
}

/// The first syntax error, since later ones may follow from it; or the first key that is given twice, as the
/// header of a second table may be missing above it.
fn syntax_errors(name: &str, text: &str, errors: &[toml::de::Error]) -> Diagnostics {
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let doubled = |error: &toml::de::Error| error.message() == "duplicate key";
    // After a broken line, keys may seem doubled.
    let Some(first) = errors.iter().filter(|error| !doubled(error)).min_by_key(|error| start(error)) else {
        let diagnostic = errors.iter().min_by_key(|error| start(error)).map(|error| {
            let key = error.span().and_then(|span| text.get(span)).unwrap_or("key");
            let place = Place::File(start(error));
            Diagnostic { place, error: InputError::new(cut(key), "is given twice; expected once") }
        });
        return Diagnostics::of(name, text, diagnostic.into_iter().collect());
    };
    let at = start(first);
    match unclosed(text).filter(|open| open.at <= at) {
        Some(open) => {
            let noticed = if at > open.at { at.min(open.noticed) } else { open.noticed };
            let Position { line, column } = Source::of(text).position(open.at);
            let message = format!(
                "is not TOML: the `{}` opened at line {line}, column {column} is not closed; expected `{}` here or before",
                open.opener, open.closer
            );
            Diagnostics::of_syntax(name, text, &[noticed, open.at], &message)
        }
        None => Diagnostics::of_syntax(
            name,
            text,
            &[at],
            &format!("is not TOML: {}", syntax_error(first, &text[at..])),
        ),
    }
}

/// Message of a syntax error; `rest` is the text from its place on.
pub(crate) fn syntax_error(error: &toml::de::Error, rest: &str) -> String {
    let message = error.message();
    if message.contains("recurs") {
        return "too many brackets stand inside each other; expected 80 at most".into();
    }
    if !message.starts_with("string values must be quoted") && !message.starts_with("invalid boolean") {
        return message.replacen(", expected", "; expected", 1);
    }
    let word = rest.split(['\n', '\r', '#', ',', ']', '}']).next().unwrap_or_default().trim();
    let message =
        if word.is_empty() { "a value is missing".into() } else { format!("{} is not a value", cut(word)) };
    format!("{message}; expected text in quotes, a number, true or false, a list in [ ] or a table in {{ }}")
}

fn branch(table: &DeTable<'_>, place: &dyn Fn(usize) -> Place) -> Tree {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entries = entries.into_iter().map(|(key, value)| {
        let node = Node { place: place(key.span().start), tree: tree(value.get_ref(), place) };
        (cut(key.get_ref()), node)
    });
    Tree::Table(entries.collect())
}

pub(crate) fn tree(value: &DeValue<'_>, place: &dyn Fn(usize) -> Place) -> Tree {
    match value {
        DeValue::String(text) if text.len() > LONGEST_TEXT => {
            Tree::Bad(format!("is a text of {} bytes; expected at most {LONGEST_TEXT}", text.len()))
        }
        DeValue::String(text) => Tree::Leaf(Value::Text(text.to_string())),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(whole) => Tree::Leaf(Value::Whole(whole)),
            Err(_) => Tree::Bad(format!("{number} is too large; expected at most {}", i64::MAX)),
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Tree::Leaf(Value::Number(number)),
            Err(_) => Tree::Bad(format!("{number} is not a number")),
        },
        DeValue::Boolean(flag) => Tree::Leaf(Value::Flag(*flag)),
        DeValue::Datetime(date) => Tree::Bad(format!("{date} is a date, which no key takes")),
        DeValue::Array(items) => Tree::List(
            items
                .iter()
                .map(|item| Node { place: place(item.span().start), tree: tree(item.get_ref(), place) })
                .collect(),
        ),
        DeValue::Table(table) => branch(table, place),
    }
}

/// The key up to the length of the longest key of a scenario: more could only cost time.
pub(crate) fn cut(key: &str) -> String {
    match key.char_indices().nth(LONGEST_KEY) {
        Some((end, _)) => format!("{}...", &key[..end]),
        None => key.into(),
    }
}

impl Node {
    /// The value without the contents of lists and tables; or the reason why it is invalid.
    pub(crate) fn outline(&self) -> Result<Value, String> {
        match &self.tree {
            Tree::List(_) => Ok(Value::List(Vec::new())),
            Tree::Table(_) => Ok(Value::Table(Vec::new())),
            _ => self.value(),
        }
    }

    /// True for an empty list or table.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.tree {
            Tree::List(items) => items.is_empty(),
            Tree::Table(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// The value without its places; or the reason why it is invalid.
    pub(crate) fn value(&self) -> Result<Value, String> {
        match &self.tree {
            Tree::Leaf(value) => Ok(value.clone()),
            Tree::List(items) => items.iter().map(Node::value).collect::<Result<_, _>>().map(Value::List),
            Tree::Table(entries) => {
                let value = |(key, node): &(String, Node)| Ok((key.clone(), node.value()?));
                entries.iter().map(value).collect::<Result<_, _>>().map(Value::Table)
            }
            Tree::Bad(message) => Err(message.clone()),
        }
    }
}

/// Default of a qdisc or a congestion control, into which overrides set parameters.
pub(crate) fn default_spec(name: &str) -> Option<Tree> {
    let key = explain().iter().find(|key| key.name == name)?;
    matches!(key.kind(), Kind::Qdisc | Kind::Control).then(|| key.preset.value().map(Tree::Leaf))?
}

/// The table equivalent to the SPEC of a qdisc or of a congestion control.
pub(crate) fn table_of_spec(spec: &str, place: &Place) -> Option<Tree> {
    let (name, Spec { name: class_name, params }) =
        if let Ok(QdiscSpec { law, params }) = QdiscSpec::parse(spec) {
            ("law", Spec { name: law, params })
        } else if let Ok(Choice::Listed(spec)) = Choice::parse(spec) {
            ("name", spec)
        } else {
            return None;
        };
    let entries = std::iter::once((name.to_string(), Value::Text(class_name))).chain(params);
    let entries = entries.map(|(key, value)| (key, Node { place: place.clone(), tree: Tree::Leaf(value) }));
    Some(Tree::Table(entries.collect()))
}

/// The beginning of a file.
const START: Position = Position { line: 1, column: 1 };
/// Bytes of a scenario file.
const LARGEST: usize = 4 << 20;
/// Bytes of a text.
const LONGEST_TEXT: usize = 4096;
/// Letters of a key.
const LONGEST_KEY: usize = 64;
