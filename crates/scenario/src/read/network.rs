//! The network: links, shorthands for some, and the qdiscs in front of them.

use super::files::Files;
use super::hints::header;
use super::packets::{mean_packet, packet_of};
use crate::diagnostics::listed;
use crate::links::{Framing, Medium, SchedulePlan};
use crate::ranges::{DELAYS, LINK_RATES, RATES, within};
use crate::scenario::Scenario;
use crate::tables::{
    Back, Bottleneck, Direction, Edge, File, Group, Home, NETWORKS, Network, ParkingLot, TwoBottlenecks,
};
use crate::topology::{Link, Topology};
use crate::tree::{Node, Tree};
use sojourn_aqm::{Limit, Place, QdiscSpec};
use sojourn_params::{At, Both, Collected, Described, ErrorKind, Errors, InputError, Path, Value};
use sojourn_units::{Amount, Bytes, Rate, Span};
use std::collections::BTreeSet;

/// A network without its qdiscs: a law is designed once its context is known.
pub(super) struct Draft {
    pub(super) topology: Topology,
    /// Default ends of flows.
    pub(super) ends: Option<[String; 2]>,
    /// The qdiscs to put in front of its links.
    pub(super) qdiscs: Vec<Request>,
}

/// A qdisc of the file, its key, and the links that it stands in front of.
pub(super) struct Request {
    qdisc: QdiscSpec,
    key: String,
    links: Vec<usize>,
}

/// Reads links: the flows' packets, sizes in bytes, and files beside the scenario.
struct Reader<'a> {
    files: &'a Files,
    /// End of the run.
    end: Span,
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

/// Name and ends of one direction of a link.
struct Join<'n> {
    name: &'n str,
    from: &'n str,
    to: &'n str,
}

/// Names of links and pairs of ends that are taken.
#[derive(Default)]
struct Taken {
    names: BTreeSet<String>,
    ends: BTreeSet<[String; 2]>,
}

/// The network of a file, in any of its forms.
pub(super) fn network(file: &File, files: &Files) -> Result<Draft, Errors> {
    let networks = file.networks();
    let (name, network) = match networks.as_slice() {
        [] => return Err(InputError::missing(A_NETWORK).at("bottleneck").into()),
        [one] => one,
        [(first, _), (second, _), ..] => {
            let problem = format!("stands beside {}", header(first));
            return Err(InputError::clash(problem, "one network").at(second).into());
        }
    };
    let groups: &[Group] = &file.flows.0;
    let largest = groups.iter().map(packet_of).fold(0.0, f64::max);
    let reader = Reader { files, end: file.duration, mean: mean_packet(groups), largest };
    let draft = match network {
        Network::Dumbbell(table) => reader.dumbbell(table),
        Network::ParkingLot(table) => reader.parking_lot(table),
        Network::TwoBottlenecks(table) => reader.two_bottlenecks(table),
        Network::Home(table) => reader.home(table),
        Network::Graph(tables) => reader.graph(tables),
    };
    draft.at(name)
}

