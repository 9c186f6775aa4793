//! Reading of a table, key by key.

use crate::error::{Collected, Errors, InputError};
use crate::field::{Field, Quantity, read_parameter};
use crate::path::Path;
use crate::value::Value;
use std::collections::BTreeSet;

/// A table while its parameters are read, with the errors found so far.
#[derive(Debug)]
pub struct Table<'a> {
    values: &'a [(String, Value)],
    /// Errors, each with the place of its key in the table.
    errors: Vec<(usize, InputError)>,
}

impl<'a> Table<'a> {
    /// The table of these values; keys that are not `known`, or given twice, are its first errors.
    pub fn of(values: &'a [(String, Value)], known: &[&'static str]) -> Table<'a> {
        let (mut errors, mut seen) = (Vec::new(), BTreeSet::new());
        for (place, (key, _)) in values.iter().enumerate() {
            if errors.len() > MOST_ERRORS {
                break;
            }
            if !seen.insert(key.as_str()) {
                errors.push((place, InputError::repeated().at(Path::key(key))));
            } else if !known.contains(&key.as_str()) {
                errors.push((place, InputError::unknown_key(key, known.iter().copied())));
            }
        }
        Table { values, errors }
    }

    /// Reads one parameter; a value that is not given is the default, and an error where there is none.
    pub fn take<T: Quantity>(
        &mut self,
        key: &'static str,
        default: Option<fn() -> T>,
        fields: fn() -> Vec<Field>,
        is_valid: fn(&T) -> bool,
    ) -> Option<T> {
        let given = self.values.iter().enumerate().find(|(_, (name, _))| name == key);
        let Some((place, (_, value))) = given else {
            if default.is_none() {
                self.miss(key, fields);
            }
            return default.map(|default| default());
        };
        match read_parameter(key, value, fields, is_valid) {
            Ok(read) => Some(read),
            Err(errors) => {
                self.errors.extend(errors.into_iter().map(|error| (place, error)));
                None
            }
        }
    }

    /// A required key that is not given.
    fn miss(&mut self, key: &str, fields: fn() -> Vec<Field>) {
        // A key that is misspelled is not missing, too.
        if !self.errors.iter().any(|(_, error)| error.means(key)) {
            let field = fields().into_iter().find(|field| field.key == key);
            self.errors.extend(field.map(|field| (self.values.len(), field.missing())));
        }
    }

    /// The parameters read from it, or its errors in the order of the table.
    pub fn end<T>(mut self, params: Option<T>) -> Result<T, Errors> {
        self.errors.sort_by_key(|(place, _)| *place);
        let mut errors = Collected::default();
        errors.extend(self.errors.into_iter().map(|(_, error)| error));
        errors.end(params)
    }
}

/// Errors of one table beyond which further ones are not collected.
pub(crate) const MOST_ERRORS: usize = 100;
