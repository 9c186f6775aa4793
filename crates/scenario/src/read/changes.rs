//! Reads the schedule.

use super::flows::too_many;
use super::packets::mean_packet;
use super::reader::{FASTEST, MOST_FLOWS, Reader, SLOWEST, Section};
use crate::changes::{Change, MOST_COUNTS, Setting};
use crate::diagnostics::{Place, listed};
use crate::keys::LONGEST_DELAY;
use crate::scenario::Scenario;
use crate::topology::Link;
use crate::tree::{Node, Tree};
use sojourn_aqm::catalogue;
use sojourn_params::Quantity;
use sojourn_params::spec::canonical;
use sojourn_params::{InputError, Value};
use sojourn_units::{LinkRate, Rate, Span, did_you_mean};
use std::collections::BTreeSet;

/// Times of an entry of the schedule.
#[derive(Clone, Copy)]
struct When {
    time: Span,
    every: Option<Span>,
    until: Option<Span>,
}

/// A change, and the places of its keys in the file.
struct Written {
    change: Change,
    keys: Keys,
}

/// A setting of the link or class called `name`, and the places of its keys.
struct Set {
    name: String,
    setting: Setting,
    keys: Keys,
}

type Keys = Vec<(Place, String)>;

impl Reader {
    /// All changes in the order of their first times; those of one instant in the order of the file, those of one table in
    /// the order of rates, delays, laws and counts, so that a law sees its new link before its new parameters.
    ///
    /// They are checked against the rest of the file if that is valid.
    pub(super) fn changes(
        &mut self,
        top: &Section<'_>,
        groups: &[Section<'_>],
        duration: Option<Span>,
        scenario: &mut Option<Scenario>,
    ) {
        let items = top.node("at").map(|node| self.list("at", node)).unwrap_or_default();
        if items.len() > MOST_CHANGES {
            let message = format!("are {}; expected at most {MOST_CHANGES}", items.len());
            self.refuse(top, "at", &message);
            return;
        }
        let mut written: Vec<Written> = Vec::new();
        for item in &items {
            let when = self.when(item, duration);
            let Some(node) = item.node("set") else { continue };
            if node.is_empty() {
                self.refuse(item, "set", SETS_NOTHING);
            }
            let (Some(scenario), Some(packet)) = (scenario.as_ref(), mean_packet(groups)) else { continue };
            let settings = self.settings(&item.path_of("set"), node, scenario, packet);
            for Set { name, setting: set, keys } in settings {
                let Some(When { time, every, until }) = when else { continue };
                written.push(Written { change: Change { time, every, until, name, set }, keys });
            }
        }
        if written.len() > MOST_CHANGES {
            let message = format!("make {} changes; expected at most {MOST_CHANGES}", written.len());
            self.refuse(top, "at", &message);
            return;
        }
        written.sort_by_key(|written| written.change.time);
        let Some(scenario) = scenario else { return };
        scenario.at = written.iter().map(|written| written.change.clone()).collect();
        for Written { change, keys } in &written {
            if scenario.repeats_too_often(change) {
                let message = format!("comes too often; expected at most {MOST_COUNTS} changes of a class");
                self.report(&keys[0].0, &keys[0].1, &message);
            }
        }
        self.check_numbers(&written, scenario);
        let law = |change: &Change| match change.set {
            Setting::Law(link, _) => Some(link),
            _ => None,
        };
        let links: BTreeSet<usize> = scenario.at.iter().filter_map(law).collect();
        let mut work = 0;
        for link in links {
            let Some((number, error)) = scenario.refused_change(link, &mut work) else { continue };
            let Written { keys, .. } = &written[number];
            let ending = format!(".{}", error.key);
            let own = keys.iter().find(|(_, path)| !error.key.is_empty() && path.ends_with(&ending));
            let (place, path) = own.or_else(|| keys.first()).expect("a change has a key");
            // An error of a key that this change does not set names the key.
            let message =
                if own.is_some() || error.key.is_empty() { error.message.clone() } else { error.to_string() };
            self.report(place, path, &message);
        }
    }

    /// Reports the first change of a class that makes too many flows, with every class at its largest.
    fn check_numbers(&mut self, written: &[Written], scenario: &Scenario) {
        let mut most: Vec<u64> = scenario.flows.iter().map(|class| class.app.flows(class.count)).collect();
        let mut total = most.iter().sum::<u64>();
        for Written { change, keys } in written {
            let Setting::Count(class, count) = change.set else { continue };
            let flows = scenario.flows[class].app.flows(count).max(most[class]);
            total += flows - std::mem::replace(&mut most[class], flows);
            if total > MOST_FLOWS {
                return self.report(&keys[0].0, &keys[0].1, &too_many(total));
            }
        }
    }

    /// Checked times of an entry.
    fn when(&mut self, item: &Section<'_>, duration: Option<Span>) -> Option<When> {
        let time = self.within_run(item, "time", duration);
        let (every, until) = (item.get::<Span>("every"), item.get::<Span>("until"));
        if item.given("until") && !item.given("every") {
            self.refuse(item, "until", "is of a change that comes once; expected with every");
        }
        if let (Some(time), Some(until)) = (time, until)
            && until < time
        {
            let message = format!("{until} is before the first time at {time}; expected time or later");
            self.refuse(item, "until", &message);
        }
        Some(When { time: time?, every, until })
    }

    /// Settings of one table: the name of the link or class, the setting, and its keys.
    fn settings(&mut self, path: &str, node: &Node, scenario: &Scenario, packet: f64) -> Vec<Set> {
        let mut leaves = Vec::new();
        if let Tree::Table(entries) = &node.tree {
            flatten(entries, "", &mut leaves);
        }
        let mut settings: Vec<Set> = Vec::new();
        let mut given = BTreeSet::new();
        for (key, leaf) in &leaves {
            let path = format!("{path}.{key}");
            if self.is_full() || settings.len() > MOST_CHANGES {
                break;
            }
            if !given.insert(key) {
                self.report(&leaf.place, &path, "is given twice; expected once");
                continue;
            }
            let (name, setting) = match setting(key, leaf, scenario, packet) {
                Ok(found) => found,
                Err(message) => {
                    self.report(&leaf.place, &path, &message);
                    continue;
                }
            };
            let key = (leaf.place.clone(), path);
            // The parameters of one law change together.
            if let Setting::Law(link, given) = &setting
                && let Some(Set { setting: Setting::Law(_, known), keys, .. }) =
                    settings.iter_mut().find(|set| matches!(set.setting, Setting::Law(of, _) if of == *link))
            {
                known.extend(given.iter().cloned());
                keys.push(key);
                continue;
            }
            settings.push(Set { name, setting, keys: vec![key] });
        }
        for Set { setting, .. } in &mut settings {
            if let Setting::Law(link, given) = setting {
                in_order(given, *link, scenario);
            }
        }
        settings.sort_by_key(|set| match set.setting {
            Setting::Rate(..) => 0,
            Setting::Delay(..) => 1,
            Setting::Law(..) => 2,
            Setting::Count(..) => 3,
        });
        settings
    }
}

/// Parses a key of `set` into the name of a link or class and a setting.
fn setting(key: &str, leaf: &Node, scenario: &Scenario, packet: f64) -> Result<(String, Setting), String> {
    let (name, rest) = key.split_once('.').unwrap_or((key, ""));
    if let Some(class) = scenario.flows.iter().position(|class| class.name == name) {
        return match rest {
            "count" => Ok((name.into(), Setting::Count(class, count(leaf)?))),
            _ => Err(unknown(key, &[format!("{name}.count")])),
        };
    }
    let Some(link) = scenario.topology.link(name) else { return Err(unknown_target(name, scenario)) };
    let back = scenario.topology.links.get(link + 1).filter(|link| link.is_back).map(|_| link + 1);
    let (name, link, rest) = match (rest.strip_prefix("back."), back) {
        (Some(rest), Some(back)) => (format!("{name}.back"), back, rest),
        _ => (name.to_string(), link, rest),
    };
    if rest == "rate" && scenario.topology.links[link].medium.link_schedule.is_some() {
        return Err(format!("\"{name}\" has a trace and no rate; expected a link with a rate"));
    }
    let set = match (rest, rest.strip_prefix("qdisc.")) {
        ("rate", _) => Setting::Rate(both(link, scenario, |link| link.rate), rate(leaf, packet)?),
        ("delay", _) => {
            let delay = Span::read(&leaf.value()?)?;
            if delay > LONGEST_DELAY {
                return Err(format!("{delay} is out of range; expected at most {LONGEST_DELAY}"));
            }
            Setting::Delay(both(link, scenario, |link| link.delay), delay)
        }
        (_, Some(key)) => Setting::Law(link, vec![parameter(link, key, leaf, scenario)?]),
        _ => {
            let keys = ["rate", "delay", "qdisc.KEY"].map(|key| format!("{name}.{key}"));
            return Err(unknown(key, &keys));
        }
    };
    Ok((name, set))
}

/// A link, and its other direction where that is equal.
fn both<T: PartialEq>(link: usize, scenario: &Scenario, of: fn(&Link) -> T) -> Vec<usize> {
    let links = &scenario.topology.links;
    let alike = links.get(link + 1).is_some_and(|back| back.is_back && of(back) == of(&links[link]));
    if alike && !links[link].is_back { vec![link, link + 1] } else { vec![link] }
}

fn rate(leaf: &Node, packet: f64) -> Result<Rate, String> {
    let given = LinkRate::read(&leaf.value()?)?;
    let rate = given.bits(packet);
    if (SLOWEST..=FASTEST).contains(&rate.bits_per_second()) {
        return Ok(rate);
    }
    let most = Rate::from_bits_per_second(FASTEST);
    Err(format!("{given} is out of range; expected {SLOWEST} bit/s to {most}"))
}

fn count(leaf: &Node) -> Result<u32, String> {
    let count = u64::read(&leaf.value()?)?;
    if count <= MOST_FLOWS {
        return Ok(count as u32);
    }
    Err(format!("{count} is out of range; expected 0 to {MOST_FLOWS}"))
}

/// A parameter of a link's law; its value is checked once all are known.
fn parameter(link: usize, key: &str, leaf: &Node, scenario: &Scenario) -> Result<(String, Value), String> {
    let link = &scenario.topology.links[link];
    let law = link.qdisc.as_ref().filter(|_| !link.is_fixed).and_then(|qdisc| catalogue::law(&qdisc.law));
    let Some(law) = law else {
        return Err(format!("\"{}\" has no qdisc; expected a link with one", link.name));
    };
    let fields = (law.page.fields)();
    let Some(field) = fields.iter().find(|field| field.key == key) else {
        let keys: Vec<&str> = fields.iter().map(|field| field.key).collect();
        if keys.is_empty() {
            return Err(format!("\"{}\" has no parameters; expected a link with another law", law.page.stem));
        }
        return Err(InputError::unknown(key, &keys)
            .message
            .replace("unknown key", &format!("no parameter of {}", law.page.stem)));
    };
    Ok((key.into(), canonical(leaf.value()?, &field.kind)))
}

/// Puts parameters of a link's law into the order of the catalogue.
fn in_order(given: &mut [(String, Value)], link: usize, scenario: &Scenario) {
    let qdisc = scenario.topology.links[link].qdisc.as_ref();
    let fields =
        qdisc.and_then(|qdisc| catalogue::law(&qdisc.law)).map(|law| (law.page.fields)()).unwrap_or_default();
    given.sort_by_key(|(key, _)| fields.iter().position(|field| field.key == key));
}

/// Error message of an unknown link or class.
fn unknown_target(name: &str, scenario: &Scenario) -> String {
    let links = scenario.topology.links.iter().filter(|link| !link.is_back).map(|link| link.name.as_str());
    let names: Vec<&str> = links.chain(scenario.flows.iter().map(|class| class.name.as_str())).collect();
    let hint = did_you_mean(name, names.iter().copied());
    let names = listed(&names);
    format!("\"{name}\" is neither a link nor a class{hint} (expected {names}, each with a key behind a dot)")
}

fn unknown(key: &str, known: &[String]) -> String {
    InputError::unknown(key, &known.iter().map(String::as_str).collect::<Vec<_>>()).message
}

/// The keys of a table with their values; TOML reads a dotted key without quotes as a table in a table.
fn flatten<'a>(entries: &'a [(String, Node)], prefix: &str, out: &mut Vec<(String, &'a Node)>) {
    for (key, node) in entries {
        match &node.tree {
            Tree::Table(inner) => flatten(inner, &format!("{prefix}{key}."), out),
            _ => out.push((format!("{prefix}{key}"), node)),
        }
    }
}

/// Error message of a change without a key.
const SETS_NOTHING: &str =
    "sets nothing; expected at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }";
/// Most tables of the schedule, and most changes.
const MOST_CHANGES: usize = 10_000;
