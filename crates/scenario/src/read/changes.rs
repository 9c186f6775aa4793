//! The schedule.

use super::MOST_FLOWS;
use super::flows::too_many;
use super::network::within;
use crate::changes::{Change, MOST_COUNTS, Setting};
use crate::diagnostics::listed;
use crate::ranges::{DELAYS, LINK_RATES};
use crate::scenario::Scenario;
use crate::tables::At;
use crate::topology::Link;
use sojourn_params::{ErrorKind, Errors, Expected, InputError, Path, Quantity, Value};
use sojourn_units::{LinkRate, Span, nearest};
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
    let (mut written, mut errors) = (Vec::new(), Vec::new());
    for (place, table) in tables.iter().enumerate() {
        let changes = check_times(table, scenario.duration).map_err(Errors::from);
        match changes.and_then(|()| changes_of(table, scenario, packet)) {
            Ok(changes) => written.extend(changes.into_iter().map(|Written { change, keys }| {
                let keys =
                    keys.into_iter().map(|key| Path::from("at").join(place).join("set").join(key)).collect();
                Written { change, keys }
            })),
            Err(refused) => errors.extend(refused.at(place).at("at")),
        }
    }
    if written.len() > MOST_CHANGES {
        return Err(too_many(format!("make {} changes", written.len())));
    }
    Errors::unless_any((), errors)?;
    written.sort_by_key(|written| written.change.time);
    scenario.at = written.iter().map(|written| written.change.clone()).collect();
    let mut errors = Vec::new();
    for Written { change, keys } in &written {
        if scenario.repeats_too_often(change) {
            let expected = format!("at most {MOST_COUNTS} changes of a class");
            errors.push(InputError::new(ErrorKind::Range, "comes too often", expected).at(&keys[0]));
        }
    }
    errors.extend(check_numbers(&written, scenario).err());
    errors.extend(check_laws(&written, scenario));
    Errors::unless_any((), errors)
}

fn check_times(At { time, every, until, .. }: &At, duration: Span) -> Result<(), InputError> {
    super::within_run("time", *time, duration)?;
    let Some(until) = *until else { return Ok(()) };
    if every.is_none() {
        let error = InputError::new(ErrorKind::Conflict, "is of a change that comes once", "with every");
        return Err(error.at("until"));
    }
    if until < *time {
        let problem = format!("is before the first time at {}", *time);
        return Err(InputError::conflict(until, problem, "time or later").at("until"));
    }
    Ok(())
}

/// The changes of a table.
fn changes_of(
    At { time, every, until, set }: &At,
    scenario: &Scenario,
    packet: f64,
) -> Result<Vec<Written>, Errors> {
    let mut leaves = Vec::new();
    flatten(&set.0, &Path::default(), &mut leaves);
    if leaves.is_empty() {
        let expected = "at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }";
        return Err(InputError::new(ErrorKind::Missing, "sets nothing", expected).at("set").into());
    }
    let (mut written, mut given, mut errors): (Vec<Written>, BTreeSet<String>, Vec<InputError>) =
        Default::default();
    for (path, value) in leaves.into_iter().take(MOST_CHANGES + 1) {
        let at = |errors: Errors| errors.at(&path).at("set");
        // Written with quotes or without.
        let key = path.to_string();
        if !given.insert(key.clone()) {
            errors.extend(at(InputError::repeated().into()));
            continue;
        }
        let (name, set) = match setting(&key, &value, scenario, packet) {
            Ok(found) => found,
            Err(refused) => {
                errors.extend(at(refused));
                continue;
            }
        };
        // The parameters of one law change together.
        let same = |written: &&mut Written| match (&written.change.set, &set) {
            (Setting::Law(known, _), Setting::Law(link, _)) => known == link,
            _ => false,
        };
        if let Setting::Law(_, more) = &set
            && let Some(Written { change, keys }) = written.iter_mut().find(same)
            && let Setting::Law(_, known) = &mut change.set
        {
            match known.with(more) {
                Ok(both) => *known = both,
                Err(error) => errors.extend(at(error.into())),
            }
            keys.push(path);
            continue;
        }
        let change = Change { time: *time, every: *every, until: *until, name, set };
        written.push(Written { change, keys: vec![path] });
    }
    written.sort_by_key(|written| match written.change.set {
        Setting::Rate(..) => 0,
        Setting::Delay(..) => 1,
        Setting::Law(..) => 2,
        Setting::Count(..) => 3,
    });
    Errors::unless_any(written, errors)
}