impl Reader<'_> {
    /// One congested link from left to right, and back.
    fn dumbbell(&self, Both { first, second }: &Bottleneck) -> Result<Draft, Errors> {
        let mut draft = Draft::new(Some(["left", "right"]));
        draft.topology.dumbbell = true;
        let joins = [Join { name: "bottleneck", from: "left", to: "right" }];
        self.congested(&mut draft, "bottleneck", (first, second.back.as_ref()), &joins)?;
        Ok(draft)
    }

    /// A chain of routers, each with a qdisc towards the next.
    fn parking_lot(&self, Both { first, second }: &ParkingLot) -> Result<Draft, Errors> {
        let names: Vec<String> =
            (1..second.routers).map(|router| format!("r{router}-r{}", router + 1)).collect();
        let joins: Vec<Join<'_>> = names.iter().map(|name| Join::of_ends(name)).collect();
        let mut draft = Draft::new(Some(["r1", &format!("r{}", second.routers)]));
        self.congested(&mut draft, "parking_lot", (first, second.back.as_ref()), &joins)?;
        Ok(draft)
    }

    /// J. Ye et al., IWQoS 2022, figure 2: r1 and r5 at r2, r6 at r3, and a chain r2-r3-r4 with a qdisc each.
    fn two_bottlenecks(&self, Both { first, second }: &TwoBottlenecks) -> Result<Draft, Errors> {
        let mut draft = Draft::new(Some(["r1", "r4"]));
        let joins = ["r2-r3", "r3-r4"].map(Join::of_ends);
        let rate = self.congested(&mut draft, "two_bottlenecks", (first, second.back.as_ref()), &joins)?;
        let fast = match second.fast {
            Some(rate) => within(rate, self.mean, RATES).at("fast")?,
            None => Rate::from_bits_per_second(FAST_FACTOR * rate.bits_per_second()),
        };
        let fast = Line::plain(fast, Span::ZERO);
        for join in ["r1-r2", "r5-r2", "r3-r6"].map(Join::of_ends) {
            draft.join_both(&join, fast.clone(), fast.clone());
        }
        Ok(draft)
    }

    /// Hosts, a modem with a qdisc towards the ISP, and the ISP's towards the modem.
    fn home(&self, table: &Home) -> Result<Draft, Errors> {
        let mut draft = Draft::new(Some(["lan", "isp"]));
        let rate = within(table.lan, self.mean, RATES).at("lan")?;
        let lan = Line::plain(rate, Span::ZERO);
        draft.join_both(&Join::of_ends("lan-modem"), lan.clone(), lan);
        let [up, down] = ["modem-isp", "isp-modem"].map(Join::of_ends);
        for (way, join) in
            [(&table.up, Join { name: "up", ..up }), (&table.down, Join { name: "down", ..down })]
        {
            let line = self.line(way).at(join.name)?;
            let number = draft.join(&join, line);
            draft.put_qdisc(way, &format!("home.{}", join.name), vec![number]);
        }
        Ok(draft)
    }

    /// Any network, link by link.
    fn graph(&self, tables: &[Edge]) -> Result<Draft, Errors> {
        if tables.is_empty() {
            let expected = "one or more tables [[links]]";
            return Err(InputError::new(ErrorKind::Missing, "is empty", expected).into());
        }
        if tables.len() > MOST_LINKS {
            let problem = format!("are {}", tables.len());
            return Err(InputError::new(ErrorKind::Range, problem, format!("at most {MOST_LINKS}")).into());
        }
        let (mut draft, mut taken, mut errors) = (Draft::new(None), Taken::default(), Collected::default());
        for (place, table) in tables.iter().enumerate() {
            let edge = self.edge(table, &format!("links[{place}]"), &mut draft, &mut taken);
            errors.take(edge.at(place));
        }
        let mut with_qdisc = draft.qdiscs.iter().flat_map(|request| &request.links);
        if errors.count() == 0 && with_qdisc.all(|link| draft.topology.links[*link].is_fixed) {
            let problem = "have no qdisc, so that nothing would be measured";
            let expected = "qdisc = \"tail_drop\", for example, in the link that packets wait for";
            errors.add(InputError::new(ErrorKind::Missing, problem, expected));
        }
        errors.end(Some(draft))
    }

    /// Adds the link of a table called `key`.
    fn edge(
        &self,
        Both { first: ends, second: Both { first: direction, second: more } }: &Edge,
        key: &str,
        draft: &mut Draft,
        taken: &mut Taken,
    ) -> Result<(), Errors> {
        let (from, to): (&str, &str) = (&ends.from, &ends.to);
        let name = more.name.clone().unwrap_or_else(|| format!("{from}-{to}"));
        let join = Join { name: &name, from, to };
        let mut errors = Collected::default();
        errors.take(check_ends(&join, more.one_way, taken).at("to"));
        let mut refuse = |key: &str, problem: String, expected: &str| {
            errors.add(InputError::clash(problem, expected).at(key));
        };
        if !taken.names.insert(name.clone()) {
            refuse("name", format!("\"{name}\" is the name of a link before it"), "a name of its own");
        }
        if more.one_way && more.back.is_some() {
            refuse("back", "is of a link with one_way = true".into(), "one of the two");
        }
        if let Some((line, back)) = errors.take(self.lines(direction, more.back.as_ref())) {
            let number =
                if more.one_way { draft.join(&join, line) } else { draft.join_both(&join, line, back) };
            draft.put_given_qdisc(direction, key, vec![number]);
            draft.put_back_qdisc(more.back.as_ref(), key, &[number]);
        }
        errors.end(Some(()))
    }

    /// Adds like links, each with the qdiscs of the table called `key`; returns their rate.
    fn congested(
        &self,
        draft: &mut Draft,
        key: &str,
        (table, back): (&Direction, Option<&Back>),
        joins: &[Join<'_>],
    ) -> Result<Rate, Errors> {
        let (line, other) = self.lines(table, back)?;
        let links: Vec<usize> =
            joins.iter().map(|join| draft.join_both(join, line.clone(), other.clone())).collect();
        draft.put_back_qdisc(back, key, &links);
        draft.put_qdisc(table, key, links);
        Ok(line.rate)
    }

    /// Both directions of a link.
    fn lines(&self, table: &Direction, back: Option<&Back>) -> Result<(Line, Line), Errors> {
        let line = self.line(table)?;
        let usual = line.back();
        let back = match back {
            Some(table) => self.line_beside(table, &usual).at("back")?,
            None => usual,
        };
        Ok((line, back))
    }

    /// One direction of a link.
    fn line(&self, table: &Direction) -> Result<Line, Errors> {
        let mut errors = Collected::default();
        errors.extend(lacks(|key| table.value(key) != Value::Absent));
        let line = errors.take(self.line_beside(table, &Line::plain(Rate::ZERO, Span::ZERO)));
        errors.end(line)
    }

    /// One direction of a link; what its table leaves out is as `usual`.
    fn line_beside(&self, table: &Direction, usual: &Line) -> Result<Line, Errors> {
        let mut errors = Collected::default();
        let link_schedule = errors.take(self.link_schedule(table)).flatten();
        let given = table.rate.map(|rate| within(rate, self.mean, LINK_RATES).at("rate"));
        let given = errors.take(given.transpose()).flatten();
        let rate = link_schedule.as_ref().map(SchedulePlan::mean).or(given).unwrap_or(usual.rate);
        // Without a valid rate, times are no sizes.
        let buffer = table.buffer.filter(|_| rate > Rate::ZERO);
        let buffer = buffer.map(|amount| self.buffer(amount, rate).at("buffer"));
        let buffer = errors.take(buffer.transpose()).flatten();
        let framing = if link_schedule.is_some() { Framing::TUN } else { usual.medium.framing };
        let medium = Medium {
            framing: table.framing.unwrap_or(framing),
            link_schedule,
            impairments: table.impairments.clone().unwrap_or_default(),
        };
        errors.end(Some(Line { rate, delay: table.delay.unwrap_or(usual.delay), buffer, medium }))
    }

    /// Schedule of a link with a trace instead of a rate.
    fn link_schedule(&self, table: &Direction) -> Result<Option<SchedulePlan>, Errors> {
        let Some(trace) = &table.trace else { return Ok(None) };
        if table.rate.is_some() {
            let error = InputError::clash("stands beside rate", "one of the two");
            return Err(error.at("trace").into());
        }
        let link_schedule = trace.load(&**self.files).at("trace")?;
        if let SchedulePlan::Recorded(recording) = &link_schedule
            && let Some(first) = recording.stamps().first().map(|stamp| Span::from_millis(u64::from(*stamp)))
            && first >= self.end
        {
            let problem = format!("the first delivery is at {first}");
            let expected = format!("one before the end of the run at {}", self.end);
            let error = InputError::clash(problem, expected).found(format!("{}:", recording.file));
            return Err(error.at("trace.file").into());
        }
        Ok(Some(link_schedule))
    }

    fn buffer(&self, amount: Amount, rate: Rate) -> Result<Limit, InputError> {
        if let Amount::Packets(count) = amount
            && (count != count.trunc() || !(1.0..=MOST_PACKETS).contains(&count))
        {
            let expected = format!("whole packets, 1 to {MOST_PACKETS}");
            return Err(InputError::new(ErrorKind::Range, "cannot be held", expected).found(amount));
        }
        match Limit::from_amount(amount, rate) {
            Limit::Bytes(bytes) if (bytes as f64) < self.largest => {
                let largest = Bytes::new(self.largest.ceil() as u64);
                let problem = format!("holds {bytes} B, less than one packet");
                Err(InputError::conflict(amount, problem, format!("{largest} or more")))
            }
            limit => Ok(limit),
        }
    }
}

