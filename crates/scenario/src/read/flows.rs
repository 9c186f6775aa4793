//! Groups of flows.

use super::apps::response_under_load;
use super::links::Draft;
use super::names::Called;
use super::udp::packet_of;
use super::{Entry, FASTEST_ACCESS, MOST_FLOWS, Reader, Section};
use crate::app::{App, AppName};
use crate::arrivals::Arrivals;
use crate::keys::{Preset, ProfileName, SHORT};
use crate::scenario::Flows;
use crate::tcp::{Given, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::tree::{Node, Tree};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Span};
use std::rc::Rc;

impl Reader {
    /// The groups of flows; told where there are none.
    pub(super) fn groups<'a>(&mut self, top: &Section<'a>) -> Vec<Section<'a>> {
        let Some(node) = top.node("flows") else { return Vec::new() };
        let groups = self.list("flows", node);
        if node.is_empty() {
            self.flaw(&node.place, "flows", "is empty; legal: one or more tables [[flows]]");
        }
        groups
    }

    /// Tells where there are too many of a class beside `before`, the flows of the classes that are known.
    pub(super) fn check_number(&mut self, group: &Section<'_>, class: &Flows, before: &mut u64) {
        let total = *before + class.app.flows(class.count);
        if *before <= MOST_FLOWS && total > MOST_FLOWS {
            self.refuse(group, "count", &too_many(total));
        }
        *before = total;
    }

    /// The class of a group, or those that it stands for.
    pub(super) fn classes(
        &mut self,
        group: &Section<'_>,
        called: Called,
        network: Option<&Draft<'_>>,
        duration: Option<Span>,
    ) -> Option<Vec<Flows>> {
        let class = self.flows(group, called, network, duration)?;
        match group.get::<AppName>("app")? {
            AppName("rrul") => response_under_load(&class, group.given("count")),
            _ => Some(vec![class]),
        }
    }

    fn flows(
        &mut self,
        group: &Section<'_>,
        called: Called,
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
        let Called { name, stream } = called;
        Some(Flows {
            name,
            stream,
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

    /// How flows come during the run, up to `end`.
    fn arrivals(&mut self, group: &Section<'_>, end: Option<Span>) -> Option<Arrivals> {
        if !group.given("arrivals") {
            return None;
        }
        if group.get("app").is_some_and(|AppName(app)| app == "rrul") {
            let what = "is not for app = \"rrul\", whose flows belong together; legal: with any other app";
            self.refuse(group, "arrivals", what);
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
        } else if let Some(many) = end.map(|end| arrivals.by(end)).filter(|many| *many > MOST_ARRIVALS) {
            let what = format!("makes {many:.2e} arrivals; legal: at most {MOST_ARRIVALS:e} in a run");
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

/// What is said of so many flows of all classes.
pub(super) fn too_many(flows: u64) -> String {
    format!(
        "makes {flows} flows so far, each connection of web and each source of lrd for one; legal: at most {MOST_FLOWS}"
    )
}

/// Flows of a class at a time that come by themselves, where nothing is said of it.
const MOST_AT_A_TIME: u64 = 10_000;

/// Arrivals in a run: of so many, most turned away, a minute is spent on them.
const MOST_ARRIVALS: f64 = 1e8;
