//! The network: links, shorthands for some, and the discs in front of them.

use super::udp::packet_of;
use super::{FASTEST, FASTEST_ACCESS, Reader, Section, listed, mean_packet, somewhere};
use crate::disc::DiscSpec;
use crate::keys::Name;
use crate::links::{Deliveries, Framing, Impairments, Medium, Trace};
use crate::scenario::Scenario;
use crate::topology::{Link, Topology};
use crate::tree::{Node, Tree};
use sojourn_aqm::{Limit, Site};
use sojourn_units::param::Quantity;
use sojourn_units::{Amount, Bytes, Fault, Rate, Span};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A network, still without its discs: a law is checked when its place is known.
pub(super) struct Draft<'a> {
    pub(super) topology: Topology,
    /// Where flows begin and end that do not say.
    pub(super) ends: Option<[String; 2]>,
    discs: Vec<Asked<'a>>,
}

/// A disc that is asked for.
struct Asked<'a> {
    /// What the file says of it; None: nothing.
    node: Option<&'a Node>,
    path: String,
    /// The links that get one each.
    links: Vec<usize>,
}

/// The flows' packets, sizes in bytes.
#[derive(Clone, Copy)]
struct Segments {
    mean: f64,
    /// Of the class with the largest, on average.
    largest: f64,
}

/// What a direction of a link is like, whatever it joins.
#[derive(Clone)]
struct Line {
    rate: Rate,
    delay: Span,
    buffer: Option<Limit>,
    medium: Medium,
}

/// What the other direction of a link, or of several that are alike, is like.
struct Back<'a> {
    line: Line,
    /// What the file says of it, if anything.
    section: Option<Section<'a>>,
}

/// What a direction of a link joins.
struct Join<'n> {
    name: &'n str,
    from: &'n str,
    to: &'n str,
}

