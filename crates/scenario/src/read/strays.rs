//! Keys whose header is missing: they end up in the preceding table, where they are unknown.

use crate::diagnostics::Place;
use crate::keys::{Key, NETWORKS, keys_of};
use crate::tree::{Node, Tree};
use sojourn_params::Kind;
use sojourn_units::nearest;

/// The top-level table without a header whose keys are in another table.
pub(super) fn lost_table(root: &Node) -> Option<&'static Key> {
    let Tree::Table(entries) = &root.tree else { return None };
    let unknown_at_top = unknown_of(root, "");
    let has = |name: &str| entries.iter().any(|(key, _)| key == name);
    let candidates: Vec<&Key> = keys_of("")
        .filter(|key| header(key).is_some() && !has(key.name))
        .filter(|key| !NETWORKS.contains(&key.name) || !NETWORKS.iter().any(|name| has(name)))
        .filter(|key| unknown_at_top.iter().all(|name| nearest(name, [key.name]).is_none()))
        .collect();
    let within = entries.iter().flat_map(|(name, node)| match &node.tree {
        Tree::List(items) => items.iter().map(|item| (name.as_str(), item)).collect(),
        _ => vec![(name.as_str(), node)],
    });
    std::iter::once(("", root)).chain(within).find_map(|(table, node)| {
        let unknown = unknown_of(node, table);
        let held = |key: &&Key| unknown.iter().filter(|name| has_key(key, name)).count();
        // Of several with as many of the keys the first.
        candidates.iter().rev().copied().max_by_key(held).filter(|key| held(key) > 0)
    })
}

/// The table inside `table` that has such a key and is not given.
pub(super) fn inner_table(table: &str, name: &str, given: impl Fn(&str) -> bool) -> Option<&'static Key> {
    keys_of(table).find(|key| !table.is_empty() && has_key(key, name) && !given(key.name))
}

/// True where a table has such a key.
pub(super) fn has_key(table: &Key, name: &str) -> bool {
    header(table).is_some() && keys_of(&table.path()).any(|key| key.name == name)
}

/// Error message of a key whose header is missing.
pub(super) fn stray(table: &Key) -> String {
    let header = header(table).unwrap_or_default();
    format!("is a key of {header}, which is missing; expected {header} above it")
}

/// The header line of a table; None for other keys.
fn header(key: &Key) -> Option<String> {
    match key.kind() {
        Kind::Table => Some(format!("[{}]", key.path())),
        Kind::Tables => Some(format!("[[{}]]", key.path())),
        _ => None,
    }
}

/// Keys of the file that a table does not have.
fn unknown_of(node: &Node, table: &str) -> Vec<String> {
    let Tree::Table(entries) = &node.tree else { return Vec::new() };
    let mut flat = Vec::new();
    flatten(entries, table, "", &mut flat);
    let is_known = |name: &str| keys_of(table).any(|key| key.name == name);
    let of_file = flat.into_iter().filter(|(_, node)| matches!(node.place, Place::File(_)));
    of_file.map(|(name, _)| name).filter(|name| !is_known(name)).collect()
}

/// The entries of a table; where keys hold dots, tables inside it are taken as dotted keys.
pub(super) fn flatten<'a>(
    entries: &'a [(String, Node)],
    table: &str,
    prefix: &str,
    out: &mut Vec<(String, &'a Node)>,
) {
    for (key, node) in entries {
        let name = format!("{prefix}{key}");
        let stem = format!("{name}.");
        match &node.tree {
            Tree::Table(inner) if keys_of(table).any(|key| key.name.starts_with(&stem)) => {
                flatten(inner, table, &stem, out);
            }
            _ => out.push((name, node)),
        }
    }
}
