//! A scenario in words, for people who want to see what would run.

mod canvas;
mod cell;
mod drawing;
mod lanes;
mod links;
mod sketch;

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
    /// What would run: the network drawn in text, the law with its parameters, the schedule.
    pub fn describe(&self) -> String {
        self.tell(None)
    }

    /// The same under a law of the caller's own, with this label and a line for each of its parameters.
    pub fn describe_under(&self, label: &str, parameters: &str) -> String {
        self.tell(Some((label, parameters)))
    }

    fn tell(&self, own: Own<'_>) -> String {
        let mut out = format!("{}\n\n", self.title);
        if self.topology.dumbbell {
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

    /// The dumbbell: groups of flows left and right, the disc and the link between them.
    fn draw_dumbbell(&self, own: Own<'_>, out: &mut String) {
        let shown = self.flows.len().min(MOST_GROUPS);
        let left: Vec<String> = self.flows[..shown].iter().map(sources).collect();
        let width = left.iter().map(String::len).max().unwrap_or_default();
        let link = &self.topology.links[0];
        let law = links::law_of(link, own).unwrap_or_default();
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

    fn facts(&self, own: Own<'_>) -> Vec<(&'static str, String)> {
        let mut facts = self.link_facts(own);
        let classes = self.flows.iter().take(MOST_GROUPS).map(|group| self.class_in_words(group) + "\n");
        let mut flows: String = classes.collect();
        if !self.topology.dumbbell {
            flows += &more(self.flows.len(), MOST_GROUPS, "class", "");
        }
        facts.push(("flows", flows));
        facts.extend(self.round_trip_facts());
        facts.push(("changes", self.schedule()));
        facts.push(("would run", self.run_in_words()));
        facts
    }

    /// The round-trip times: of all flows of a dumbbell, of each class of another network.
    fn round_trip_facts(&self) -> Vec<(&'static str, String)> {
        let Some(first) = self.topology.managed().next() else { return Vec::new() };
        if !self.topology.dumbbell {
            let told = |group: &Flows| format!("{}: {}\n", group.name, range(self.base_rtts_of(group)));
            let times: String = self.flows.iter().take(MOST_GROUPS).map(told).collect();
            return vec![
                ("base RTT", times + &more(self.flows.len(), MOST_GROUPS, "class", "")),
                self.products(),
            ];
        }
        let site = self.site(first);
        let mean = site.base_rtt.unwrap_or_default();
        let (shortest, longest) = self.base_rtts();
        let mean_too = if shortest == longest { String::new() } else { format!(", mean {mean}") };
        let product = site.capacity() * mean.seconds();
        vec![
            ("base RTT", range((shortest, longest)) + &mean_too),
            ("rate x RTT", format!("{product:.1} packets of {} B", site.packet)),
        ]
    }

    fn run_in_words(&self) -> String {
        let capacities = self.topology.managed().map(|link| self.site(link).capacity());
        let (at, most) = if self.topology.dumbbell {
            ("at the bottleneck's first rate", capacities.take(1).sum::<f64>())
        } else {
            ("over the links with discs, at their first rates", capacities.sum::<f64>())
        };
        let most = most * self.duration.seconds();
        format!("{} simulated, measured from {}; at most {most:.0} packets {at}", self.duration, self.warmup)
    }

    /// A class; where it goes, where the network is no dumbbell.
    fn class_in_words(&self, group: &Flows) -> String {
        let is_extra = |key: &str| group.app.is_tcp() && !TOLD.contains(&key) && !SHORT.contains(&key);
        let words = group_in_words(group) + &links::extra(&self.class(group), is_extra);
        if self.topology.dumbbell {
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
        format!("{}: {words}{access}\n  way {there}{acks}", group.name)
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
    format!("{} {access}", counted(group.count, "source"))
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
/// Groups of flows that are drawn and told one by one.
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
