//! Parameters of an entry of a catalogue, whichever entry it is.

use crate::error::{ErrorKind, Errors, InputError};
use crate::field::{Described, Field};
use crate::value::Value;
use std::any::Any;
use std::fmt::Debug;

/// A struct of parameters behind a pointer; every struct made by [`params!`](crate::params) is one.
pub trait Params: Any + Debug + Send + Sync {
    /// All parameters with their values, in order.
    fn all_values(&self) -> Vec<(&'static str, Value)>;
    /// Sets one parameter; errors of an unknown key or an invalid value.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Errors>;
    /// Takes the value of one parameter from a struct of the same type.
    fn take_from(&mut self, key: &str, other: &dyn Params);
    /// True for a struct of the same type with equal values.
    fn equals(&self, other: &dyn Params) -> bool;
    /// A copy.
    fn copy(&self) -> Box<dyn Params>;
    /// The struct, for `of`.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Described + Clone + Debug + PartialEq + Send + Sync + 'static> Params for T {
    fn all_values(&self) -> Vec<(&'static str, Value)> {
        Described::values(self)
    }
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Errors> {
        Described::assign(self, key, value)
    }
    fn take_from(&mut self, key: &str, other: &dyn Params) {
        Described::take(self, key, other.of::<T>());
    }
    fn equals(&self, other: &dyn Params) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }
    fn copy(&self) -> Box<dyn Params> {
        Box::new(self.clone())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl dyn Params {
    /// The struct, whose type the entry knows. Panics for parameters of another entry.
    pub fn of<T: Described + 'static>(&self) -> &T {
        self.as_any().downcast_ref().expect("the parameters of this entry")
    }
}

impl Clone for Box<dyn Params> {
    fn clone(&self) -> Box<dyn Params> {
        self.as_ref().copy()
    }
}

/// An entry's parameters, and which of them were given.
#[derive(Clone, Debug)]
pub struct Given {
    /// All parameters.
    pub params: Box<dyn Params>,
    /// Keys of those that were given, in the order of the entry.
    pub keys: Vec<&'static str>,
}

impl Given {
    /// Reads the given parameters of an entry whose struct is `T`; all errors of them.
    pub fn read<T: Described + Clone + Debug + PartialEq + Send + Sync + 'static>(
        values: &[(String, Value)],
    ) -> Result<Given, Errors> {
        if values.len() > MOST_PARAMS {
            let expected = format!("at most {MOST_PARAMS}");
            return Err(InputError::new(ErrorKind::Range, "parameters are too many", expected)
                .found(values.len())
                .into());
        }
        let params = T::from_values(values)?;
        let is_given = |field: &Field| values.iter().any(|(key, _)| key == field.key);
        let keys = T::fields().iter().filter(|field| is_given(field)).map(|field| field.key).collect();
        Ok(Given { params: Box::new(params), keys })
    }

    /// The given parameters with their values, in the order of the entry.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.params.all_values().into_iter().filter(|(key, _)| self.keys.contains(key))
    }

    /// These parameters with those that `change` gives.
    pub fn with(&self, change: &Given) -> Given {
        self.with_keys(change, &change.keys)
    }

    /// These parameters with those of these keys that `change` gives.
    pub fn with_keys(&self, change: &Given, keys: &[&'static str]) -> Given {
        let mut merged = self.clone();
        let taken = |key: &&str| change.keys.contains(key) && keys.contains(key);
        for key in change.keys.iter().filter(|key| taken(key)) {
            merged.params.take_from(key, change.params.as_ref());
        }
        let order = merged.params.all_values();
        let is_given = |key: &&str| self.keys.contains(key) || taken(key);
        merged.keys = order.into_iter().map(|(key, _)| key).filter(is_given).collect();
        merged
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Given) -> bool {
        self.keys == other.keys && self.params.equals(other.params.as_ref())
    }
}

/// Limit of the number of parameters: a table of any length would cost its square.
const MOST_PARAMS: usize = 100;
