//! From the tree of a file to a checked scenario.

mod apps;
mod changes;
mod flows;
mod links;
mod names;
mod routes;
mod strays;
mod udp;

pub(crate) use apps::TCP_KEYS;

use crate::app::{App, AppName};
use crate::faults::{Flaw, MOST_LINES, Place};
use crate::fluid::Fluid;
use crate::keys::{Key, Preset, Title, keys_of};
use crate::scenario::Scenario;
use crate::series::MOST_CROSSINGS;
use crate::tree::{Node, Tree};
use links::NETWORKS;
use sojourn_aqm::Site;
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Fault, LinkRate, Rate, Span, Value, draw, nearest};
use std::rc::Rc;

/// The scenario; or all that is wrong with it, `flaws` included.
pub(crate) fn scenario(root: &Node, flaws: Vec<Flaw>, files: &Files) -> Result<Scenario, Vec<Flaw>> {
    let mut reader = Reader { flaws, files: Rc::clone(files), end: None, lost: strays::lost_table(root) };
    match reader.scenario(root) {
        Some(scenario) if reader.flaws.is_empty() => Ok(scenario),
        _ => Err(reader.flaws),
    }
}

/// Hands over a file beside the scenario, by its name; or says why it cannot.
pub type Files = Rc<dyn Fn(&str) -> Result<Vec<u8>, String>>;

/// Collects faults while it reads. A reading method that returns None has told why.
struct Reader {
    flaws: Vec<Flaw>,
    files: Files,
    /// The end of the run, where that is known.
    end: Option<Span>,
    /// The table at the top whose header is missing while its keys are there.
    lost: Option<&'static Key>,
}

