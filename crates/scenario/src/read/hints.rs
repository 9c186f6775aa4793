//! Better errors of unknown keys: those below a header that is missing, and those that belong to an entry of a
//! catalogue.

use crate::apps::App;
use crate::diagnostics::Place;
use crate::overrides;
use crate::tables::{Key, NETWORKS, keys};
use crate::tree::Node;
use sojourn_params::{Described, ErrorKind, Expected, InputError, Kind, Path};
use sojourn_tcp::Profile;
use sojourn_units::nearest;

/// The errors of a file's tables, with those of unknown keys as exact as the file allows.
pub(super) fn improved(errors: Vec<InputError>, root: &Node) -> Vec<InputError> {
    let lost = lost_table(&errors, root);
    let mut improved = Vec::new();
    // Tables with keys below a missing header, each with that header's table; and keys that are not missing, too.
    let mut below: Vec<(Path, String)> = Vec::new();
    let mut found: Vec<Path> = lost.iter().map(Path::from).collect();
    for error in errors {
        let Some(stray) = Stray::of(&error, root) else {
            improved.push(error);
            continue;
        };
        if let Some((moved, place)) = stray.moved() {
            found.push(place);
            improved.push(moved);
            continue;
        }
        let outer = lost.as_deref().filter(|table| stray.is_behind_a_header && has(table, stray.key));
        if let Some(other) = stray.of_another_app().filter(|_| outer.is_none()) {
            improved.push(other);
            continue;
        }
        let inner = if outer.is_none() { stray.inner_table() } else { None };
        found.extend(inner.map(|inner| stray.above.clone().join(inner.name())));
        let Some(table) = outer.map(String::from).or(inner.map(Key::path)) else {
            improved.push(stray.with_hint());
            continue;
        };
        let header = header(&table);
        // Keys after one below a missing header are below it, too.
        let below_it = (stray.above.clone(), table);
        if !below.contains(&below_it) {
            below.push(below_it);
            let problem = format!("is a key of {header}, which is missing");
            let expected = format!("{header} above it");
            improved.push(stray.refused(problem, expected));
        }
    }
    improved.retain(|error| error.kind != ErrorKind::Missing || !found.contains(&error.key));
    improved.into_iter().map(of_table).collect()
}

/// The error; that of a missing table names its header.
fn of_table(error: InputError) -> InputError {
    let path = error.key.without_places();
    let kind = keys().iter().find(|key| error.kind == ErrorKind::Missing && key.path() == path);
    let expected = match kind.map(|key| &key.field.kind) {
        Some(Kind::Keys(_)) => format!("a table {}", header(&path)),
        Some(Kind::Tables(_)) => format!("one or more tables {}", header(&path)),
        _ => return error,
    };
    InputError { expected: expected.into(), ..error }
}

/// An unknown key.
struct Stray<'a> {
    error: &'a InputError,
    /// The table that it stands in, and its node.
    above: Path,
    table: &'a Node,
    key: &'a str,
    /// True in a file.
    is_in_file: bool,
    /// True where TOML puts the keys behind a header: at the top of the file, or in one of its tables.
    is_behind_a_header: bool,
}

