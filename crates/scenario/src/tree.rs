//! The file as a tree of values, each with the place where it was written.

use crate::disc::DiscSpec;
use crate::explain;
use crate::faults::{Faults, Flaw, Place};
use crate::source::{Position, Source};
use crate::unclosed::unclosed;
use sojourn_tcp::cc::Choice;
use sojourn_units::param::Kind;
use sojourn_units::{Fault, Spec, Value};
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) tree: Tree,
}

/// What a value is made of.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// Text, a number, true or false.
    Leaf(Value),
    /// A list.
    List(Vec<Node>),
    /// Keys with values, in the order written.
    Table(Vec<(String, Node)>),
    /// TOML that no scenario has a use for; why.
    Bad(String),
}

/// One step of a dotted key.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Reads the TOML of the file called `name` and lays the overrides over it.
///
/// Faults of the text as a whole end it; those of overrides are handed on with the tree.
pub(crate) fn grow(
    text: &[u8],
    name: &str,
    overrides: &[(String, String)],
) -> Result<(Node, Vec<Flaw>), Faults> {
    let text = readable(text).map_err(|(position, what)| Faults::of_file(name, position, &what))?;
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(syntax_faults(name, text, &errors));
    }
    if table.get_ref().is_empty() {
        let what = "the file holds no keys; legal: a scenario in TOML, see `sojourn explain scenario`";
        return Err(Faults::of_file(name, START, what));
    }
    let mut root = Node { place: Place::File(0), tree: branch(table.get_ref(), &Place::File) };
    let mut flaws = Vec::new();
    for (order, (written, value)) in overrides.iter().enumerate() {
        if let Err(flaw) = lay_over(&mut root, order, written, value) {
            flaws.push(flaw);
        }
    }
    Ok((root, flaws))
}

/// The text of a file; or the position in it and why it is none.
pub(crate) fn readable(text: &[u8]) -> Result<&str, (Position, String)> {
    let position = |at: usize| {
        let mut lines = text[..at].rsplit(|byte| *byte == b'\n');
        let column = String::from_utf8_lossy(lines.next().unwrap_or_default()).chars().count() + 1;
        Position { line: lines.count() + 1, column }
    };
    if text.len() > LARGEST {
        return Err((START, format!("the file has {} bytes; legal: at most {LARGEST}", text.len())));
    }
    if let Some(at) = text.iter().position(|byte| *byte == 0) {
        return Err((position(at), "holds a NUL byte: a binary file; legal: TOML text in UTF-8".into()));
    }
    let utf8 = std::str::from_utf8(text).map_err(|error| {
        let at = error.valid_up_to();
        let what = format!("byte 0x{:02x} is not UTF-8: a binary file; legal: TOML text in UTF-8", text[at]);
        (position(at), what)
    })?;
    Ok(utf8.strip_prefix('\u{feff}').unwrap_or(utf8))
}

/// The first fault of the syntax, as what follows may come of it; or the first key that is given twice, as the
/// header of a second table may be missing above it.
fn syntax_faults(name: &str, text: &str, errors: &[toml::de::Error]) -> Faults {
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let doubled = |error: &toml::de::Error| error.message() == "duplicate key";
    // Where a line is broken, keys after it may seem doubled.
    let Some(first) = errors.iter().filter(|error| !doubled(error)).min_by_key(|error| start(error)) else {
        let flaw = errors.iter().min_by_key(|error| start(error)).map(|error| {
            let key = error.span().and_then(|span| text.get(span)).unwrap_or("key");
            let fault = Fault::new(cut(key), "is given twice; legal: each key once");
            Flaw { place: Place::File(start(error)), fault }
        });
        return Faults::of(name, text, flaw.into_iter().collect());
    };
    let at = start(first);
    match unclosed(text).filter(|open| open.at <= at) {
        Some(open) => {
            let noticed = if at > open.at { at.min(open.noticed) } else { open.noticed };
            let Position { line, column } = Source::of(text).position(open.at);
            let what = format!(
                "is not TOML: the `{}` opened at line {line}, column {column} is not closed; expected `{}` here or before",
                open.opener, open.closer
            );
            Faults::of_syntax(name, text, &[noticed, open.at], &what)
        }
        None => Faults::of_syntax(
            name,
            text,
            &[at],
            &format!("is not TOML: {}", syntax_fault(first, &text[at..])),
        ),
    }
}

