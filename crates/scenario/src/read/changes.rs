//! The schedule.

use super::MOST_FLOWS;
use super::flows::too_many;
use crate::changes::{Change, MOST_COUNTS, Setting};
use crate::diagnostics::{listed, unknown_name};
use crate::ranges::{LINK_RATES, within};
use crate::scenario::Scenario;
use crate::tables::{At, ClassChange, LinkChange};
use crate::topology::Link;
use sojourn_params::{At as _, Collected, Described, ErrorKind, Errors, Expected, InputError, Path, Value};
use std::collections::BTreeSet;

/// A change, and the keys that set it.
struct Written {
    change: Change,
    keys: Vec<Path>,
}

/// Puts all changes into the scenario in the order of their first times; those of one instant in the order of the file,
/// those of one table in the order of rates, delays, laws and counts, so that a law sees its new link before its new
/// parameters. Rates in packets/s are of `packet` bytes.
pub(super) fn put_changes(scenario: &mut Scenario, tables: &[At], packet: f64) -> Result<(), Errors> {
    let too_many = |problem: String| {
        let error = InputError::new(ErrorKind::Range, problem, format!("at most {MOST_CHANGES}"));
        Errors::from(error.at("at"))
    };
    if tables.len() > MOST_CHANGES {
        return Err(too_many(format!("are {}", tables.len())));
    }
    let (mut written, mut errors) = (Vec::new(), Collected::default());
    for (place, table) in tables.iter().enumerate() {
        let changes = errors.take(changes_of(table, scenario, packet).at(place).at("at"));
        written.extend(changes.into_iter().flatten().map(|Written { change, keys }| {
            let set = Path::from("at").join(place).join("set");
            let keys = keys.into_iter().map(|key| set.clone().join(key)).collect();
            Written { change, keys }
        }));
    }
    if written.len() > MOST_CHANGES {
        return Err(too_many(format!("make {} changes", written.len())));
    }
    errors.end(Some(()))?;
    written.sort_by_key(|written| written.change.time);
    scenario.at = written.iter().map(|written| written.change.clone()).collect();
    let mut errors = Collected::default();
    for Written { change, keys } in &written {
        if scenario.repeats_too_often(change) {
            let expected = format!("at most {MOST_COUNTS} changes of a class");
            errors.add(InputError::new(ErrorKind::Range, "comes too often", expected).at(&keys[0]));
        }
    }
    errors.take(check_numbers(&written, scenario));
    errors.extend(check_laws(&written, scenario));
    errors.end(Some(()))
}

fn check_until(At { time, every, until, .. }: &At) -> Result<(), InputError> {
    let Some(until) = *until else { return Ok(()) };
    if every.is_none() {
        let error = InputError::clash("is of a change that comes once", "with every");
        return Err(error.at("until"));
    }
    if until < *time {
        let problem = format!("is before the first time at {time}");
        return Err(InputError::conflict(until, problem, "time or later").at("until"));
    }
    Ok(())
}

