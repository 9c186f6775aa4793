//! The file as a tree of values, each with its place.

use crate::diagnostics::{Diagnostics, Place, Placed};
use crate::overrides;
use crate::source::{Position, Source};
use crate::unclosed::unclosed;
use sojourn_params::{ErrorKind, Expected, InputError, Path, Step, Value};
use std::fmt;
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
    Bad(InputError),
}

/// Reads the TOML of the file called `name` and applies the overrides.
///
/// Diagnostics of the text as a whole end it; those of overrides are returned with the tree.
pub(crate) fn parse(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
) -> Result<(Node, Vec<Placed>), Diagnostics> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(syntax_errors(name, text, &errors));
    }
    if table.get_ref().is_empty() {
        let expected = "a scenario in TOML, see `sojourn explain scenario`";
        let error = InputError::new(ErrorKind::Syntax, "the file holds no keys", expected);
        return Err(Diagnostics::of_file(name, Position { line: 1, column: 1 }, error));
    }
    let root = Node { place: Place::File(0), tree: branch(table.get_ref(), &Place::File) };
    Ok(overlaid(root, overrides))
}

/// The tree of keys that are no text, with the overrides, and diagnostics of these.
pub(crate) fn of_keys(keys: &Value, overrides: &[(String, String)]) -> (Node, Vec<Placed>) {
    overlaid(grown(keys, &mut 0), overrides)
}

fn overlaid(mut root: Node, overrides: &[(String, String)]) -> (Node, Vec<Placed>) {
    let refused = overrides
        .iter()
        .enumerate()
        .filter_map(|(order, (written, value))| overrides::lay_over(&mut root, order, written, value).err())
        .map(|refused| *refused)
        .collect();
    (root, refused)
}

/// The node of a value that is the `order`-th of its keys.
fn grown(value: &Value, order: &mut usize) -> Node {
    let place = Place::Keys(*order);
    *order += 1;
    let tree = match value {
        Value::Text(text) => text_of(text),
        Value::List(items) => Tree::List(items.iter().map(|item| grown(item, order)).collect()),
        Value::Table(entries) => {
            Tree::Table(entries.iter().map(|(key, value)| (cut(key), grown(value, order))).collect())
        }
        other => Tree::Leaf(other.clone()),
    };
    Node { place, tree }
}

/// The text of the file called `name`.
pub(crate) fn readable<'a>(text: &'a [u8], name: &str) -> Result<&'a str, Diagnostics> {
    let refused = |at: usize, kind: ErrorKind, problem: String, expected: &str| {
        let before = String::from_utf8_lossy(&text[..at]);
        let position = Source::of(&before).position(before.len());
        Diagnostics::of_file(name, position, InputError::new(kind, problem, expected))
    };
    if text.len() > LARGEST {
        let problem = format!("the file has {} bytes", text.len());
        return Err(refused(0, ErrorKind::Range, problem, &format!("at most {LARGEST}")));
    }
    let binary = |at, problem| refused(at, ErrorKind::Syntax, problem, "TOML text in UTF-8");
    if let Some(at) = text.iter().position(|byte| *byte == 0) {
        return Err(binary(at, "holds a NUL byte: a binary file".into()));
    }
    let utf8 = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        binary(at, format!("byte 0x{:02x} is not UTF-8: a binary file", text[at]))
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
        let placed = errors.iter().min_by_key(|error| start(error)).map(|error| {
            let key = error.span().and_then(|span| text.get(span)).unwrap_or("key");
            (Place::File(start(error)), InputError::repeated().at(Path::key(cut(key))))
        });
        return Diagnostics::of(name, text, placed.into_iter().collect());
    };
    let at = start(first);
    if let Some(open) = unclosed(text).filter(|open| open.at <= at) {
        let noticed = if at > open.at { at.min(open.noticed) } else { open.noticed };
        let Position { line, column } = Source::of(text).position(open.at);
        let problem = format!(
            "is not TOML: the `{}` opened at line {line}, column {column} is not closed",
            open.opener
        );
        let expected = format!("`{}` here or before", open.closer);
        let error = InputError::new(ErrorKind::Syntax, problem, expected);
        Diagnostics::of_syntax(name, text, noticed, Some(open.at), error)
    } else {
        let error = syntax_error(first, &text[at..]).after("is not TOML");
        Diagnostics::of_syntax(name, text, at, None, error)
    }
}

