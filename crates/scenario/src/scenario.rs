//! What a scenario is.

use crate::app::App;
use crate::arrivals::Arrivals;
use crate::changes::Change;
use crate::disc::DiscSpec;
use crate::faults::Faults;
use crate::fluid::Fluid;
use crate::keys::{Key, keys_of};
use crate::read::Files;
use crate::tcp::{Given, Tcp, ecn_with};
use crate::times::{Spread, Start};
use crate::topology::{Route, Topology};
use crate::{read, tree};
use sojourn_aqm::{Limit, Site};
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Fault, Rate, Span, TimeDraw, did_you_mean};
use std::rc::Rc;

/// A network, its traffic, and what changes when; checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What it shows, in one line.
    pub title: String,
    /// Simulated time.
    pub duration: Span,
    /// The time at the start that is not measured; below the duration.
    pub warmup: Span,
    /// The step of the series, where one was asked for.
    pub sample: Option<Span>,
    /// What only the fluid plant asks for.
    pub fluid: Fluid,
    /// Nodes, links and discs.
    pub topology: Topology,
    /// The traffic; at least one group.
    pub flows: Vec<Flows>,
    /// Changes in the order of their first times; those of one instant in the order of the file.
    pub at: Vec<Change>,
}

/// A class of traffic: like flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// What it is called.
    pub name: String,
    /// What its random streams go by.
    pub stream: String,
    /// The way of its data.
    pub route: Route,
    /// The way of its acknowledgments; empty where nothing is sent back and there is none.
    pub back: Route,
    /// How many.
    pub count: u32,
    /// What they send.
    pub app: App,
    /// Their congestion control, where they use TCP.
    pub cc: Choice,
    /// Their implementation of TCP, with what the file sets otherwise.
    pub profile: Profile,
    /// Whether they negotiate ECN.
    pub ecn: bool,
    /// How fast the applications at their receivers read, payload; None: what comes, at once.
    pub reads: Option<Rate>,
    /// The IP packet on the wire, headers included; of datagrams the mean.
    pub segment: Bytes,
    /// Links that each of them has to itself; None: the hosts are at the nodes.
    pub access: Option<Access>,
    /// How they come during the run, `count` at a time at most; None: `count` of them at their starts.
    pub arrivals: Option<Arrivals>,
    /// How long each stays; None: until it has nothing more to do, or its stop.
    pub lifetime: Option<TimeDraw>,
    /// When they start, unless they come during the run.
    pub start: Start,
    /// When they stop sending; None: never.
    pub stop: Option<Span>,
    /// What the file says of their TCP itself.
    pub(crate) given: Given,
}

/// The links between a flow's hosts and the network, one on each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Rate of each.
    pub rate: Rate,
    /// Propagation delay of each, one way.
    pub delay: Spread,
}

impl Scenario {
    /// Reads and checks a scenario file; `name` is what faults call the file.
    ///
    /// `overrides` are dotted keys with TOML values, `("bottleneck.rate", "\"6 Mbit/s\"")`;
    /// a bare word that is no TOML value is a string.
    pub fn parse(text: &[u8], name: &str, overrides: &[(String, String)]) -> Result<Scenario, Faults> {
        let none = |_: &str| Err("is not there: this text has no files beside it".to_string());
        Scenario::parse_beside(text, name, overrides, &(Rc::new(none) as Files))
    }

    /// The same, of a scenario that names other files: `files` hands them over.
    pub fn parse_beside(
        text: &[u8],
        name: &str,
        overrides: &[(String, String)],
        files: &Files,
    ) -> Result<Scenario, Faults> {
        let (tree, flaws) = tree::grow(text, name, overrides)?;
        let shown = tree::readable(text).unwrap_or_default();
        read::scenario(&tree, flaws, files).map_err(|flaws| Faults::of(name, shown, flaws))
    }

