//! Groups of flows.

use super::apps::response_under_load;
use super::links::Draft;
use super::names::ClassName;
use super::packets::packet_of;
use super::reader::{Entry, FASTEST_ACCESS, MOST_FLOWS, Reader, Section};
use crate::app::App;
use crate::arrivals::Arrivals;
use crate::keys::{AppName, Preset, ProfileName, SHORT};
use crate::scenario::Flows;
use crate::tcp::{ExplicitKey, ExplicitKeys, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::tree::{Node, Tree};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Span};
use std::rc::Rc;

impl Reader {
    /// The groups of flows; an empty list is an error.
    pub(super) fn groups<'a>(&mut self, top: &Section<'a>) -> Vec<Section<'a>> {
        let Some(node) = top.node("flows") else { return Vec::new() };
        let groups = self.list("flows", node);
        if node.is_empty() {
            self.report(&node.place, "flows", "is empty; expected one or more tables [[flows]]");
        }
        groups
    }

    /// Reports a class that makes too many flows with `before`, those of the classes before it.
    pub(super) fn check_number(&mut self, group: &Section<'_>, class: &Flows, before: &mut u64) {
        let total = *before + class.app.flows(class.count);
        if *before <= MOST_FLOWS && total > MOST_FLOWS {
            self.refuse(group, "count", &too_many(total));
        }
        *before = total;
    }

    /// The class of a group, or those that it expands into.
    pub(super) fn classes(
        &mut self,
        group: &Section<'_>,
        class_name: ClassName,
        network: Option<&Draft<'_>>,
        duration: Option<Span>,
    ) -> Option<Vec<Flows>> {
        let class = self.flows(group, class_name, network, duration)?;
        match group.get::<AppName>("app")? {
            AppName("rrul") => response_under_load(&class, group.given("count")),
            _ => Some(vec![class]),
        }
    }

    fn flows(
        &mut self,
        group: &Section<'_>,
        class_name: ClassName,
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
            let message = format!(
                "{stop} is not after the latest start at {}; expected a time after every start",
                start.latest()
            );
            self.refuse(group, "stop", &message);
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
        let ClassName { name, stream } = class_name;
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

    /// Arrivals of flows during the run, up to `end`.
    fn arrivals(&mut self, group: &Section<'_>, end: Option<Span>) -> Option<Arrivals> {
        if !group.given("arrivals") {
            return None;
        }
        if group.get("app").is_some_and(|AppName(app)| app == "rrul") {
            let message = "is not for app = \"rrul\", whose flows belong together; expected another app";
            self.refuse(group, "arrivals", message);
        }
        if group.given("start") {
            self.refuse(group, "start", "is given beside arrivals; expected one of the two");
        }
        let files = Rc::clone(&self.files);
        let arrivals = group.get::<Arrivals>("arrivals")?;
        let arrivals =
            arrivals.load(&*files).map_err(|message| self.refuse(group, "arrivals", &message)).ok()?;
        let first = match &arrivals {
            // Random arrivals have no first time.
            Arrivals::Poisson(_) => Span::ZERO,
            Arrivals::Every(step, _) => *step,
            Arrivals::Listed(listed) => listed.times.first().map_or(Span::ZERO, |(time, _)| *time),
        };
        if end.is_some_and(|end| first >= end) {
            let message =
                format!("the first is at {first}, after the end; expected a time before duration and stop");
            self.refuse(group, "arrivals", &message);
        } else if let Some(many) = end.map(|end| arrivals.by(end)).filter(|many| *many > MOST_ARRIVALS) {
            let message = format!("makes {many:.2e} arrivals; expected at most {MOST_ARRIVALS:e} in a run");
            self.refuse(group, "arrivals", &message);
        }
        Some(arrivals)
    }

    /// TCP settings of a group; rejects contradictions.
    fn tcp(&mut self, group: &Section<'_>, app: Option<&App>, segment: Option<Bytes>) -> Option<Tcp> {
        let nothing = Node { place: group.place.clone(), tree: Tree::Table(Vec::new()) };
        let node = if group.given("tcp") { group.node("tcp")? } else { &nothing };
        let settings = self.section("flows.tcp", &group.path_of("tcp"), node)?;
        for name in SHORT.iter().filter(|name| group.given(name) && settings.given(name)) {
            self.refuse(&settings, name, "is given twice, here and in the group itself; expected once");
        }
        let cc = self.control(group);
        let ProfileName(profile) = group.get("profile")?;
        let cc = cc?;
        let ecn = if group.given("ecn") { group.get("ecn")? } else { ecn_with(&cc) };
        let given = ExplicitKeys::default();
        let mut tcp = Tcp { cc, profile: Profile::named(profile)?, ecn, segment: segment?, given };
        for section in [group, &settings] {
            for Entry { key, value, .. } in &section.given {
                if let (Preset::Profile(setting), Some(value)) = (key.preset, value) {
                    (setting.set)(&mut tcp.profile, value);
                    tcp.given.0.push(ExplicitKey { table: key.table, name: key.name });
                } else if ["cc", "ecn"].contains(&key.name) {
                    tcp.given.0.push(ExplicitKey { table: key.table, name: key.name });
                }
            }
        }
        if app?.is_tcp() {
            for (key, message) in tcp.contradictions() {
                let section = if key.table == settings.table { &settings } else { group };
                self.refuse(section, key.name, &message);
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
        let message = format!(
            "{} is not before the end of the run at {duration}; expected less than the duration",
            start.latest()
        );
        self.refuse(group, "start", &message);
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
        read.map_err(|error| self.inner_error(node, &path, &error)).ok()
    }
}

/// Error message of too many flows over all classes.
pub(super) fn too_many(flows: u64) -> String {
    format!(
        "makes {flows} flows so far, each connection of web and each source of lrd for one; expected at most {MOST_FLOWS}"
    )
}

/// Default limit of concurrent flows of a class with arrivals.
const MOST_AT_A_TIME: u64 = 10_000;

/// Most arrivals in a run: if most of them are rejected, they take a minute.
const MOST_ARRIVALS: f64 = 1e8;
