//! The network: links, shorthands for some, and the qdiscs in front of them.

use super::packets::{mean_packet, packet_of};
use super::reader::{FASTEST, FASTEST_ACCESS, Reader, Section};
use crate::diagnostics::listed;
use crate::keys::{NETWORKS, Name};
use crate::links::{Framing, Impairments, Medium, SchedulePlan, Trace};
use crate::scenario::Scenario;
use crate::topology::{Link, Topology};
use crate::tree::{Node, Tree};
use sojourn_aqm::{Limit, LinkContext, QdiscSpec};
use sojourn_params::InputError;
use sojourn_params::Quantity;
use sojourn_units::{Amount, Bytes, Rate, Span};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A network without its qdiscs: a law is checked once its context is known.
pub(super) struct Draft<'a> {
    pub(super) topology: Topology,
    /// Default ends of flows.
    pub(super) ends: Option<[String; 2]>,
    qdiscs: Vec<QdiscRequest<'a>>,
}

/// A qdisc of the file.
struct QdiscRequest<'a> {
    /// Value in the file, if any.
    node: Option<&'a Node>,
    path: String,
    /// The links, each of which gets one.
    links: Vec<usize>,
}

/// The flows' packets, sizes in bytes.
#[derive(Clone, Copy)]
struct Segments {
    mean: f64,
    /// Largest mean of a class.
    largest: f64,
}

/// Properties of one direction of a link, without its ends.
#[derive(Clone)]
struct Line {
    rate: Rate,
    delay: Span,
    buffer: Option<Limit>,
    medium: Medium,
}

/// Properties of the other direction of one link or several.
struct Back<'a> {
    line: Line,
    /// Its section in the file, if any.
    section: Option<Section<'a>>,
}

/// Name and ends of one direction of a link.
struct Join<'n> {
    name: &'n str,
    from: &'n str,
    to: &'n str,
}