impl<'a> Stray<'a> {
    fn of(error: &'a InputError, root: &'a Node) -> Option<Stray<'a>> {
        let key = error.key.last_key().filter(|_| error.kind == ErrorKind::UnknownKey)?;
        let (above, _) = error.key.split_last()?;
        let is_in_file = matches!(root.at(&error.key).place, Place::File(_));
        let name = above.without_places();
        let is_at_the_top = || {
            keys().iter().any(|one| one.table.is_empty() && one.name() == name && is_table(&one.field.kind))
        };
        let is_behind_a_header = is_in_file && (above.is_empty() || is_at_the_top());
        Some(Stray { error, table: root.at(&above), above, key, is_in_file, is_behind_a_header })
    }

    fn refused(&self, problem: impl Into<String>, expected: impl Into<Expected>) -> InputError {
        InputError::new(ErrorKind::UnknownKey, problem, expected).at(&self.error.key)
    }

    /// The application of the group of flows that it stands in.
    fn app(&self) -> Option<&'a str> {
        (self.above.without_places() == "flows").then(|| overrides::app(self.table))
    }

    /// Error of a parameter of the application, or of a setting of TCP, in the group of flows itself; and its place.
    fn moved(&self) -> Option<(InputError, Path)> {
        let (app, key) = (self.app()?, self.key);
        let entry = App::named(app);
        let is_setting = Profile::has(key);
        let (problem, place) = if entry.is_some_and(|entry| entry.has(key)) {
            (format!("is a key of app = \"{app}\""), Path::key("app").join(Path::key(app)))
        } else if is_setting && !App::is_tcp_named(app) {
            let problem = format!("is a setting of TCP, and app = \"{app}\" is not TCP");
            return Some((self.refused(problem, format!("no {key}")), Path::default()));
        } else if is_setting {
            ("is a setting of TCP".into(), Path::key("tcp"))
        } else {
            return None;
        };
        let place = place.join(key);
        // The command line has dotted keys, a file tables.
        let expected = if self.is_in_file {
            let table = in_tables(&place);
            let app = self.table.entry("app");
            let is_beside_table = !is_setting && app.is_some() && self.table.text("app").is_none();
            if is_beside_table { table } else { format!("{table}, which `sojourn check --rewrite` writes") }
        } else {
            self.above.clone().join(&place).to_string()
        };
        Some((self.refused(problem, expected), self.above.clone().join(place)))
    }

    /// Error of a parameter of other applications in a group of flows.
    fn of_another_app(&self) -> Option<InputError> {
        let (app, key) = (self.app()?, self.key);
        let others = App::ENTRIES.iter().filter(|entry| entry.has(key));
        let others: Vec<String> =
            others.map(|entry| format!("{{ {} = {{ {key} = VALUE }} }}", entry.page.stem)).collect();
        let expected = format!("app = {}", others.join(", "));
        (!others.is_empty()).then(|| self.refused(format!("is not a key of app = \"{app}\""), expected))
    }

    /// The table inside its own that has such a key and is not given.
    fn inner_table(&self) -> Option<&'static Key> {
        let table = self.above.without_places();
        let inside = keys().iter().filter(|one| self.is_in_file && !table.is_empty() && one.table == table);
        let absent = inside.filter(|one| is_table(&one.field.kind) && self.table.entry(one.name()).is_none());
        absent.filter(|one| one.name() != "tcp").find(|one| has(&one.path(), self.key))
    }

    /// Its error; one like a parameter of the application or a setting of TCP has that as its hint.
    fn with_hint(&self) -> InputError {
        let error = self.error.clone();
        let Some(app) = self.app().filter(|_| error.hint.is_none()) else { return error };
        let entry = App::named(app);
        let params = entry.map_or_else(Vec::new, |entry| (entry.page.fields)());
        let params = params.iter().map(|field| (field.key, format!("\"app.{app}.{}\"", field.key)));
        let is_tcp = App::is_tcp_named(app);
        let settings = if is_tcp { Profile::fields() } else { Vec::new() };
        let settings = settings.iter().map(|field| (field.key, format!("\"tcp.{}\"", field.key)));
        let known: Vec<(&str, String)> = params.chain(settings).collect();
        let near = nearest(self.key, known.iter().map(|(name, _)| *name));
        let hint = near.and_then(|near| known.into_iter().find(|(name, _)| *name == near));
        InputError { hint: hint.map(|(_, dotted)| dotted), ..error }
    }
}

/// `app.web.objects` as `app = { web = { objects = VALUE } }`.
fn in_tables(path: &Path) -> String {
    let names = path.without_places();
    let mut steps = names.split('.');
    let top = steps.next().unwrap_or_default();
    let inner = steps.rev().fold("VALUE".to_string(), |value, step| format!("{{ {step} = {value} }}"));
    format!("{top} = {inner}")
}

/// The table at the top without a header whose keys are behind other headers; of several the one with most of them.
fn lost_table(errors: &[InputError], root: &Node) -> Option<String> {
    let strays: Vec<Stray<'_>> = errors.iter().filter_map(|error| Stray::of(error, root)).collect();
    let hinted = |name: &str| strays.iter().any(|stray| stray.above.is_empty() && stray.error.means(name));
    let network = NETWORKS.iter().any(|name| root.entry(name).is_some());
    let held =
        |table: &str| strays.iter().filter(|stray| stray.is_behind_a_header && has(table, stray.key)).count();
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

fn is_table(kind: &Kind) -> bool {
    matches!(kind, Kind::Keys(_) | Kind::Tables(_))
}

/// True where a table has such a key.
fn has(table: &str, key: &str) -> bool {
    keys().iter().any(|one| one.table == table && one.name() == key)
}

/// The header line of a table.
pub(super) fn header(table: &str) -> String {
    let is_list = keys().iter().any(|key| key.path() == table && matches!(key.field.kind, Kind::Tables(_)));
    if is_list { format!("[[{table}]]") } else { format!("[{table}]") }
}
