//! From the tree of a file to a checked scenario.

use crate::app::{App, AppName};
use crate::disc::DiscSpec;
use crate::faults::{Flaw, MOST_LINES, Place};
use crate::keys::{Key, Preset, ProfileName, SHORT, Title, keys_of};
use crate::scenario::{Access, Bottleneck, Change, Flows, Scenario, Setting};
use crate::tcp::{Given, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::tree::{Node, Tree};
use sojourn_aqm::{Limit, Site};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Amount, Bytes, Fault, LinkRate, Rate, Span, Value};

/// The scenario; or all that is wrong with it, `flaws` included.
pub(crate) fn scenario(root: &Node, flaws: Vec<Flaw>) -> Result<Scenario, Vec<Flaw>> {
    let mut reader = Reader { flaws };
    match reader.scenario(root) {
        Some(scenario) if reader.flaws.is_empty() => Ok(scenario),
        _ => Err(reader.flaws),
    }
}

/// Collects faults while it reads. A reading method that returns None has told why.
struct Reader {
    flaws: Vec<Flaw>,
}

/// A table of the file: the keys that it has and that exist.
struct Section<'a> {
    /// Its name in the table of keys.
    table: &'static str,
    /// Its dotted path in the file.
    path: String,
    place: Place,
    given: Vec<Entry<'a>>,
}

/// A key of the file; it has a value where that is legal by itself.
struct Entry<'a> {
    key: &'static Key,
    node: &'a Node,
    value: Option<Value>,
}

impl Reader {
    fn scenario(&mut self, root: &Node) -> Option<Scenario> {
        let top = self.section("", "", root)?;
        let duration = top.get::<Span>("duration");
        let bottleneck =
            top.node("bottleneck").and_then(|node| self.section("bottleneck", "bottleneck", node));
        let groups = self.groups(&top);
        let link = bottleneck.as_ref().and_then(|section| self.bottleneck(section, &groups));
        let mut flows = Vec::new();
        for group in &groups {
            flows.extend(self.flows(group, link.as_ref(), duration));
        }
        let at = self.changes(&top, &groups, duration);
        let warmup = self.within_run(&top, "warmup", duration);
        let sample = self.sample(&top, duration);
        let mut scenario =
            link.filter(|_| !groups.is_empty() && flows.len() == groups.len()).and_then(|link| {
                let Title(title) = top.get("title")?;
                Some(Scenario {
                    title,
                    duration: duration?,
                    warmup: warmup?,
                    sample,
                    bottleneck: link,
                    flows,
                    at,
                })
            });
        let disc = bottleneck.and_then(|section| self.disc(&section, scenario.as_ref()));
        if let (Some(scenario), Some(disc)) = (&mut scenario, disc) {
            scenario.bottleneck.disc = disc;
        }
        scenario
    }

