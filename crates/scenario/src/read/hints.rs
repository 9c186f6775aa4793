//! Better errors of unknown keys: those below a header that is missing, and those that belong to an entry of a
//! catalogue.

use crate::apps::Entry;
use crate::diagnostics::Place;
use crate::overrides;
use crate::tables::{Key, NETWORKS, keys};
use crate::tree::Node;
use sojourn_params::{Described, ErrorKind, InputError, Kind};
use sojourn_tcp::Profile;
use sojourn_units::nearest;

/// The errors of a file's tables, with those of unknown keys as exact as the file allows.
pub(super) fn improved(errors: Vec<InputError>, root: &Node) -> Vec<InputError> {
    let lost = lost_table(&errors, root);
    let mut improved = Vec::new();
    // Tables with keys below a missing header, and those that the headers are of.
    let (mut below, mut missing): (Vec<String>, Vec<String>) = (Vec::new(), lost.iter().cloned().collect());
    for error in errors {
        if error.kind != ErrorKind::UnknownKey {
            improved.push(error);
            continue;
        }
        let (above, key) = error.key.rsplit_once('.').unwrap_or(("", &error.key));
        let is_in_file = is_in_file(&error, root);
        if let Some(moved) = moved(&error, above, key, root) {
            missing.push(format!("{above}.app.{key}"));
            improved.push(moved);
            continue;
        }
        let outer = lost.as_deref().filter(|table| is_in_file && has(table, key));
        let other = if outer.is_none() { of_another_app(&error, above, key, root) } else { None };
        let inner =
            inner_table(above, key, root).filter(|_| is_in_file && outer.is_none() && other.is_none());
        let inner_path = inner.map(Key::path);
        let Some(table) = outer.or(inner_path.as_deref()) else {
            improved.push(other.unwrap_or_else(|| with_hint(error.clone(), above, key, root)));
            continue;
        };
        missing.extend(inner.map(|inner| format!("{above}.{}", inner.name())));
        // Keys after one below a missing header are below it, too.
        if below.iter().all(|known| known != above) {
            below.push(above.into());
            let header = header(table);
            let problem = format!("is a key of {header}, which is missing");
            let expected = format!("{header} above it");
            improved.push(InputError::new(ErrorKind::UnknownKey, problem, expected).at(&error.key));
        }
    }
    improved.retain(|error| error.kind != ErrorKind::Missing || !missing.contains(&error.key));
    improved.into_iter().map(of_table).collect()
}

/// The error; that of a missing table names its header.
fn of_table(error: InputError) -> InputError {
    let path = without_places(&error.key);
    let kind = keys().iter().find(|key| error.kind == ErrorKind::Missing && key.path() == path);
    let expected = match kind.map(|key| &key.field.kind) {
        Some(Kind::Keys(_)) => format!("a table {}", header(&path)),
        Some(Kind::Tables(_)) => format!("one or more tables {}", header(&path)),
        _ => return error,
    };
    InputError { expected: expected.into(), ..error }
}

/// Error of a parameter of the application, or of a setting of TCP, in the group of flows itself.
fn moved(error: &InputError, above: &str, key: &str, root: &Node) -> Option<InputError> {
    let group = group(above, root)?;
    let app = overrides::app(group);
    let is_setting = Profile::has(key);
    let (problem, dotted) = if is_setting {
        ("is a setting of TCP".into(), format!("tcp.{key}"))
    } else if Entry::named(app).is_some_and(|entry| entry.has(key)) {
        (format!("is a key of app = \"{app}\""), format!("app.{app}.{key}"))
    } else {
        return None;
    };
    // The command line has dotted keys, a file tables.
    let expected = if is_in_file(error, root) {
        let table = in_tables(&dotted);
        let is_beside_table = !is_setting && group.entry("app").is_some() && group.text("app").is_none();
        if is_beside_table { table } else { format!("{table}, which `sojourn check --rewrite` writes") }
    } else {
        format!("{above}.{dotted}")
    };
    Some(InputError::new(ErrorKind::UnknownKey, problem, expected).at(&error.key))
}