impl Reader {
    /// The network, in any of its forms.
    pub(super) fn network<'a>(&mut self, top: &Section<'a>, groups: &[Section<'_>]) -> Option<Draft<'a>> {
        let mut given = NETWORKS.iter().filter(|name| top.given(name));
        let Some(name) = given.next() else {
            if !NETWORKS.iter().any(|name| top.meant.contains(name)) {
                self.report(&top.place, "bottleneck", MISSING);
            }
            return None;
        };
        if let Some(other) = given.next() {
            let message = format!("stands beside {}; expected one network", written(name));
            self.refuse(top, other, &message);
            return None;
        }
        let node = top.node(name)?;
        let largest = groups.iter().filter_map(packet_of).reduce(f64::max);
        let segments = mean_packet(groups).zip(largest).map(|(mean, largest)| Segments { mean, largest });
        if *name == "links" {
            return self.graph(node, segments);
        }
        let section = self.section(name, name, node)?;
        let draft = segments.and_then(|segments| match *name {
            "parking_lot" => self.parking_lot(&section, segments),
            "two_bottlenecks" => self.two_bottlenecks(&section, segments),
            "home" => self.home(&section, segments),
            _ => self.dumbbell(&section, segments),
        });
        if draft.is_none() {
            let request = QdiscRequest {
                node: section.node("qdisc"),
                path: section.path_of("qdisc"),
                links: Vec::new(),
            };
            self.qdisc(&request, None);
        }
        draft
    }

    /// One congested link from left to right, and back.
    fn dumbbell<'a>(&mut self, section: &Section<'a>, segments: Segments) -> Option<Draft<'a>> {
        let mut draft = Draft::new(Some(["left", "right"]));
        draft.topology.dumbbell = true;
        let line = self.line(section, segments, None)?;
        let back = self.back(section, segments, &line)?;
        let number =
            draft.join_both(&Join { name: "bottleneck", from: "left", to: "right" }, &line, &back.line);
        draft.ask(section, vec![number]);
        draft.ask_back(&back, &[number]);
        Some(draft)
    }

    /// A chain of routers, each with a qdisc towards the next.
    fn parking_lot<'a>(&mut self, section: &Section<'a>, segments: Segments) -> Option<Draft<'a>> {
        let routers = section.get::<u64>("routers")?;
        let names: Vec<String> = (1..=routers).map(|number| format!("r{number}")).collect();
        let mut draft = Draft::new(Some([&names[0], &names[names.len() - 1]]));
        let line = self.line(section, segments, None)?;
        let back = self.back(section, segments, &line)?;
        let links = names.windows(2).map(|pair| {
            let name = format!("{}-{}", pair[0], pair[1]);
            draft.join_both(&Join { name: &name, from: &pair[0], to: &pair[1] }, &line, &back.line)
        });
        let links: Vec<usize> = links.collect();
        draft.ask_back(&back, &links);
        draft.ask(section, links);
        Some(draft)
    }

    /// J. Ye et al., IWQoS 2022, figure 2: r1 and r5 at r2, r6 at r3, and a chain r2-r3-r4 with a qdisc each.
    fn two_bottlenecks<'a>(&mut self, section: &Section<'a>, segments: Segments) -> Option<Draft<'a>> {
        let mut draft = Draft::new(Some(["r1", "r4"]));
        let line = self.line(section, segments, None)?;
        let rate = if section.given("fast") {
            self.rate(section, "fast", segments.mean, FASTEST_ACCESS)?
        } else {
            Rate::from_bits_per_second(FAST_FACTOR * line.rate.bits_per_second())
        };
        let fast = Line::plain(rate, Span::ZERO);
        let back = self.back(section, segments, &line)?;
        let mut add = |name: &str, line: &Line, back: &Line| {
            let (from, to) = name.split_once('-').unwrap_or((name, name));
            draft.join_both(&Join { name, from, to }, line, back)
        };
        let congested = vec![add("r2-r3", &line, &back.line), add("r3-r4", &line, &back.line)];
        for name in ["r1-r2", "r5-r2", "r3-r6"] {
            add(name, &fast, &fast);
        }
        draft.ask_back(&back, &congested);
        draft.ask(section, congested);
        Some(draft)
    }

    /// Hosts, a modem with a qdisc towards the ISP, and the ISP's towards the modem.
    fn home<'a>(&mut self, section: &Section<'a>, segments: Segments) -> Option<Draft<'a>> {
        let mut draft = Draft::new(Some(["lan", "isp"]));
        let rate = self.rate(section, "lan", segments.mean, FASTEST_ACCESS)?;
        let lan = Line::plain(rate, Span::ZERO);
        draft.join_both(&Join { name: "lan-modem", from: "lan", to: "modem" }, &lan, &lan);
        for (name, from, to) in [("up", "modem", "isp"), ("down", "isp", "modem")] {
            let (table, path) = (if name == "up" { "home.up" } else { "home.down" }, section.path_of(name));
            let way = self.section(table, &path, section.node(name)?)?;
            let line = self.line(&way, segments, None)?;
            let number = draft.join(&Join { name, from, to }, line);
            draft.ask(&way, vec![number]);
        }
        Some(draft)
    }

    /// Any network, link by link.
    fn graph<'a>(&mut self, node: &'a Node, segments: Option<Segments>) -> Option<Draft<'a>> {
        let sections = self.list("links", node);
        if node.is_empty() {
            self.report(&node.place, "links", "is empty; expected one or more tables [[links]]");
        }
        if sections.len() > MOST_LINKS {
            let message = format!("are {}; expected at most {MOST_LINKS}", sections.len());
            self.report(&node.place, "links", &message);
            return None;
        }
        let mut draft = Draft::new(None);
        let (mut names, mut joined) = (BTreeSet::new(), BTreeSet::new());
        let mut loops = false;
        for section in &sections {
            let (Name(from), Name(to)) = (section.get("from")?, section.get("to")?);
            let name =
                if section.given("name") { section.get("name")? } else { Name(format!("{from}-{to}")) };
            let one_way = section.given("one_way") && section.get("one_way")?;
            if from == to {
                let message = format!("\"{to}\" is where the link begins; expected another node");
                self.refuse(section, "to", &message);
                loops = true;
                continue;
            }
            if !names.insert(name.0.clone()) {
                let message =
                    format!("\"{}\" is the name of a link before it; expected a name of its own", name.0);
                self.refuse(section, "name", &message);
            }
            if one_way && section.given("back") {
                self.refuse(section, "back", "is of a link with one_way = true; expected one of the two");
            }
            let ends = [(from.clone(), to.clone()), (to.clone(), from.clone())];
            for (from, to) in ends.into_iter().take(if one_way { 1 } else { 2 }) {
                let message = format!(
                    "there is a link from \"{from}\" to \"{to}\" before it; expected one from a node to another \
                     (a node between them makes room for two), each with one other direction"
                );
                if !joined.insert((from, to)) {
                    self.refuse(section, "to", &message);
                    break;
                }
            }
            let line = self.line(section, segments?, None)?;
            let join = Join { name: &name.0, from: &from, to: &to };
            if one_way {
                let number = draft.join(&join, line);
                draft.ask_where_given(section, vec![number]);
                continue;
            }
            let back = self.back(section, segments?, &line)?;
            let number = draft.join_both(&join, &line, &back.line);
            draft.ask_where_given(section, vec![number]);
            draft.ask_back(&back, &[number]);
        }
        if loops {
            // Further errors would follow from the missing link.
            return None;
        }
        if draft
            .qdiscs
            .iter()
            .all(|request| request.links.iter().all(|link| draft.topology.links[*link].is_fixed))
        {
            self.report(&node.place, "links", NO_QDISC);
        }
        Some(draft)
    }

    /// The other direction of a link.
    fn back<'a>(&mut self, section: &Section<'a>, segments: Segments, line: &Line) -> Option<Back<'a>> {
        let plain = line.back();
        if !section.given("back") {
            return Some(Back { line: plain, section: None });
        }
        let table = match section.table {
            "parking_lot" => "parking_lot.back",
            "two_bottlenecks" => "two_bottlenecks.back",
            "links" => "links.back",
            _ => "bottleneck.back",
        };
        let back = self.section(table, &section.path_of("back"), section.node("back")?)?;
        let line = self.line(&back, segments, Some(&plain))?;
        Some(Back { line, section: Some(back) })
    }

    /// One direction of a link; defaults are those of `other`.
    fn line(&mut self, section: &Section<'_>, segments: Segments, other: Option<&Line>) -> Option<Line> {
        let link_schedule = self.link_schedule(section);
        let rate = match (&link_schedule, other) {
            (Some(link_schedule), _) => Some(link_schedule.mean()),
            (None, Some(other)) if !section.given("rate") => Some(other.rate),
            _ => self.rate(section, "rate", segments.mean, FASTEST),
        };
        let buffer = match section.get::<Amount>("buffer") {
            Some(amount) => Some(self.buffer(section, amount, rate?, segments.largest)?),
            None => None,
        };
        let delay = match other {
            Some(other) if !section.given("delay") => Some(other.delay),
            _ => section.get("delay"),
        };
        let framing = match (section.given("framing"), other) {
            (false, _) if link_schedule.is_some() => Framing::TUN,
            (false, Some(other)) => other.medium.framing,
            _ => section.get("framing")?,
        };
        let impairments =
            if section.given("impairments") { section.get("impairments")? } else { Impairments::default() };
        Some(Line {
            rate: rate?,
            delay: delay?,
            buffer,
            medium: Medium { framing, link_schedule, impairments },
        })
    }

    /// Schedule of a link with a trace instead of a rate.
    fn link_schedule(&mut self, section: &Section<'_>) -> Option<SchedulePlan> {
        let trace = section.get::<Trace>("trace")?;
        if section.given("rate") {
            self.refuse(section, "trace", "stands beside rate; expected one of the two");
        }
        let files = Rc::clone(&self.files);
        let link_schedule =
            trace.load(&*files).map_err(|message| self.refuse(section, "trace", &message)).ok()?;
        if let (SchedulePlan::Recorded(recording), Some(end)) = (&link_schedule, self.end)
            && let Some(first) = recording.stamps().first().map(|stamp| Span::from_millis(u64::from(*stamp)))
            && first >= end
        {
            let file = &recording.file;
            let message = format!(
                "{file}: the first delivery is at {first}; expected one before the end of the run at {end}"
            );
            self.refuse(section, "trace", &message);
        }
        Some(link_schedule)
    }

    fn buffer(&mut self, section: &Section<'_>, amount: Amount, rate: Rate, largest: f64) -> Option<Limit> {
        let limit = Limit::from_amount(amount, rate);
        let message = match (amount, limit) {
            (Amount::Packets(count), _)
                if count != count.trunc() || !(1.0..=MOST_PACKETS).contains(&count) =>
            {
                format!("{count} packets cannot be held; expected whole packets, 1 to {MOST_PACKETS}")
            }
            (_, Limit::Bytes(bytes)) if (bytes as f64) < largest => {
                let largest = Bytes::new(largest.ceil() as u64);
                format!("{amount} holds {bytes} B, less than one packet; expected {largest} or more")
            }
            _ => return Some(limit),
        };
        self.refuse(section, "buffer", &message);
        None
    }

    /// Puts the qdiscs in front of their links, checked in their contexts as far as those are known.
    pub(super) fn qdiscs(&mut self, draft: Option<Draft<'_>>, scenario: &mut Option<Scenario>) {
        let contexts = scenario.as_ref().map(Scenario::contexts);
        for request in draft.into_iter().flat_map(|draft| draft.qdiscs) {
            let Some(qdisc) = self.qdisc(&request, contexts.as_deref()) else { continue };
            if let Some(scenario) = scenario {
                request
                    .links
                    .iter()
                    .for_each(|link| scenario.topology.links[*link].qdisc = Some(qdisc.clone()));
            }
        }
    }

    fn qdisc(&mut self, request: &QdiscRequest<'_>, contexts: Option<&[LinkContext]>) -> Option<QdiscSpec> {
        let QdiscRequest { node, path, links } = request;
        let Some(node) = node else { return Some(QdiscSpec::default()) };
        let read = match &node.tree {
            Tree::Table(entries) => self.qdisc_of_table(node, path, entries),
            _ => String::read(&node.value().ok()?)
                .map_err(|message| InputError::new("", message))
                .and_then(|spec| QdiscSpec::parse(&spec)),
        };
        let qdisc = read.map_err(|error| self.inner_error(node, path, &error)).ok()?;
        let errors = match contexts {
            // An error at several links is reported for the first.
            Some(contexts) => {
                links.iter().map(|link| qdisc.errors(&contexts[*link])).find(|text| !text.is_empty())
            }
            None => Some(qdisc.errors(&nominal_context())),
        };
        let errors = errors.unwrap_or_default();
        for error in &errors {
            self.inner_error(node, path, error);
        }
        errors.is_empty().then_some(qdisc)
    }

    fn qdisc_of_table(
        &mut self,
        node: &Node,
        path: &str,
        entries: &[(String, Node)],
    ) -> Result<QdiscSpec, InputError> {
        let (law, params) = self.named_table(node, path, ("law", "law", "red"), entries)?;
        QdiscSpec::new(&law, params)
    }
}

