//! Overrides of keys of a file: `--set KEY=VALUE`.

use crate::apps::APPS;
use crate::diagnostics::{Place, Placed};
use crate::tables::{DEFAULT_CONTROL, File, class_names, keys};
use crate::tree::{Node, Tree, cut, syntax_error, tree};
use sojourn_aqm::{DEFAULT_LAW, catalogue::QDISC_CATALOGUE};
use sojourn_params::{Catalogue, Described, ErrorKind, Expected, InputError, Kind, Path, Spec, Step, Value};
use sojourn_tcp::catalogue::CC_CATALOGUE;
use std::collections::BTreeSet;
use toml::de::DeValue;

/// Puts the value of one override at its dotted key; [`EVERY_QDISC`] stands for several.
pub(crate) fn lay_over(root: &mut Node, order: usize, written: &str, value: &str) -> Result<(), Box<Placed>> {
    if written != EVERY_QDISC {
        return lay_over_one(root, order, written, value);
    }
    let mut keys = Vec::new();
    qdiscs(&Kind::Keys(File::fields), root, &Path::default(), &mut keys);
    keys.iter().try_for_each(|key| lay_over_one(root, order, &key.to_string(), value))
}

fn lay_over_one(root: &mut Node, order: usize, written: &str, value: &str) -> Result<(), Box<Placed>> {
    let shown = if written.is_empty() { "\"\"" } else { written };
    let place = |path: Path| Place::Set { order, written: cut(shown), path };
    let refused = |error: InputError| Box::new((place(Path::default()), error));
    let steps = steps(written).ok_or_else(|| {
        let expected = "a key such as bottleneck.rate=\"6 Mbit/s\" or flows[0].count=20";
        refused(InputError::new(ErrorKind::Syntax, "is not a key", expected))
    })?;
    let steps = resolved(root, steps);
    let path = Path::from(&steps[..]);
    let refused = |error: InputError| Box::new((place(path.clone()), error.at(&path)));
    if let Some(error) = without_its_table(root, &steps) {
        return Err(refused(error));
    }
    let place = place(path.clone());
    let tree = override_value(value, &place).map_err(refused)?;
    insert(root, &Path::default(), &steps, Node { place, tree }).map_err(refused)
}

/// The steps of a key as it is written: a place stands in brackets or behind a dot.
fn steps(key: &str) -> Option<Vec<Step>> {
    let path = Path::parse(key)?;
    let steps = path.steps().iter().map(|step| match step {
        Step::Key(name) => name.parse().map_or_else(|_| Step::Key(cut(name)), Step::Place),
        Step::Place(place) => Step::Place(*place),
    });
    let steps: Vec<Step> = steps.collect();
    (matches!(steps[0], Step::Key(_)) && steps.len() <= MOST_STEPS).then_some(steps)
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

/// Puts the leaf into the table or list `node`, the value at `path`.
fn insert(node: &mut Node, path: &Path, steps: &[Step], leaf: Node) -> Result<(), InputError> {
    let Some((step, rest)) = steps.split_first() else {
        *node = leaf;
        return Ok(());
    };
    // A SPEC has its parameters inside the text.
    if let (Tree::Leaf(Value::Text(spec)), Step::Key(_)) = (&node.tree, step)
        && let Some(table) = catalogue_at(path).and_then(|of| table_of_spec(of, spec, &node.place))
    {
        node.tree = table;
    }
    if let (Some(of), Step::Key(name)) = (catalogue_at(path), step)
        && let Some(params) = params_without_short_form(of, name, &mut node.tree)
    {
        set_param(params, steps, leaf);
        return Ok(());
    }
    let inner = path.clone().join(&steps[..1]);
    let refused =
        |problem: String, expected: Expected| Err(InputError::new(ErrorKind::UnknownKey, problem, expected));
    match (&mut node.tree, step) {
        (Tree::Table(entries), Step::Key(name)) => {
            // A key may itself hold dots, as those of [[at]] do.
            let whole = Path::from(steps).to_string();
            if let Some((_, inner)) = entries.iter_mut().find(|(key, _)| *key == whole) {
                *inner = leaf;
                return Ok(());
            }
            let known = entries.iter().position(|(key, _)| key == name).unwrap_or_else(|| {
                // Parameters may stand beside the name of an entry, or inside of it.
                let beside = catalogue_at(&inner).filter(|of| of.tag.is_some());
                let default = beside.and_then(|of| table_of_spec(of, default_of(of)?, &leaf.place));
                let tree = default.unwrap_or(Tree::Table(Vec::new()));
                entries.push((name.clone(), Node { place: leaf.place.clone(), tree }));
                entries.len() - 1
            });
            insert(&mut entries[known].1, &inner, rest, leaf)
        }
        (Tree::List(items), Step::Place(place)) => {
            let expected = match items.len() {
                0 => Expected::Unstated,
                1 => "0".into(),
                count => format!("0 to {}", count - 1).into(),
            };
            match items.get_mut(*place) {
                Some(item) => insert(item, &inner, rest, leaf),
                None => refused(format!("there is no item {place}"), expected),
            }
        }
        (Tree::List(_), Step::Key(name)) => refused(
            format!("\"{name}\" is a key, and this is a list"),
            "its place, as in flows[0].count".into(),
        ),
        (_, Step::Place(place)) => {
            refused(format!("there is no item {place}: this is no list"), Expected::Unstated)
        }
        (_, Step::Key(name)) => {
            refused(format!("\"{name}\" is a key, and this is no table"), Expected::Unstated)
        }
    }
}

/// The parameters of an entry that has no short form, `{ NAME = { KEY = VALUE } }`, where `key` is one of them.
fn params_without_short_form<'t>(
    of: &Catalogue,
    key: &str,
    tree: &'t mut Tree,
) -> Option<&'t mut Vec<(String, Node)>> {
    of.tag?;
    let Tree::Table(entries) = tree else { return None };
    let [(name, Node { tree: Tree::Table(params), .. })] = entries.as_mut_slice() else { return None };
    let pages = (of.pages)();
    let page = pages.iter().find(|page| page.stem == name)?;
    (key != page.stem && !of.has_short_form(page)).then_some(params)
}