    /// The groups of flows; told where there are none.
    fn groups<'a>(&mut self, top: &Section<'a>) -> Vec<Section<'a>> {
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

    /// The bottleneck, still with the default disc: a law is checked when its place is known.
    fn bottleneck(&mut self, section: &Section<'_>, groups: &[Section<'_>]) -> Option<Bottleneck> {
        let rate = self.rate(section, "rate", mean_segment(groups)?, FASTEST);
        let largest = groups.iter().filter_map(|group| group.get::<Bytes>("segment")).max()?;
        let buffer = match section.get::<Amount>("buffer") {
            Some(amount) => Some(self.buffer(section, amount, rate?, largest)?),
            None => None,
        };
        Some(Bottleneck { rate: rate?, delay: section.get("delay")?, buffer, disc: DiscSpec::default() })
    }

    fn buffer(&mut self, section: &Section<'_>, amount: Amount, rate: Rate, largest: Bytes) -> Option<Limit> {
        let limit = Limit::from_amount(amount, rate);
        let what = match (amount, limit) {
            (Amount::Packets(count), _)
                if count != count.trunc() || !(1.0..=MOST_PACKETS).contains(&count) =>
            {
                format!("{count} packets cannot be held; legal: whole packets, 1 to {MOST_PACKETS}")
            }
            (_, Limit::Bytes(bytes)) if bytes < largest.get() => {
                format!("{amount} holds {bytes} B, less than one segment; legal: {largest} or more")
            }
            _ => return Some(limit),
        };
        self.refuse(section, "buffer", &what);
        None
    }

    fn flows(
        &mut self,
        group: &Section<'_>,
        link: Option<&Bottleneck>,
        duration: Option<Span>,
    ) -> Option<Flows> {
        let segment = group.get::<Bytes>("segment");
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
        let tcp = self.tcp(group, app, segment);
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
        let with_rate: fn(Rate) -> App = match name {
            "cbr" => App::Cbr,
            "poisson" => App::Poisson,
            _ => {
                if group.given("rate") {
                    self.refuse(group, "rate", "is not for app = \"bulk\": TCP finds its own; legal: app = \"cbr\" or \"poisson\" with it");
                    return None;
                }
                return Some(App::Bulk);
            }
        };
        for key in TCP_KEYS.iter().chain(SHORT).filter(|key| group.given(key)) {
            let what = format!("is not for app = \"{name}\", which is not TCP; legal: leave it out");
            self.refuse(group, key, &what);
        }
        if !group.given("rate") {
            let what = format!("app = \"{name}\" needs a rate; legal: rate = \"1 Mbit/s\", for example");
            self.refuse(group, "rate", &what);
            return None;
        }
        let segment = group.get::<Bytes>("segment")?.get() as f64;
        let (rate, access) = (self.rate(group, "rate", segment, FASTEST_ACCESS)?, access?.rate);
        if rate.bits_per_second() > access.bits_per_second() {
            let what = format!("{rate} is more than its access link carries; legal: at most {access}");
            self.refuse(group, "rate", &what);
            return None;
        }
        Some(with_rate(rate))
    }

    /// How a group's TCP is set up. Knobs that contradict each other are refused.
    fn tcp(&mut self, group: &Section<'_>, app: Option<App>, segment: Option<Bytes>) -> Option<Tcp> {
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

    /// All changes in the order of time; those of one instant in the order of the file.
    fn changes(&mut self, top: &Section<'_>, groups: &[Section<'_>], duration: Option<Span>) -> Vec<Change> {
        let packet = mean_segment(groups);
        let mut changes = Vec::new();
        let items = top.node("at").map(|node| self.list("at", node)).unwrap_or_default();
        for item in &items {
            let time = self.within_run(item, "time", duration);
            let Some(set) =
                item.node("set").and_then(|node| self.section("at.set", &item.path_of("set"), node))
            else {
                continue;
            };
            if item.node("set").is_some_and(Node::is_empty) {
                self.refuse(item, "set", SETS_NOTHING);
            }
            for Entry { key, .. } in &set.given {
                let setting = match (key.name, packet) {
                    ("bottleneck.rate", Some(packet)) => {
                        self.rate(&set, key.name, packet, FASTEST).map(Setting::BottleneckRate)
                    }
                    ("bottleneck.delay", _) => set.get(key.name).map(Setting::BottleneckDelay),
                    _ => None,
                };
                changes.extend(time.zip(setting).map(|(time, set)| Change { time, set }));
            }
        }
        changes.sort_by_key(|change| change.time);
        changes
    }

    /// A time below the duration.
    fn within_run(
        &mut self,
        section: &Section<'_>,
        name: &'static str,
        duration: Option<Span>,
    ) -> Option<Span> {
        let (time, duration) = (section.get::<Span>(name)?, duration?);
        if time < duration {
            return Some(time);
        }
        let what = format!("{time} is not below the duration of {duration}; legal: below duration");
        self.refuse(section, name, &what);
        None
    }

    fn sample(&mut self, top: &Section<'_>, duration: Option<Span>) -> Option<Span> {
        let (sample, duration) = (top.get::<Span>("sample")?, duration?);
        let shortest = Span::from_nanos(duration.nanos().div_ceil(MOST_SAMPLES));
        if sample < shortest || sample > duration {
            let what = format!("{sample} is out of range; legal: {shortest} to the duration of {duration}");
            self.refuse(top, "sample", &what);
        }
        Some(sample)
    }

    /// A rate in bit/s, where packets are of `packet` bytes.
    fn rate(&mut self, section: &Section<'_>, name: &'static str, packet: f64, fastest: f64) -> Option<Rate> {
        let given = section.get::<LinkRate>(name)?;
        let rate = given.bits(packet);
        if (SLOWEST..=fastest).contains(&rate.bits_per_second()) {
            return Some(rate);
        }
        let most = Rate::from_bits_per_second(fastest);
        let what = format!("{given} is out of range; legal: {SLOWEST} bit/s to {most}");
        self.refuse(section, name, &what);
        None
    }

    /// The disc, checked at its place as far as that is known.
    fn disc(&mut self, section: &Section<'_>, scenario: Option<&Scenario>) -> Option<DiscSpec> {
        if !section.given("disc") {
            return Some(DiscSpec::default());
        }
        let node = section.node("disc")?;
        let read = match &node.tree {
            Tree::Table(entries) => self.disc_of_table(node, entries),
            _ => String::read(&node.value().ok()?)
                .map_err(|what| Fault::new("", what))
                .and_then(|spec| DiscSpec::parse(&spec)),
        };
        let disc = read.map_err(|fault| self.inner_fault(node, DISC, &fault)).ok()?;
        let site = scenario.map_or_else(somewhere, Scenario::site);
        let faults = disc.faults(&site);
        for fault in &faults {
            self.inner_fault(node, DISC, fault);
        }
        faults.is_empty().then_some(disc)
    }

    fn disc_of_table(&mut self, node: &Node, entries: &[(String, Node)]) -> Result<DiscSpec, Fault> {
        let (law, params) = self.named_table(node, DISC, ("law", "law", "red"), entries)?;
        DiscSpec::new(&law, params)
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

    /// The name and the parameters of a table such as `{ law = "red", KEY = VALUE }`.
    fn named_table(
        &mut self,
        node: &Node,
        path: &str,
        (name, what, example): (&str, &str, &str),
        entries: &[(String, Node)],
    ) -> Result<(String, Vec<(String, Value)>), Fault> {
        let mut named = None;
        let mut params = Vec::new();
        for (key, child) in entries {
            match child.value() {
                Ok(value) if key == name => named = Some(String::read(&value)),
                Ok(value) => params.push((key.clone(), value)),
                Err(what) => self.inner_fault(node, path, &Fault::new(key, what)),
            }
        }
        let missing =
            || format!("is missing; legal: the name of a {what}, as in {{ {name} = \"{example}\" }}");
        let named = named.unwrap_or_else(|| Err(missing())).map_err(|what| Fault::new(name, what))?;
        Ok((named, params))
    }

    /// Tells a fault of what stands at `path` at the line of its key, or of the whole where that is not given.
    fn inner_fault(&mut self, node: &Node, path: &str, fault: &Fault) {
        let own = match &node.tree {
            Tree::Table(entries) => entries.iter().find(|(key, _)| *key == fault.key),
            _ => None,
        };
        let place = own.map_or(&node.place, |(_, child)| &child.place);
        let key = if fault.key.is_empty() { path.into() } else { format!("{path}.{}", fault.key) };
        self.flaw(place, &key, &fault.what);
    }

    /// The tables of a list.
    fn list<'a>(&mut self, table: &'static str, node: &'a Node) -> Vec<Section<'a>> {
        let Tree::List(items) = &node.tree else { return Vec::new() };
        let path = |place: usize| format!("{table}[{place}]");
        items.iter().enumerate().filter_map(|(place, item)| self.section(table, &path(place), item)).collect()
    }

    /// One table: unknown keys, missing keys and values that are wrong by themselves are told.
    fn section<'a>(&mut self, table: &'static str, path: &str, node: &'a Node) -> Option<Section<'a>> {
        let mut section = Section { table, path: path.into(), place: node.place.clone(), given: Vec::new() };
        let Tree::Table(entries) = &node.tree else {
            self.flaw(&node.place, path, "is not a table; legal: KEY = VALUE lines, or { KEY = VALUE }");
            return None;
        };
        let mut flat = Vec::new();
        flatten(entries, table, "", &mut flat);
        for (name, child) in flat {
            let what = match keys_of(table).find(|key| key.name == name) {
                None if self.is_full() => continue,
                None => unknown(&name, table),
                Some(key) if section.given(key.name) => "is given twice; legal: each key once".into(),
                Some(key) => {
                    // What has keys of its own is read with them.
                    let nested =
                        matches!(key.kind(), Kind::Table | Kind::Tables | Kind::Disc | Kind::Control);
                    let read = if nested { child.outline() } else { child.value() };
                    let value = read.and_then(|value| key.check(&value).map(|()| value));
                    let (value, wrong) =
                        value.map_or_else(|what| (None, what), |value| (Some(value), String::new()));
                    section.given.push(Entry { key, node: child, value });
                    wrong
                }
            };
            if !what.is_empty() {
                self.flaw(&child.place, &section.path_of(&name), &what);
            }
        }
        for key in keys_of(table).filter(|key| key.preset == Preset::Required && !section.given(key.name)) {
            self.flaw(&node.place, &section.path_of(key.name), &key.missing());
        }
        Some(section)
    }

    /// A legal value that does not fit the rest of the file.
    fn refuse(&mut self, section: &Section<'_>, name: &str, what: &str) {
        let place = section.node(name).map_or(&section.place, |node| &node.place);
        self.flaw(place, &section.path_of(name), what);
    }

    fn flaw(&mut self, place: &Place, key: &str, what: &str) {
        if !self.is_full() {
            self.flaws.push(Flaw { place: place.clone(), fault: Fault::new(key, what) });
        }
    }

    /// A flood of faults is cut in the end; no need to write it all first.
    fn is_full(&self) -> bool {
        self.flaws.len() > MOST_LINES
    }
}