/// Reads a key of `set`: the name of a link or class, and the setting.
fn setting(key: &str, value: &Value, scenario: &Scenario, packet: f64) -> Result<(String, Setting), Errors> {
    let (name, rest) = key.split_once('.').unwrap_or((key, ""));
    if let Some(class) = scenario.flows.iter().position(|class| class.name == name) {
        return match rest {
            "count" => Ok((name.into(), Setting::Count(class, count(value)?))),
            _ => Err(unknown(key, &[format!("{name}.count")]).into()),
        };
    }
    let Some(link) = scenario.topology.link(name) else { return Err(unknown_target(name, scenario).into()) };
    let back = scenario.topology.links.get(link + 1).filter(|link| link.is_back).map(|_| link + 1);
    let (name, link, rest) = match (rest.strip_prefix("back."), back) {
        (Some(rest), Some(back)) => (format!("{name}.back"), back, rest),
        _ => (name.to_string(), link, rest),
    };
    let set = match (rest, rest.strip_prefix("qdisc.")) {
        ("rate", _) if scenario.topology.links[link].medium.link_schedule.is_some() => {
            let problem = format!("\"{name}\" has a trace and no rate");
            return Err(InputError::new(ErrorKind::Conflict, problem, "a link with a rate").into());
        }
        ("rate", _) => {
            let rate = within(LinkRate::read(value)?, packet, LINK_RATES)?;
            Setting::Rate(both(link, scenario, |link| link.rate), rate)
        }
        ("delay", _) => {
            let delay = Span::read(value)?;
            if !DELAYS.contain(&delay) {
                return Err(InputError::out_of_range(delay, DELAYS.to_string()).into());
            }
            Setting::Delay(both(link, scenario, |link| link.delay), delay)
        }
        (_, Some(parameter)) => {
            let at = &scenario.topology.links[link];
            let Some(qdisc) = at.qdisc.as_ref().filter(|_| !at.is_fixed) else {
                let problem = format!("\"{}\" has no qdisc", at.name);
                return Err(InputError::new(ErrorKind::Conflict, problem, "a link with one").into());
            };
            if (qdisc.entry().page.fields)().is_empty() {
                let problem = format!("\"{}\" has no parameters", qdisc.law());
                let error = InputError::new(ErrorKind::Conflict, problem, "a link with another law");
                return Err(error.into());
            }
            let change = qdisc.change(&[(parameter.into(), value.clone())]);
            Setting::Law(link, change.map_err(|errors| whole(errors.first(), qdisc.law()))?)
        }
        _ => {
            let keys = ["rate", "delay", "qdisc.KEY"].map(|key| format!("{name}.{key}"));
            return Err(unknown(key, &keys).into());
        }
    };
    Ok((name, set))
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
        let own = keys.iter().find(|key| parameter_of(key) == Some(&parameter));
        Some(match own {
            Some(key) => InputError { key: key.clone(), ..error },
            // An error of a key that this change does not set names the key.
            None if error.key.is_empty() => error.at(&keys[0]),
            None => InputError { key: keys[0].clone(), ..error.after(&parameter) },
        })
    };
    links.into_iter().filter_map(refused).collect()
}

/// The parameter that a key such as `set.bottleneck.qdisc.target` names; with quotes it is one step.
fn parameter_of(key: &Path) -> Option<&str> {
    key.last_key()?.rsplit('.').next()
}

/// A link, and its other direction where that is equal.
fn both<T: PartialEq>(link: usize, scenario: &Scenario, of: fn(&Link) -> T) -> Vec<usize> {
    let links = &scenario.topology.links;
    let alike = links.get(link + 1).is_some_and(|back| back.is_back && of(back) == of(&links[link]));
    if alike && !links[link].is_back { vec![link, link + 1] } else { vec![link] }
}

fn count(value: &Value) -> Result<u32, Errors> {
    let count = u64::read(value)?;
    if count <= MOST_FLOWS {
        return Ok(count as u32);
    }
    Err(InputError::out_of_range(count, format!("0 to {MOST_FLOWS}")).into())
}

/// Error of an unknown link or class.
fn unknown_target(name: &str, scenario: &Scenario) -> InputError {
    let links = scenario.topology.links.iter().filter(|link| !link.is_back).map(|link| link.name.as_str());
    let names: Vec<&str> = links.chain(scenario.flows.iter().map(|class| class.name.as_str())).collect();
    let hint = nearest(name, names.iter().copied()).map(|name| format!("\"{name}\""));
    let expected = Expected::one_of([format!("{}, each with a key behind a dot", listed(&names))]);
    let error = InputError::new(ErrorKind::UnknownName, "is neither a link nor a class", expected);
    InputError { hint, ..error.found(format!("\"{name}\"")) }
}

/// The error of a law's parameter, whose key is that of the change.
fn whole(error: &InputError, law: &str) -> InputError {
    let problem = match error.kind {
        ErrorKind::UnknownKey => format!("is no parameter of {law}"),
        _ => error.problem.clone(),
    };
    InputError { key: Path::default(), problem, ..error.clone() }
}

fn unknown(key: &str, known: &[String]) -> InputError {
    InputError { key: Path::default(), ..InputError::unknown_key(key, known.iter().map(String::as_str)) }
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
