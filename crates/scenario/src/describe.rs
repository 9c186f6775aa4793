//! A scenario in words, for people who want to see what would run.

use crate::links::{Framing, Medium};
use crate::scenario::{Flows, Scenario};
use sojourn_aqm::{Gauges, Limit, catalogue};
use sojourn_units::Value;
use sojourn_units::param::Quantity;
use sojourn_units::spec::plain;
use std::fmt::Write;

impl Scenario {
    /// What would run: the network drawn in text, the law with its parameters, the schedule.
    pub fn describe(&self) -> String {
        self.tell(None)
    }

    /// The same under a law of the caller's own, with this label and a line for each of its parameters.
    pub fn describe_under(&self, label: &str, parameters: &str) -> String {
        self.tell(Some((label, parameters)))
    }

    fn tell(&self, own: Option<(&str, &str)>) -> String {
        let mut out = format!("{}\n\n", self.title);
        if self.topology.dumbbell {
            self.draw_dumbbell(own.map(|(label, _)| label), &mut out);
        } else {
            self.list_links(&mut out);
        }
        out.push('\n');
        for (name, text) in self.facts(own) {
            // A fact of several lines goes on under its first one.
            let mut lines = text.lines();
            let _ = writeln!(out, "{name:<LABEL$}{}", lines.next().unwrap_or_default());
            lines.for_each(|line| {
                let _ = writeln!(out, "{:LABEL$}{line}", "");
            });
        }
        out
    }

    /// The dumbbell: groups of flows left and right, the disc and the link between them.
    fn draw_dumbbell(&self, own: Option<&str>, out: &mut String) {
        let shown = self.flows.len().min(MOST_GROUPS);
        let left: Vec<String> = self.flows[..shown].iter().map(sources).collect();
        let width = left.iter().map(String::len).max().unwrap_or_default();
        let link = &self.topology.links[0];
        let disc = link.disc.as_ref().map_or("", |disc| disc.law.as_str());
        let law = own.map_or(disc, |label| label.split_once(':').map_or(label, |(law, _)| law));
        let buffer = buffer_in_words(link.buffer);
        let link = format!("[ {law} | {buffer} ]== {}, {} ==", link.rate, link.delay);
        let middle = (shown - 1) / 2;
        for (place, (group, left)) in self.flows.iter().zip(&left).enumerate() {
            let link = if place == middle { link.clone() } else { " ".repeat(link.len()) };
            let _ = writeln!(out, "  {left:-<width$}--+{link}+-- {}", counted(group.count, "sink"));
        }
        if self.flows.len() > shown {
            let more = self.flows.len() - shown;
            let _ = writeln!(out, "  and {more} more group{} of flows", if more == 1 { "" } else { "s" });
        }
    }

    /// Any other network, a link a line.
    fn list_links(&self, out: &mut String) {
        let node = |number: usize| &self.topology.nodes[number];
        for link in &self.topology.links {
            let disc = link
                .disc
                .as_ref()
                .map_or(String::new(), |disc| format!("[ {} | {} ]", disc.law, buffer_in_words(link.buffer)));
            let _ = writeln!(
                out,
                "  {} --{disc}--> {}  {}, {}",
                node(link.from),
                node(link.to),
                link.rate,
                link.delay
            );
        }
    }

    fn facts(&self, own: Option<(&str, &str)>) -> Vec<(&'static str, String)> {
        let (shortest, longest) = self.base_rtts();
        let managed: Vec<usize> = self.topology.managed().collect();
        let mut facts = Vec::new();
        for number in &managed {
            let link = &self.topology.links[*number];
            let line = format!("{}, {} one way", link.rate, link.delay);
            if managed.len() == 1 && self.topology.dumbbell {
                facts.push(("bottleneck", line));
            } else {
                facts.push(("link", format!("{}: {line}", link.name)));
            }
            facts.extend(medium_in_words(&link.medium).map(|words| ("wire", words)));
            facts.push(("buffer", buffer_in_words(link.buffer)));
            let own = own.filter(|_| !link.is_fixed);
            facts.push((
                "disc",
                match own {
                    Some((label, parameters)) => format!("fifo under {label}\n{parameters}"),
                    None => self.disc_in_words(*number),
                },
            ));
        }
        let first = self.site(managed.first().copied().unwrap_or_default());
        let mean = first.base_rtt.unwrap_or_default();
        let base_rtt = if shortest == longest {
            shortest.to_string()
        } else {
            format!("{shortest} to {longest}, mean {mean}")
        };
        let product = first.capacity() * mean.seconds();
        let most = first.capacity() * self.duration.seconds();
        let run = format!(
            "{} simulated, measured from {}; at most {most:.0} packets at the bottleneck's first rate",
            self.duration, self.warmup
        );
        let flows =
            self.flows.iter().take(MOST_GROUPS).map(|group| self.group_in_words(group) + "\n").collect();
        facts.extend([
            ("flows", flows),
            ("base RTT", base_rtt),
            ("rate x RTT", format!("{product:.1} packets of {} B", first.packet)),
            ("changes", self.schedule()),
            ("would run", run),
        ]);
        facts
    }