impl Line {
    /// A rate and a delay.
    fn plain(rate: Rate, delay: Span) -> Line {
        Line { rate, delay, buffer: None, medium: Medium::default() }
    }

    /// Defaults of the other direction.
    fn back(&self) -> Line {
        Line { medium: self.medium.back(), ..Line::plain(self.rate, self.delay) }
    }

    /// The link of this kind between two nodes, without its qdisc.
    fn link(self, name: String, (from, to): (usize, usize), is_back: bool) -> Link {
        let Line { rate, delay, buffer, medium } = self;
        Link { name, from, to, rate, delay, buffer, qdisc: None, is_fixed: false, is_back, medium }
    }
}

impl<'a> Draft<'a> {
    /// An empty draft; flows go from the first of these nodes to the second.
    fn new(ends: Option<[&str; 2]>) -> Draft<'a> {
        let topology = Topology { dumbbell: false, nodes: Vec::new(), links: Vec::new() };
        Draft { topology, ends: ends.map(|ends| ends.map(String::from)), qdiscs: Vec::new() }
    }

    /// Its nodes as errors list them.
    pub(super) fn nodes(&self) -> String {
        listed(&self.topology.nodes)
    }

    /// Adds a direction of a link; returns its number.
    fn join(&mut self, join: &Join<'_>, line: Line) -> usize {
        let (from, to) = (self.topology.add_node(join.from), self.topology.add_node(join.to));
        self.topology.add_link(line.link(join.name.to_string(), (from, to), false))
    }

    /// Adds both directions of a link with consecutive numbers; returns the first.
    fn join_both(&mut self, join: &Join<'_>, line: &Line, back: &Line) -> usize {
        let number = self.join(join, line.clone());
        let Link { name, from, to, .. } = &self.topology.links[number];
        let (name, ends) = (format!("{name}.back"), (*to, *from));
        self.topology.add_link(back.clone().link(name, ends, true));
        number
    }

    /// Requests the qdisc of the section, or the default one, for each of these links.
    fn ask(&mut self, section: &Section<'a>, links: Vec<usize>) {
        self.qdiscs.push(QdiscRequest { node: section.node("qdisc"), path: section.path_of("qdisc"), links });
    }

    /// Requests the qdisc of the section, if any, for these links; a buffer alone makes a fixed one.
    fn ask_where_given(&mut self, section: &Section<'a>, links: Vec<usize>) {
        if section.given("qdisc") || section.given("buffer") {
            for link in &links {
                self.topology.links[*link].is_fixed = !section.given("qdisc");
            }
            self.ask(section, links);
        }
    }

    /// The same for the other directions of these links.
    fn ask_back(&mut self, back: &Back<'a>, links: &[usize]) {
        if let Some(section) = &back.section {
            self.ask_where_given(section, links.iter().map(|link| link + 1).collect());
        }
    }
}

/// A context that suits every law, for files whose context is unknown.
fn nominal_context() -> LinkContext {
    LinkContext {
        rate: Rate::from_bits_per_second(1e7),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: Some(50.0),
        base_rtt: Some(Span::from_millis(100)),
    }
}

/// A network's table as written in files.
fn written(name: &str) -> String {
    if name == "links" { "[[links]]".into() } else { format!("[{name}]") }
}

/// Error message of a file without a network.
const MISSING: &str = "is missing; expected a table [bottleneck], or another network: [parking_lot], [two_bottlenecks], \
                       [home] or [[links]]";
/// Error message of a graph without a qdisc.
const NO_QDISC: &str = "have no qdisc, so that nothing would be measured; expected qdisc = \"tail_drop\", for example, in \
                       the link that packets wait for";
/// Links of a graph.
const MOST_LINKS: usize = 10_000;
/// Packets of a buffer.
const MOST_PACKETS: f64 = 1e9;
/// Rate of the other links over that of the bottlenecks.
const FAST_FACTOR: f64 = 10.0;
