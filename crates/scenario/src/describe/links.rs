//! The links and their discs in words; what many have in common is told once.

use super::{MOST_GROUPS, Own, buffer_in_words, more, shown};
use crate::disc::DiscSpec;
use crate::scenario::Scenario;
use crate::topology::Link;
use serde_json::{Map, Value as Json};
use sojourn_aqm::{Gauges, Site, catalogue};
use sojourn_units::spec::plain;
use sojourn_units::{Rate, Value};
use std::fmt::Write;

impl Scenario {
    /// The links with discs, the others, and the discs.
    pub(super) fn link_facts(&self, own: Own<'_>) -> Vec<(&'static str, String)> {
        let links = &self.topology.links;
        let managed: Vec<usize> = self.topology.managed().collect();
        if self.is_plain() {
            return self.bottleneck_facts(own);
        }
        let extras = self.extras();
        // Both directions of a link are told together.
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for number in (0..links.len()).filter(|number| !links[*number].is_back) {
            let back = (number + 1 < links.len() && links[number + 1].is_back).then_some(number + 1);
            let has_disc =
                links[number].disc.is_some() || back.is_some_and(|back| links[back].disc.is_some());
            let words = self.both_ways(number, back, &extras);
            if has_disc { &mut first } else { &mut rest }.push((words, links[number].name.as_str()));
        }
        let mut facts = vec![("links", told_once(first))];
        if !rest.is_empty() {
            facts.push(("other links", told_once(rest)));
        }
        facts.extend(self.disc_facts(own, &managed));
        facts
    }

    /// A link and its other direction, where it has one.
    fn both_ways(&self, number: usize, back: Option<usize>, extras: &[String]) -> String {
        let one = |number: usize| {
            let link = &self.topology.links[number];
            let buffer = match (&link.disc, link.buffer) {
                (None, _) => String::new(),
                (_, None) => ", no limit".into(),
                (_, buffer) => format!(", buffer {}", buffer_in_words(buffer)),
            };
            (format!("{}{}", capacity_in_words(link), extras[number]), buffer)
        };
        let (there, buffer) = one(number);
        match back.map(one) {
            None => format!("{there}{buffer}, one way"),
            Some((back, buffer_back)) if back == there && buffer_back == buffer => {
                format!("{there}{buffer}, both ways")
            }
            Some((back, none)) if back == there && none.is_empty() => {
                format!("{there}{buffer}; back the same, without a disc")
            }
            Some((back, buffer_back)) => format!("{there}{buffer}; back {back}{buffer_back}"),
        }
    }

    /// The link of a plain dumbbell, and the way back where it is another.
    fn bottleneck_facts(&self, own: Own<'_>) -> Vec<(&'static str, String)> {
        let extras = self.extras();
        let line = |number: usize| {
            let link = &self.topology.links[number];
            format!("{}, {} one way{}", rate_in_words(link), link.delay, extras[number])
        };
        let mut facts = vec![("bottleneck", line(0))];
        if self.topology.links.len() > 1 && line(1) != line(0) {
            facts.push(("back", line(1)));
        }
        facts.push(("buffer", buffer_in_words(self.topology.links[0].buffer)));
        facts.extend(self.disc_facts(own, &[0]));
        facts
    }

    /// Each different disc once, with the links that have it where there are several.
    fn disc_facts(&self, own: Own<'_>, managed: &[usize]) -> Vec<(&'static str, String)> {
        let links = &self.topology.links;
        let spec = |number: &usize| {
            let link = &links[*number];
            let label = own.filter(|_| !link.is_fixed).map(|(label, _)| label.to_string());
            (
                label.unwrap_or_else(|| link.disc.as_ref().map_or_else(String::new, ToString::to_string)),
                *number,
            )
        };
        let groups = alike(managed.iter().map(spec));
        let mut facts: Vec<_> = groups
            .iter()
            .take(shown(groups.len(), MOST_DISCS))
            .map(|(label, at)| {
                let names: Vec<&str> = at.iter().map(|number| links[*number].name.as_str()).collect();
                let place = match (groups.len(), at.len()) {
                    (1, 1) => String::new(),
                    (1, count) => format!(", at each of {count} links"),
                    _ => format!(", at {}", listed(&names)),
                };
                let parameters = match own.filter(|(own, _)| own == label) {
                    Some((_, parameters)) => parameters.to_string(),
                    None => self.parameters(at),
                };
                ("disc", format!("fifo under {label}{place}\n{parameters}"))
            })
            .collect();
        let rest = more(groups.len(), shown(groups.len(), MOST_DISCS), "kind of discs", "");
        if !rest.is_empty() {
            facts.push(("", rest));
        }
        facts
    }

    /// The parameters of the disc that these links have in common, one a line: the value, or what stands in its stead.
    fn parameters(&self, at: &[usize]) -> String {
        let Some(disc) = at.first().and_then(|link| self.topology.links[*link].disc.as_ref()) else {
            return String::new();
        };
        let Some(entry) = catalogue::law(&disc.law) else { return String::new() };
        let sites = self.sites();
        let derived: Vec<Derived> = at.iter().map(|link| derived(disc, &sites[*link])).collect();
        let mut out = String::new();
        for field in (entry.page.fields)() {
            let given = disc.params.iter().find(|(key, _)| key == field.key).map(|(_, value)| value);
            let said = match (given, &field.default) {
                (Some(value), _) => plain(value),
                (None, Value::Absent) => match Derived::of(&derived, field.key) {
                    Some(value) => format!("{value} ({})", field.why),
                    None => format!("not given: {}", field.why),
                },
                (None, value) => format!("{} (default)", plain(value)),
            };
            let _ = writeln!(out, "  {} = {said}", field.key);
        }
        out
    }

