//! Groups of flows.

use super::links::Draft;
use super::udp::packet_of;
use super::{Entry, FASTEST_ACCESS, Reader, SLOWEST, Section};
use crate::app::{App, AppName, KEYS};
use crate::arrivals::Arrivals;
use crate::keys::{Name, Names, Paper, Preset, ProfileName, SHORT};
use crate::scenario::{Access, Flows};
use crate::sessions::{Game, Ladder, Mice, Session, Video, Web};
use crate::tcp::{Given, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::topology::Route;
use crate::tree::{Node, Tree};
use crate::udp::{Datagrams, PING_PACKET, Source};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Draw, Rate, SizeDraw, Span, TimeDraw, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The links that a flow has to itself; None: its hosts are at the nodes.
pub(super) struct Hosts(pub(super) Option<Access>);

impl Reader {
    /// The groups of flows; told where there are none.
    pub(super) fn groups<'a>(&mut self, top: &Section<'a>) -> Vec<Section<'a>> {
        let Some(node) = top.node("flows") else { return Vec::new() };
        let groups = self.list("flows", node);
        if node.is_empty() {
            self.flaw(&node.place, "flows", "is empty; legal: one or more tables [[flows]]");
        }
        let mut total = 0;
        for group in &groups {
            let before = total;
            total += group.get::<u64>("count").unwrap_or(0);
            if before <= MOST_FLOWS && total > MOST_FLOWS {
                let what = format!("{total} flows so far; legal: at most {MOST_FLOWS} in all groups");
                self.refuse(group, "count", &what);
            }
        }
        groups
    }

    /// What each class is called; told where two have one name.
    pub(super) fn class_names(&mut self, groups: &[Section<'_>], network: Option<&Draft<'_>>) -> Vec<String> {
        let mut taken = BTreeSet::new();
        for group in groups {
            let Some(Name(name)) = group.get("name") else { continue };
            if network.is_some_and(|network| network.topology.link(&name).is_some()) {
                let what = format!("\"{name}\" is the name of a link; legal: a name of its own");
                self.refuse(group, "name", &what);
            }
            if !taken.insert(name.clone()) {
                let what = format!("\"{name}\" is the name of a class before it; legal: a name of its own");
                self.refuse(group, "name", &what);
            }
        }
        // How many of each app have been named so far.
        let mut named: BTreeMap<&str, u32> = BTreeMap::new();
        let mut usual = |group: &Section<'_>| {
            let app = group.get::<AppName>("app").map_or("flows", |AppName(app)| app);
            let number = named.entry(app).or_default();
            loop {
                *number += 1;
                let name = if *number == 1 { app.to_string() } else { format!("{app}{number}") };
                if taken.insert(name.clone()) {
                    return name;
                }
            }
        };
        let name = |group: &Section<'_>| group.get("name").map_or_else(|| usual(group), |Name(name)| name);
        let names: Vec<String> = groups.iter().map(name).collect();
        for (group, name) in groups.iter().zip(&names) {
            let several = group.get::<AppName>("app").is_some_and(|AppName(app)| app == "rrul");
            for part in RRUL_PARTS.iter().map(|part| format!("{name}-{part}")).filter(|_| several) {
                if !taken.insert(part.clone()) {
                    let what =
                        format!("its class \"{part}\" has the name of another one; legal: a name of its own");
                    self.refuse(group, "name", &what);
                }
            }
        }
        names
    }

    /// Tells where one of the classes that a group stands for is called as something else is.
    pub(super) fn check_name(
        &mut self,
        group: &Section<'_>,
        class: &Flows,
        before: &[Flows],
        network: Option<&Draft<'_>>,
    ) {
        // The names that groups give have been checked.
        if !matches!(group.get::<AppName>("app"), Some(AppName("rrul"))) {
            return;
        }
        let is_link = network.is_some_and(|network| network.topology.link(&class.name).is_some());
        if is_link || before.iter().any(|other| other.name == class.name) {
            let what =
                format!("makes a class \"{}\", which is a name already; legal: another name", class.name);
            self.refuse(group, "name", &what);
        }
    }

    /// The class of a group, or those that it stands for.
    pub(super) fn classes(
        &mut self,
        group: &Section<'_>,
        name: String,
        network: Option<&Draft<'_>>,
        duration: Option<Span>,
    ) -> Option<Vec<Flows>> {
        let class = self.flows(group, name, network, duration)?;
        match group.get::<AppName>("app")? {
            AppName("rrul") => response_under_load(&class, group.given("count")),
            _ => Some(vec![class]),
        }
    }

    fn flows(
        &mut self,
        group: &Section<'_>,
        name: String,
        network: Option<&Draft<'_>>,
        duration: Option<Span>,
    ) -> Option<Flows> {
        let segment = packet_of(group).map(|bytes| Bytes::new(bytes.round() as u64));
        let routes = network.and_then(|network| self.routes(group, network));
        let hosts = network.and_then(|network| self.access(group, network, routes.as_ref()?, segment));
        let start = self.start(group, duration);
        let stop = group.get::<Span>("stop");
        if let (Some(start), Some(stop)) = (start, stop)
            && stop <= start.latest()
            && !group.given("arrivals")
        {
            let what = format!(
                "{stop} is not after the latest start at {}; legal: after every start",
                start.latest()
            );
            self.refuse(group, "stop", &what);
        }
        let app = self.app(group, hosts.as_ref());
        let tcp = self.tcp(group, app.as_ref(), segment);
        let Tcp { cc, profile, ecn, given, .. } = tcp?;
        let reads = if group.given("reads") {
            Some(self.rate(group, "reads", segment?.get() as f64, FASTEST_ACCESS)?)
        } else {
            None
        };
        let arrivals = self.arrivals(group, duration.map(|end| stop.unwrap_or(end).min(end)));
        if group.given("arrivals") && arrivals.is_none() {
            return None;
        }
        let (route, back) = routes?;
        let count =
            if arrivals.is_some() && !group.given("count") { MOST_AT_A_TIME } else { group.get("count")? };
        Some(Flows {
            name,
            route,
            back,
            count: count as u32,
            arrivals,
            lifetime: if group.given("lifetime") { Some(group.get("lifetime")?) } else { None },
            app: app?,
            cc,
            profile,
            ecn,
            reads,
            segment: segment?,
            access: hosts?.0,
            start: start?,
            stop,
            given,
        })
    }

    /// What a group sends. A key that means nothing for it is refused.
    fn app(&mut self, group: &Section<'_>, hosts: Option<&Hosts>) -> Option<App> {
        let AppName(name) = group.get("app")?;
        for (key, apps) in KEYS.iter().filter(|(key, apps)| group.given(key) && !apps.contains(&name)) {
            let apps: Vec<String> = apps.iter().map(|app| format!("\"{app}\"")).collect();
            let what = format!("is not for app = \"{name}\"; legal: with app = {}", apps.join(", "));
            self.refuse(group, key, &what);
        }
        if App::is_tcp_named(name) {
            return self.tcp_app(group, name);
        }
        for key in TCP_KEYS.iter().chain(SHORT).filter(|key| group.given(key)) {
            let what = format!("is not for app = \"{name}\", which is not TCP; legal: leave it out");
            self.refuse(group, key, &what);
        }
        self.datagrams(group, name, hosts).map(App::Datagrams)
    }

    /// What a group sends over TCP.
    fn tcp_app(&mut self, group: &Section<'_>, name: &str) -> Option<App> {
        if ["bulk", "rrul"].contains(&name) {
            return Some(App::Bulk);
        }
        if group.given("reads") {
            let what = format!(
                "is not for app = \"{name}\", which reads what comes at once; legal: with app = \"bulk\""
            );
            self.refuse(group, "reads", &what);
        }
        let size = if group.given("size") { Some(self.volume(group)?) } else { None };
        let usual = |bytes: f64| Draw::constant(bytes).ok().map(SizeDraw::of_bytes);
        let request =
            |bytes| if group.given("request") { group.get("request") } else { Some(Bytes::new(bytes)) };
        let session = match (name, size) {
            ("transfer", None) => {
                let what = "is missing; legal: a size such as \"100 kB\", or a distribution of sizes";
                self.refuse(group, "size", what);
                return None;
            }
            ("transfer", Some(size)) => Session::Transfer(size),
            ("web", size) => Session::Web(Web {
                objects: group.get::<u64>("objects")? as u32,
                size: size.or_else(|| usual(OBJECT))?,
                connections: group.get::<u64>("connections")? as u32,
                idle: if group.given("idle") {
                    group.get("idle")?
                } else {
                    TimeDraw::of_seconds(Draw::constant(0.0).ok()?)
                },
                request: request(400)?,
            }),
            ("video", _) => Session::Video(self.video(group, request(200)?)?),
            ("game", size) => Session::Game(Game {
                every: if group.given("every") { group.get("every")? } else { TICK },
                size: size.or_else(|| usual(ANSWER))?,
                request: request(100)?,
            }),
            (_, size) => {
                let Mice { size: usual, idle } = Mice::of_paper(group.get::<Paper>("preset")?.0)?;
                let idle = if group.given("idle") { group.get("idle")? } else { idle };
                Session::Mice(Mice { size: size.unwrap_or(usual), idle })
            }
        };
        Some(App::Session(session))
    }

    fn video(&mut self, group: &Section<'_>, request: Bytes) -> Option<Video> {
        let ladder = if group.given("ladder") { group.get("ladder")? } else { usual_ladder() };
        let [chunk, reservoir, cushion] = ["chunk", "reservoir", "cushion"].map(|key| group.get::<Span>(key));
        let (chunk, reservoir, cushion) = (chunk?, reservoir?, cushion?);
        let room = reservoir + cushion;
        if chunk.saturating_mul(2) > room {
            let what = format!(
                "{chunk}, so that the buffer of {room} holds no two of them; legal: at most half of reservoir + cushion"
            );
            self.refuse(group, "chunk", &what);
            return None;
        }
        Some(Video { ladder, chunk, reservoir, cushion, request })
    }

    /// What is transferred at a time.
    fn volume(&mut self, group: &Section<'_>) -> Option<SizeDraw> {
        let size = group.get::<SizeDraw>("size")?;
        let mean = size.bytes(1.0).mean();
        if mean > 0.0 && mean <= MOST_VOLUME {
            return Some(size);
        }
        self.refuse(group, "size", &format!("{size} is out of range; legal: more than 0, 1 PB at most"));
        None
    }

    /// How flows come during the run, up to `end`.
    fn arrivals(&mut self, group: &Section<'_>, end: Option<Span>) -> Option<Arrivals> {
        if !group.given("arrivals") {
            return None;
        }
        if group.given("start") {
            self.refuse(group, "start", "is given beside arrivals; legal: one of the two");
        }
        let files = Rc::clone(&self.files);
        let arrivals = group.get::<Arrivals>("arrivals")?;
        let arrivals = arrivals.load(&*files).map_err(|what| self.refuse(group, "arrivals", &what)).ok()?;
        let first = match &arrivals {
            // At random there may be one at any time.
            Arrivals::Poisson(_) => Span::ZERO,
            Arrivals::Every(step, _) => *step,
            Arrivals::Listed(listed) => listed.times.first().map_or(Span::ZERO, |(time, _)| *time),
        };
        if end.is_some_and(|end| first >= end) {
            let what = format!(
                "the first is at {first}, when nothing comes any more; legal: before duration and stop"
            );
            self.refuse(group, "arrivals", &what);
        }
        Some(arrivals)
    }

    /// How a group's TCP is set up. Knobs that contradict each other are refused.
    fn tcp(&mut self, group: &Section<'_>, app: Option<&App>, segment: Option<Bytes>) -> Option<Tcp> {
        let nothing = Node { place: group.place.clone(), tree: Tree::Table(Vec::new()) };
        let node = if group.given("tcp") { group.node("tcp")? } else { &nothing };
        let knobs = self.section("flows.tcp", &group.path_of("tcp"), node)?;
        for name in SHORT.iter().filter(|name| group.given(name) && knobs.given(name)) {
            self.refuse(&knobs, name, "is given twice, here and in the group itself; legal: each key once");
        }
        let cc = self.control(group);
        let ProfileName(profile) = group.get("profile")?;
        let cc = cc?;
        let ecn = if group.given("ecn") { group.get("ecn")? } else { ecn_with(&cc) };
        let given = Given::default();
        let mut tcp = Tcp { cc, profile: Profile::named(profile)?, ecn, segment: segment?, given };
        for section in [group, &knobs] {
            for Entry { key, value, .. } in &section.given {
                if let (Preset::Profile(knob), Some(value)) = (key.preset, value) {
                    (knob.set)(&mut tcp.profile, value);
                    tcp.given.0.push(key);
                } else if ["cc", "ecn"].contains(&key.name) {
                    tcp.given.0.push(key);
                }
            }
        }
        if app?.is_tcp() {
            for (key, what) in tcp.contradictions() {
                let section = if key.table == knobs.table { &knobs } else { group };
                self.refuse(section, key.name, &what);
            }
        }
        Some(tcp)
    }

    /// The ways of a class's data and of its acknowledgments.
    fn routes(&mut self, group: &Section<'_>, network: &Draft<'_>) -> Option<(Route, Route)> {
        let [from, to] = [("from", 0), ("to", 1)].map(|(key, place)| {
            let usual = network.ends.as_ref().map(|ends| ends[place].clone());
            match group.get(key).map(|Name(name)| name).or(usual.filter(|_| !group.given(key))) {
                Some(name) => self.node(group, key, &name, network),
                None if group.given(key) => None,
                None => {
                    self.refuse(group, key, &format!("is missing; legal: a node ({})", network.nodes()));
                    None
                }
            }
        });
        let (from, to) = (from?, to?);
        if from == to {
            let node = &network.topology.nodes[from];
            self.refuse(group, "to", &format!("\"{node}\" is where the flows begin; legal: another node"));
            return None;
        }
        let there = self.route(group, "route", (from, to), network)?;
        Some((there, self.route(group, "back", (to, from), network)?))
    }

    fn node(&mut self, group: &Section<'_>, key: &str, name: &str, network: &Draft<'_>) -> Option<usize> {
        let found = network.topology.node(name);
        if found.is_none() {
            let hint = did_you_mean(name, network.topology.nodes.iter().map(String::as_str));
            self.refuse(group, key, &format!("\"{name}\" is no node{hint} (legal: {})", network.nodes()));
        }
        found
    }

    /// The way that the key gives, or the shortest one.
    fn route(
        &mut self,
        group: &Section<'_>,
        key: &'static str,
        (from, to): (usize, usize),
        network: &Draft<'_>,
    ) -> Option<Route> {
        let topology = &network.topology;
        let [first, last] = [from, to].map(|node| topology.nodes[node].as_str());
        if !group.given(key) {
            let found = topology.shortest(from, to);
            if found.is_none() {
                let what =
                    format!("there is no way from \"{first}\" to \"{last}\"; legal: links that lead there");
                self.refuse(group, if key == "route" { "to" } else { "from" }, &what);
            }
            return found;
        }
        let Names(names) = group.get(key)?;
        let mut nodes = Vec::new();
        for name in &names {
            let node = self.node(group, key, name, network)?;
            if nodes.contains(&node) {
                let what = format!("passes \"{name}\" twice, a loop; legal: each node once");
                self.refuse(group, key, &what);
                return None;
            }
            nodes.push(node);
        }
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let what = format!("does not go from \"{first}\" to \"{last}\"; legal: both ends in the list");
            self.refuse(group, key, &what);
            return None;
        }
        let way = topology.way_over(&nodes).map_err(|(from, to)| {
            let [from, to] = [from, to].map(|node| &topology.nodes[node]);
            format!("there is no link from \"{from}\" to \"{to}\"; legal: nodes with a link to the next")
        });
        way.map_err(|what| self.refuse(group, key, &what)).ok()
    }

    /// The links that each flow has to itself; of a dumbbell there are some in any case.
    fn access(
        &mut self,
        group: &Section<'_>,
        network: &Draft<'_>,
        (route, _): &(Route, Route),
        segment: Option<Bytes>,
    ) -> Option<Hosts> {
        if !network.topology.dumbbell && !group.given("access") {
            return Some(Hosts(None));
        }
        let nothing = Node { place: group.place.clone(), tree: Tree::Table(Vec::new()) };
        let node = if group.given("access") { group.node("access")? } else { &nothing };
        let section = self.section("flows.access", &group.path_of("access"), node)?;
        let rate = if section.given("rate") {
            self.rate(&section, "rate", segment?.get() as f64, FASTEST_ACCESS)?
        } else {
            let rates = route.iter().map(|link| network.topology.links[*link].rate.bits_per_second());
            Rate::from_bits_per_second(ACCESS_FACTOR * rates.fold(SLOWEST, f64::max))
        };
        Some(Hosts(Some(Access { rate, delay: section.get::<Spread>("delay")? })))
    }

    fn start(&mut self, group: &Section<'_>, duration: Option<Span>) -> Option<Start> {
        let start = group.get::<Start>("start")?;
        let duration = duration?;
        if !group.given("start") {
            // The default fits every run, however short.
            let Start::Random(times) = start else { return Some(start) };
            return Some(Start::Random(Spread { to: times.to.min(duration), ..times }));
        }
        if start.latest() < duration {
            return Some(start);
        }
        let what = format!(
            "{} is not before the end of the run at {duration}; legal: below duration",
            start.latest()
        );
        self.refuse(group, "start", &what);
        None
    }

    /// The congestion control of a group.
    fn control(&mut self, group: &Section<'_>) -> Option<Choice> {
        let Some(node) = group.node("cc") else { return Choice::parse(&group.get::<String>("cc")?).ok() };
        let path = group.path_of("cc");
        let read = match &node.tree {
            Tree::Table(entries) => self
                .named_table(node, &path, ("name", "congestion control", "cubic"), entries)
                .and_then(|(name, params)| Choice::new(&name, params)),
            _ => Choice::parse(&group.get::<String>("cc")?),
        };
        read.map_err(|fault| self.inner_fault(node, &path, &fault)).ok()
    }
}