    /// The same scenario under another disc, written as `"red:min=50packets,max=150packets"`, on every link that has one;
    /// a link with a buffer alone keeps that.
    ///
    /// The lines of its faults do not say who asked for it.
    pub fn with_disc(&self, spec: &str) -> Result<Scenario, Faults> {
        let disc = DiscSpec::parse(spec).map_err(|fault| Faults::of_spec(&[fault]))?;
        let (mut scenario, sites) = (self.clone(), self.sites());
        let several = self.topology.replaceable().nth(1).is_some();
        let refused = |number: usize, faults: Vec<Fault>| {
            let link = &self.topology.links[number].name;
            let placed = |fault: Fault| if several { Fault::new(link, fault.to_string()) } else { fault };
            Faults::of_spec(&faults.into_iter().map(placed).collect::<Vec<_>>())
        };
        for number in self.topology.replaceable() {
            let faults = disc.faults(&sites[number]);
            if !faults.is_empty() {
                let named = faults.into_iter().map(|fault| fault.inside(&disc.law));
                return Err(refused(number, named.collect()));
            }
            scenario.topology.links[number].disc = Some(disc.clone());
        }
        let mut work = 0;
        for number in self.topology.replaceable() {
            if let Some((change, fault)) = scenario.refused_change(number, &mut work) {
                let what = format!("does not take the change at {}: {fault}", self.at[change].time);
                return Err(refused(number, vec![Fault::new(disc.law.as_str(), what)]));
            }
        }
        Ok(scenario)
    }

    /// The same scenario, in which only the disc of this link gives way to another one; that may be one which is there for
    /// its buffer alone.
    ///
    /// The line of its fault does not say who asked for it.
    pub fn at_link(&self, name: &str) -> Result<Scenario, Faults> {
        let Some(meant) = self.topology.managed().find(|number| self.topology.links[*number].name == name)
        else {
            let managed = self.topology.managed();
            let names: Vec<&str> = managed.map(|number| self.topology.links[number].name.as_str()).collect();
            // `back` alone is what the key of the other direction is called in the file.
            let back = names.iter().filter(|known| known.ends_with(&format!(".{name}")));
            let whole = if back.clone().count() == 1 { back.copied().next() } else { None };
            let hint = did_you_mean(whole.unwrap_or(name), names.iter().copied());
            let what = format!("\"{name}\" is no link with a disc{hint} (legal: {})", read::listed(&names));
            return Err(Faults::of_spec(&[Fault::new("", what)]));
        };
        let mut scenario = self.clone();
        for number in self.topology.managed() {
            scenario.topology.links[number].is_fixed = number != meant;
        }
        Ok(scenario)
    }