/// Sets a parameter of an entry, or one of an entry within it: in the table of that, or beside its name.
fn set_param(params: &mut Vec<(String, Node)>, steps: &[Step], leaf: Node) {
    let whole = Path::from(steps).to_string();
    if let Some((_, value)) = params.iter_mut().find(|(key, _)| *key == whole) {
        *value = leaf;
        return;
    }
    let [Step::Key(first), rest @ ..] = steps else { return };
    let within = params.iter_mut().find(|(key, _)| key == first);
    let Some((_, Node { tree: Tree::Table(entries), .. })) = within else {
        params.push((whole, leaf));
        return;
    };
    match entries.as_mut_slice() {
        [(name, Node { tree: Tree::Table(params), .. })] if Step::Key(name.clone()) != rest[0] => {
            set_param(params, rest, leaf);
        }
        _ => set_param(entries, rest, leaf),
    }
}

/// The catalogue whose entries are values of this key.
fn catalogue_at(path: &Path) -> Option<&'static Catalogue> {
    let path = path.without_places();
    match keys().iter().find(|key| key.path() == path)?.field.kind {
        Kind::Entry(catalogue) | Kind::EntryOrFile(catalogue) => Some(catalogue),
        _ => None,
    }
}

/// Adds the keys of the qdiscs in a value of this kind at `path`: those that are given, and those of tables that have
/// one by default.
fn qdiscs(kind: &Kind, node: &Node, path: &Path, found: &mut Vec<Path>) {
    match (kind, &node.tree) {
        (Kind::Keys(fields), Tree::Table(_)) => {
            let name = path.without_places();
            let has_one = name != "links" && !name.ends_with("back");
            for field in fields() {
                let inner = path.clone().join(Path::key(field.key));
                match (&field.kind, node.entry(field.key)) {
                    (Kind::Entry(of), value) if is_same(of, &QDISC_CATALOGUE) => {
                        found.extend((has_one || value.is_some()).then_some(inner));
                    }
                    (kind, Some(value)) => qdiscs(kind, value, &inner, found),
                    _ => {}
                }
            }
        }
        (Kind::Tables(fields), Tree::List(items)) => {
            for (place, item) in items.iter().enumerate() {
                qdiscs(&Kind::Keys(*fields), item, &path.clone().join(place), found);
            }
        }
        _ => {}
    }
}

/// The table equivalent to a SPEC of this catalogue.
fn table_of_spec(of: &Catalogue, spec: &str, place: &Place) -> Option<Tree> {
    let Spec { name, params } = Spec::parse(spec).ok()?;
    let node = |tree: Tree| Node { place: place.clone(), tree };
    let params = params.into_iter().map(|(key, value)| (key, node(Tree::Leaf(value))));
    let is_short =
        (of.pages)().iter().find(|page| page.stem == name).is_none_or(|page| of.has_short_form(page));
    Some(Tree::Table(match of.tag.filter(|_| is_short) {
        Some(tag) => {
            std::iter::once((tag.to_string(), node(Tree::Leaf(Value::Text(name))))).chain(params).collect()
        }
        None => vec![(name, node(Tree::Table(params.collect())))],
    }))
}

