//! Overrides of keys of a file: `--set KEY=VALUE`.

use crate::diagnostics::{Diagnostic, Place};
use crate::keys::keys_of;
use crate::tree::{Node, Tree, cut, default_spec, syntax_error, table_of_spec, tree};
use sojourn_params::{InputError, Value};
use std::collections::{BTreeMap, BTreeSet};
use toml::de::DeValue;

/// One step of a dotted key.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Puts the value of one override at its dotted key.
pub(crate) fn lay_over(root: &mut Node, order: usize, written: &str, value: &str) -> Result<(), Diagnostic> {
    let shown = if written.is_empty() { "\"\"" } else { written };
    let place = |path: &str| Place::Set { order, written: cut(shown), path: path.into() };
    let diagnostic = |message: String| Diagnostic { place: place(""), error: InputError::new("", message) };
    let steps = steps(written).ok_or_else(|| {
        diagnostic("is not a key; write it like bottleneck.rate=\"6 Mbit/s\" or flows[0].count=20".into())
    })?;
    let steps = resolved(root, steps);
    if let Some(message) = without_its_table(root, &steps) {
        return Err(diagnostic(message));
    }
    let place = place(&path_of(&steps));
    let tree = override_value(value, &place).map_err(diagnostic)?;
    // Settings of a change have no default: a change does not name a whole qdisc.
    let defaults = steps[0] != Step::Name("at".into());
    insert(root, &steps, Node { place, tree }, defaults).map_err(diagnostic)
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

/// A TOML value; any other bare word is text.
fn override_value(text: &str, place: &Place) -> Result<Tree, String> {
    match DeValue::parse(text) {
        Ok(value) => Ok(tree(value.get_ref(), &|_| place.clone())),
        Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => {
            let rest = error.span().and_then(|span| text.get(span.start..)).unwrap_or_default();
            Err(format!("{} is not a TOML value: {}", cut(text), syntax_error(&error, rest)))
        }
        Err(_) => Ok(tree(&DeValue::String(text.trim().into()), &|_| place.clone())),
    }
}

fn insert(node: &mut Node, steps: &[Step], leaf: Node, defaults: bool) -> Result<(), String> {
    let Some((step, rest)) = steps.split_first() else {
        *node = leaf;
        return Ok(());
    };
    // A SPEC has its parameters inside the text.
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
                1 => format!("there is no item {index}; expected 0"),
                _ => format!("there is no item {index}; expected 0 to {}", count - 1),
            })?;
            insert(item, rest, leaf, defaults)
        }
        (Tree::List(_), Step::Name(name)) => {
            Err(format!("\"{name}\" is a key, and this is a list; write its place, as in flows[0].count"))
        }
        (_, Step::Index(index)) => Err(format!("there is no item {index}: this is no list")),
        (_, Step::Name(name)) => Err(format!("\"{name}\" is a key, and this is no table")),
    }
}

/// Steps of a key that begins with the name of a class, of a link or of a direction of a home: those of its table.
fn resolved(root: &Node, steps: Vec<Step>) -> Vec<Step> {
    match &steps[..] {
        [Step::Name(name), rest @ ..] if !rest.is_empty() && !is_at_the_top(root, name) => {
            named(root, name).map_or_else(|| steps.clone(), |table| [&table, rest].concat())
        }
        _ => steps,
    }
}

/// True for a key of the file or of any scenario.
fn is_at_the_top(root: &Node, name: &str) -> bool {
    entry(root, name).is_some() || keys_of("").any(|key| key.name == name)
}

/// The table that a name of the file stands for.
fn named(root: &Node, name: &str) -> Option<Vec<Step>> {
    let item = |list: &str, at: usize| vec![Step::Name(list.into()), Step::Index(at)];
    if let Some(at) = class_names(items(root, "flows")).iter().position(|class| class == name) {
        return Some(item("flows", at));
    }
    let links = items(root, "links");
    if let Some(at) = links.iter().position(|link| text(link, "name") == Some(name)) {
        return Some(item("links", at));
    }
    let home = entry(root, "home")?;
    entry(home, name).map(|_| vec![Step::Name("home".into()), Step::Name(name.into())])
}

/// Names of classes as the reader gives them: the given one, or that of the application, numbered where it is taken.
fn class_names(groups: &[Node]) -> Vec<String> {
    let mut taken: BTreeSet<String> =
        groups.iter().filter_map(|group| text(group, "name")).map(String::from).collect();
    let mut counted: BTreeMap<&str, u32> = BTreeMap::new();
    let mut usual = |app| {
        loop {
            let number = counted.entry(app).or_default();
            *number += 1;
            let name = if *number == 1 { app.to_string() } else { format!("{app}{number}") };
            if taken.insert(name.clone()) {
                return name;
            }
        }
    };
    let name = |group| text(group, "name").map(String::from);
    groups
        .iter()
        .map(|group| name(group).unwrap_or_else(|| usual(text(group, "app").unwrap_or("bulk"))))
        .collect()
}

/// Error message of a lone key that only tables have.
fn without_its_table(root: &Node, steps: &[Step]) -> Option<String> {
    let [Step::Name(name)] = steps else { return None };
    if is_at_the_top(root, name) {
        return None;
    }
    let has = |table: &str| keys_of(table).any(|key| key.name == *name);
    let tables = [("bottleneck", "bottleneck"), ("links", "links[0]"), ("flows", "flows[0]")];
    let found: Vec<String> = tables
        .into_iter()
        .filter(|(table, _)| entry(root, table).is_some() && has(table))
        .map(|(_, written)| format!("{written}.{name}"))
        .collect();
    (!found.is_empty()).then(|| format!("is no key at the top; expected {}", found.join(" or ")))
}

fn entry<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    let Tree::Table(entries) = &node.tree else { return None };
    entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
}

fn items<'a>(root: &'a Node, list: &str) -> &'a [Node] {
    match entry(root, list).map(|node| &node.tree) {
        Some(Tree::List(items)) => items,
        _ => &[],
    }
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    match &entry(node, key)?.tree {
        Tree::Leaf(Value::Text(text)) => Some(text),
        _ => None,
    }
}

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

    #[test]
    fn names_of_classes_and_links_stand_for_their_tables() {
        let file =
            b"[bottleneck]\nrate = 1\n[home.up]\nrate = 1\n[[flows]]\n[[flows]]\napp = \"cbr\"\n[[flows]]\n\
            [[flows]]\nname = \"mine\"\n[[links]]\nname = \"wire\"\n";
        let (root, _) = crate::tree::parse(file, "f", &[]).unwrap();
        for (written, expected) in [
            ("bulk.count", "flows[0].count"),
            ("cbr.rate", "flows[1].rate"),
            ("bulk2.count", "flows[2].count"),
            ("mine.access.rate", "flows[3].access.rate"),
            ("wire.delay", "links[0].delay"),
            ("up.rate", "home.up.rate"),
            ("bottleneck.rate", "bottleneck.rate"),
            ("nobody.rate", "nobody.rate"),
            ("bulk", "bulk"),
        ] {
            assert_eq!(path_of(&resolved(&root, steps(written).unwrap())), expected);
        }
        let hint = |key: &str| without_its_table(&root, &steps(key).unwrap());
        assert_eq!(
            hint("rate").unwrap(),
            "is no key at the top; expected bottleneck.rate or links[0].rate or flows[0].rate"
        );
        assert_eq!(hint("count").unwrap(), "is no key at the top; expected flows[0].count");
        assert_eq!((hint("duration"), hint("nothing")), (None, None));
    }
}
