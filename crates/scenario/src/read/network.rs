//! The network: links, shorthands for some, and the qdiscs in front of them.

use super::files::Files;
use super::packets::{mean_packet, packet_of};
use crate::diagnostics::listed;
use crate::links::{Framing, Medium, SchedulePlan};
use crate::ranges::{DELAYS, LINK_RATES, RATES};
use crate::scenario::Scenario;
use crate::tables::{Back, Bottleneck, Direction, Edge, File, Group, Home, ParkingLot, TwoBottlenecks};
use crate::topology::{Link, Topology};
use sojourn_aqm::{Limit, QdiscSpec};
use sojourn_params::{Both, Bounds, ErrorKind, Errors, InputError};
use sojourn_units::{Amount, Bytes, LinkRate, Rate, Span};
use std::collections::BTreeSet;

/// A network without its qdiscs: a law is designed once its context is known.
pub(super) struct Draft {
    pub(super) topology: Topology,
    /// Default ends of flows.
    pub(super) ends: Option<[String; 2]>,
    pub(super) qdiscs: Vec<Request>,
}

/// A qdisc of the file, and the links, each of which gets one.
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

/// The network of a file, in any of its forms.
pub(super) fn network(file: &File, files: &Files) -> Result<Draft, Errors> {
    let written = |name: &str| if name == "links" { "[[links]]".into() } else { format!("[{name}]") };
    match file.networks().as_slice() {
        [] => return Err(InputError::missing(A_NETWORK).at("bottleneck").into()),
        [_] => {}
        [first, second, ..] => {
            let problem = format!("stands beside {}", written(first));
            return Err(InputError::new(ErrorKind::Conflict, problem, "one network").at(second).into());
        }
    }
    let groups: &[Group] = &file.flows.0;
    let largest = groups.iter().map(packet_of).fold(0.0, f64::max);
    let reader = Reader { files, end: file.duration, mean: mean_packet(groups), largest };
    let File { bottleneck, parking_lot, two_bottlenecks, home, links, .. } = file;
    match (bottleneck, parking_lot, two_bottlenecks, home, links) {
        (Some(table), ..) => reader.dumbbell(table).map_err(|errors| errors.at("bottleneck")),
        (_, Some(table), ..) => reader.parking_lot(table).map_err(|errors| errors.at("parking_lot")),
        (_, _, Some(table), ..) => {
            reader.two_bottlenecks(table).map_err(|errors| errors.at("two_bottlenecks"))
        }
        (_, _, _, Some(table), _) => reader.home(table).map_err(|errors| errors.at("home")),
        (.., links) => {
            let links = links.as_ref().map_or(&[][..], |links| &links.0);
            reader.graph(links).map_err(|errors| errors.at("links"))
        }
    }
}