/// What the parser refuses, where `rest` is the text from there on.
fn syntax_fault(error: &toml::de::Error, rest: &str) -> String {
    let message = error.message();
    if message.contains("recurs") {
        return "too many brackets stand inside each other; expected 80 at most".into();
    }
    if !message.starts_with("string values must be quoted") && !message.starts_with("invalid boolean") {
        return message.replacen(", expected", "; expected", 1);
    }
    let word = rest.split(['\n', '\r', '#', ',', ']', '}']).next().unwrap_or_default().trim();
    let what =
        if word.is_empty() { "a value is missing".into() } else { format!("{} is not a value", cut(word)) };
    format!("{what}; expected text in quotes, a number, true or false, a list in [ ] or a table in {{ }}")
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

fn tree(value: &DeValue<'_>, place: &dyn Fn(usize) -> Place) -> Tree {
    match value {
        DeValue::String(text) if text.len() > LONGEST_TEXT => {
            Tree::Bad(format!("is a text of {} bytes; legal: at most {LONGEST_TEXT}", text.len()))
        }
        DeValue::String(text) => Tree::Leaf(Value::Text(text.to_string())),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(whole) => Tree::Leaf(Value::Whole(whole)),
            Err(_) => Tree::Bad(format!("{number} is too large; legal: at most {}", i64::MAX)),
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

/// No key of a scenario is longer than this; what follows could only cost time.
fn cut(key: &str) -> String {
    match key.char_indices().nth(LONGEST_KEY) {
        Some((end, _)) => format!("{}...", &key[..end]),
        None => key.into(),
    }
}

impl Node {
    /// The value without what is inside lists and tables; or why it is none.
    pub(crate) fn outline(&self) -> Result<Value, String> {
        match &self.tree {
            Tree::List(_) => Ok(Value::List(Vec::new())),
            Tree::Table(_) => Ok(Value::Table(Vec::new())),
            _ => self.value(),
        }
    }

    /// Whether it is a list or a table without anything in it.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.tree {
            Tree::List(items) => items.is_empty(),
            Tree::Table(entries) => entries.is_empty(),
            _ => false,
        }
    }

    /// The value without its places; or why it is none.
    pub(crate) fn value(&self) -> Result<Value, String> {
        match &self.tree {
            Tree::Leaf(value) => Ok(value.clone()),
            Tree::List(items) => items.iter().map(Node::value).collect::<Result<_, _>>().map(Value::List),
            Tree::Table(entries) => {
                let value = |(key, node): &(String, Node)| Ok((key.clone(), node.value()?));
                entries.iter().map(value).collect::<Result<_, _>>().map(Value::Table)
            }
            Tree::Bad(what) => Err(what.clone()),
        }
    }
}

/// Puts the value of one override at its dotted key.
fn lay_over(root: &mut Node, order: usize, written: &str, value: &str) -> Result<(), Flaw> {
    let shown = if written.is_empty() { "\"\"" } else { written };
    let place = |path: &str| Place::Set { order, written: cut(shown), path: path.into() };
    let flaw = |what: String| Flaw { place: place(""), fault: Fault::new("", what) };
    let steps = steps(written).ok_or_else(|| {
        flaw("is not a key; write it like bottleneck.rate=\"6 Mbit/s\" or flows[0].count=20".into())
    })?;
    let place = place(&path_of(&steps));
    let tree = override_value(value, &place).map_err(flaw)?;
    // What a change sets is laid over nothing: it does not name a whole disc.
    let defaults = steps[0] != Step::Name("at".into());
    insert(root, &steps, Node { place, tree }, defaults).map_err(flaw)
}

fn steps(key: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in key.split('.') {
        let mut pieces = part.trim().split('[');
        let name = pieces.next()?;
        match (name.parse(), name.is_empty()) {
            (_, true) => return None,
            (Ok(index), _) => steps.push(Step::Index(index)),
            _ => steps.push(Step::Name(name.into())),
        }
        for piece in pieces {
            steps.push(Step::Index(piece.strip_suffix(']')?.parse().ok()?));
        }
    }
    (steps.len() <= MOST_STEPS).then_some(steps)
}

fn path_of(steps: &[Step]) -> String {
    let step = |(place, step): (usize, &Step)| match step {
        Step::Index(index) => format!("[{index}]"),
        Step::Name(name) if place == 0 => cut(name),
        Step::Name(name) => format!(".{}", cut(name)),
    };
    steps.iter().enumerate().map(step).collect::<Vec<_>>().concat()
}

/// A TOML value; a bare word that is none is text.
fn override_value(text: &str, place: &Place) -> Result<Tree, String> {
    match DeValue::parse(text) {
        Ok(value) => Ok(tree(value.get_ref(), &|_| place.clone())),
        Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => {
            let rest = error.span().and_then(|span| text.get(span.start..)).unwrap_or_default();
            Err(format!("{} is not a TOML value: {}", cut(text), syntax_fault(&error, rest)))
        }
        Err(_) => Ok(tree(&DeValue::String(text.trim().into()), &|_| place.clone())),
    }
}

fn insert(node: &mut Node, steps: &[Step], leaf: Node, defaults: bool) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        *node = leaf;
        return Ok(());
    };
    // What was written as a SPEC has its parameters inside the text.
    if let (Tree::Leaf(Value::Text(spec)), Step::Name(_)) = (&node.tree, step)
        && let Some(table) = table_of_spec(spec, &node.place)
    {
        node.tree = table;
    }
    match (&mut node.tree, step) {
        (Tree::Table(entries), Step::Name(name)) => {
            // A key may itself hold dots, as those of [[at]] do.
            let whole = path_of(steps);
            if let Some((_, inner)) = entries.iter_mut().find(|(key, _)| *key == whole) {
                *inner = leaf;
                return Ok(());
            }
            let known = entries.iter().position(|(key, _)| key == name).unwrap_or_else(|| {
                let default = if defaults { default_spec(name) } else { None };
                let tree = default.unwrap_or(Tree::Table(Vec::new()));
                entries.push((cut(name), Node { place: leaf.place.clone(), tree }));
                entries.len() - 1
            });
            insert(&mut entries[known].1, rest, leaf, defaults)
        }
        (Tree::List(items), Step::Index(index)) => {
            let count = items.len();
            let item = items.get_mut(*index).ok_or_else(|| match count {
                0 => format!("there is no item {index}; the list is empty"),
                1 => format!("there is no item {index}; legal: 0"),
                _ => format!("there is no item {index}; legal: 0 to {}", count - 1),
            })?;
            insert(item, rest, leaf, defaults)
        }
        (Tree::List(_), Step::Name(name)) => {
            Err(format!("\"{name}\" is looked for in a list; write its place, as in flows[0].count"))
        }
        (_, Step::Index(index)) => Err(format!("there is no item {index}: this is no list")),
        (_, Step::Name(name)) => Err(format!("\"{name}\" is looked for in what is no table")),
    }
}

