//! Media and qdiscs of the links in words; facts that several links share appear once.

use crate::text::{Description, MOST_GROUPS, MOST_NAMES, listed, more, shown};
use serde_json::{Map, Value as Json};
use sojourn_aqm::{DesignedQdisc, Gauges};
use sojourn_params::Value;
use sojourn_params::spec::plain;
use sojourn_scenario::Link;
use sojourn_units::Rate;
use std::fmt::Write;

impl Description<'_> {
    /// Media other than plain IP at a constant rate, then the qdiscs.
    pub(crate) fn link_facts(&self) -> Vec<(&'static str, String)> {
        let managed: Vec<usize> = self.scenario.topology.managed().collect();
        let media = self.scenario.topology.links.iter().zip(self.media());
        let media: Vec<_> = media.filter(|(_, words)| !words.is_empty()).collect();
        let mut facts = Vec::new();
        if !media.is_empty() {
            let each =
                media.into_iter().map(|(link, words)| (words.replacen(", ", "", 1), link.name.as_str()));
            facts.push(("medium", lines_of(&alike(each))));
        }
        facts.extend(self.qdisc_facts(&managed));
        facts
    }

    /// The law of a link's qdisc, or the one that replaces it.
    pub(crate) fn law_of<'a>(&'a self, link: &'a Link) -> Option<&'a str> {
        let qdisc = link.qdisc.as_ref()?;
        let label = self.own.filter(|_| !link.is_fixed).map(|(label, _)| label);
        Some(label.map_or(qdisc.name(), |label| label.split_once(':').map_or(label, |(law, _)| law)))
    }

    /// Each different qdisc once, with the links that have it where there are several.
    fn qdisc_facts(&self, managed: &[usize]) -> Vec<(&'static str, String)> {
        let links = &self.scenario.topology.links;
        let spec = |number: &usize| {
            let link = &links[*number];
            let label = self.own.filter(|_| !link.is_fixed).map(|(label, _)| label.to_string());
            (
                label.unwrap_or_else(|| link.qdisc.as_ref().map_or_else(String::new, ToString::to_string)),
                *number,
            )
        };
        let groups = alike(managed.iter().map(spec));
        let mut facts: Vec<_> = groups
            .iter()
            .take(shown(groups.len(), MOST_QDISCS))
            .map(|(label, at)| {
                let names: Vec<&str> = at.iter().map(|number| links[*number].name.as_str()).collect();
                let place = match (groups.len(), at.len()) {
                    (1, 1) => String::new(),
                    (1, count) => format!(", at each of {count} links"),
                    _ => format!(", at {}", listed(&names)),
                };
                let parameters = match self.own.filter(|(own, _)| own == label) {
                    Some((_, parameters)) => parameters.to_string(),
                    None => self.parameters(at),
                };
                let has_queues = at
                    .iter()
                    .any(|number| links[*number].qdisc.as_ref().is_some_and(|at| at.single().is_none()));
                let words = if has_queues { "" } else { "fifo under " };
                ("qdisc", format!("{words}{label}{place}\n{parameters}"))
            })
            .collect();
        let rest = more(groups.len(), shown(groups.len(), MOST_QDISCS), "kind of qdiscs", "");
        if !rest.is_empty() {
            facts.push(("", rest));
        }
        facts
    }

    /// The parameters of the qdisc that these links have in common, one per line: the value, or its origin.
    fn parameters(&self, at: &[usize]) -> String {
        let Some(qdisc) = at.first().and_then(|link| self.scenario.topology.links[*link].qdisc.as_ref())
        else {
            return String::new();
        };
        let qdiscs = at.iter().filter_map(|link| self.scenario.topology.links[*link].qdisc.as_ref());
        let derived: Vec<Derived> = qdiscs.map(derived).collect();
        let mut out = String::new();
        for field in (qdisc.page().fields)() {
            let given = qdisc.values().find(|(key, _)| *key == field.key).map(|(_, value)| value);
            let text = match (given, &field.default) {
                (Some(value), _) => plain(&value),
                (None, Value::Absent) => match Derived::of(&derived, field.key) {
                    Some(value) => format!("{value} ({})", field.why),
                    None => format!("not given: {}", field.why),
                },
                (None, value) => format!("{} (default)", plain(value)),
            };
            let _ = writeln!(out, "  {} = {text}", field.key);
        }
        out
    }

    /// Bandwidth-delay product of each managed link, packets.
    pub(crate) fn products(&self) -> (&'static str, String) {
        let contexts = self.scenario.contexts();
        let text = |number: usize| {
            let context = &contexts[number];
            let name = self.scenario.topology.links[number].name.as_str();
            let product = context.base_rtt.map(|mean| context.capacity() * mean.seconds());
            product.map(|product| (format!("{product:.1} packets of {:.0} B", context.packet), name))
        };
        let groups = alike(self.scenario.topology.managed().filter_map(text));
        let none = "no TCP crosses a link with a qdisc".to_string();
        ("rate x RTT", if groups.is_empty() { none } else { lines_of(&groups) })
    }

    /// Framing, trace and impairments of each link, in a few words.
    fn media(&self) -> Vec<String> {
        let json = self.scenario.to_json();
        let lines: Vec<&Json> = match &json["links"] {
            Json::Array(lines) => lines.iter().collect(),
            _ => vec![&json["bottleneck"]],
        };
        let mut lines = lines.into_iter();
        let mut line = &Json::Null;
        let media = self.scenario.topology.links.iter().map(|link| {
            if !link.is_back {
                line = lines.next().unwrap_or(&Json::Null);
            }
            extra(if link.is_back { &line["back"] } else { line }, |key| !IN_TABLE.contains(&key))
        });
        media.collect()
    }
}