impl Reader<'_> {
    /// One congested link from left to right, and back.
    fn dumbbell(&self, Both { first, second }: &Bottleneck) -> Result<Draft, Errors> {
        let mut draft = Draft::new(Some(["left", "right"]));
        draft.topology.dumbbell = true;
        let line = self.line(first)?;
        let back = self.back(second.back.as_ref(), &line)?;
        let number = draft.join_both(&Join { name: "bottleneck", from: "left", to: "right" }, &line, &back);
        draft.request(first, "bottleneck", vec![number]);
        draft.request_back(second.back.as_ref(), "bottleneck.back", &[number]);
        Ok(draft)
    }

    /// A chain of routers, each with a qdisc towards the next.
    fn parking_lot(&self, Both { first, second }: &ParkingLot) -> Result<Draft, Errors> {
        let names: Vec<String> = (1..=second.routers).map(|number| format!("r{number}")).collect();
        let mut draft = Draft::new(Some([&names[0], &names[names.len() - 1]]));
        let line = self.line(first)?;
        let back = self.back(second.back.as_ref(), &line)?;
        let links = names.windows(2).map(|pair| {
            let name = format!("{}-{}", pair[0], pair[1]);
            draft.join_both(&Join { name: &name, from: &pair[0], to: &pair[1] }, &line, &back)
        });
        let links: Vec<usize> = links.collect();
        draft.request_back(second.back.as_ref(), "parking_lot.back", &links);
        draft.request(first, "parking_lot", links);
        Ok(draft)
    }

    /// J. Ye et al., IWQoS 2022, figure 2: r1 and r5 at r2, r6 at r3, and a chain r2-r3-r4 with a qdisc each.
    fn two_bottlenecks(&self, Both { first, second }: &TwoBottlenecks) -> Result<Draft, Errors> {
        let mut draft = Draft::new(Some(["r1", "r4"]));
        let line = self.line(first)?;
        let fast = match second.fast {
            Some(rate) => within(rate, self.mean, RATES).map_err(|error| error.at("fast"))?,
            None => Rate::from_bits_per_second(FAST_FACTOR * line.rate.bits_per_second()),
        };
        let fast = Line::plain(fast, Span::ZERO);
        let back = self.back(second.back.as_ref(), &line)?;
        let mut add = |name: &str, line: &Line, back: &Line| {
            let (from, to) = name.split_once('-').unwrap_or((name, name));
            draft.join_both(&Join { name, from, to }, line, back)
        };
        let congested = vec![add("r2-r3", &line, &back), add("r3-r4", &line, &back)];
        for name in ["r1-r2", "r5-r2", "r3-r6"] {
            add(name, &fast, &fast);
        }
        draft.request_back(second.back.as_ref(), "two_bottlenecks.back", &congested);
        draft.request(first, "two_bottlenecks", congested);
        Ok(draft)
    }

    /// Hosts, a modem with a qdisc towards the ISP, and the ISP's towards the modem.
    fn home(&self, table: &Home) -> Result<Draft, Errors> {
        let mut draft = Draft::new(Some(["lan", "isp"]));
        let rate = within(table.lan, self.mean, RATES).map_err(|error| error.at("lan"))?;
        let lan = Line::plain(rate, Span::ZERO);
        draft.join_both(&Join { name: "lan-modem", from: "lan", to: "modem" }, &lan, &lan);
        for (name, way, from, to) in
            [("up", &table.up, "modem", "isp"), ("down", &table.down, "isp", "modem")]
        {
            let line = self.line(way).map_err(|errors| errors.at(name))?;
            let number = draft.join(&Join { name, from, to }, line);
            draft.request(way, &format!("home.{name}"), vec![number]);
        }
        Ok(draft)
    }

    /// Any network, link by link.
    fn graph(&self, tables: &[Edge]) -> Result<Draft, Errors> {
        if tables.is_empty() {
            return Err(
                InputError::new(ErrorKind::Missing, "is empty", "one or more tables [[links]]").into()
            );
        }
        if tables.len() > MOST_LINKS {
            let problem = format!("are {}", tables.len());
            return Err(InputError::new(ErrorKind::Range, problem, format!("at most {MOST_LINKS}")).into());
        }
        let mut draft = Draft::new(None);
        let (mut names, mut joined, mut errors) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for (place, table) in tables.iter().enumerate() {
            let Both { first: ends, second: Both { first: direction, second: more } } = table;
            let (from, to) = (&ends.from.0, &ends.to.0);
            let name = more.name.as_ref().map_or_else(|| format!("{from}-{to}"), |name| name.0.clone());
            let at =
                |key: &str| if key.is_empty() { format!("[{place}]") } else { format!("[{place}].{key}") };
            let joins = Join { name: &name, from, to };
            if let Err(error) = check_ends(&joins, more.one_way, &mut joined) {
                errors.push(error.at(&at("to")));
                continue;
            }
            if !names.insert(name.clone()) {
                let problem = format!("\"{name}\" is the name of a link before it");
                errors
                    .push(InputError::new(ErrorKind::Conflict, problem, "a name of its own").at(&at("name")));
            }
            if more.one_way && more.back.is_some() {
                let problem = "is of a link with one_way = true";
                errors.push(InputError::new(ErrorKind::Conflict, problem, "one of the two").at(&at("back")));
            }
            let lines = self.line(direction).and_then(|line| {
                let back = self.back(more.back.as_ref(), &line)?;
                Ok((line, back))
            });
            let (line, back) = match lines {
                Ok(lines) => lines,
                Err(refused) => {
                    errors.extend(refused.at(&at("")));
                    continue;
                }
            };
            let key = format!("links[{place}]");
            if more.one_way {
                let number = draft.join(&joins, line);
                draft.request_where_given(direction, &key, vec![number]);
            } else {
                let number = draft.join_both(&joins, &line, &back);
                draft.request_where_given(direction, &key, vec![number]);
                draft.request_back(more.back.as_ref(), &format!("{key}.back"), &[number]);
            }
        }
        let is_fixed = |link: &usize| draft.topology.links[*link].is_fixed;
        if errors.is_empty() && draft.qdiscs.iter().all(|request| request.links.iter().all(is_fixed)) {
            let problem = "have no qdisc, so that nothing would be measured";
            let expected = "qdisc = \"tail_drop\", for example, in the link that packets wait for";
            errors.push(InputError::new(ErrorKind::Missing, problem, expected));
        }
        Errors::unless_any(draft, errors)
    }

    /// The other direction of a link.
    fn back(&self, table: Option<&Back>, line: &Line) -> Result<Line, Errors> {
        let plain = line.back();
        match table {
            None => Ok(plain),
            Some(table) => self.line_beside(table, Some(&plain)).map_err(|errors| errors.at("back")),
        }
    }

    /// One direction of a link.
    fn line(&self, table: &Direction) -> Result<Line, Errors> {
        let mut errors = Vec::new();
        if table.rate.is_none() && table.trace.is_none() {
            let expected = format!("a rate such as \"8 Mbit/s\" ({LINK_RATES}), or trace in its place");
            errors.push(InputError::missing(expected).at("rate"));
        }
        if table.delay.is_none() {
            errors.push(InputError::missing(format!("a time such as \"20 ms\" ({DELAYS})")).at("delay"));
        }
        Errors::unless_any((), errors)?;
        self.line_beside(table, None)
    }

    /// One direction of a link; defaults are those of `other`.
    fn line_beside(&self, table: &Direction, other: Option<&Line>) -> Result<Line, Errors> {
        let link_schedule = self.link_schedule(table)?;
        let rate = match (&link_schedule, table.rate, other) {
            (Some(link_schedule), ..) => link_schedule.mean(),
            (None, Some(rate), _) => within(rate, self.mean, LINK_RATES).map_err(|error| error.at("rate"))?,
            (None, None, other) => other.map_or(Rate::ZERO, |other| other.rate),
        };
        let buffer = match table.buffer {
            Some(amount) => Some(self.buffer(amount, rate).map_err(|error| error.at("buffer"))?),
            None => None,
        };
        let framing = match (table.framing, other) {
            (Some(framing), _) => framing,
            (None, _) if link_schedule.is_some() => Framing::TUN,
            (None, other) => other.map_or(Framing::IP, |other| other.medium.framing),
        };
        let delay = table.delay.or(other.map(|other| other.delay)).unwrap_or_default();
        let impairments = table.impairments.clone().unwrap_or_default();
        Ok(Line { rate, delay, buffer, medium: Medium { framing, link_schedule, impairments } })
    }

    /// Schedule of a link with a trace instead of a rate.
    fn link_schedule(&self, table: &Direction) -> Result<Option<SchedulePlan>, Errors> {
        let Some(trace) = &table.trace else { return Ok(None) };
        if table.rate.is_some() {
            let error = InputError::new(ErrorKind::Conflict, "stands beside rate", "one of the two");
            return Err(error.at("trace").into());
        }
        let link_schedule = trace.load(&**self.files).map_err(|error| error.at("trace"))?;
        if let SchedulePlan::Recorded(recording) = &link_schedule
            && let Some(first) = recording.stamps().first().map(|stamp| Span::from_millis(u64::from(*stamp)))
            && first >= self.end
        {
            let problem = format!("the first delivery is at {first}");
            let expected = format!("one before the end of the run at {}", self.end);
            let error =
                InputError::new(ErrorKind::Conflict, problem, expected).found(format!("{}:", recording.file));
            return Err(error.at("trace.file").into());
        }
        Ok(Some(link_schedule))
    }

    fn buffer(&self, amount: Amount, rate: Rate) -> Result<Limit, InputError> {
        let limit = Limit::from_amount(amount, rate);
        match (amount, limit) {
            (Amount::Packets(count), _)
                if count != count.trunc() || !(1.0..=MOST_PACKETS).contains(&count) =>
            {
                let error = InputError::out_of_range(amount, format!("whole packets, 1 to {MOST_PACKETS}"));
                Err(InputError { problem: "cannot be held".into(), ..error })
            }
            (_, Limit::Bytes(bytes)) if (bytes as f64) < self.largest => {
                let largest = Bytes::new(self.largest.ceil() as u64);
                let problem = format!("holds {bytes} B, less than one packet");
                Err(InputError::conflict(amount, problem, format!("{largest} or more")))
            }
            _ => Ok(limit),
        }
    }
}

