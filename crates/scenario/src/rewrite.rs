//! Rewrites files whose keys have moved.
//!
//! | before | now |
//! |---|---|
//! | `app = "web"` beside `objects = 20` | `app = { web = { objects = 20 } }` |
//! | `sack = false` beside `cc` | `tcp = { sack = false }` |
//! | `trace = { model = "lte", mean = ... }` | `trace = { lte = { mean = ... } }` |

use crate::apps::App;
use crate::diagnostics::Diagnostics;
use crate::tree;
use sojourn_params::{Described, ErrorKind, Expected, InputError};
use sojourn_tcp::Profile;
use toml_edit::{Decor, DocumentMut, InlineTable, Item, Key, RawString, TableLike, Value};

/// The same file with the keys of today, comments and order kept; None where no key has moved.
///
/// Errors of a text that is not TOML call the file `name`.
pub fn rewritten(text: &[u8], name: &str) -> Result<Option<String>, Diagnostics> {
    let text = tree::readable(text, name)?;
    tree::parse(text, name, &[])?;
    let mut file: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        let error = InputError::new(ErrorKind::Syntax, error.message().to_string(), Expected::Unstated);
        Diagnostics::of_syntax(name, text, at, None, error)
    })?;
    let root = file.as_table_mut();
    let mut moved = false;
    for name in ["bottleneck", "parking_lot", "two_bottlenecks", "home", "links"] {
        if let Some(item) = root.get_mut(name) {
            moved |= each(item, &mut links);
        }
    }
    if let Some(item) = root.get_mut("flows") {
        moved |= each(item, &mut group);
    }
    // The ends of lines are the file's own.
    let is_crlf = text.matches('\n').count() == text.matches("\r\n").count();
    let written = || if is_crlf { file.to_string().replace('\n', "\r\n") } else { file.to_string() };
    Ok(moved.then(written))
}

/// Rewrites a table, or each of a list; true if one has changed.
fn each(item: &mut Item, rewrite: &mut dyn FnMut(&mut dyn TableLike) -> bool) -> bool {
    if let Some(tables) = item.as_array_of_tables_mut() {
        return tables.iter_mut().fold(false, |moved, table| rewrite(table) | moved);
    }
    if let Some(array) = item.as_array_mut() {
        let tables = array.iter_mut().filter_map(Value::as_inline_table_mut);
        return tables.fold(false, |moved, table| rewrite(table) | moved);
    }
    item.as_table_like_mut().is_some_and(rewrite)
}

/// A direction of a link and those inside it.
fn links(table: &mut dyn TableLike) -> bool {
    let moved = trace(table);
    let inside =
        ["back", "up", "down"].map(|name| table.get_mut(name).is_some_and(|item| each(item, &mut links)));
    moved || inside.contains(&true)
}

/// `{ model = NAME, KEY = VALUE }` as `{ NAME = { KEY = VALUE } }`.
fn trace(table: &mut dyn TableLike) -> bool {
    let Some(trace) = table.get_mut("trace").and_then(Item::as_table_like_mut) else { return false };
    let Some(model) = trace.get("model").and_then(Item::as_str).map(String::from) else { return false };
    let mut all = taken(trace, |_| true);
    all.entries.retain(|(key, _)| key != "model");
    let (params, place) = all.into_table();
    put(trace, &model, params, &place);
    true
}

/// A group of flows.
fn group(table: &mut dyn TableLike) -> bool {
    // An application in a table has its parameters there.
    let app = table.get("app").map_or(Some("bulk"), Item::as_str).unwrap_or_default().to_string();
    let params = taken(table, |key| App::named(&app).is_some_and(|entry| entry.has(key)));
    let settings = taken(table, Profile::has);
    let moved = !settings.entries.is_empty() || !params.entries.is_empty();
    if !params.entries.is_empty() {
        let (params, place) = params.into_table();
        put(table, "app", InlineTable::from_iter([(app.as_str(), params)]), &place);
    }
    match table.get_mut("tcp") {
        _ if settings.entries.is_empty() => {}
        Some(Item::Table(tcp)) => {
            let mut comments = settings.comments;
            for (key, value) in settings.entries {
                let decor = Decor::new(std::mem::take(&mut comments), " ");
                tcp.insert_formatted(&Key::new(key).with_leaf_decor(decor), Item::Value(value));
            }
        }
        Some(Item::Value(Value::InlineTable(tcp))) => {
            // The blank before the brace.
            tcp.iter_mut().for_each(|(_, value)| trim_end(value));
            tcp.extend(settings.entries);
            put_above(table, "tcp", &settings.comments);
        }
        _ => {
            let (settings, place) = settings.into_table();
            put(table, "tcp", settings, &place);
        }
    }
    moved
}

/// Entries that were taken out of a table, and their place in it.
#[derive(Default)]
struct Taken {
    entries: Vec<(String, Value)>,
    /// Comments at them, a line each.
    comments: String,
    /// Keys behind the first of them.
    after: Vec<String>,
    /// Column of the first one's equals sign, where these are aligned.
    column: usize,
}