/// The rates of a film where nothing is said of them.
fn usual_ladder() -> Ladder {
    Ladder([300e3, 750e3, 1500e3, 3000e3, 6000e3].map(Rate::from_bits_per_second).to_vec())
}

/// The classes that one of app = "rrul" stands for.
fn response_under_load(base: &Flows, given: bool) -> Option<Vec<Flows>> {
    let count = if given { base.count } else { BOTH_WAYS };
    let [up, down, pings @ ..] = RRUL_PARTS;
    let bulk = |direction: &str| Flows { name: format!("{}-{direction}", base.name), count, ..base.clone() };
    let other = Flows { route: base.back.clone(), back: base.route.clone(), ..bulk(down) };
    let size = SizeDraw::of_bytes(Draw::constant(PING_PACKET).ok()?);
    let (cc, profile) = (Choice::parse("newreno").ok()?, Profile::default());
    // What is said of TCP is not said of them.
    let ping = |kind: &str| Flows {
        name: format!("{}-{kind}", base.name),
        count: 1,
        app: App::Datagrams(Datagrams { source: Source::Ping(PING), size: size.clone() }),
        segment: Bytes::new(PING_PACKET as u64),
        cc: cc.clone(),
        profile: profile.clone(),
        reads: None,
        ..base.clone()
    };
    Some([bulk(up), other].into_iter().chain(pings.map(ping)).collect())
}

/// Payload of an object of a page, bytes.
const OBJECT: f64 = 10_000.0;
/// Payload of an answer in a game, bytes, and the time from tick to tick.
const ANSWER: f64 = 200.0;
const TICK: Span = Span::from_millis(50);
/// What the names of the classes end in that RRUL stands for.
const RRUL_PARTS: [&str; 6] = ["up", "down", "ping", "ping-be", "ping-bk", "ping-ef"];
/// Bulk flows each way under RRUL, and the time from ping to ping.
const BOTH_WAYS: u32 = 4;
const PING: Span = Span::from_millis(200);
/// Bytes of a transfer.
const MOST_VOLUME: f64 = 1e15;
/// Flows of a class at a time that come by themselves, where nothing is said of it.
const MOST_AT_A_TIME: u64 = 10_000;
/// Keys of a group of flows that speak of TCP; those of [`SHORT`] do too.
pub(crate) const TCP_KEYS: &[&str] = &["cc", "profile", "tcp", "reads"];
/// Flows of all groups.
const MOST_FLOWS: u64 = 1_000_000;
/// An access link's rate over the bottleneck's, where none is given.
const ACCESS_FACTOR: f64 = 10.0;