/// The changes of a table.
fn changes_of(table: &At, scenario: &Scenario, packet: f64) -> Result<Vec<Written>, Errors> {
    let At { time, every, until, set } = table;
    let (mut written, mut given, mut errors): (Vec<Written>, _, _) =
        (Vec::new(), BTreeSet::new(), Collected::default());
    errors.take(super::within_run("time", *time, scenario.duration));
    errors.take(check_until(table));
    let mut leaves = Vec::new();
    flatten(&set.0, &Path::default(), &mut leaves);
    if leaves.is_empty() {
        let expected = "at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }";
        errors.add(InputError::new(ErrorKind::Missing, "sets nothing", expected).at("set"));
    }
    for (path, value) in leaves.into_iter().take(MOST_CHANGES + 1) {
        let at = |errors: Errors| errors.at(&path).at("set");
        // Written with quotes or without.
        let key = path.to_string();
        if !given.insert(key.clone()) {
            errors.extend(at(InputError::repeated().into()));
            continue;
        }
        let found = setting(&key, &value, scenario, packet).map_err(at);
        let Some((name, set)) = errors.take(found) else { continue };
        // The parameters of one law change together.
        let known = written.iter_mut().find_map(|Written { change, keys }| match (&mut change.set, &set) {
            (Setting::Law(known, given), Setting::Law(link, more)) if known == link => {
                Some((given, more, keys))
            }
            _ => None,
        });
        if let Some((given, more, keys)) = known {
            *given = errors.take(given.with(more)).unwrap_or_else(|| given.clone());
            keys.push(path);
        } else {
            let change = Change { time: *time, every: *every, until: *until, name, set };
            written.push(Written { change, keys: vec![path] });
        }
    }
    written.sort_by_key(|written| match written.change.set {
        Setting::Rate(..) => 0,
        Setting::Delay(..) => 1,
        Setting::Law(..) => 2,
        Setting::Count(..) => 3,
    });
    errors.end(Some(written))
}

/// Reads a key of `set`: the name of a link or class, and the setting.
fn setting(key: &str, value: &Value, scenario: &Scenario, packet: f64) -> Result<(String, Setting), Errors> {
    let (name, rest) = key.split_once('.').unwrap_or((key, ""));
    if let Some(class) = scenario.flows.iter().position(|class| class.name == name) {
        let ClassChange { count } = changed(key, rest, value, &[format!("{name}.count")])?;
        return Ok((name.into(), Setting::Count(class, count.unwrap_or_default())));
    }
    let Some(link) = scenario.topology.link(name) else { return Err(unknown_target(name, scenario).into()) };
    let back = scenario.topology.links.get(link + 1).filter(|link| link.is_back).map(|_| link + 1);
    let (name, link, rest) = match (rest.strip_prefix("back."), back) {
        (Some(rest), Some(back)) => (format!("{name}.back"), back, rest),
        _ => (name.to_string(), link, rest),
    };
    let conflict = |problem: String, expected: &str| Errors::from(InputError::clash(problem, expected));
    let at = &scenario.topology.links[link];
    if let Some(parameter) = rest.strip_prefix("qdisc.") {
        let qdisc = at.qdisc.as_ref().filter(|_| !at.is_fixed);
        let qdisc =
            qdisc.ok_or_else(|| conflict(format!("\"{}\" has no qdisc", at.name), "a link with one"))?;
        if (qdisc.page().fields)().is_empty() {
            let problem = format!("\"{}\" has no parameters", qdisc.name());
            return Err(conflict(problem, "a link with another law"));
        }
        let change = qdisc.change(&[(parameter.into(), value.clone())]).map_err(|errors| {
            let error = whole(&errors);
            match error.kind {
                ErrorKind::UnknownKey => {
                    InputError { problem: format!("is no parameter of {}", qdisc.name()), ..error }
                }
                _ => error,
            }
        })?;
        return Ok((name, Setting::Law(link, change)));
    }
    if rest == "rate" && at.medium.link_schedule.is_some() {
        return Err(conflict(format!("\"{name}\" has a trace and no rate"), "a link with a rate"));
    }
    let keys = ["rate", "delay", "qdisc.KEY"].map(|key| format!("{name}.{key}"));
    let set = match changed(key, rest, value, &keys)? {
        LinkChange { rate: Some(rate), .. } => {
            Setting::Rate(both(link, scenario, |link| link.rate), within(rate, packet, LINK_RATES)?)
        }
        LinkChange { delay, .. } => {
            Setting::Delay(both(link, scenario, |link| link.delay), delay.unwrap_or_default())
        }
    };
    Ok((name, set))
}