    /// How many packets fill each managed link for a round trip.
    pub(super) fn products(&self) -> (&'static str, String) {
        let sites = self.sites();
        let told = |number: usize| {
            let site = &sites[number];
            let name = self.topology.links[number].name.as_str();
            let product = site.base_rtt.map(|mean| site.capacity() * mean.seconds());
            product.map(|product| (format!("{product:.1} packets of {:.0} B", site.packet), name))
        };
        let groups = alike(self.topology.managed().filter_map(told));
        let none = "no TCP crosses a link with a disc".to_string();
        ("rate x RTT", if groups.is_empty() { none } else { lines_of(&groups) })
    }

    /// What else the file says of each link, in a few words.
    fn extras(&self) -> Vec<String> {
        let json = self.to_json();
        let lines: Vec<&Json> = match &json["links"] {
            Json::Array(lines) => lines.iter().collect(),
            _ => vec![&json["bottleneck"]],
        };
        let mut lines = lines.into_iter();
        let mut line = &Json::Null;
        let extras = self.topology.links.iter().map(|link| {
            if link.is_back {
                return extra(&line["back"], |key| !TOLD.contains(&key));
            }
            line = lines.next().unwrap_or(&Json::Null);
            extra(line, |key| !TOLD.contains(&key))
        });
        extras.collect()
    }
}

/// Those keys of a table that are not told elsewhere, in a few words.
pub(super) fn extra(table: &Json, is_extra: impl Fn(&str) -> bool) -> String {
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

/// What a link can carry: rate and delay, where there is one.
pub(super) fn capacity_in_words(link: &Link) -> String {
    let rate = rate_in_words(link);
    if link.delay.nanos() == 0 { rate } else { format!("{rate}, {}", link.delay) }
}

/// The rate; of a trace its mean, which nobody wrote, in a few digits.
pub(super) fn rate_in_words(link: &Link) -> String {
    let exact = link.rate.to_string();
    let told = if exact.len() <= LONGEST_RATE {
        exact
    } else {
        // Of what came out of a division four digits say enough.
        let rounded = format!("{:.3e}", link.rate.bits_per_second()).parse();
        rounded.map_or(exact, |rate| Rate::from_bits_per_second(rate).to_string())
    };
    if link.medium.deliveries.is_some() { format!("trace of {told}") } else { told }
}

/// The law of a link's disc: the caller's own, or that of the file.
pub(super) fn law_of<'a>(link: &'a Link, own: Own<'a>) -> Option<&'a str> {
    let disc = link.disc.as_ref()?;
    let label = own.filter(|_| !link.is_fixed).map(|(label, _)| label);
    Some(label.map_or(&disc.law, |label| label.split_once(':').map_or(label, |(law, _)| law)))
}

/// What is said, and of whom, each different thing once.
fn alike<T>(said: impl Iterator<Item = (String, T)>) -> Vec<(String, Vec<T>)> {
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for (words, who) in said {
        let place = *places.entry(words.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((words, Vec::new()));
        }
        groups[place].1.push(who);
    }
    groups
}

/// A line for each different thing that is said, with the names of the links of which it is.
fn told_once<'a>(said: impl IntoIterator<Item = (String, &'a str)>) -> String {
    lines_of(&alike(said.into_iter()))
}

/// What is said of links, a line each.
fn lines_of(groups: &[(String, Vec<&str>)]) -> String {
    let shown = shown(groups.len(), MOST_GROUPS);
    let line = |(words, names): &(String, Vec<&str>)| format!("{}: {words}\n", listed(names));
    groups[..shown].iter().map(line).collect::<String>() + &more(groups.len(), shown, "kind of links", "")
}

/// Names, of many the first.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown = names.len().min(MOST_NAMES);
    let rest = names.len() - shown;
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", names[..shown].join(", "))
}

/// What a law derived from its place: key, unit, value.
#[derive(Default)]
struct Derived(Vec<(&'static str, &'static str, f64)>);

fn derived(disc: &DiscSpec, site: &Site) -> Derived {
    let mut derived = Derived::default();
    if let Ok(law) = disc.law_at(site) {
        law.derived(&mut derived);
    }
    derived
}

impl Derived {
    /// The value, or the values of a list, in all their digits, so that they may be given in their turn; those of
    /// several places, where they differ, one after the other.
    fn of(places: &[Derived], key: &str) -> Option<String> {
        let mut told: Vec<String> = places.iter().filter_map(|place| place.values(key)).collect();
        told.dedup();
        match told.len() {
            0 => None,
            1 => told.pop(),
            count if count <= MOST_NAMES => Some(format!("{}, link by link", told.join("; "))),
            count => Some(format!("{} and others, {count} values link by link", told[0])),
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

/// Keys of a link that are told in words of their own.
const TOLD: [&str; 9] = ["name", "from", "to", "rate", "delay", "buffer", "disc", "back", "one_way"];
/// Letters of a rate that somebody may have written.
const LONGEST_RATE: usize = 16;
/// Names in a list.
const MOST_NAMES: usize = 6;
/// Different discs that are told with their parameters where there are really many.
const MOST_DISCS: usize = 4;
