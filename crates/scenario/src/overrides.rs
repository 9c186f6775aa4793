//! Overrides of keys of a file: `--set KEY=VALUE`.

use crate::apps::Entry;
use crate::diagnostics::{Place, Placed};
use crate::tables::{DEFAULT_CONTROL, keys};
use crate::tree::{Node, Tree, cut, syntax_error, tree};
use sojourn_aqm::DEFAULT_LAW;
use sojourn_params::{ErrorKind, Expected, InputError, Spec, Value};
use std::collections::{BTreeMap, BTreeSet};
use toml::de::DeValue;

/// One step of a dotted key.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
}

/// Puts the value of one override at its dotted key.
pub(crate) fn lay_over(root: &mut Node, order: usize, written: &str, value: &str) -> Result<(), Box<Placed>> {
    let shown = if written.is_empty() { "\"\"" } else { written };
    let place = |path: &str| Place::Set { order, written: cut(shown), path: path.into() };
    let refused = |error: InputError| Box::new((place(""), error));
    let steps = steps(written).ok_or_else(|| {
        let expected = "a key such as bottleneck.rate=\"6 Mbit/s\" or flows[0].count=20";
        refused(InputError::new(ErrorKind::Syntax, "is not a key", expected))
    })?;
    let steps = resolved(root, steps);
    if let Some(error) = without_its_table(root, &steps) {
        return Err(refused(error));
    }
    let place = place(&path_of(&steps));
    let tree = override_value(value, &place).map_err(refused)?;
    // A change does not name a whole qdisc.
    let has_defaults = steps[0] != Step::Name("at".into());
    insert(root, "", &steps, Node { place, tree }, has_defaults).map_err(refused)
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
fn override_value(text: &str, place: &Place) -> Result<Tree, InputError> {
    match DeValue::parse(text) {
        Ok(value) => Ok(tree(value.get_ref(), &|_| place.clone())),
        Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => {
            let rest = error.span().and_then(|span| text.get(span.start..)).unwrap_or_default();
            Err(syntax_error(&error, rest).after(&format!("{} is not a TOML value", cut(text))))
        }
        Err(_) => Ok(tree(&DeValue::String(text.trim().into()), &|_| place.clone())),
    }
}

/// Puts the leaf into the table or list `node`, the value of `key`.
fn insert(
    node: &mut Node,
    key: &str,
    steps: &[Step],
    leaf: Node,
    has_defaults: bool,
) -> Result<(), InputError> {
    let Some((step, rest)) = steps.split_first() else {
        *node = leaf;
        return Ok(());
    };
    // A SPEC has its parameters inside the text.
    if let (Tree::Leaf(Value::Text(spec)), Step::Name(_)) = (&node.tree, step)
        && let Some(table) = table_of_spec(key, spec, &node.place)
    {
        node.tree = table;
    }
    let refused =
        |problem: String, expected: Expected| Err(InputError::new(ErrorKind::UnknownKey, problem, expected));
    match (&mut node.tree, step) {
        (Tree::Table(entries), Step::Name(name)) => {
            // A key may itself hold dots, as those of [[at]] do.
            let whole = path_of(steps);
            if let Some((_, inner)) = entries.iter_mut().find(|(key, _)| *key == whole) {
                *inner = leaf;
                return Ok(());
            }
            let known = entries.iter().position(|(key, _)| key == name).unwrap_or_else(|| {
                let default = if has_defaults { table_of_default(name, &leaf.place) } else { None };
                let tree = default.unwrap_or(Tree::Table(Vec::new()));
                entries.push((cut(name), Node { place: leaf.place.clone(), tree }));
                entries.len() - 1
            });
            insert(&mut entries[known].1, name, rest, leaf, has_defaults)
        }
        (Tree::List(items), Step::Index(index)) => {
            let expected = match items.len() {
                0 => Expected::Unstated,
                1 => "0".into(),
                count => format!("0 to {}", count - 1).into(),
            };
            match items.get_mut(*index) {
                Some(item) => insert(item, key, rest, leaf, has_defaults),
                None => refused(format!("there is no item {index}"), expected),
            }
        }
        (Tree::List(_), Step::Name(name)) => refused(
            format!("\"{name}\" is a key, and this is a list"),
            "its place, as in flows[0].count".into(),
        ),
        (_, Step::Index(index)) => {
            refused(format!("there is no item {index}: this is no list"), Expected::Unstated)
        }
        (_, Step::Name(name)) => {
            refused(format!("\"{name}\" is a key, and this is no table"), Expected::Unstated)
        }
    }
}

/// The table equivalent to the SPEC that is the value of `key`.
fn table_of_spec(key: &str, spec: &str, place: &Place) -> Option<Tree> {
    let Spec { name, params } = Spec::parse(spec).ok()?;
    let leaf = |value: Value| Node { place: place.clone(), tree: Tree::Leaf(value) };
    let params = params.into_iter().map(|(key, value)| (key, leaf(value)));
    Some(Tree::Table(match key {
        "qdisc" => std::iter::once(("law".to_string(), leaf(Value::Text(name)))).chain(params).collect(),
        "cc" => std::iter::once(("name".to_string(), leaf(Value::Text(name)))).chain(params).collect(),
        "app" => vec![(name, Node { place: place.clone(), tree: Tree::Table(params.collect()) })],
        _ => return None,
    }))
}

/// The same of the default of a key that is not given.
fn table_of_default(key: &str, place: &Place) -> Option<Tree> {
    match key {
        "qdisc" => table_of_spec(key, DEFAULT_LAW, place),
        "cc" => table_of_spec(key, DEFAULT_CONTROL, place),
        _ => None,
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
    root.entry(name).is_some() || keys().iter().any(|key| key.table.is_empty() && key.name() == name)
}

/// The table that a name of the file stands for.
fn named(root: &Node, name: &str) -> Option<Vec<Step>> {
    let item = |list: &str, at: usize| vec![Step::Name(list.into()), Step::Index(at)];
    if let Some(at) = class_names(root.items("flows")).iter().position(|class| class == name) {
        return Some(item("flows", at));
    }
    if let Some(at) = root.items("links").iter().position(|link| link.text("name") == Some(name)) {
        return Some(item("links", at));
    }
    root.entry("home")?.entry(name).map(|_| vec![Step::Name("home".into()), Step::Name(name.into())])
}

/// Names of classes as the reader gives them: the given one, or that of the application, numbered where it is taken.
fn class_names(groups: &[Node]) -> Vec<String> {
    let name = |group: &Node| group.text("name").map(String::from);
    let mut taken: BTreeSet<String> = groups.iter().filter_map(name).collect();
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
    groups.iter().map(|group| name(group).unwrap_or_else(|| usual(app(group)))).collect()
}

/// Name of the application of a group.
pub(crate) fn app(group: &Node) -> &str {
    let spec = match group.entry("app").map(|node| &node.tree) {
        Some(Tree::Leaf(Value::Text(spec))) => spec,
        Some(Tree::Table(entries)) => entries.first().map_or("bulk", |(name, _)| name),
        _ => "bulk",
    };
    spec.split(':').next().unwrap_or_default().trim()
}

/// Error of a lone key that only tables have.
fn without_its_table(root: &Node, steps: &[Step]) -> Option<InputError> {
    let [Step::Name(name)] = steps else { return None };
    if is_at_the_top(root, name) {
        return None;
    }
    let has = |table: &str| keys().iter().any(|key| key.table == table && key.name() == name);
    let app = root.items("flows").first().map_or("", app);
    let in_app =
        Entry::named(app).is_some_and(|entry| entry.has(name)).then(|| format!("flows[0].app.{app}"));
    let tables = [
        ("bottleneck", "bottleneck"),
        ("links", "links[0]"),
        ("flows", "flows[0]"),
        ("flows.tcp", "flows[0].tcp"),
    ];
    let is_given = |table: &str| table.split('.').next().is_some_and(|top| root.entry(top).is_some());
    let found: Vec<String> = tables
        .into_iter()
        .filter(|(table, _)| is_given(table) && has(table))
        .map(|(_, written)| written.to_string())
        .chain(in_app)
        .map(|table| format!("{table}.{name}"))
        .collect();
    let error = || InputError::new(ErrorKind::UnknownKey, "is no key at the top", found.join(" or "));
    (!found.is_empty()).then(error)
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
            b"[bottleneck]\nrate = 1\n[home.up]\nrate = 1\n[[flows]]\n[[flows]]\napp = { cbr = { rate = 1 } }\n[[flows]]\n\
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
        let hint = |key: &str| without_its_table(&root, &steps(key).unwrap()).map(|error| error.message());
        assert_eq!(hint("rate").unwrap(), "is no key at the top; expected bottleneck.rate or links[0].rate");
        assert_eq!(hint("reads").unwrap(), "is no key at the top; expected flows[0].app.bulk.reads");
        assert_eq!(hint("sack").unwrap(), "is no key at the top; expected flows[0].tcp.sack");
        assert_eq!(hint("count").unwrap(), "is no key at the top; expected flows[0].count");
        assert_eq!((hint("duration"), hint("nothing")), (None, None));
    }
}
