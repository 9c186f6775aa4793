//! A scenario in words.

use crate::text::{Description, MOST_GROUPS, more, shown};
use crate::warnings::warnings;
use sojourn_scenario::apps::{Game, Http, Rpm, Transfer, Video, Web};
use sojourn_scenario::{App, Datagrams, Flows, Scenario, Source, Traffic};
use sojourn_tcp::cc::Choice;
use sojourn_units::Span;
use std::fmt::Write;

/// The tables of links and classes, the laws with their parameters, the schedule, and warnings.
pub fn describe(scenario: &Scenario) -> String {
    Description { scenario, own: None }.text()
}

/// The same under a custom law, with its label and a line for each of its parameters.
pub fn describe_under(scenario: &Scenario, label: &str, parameters: &str) -> String {
    Description { scenario, own: Some((label, parameters)) }.text()
}

impl Description<'_> {
    fn text(&self) -> String {
        let mut out = format!("{}\n\n{}\n", self.scenario.title, self.network());
        for (name, text) in self.facts() {
            // Further lines of a fact are indented under its first one.
            let mut lines = text.lines();
            let _ = writeln!(out, "{name:<LABEL$}{}", lines.next().unwrap_or_default());
            lines.for_each(|line| {
                let _ = writeln!(out, "{:LABEL$}{line}", "");
            });
        }
        out
    }

    /// True for a single queue: a dumbbell whose data all cross it forward.
    pub(crate) fn is_plain(&self) -> bool {
        let goes_there = |group: &Flows| group.route == [0];
        self.scenario.topology.dumbbell
            && self.scenario.topology.managed().eq([0])
            && self.scenario.flows.iter().all(goes_there)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.link_facts();
        facts.push(("flows", self.of_each_class(class_in_words)));
        facts.extend(self.round_trip_facts());
        facts.push(("changes", self.schedule()));
        if !self.scenario.windows.is_empty() {
            let windows: Vec<String> = self.scenario.windows.iter().map(ToString::to_string).collect();
            facts.push(("windows", windows.join(", ")));
        }
        facts.push(("would run", self.run_in_words()));
        let warnings = warnings(self.scenario);
        if !warnings.is_empty() {
            let shown = shown(warnings.len(), MOST_GROUPS);
            let text = warnings[..shown].join("\n") + "\n" + &more(warnings.len(), shown, "note", "");
            facts.push(("notes", text));
        }
        facts
    }

    /// A line for each class, or for the first of many.
    fn of_each_class(&self, text: impl Fn(&Flows) -> String) -> String {
        let (all, shown) = (self.scenario.flows.len(), shown(self.scenario.flows.len(), MOST_GROUPS));
        let lines: String = self.scenario.flows[..shown].iter().map(|group| text(group) + "\n").collect();
        lines + &more(all, shown, "class", "")
    }

    /// The round-trip times: of all flows of a plain dumbbell, of each class of another network.
    fn round_trip_facts(&self) -> Vec<(&'static str, String)> {
        let Some(first) = self.scenario.topology.managed().next() else { return Vec::new() };
        if !self.is_plain() {
            let text =
                |group: &Flows| format!("{}: {}", group.name, range(self.scenario.base_rtts_of(group)));
            return vec![("base RTT", self.of_each_class(text)), self.products()];
        }
        let context = self.scenario.context(first);
        let mean = context.base_rtt.unwrap_or_default();
        let (shortest, longest) = self.scenario.base_rtts();
        let mean_too = if shortest == longest { String::new() } else { format!(", mean {mean}") };
        let product = context.capacity() * mean.seconds();
        vec![
            ("base RTT", range((shortest, longest)) + &mean_too),
            ("rate x RTT", format!("{product:.1} packets of {:.0} B", context.packet)),
        ]
    }

    fn run_in_words(&self) -> String {
        let contexts = self.scenario.contexts();
        let capacities = self.scenario.topology.managed().map(|link| contexts[link].capacity());
        let (at, most) = if self.is_plain() {
            ("at the bottleneck's first rate", capacities.take(1).sum::<f64>())
        } else {
            ("over the links with qdiscs, at their first rates", capacities.sum::<f64>())
        };
        let most = most * self.scenario.duration.seconds();
        format!(
            "{} simulated, measured from {}; at most {most:.0} packets {at}",
            self.scenario.duration, self.scenario.warmup
        )
    }

    fn schedule(&self) -> String {
        if self.scenario.at.is_empty() {
            return "none".into();
        }
        let lines: Vec<String> = self.scenario.at.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

/// A range such as `20 ms to 30 ms`, or the single time.
fn range((shortest, longest): (Span, Span)) -> String {
    if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") }
}

/// A class, with its access links.
fn class_in_words(group: &Flows) -> String {
    let words = format!("{}: {}", group.name, group_in_words(group));
    let access =
        group.access.map_or(String::new(), |access| format!(", access {}, {}", access.rate, access.delay));
    format!("{words}{access}")
}

fn group_in_words(group: &Flows) -> String {
    let stop = group.stop.map_or(String::new(), |stop| format!(", stop at {stop}"));
    let message = match group.traffic() {
        Traffic::Datagrams(datagrams) => datagrams_in_words(group.app.name(), &datagrams),
        _ => format!("{}, segments of {}", tcp_in_words(group), group.segment),
    };
    let ecn = if group.ecn { "ECN" } else { "no ECN" };
    let stay = group.lifetime.as_ref().map_or(String::new(), |stay| format!(", stay {stay}"));
    match &group.arrivals {
        Some(arrivals) => {
            format!("{message}, {ecn}, arrive {arrivals}, {} at a time at most{stay}{stop}", group.count)
        }
        None => format!("{} x {message}, {ecn}, start {}{stay}{stop}", group.count, group.start),
    }
}

fn datagrams_in_words(name: &str, datagrams: &Datagrams) -> String {
    let rate = datagrams.rate();
    let rate = match &datagrams.source {
        Source::Cbr(_) | Source::Poisson(_) | Source::Voip { spurts: false } => {
            format!("{rate} over UDP")
        }
        Source::OnOff { on, off, .. } => format!("{rate} over UDP while on (on {on}, off {off})"),
        Source::Lrd { hurst, sources, on, off, .. } => {
            format!("{rate} over UDP on average ({sources} sources, H = {hurst}, on {on}, off {off})")
        }
        Source::Voip { spurts: true } => format!("{rate} over UDP in talk spurts"),
        Source::Ping(every) => format!("one datagram each {every}, which is returned"),
    };
    format!("{name} of {rate}, packets of {}", datagrams.size)
}

/// What flows that are not always backlogged send, with a space before it.
fn session_in_words(app: &App) -> String {
    match app {
        App::Transfer(Transfer { size }) | App::Http(Http { size, .. }) => format!(" of {size}"),
        App::Mice(mice) => format!(" of {}, idle {} between them", mice.size(), mice.idle()),
        App::Web(Web { objects, size, connections, idle, .. }) => {
            format!(" pages of {objects} objects of {size} over {connections} connections, idle {idle}")
        }
        App::Video(Video { ladder, chunk, .. }) => {
            let [lowest, highest] =
                [ladder.0.first(), ladder.0.last()].map(|rate| rate.copied().unwrap_or_default());
            format!(" of {lowest} to {highest} in chunks of {chunk}")
        }
        App::Rpm(Rpm { connections, every, .. }) => {
            format!(" with up to {connections} load-generating connections, two probes each {every}")
        }
        App::Game(Game { every, size, .. }) => format!(" with an answer of {size} each {every}"),
        _ => String::new(),
    }
}

/// The congestion control and the implementation of TCP, with the settings that differ.
fn tcp_in_words(group: &Flows) -> String {
    let sack = match group.profile.sack {
        Some(true) => " with SACK",
        Some(false) => " without SACK",
        None => "",
    };
    let timestamps = if group.profile.timestamps { " with timestamps" } else { "" };
    let session = session_in_words(&group.app);
    let (cc, app, profile) = (&group.cc, group.app.name(), group.profile_name);
    let kernel = if let Choice::Kernel(_) = cc { " (live runs only)" } else { "" };
    let mut out = format!("{cc}{kernel}{sack} {app}{session}, {profile} profile{timestamps}");
    for setting in group.profile.changes_from(profile) {
        if !["sack", "timestamps"].contains(&setting.key) {
            let _ = write!(out, ", {} = {}", setting.key, group.profile.text(&setting));
        }
    }
    if let Some(rate) = group.reads {
        let _ = write!(out, ", read at {rate}");
    }
    out
}

/// Letters before a fact.
const LABEL: usize = 12;
