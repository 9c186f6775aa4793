//! A scenario's link as the linear analysis has it, and what keeps it from being one.

use super::words;
use crate::linear::equilibrium::{Class, Link, Signal};
use crate::read::{HEADER, MODELLED, mean_rate};
use sojourn_aqm::Site;
use sojourn_scenario::{App, Flows, Scenario};
use sojourn_units::Fault;

/// A link, its traffic, and their names.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What the link is called.
    pub name: String,
    /// The link and the flows that answer.
    pub link: Link,
    /// The names of those classes, and what each flow can send at most, packets/s of its own.
    pub classes: Vec<(String, f64)>,
    /// What a law may know there.
    pub site: Site,
    /// The disc's number among the links.
    pub(super) number: usize,
    /// Other links with a disc that these flows cross.
    pub(super) others: Vec<String>,
    /// Whether the scenario changes something during the run.
    pub(super) changes: bool,
    /// Whether the flows can be marked.
    pub(super) ecn: bool,
}

impl Setting {
    /// The link called `named`, or else the only one that may be congested.
    pub fn of(scenario: &Scenario, named: Option<&str>) -> Result<Setting, Fault> {
        let number = chosen(scenario, named)?;
        let at = &scenario.topology.links[number];
        let site = scenario.site(number);
        let mut setting = Setting {
            name: at.name.clone(),
            link: Link {
                capacity: capacity(scenario, number, &site),
                signal: Signal::Mark,
                unresponsive: 0.0,
                classes: Vec::new(),
            },
            classes: Vec::new(),
            site,
            number,
            others: others(scenario, number),
            changes: !scenario.at.is_empty(),
            ecn: true,
        };
        if at.medium.deliveries.is_some() {
            return Err(none(&format!("{}.trace", at.name), "a link that sends now and then", "rate"));
        }
        let mut marked = Vec::new();
        for (place, flows) in scenario.flows.iter().enumerate() {
            if flows.route.contains(&number) {
                let inside = |fault: Fault| fault.inside(&format!("flows[{place}]"));
                setting.add(scenario, flows).map_err(inside)?;
                marked.push(flows.ecn);
            }
        }
        if marked.contains(&true) && marked.contains(&false) {
            let what = "is true of some flows of this link and false of others; legal: the same of all, as \
                        packets that cannot be marked are dropped";
            return Err(Fault::new("flows.ecn", what));
        }
        if !marked.contains(&true) {
            (setting.link.signal, setting.ecn) = (Signal::Drop, false);
        }
        Ok(setting)
    }

    /// N, all flows that answer.
    pub fn flows(&self) -> f64 {
        self.link.classes.iter().map(|class| class.flows).sum()
    }

    /// Their mean round-trip time without queueing, s.
    pub fn base_rtt(&self) -> f64 {
        self.mean(self.link.classes.iter().map(|class| class.base_rtt))
    }

    /// The mean over flows of what each class has.
    pub(super) fn mean(&self, of: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 = self.link.classes.iter().zip(of).map(|(class, value)| class.flows * value).sum();
        sum / self.flows()
    }

    /// The same traffic with `flows` flows at a mean round trip of `base_rtt`: every class by the same factors.
    pub(super) fn scaled(&self, [flows, base_rtt]: [f64; 2]) -> Link {
        let factors = [flows / self.flows(), base_rtt / self.base_rtt()];
        let mut link = self.link.clone();
        for class in &mut link.classes {
            class.flows *= factors[0];
            class.base_rtt *= factors[1];
        }
        link
    }

    fn add(&mut self, scenario: &Scenario, flows: &Flows) -> Result<(), Fault> {
        faults_of(scenario, flows)?;
        let packet = flows.segment.get() as f64;
        let (size, count) = (packet / self.site.packet, f64::from(flows.count));
        let access = flows.access.map_or(f64::INFINITY, |access| access.rate.packets_per_second(packet));
        if let App::Datagrams(sent) = &flows.app {
            self.link.unresponsive += count * size * mean_rate(sent).min(access);
            return Ok(());
        }
        let read = flows.reads.map_or(f64::INFINITY, |rate| rate.packets_per_second(packet - HEADER));
        let base_rtt = scenario.mean_base_rtt(flows);
        self.link.classes.push(Class { flows: count, base_rtt, size, law: scenario.fluid.window });
        self.classes.push((flows.name.clone(), access.min(read)));
        Ok(())
    }
}