impl<'a> Section<'a> {
    /// The value of a key, or its default; None where there is neither, or the value is wrong.
    fn get<T: Quantity>(&self, name: &str) -> Option<T> {
        let value = match self.given.iter().find(|entry| entry.key.name == name) {
            Some(entry) => entry.value.clone()?,
            None => keys_of(self.table).find(|key| key.name == name)?.preset.value()?,
        };
        T::read(&value).ok()
    }

    /// Whether the file has the key, rightly or wrongly.
    fn given(&self, name: &str) -> bool {
        self.given.iter().any(|entry| entry.key.name == name)
    }

    /// What the file has for a key, where that is legal by itself.
    fn node(&self, name: &str) -> Option<&'a Node> {
        let entry = self.given.iter().find(|entry| entry.key.name == name)?;
        entry.value.is_some().then_some(entry.node)
    }

    fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }
}

fn unknown(name: &str, table: &str) -> String {
    let names: Vec<&str> = keys_of(table).map(|key| key.name).collect();
    Fault::unknown(name, &names).what
}

/// The entries of a table; where keys hold dots, tables inside it are taken as dotted keys.
fn flatten<'a>(entries: &'a [(String, Node)], table: &str, prefix: &str, out: &mut Vec<(String, &'a Node)>) {
    for (key, node) in entries {
        let name = format!("{prefix}{key}");
        let stem = format!("{name}.");
        match &node.tree {
            Tree::Table(inner) if keys_of(table).any(|key| key.name.starts_with(&stem)) => {
                flatten(inner, table, &stem, out);
            }
            _ => out.push((name, node)),
        }
    }
}