/// Errors of a missing network, and of links without a rate or a delay, in a file whose tables have `errors`.
pub(super) fn lacking(root: &Node, errors: &[InputError]) -> Vec<InputError> {
    let single =
        ["bottleneck", "parking_lot", "two_bottlenecks"].map(|name| (Path::key(name), root.entry(name)));
    let way = |way| (Path::key("home").join(way), root.entry("home").and_then(|home| home.entry(way)));
    let link = |(place, link)| (Path::key("links").join(place), Some(link));
    let links = root.items("links").iter().enumerate().map(link);
    let mut lacking = Vec::new();
    if NETWORKS.iter().all(|name| root.entry(name).is_none() && !errors.iter().any(|error| error.means(name)))
    {
        lacking.push(InputError::missing(A_NETWORK).at("bottleneck"));
    }
    for (path, table) in single.into_iter().chain(["up", "down"].map(way)).chain(links) {
        let Some(table @ Node { tree: Tree::Table(_), .. }) = table else { continue };
        let here = |error: &&InputError| error.key.strip_prefix(&path).is_some();
        let is_meant = |key: &str| errors.iter().filter(here).any(|error| error.means(key));
        lacking.extend(lacks(|key| table.entry(key).is_some() || is_meant(key)).map(|error| error.at(&path)));
    }
    lacking
}

