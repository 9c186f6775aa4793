//! All keys of a file, from the tables.

use super::file::File;
use sojourn_params::{Described, Field, Kind};
use std::sync::LazyLock;

/// A key of a file.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its table, `"flows.access"`; empty at the top of the file.
    pub table: String,
    /// Its description.
    pub field: Field,
}

impl Key {
    /// Its dotted path, `"flows.count"`.
    pub fn path(&self) -> String {
        if self.table.is_empty() {
            self.field.key.into()
        } else {
            format!("{}.{}", self.table, self.field.key)
        }
    }

    /// Its last name.
    pub fn name(&self) -> &'static str {
        self.field.key
    }
}

/// All keys of a file, tables before their keys; those of entries of catalogues are on the pages of these.
pub fn keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let mut keys = Vec::new();
        add(&mut keys, "", File::fields());
        keys
    });
    &KEYS
}

fn add(keys: &mut Vec<Key>, table: &str, fields: Vec<Field>) {
    for field in fields {
        let key = Key { table: table.into(), field };
        let (path, kind) = (key.path(), key.field.kind.clone());
        keys.push(key);
        if let Kind::Keys(inner) | Kind::Tables(inner) = kind {
            add(keys, &path, inner());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_key_is_listed_once_with_a_reason_for_its_default() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            assert!(seen.insert(key.path()), "{} is there twice", key.path());
            assert!(!key.field.why.is_empty() && !key.field.about.is_empty(), "{}", key.path());
        }
        for path in
            ["bottleneck.back.qdisc", "links.from", "flows.tcp.prr", "flows.access.delay", "at.set.LINK.rate"]
        {
            assert!(seen.contains(path), "{path}");
        }
    }
}