/// Keys of a table that have no words of their own.
pub(crate) fn extra(table: &Json, is_extra: impl Fn(&str) -> bool) -> String {
    let Json::Object(keys) = table else { return String::new() };
    let usual = |key: &str, value: &Json| value.is_null() || (key, value) == ("framing", &Json::from("ip"));
    let rest = keys.iter().filter(|(key, value)| !usual(key, value) && is_extra(key));
    rest.map(|(key, value)| format!(", {key} {}", brief(value))).collect()
}

/// A value in a few words.
fn brief(value: &Json) -> String {
    let table = |entries: &Map<String, Json>| {
        let parts = entries.iter().filter(|(_, value)| !value.is_null());
        parts.map(|(key, value)| format!("{key} {}", brief(value))).collect::<Vec<_>>().join(", ")
    };
    match value {
        Json::String(text) => text.clone(),
        Json::Object(entries) => format!("({})", table(entries)),
        Json::Array(items) if items.len() > MOST_NAMES => format!("of {} values", items.len()),
        Json::Array(items) => items.iter().map(brief).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// The rate; of a trace its mean, rounded.
pub(crate) fn rate_in_words(link: &Link) -> String {
    let exact = link.rate.to_string();
    let text = if exact.len() <= LONGEST_RATE {
        exact
    } else {
        // For the result of a division four digits suffice.
        let rounded = format!("{:.3e}", link.rate.bits_per_second()).parse();
        rounded.map_or(exact, |rate| Rate::from_bits_per_second(rate).to_string())
    };
    if link.medium.link_schedule.is_some() { format!("trace of {text}") } else { text }
}

/// Groups entries by equal text, in order of first appearance.
fn alike<T>(text: impl Iterator<Item = (String, T)>) -> Vec<(String, Vec<T>)> {
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for (words, who) in text {
        let place = *places.entry(words.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((words, Vec::new()));
        }
        groups[place].1.push(who);
    }
    groups
}

/// A line for each text, with the links that it applies to.
fn lines_of(groups: &[(String, Vec<&str>)]) -> String {
    let shown = shown(groups.len(), MOST_GROUPS);
    let line = |(words, names): &(String, Vec<&str>)| format!("{}: {words}\n", listed(names));
    groups[..shown].iter().map(line).collect::<String>() + &more(groups.len(), shown, "kind of links", "")
}

/// Derived parameters of a law: key, unit, value.
#[derive(Default)]
struct Derived(Vec<(&'static str, &'static str, f64)>);

fn derived(qdisc: &DesignedQdisc) -> Derived {
    let mut derived = Derived::default();
    let law = qdisc.single().or_else(|| qdisc.of_a_queue().map(|(law, _)| law));
    if let Some(law) = law {
        law.as_law().analysis().derived(&mut derived);
    }
    derived
}

impl Derived {
    /// The value, or the values of a list, in all digits, so that they can be used as input; several differing
    /// values one after the other.
    fn of(places: &[Derived], key: &str) -> Option<String> {
        let mut text: Vec<String> = places.iter().filter_map(|place| place.values(key)).collect();
        text.dedup();
        match text.len() {
            0 => None,
            1 => text.pop(),
            count if count <= MOST_NAMES => Some(format!("{}, link by link", text.join("; "))),
            count => Some(format!("{} and others, {count} values link by link", text[0])),
        }
    }

    fn values(&self, key: &str) -> Option<String> {
        let found: Vec<_> = self.0.iter().filter(|(name, ..)| *name == key).collect();
        let (_, unit, _) = found.first()?;
        let values = found.iter().map(|(.., value)| plain(&Value::Number(*value)));
        Some(format!("{} {unit}", values.collect::<Vec<_>>().join(", ")))
    }
}

impl Gauges for Derived {
    fn gauge(&mut self, name: &'static str, unit: &'static str, value: f64) {
        self.0.push((name, unit, value));
    }
}

/// Keys of a link with columns in the table of links.
const IN_TABLE: [&str; 9] = ["name", "from", "to", "rate", "delay", "buffer", "qdisc", "back", "one_way"];
/// Longest rate printed in full, letters.
const LONGEST_RATE: usize = 16;
/// Qdiscs listed with their parameters where there are more than [`MANY`](crate::text::MANY).
const MOST_QDISCS: usize = 4;
