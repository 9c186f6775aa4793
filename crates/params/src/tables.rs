//! Tables of tables.

use crate::error::{At, Collected, ErrorKind, Errors, InputError};
use crate::field::{Described, Field, Kind, Quantity};
use crate::readers::table_of;
use crate::table::{MOST_ERRORS, Table};
use crate::value::Value;
use sojourn_units::Expected;

/// A table with the keys of two structs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Both<A, B> {
    /// The struct of the first keys.
    pub first: A,
    /// The struct of the others.
    pub second: B,
}

impl<A: Described, B: Described> Described for Both<A, B> {
    fn fields() -> Vec<Field> {
        [A::fields(), B::fields()].concat()
    }
    fn keys() -> Vec<&'static str> {
        [A::keys(), B::keys()].concat()
    }
    fn value(&self, key: &str) -> Value {
        if A::has(key) { self.first.value(key) } else { self.second.value(key) }
    }
    fn from_table(table: &mut Table<'_>) -> Option<Both<A, B>> {
        let (first, second) = (A::from_table(table), B::from_table(table));
        Some(Both { first: first?, second: second? })
    }
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), Errors> {
        if A::has(key) {
            self.first.assign(key, value)
        } else if B::has(key) {
            self.second.assign(key, value)
        } else {
            Err(InputError::unknown_key(key, Self::keys()).into())
        }
    }
    fn take(&mut self, key: &str, other: &Self) {
        self.first.take(key, &other.first);
        self.second.take(key, &other.second);
    }
}

impl<A: Described, B: Described> Quantity for Both<A, B> {
    fn kind() -> Kind {
        Kind::Keys(Self::fields)
    }
    fn read(value: &Value) -> Result<Both<A, B>, Errors> {
        Both::from_values(table_of(value)?)
    }
    fn write(&self) -> Value {
        Value::Table(self.changed())
    }
}

/// A list of tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables<T>(pub Vec<T>);

impl<T> Default for Tables<T> {
    fn default() -> Tables<T> {
        Tables(Vec::new())
    }
}

impl<T: Described + Quantity> Quantity for Tables<T> {
    fn kind() -> Kind {
        Kind::Tables(T::fields)
    }
    fn read(value: &Value) -> Result<Tables<T>, Errors> {
        let Value::List(items) = value else {
            let expected = Expected::Text("[[double brackets]] before each".into());
            return Err(InputError::new(ErrorKind::Type, "is not a list of tables", expected).into());
        };
        let (mut tables, mut errors) = (Vec::with_capacity(items.len()), Collected::default());
        for (place, item) in items.iter().enumerate() {
            tables.extend(errors.take(T::read(item).at(place)));
            if errors.count() > MOST_ERRORS {
                break;
            }
        }
        errors.end(Some(Tables(tables)))
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(Quantity::write).collect())
    }
}
