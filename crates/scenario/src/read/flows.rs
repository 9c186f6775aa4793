//! Groups of flows.

use super::udp::packet_of;
use super::{Entry, FASTEST_ACCESS, Reader, Section};
use crate::app::{App, AppName};
use crate::keys::{Preset, ProfileName, SHORT};
use crate::scenario::{Access, Bottleneck, Flows};
use crate::tcp::{Given, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::tree::{Node, Tree};
use crate::udp::KEYS;
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Rate, Span};

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

    pub(super) fn flows(
        &mut self,
        group: &Section<'_>,
        link: Option<&Bottleneck>,
        duration: Option<Span>,
    ) -> Option<Flows> {
        let segment = packet_of(group).map(|bytes| Bytes::new(bytes.round() as u64));
        let access = self.access(group, link, segment);
        let start = self.start(group, duration);
        let stop = group.get::<Span>("stop");
        if let (Some(start), Some(stop)) = (start, stop)
            && stop <= start.latest()
        {
            let what = format!(
                "{stop} is not after the latest start at {}; legal: after every start",
                start.latest()
            );
            self.refuse(group, "stop", &what);
        }
        let app = self.app(group, access);
        let tcp = self.tcp(group, app.as_ref(), segment);
        let Tcp { cc, profile, ecn, given, .. } = tcp?;
        let reads = if group.given("reads") {
            Some(self.rate(group, "reads", segment?.get() as f64, FASTEST_ACCESS)?)
        } else {
            None
        };
        Some(Flows {
            count: group.get::<u64>("count")? as u32,
            app: app?,
            cc,
            profile,
            ecn,
            reads,
            segment: segment?,
            access: access?,
            start: start?,
            stop,
            given,
        })
    }

    /// What a group sends. A key that means nothing for it is refused.
    fn app(&mut self, group: &Section<'_>, access: Option<Access>) -> Option<App> {
        let AppName(name) = group.get("app")?;
        for (key, apps) in KEYS.iter().filter(|(key, apps)| group.given(key) && !apps.contains(&name)) {
            let apps: Vec<String> = apps.iter().map(|app| format!("\"{app}\"")).collect();
            let what = format!("is not for app = \"{name}\"; legal: with app = {}", apps.join(", "));
            self.refuse(group, key, &what);
        }
        if name == "bulk" {
            return Some(App::Bulk);
        }
        for key in TCP_KEYS.iter().chain(SHORT).filter(|key| group.given(key)) {
            let what = format!("is not for app = \"{name}\", which is not TCP; legal: leave it out");
            self.refuse(group, key, &what);
        }
        self.datagrams(group, name, access).map(App::Datagrams)
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

    fn access(
        &mut self,
        group: &Section<'_>,
        link: Option<&Bottleneck>,
        segment: Option<Bytes>,
    ) -> Option<Access> {
        let nothing = Node { place: group.place.clone(), tree: Tree::Table(Vec::new()) };
        let node = if group.given("access") { group.node("access")? } else { &nothing };
        let section = self.section("flows.access", &group.path_of("access"), node)?;
        let rate = if section.given("rate") {
            self.rate(&section, "rate", segment?.get() as f64, FASTEST_ACCESS)?
        } else {
            Rate::from_bits_per_second(ACCESS_FACTOR * link?.rate.bits_per_second())
        };
        Some(Access { rate, delay: section.get::<Spread>("delay")? })
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

/// Keys of a group of flows that speak of TCP; those of [`SHORT`] do too.
pub(crate) const TCP_KEYS: &[&str] = &["cc", "profile", "tcp", "reads"];
/// Flows of all groups.
const MOST_FLOWS: u64 = 1_000_000;
/// An access link's rate over the bottleneck's, where none is given.
const ACCESS_FACTOR: f64 = 10.0;