/// A rate in bit/s, where packets are of `packet` bytes.
pub(super) fn within(given: LinkRate, packet: f64, range: Bounds) -> Result<Rate, InputError> {
    let rate = given.bits(packet);
    if range.contain(&rate) { Ok(rate) } else { Err(InputError::out_of_range(given, range.to_string())) }
}

/// Refuses a link from a node to itself, and a second one between two nodes.
fn check_ends(
    Join { from, to, .. }: &Join<'_>,
    one_way: bool,
    joined: &mut BTreeSet<(String, String)>,
) -> Result<(), InputError> {
    if from == to {
        let problem = format!("\"{to}\" is where the link begins");
        return Err(InputError::new(ErrorKind::Conflict, problem, "another node"));
    }
    let ends = [(from.to_string(), to.to_string()), (to.to_string(), from.to_string())];
    for (from, to) in ends.into_iter().take(if one_way { 1 } else { 2 }) {
        let problem = format!("there is a link from \"{from}\" to \"{to}\" before it");
        if !joined.insert((from, to)) {
            let expected = "one from a node to another (a node between them makes room for two), each with one other \
                            direction";
            return Err(InputError::new(ErrorKind::Conflict, problem, expected));
        }
    }
    Ok(())
}

/// Puts the qdiscs in front of their links, each law designed once for its context.
pub(super) fn put_qdiscs(scenario: &mut Scenario, requests: Vec<Request>) -> Result<(), Errors> {
    let contexts = scenario.contexts();
    let mut errors = Vec::new();
    for Request { qdisc, key, links } in requests {
        for link in links {
            match qdisc.clone().at(&contexts[link]) {
                Ok(designed) => scenario.topology.links[link].qdisc = Some(designed),
                // An error at several links is reported for the first.
                Err(error) => {
                    errors.push(error.at(&key));
                    break;
                }
            }
        }
    }
    Errors::unless_any((), errors)
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
    fn join_both(&mut self, join: &Join<'_>, line: &Line, back: &Line) -> usize {
        let number = self.join(join, line.clone());
        let Link { name, from, to, .. } = &self.topology.links[number];
        let (name, ends) = (format!("{name}.back"), (*to, *from));
        self.topology.add_link(back.clone().link(name, ends, true));
        number
    }

    /// Requests the qdisc of the table called `key`, or the default one, for each of these links.
    fn request(&mut self, table: &Direction, key: &str, links: Vec<usize>) {
        let qdisc = table.qdisc.clone().unwrap_or_default();
        self.qdiscs.push(Request { qdisc, key: format!("{key}.qdisc"), links });
    }

    /// Requests the qdisc of the table, if any, for these links; a buffer alone makes a fixed one.
    fn request_where_given(&mut self, table: &Direction, key: &str, links: Vec<usize>) {
        if table.qdisc.is_some() || table.buffer.is_some() {
            for link in &links {
                self.topology.links[*link].is_fixed = table.qdisc.is_none();
            }
            self.request(table, key, links);
        }
    }

    /// The same for the other directions of these links.
    fn request_back(&mut self, table: Option<&Back>, key: &str, links: &[usize]) {
        if let Some(table) = table {
            self.request_where_given(table, key, links.iter().map(|link| link + 1).collect());
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
