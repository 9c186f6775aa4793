//! Parameters of an entry of a catalogue, whichever entry it is.

use crate::error::{ErrorKind, Errors, InputError};
use crate::field::{Described, Field, Page};
use crate::value::Value;
use std::any::Any;
use std::fmt::Debug;

/// A struct of parameters behind a pointer; every struct made by [`params!`](crate::params) is one.
pub trait Params: Any + Debug + Send + Sync {
    /// The keys of all parameters, in order.
    fn all_keys(&self) -> Vec<&'static str>;
    /// Keys of the parameters that differ from their defaults, in order.
    fn changed_keys(&self) -> Vec<&'static str>;
    /// The value of one parameter; absent where there is none.
    fn value_of(&self, key: &str) -> Value;
    /// Sets one parameter; errors of an unknown key or an invalid value.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Errors>;
    /// Takes the value of one parameter from a struct of the same type; an error for one of another type.
    fn take_from(&mut self, key: &str, other: &dyn Params) -> Result<(), InputError>;
    /// True for a struct of the same type with equal values.
    fn equals(&self, other: &dyn Params) -> bool;
    /// A copy.
    fn copy(&self) -> Box<dyn Params>;
    /// The struct, for `of`.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Described + Clone + Debug + PartialEq + Send + Sync + 'static> Params for T {
    fn all_keys(&self) -> Vec<&'static str> {
        T::keys()
    }
    fn value_of(&self, key: &str) -> Value {
        Described::value(self, key)
    }
    fn changed_keys(&self) -> Vec<&'static str> {
        let is_changed = |field: &Field| self.value(field.key) != field.default;
        T::fields().into_iter().filter(is_changed).map(|field| field.key).collect()
    }
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Errors> {
        Described::assign(self, key, value)
    }
    fn take_from(&mut self, key: &str, other: &dyn Params) -> Result<(), InputError> {
        Described::take(self, key, other.of::<T>()?);
        Ok(())
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
    /// The struct, whose type the entry knows; an error for parameters of another entry.
    pub fn of<T: Described + 'static>(&self) -> Result<&T, InputError> {
        self.as_any().downcast_ref().ok_or_else(|| {
            let problem = "are those of another entry of the catalogue";
            InputError::new(ErrorKind::Conflict, problem, "its own parameters").at("parameters")
        })
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
        let is_given = |key: &&str| values.iter().any(|(given, _)| given == key);
        let keys = T::keys().into_iter().filter(is_given).collect();
        Ok(Given { params: Box::new(params), keys })
    }

    /// The given parameters with their values, in the order of the entry.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.keys.iter().map(|key| (*key, self.params.value_of(key)))
    }

    /// The same parameters, of which only those that differ from their defaults are given.
    pub fn shortest(&self) -> Given {
        Given { params: self.params.clone(), keys: self.params.changed_keys() }
    }

    /// The same, with the defaults of an entry that are others than the type's.
    pub fn shortest_of(&self, page: &Page) -> Given {
        let fields = (page.fields)();
        let is_changed = |field: &&Field| self.params.value_of(field.key) != field.default;
        let keys = fields.iter().filter(is_changed).map(|field| field.key).collect();
        Given { params: self.params.clone(), keys }
    }

    /// These parameters with those that `change` gives; an error for a change of another entry's parameters.
    pub fn with(&self, change: &Given) -> Result<Given, InputError> {
        let mut merged = self.clone();
        for key in &change.keys {
            merged.params.take_from(key, change.params.as_ref())?;
        }
        let is_given = |key: &&str| self.keys.contains(key) || change.keys.contains(key);
        merged.keys = merged.params.all_keys().into_iter().filter(is_given).collect();
        Ok(merged)
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Given) -> bool {
        self.keys == other.keys && self.params.equals(other.params.as_ref())
    }
}

/// Limit of the number of parameters: a table of any length would cost its square.
const MOST_PARAMS: usize = 100;
