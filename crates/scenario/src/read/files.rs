//! Tables of distributions in files of their own.

use crate::tables::File;
use sojourn_params::{At, Collected, Described, Errors, Field, InputError, Kind, Path, Value, draws};
use std::rc::Rc;

/// Reads a file beside the scenario by its name.
pub type Files = Rc<dyn Fn(&str) -> Result<Vec<u8>, InputError>>;

/// Replaces each distribution `{ file = NAME }` by its table.
pub(super) fn with_tables(value: &mut Value, files: &Files) -> Result<(), Errors> {
    let mut errors = Collected::default();
    load(value, &Path::default(), &Kind::Keys(File::fields), files, &mut errors);
    errors.end(Some(()))
}

fn load(value: &mut Value, path: &Path, kind: &Kind, files: &Files, errors: &mut Collected) {
    let under = |key: &str| path.clone().join(Path::key(key));
    match (kind, value) {
        (Kind::TimeDraw | Kind::SizeDraw, value) => {
            let table = file_of(value).map(|name| table_of(name, files).at(path));
            if let Some(table) = table.and_then(|table| errors.take(table)) {
                *value = table;
            }
        }
        (Kind::Keys(fields), Value::Table(entries)) => {
            let fields = fields();
            for (key, inner) in entries {
                if let Some(field) = nested(&fields, key) {
                    load(inner, &under(key), &field.kind, files, errors);
                }
            }
        }
        (Kind::Tables(fields), Value::List(items)) => {
            for (place, item) in items.iter_mut().enumerate() {
                load(item, &path.clone().join(place), &Kind::Keys(*fields), files, errors);
            }
        }
        (Kind::Entry(catalogue) | Kind::EntryOrFile(catalogue), Value::Table(entries)) => {
            for (name, inner) in entries {
                if let Some(page) = (catalogue.pages)().into_iter().find(|page| page.stem == name) {
                    load(inner, &under(name), &Kind::Keys(page.fields), files, errors);
                }
            }
        }
        _ => {}
    }
}

/// The field of a key whose value may hold a distribution.
fn nested<'a>(fields: &'a [Field], key: &str) -> Option<&'a Field> {
    fields.iter().find(|field| field.key == key).filter(|field| {
        matches!(
            field.kind,
            Kind::TimeDraw | Kind::SizeDraw | Kind::Keys(_) | Kind::Tables(_) | Kind::Entry(_)
        )
    })
}

fn file_of(value: &Value) -> Option<&str> {
    match value {
        Value::Table(entries) => match entries.as_slice() {
            [(key, Value::Text(name))] if key == "file" => Some(name),
            _ => None,
        },
        _ => None,
    }
}

fn table_of(name: &str, files: &Files) -> Result<Value, InputError> {
    let text = files(name)?;
    draws::table_of(&text)
        .map_err(|error| InputError { problem: format!("{name}, {}", error.problem), ..error })
}