    /// The label of the discs: that of the one that they all are, or of each different one.
    pub fn disc_label(&self) -> String {
        let mut labels: Vec<String> = Vec::new();
        for disc in self.topology.replaceable().filter_map(|number| self.topology.links[number].disc.as_ref())
        {
            let label = disc.to_string();
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels.join(" + ")
    }

    /// The same scenario with another congestion control in these groups of flows, as if the file had it.
    ///
    /// What the file leaves open follows the new one; what it sets and the new one contradicts is told, in lines that do
    /// not say who asked for it.
    pub fn with_cc(&self, groups: &[usize], cc: &Choice) -> Result<Scenario, Faults> {
        let mut scenario = self.clone();
        let mut faults = Vec::new();
        for place in groups {
            let Some(flows) = scenario.flows.get_mut(*place) else { continue };
            let told = flows.take(cc).into_iter().map(|fault| fault.inside(&format!("flows[{place}]")));
            faults.extend(told);
        }
        if faults.is_empty() { Ok(scenario) } else { Err(Faults::of_spec(&faults)) }
    }

    /// What the law of a link may know: means over the flows whose data cross it and that respond to it for long, those
    /// that use TCP and do not end by themselves.
    ///
    /// Where none does, there is no round-trip time and no number of flows.
    pub fn site(&self, link: usize) -> Site {
        let crossing = self.flows.iter().filter(|group| group.route.contains(&link));
        let classes: Vec<_> = crossing.map(|group| (group, self.mean_base_rtt(group))).collect();
        self.site_crossed_by(link, &classes)
    }

    /// The sites of all links by their numbers, in one go: a route is looked at once, not once for each link.
    pub fn sites(&self) -> Vec<Site> {
        let rtts: Vec<f64> = self.flows.iter().map(|group| self.mean_base_rtt(group)).collect();
        let of = |class: &u32| (&self.flows[*class as usize], rtts[*class as usize]);
        let crossing = self.crossing();
        let classes = crossing.iter().map(|classes| classes.iter().map(of).collect::<Vec<_>>());
        classes.enumerate().map(|(link, classes)| self.site_crossed_by(link, &classes)).collect()
    }

    /// The site of a link that these classes cross, each with its mean round-trip time.
    fn site_crossed_by(&self, link: usize, classes: &[(&Flows, f64)]) -> Site {
        let at = &self.topology.links[link];
        let packet = if classes.is_empty() {
            mean_packet(self.flows.iter())
        } else {
            mean_packet(classes.iter().map(|(group, _)| *group))
        };
        let long = || classes.iter().filter(|(group, _)| group.is_long_lived());
        let flows: f64 = long().map(|(group, _)| f64::from(group.count)).sum();
        let rtt = long().map(|(group, rtt)| f64::from(group.count) * rtt);
        Site {
            rate: at.rate,
            packet,
            limit: at.buffer.unwrap_or(Limit::Unlimited).packets(packet),
            flows: (flows > 0.0).then_some(flows),
            base_rtt: (flows > 0.0).then(|| Span::from_seconds(rtt.sum::<f64>() / flows)),
        }
    }

    /// The classes whose data cross each link, by their numbers and in order, by the links' numbers.
    pub fn crossing(&self) -> Vec<Vec<u32>> {
        let mut crossing = vec![Vec::new(); self.topology.links.len()];
        for (class, flows) in (0..).zip(&self.flows) {
            flows.route.iter().for_each(|link| crossing[*link].push(class));
        }
        crossing
    }

    /// The mean round-trip time of a class without queueing and without transmission times, s.
    pub fn mean_base_rtt(&self, group: &Flows) -> f64 {
        let (there, back) = (self.topology.delay(&group.route), self.topology.delay(&group.back));
        let access = group.access.map_or(0.0, |access| access.delay.mean_seconds(group.count));
        there.seconds() + back.seconds() + 4.0 * access
    }

    /// The shortest and the longest round-trip time without queueing and without transmission times.
    pub fn base_rtts(&self) -> (Span, Span) {
        let times = || self.flows.iter().map(|group| self.base_rtts_of(group));
        let shortest = times().map(|(shortest, _)| shortest).min();
        let longest = times().map(|(_, longest)| longest).max();
        (shortest.unwrap_or_default(), longest.unwrap_or_default())
    }

    /// The same of one class.
    pub fn base_rtts_of(&self, group: &Flows) -> (Span, Span) {
        let ways = self.topology.delay(&group.route) + self.topology.delay(&group.back);
        let with = |access: fn(&Spread) -> Span| {
            ways + group.access.map_or(Span::ZERO, |links| access(&links.delay)).saturating_mul(4)
        };
        (with(Spread::earliest), with(Spread::latest))
    }

    /// Flows of all groups.
    pub fn flow_count(&self) -> f64 {
        self.flows.iter().map(|flows| f64::from(flows.count)).sum()
    }
}

/// Mean size of the packets that a law at a link of these classes is designed for, bytes: of the flows that always
/// have data, since they make the queue; where there are none of those over TCP; else of datagrams, by how many of
/// each are sent.
fn mean_packet<'a>(classes: impl Iterator<Item = &'a Flows> + Clone) -> f64 {
    let greed = |class: &Flows| (class.app.is_tcp(), class.is_long_lived());
    let greediest = classes.clone().map(greed).max();
    let (mut packets, mut bytes) = (0.0, 0.0);
    for class in classes.filter(|class| Some(greed(class)) == greediest) {
        let size = class.segment.get() as f64;
        let often = match &class.app {
            App::Datagrams(datagrams) => datagrams.rate().bits_per_second() / size,
            App::Bulk | App::Session(_) => 1.0,
        };
        // How many come during the run is not known.
        let count = if class.arrivals.is_some() { 1.0 } else { f64::from(class.count) };
        packets += count * often;
        bytes += count * often * size;
    }
    bytes / packets
}

impl Flows {
    /// Whether they are there from their starts and always have data to send, which a law can be designed for.
    pub fn is_long_lived(&self) -> bool {
        self.app == App::Bulk && self.arrivals.is_none()
    }

    /// Takes another congestion control; tells what else is set and cannot be with it.
    fn take(&mut self, cc: &Choice) -> Vec<Fault> {
        if !self.given.has("ecn") {
            self.ecn = ecn_with(cc);
        }
        self.given.0.extend(keys_of("flows").find(|key| key.name == "cc" && !self.given.has("cc")));
        self.cc = cc.clone();
        let Flows { cc, profile, ecn, segment, given, .. } = self.clone();
        let clashes = Tcp { cc, profile, ecn, segment, given }.contradictions();
        let path = |key: &Key| key.path().trim_start_matches("flows.").to_string();
        clashes.into_iter().map(|(key, what)| Fault::new(path(key), what)).collect()
    }
}
