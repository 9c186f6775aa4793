//! What changes during the run.

use super::flows::too_many;
use super::{FASTEST, MOST_FLOWS, Reader, SLOWEST, Section, listed, mean_packet};
use crate::changes::{Change, MOST_COUNTS, Setting};
use crate::faults::Place;
use crate::keys::LONGEST_DELAY;
use crate::scenario::Scenario;
use crate::tree::{Node, Tree};
use sojourn_aqm::catalogue;
use sojourn_units::param::Quantity;
use sojourn_units::spec::canonical;
use sojourn_units::{Fault, LinkRate, Rate, Span, Value, did_you_mean};
use std::collections::BTreeSet;

/// When an entry of the schedule happens.
#[derive(Clone, Copy)]
struct When {
    time: Span,
    every: Option<Span>,
    until: Option<Span>,
}

/// A change, and where its keys stand in the file.
struct Written {
    change: Change,
    keys: Keys,
}

/// A setting of the link or class called `name`, and where its keys stand.
struct Set {
    name: String,
    setting: Setting,
    keys: Keys,
}

type Keys = Vec<(Place, String)>;

impl Reader {
    /// All changes in the order of their first times; those of one instant in the order of the file, those of one table in
    /// the order of rates, delays, laws and counts, so that a law is told of its link before it is told of itself.
    ///
    /// Where the rest of the file is in order they are checked against it.
    pub(super) fn changes(
        &mut self,
        top: &Section<'_>,
        groups: &[Section<'_>],
        duration: Option<Span>,
        scenario: &mut Option<Scenario>,
    ) {
        let items = top.node("at").map(|node| self.list("at", node)).unwrap_or_default();
        if items.len() > MOST_CHANGES {
            let what = format!("are {}; legal: at most {MOST_CHANGES}", items.len());
            self.refuse(top, "at", &what);
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
            let what = format!("make {} changes; legal: at most {MOST_CHANGES}", written.len());
            self.refuse(top, "at", &what);
            return;
        }
        written.sort_by_key(|written| written.change.time);
        let Some(scenario) = scenario else { return };
        scenario.at = written.iter().map(|written| written.change.clone()).collect();
        for Written { change, keys } in &written {
            if scenario.is_restless(change) {
                let what = format!("comes too often; legal: at most {MOST_COUNTS} changes of a class");
                self.flaw(&keys[0].0, &keys[0].1, &what);
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
            let Some((number, fault)) = scenario.refused_change(link, &mut work) else { continue };
            let Written { keys, .. } = &written[number];
            let ending = format!(".{}", fault.key);
            let own = keys.iter().find(|(_, path)| !fault.key.is_empty() && path.ends_with(&ending));
            let (place, path) = own.or_else(|| keys.first()).expect("a change has a key");
            // A key that this change does not set is told by its name.
            let what =
                if own.is_some() || fault.key.is_empty() { fault.what.clone() } else { fault.to_string() };
            self.flaw(place, path, &what);
        }
    }

    /// Tells which change of a class first makes too many flows, where every class is at its largest.
    fn check_numbers(&mut self, written: &[Written], scenario: &Scenario) {
        let mut most: Vec<u64> = scenario.flows.iter().map(|class| class.app.flows(class.count)).collect();
        let mut total = most.iter().sum::<u64>();
        for Written { change, keys } in written {
            let Setting::Count(class, count) = change.set else { continue };
            let flows = scenario.flows[class].app.flows(count).max(most[class]);
            total += flows - std::mem::replace(&mut most[class], flows);
            if total > MOST_FLOWS {
                return self.flaw(&keys[0].0, &keys[0].1, &too_many(total));
            }
        }
    }

    /// When an entry happens, checked.
    fn when(&mut self, item: &Section<'_>, duration: Option<Span>) -> Option<When> {
        let time = self.within_run(item, "time", duration);
        let (every, until) = (item.get::<Span>("every"), item.get::<Span>("until"));
        if item.given("until") && !item.given("every") {
            self.refuse(item, "until", "is of a change that comes once; legal: with every");
        }
        if let (Some(time), Some(until)) = (time, until)
            && until < time
        {
            let what = format!("{until} is before the first time at {time}; legal: time or later");
            self.refuse(item, "until", &what);
        }
        Some(When { time: time?, every, until })
    }

    /// What one table sets: the name of the link or class, the setting, and the keys that it was made of.
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
                self.flaw(&leaf.place, &path, "is given twice; legal: each key once");
                continue;
            }
            let (name, setting) = match setting(key, leaf, scenario, packet) {
                Ok(found) => found,
                Err(what) => {
                    self.flaw(&leaf.place, &path, &what);
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

/// What a key of `set` means, with the name of the link or class; or why it means nothing.
fn setting(key: &str, leaf: &Node, scenario: &Scenario, packet: f64) -> Result<(String, Setting), String> {
    let (name, rest) = key.split_once('.').unwrap_or((key, ""));
    if let Some(class) = scenario.flows.iter().position(|class| class.name == name) {
        return match rest {
            "count" => Ok((name.into(), Setting::Count(class, count(leaf)?))),
            _ => Err(unknown(key, &[format!("{name}.count")])),
        };
    }
    let Some(link) = scenario.topology.link(name) else { return Err(nobody(name, scenario)) };
    let back = scenario.topology.links.get(link + 1).filter(|link| link.is_back).map(|_| link + 1);
    let (name, link, rest) = match (rest.strip_prefix("back."), back) {
        (Some(rest), Some(back)) => (format!("{name}.back"), back, rest),
        _ => (name.to_string(), link, rest),
    };
    if rest == "rate" && scenario.topology.links[link].medium.deliveries.is_some() {
        return Err(format!("\"{name}\" has a trace and no rate; legal: a link with a rate"));
    }
    let set = match (rest, rest.strip_prefix("disc.")) {
        ("rate", _) => Setting::Rate(both(link, scenario, |link| link.rate), rate(leaf, packet)?),
        ("delay", _) => {
            let delay = Span::read(&leaf.value()?)?;
            if delay > LONGEST_DELAY {
                return Err(format!("{delay} is out of range; legal: at most {LONGEST_DELAY}"));
            }
            Setting::Delay(both(link, scenario, |link| link.delay), delay)
        }
        (_, Some(key)) => Setting::Law(link, vec![parameter(link, key, leaf, scenario)?]),
        _ => {
            let keys = ["rate", "delay", "disc.KEY"].map(|key| format!("{name}.{key}"));
            return Err(unknown(key, &keys));
        }
    };
    Ok((name, set))
}

/// A link, and its other direction where that is alike.
fn both<T: PartialEq>(link: usize, scenario: &Scenario, of: fn(&crate::Link) -> T) -> Vec<usize> {
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
    Err(format!("{given} is out of range; legal: {SLOWEST} bit/s to {most}"))
}

fn count(leaf: &Node) -> Result<u32, String> {
    let count = u64::read(&leaf.value()?)?;
    if count <= MOST_FLOWS {
        return Ok(count as u32);
    }
    Err(format!("{count} is out of range; legal: 0 to {MOST_FLOWS}"))
}

/// A parameter of a link's law; whether its value is legal is seen when all are known.
fn parameter(link: usize, key: &str, leaf: &Node, scenario: &Scenario) -> Result<(String, Value), String> {
    let link = &scenario.topology.links[link];
    let law = link.disc.as_ref().filter(|_| !link.is_fixed).and_then(|disc| catalogue::law(&disc.law));
    let Some(law) = law else {
        return Err(format!("\"{}\" has no disc; legal: a link with one", link.name));
    };
    let fields = (law.page.fields)();
    let Some(field) = fields.iter().find(|field| field.key == key) else {
        let keys: Vec<&str> = fields.iter().map(|field| field.key).collect();
        if keys.is_empty() {
            return Err(format!("\"{}\" has no parameters; legal: a link with another law", law.page.stem));
        }
        return Err(Fault::unknown(key, &keys)
            .what
            .replace("unknown key", &format!("no parameter of {}", law.page.stem)));
    };
    Ok((key.into(), canonical(leaf.value()?, &field.kind)))
}

/// Puts parameters of a link's law into the order of the catalogue.
fn in_order(given: &mut [(String, Value)], link: usize, scenario: &Scenario) {
    let disc = scenario.topology.links[link].disc.as_ref();
    let fields =
        disc.and_then(|disc| catalogue::law(&disc.law)).map(|law| (law.page.fields)()).unwrap_or_default();
    given.sort_by_key(|(key, _)| fields.iter().position(|field| field.key == key));
}

/// What is said of a name that nothing has.
fn nobody(name: &str, scenario: &Scenario) -> String {
    let links = scenario.topology.links.iter().filter(|link| !link.is_back).map(|link| link.name.as_str());
    let names: Vec<&str> = links.chain(scenario.flows.iter().map(|class| class.name.as_str())).collect();
    let hint = did_you_mean(name, names.iter().copied());
    let names = listed(&names);
    format!("\"{name}\" is neither a link nor a class{hint} (legal: {names}, each with a key behind a dot)")
}

fn unknown(key: &str, legal: &[String]) -> String {
    Fault::unknown(key, &legal.iter().map(String::as_str).collect::<Vec<_>>()).what
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

/// What is said of a change without a key.
const SETS_NOTHING: &str =
    "sets nothing; legal: at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }";
/// Tables of the schedule, and what they change.
const MOST_CHANGES: usize = 10_000;