impl Reader {
    /// The network in whichever way the file gives it.
    pub(super) fn network<'a>(&mut self, top: &Section<'a>, groups: &[Section<'_>]) -> Option<Draft<'a>> {
        let mut given = NETWORKS.iter().filter(|name| top.given(name));
        let Some(name) = given.next() else {
            if !NETWORKS.iter().any(|name| top.meant.contains(name)) {
                self.flaw(&top.place, "bottleneck", MISSING);
            }
            return None;
        };
        if let Some(other) = given.next() {
            let what = format!("stands beside {}; legal: one network", written(name));
            self.refuse(top, other, &what);
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
            let asked =
                Asked { node: section.node("disc"), path: section.path_of("disc"), links: Vec::new() };
            self.disc(&asked, None);
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

    /// A chain of routers, each with a disc towards the next.
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

    /// J. Ye et al., IWQoS 2022, figure 2: r1 and r5 at r2, r6 at r3, and a chain r2-r3-r4 with a disc each.
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

    /// Hosts, a modem with a disc towards the ISP, and the ISP's towards the modem.
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
            self.flaw(&node.place, "links", "is empty; legal: one or more tables [[links]]");
        }
        if sections.len() > MOST_LINKS {
            let what = format!("are {}; legal: at most {MOST_LINKS}", sections.len());
            self.flaw(&node.place, "links", &what);
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
                let what = format!("\"{to}\" is where the link begins; legal: another node");
                self.refuse(section, "to", &what);
                loops = true;
                continue;
            }
            if !names.insert(name.0.clone()) {
                let what =
                    format!("\"{}\" is the name of a link before it; legal: a name of its own", name.0);
                self.refuse(section, "name", &what);
            }
            if one_way && section.given("back") {
                self.refuse(section, "back", "is of a link with one_way = true; legal: one of the two");
            }
            let ends = [(from.clone(), to.clone()), (to.clone(), from.clone())];
            for (from, to) in ends.into_iter().take(if one_way { 1 } else { 2 }) {
                let what = format!(
                    "there is a link from \"{from}\" to \"{to}\" before it; legal: one from a node to another \
                     (a node between them makes room for two), each with one other direction"
                );
                if !joined.insert((from, to)) {
                    self.refuse(section, "to", &what);
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
            // What is said of a network that lacks a link would be wrong.
            return None;
        }
        if draft.discs.iter().all(|asked| asked.links.iter().all(|link| draft.topology.links[*link].is_fixed))
        {
            self.flaw(&node.place, "links", NO_DISC);
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

    /// One direction of a link; what it leaves open is as in `other`.
    fn line(&mut self, section: &Section<'_>, segments: Segments, other: Option<&Line>) -> Option<Line> {
        let deliveries = self.deliveries(section);
        let rate = match (&deliveries, other) {
            (Some(deliveries), _) => Some(deliveries.mean()),
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
            (false, _) if deliveries.is_some() => Framing::TUN,
            (false, Some(other)) => other.medium.framing,
            _ => section.get("framing")?,
        };
        let impairments =
            if section.given("impairments") { section.get("impairments")? } else { Impairments::default() };
        Some(Line { rate: rate?, delay: delay?, buffer, medium: Medium { framing, deliveries, impairments } })
    }

    /// When the link may send, where the file gives that instead of a rate.
    fn deliveries(&mut self, section: &Section<'_>) -> Option<Deliveries> {
        let trace = section.get::<Trace>("trace")?;
        if section.given("rate") {
            self.refuse(section, "trace", "stands beside rate; legal: one of the two");
        }
        let files = Rc::clone(&self.files);
        let deliveries = trace.load(&*files).map_err(|what| self.refuse(section, "trace", &what)).ok()?;
        if let (Deliveries::Recorded(recording), Some(end)) = (&deliveries, self.end)
            && let Some(first) = recording.stamps().first().map(|stamp| Span::from_millis(u64::from(*stamp)))
            && first >= end
        {
            let file = &recording.file;
            let what = format!(
                "{file}: the first delivery is at {first}; legal: one before the end of the run at {end}"
            );
            self.refuse(section, "trace", &what);
        }
        Some(deliveries)
    }

    fn buffer(&mut self, section: &Section<'_>, amount: Amount, rate: Rate, largest: f64) -> Option<Limit> {
        let limit = Limit::from_amount(amount, rate);
        let what = match (amount, limit) {
            (Amount::Packets(count), _)
                if count != count.trunc() || !(1.0..=MOST_PACKETS).contains(&count) =>
            {
                format!("{count} packets cannot be held; legal: whole packets, 1 to {MOST_PACKETS}")
            }
            (_, Limit::Bytes(bytes)) if (bytes as f64) < largest => {
                let largest = Bytes::new(largest.ceil() as u64);
                format!("{amount} holds {bytes} B, less than one packet; legal: {largest} or more")
            }
            _ => return Some(limit),
        };
        self.refuse(section, "buffer", &what);
        None
    }

    /// Puts the discs in front of their links, checked at their places as far as those are known.
    pub(super) fn discs(&mut self, draft: Option<Draft<'_>>, scenario: &mut Option<Scenario>) {
        let sites = scenario.as_ref().map(Scenario::sites);
        for asked in draft.into_iter().flat_map(|draft| draft.discs) {
            let Some(disc) = self.disc(&asked, sites.as_deref()) else { continue };
            if let Some(scenario) = scenario {
                asked.links.iter().for_each(|link| scenario.topology.links[*link].disc = Some(disc.clone()));
            }
        }
    }

    fn disc(&mut self, asked: &Asked<'_>, sites: Option<&[Site]>) -> Option<DiscSpec> {
        let Asked { node, path, links } = asked;
        let Some(node) = node else { return Some(DiscSpec::default()) };
        let read = match &node.tree {
            Tree::Table(entries) => self.disc_of_table(node, path, entries),
            _ => String::read(&node.value().ok()?)
                .map_err(|what| Fault::new("", what))
                .and_then(|spec| DiscSpec::parse(&spec)),
        };
        let disc = read.map_err(|fault| self.inner_fault(node, path, &fault)).ok()?;
        let faults = match sites {
            // What is wrong at several places is told of the first.
            Some(sites) => links.iter().map(|link| disc.faults(&sites[*link])).find(|told| !told.is_empty()),
            None => Some(disc.faults(&somewhere())),
        };
        let faults = faults.unwrap_or_default();
        for fault in &faults {
            self.inner_fault(node, path, fault);
        }
        faults.is_empty().then_some(disc)
    }

    fn disc_of_table(
        &mut self,
        node: &Node,
        path: &str,
        entries: &[(String, Node)],
    ) -> Result<DiscSpec, Fault> {
        let (law, params) = self.named_table(node, path, ("law", "law", "red"), entries)?;
        DiscSpec::new(&law, params)
    }
}

impl Line {
    /// A rate and a delay.
    fn plain(rate: Rate, delay: Span) -> Line {
        Line { rate, delay, buffer: None, medium: Medium::default() }
    }

    /// The other direction, as far as nothing is said of it.
    fn back(&self) -> Line {
        Line { medium: self.medium.back(), ..Line::plain(self.rate, self.delay) }
    }

    /// The link of this kind between two nodes, still without its disc.
    fn link(self, name: String, (from, to): (usize, usize), is_back: bool) -> Link {
        let Line { rate, delay, buffer, medium } = self;
        Link { name, from, to, rate, delay, buffer, disc: None, is_fixed: false, is_back, medium }
    }
}

impl<'a> Draft<'a> {
    /// Nothing yet; flows go from the first of these nodes to the second.
    fn new(ends: Option<[&str; 2]>) -> Draft<'a> {
        let topology = Topology { dumbbell: false, nodes: Vec::new(), links: Vec::new() };
        Draft { topology, ends: ends.map(|ends| ends.map(String::from)), discs: Vec::new() }
    }

    /// Its nodes, as faults list them.
    pub(super) fn nodes(&self) -> String {
        listed(&self.topology.nodes)
    }

    /// Adds a direction of a link; gives its number.
    fn join(&mut self, join: &Join<'_>, line: Line) -> usize {
        let (from, to) = (self.topology.add_node(join.from), self.topology.add_node(join.to));
        self.topology.add_link(line.link(join.name.to_string(), (from, to), false))
    }

    /// Adds both directions of a link, one behind the other; gives the number of the first.
    fn join_both(&mut self, join: &Join<'_>, line: &Line, back: &Line) -> usize {
        let number = self.join(join, line.clone());
        let Link { name, from, to, .. } = &self.topology.links[number];
        let (name, ends) = (format!("{name}.back"), (*to, *from));
        self.topology.add_link(back.clone().link(name, ends, true));
        number
    }

    /// Each of these links gets the disc that the section names, or the default one.
    fn ask(&mut self, section: &Section<'a>, links: Vec<usize>) {
        self.discs.push(Asked { node: section.node("disc"), path: section.path_of("disc"), links });
    }

    /// These links get the disc that the section names, if any; a buffer alone makes one that stays as it is.
    fn ask_where_given(&mut self, section: &Section<'a>, links: Vec<usize>) {
        if section.given("disc") || section.given("buffer") {
            for link in &links {
                self.topology.links[*link].is_fixed = !section.given("disc");
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

/// A network's table as it is written in files.
fn written(name: &str) -> String {
    if name == "links" { "[[links]]".into() } else { format!("[{name}]") }
}

/// The tables that give a network, each in its own way.
pub(super) const NETWORKS: &[&str] = &["bottleneck", "parking_lot", "two_bottlenecks", "home", "links"];
/// What is said where there is none of them.
const MISSING: &str = "is missing; legal: a table [bottleneck], or another network: [parking_lot], [two_bottlenecks], \
                       [home] or [[links]]";
/// What is said of a graph that nobody watches.
const NO_DISC: &str = "have no disc, so that nothing would be measured; legal: disc = \"tail_drop\", for example, in \
                       the link that packets wait for";
/// Links of a graph.
const MOST_LINKS: usize = 10_000;
/// Packets of a buffer.
const MOST_PACKETS: f64 = 1e9;
/// The rate of the links that are no bottlenecks over that of those that are.
const FAST_FACTOR: f64 = 10.0;