    /// A class; where it goes, where the network is no dumbbell.
    fn group_in_words(&self, group: &Flows) -> String {
        let words = group_in_words(group);
        if self.topology.dumbbell {
            return words;
        }
        let way: Vec<&str> = self.topology.nodes_of(&group.route).collect();
        format!("{}: {words}, way {}", group.name, way.join(" > "))
    }

    /// The disc of a link, and a line a parameter: its value, or what stands in its stead.
    fn disc_in_words(&self, link: usize) -> String {
        let Some(disc) = &self.topology.links[link].disc else { return "none".into() };
        let Some(entry) = catalogue::law(&disc.law) else { return String::new() };
        let mut derived = Derived::default();
        if let Ok(law) = disc.law_at(&self.site(link)) {
            law.derived(&mut derived);
        }
        let mut out = format!("fifo under {disc}\n");
        for field in (entry.page.fields)() {
            let given = disc.params.iter().find(|(key, _)| key == field.key).map(|(_, value)| value);
            let said = match (given, &field.default) {
                (Some(value), _) => plain(value),
                (None, Value::Absent) => match derived.of(field.key) {
                    Some(value) => format!("{value} ({})", field.why),
                    None => format!("not given: {}", field.why),
                },
                (None, value) => format!("{} (default)", plain(value)),
            };
            let _ = writeln!(out, "  {} = {said}", field.key);
        }
        out
    }

    fn schedule(&self) -> String {
        if self.at.is_empty() {
            return "none".into();
        }
        let lines: Vec<String> = self.at.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

/// What a law derived from its place: key, unit, value.
#[derive(Default)]
struct Derived(Vec<(&'static str, &'static str, f64)>);

impl Derived {
    /// The value, or the values of a list, in all their digits, so that they may be given in their turn.
    fn of(&self, key: &str) -> Option<String> {
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

fn sources(group: &Flows) -> String {
    let access =
        group.access.map_or(String::new(), |access| format!("--- {}, {} ", access.rate, access.delay));
    format!("{} {access}", counted(group.count, "source"))
}

/// Such as `1 source` and `50 sources`.
fn counted(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// What lies between the ends of a link, where that is more than a rate; the value of each key.
fn medium_in_words(medium: &Medium) -> Option<String> {
    let Medium { framing, deliveries, impairments } = medium;
    let mut words = Vec::new();
    words.extend(deliveries.as_ref().map(|plan| format!("trace {}", plan.trace().write())));
    words.extend((*framing != Framing::IP).then(|| format!("framing {framing}")));
    words.extend((!impairments.is_none()).then(|| format!("impairments {}", impairments.write())));
    (!words.is_empty()).then(|| words.join("\n"))
}

/// The buffer, as people say it.
fn buffer_in_words(buffer: Option<Limit>) -> String {
    match buffer.unwrap_or(Limit::Unlimited) {
        Limit::Packets(most) => counted(most, "packet"),
        limit => limit.to_string(),
    }
}

fn group_in_words(group: &Flows) -> String {
    let stop = group.stop.map_or(String::new(), |stop| format!(", stop at {stop}"));
    let what = match group.app.datagrams() {
        Some(datagrams) => datagrams.told(),
        None => format!("{}, segments of {}", tcp_in_words(group), group.segment),
    };
    let ecn = if group.ecn { "ECN" } else { "no ECN" };
    format!("{} x {what}, {ecn}, start {}{stop}", group.count, group.start)
}

/// The congestion control and the implementation of TCP, with what is set otherwise.
fn tcp_in_words(group: &Flows) -> String {
    let sack = match group.profile.sack {
        Some(true) => " with SACK",
        Some(false) => " without SACK",
        None => "",
    };
    let timestamps = if group.profile.timestamps { " with timestamps" } else { "" };
    let mut out =
        format!("{}{sack} {}, {} profile{timestamps}", group.cc, group.app.name(), group.profile.name);
    for knob in group.profile.knobs_set().filter(|knob| !["sack", "timestamps"].contains(&knob.name)) {
        let _ = write!(out, ", {} = {}", knob.name, knob.told(&group.profile));
    }
    if let Some(rate) = group.reads {
        let _ = write!(out, ", read at {rate}");
    }
    out
}

/// Letters before a fact.
const LABEL: usize = 12;
/// Groups of flows that are drawn and told one by one.
const MOST_GROUPS: usize = 8;