/// What stands where nothing is said of a disc or of a congestion control; its parameters are set in there.
fn default_spec(name: &str) -> Option<Tree> {
    let key = explain().iter().find(|key| key.name == name)?;
    matches!(key.kind(), Kind::Disc | Kind::Control).then(|| key.preset.value().map(Tree::Leaf))?
}

/// The table that says the same as the SPEC of a disc or of a congestion control.
fn table_of_spec(spec: &str, place: &Place) -> Option<Tree> {
    let (name, Spec { name: called, params }) = if let Ok(DiscSpec { law, params }) = DiscSpec::parse(spec) {
        ("law", Spec { name: law, params })
    } else if let Ok(Choice::Listed(spec)) = Choice::parse(spec) {
        ("name", spec)
    } else {
        return None;
    };
    let entries = std::iter::once((name.to_string(), Value::Text(called))).chain(params);
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
/// Steps of a dotted key on the command line.
const MOST_STEPS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_keys_are_split_into_steps() {
        let name = |name: &str| Step::Name(name.into());
        let expected = vec![name("flows"), Step::Index(0), name("count")];
        assert_eq!(steps("flows[0].count"), Some(expected.clone()));
        assert_eq!(steps("flows.0.count"), Some(expected.clone()));
        assert_eq!(path_of(&expected), "flows[0].count");
        for bad in ["", ".", "a..b", "flows[", "flows[x]", "flows[0]x", "[0]"] {
            assert_eq!(steps(bad), None, "{bad}");
        }
    }
}