/// The entry of a key that is not given.
fn default_of(catalogue: &Catalogue) -> Option<&'static str> {
    let defaults = [(&QDISC_CATALOGUE, DEFAULT_LAW), (&CC_CATALOGUE, DEFAULT_CONTROL), (&APPS, "bulk")];
    defaults.into_iter().find(|(of, _)| is_same(of, catalogue)).map(|(_, entry)| entry)
}

fn is_same(one: &Catalogue, other: &Catalogue) -> bool {
    std::ptr::eq(one, other)
}

/// Name of the entry that a value names, or of the default where it is absent.
fn entry_of<'a>(value: Option<&'a Node>, catalogue: &Catalogue) -> Option<&'a str> {
    let Some(node) = value else { return default_of(catalogue) };
    match &node.tree {
        Tree::Leaf(Value::Text(spec)) => spec.split(':').next().map(str::trim),
        Tree::Table(entries) => {
            let tagged = catalogue.tag.and_then(|tag| node.text(tag));
            tagged.or_else(|| entries.first().map(|(name, _)| name.as_str()))
        }
        _ => None,
    }
}

/// Name of the application of a group.
pub(crate) fn app(group: &Node) -> &str {
    entry_of(group.entry("app"), &APPS).or(default_of(&APPS)).unwrap_or_default()
}