/// What of a class has no linear model.
fn faults_of(scenario: &Scenario, flows: &Flows) -> Result<(), Fault> {
    let (app, cc) = (flows.app.name(), flows.cc.name());
    if matches!(flows.app, App::Session(_)) {
        let what = format!("\"{app}\", whose connections come and go,");
        return Err(none("app", &what, "bulk, or what uses UDP"));
    }
    if flows.app == App::Bulk && !MODELLED.contains(&cc) {
        return Err(none("cc", &format!("\"{cc}\""), &MODELLED.join(", ")));
    }
    if flows.arrivals.is_some() || flows.lifetime.is_some() {
        return Err(none("arrivals", "flows that come and go", "count"));
    }
    for link in &flows.route {
        let of = &scenario.topology.links[*link];
        let wire = &of.medium.impairments;
        let lossy = wire.loss.get() > 0.0 || wire.corrupt.get() > 0.0 || wire.bursts.is_some();
        let shaken = wire.jitter.is_some() || wire.reorder.is_some() || wire.duplicate.get() > 0.0;
        if lossy || shaken {
            let key = format!("{}.impairments", of.name);
            return Err(none(&key, "a wire that loses or shakes packets", "a clean one"));
        }
    }
    Ok(())
}

fn none(key: &str, what: &str, legal: &str) -> Fault {
    Fault::new(key, format!("{what} has no linear model; legal: {legal}"))
}

/// The link that is asked about.
fn chosen(scenario: &Scenario, named: Option<&str>) -> Result<usize, Fault> {
    let crossing = scenario.crossing();
    let answers = |class: &u32| scenario.flows[*class as usize].app.is_tcp();
    let topology = &scenario.topology;
    let crossed: Vec<usize> =
        topology.managed().filter(|number| crossing[*number].iter().any(answers)).collect();
    let name = |number: &usize| topology.links[*number].name.as_str();
    if let Some(named) = named {
        let all: Vec<&str> = topology.managed().map(|number| topology.links[number].name.as_str()).collect();
        return topology.managed().find(|number| name(number) == named).ok_or_else(|| {
            let hint = sojourn_units::did_you_mean(named, all.iter().copied());
            let what = format!("\"{named}\" is no link with a disc{hint} (legal: {})", all.join(", "));
            Fault::new("", what)
        });
    }
    let free: Vec<usize> =
        crossed.iter().copied().filter(|number| !topology.links[*number].is_fixed).collect();
    match (crossed.as_slice(), free.as_slice()) {
        ([only], _) | (_, [only]) => Ok(*only),
        ([], _) => {
            Err(Fault::new("flows", "no flow that answers crosses a link with a disc; legal: one or more"))
        }
        (several, _) => {
            let names: Vec<&str> = several.iter().map(name).collect();
            let what = format!(
                "{} links may be congested, and a certificate is of one; legal: --link with one of {}",
                names.len(),
                names.join(", ")
            );
            Err(Fault::new("links", what))
        }
    }
}

fn others(scenario: &Scenario, number: usize) -> Vec<String> {
    let ours = scenario.flows.iter().filter(|flows| flows.route.contains(&number));
    let crossed: Vec<usize> = ours.flat_map(|flows| flows.route.iter().chain(&flows.back).copied()).collect();
    let managed = scenario.topology.managed().filter(|other| *other != number && crossed.contains(other));
    managed.map(|other| scenario.topology.links[other].name.clone()).collect()
}

/// C, packets/s.
fn capacity(scenario: &Scenario, number: usize, site: &Site) -> f64 {
    let at = &scenario.topology.links[number];
    let framed = f64::from(at.medium.framing.on_wire(site.packet.round() as u32));
    at.rate.packets_per_second(framed)
}

impl Setting {
    /// What a class is called.
    pub fn class(&self, place: usize) -> &str {
        &self.classes[place].0
    }

    /// The traffic in words.
    pub(super) fn traffic(&self) -> String {
        let each = self.link.classes.iter().zip(&self.classes).map(|(class, (name, _))| {
            format!("{} of {name} over {}", words::count(class.flows, "flow"), words::time(class.base_rtt))
        });
        words::listed(&each.collect::<Vec<_>>())
    }
}