/// A syntax error that the parser of TOML found; `rest` is the text from its place on.
pub(crate) fn syntax_error(error: &toml::de::Error, rest: &str) -> InputError {
    let message = error.message();
    let of = |problem: &str, expected: Expected| InputError::new(ErrorKind::Syntax, problem, expected);
    if message.contains("recurs") {
        return of("too many brackets stand inside each other", "80 at most".into());
    }
    if !message.starts_with("string values must be quoted") && !message.starts_with("invalid boolean") {
        return match message.split_once(", expected ") {
            Some((problem, expected)) => of(problem, expected.into()),
            None => of(message, Expected::Unstated),
        };
    }
    let word = rest.split(['\n', '\r', '#', ',', ']', '}']).next().unwrap_or_default().trim();
    let expected = "text in quotes, a number, true or false, a list in [ ] or a table in { }";
    if word.is_empty() {
        return of("a value is missing", expected.into());
    }
    of("is not a value", expected.into()).found(cut(word))
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
        DeValue::String(text) => text_of(text),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            whole.map_or_else(|_| too_large(number), |whole| Tree::Leaf(Value::Whole(whole)))
        }
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => Tree::Leaf(Value::Number(number)),
            Err(_) => Tree::Bad(InputError::of_type(number, "is not a number", Expected::Unstated)),
        },
        DeValue::Boolean(flag) => Tree::Leaf(Value::Flag(*flag)),
        DeValue::Datetime(date) => {
            Tree::Bad(InputError::of_type(date, "is a date, which no key takes", Expected::Unstated))
        }
        DeValue::Array(items) => Tree::List(
            items
                .iter()
                .map(|item| Node { place: place(item.span().start), tree: tree(item.get_ref(), place) })
                .collect(),
        ),
        DeValue::Table(table) => branch(table, place),
    }
}

fn text_of(text: &str) -> Tree {
    if text.len() <= LONGEST_TEXT {
        return Tree::Leaf(Value::Text(text.into()));
    }
    let problem = format!("is a text of {} bytes", text.len());
    Tree::Bad(InputError::new(ErrorKind::Range, problem, format!("at most {LONGEST_TEXT}")))
}

/// The error of an integer of more than 64 bits.
fn too_large(number: &impl fmt::Display) -> Tree {
    let expected = format!("at most {}", i64::MAX);
    Tree::Bad(InputError::new(ErrorKind::Range, "is too large", expected).found(number))
}

/// The key up to the length of the longest key of a scenario: more could only cost time.
pub(crate) fn cut(key: &str) -> String {
    match key.char_indices().nth(LONGEST_KEY) {
        Some((end, _)) => format!("{}...", &key[..end]),
        None => key.into(),
    }
}

impl Node {
    /// The value without its places; the errors of what no scenario takes are added to `errors`.
    pub(crate) fn value(&self, errors: &mut Vec<Placed>) -> Value {
        match &self.tree {
            Tree::Leaf(value) => value.clone(),
            Tree::List(items) => Value::List(
                items.iter().enumerate().map(|(place, item)| item.value_at(&place.into(), errors)).collect(),
            ),
            Tree::Table(entries) => Value::Table(
                entries
                    .iter()
                    .map(|(key, node)| (key.clone(), node.value_at(&Path::key(key), errors)))
                    .collect(),
            ),
            Tree::Bad(error) => {
                errors.push((self.place.clone(), error.clone()));
                Value::Absent
            }
        }
    }

    /// The same of the value at `step`.
    fn value_at(&self, step: &Path, errors: &mut Vec<Placed>) -> Value {
        let before = errors.len();
        let value = self.value(errors);
        for (_, error) in &mut errors[before..] {
            *error = error.clone().at(step);
        }
        value
    }

    /// The node at a path, or the innermost on the way that exists.
    pub(crate) fn at(&self, path: &Path) -> &Node {
        let mut node = self;
        for step in path.steps() {
            let inner = match (&node.tree, step) {
                (Tree::List(items), Step::Place(place)) => items.get(*place),
                (Tree::Table(_), Step::Key(key)) => node.entry(key),
                _ => None,
            };
            let Some(inner) = inner else { break };
            node = inner;
        }
        node
    }

    /// The entry of a table.
    pub(crate) fn entry(&self, name: &str) -> Option<&Node> {
        let Tree::Table(entries) = &self.tree else { return None };
        entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    /// The items of a list under this key.
    pub(crate) fn items(&self, list: &str) -> &[Node] {
        match self.entry(list).map(|node| &node.tree) {
            Some(Tree::List(items)) => items,
            _ => &[],
        }
    }

    /// The text under this key.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.entry(key)?.tree {
            Tree::Leaf(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// Bytes of a scenario file.
const LARGEST: usize = 4 << 20;
/// Bytes of a text.
const LONGEST_TEXT: usize = 4096;
/// Letters of a key.
const LONGEST_KEY: usize = 64;
