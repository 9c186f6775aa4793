//! All keys of a file, from the tables.

use super::file::File;
use sojourn_params::{Described, Field, Kind, Path};
use std::sync::LazyLock;

/// A key of a file.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its table, `"flows.access"`; empty at the top of the file.
    pub table: String,
    /// Its path in the first item of each list on the way, `"flows[0].access.rate"`.
    pub first: Path,
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
        add(&mut keys, "", &Path::default(), File::fields());
        keys
    });
    &KEYS
}

fn add(keys: &mut Vec<Key>, table: &str, above: &Path, fields: Vec<Field>) {
    for field in fields {
        let key = Key { table: table.into(), first: above.clone().join(field.key), field };
        let (path, first, kind) = (key.path(), key.first.clone(), key.field.kind.clone());
        keys.push(key);
        match kind {
            Kind::Keys(inner) => add(keys, &path, &first, inner()),
            Kind::Tables(inner) => add(keys, &path, &first.join(0), inner()),
            _ => {}
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
            assert_eq!(key.field.why.is_empty(), key.field.is_required, "{}", key.path());
            assert!(!key.field.about.is_empty(), "{}", key.path());
        }
        for path in
            ["bottleneck.back.qdisc", "links.from", "flows.tcp.prr", "flows.access.delay", "at.set.LINK.rate"]
        {
            assert!(seen.contains(path), "{path}");
        }
    }
}
