//! A scenario in words, for people who want to see what would run.

mod canvas;
mod cell;
mod drawing;
mod lanes;
mod links;
mod sketch;

pub(crate) use links::listed;

use crate::app::App;
use crate::keys::SHORT;
use crate::scenario::{Flows, Scenario};
use crate::topology::Route;
use sojourn_aqm::Limit;
use sojourn_units::Span;
use std::fmt::Write;

/// The label of a law of the caller's own, and a line for each of its parameters.
type Own<'a> = Option<(&'a str, &'a str)>;

impl Scenario {
    /// What would run: the network drawn in text, the law with its parameters, the schedule, and what is to be noted.
    pub fn describe(&self) -> String {
        self.tell(None)
    }

    /// The same under a law of the caller's own, with this label and a line for each of its parameters.
    pub fn describe_under(&self, label: &str, parameters: &str) -> String {
        self.tell(Some((label, parameters)))
    }

    fn tell(&self, own: Own<'_>) -> String {
        let mut out = format!("{}\n\n", self.title);
        if self.is_plain() {
            self.draw_dumbbell(own, &mut out);
        } else {
            self.draw_graph(own, &mut out);
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

    /// Whether it is one queue between senders and receivers: a dumbbell whose data all go the same way. Others are drawn
    /// as graphs.
    pub(super) fn is_plain(&self) -> bool {
        let goes_there = |group: &Flows| group.route == [0];
        self.topology.dumbbell && self.topology.managed().eq([0]) && self.flows.iter().all(goes_there)
    }

    /// The dumbbell: classes left and right, the disc and the link between them.
    fn draw_dumbbell(&self, own: Own<'_>, out: &mut String) {
        let shown = shown(self.flows.len(), MOST_GROUPS);
        let left: Vec<String> = self.flows[..shown].iter().map(sources).collect();
        let width = left.iter().map(String::len).max().unwrap_or_default();
        let link = &self.topology.links[0];
        let law = links::law_of(link, own).unwrap_or_default();
        let buffer = buffer_in_words(link.buffer);
        let link = format!("[ {law} | {buffer} ]== {}, {} ==", links::rate_in_words(link), link.delay);
        let middle = (shown - 1) / 2;
        for (place, (group, left)) in self.flows.iter().zip(&left).enumerate() {
            let link = if place == middle { link.clone() } else { " ".repeat(link.len()) };
            let sinks = format!("{} {}", number(group), plural(group.count as usize, "sink"));
            let _ = writeln!(out, "  {left:-<width$}--+{link}+-- {sinks}");
        }
        out.push_str(&more(self.flows.len(), shown, "class", "  "));
    }

    fn facts(&self, own: Own<'_>) -> Vec<(&'static str, String)> {
        let mut facts = self.link_facts(own);
        facts.push(("flows", self.of_each_class(|group| self.class_in_words(group))));
        facts.extend(self.round_trip_facts());
        facts.push(("changes", self.schedule()));
        facts.push(("would run", self.run_in_words()));
        let notes = self.notes();
        if !notes.is_empty() {
            let shown = shown(notes.len(), MOST_GROUPS);
            let told = notes[..shown].join("\n") + "\n" + &more(notes.len(), shown, "note", "");
            facts.push(("notes", told));
        }
        facts
    }

    /// A line of each class, or of the first ones of really many.
    fn of_each_class(&self, told: impl Fn(&Flows) -> String) -> String {
        let (all, shown) = (self.flows.len(), shown(self.flows.len(), MOST_GROUPS));
        let lines: String = self.flows[..shown].iter().map(|group| told(group) + "\n").collect();
        lines + &more(all, shown, "class", "")
    }

    /// The round-trip times: of all flows of a plain dumbbell, of each class of another network.
    fn round_trip_facts(&self) -> Vec<(&'static str, String)> {
        let Some(first) = self.topology.managed().next() else { return Vec::new() };
        if !self.is_plain() {
            let told = |group: &Flows| format!("{}: {}", group.name, range(self.base_rtts_of(group)));
            return vec![("base RTT", self.of_each_class(told)), self.products()];
        }
        let site = self.site(first);
        let mean = site.base_rtt.unwrap_or_default();
        let (shortest, longest) = self.base_rtts();
        let mean_too = if shortest == longest { String::new() } else { format!(", mean {mean}") };
        let product = site.capacity() * mean.seconds();
        vec![
            ("base RTT", range((shortest, longest)) + &mean_too),
            ("rate x RTT", format!("{product:.1} packets of {:.0} B", site.packet)),
        ]
    }

    fn run_in_words(&self) -> String {
        let sites = self.sites();
        let capacities = self.topology.managed().map(|link| sites[link].capacity());
        let (at, most) = if self.is_plain() {
            ("at the bottleneck's first rate", capacities.take(1).sum::<f64>())
        } else {
            ("over the links with discs, at their first rates", capacities.sum::<f64>())
        };
        let most = most * self.duration.seconds();
        format!("{} simulated, measured from {}; at most {most:.0} packets {at}", self.duration, self.warmup)
    }

    /// A class; where it goes, where not all go the same way.
    fn class_in_words(&self, group: &Flows) -> String {
        let is_extra = |key: &str| group.app.is_tcp() && !TOLD.contains(&key) && !SHORT.contains(&key);
        let extra = links::extra(&self.class(group), is_extra);
        let words = format!("{}: {}{extra}", group.name, group_in_words(group));
        if self.is_plain() {
            return words;
        }
        let access = group
            .access
            .map_or(String::new(), |access| format!(", access {}, {}", access.rate, access.delay));
        let there = self.way_in_words(&group.route);
        let mut back: Vec<&str> = self.topology.nodes_of(&group.back).collect();
        back.reverse();
        let acks = if back.is_empty() || self.topology.nodes_of(&group.route).eq(back) {
            String::new()
        } else {
            format!(", back {}", self.way_in_words(&group.back))
        };
        format!("{words}{access}\n  way {there}{acks}")
    }

    /// The nodes of a way; of a long one the first and the last.
    fn way_in_words(&self, route: &Route) -> String {
        let nodes: Vec<&str> = self.topology.nodes_of(route).collect();
        if nodes.len() <= MOST_NODES {
            return nodes.join(" > ");
        }
        let (first, last) = (&nodes[..MOST_NODES - 2], nodes[nodes.len() - 1]);
        format!("{} > ... > {last}, {} links", first.join(" > "), route.len())
    }

    fn schedule(&self) -> String {
        if self.at.is_empty() {
            return "none".into();
        }
        let lines: Vec<String> = self.at.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

fn sources(group: &Flows) -> String {
    let access =
        group.access.map_or(String::new(), |access| format!("--- {}, {} ", access.rate, access.delay));
    format!("{} {access}", called(group))
}

/// Such as `50 x bulk`.
fn called(group: &Flows) -> String {
    format!("{} x {}", number(group), group.name)
}

/// How many flows there are; of a class that comes during the run, at most.
fn number(group: &Flows) -> String {
    let most = if group.arrivals.is_some() { "at most " } else { "" };
    format!("{most}{}", group.count)
}

/// How many of so many things are shown: all of them, or `first` of really many.
fn shown(all: usize, first: usize) -> usize {
    if all <= MANY { all } else { first }
}

/// Such as `1 source` and `50 sources`.
fn counted(count: u32, noun: &str) -> String {
    format!("{count} {}", plural(count as usize, noun))
}

/// The noun for so many, such as `sources`, `classes`, `pairs of nodes`.
fn plural(count: usize, noun: &str) -> String {
    let (word, rest) = noun.split_at(noun.find(' ').unwrap_or(noun.len()));
    let ending = match word {
        _ if count == 1 => "",
        _ if word.ends_with('s') => "es",
        _ => "s",
    };
    format!("{word}{ending}{rest}")
}

/// A line that counts what is not shown, where there is such; `noun` is one of the things.
fn more(all: usize, shown: usize, noun: &str, indent: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        rest => format!("{indent}and {rest} more {}\n", plural(rest, noun)),
    }
}

/// Such as `20 ms to 30 ms`, or the one time that both are.
fn range((shortest, longest): (Span, Span)) -> String {
    if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") }
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
    let what = match &group.app {
        App::Datagrams(datagrams) => datagrams.told(),
        _ => format!("{}, segments of {}", tcp_in_words(group), group.segment),
    };
    let ecn = if group.ecn { "ECN" } else { "no ECN" };
    let stay = group.lifetime.as_ref().map_or(String::new(), |stay| format!(", stay {stay}"));
    match &group.arrivals {
        Some(arrivals) => {
            format!("{what}, {ecn}, come {arrivals}, {} at a time at most{stay}{stop}", group.count)
        }
        None => format!("{} x {what}, {ecn}, start {}{stay}{stop}", group.count, group.start),
    }
}

/// The congestion control and the implementation of TCP, with what is set otherwise.
fn tcp_in_words(group: &Flows) -> String {
    let sack = match group.profile.sack {
        Some(true) => " with SACK",
        Some(false) => " without SACK",
        None => "",
    };
    let timestamps = if group.profile.timestamps { " with timestamps" } else { "" };
    let session = match &group.app {
        App::Session(session) => format!(" {session}"),
        _ => String::new(),
    };
    let (cc, app, profile) = (&group.cc, group.app.name(), group.profile.name);
    let mut out = format!("{cc}{sack} {app}{session}, {profile} profile{timestamps}");
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
/// So many things of a kind are all shown; of more the first ones.
const MANY: usize = 20;
/// Classes that are drawn and told one by one where there are really many.
const MOST_GROUPS: usize = 8;
/// Nodes of a way that are told.
const MOST_NODES: usize = 12;
/// Keys of a class over TCP that are told in words of their own.
const TOLD: [&str; 30] = [
    "name",
    "stream",
    "from",
    "to",
    "route",
    "back",
    "count",
    "app",
    "rate",
    "cc",
    "profile",
    "tcp",
    "reads",
    "ecn",
    "segment",
    "access",
    "start",
    "stop",
    "arrivals",
    "lifetime",
    "size",
    "idle",
    "objects",
    "connections",
    "ladder",
    "chunk",
    "reservoir",
    "cushion",
    "request",
    "every",
];