/// A table of the file: the keys that it has and that exist.
struct Section<'a> {
    /// Its name in the table of keys.
    table: &'static str,
    /// Its dotted path in the file.
    path: String,
    place: Place,
    given: Vec<Entry<'a>>,
    /// Keys that are there under another name, or without the header of their table.
    meant: Vec<&'static str>,
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
        self.end = duration;
        let groups = self.groups(&top);
        let network = self.network(&top, &groups);
        let called = self.called(&groups, network.as_ref());
        let (mut flows, mut read, mut number) = (Vec::new(), 0, 0);
        for (group, called) in groups.iter().zip(called) {
            let classes = self.classes(group, called, network.as_ref(), duration);
            read += usize::from(classes.is_some());
            for class in classes.into_iter().flatten() {
                self.check_number(group, &class, &mut number);
                flows.push(class);
            }
        }
        let warmup = self.within_run(&top, "warmup", duration);
        let sample = self.sample(&top, duration);
        let whole = network.as_ref().filter(|_| !groups.is_empty() && read == groups.len());
        let mut scenario = whole.and_then(|network| {
            let Title(title) = top.get("title")?;
            let topology = network.topology.clone();
            let (duration, at) = (duration?, Vec::new());
            let fluid = Fluid { window: top.get("fluid_window")?, step: top.get("fluid_step") };
            Some(Scenario { title, duration, warmup: warmup?, sample, fluid, topology, flows, at })
        });
        self.discs(network, &mut scenario);
        if let Some(scenario) = &scenario {
            self.check_size(&top, scenario);
        }
        self.changes(&top, &groups, duration, &mut scenario);
        scenario
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
            return None;
        }
        Some(sample)
    }

    /// What a run keeps is bounded: each class has a row at each link that it crosses, and each link its series.
    fn check_size(&mut self, top: &Section<'_>, scenario: &Scenario) {
        let crossings = scenario.crossings();
        if crossings > MOST_CROSSINGS {
            let what = format!(
                "the data of {} classes cross links with discs {crossings} times in all, and each time has a row; \
                 legal: {MOST_CROSSINGS} times at most: one class of count = N instead of many alike",
                scenario.flows.len()
            );
            self.refuse(top, "flows", &what);
        }
        let shortest = scenario.shortest_step();
        if let Some(sample) = scenario.sample.filter(|sample| *sample < shortest) {
            let what = format!(
                "{sample} is too short for the series of so many links; legal: {shortest} to the duration of {}",
                scenario.duration
            );
            self.refuse(top, "sample", &what);
        }
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
        let place = node.place.clone();
        let mut section = Section { table, path: path.into(), place, given: Vec::new(), meant: Vec::new() };
        section.meant.extend(self.lost.filter(|lost| lost.table == table).map(|lost| lost.name));
        let Tree::Table(entries) = &node.tree else {
            self.flaw(&node.place, path, "is not a table; legal: KEY = VALUE lines, or { KEY = VALUE }");
            return None;
        };
        let mut flat = Vec::new();
        flatten(entries, table, "", &mut flat);
        let mut has_strays = false;
        for (name, child) in flat {
            let what = match keys_of(table).find(|key| key.name == name) {
                // What follows a key below a missing header is below it, too.
                None if self.is_full() || has_strays => continue,
                None => {
                    let stray = self.table_of_stray(&section, &name, child, entries);
                    has_strays = stray.is_some();
                    section.meant.extend(stray.map(|table| table.name));
                    section.meant.extend(nearest(&name, keys_of(table).map(|key| key.name)));
                    stray.map_or_else(|| unknown(&name, table), strays::stray)
                }
                Some(key) if section.given(key.name) => "is given twice; legal: each key once".into(),
                Some(key) => {
                    // What has keys of its own is read with them.
                    let nested =
                        matches!(key.kind(), Kind::Table | Kind::Tables | Kind::Disc | Kind::Control);
                    let whole = || child.value().and_then(|value| self.beside(&key.kind(), value));
                    let read = if nested { child.outline() } else { whole() };
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
        let is_there = |key: &Key| {
            let is_there = |name: &str| section.given(name) || section.meant.contains(&name);
            is_there(key.name) || key.instead().is_some_and(is_there)
        };
        for key in keys_of(table).filter(|key| key.preset == Preset::Required && !is_there(key)) {
            self.flaw(&node.place, &section.path_of(key.name), &key.missing());
        }
        Some(section)
    }

    /// The table that an unknown key belongs to, where only the header of that is missing.
    fn table_of_stray(
        &self,
        section: &Section<'_>,
        name: &str,
        node: &Node,
        entries: &[(String, Node)],
    ) -> Option<&'static Key> {
        let in_file = matches!(node.place, Place::File(_));
        let lost = self.lost.filter(|lost| strays::has_key(lost, name));
        let given = |name: &str| entries.iter().any(|(key, _)| key == name);
        lost.or_else(|| strays::inner_table(section.table, name, given)).filter(|_| in_file)
    }

    /// A distribution whose table stands in a file of its own, with the table.
    fn beside(&self, kind: &Kind, value: Value) -> Result<Value, String> {
        match &value {
            Value::Table(entries) if matches!(kind, Kind::TimeDraw | Kind::SizeDraw) => match &entries[..] {
                [(key, Value::Text(name))] if key == "file" => {
                    let text = (self.files)(name)?;
                    draw::table_of(&text).map_err(|what| format!("{name}, {what}"))
                }
                _ => Ok(value),
            },
            _ => Ok(value),
        }
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

/// Mean size of the packets of those flows that are the greediest, bytes: as `Scenario::site` has it.
fn mean_packet(groups: &[Section<'_>]) -> Option<f64> {
    let greed = |group: &Section<'_>| {
        let app = group.get::<AppName>("app").map_or("", |AppName(app)| app);
        (App::is_tcp_named(app), App::is_greedy_named(app) && !group.given("arrivals"))
    };
    let greediest = groups.iter().map(greed).max();
    let (mut flows, mut bytes) = (0.0, 0.0);
    for group in groups.iter().filter(|group| Some(greed(group)) == greediest) {
        let count = group.get::<u64>("count")? as f64;
        flows += count;
        bytes += count * udp::packet_of(group)?;
    }
    (flows > 0.0).then(|| bytes / flows)
}

/// Names as a fault lists them: the first ones of many.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_SHOWN).map(AsRef::as_ref).collect();
    format!("{}{}", shown.join(", "), if names.len() > MOST_SHOWN { ", ..." } else { "" })
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

/// Flows of all groups, and of one.
const MOST_FLOWS: u64 = 1_000_000;
/// Names that a fault lists.
const MOST_SHOWN: usize = 20;
/// Steps of the series.
const MOST_SAMPLES: u64 = 1_000_000;
/// The slowest link, bit/s.
const SLOWEST: f64 = 1.0;
/// The fastest bottleneck, bit/s: the smallest segment still takes a nanosecond.
const FASTEST: f64 = 1e12;
/// The fastest access link, bit/s.
const FASTEST_ACCESS: f64 = 1e13;