/// The struct with the value of the key `rest`, as the file has it of `key`; `known` are the keys like `key`.
fn changed<T: Described>(key: &str, rest: &str, value: &Value, known: &[String]) -> Result<T, InputError> {
    if !T::has(rest) {
        let error = InputError::unknown_key(key, known.iter().map(String::as_str));
        return Err(InputError { key: Path::default(), ..error });
    }
    T::from_values(&[(rest.into(), value.clone())]).map_err(|errors| whole(&errors))
}

/// The error of a value whose key is that of the change.
fn whole(errors: &Errors) -> InputError {
    InputError { key: Path::default(), ..errors.first().clone() }
}

/// Refuses the first change of a class that makes too many flows, with every class at its largest.
fn check_numbers(written: &[Written], scenario: &Scenario) -> Result<(), InputError> {
    let mut most: Vec<u64> = scenario.flows.iter().map(|class| class.app.flows(class.count)).collect();
    let mut total = most.iter().sum::<u64>();
    for Written { change, keys } in written {
        let Setting::Count(class, count) = change.set else { continue };
        let flows = scenario.flows[class].app.flows(count).max(most[class]);
        total += flows - std::mem::replace(&mut most[class], flows);
        if total > MOST_FLOWS {
            return Err(too_many(total).at(&keys[0]));
        }
    }
    Ok(())
}

/// Errors of the laws under their new parameters.
fn check_laws(written: &[Written], scenario: &Scenario) -> Vec<InputError> {
    let law = |change: &Change| match change.set {
        Setting::Law(link, _) => Some(link),
        _ => None,
    };
    let links: BTreeSet<usize> = scenario.at.iter().filter_map(law).collect();
    let mut work = 0;
    let refused = |link| {
        let (number, error) = scenario.refused_change(link, &mut work)?;
        let Written { keys, .. } = &written[number];
        let parameter = error.key.to_string();
        let own = keys.iter().find(|key| is_of(key, &parameter));
        Some(match own {
            Some(key) => InputError { key: key.clone(), ..error },
            // An error of a key that this change does not set names the key.
            None if error.key.is_empty() => error.at(&keys[0]),
            None => InputError { key: keys[0].clone(), ..error.after(&parameter) },
        })
    };
    links.into_iter().filter_map(refused).collect()
}

/// True for a key such as `set.bottleneck.qdisc.reserved.rate` of this parameter, or of one in its table; with quotes the key
/// is one step.
fn is_of(key: &Path, parameter: &str) -> bool {
    let key = key.to_string();
    let Some((_, own)) = key.split_once(".qdisc.") else { return false };
    own.strip_prefix(parameter).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A link, and its other direction where that is equal.
fn both<T: PartialEq>(link: usize, scenario: &Scenario, of: fn(&Link) -> T) -> Vec<usize> {
    let links = &scenario.topology.links;
    let alike = links.get(link + 1).is_some_and(|back| back.is_back && of(back) == of(&links[link]));
    if alike && !links[link].is_back { vec![link, link + 1] } else { vec![link] }
}

/// Error of an unknown link or class.
fn unknown_target(name: &str, scenario: &Scenario) -> InputError {
    let links = scenario.topology.links.iter().filter(|link| !link.is_back).map(|link| link.name.as_str());
    let names: Vec<&str> = links.chain(scenario.flows.iter().map(|class| class.name.as_str())).collect();
    let expected = Expected::one_of([format!("{}, each with a key behind a dot", listed(&names))]);
    InputError { expected, ..unknown_name(name, "is neither a link nor a class", &names) }
}

/// The values of a table with their paths; TOML reads a dotted key without quotes as a table in a table.
fn flatten(entries: &[(String, Value)], above: &Path, out: &mut Vec<(Path, Value)>) {
    for (key, value) in entries {
        let path = above.clone().join(Path::key(key));
        match value {
            Value::Table(inner) => flatten(inner, &path, out),
            _ => out.push((path, value.clone())),
        }
    }
}

/// Most tables of the schedule, and most changes.
const MOST_CHANGES: usize = 10_000;
