//! Entries of catalogues with their parameters, as values.

use crate::error::{ErrorKind, Errors, InputError};
use crate::field::Page;
use crate::spec::Spec;
use crate::value::Value;
use std::fmt;

/// A catalogue: entries of one kind, each with parameters of its own.
///
/// A value names an entry in one of three forms: `"NAME"`, `"NAME:KEY=VALUE,KEY=VALUE"`, or the table
/// `{ NAME = { KEY = VALUE } }`.
pub struct Catalogue {
    /// An entry in words, with an article: `an application`.
    pub a_kind: &'static str,
    /// The same without it.
    pub kind: &'static str,
    /// A value that names one.
    pub example: &'static str,
    /// All entries.
    pub pages: fn() -> Vec<Page>,
}

impl Catalogue {
    /// Place of the entry that a value names, and its parameters as given.
    pub fn choose(&self, value: &Value) -> Result<(usize, Vec<(String, Value)>), Errors> {
        let (name, params) = match value {
            Value::Text(spec) => {
                let Spec { name, params } = Spec::parse(spec)?;
                (name, params)
            }
            Value::Table(entries) => match entries.as_slice() {
                [(name, Value::Table(params))] => (name.clone(), params.clone()),
                [(name, other)] if self.place(name).is_some() => {
                    let problem = format!("is not the table of the parameters of {name}");
                    return Err(Errors::from(InputError::of_type(other, problem, self.form())).at(name));
                }
                [(name, _)] => (name.clone(), Vec::new()),
                [] => return Err(InputError::new(ErrorKind::Missing, "is empty", self.form()).into()),
                [_, (second, _), ..] => {
                    let problem = format!("stands beside another name; {} has one", self.a_kind);
                    return Err(InputError::new(ErrorKind::Conflict, problem, self.form()).at(second).into());
                }
            },
            other => {
                return Err(InputError::of_type(other, format!("is not {}", self.a_kind), self.form()).into());
            }
        };
        let place = self.place(&name).ok_or_else(|| {
            let pages = (self.pages)();
            InputError::unknown_name(
                &name,
                format!("is not {}", self.a_kind),
                pages.iter().map(|page| page.stem),
            )
        })?;
        Ok((place, params))
    }

    fn place(&self, name: &str) -> Option<usize> {
        (self.pages)().iter().position(|page| page.stem == name)
    }

    fn form(&self) -> String {
        format!("{} such as {}", self.a_kind, self.example)
    }

    /// The value that names an entry with these parameters.
    pub fn written(name: &str, params: Vec<(String, Value)>) -> Value {
        if params.is_empty() {
            return Value::Text(name.into());
        }
        Value::Table(vec![(name.into(), Value::Table(params))])
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)
    }
}