/// Error of a parameter of other applications in a group of flows.
fn of_another_app(error: &InputError, above: &str, key: &str, root: &Node) -> Option<InputError> {
    let app = overrides::app(group(above, root)?);
    let others = Entry::all().iter().filter(|entry| entry.has(key));
    let others: Vec<String> =
        others.map(|entry| format!("{{ {} = {{ {key} = VALUE }} }}", entry.page.stem)).collect();
    let problem = format!("is not a key of app = \"{app}\"");
    let expected = format!("app = {}", others.join(", "));
    (!others.is_empty()).then(|| InputError::new(ErrorKind::UnknownKey, problem, expected).at(&error.key))
}

/// The error of an unknown key; one like a parameter of the application or a setting of TCP has that as its hint.
fn with_hint(error: InputError, above: &str, key: &str, root: &Node) -> InputError {
    let Some(group) = group(above, root).filter(|_| error.hint.is_none()) else { return error };
    let app = overrides::app(group);
    let params = Entry::named(app).map_or_else(Vec::new, |entry| (entry.page.fields)());
    let params = params.iter().map(|field| (field.key, format!("\"app.{app}.{}\"", field.key)));
    let settings = Profile::fields();
    let settings = settings.iter().map(|field| (field.key, format!("\"tcp.{}\"", field.key)));
    let known: Vec<(&str, String)> = params.chain(settings).collect();
    let near = nearest(key, known.iter().map(|(name, _)| *name));
    let hint =
        near.and_then(|near| known.into_iter().find(|(name, _)| *name == near)).map(|(_, dotted)| dotted);
    InputError { hint, ..error }
}

/// The group of flows at this path.
fn group<'a>(path: &str, root: &'a Node) -> Option<&'a Node> {
    (without_places(path) == "flows").then(|| root.at(path))
}

/// `app.web.objects` as `app = { web = { objects = VALUE } }`.
fn in_tables(dotted: &str) -> String {
    let mut steps = dotted.split('.');
    let top = steps.next().unwrap_or_default();
    let inner = steps.rev().fold("VALUE".to_string(), |value, step| format!("{{ {step} = {value} }}"));
    format!("{top} = {inner}")
}

/// The table at the top without a header whose keys are in other tables; of several the one with most of them.
fn lost_table(errors: &[InputError], root: &Node) -> Option<String> {
    let unknown: Vec<&str> = errors
        .iter()
        .filter(|error| error.kind == ErrorKind::UnknownKey && is_in_file(error, root))
        .map(|error| error.key.rsplit('.').next().unwrap_or_default())
        .collect();
    let hinted = |name: &str| {
        let quoted = format!("\"{name}\"");
        errors.iter().any(|error| !error.key.contains('.') && error.hint.as_ref() == Some(&quoted))
    };
    let network = NETWORKS.iter().any(|name| root.entry(name).is_some());
    let held = |table: &str| unknown.iter().filter(|key| has(table, key)).count();
    let candidates: Vec<&str> = keys()
        .iter()
        .filter(|key| key.table.is_empty() && is_table(&key.field.kind))
        .map(Key::name)
        .filter(|name| root.entry(name).is_none() && !hinted(name))
        .filter(|name| !network || !NETWORKS.contains(name))
        .filter(|name| held(name) > 0)
        .collect();
    candidates.into_iter().rev().max_by_key(|name| held(name)).map(String::from)
}

/// The table inside `above` that has such a key and is not given.
fn inner_table<'a>(above: &str, key: &str, root: &Node) -> Option<&'a Key> {
    let table = without_places(above);
    let inside =
        keys().iter().filter(|one| !table.is_empty() && one.table == table && is_table(&one.field.kind));
    let given = |name: &str| root.at(above).entry(name).is_some();
    inside.filter(|one| one.name() != "tcp" && !given(one.name())).find(|one| has(&one.path(), key))
}

fn is_in_file(error: &InputError, root: &Node) -> bool {
    matches!(root.at(&error.key).place, Place::File(_))
}

fn is_table(kind: &Kind) -> bool {
    matches!(kind, Kind::Keys(_) | Kind::Tables(_))
}

/// True where a table has such a key.
fn has(table: &str, key: &str) -> bool {
    keys().iter().any(|one| one.table == table && one.name() == key)
}

/// The header line of a table.
fn header(table: &str) -> String {
    let is_list = keys().iter().any(|key| key.path() == table && matches!(key.field.kind, Kind::Tables(_)));
    if is_list { format!("[[{table}]]") } else { format!("[{table}]") }
}

/// `flows[0].tcp` as `flows.tcp`.
fn without_places(path: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for letter in path.chars() {
        match letter {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside => {}
            _ => text.push(letter),
        }
    }
    text
}