/// Mean size of a segment over all flows, bytes.
fn mean_segment(groups: &[Section<'_>]) -> Option<f64> {
    let (mut flows, mut bytes) = (0.0, 0.0);
    for group in groups {
        let count = group.get::<u64>("count")? as f64;
        flows += count;
        bytes += count * group.get::<Bytes>("segment")?.get() as f64;
    }
    (flows > 0.0).then(|| bytes / flows)
}

/// A place where every law finds what it needs, for files that do not tell of theirs.
fn somewhere() -> Site {
    Site {
        rate: Rate::from_bits_per_second(1e7),
        packet: 1000.0,
        limit: f64::INFINITY,
        flows: Some(50.0),
        base_rtt: Some(Span::from_millis(100)),
    }
}

/// Keys of a group of flows that speak of TCP; those of [`SHORT`] do too.
pub(crate) const TCP_KEYS: &[&str] = &["cc", "profile", "tcp", "reads"];
/// Flows of all groups.
const MOST_FLOWS: u64 = 1_000_000;
/// Packets of a buffer.
const MOST_PACKETS: f64 = 1e9;
/// Steps of the series.
const MOST_SAMPLES: u64 = 1_000_000;
/// The slowest link, bit/s.
const SLOWEST: f64 = 1.0;
/// The fastest bottleneck, bit/s: the smallest segment still takes a nanosecond.
const FASTEST: f64 = 1e12;
/// The fastest access link, bit/s.
const FASTEST_ACCESS: f64 = 1e13;
/// An access link's rate over the bottleneck's, where none is given.
const ACCESS_FACTOR: f64 = 10.0;
/// What is said of a change without a key.
const SETS_NOTHING: &str =
    "sets nothing; legal: at least one key, as in { \"bottleneck.rate\" = \"6 Mbit/s\" }";
/// The path of the disc.
const DISC: &str = "bottleneck.disc";