/// The entries with such keys, taken out of a table.
fn taken(table: &mut dyn TableLike, is_taken: impl Fn(&str) -> bool) -> Taken {
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
    let blanks = |key: &String| table.key(key).map_or(0, |key| text_of(key.leaf_decor().suffix()).len());
    let is_aligned = keys.iter().any(|key| blanks(key) > 1);
    let mut all = Taken::default();
    for name in keys {
        if !is_taken(&name) {
            if !all.entries.is_empty() {
                all.after.push(name);
            }
            continue;
        }
        if let Some((key, item)) = table.get_key_value(&name) {
            all.comments += &comments_at(key, item);
            if all.entries.is_empty() && is_aligned {
                all.column = name.len() + text_of(key.leaf_decor().suffix()).len();
            }
        }
        if let Some(mut value) = table.remove(&name).and_then(|item| item.into_value().ok()) {
            value.decor_mut().clear();
            all.entries.push((name, value));
        }
    }
    all
}

impl Taken {
    /// The entries as a table, and the rest.
    fn into_table(mut self) -> (InlineTable, Taken) {
        (std::mem::take(&mut self.entries).into_iter().collect(), self)
    }
}

fn text_of(text: Option<&RawString>) -> &str {
    text.and_then(RawString::as_str).unwrap_or_default()
}

/// The comments above and behind a key with its value, and those inside a table with a header of its own.
fn comments_at(key: &Key, item: &Item) -> String {
    let of = |decor: &Decor| -> String {
        let texts = [decor.prefix(), decor.suffix()].map(text_of);
        let lines =
            texts.into_iter().flat_map(str::lines).map(str::trim).filter(|line| line.starts_with('#'));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let own = match item {
        Item::Table(table) => {
            let inside = table.iter().filter_map(|(key, _)| table.get_key_value(key));
            of(table.decor()) + &inside.map(|(key, item)| comments_at(key, item)).collect::<String>()
        }
        Item::Value(value) => of(value.decor()),
        _ => String::new(),
    };
    of(key.leaf_decor()) + &own
}

/// Sets a key in its place, or in that of the entries that were taken, with their comments above it.
fn put(table: &mut dyn TableLike, key: &str, value: InlineTable, place: &Taken) {
    let mut value = Value::InlineTable(value);
    if let Some(item) = table.get_mut(key) {
        if let Some(old) = item.as_value() {
            *value.decor_mut() = old.decor().clone();
        }
        *item = Item::Value(value);
    } else {
        let blank = " ".repeat(place.column.saturating_sub(key.len()).max(1));
        let new = Key::new(key).with_leaf_decor(Decor::new("", blank));
        table.entry_format(&new).or_insert(Item::Value(value));
        for name in &place.after {
            let old = table.get_key_value(name).map(|(key, _)| key.clone());
            if let (Some(key), Some(item)) = (old, table.remove(name)) {
                table.entry_format(&key).or_insert(item);
            }
        }
    }
    put_above(table, key, &place.comments);
}

/// Puts further comments above a key.
fn put_above(table: &mut dyn TableLike, key: &str, comments: &str) {
    if let Some(mut key) = table.key_mut(key).filter(|_| !comments.is_empty()) {
        let above = text_of(key.leaf_decor().prefix()).to_string();
        key.leaf_decor_mut().set_prefix(above + comments);
    }
}

/// Removes blanks behind a value.
fn trim_end(value: &mut Value) {
    if text_of(value.decor().suffix()).trim().is_empty() {
        value.decor_mut().set_suffix("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_keys_are_put_where_they_belong() {
        let before = "# a file\ntitle = \"x\"\n\n[bottleneck]\nrate = \"8 Mbit/s\" # fast\n\
            trace = { model = \"lte\", mean = \"1 Mbit/s\" }\n\n[[flows]]\ncount = 2\napp = \"web\" # pages\n\
            objects = 20\nsize = { exponential = \"2 kB\" }\nsack = false\n\n[[flows]]\ntcp = { prr = false }\n\
            delayed_ack = false\n";
        let after = "# a file\ntitle = \"x\"\n\n[bottleneck]\nrate = \"8 Mbit/s\" # fast\n\
            trace = { lte = { mean = \"1 Mbit/s\" } }\n\n[[flows]]\ncount = 2\n\
            app = { web = { objects = 20, size = { exponential = \"2 kB\" } } } # pages\ntcp = { sack = false }\n\n\
            [[flows]]\ntcp = { prr = false, delayed_ack = false }\n";
        let rewritten = |text: &str| rewritten(text.as_bytes(), "f.toml");
        assert_eq!(rewritten(before).unwrap().as_deref(), Some(after));
        assert_eq!(rewritten(after), Ok(None));
    }

    #[test]
    fn other_text_is_refused() {
        let errors = rewritten(b"a = 1\nb = x y\n", "f.toml").unwrap_err();
        assert!(errors.to_string().starts_with("f.toml:2:5: is not TOML: x y is not a value"), "{errors}");
    }
}