/// Steps of a key that begins with the name of a class, of a link or of a direction of a home: those of its table.
fn resolved(root: &Node, steps: Vec<Step>) -> Vec<Step> {
    match &steps[..] {
        [Step::Key(name), rest @ ..] if !rest.is_empty() && !is_at_the_top(root, name) => {
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
    let groups: Vec<_> = root.items("flows").iter().map(|group| (group.text("name"), app(group))).collect();
    let item = |list: &str, at: usize| vec![Step::Key(list.into()), Step::Place(at)];
    if let Some(at) = class_names(&groups).iter().position(|class| class == name) {
        return Some(item("flows", at));
    }
    let is_called = |link: &Node| match (link.text("name"), link.text("from"), link.text("to")) {
        (Some(given), ..) => given == name,
        (None, Some(from), Some(to)) => {
            name.strip_prefix(from).and_then(|rest| rest.strip_prefix('-')) == Some(to)
        }
        _ => false,
    };
    if let Some(at) = root.items("links").iter().position(is_called) {
        return Some(item("links", at));
    }
    root.entry("home")?.entry(name).map(|_| vec![Step::Key("home".into()), Step::Key(name.into())])
}

/// Error of a key that stands in tables of the file, and not at the top.
fn without_its_table(root: &Node, steps: &[Step]) -> Option<InputError> {
    let [Step::Key(name), rest @ ..] = steps else { return None };
    if is_at_the_top(root, name) {
        return None;
    }
    let mut places = Places { name, given: Vec::new(), others: Vec::new() };
    for key in keys().iter().filter(|key| key.table.is_empty()) {
        if let Some(node) = root.entry(key.name()) {
            places.search(&key.field.kind, Some(node), &Path::key(key.name()));
        }
    }
    let found = if places.given.is_empty() { places.others } else { places.given };
    let mut seen = BTreeSet::new();
    let each: Vec<String> = found
        .into_iter()
        .filter(|path| seen.insert(path.without_places()))
        .take(MOST_PLACES)
        .map(|path| path.join(rest).to_string())
        .collect();
    let (last, others) = each.split_last()?;
    let expected = if others.is_empty() { last.clone() } else { format!("{} or {last}", others.join(", ")) };
    Some(InputError::new(ErrorKind::UnknownKey, "is no key at the top", expected))
}

/// The places of a key of this name.
struct Places<'a> {
    name: &'a str,
    /// In tables and entries that the file has.
    given: Vec<Path>,
    /// In those inside of them that it may have.
    others: Vec<Path>,
}

impl Places<'_> {
    /// Adds those in a value of this kind at `path`, which may be absent.
    fn search(&mut self, kind: &Kind, node: Option<&Node>, path: &Path) {
        match kind {
            Kind::Keys(fields) => {
                for field in fields() {
                    let inner = path.clone().join(Path::key(field.key));
                    self.search(&field.kind, node.and_then(|node| node.entry(field.key)), &inner);
                    self.add(field.key, inner, node.is_some());
                }
            }
            Kind::Tables(fields) => {
                if let Some(Node { tree: Tree::List(items), .. }) = node {
                    for (place, item) in items.iter().enumerate() {
                        self.search(&Kind::Keys(*fields), Some(item), &path.clone().join(place));
                    }
                }
            }
            Kind::Entry(catalogue) | Kind::EntryOrFile(catalogue) => {
                let Some(name) = entry_of(node, catalogue) else { return };
                let Some(page) = (catalogue.pages)().into_iter().find(|page| page.stem == name) else {
                    return;
                };
                // A text or an absent value becomes the short form, if there is one.
                let is_short = catalogue.tag.is_some_and(|tag| match node {
                    Some(table @ Node { tree: Tree::Table(_), .. }) => table.entry(tag).is_some(),
                    _ => true,
                });
                let stem = if is_short { "" } else { page.stem };
                for field in (page.fields)() {
                    self.add(field.key, path.clone().join(stem).join(field.key), true);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, key: &str, path: Path, is_given: bool) {
        if key == self.name {
            if is_given { &mut self.given } else { &mut self.others }.push(path);
        }
    }
}

/// The qdiscs of all links that have one, as a change of a scenario replaces them.
const EVERY_QDISC: &str = "*.qdisc";
/// Steps of a dotted key on the command line.
const MOST_STEPS: usize = 16;
/// Places of a key that an error lists.
const MOST_PLACES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_keys_are_split_into_steps() {
        let name = |name: &str| Step::Key(name.into());
        let expected = vec![name("flows"), Step::Place(0), name("count")];
        assert_eq!(steps("flows[0].count"), Some(expected.clone()));
        assert_eq!(steps("flows.0.count"), Some(expected));
        for bad in ["", ".", "a..b", "flows[", "flows[x]", "flows[0]x", "[0]"] {
            assert_eq!(steps(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_of_classes_and_links_stand_for_their_tables() {
        let file = "[bottleneck]\nrate = 1\n[home.up]\nrate = 1\n[[flows]]\n[[flows]]\napp = { cbr = { rate = 1 } }\n[[flows]]\n\
            [[flows]]\nname = \"mine\"\n[[links]]\nname = \"wire\"\n[[links]]\nfrom = \"a\"\nto = \"b\"\n";
        let (root, _) = crate::tree::parse(file, "f", &[]).unwrap();
        for (written, expected) in [
            ("bulk.count", "flows[0].count"),
            ("cbr.rate", "flows[1].rate"),
            ("bulk2.count", "flows[2].count"),
            ("mine.access.rate", "flows[3].access.rate"),
            ("wire.delay", "links[0].delay"),
            ("a-b.delay", "links[1].delay"),
            ("up.rate", "home.up.rate"),
            ("bottleneck.rate", "bottleneck.rate"),
            ("nobody.rate", "nobody.rate"),
            ("bulk", "bulk"),
        ] {
            assert_eq!(Path::from(&resolved(&root, steps(written).unwrap())[..]), expected);
        }
    }

    #[test]
    fn a_key_without_its_table_is_found_in_those_of_the_file() {
        let file = "[parking_lot]\nrate = 1\nqdisc = \"codel\"\n[[flows]]\n[[flows]]\napp = \"web\"\n[[flows]]\n\
            app = { cbr = { rate = 1 } }\n[[flows]]\ncc = { dctcp = { g = 0.1 } }\n";
        let (root, _) = crate::tree::parse(file, "f", &[]).unwrap();
        let hint = |key: &str| without_its_table(&root, &steps(key).unwrap()).map(|error| error.message());
        for (written, expected) in [
            ("rate", "parking_lot.rate or flows[2].app.cbr.rate"),
            ("objects", "flows[1].app.web.objects"),
            ("target", "parking_lot.qdisc.target"),
            ("abe", "flows[0].cc.abe"),
            ("reads", "flows[0].app.bulk.reads"),
            ("sack", "flows[0].tcp.sack"),
            ("loss", "parking_lot.impairments.loss or parking_lot.back.impairments.loss"),
            ("count", "flows[0].count"),
            ("qdisc.target", "parking_lot.qdisc.target"),
            ("g", "flows[3].cc.dctcp.g"),
        ] {
            assert_eq!(hint(written).unwrap(), format!("is no key at the top; expected {expected}"));
        }
        assert_eq!((hint("duration"), hint("nothing")), (None, None));
    }
}
