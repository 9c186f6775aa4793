//! Entries of catalogues with their parameters, as values.

use crate::error::{ErrorKind, Errors, InputError};
use crate::field::{Page, Quantity};
use crate::path::Path;
use crate::spec::Spec;
use crate::value::Value;
use sojourn_units::Expected;
use std::fmt;

/// A catalogue: entries of one kind, each with parameters of its own.
///
/// A value names an entry in one of three forms: `"NAME"`, `"NAME:KEY=VALUE,KEY=VALUE"`, or the table
/// `{ NAME = { KEY = VALUE } }`. A catalogue with a tag has a short form of that table, `{ TAG = "NAME", KEY = VALUE }`,
/// for entries without a parameter called so.
pub struct Catalogue {
    /// An entry in words, with an article: `an application`.
    pub a_kind: &'static str,
    /// The same without it.
    pub kind: &'static str,
    /// A value that names one.
    pub example: &'static str,
    /// Key of the name in the short form.
    pub tag: Option<&'static str>,
    /// All entries.
    pub pages: fn() -> Vec<Page>,
    /// Problem of a name that means something else; None: it is no entry.
    pub problem: fn(&str) -> Option<String>,
    /// Names by which entries are known elsewhere, each with its name here.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// An entry that a value names, with its parameters as given.
pub struct Chosen {
    /// Its place in the catalogue.
    pub place: usize,
    /// Its parameters.
    pub params: Vec<(String, Value)>,
    /// The table in which they stand, below that of the value; empty in the short form.
    table: &'static str,
}

impl Chosen {
    /// Reads the parameters by `read`; errors begin with the table in which they stand.
    pub fn read<T>(self, read: impl FnOnce(&[(String, Value)]) -> Result<T, Errors>) -> Result<T, Errors> {
        read(&self.params).map_err(|errors| errors.at(self.table))
    }
}

impl Catalogue {
    /// The entry that a value names.
    pub fn choose(&self, value: &Value) -> Result<Chosen, Errors> {
        match value {
            Value::Text(spec) => {
                let Spec { name, params } = Spec::parse(spec)?;
                let place = self.place(&name)?;
                // A parameter has one path, as if it stood in a table.
                let table = if self.tag.is_some() { "" } else { (self.pages)()[place].stem };
                Ok(Chosen { place, params, table })
            }
            Value::Table(entries) => match self.tag {
                Some(tag) if !self.names_an_entry(entries) => self.tagged(tag, entries),
                _ => self.nested(entries),
            },
            other => {
                let problem = format!("is not {}", self.a_kind);
                Err(InputError::of_type(other, problem, Expected::Like(self.example.into())).into())
            }
        }
    }

    /// Place of the entry called `name`.
    pub fn place(&self, name: &str) -> Result<usize, InputError> {
        let pages = (self.pages)();
        pages.iter().position(|page| page.stem == name).ok_or_else(|| {
            let stems = pages.iter().map(|page| page.stem);
            let problem = (self.problem)(name).unwrap_or_else(|| format!("is not {}", self.a_kind));
            let error = InputError::unknown_name(name, problem, stems);
            let known = self.elsewhere.iter().find(|(other, _)| *other == name);
            match known {
                Some((_, own)) => error.meaning(own),
                None => error,
            }
        })
    }

    /// `{ NAME = { KEY = VALUE } }`.
    fn nested(&self, entries: &[(String, Value)]) -> Result<Chosen, Errors> {
        match entries {
            [(name, value)] => {
                let place = self.place(name)?;
                let table = (self.pages)()[place].stem;
                match value {
                    Value::Table(params) => Ok(Chosen { place, params: params.clone(), table }),
                    other => {
                        let problem = format!("is not the table of the parameters of {name}");
                        Err(Errors::from(InputError::of_type(other, problem, self.form())).at(table))
                    }
                }
            }
            [] => Err(InputError::new(ErrorKind::Missing, "is empty", self.form()).into()),
            [_, (second, _), ..] => {
                let problem = format!("stands beside another name; {} has one", self.a_kind);
                Err(InputError::new(ErrorKind::Conflict, problem, self.form()).at(Path::key(second)).into())
            }
        }
    }

    /// `{ TAG = "NAME", KEY = VALUE }`.
    fn tagged(&self, tag: &'static str, entries: &[(String, Value)]) -> Result<Chosen, Errors> {
        let (names, params): (Vec<_>, Vec<_>) = entries.iter().cloned().partition(|(key, _)| key == tag);
        let [(_, name)] = names.as_slice() else {
            let (stem, _) = self.example.trim_matches('"').split_once(':').unwrap_or((self.example, ""));
            let a_kind = self.a_kind;
            let expected = format!("the name of {a_kind}, as in {{ {tag} = \"{stem}\" }}");
            let missing = InputError::missing(expected);
            let error = if names.is_empty() { missing } else { InputError::repeated() };
            return Err(error.at(tag).into());
        };
        let name = String::read(name).map_err(|errors| errors.at(tag))?;
        let place = self.place(&name).map_err(|error| error.at(tag))?;
        if !self.has_short_form(&(self.pages)()[place]) {
            let expected = format!("a table of its name, as in {{ {name} = {{ {tag} = ... }} }}");
            let error = InputError::conflict(&name, "has a parameter of this name", expected);
            return Err(error.at(tag).into());
        }
        Ok(Chosen { place, params, table: "" })
    }

    /// True for an entry that the tag can name: it has no parameter called so.
    pub fn has_short_form(&self, page: &Page) -> bool {
        self.tag.is_some_and(|tag| !page.has(tag))
    }

    /// True for a table whose only key is the name of an entry.
    fn names_an_entry(&self, entries: &[(String, Value)]) -> bool {
        matches!(entries, [(name, _)] if (self.pages)().iter().any(|page| page.stem == name))
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