/// Errors of the table of a link that has no rate, or no delay.
fn lacks(has: impl Fn(&str) -> bool) -> impl Iterator<Item = InputError> {
    let rate = format!("a rate such as \"8 Mbit/s\" ({LINK_RATES}), or trace in its place");
    let delay = format!("a time such as \"20 ms\" ({DELAYS})");
    let missing = [("rate", rate, has("rate") || has("trace")), ("delay", delay, has("delay"))];
    let missing = missing.into_iter().filter(|(.., is_given)| !is_given);
    missing.map(|(key, expected, _)| InputError::missing(expected).at(key))
}

/// Refuses a link from a node to itself, and a second one between two nodes.
fn check_ends(Join { from, to, .. }: &Join<'_>, one_way: bool, taken: &mut Taken) -> Result<(), InputError> {
    let refused = |problem: String, expected: &str| Err(InputError::clash(problem, expected));
    if from == to {
        return refused(format!("\"{to}\" is where the link begins"), "another node");
    }
    for [from, to] in [[from, to], [to, from]].into_iter().take(if one_way { 1 } else { 2 }) {
        if !taken.ends.insert([from.to_string(), to.to_string()]) {
            let expected = "one from a node to another (a node between them makes room for two), each with one other \
                            direction";
            return refused(format!("there is a link from \"{from}\" to \"{to}\" before it"), expected);
        }
    }
    Ok(())
}

/// Puts the qdiscs in front of their links, each law designed once for its context.
pub(super) fn put_qdiscs(scenario: &mut Scenario, requests: Vec<Request>) -> Result<(), Errors> {
    let contexts = scenario.contexts();
    let mut errors = Collected::default();
    for Request { qdisc, key, links } in requests {
        for link in links {
            let classes = scenario.classes_at(link);
            let place = Place { context: contexts[link], classes: &classes };
            let designed = errors.take(qdisc.clone().at(&place).at(&key));
            // An error at several links is reported for the first.
            let Some(designed) = designed else { break };
            scenario.topology.links[link].qdisc = Some(designed);
        }
    }
    errors.end(Some(()))
}

impl<'n> Join<'n> {
    /// The link FROM-TO.
    fn of_ends(name: &'n str) -> Join<'n> {
        let (from, to) = name.split_once('-').unwrap_or((name, name));
        Join { name, from, to }
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

impl Draft {
    /// An empty draft; flows go from the first of these nodes to the second.
    fn new(ends: Option<[&str; 2]>) -> Draft {
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
    fn join_both(&mut self, join: &Join<'_>, line: Line, back: Line) -> usize {
        let number = self.join(join, line);
        let Link { from, to, .. } = self.topology.links[number];
        self.topology.add_link(back.link(format!("{}.back", join.name), (to, from), true));
        number
    }

    /// Puts the qdisc of the table called `key`, or the default one, in front of each of these links.
    fn put_qdisc(&mut self, table: &Direction, key: &str, links: Vec<usize>) {
        let qdisc = table.qdisc.clone().unwrap_or_default();
        self.qdiscs.push(Request { qdisc, key: format!("{key}.qdisc"), links });
    }

    /// The same where the table has a qdisc; a buffer alone makes a fixed one.
    fn put_given_qdisc(&mut self, table: &Direction, key: &str, links: Vec<usize>) {
        if table.qdisc.is_some() || table.buffer.is_some() {
            for link in &links {
                self.topology.links[*link].is_fixed = table.qdisc.is_none();
            }
            self.put_qdisc(table, key, links);
        }
    }

    /// The same for the other directions of these links.
    fn put_back_qdisc(&mut self, table: Option<&Back>, key: &str, links: &[usize]) {
        if let Some(table) = table {
            self.put_given_qdisc(table, &format!("{key}.back"), links.iter().map(|link| link + 1).collect());
        }
    }
}

/// Networks that a file without one may have.
const A_NETWORK: &str =
    "a table [bottleneck], or another network: [parking_lot], [two_bottlenecks], [home] or [[links]]";
/// Links of a graph.
const MOST_LINKS: usize = 10_000;
/// Packets of a buffer.
const MOST_PACKETS: f64 = 1e9;
/// Rate of the other links over that of the bottlenecks.
const FAST_FACTOR: f64 = 10.0;
