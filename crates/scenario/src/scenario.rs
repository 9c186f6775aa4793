//! The scenario: network, traffic and schedule.

use crate::apps::{App, Traffic};
use crate::arrivals::Arrivals;
use crate::changes::{Change, Setting};
use crate::dscp::Dscp;
use crate::fluid::Fluid;
use crate::links::Medium;
use crate::tables::Windows;
use crate::tcp::ExplicitKeys;
use crate::times::{Spread, Start};
use crate::topology::{Route, Topology};
use sojourn_aqm::{FlowClass, Limit, LinkContext};
use sojourn_params::TimeDraw;
use sojourn_tcp::Profile;
use sojourn_tcp::cc::Choice;
use sojourn_units::{Bytes, Rate, Span};
use std::ops::Range;

/// A network, its traffic and its changes; checked and complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Title, one line.
    pub title: String,
    /// Simulated time.
    pub duration: Span,
    /// Warm-up, not measured; below the duration.
    pub warmup: Span,
    /// Step of the series; None: chosen from the duration.
    pub sample: Option<Span>,
    /// Windows of time with metrics of their own.
    pub windows: Vec<Windows>,
    /// Settings of the fluid plant.
    pub fluid: Fluid,
    /// Nodes, links and qdiscs.
    pub topology: Topology,
    /// The traffic; at least one group.
    pub flows: Vec<Flows>,
    /// Changes in the order of their first times; those of one instant in the order of the file.
    pub at: Vec<Change>,
}

/// A class of traffic: equal flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// Name.
    pub name: String,
    /// Name of its random streams.
    pub stream: String,
    /// Route of its data.
    pub route: Route,
    /// Route of its acknowledgments; empty where nothing is sent back and there is none.
    pub back: Route,
    /// Number of them.
    pub count: u32,
    /// Application, as the file has it.
    pub app: App,
    /// Their congestion control, where they use TCP.
    pub cc: Choice,
    /// The name of the implementation of TCP.
    pub profile_name: &'static str,
    /// That implementation, with the settings of the file.
    pub profile: Profile,
    /// True: ECN is negotiated.
    pub ecn: bool,
    /// ECN-capable packets carry ECT(1).
    pub ect1: bool,
    /// Read rate of the receiving applications, payload; None: unlimited.
    pub reads: Option<Rate>,
    /// The IP packet on the wire, headers included; of datagrams the mean.
    pub segment: Bytes,
    /// Hosts of the senders and of the receivers that other classes may share; None: each user has one of its own.
    pub hosts: [Option<String>; 2],
    /// DSCP of the packets.
    pub dscp: Dscp,
    /// Access links of each of them; None: the hosts are at the nodes.
    pub access: Option<Access>,
    /// Arrivals during the run, at most `count` at a time; None: `count` flows from their starts.
    pub arrivals: Option<Arrivals>,
    /// Lifetime of each flow; None: until its application ends, or its stop.
    pub lifetime: Option<TimeDraw>,
    /// Start times; unused with arrivals.
    pub start: Start,
    /// Time at which they stop sending; None: never.
    pub stop: Option<Span>,
    /// Keys that the file gives and that may contradict each other.
    pub(crate) given: ExplicitKeys,
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
    /// The label of the qdiscs: a single one, or that of each different one.
    pub fn qdisc_label(&self) -> String {
        let mut labels: Vec<String> = Vec::new();
        for qdisc in
            self.topology.replaceable().filter_map(|number| self.topology.links[number].qdisc.as_ref())
        {
            let label = qdisc.to_string();
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels.join(" + ")
    }

    /// The same scenario with qdiscs and congestion controls in their shortest forms: equal scenarios have one text.
    pub fn shortest(&self) -> Scenario {
        let mut scenario = self.clone();
        for link in &mut scenario.topology.links {
            link.qdisc = link.qdisc.take().map(|qdisc| qdisc.shortest());
        }
        for flows in &mut scenario.flows {
            flows.cc = flows.cc.shortest();
        }
        scenario
    }

    /// Context of a link's law: means over the long-lived responsive flows whose data cross it, those
    /// that use TCP and do not end by themselves.
    ///
    /// Without such flows it has no round-trip time and no number of flows.
    pub fn context(&self, link: usize) -> LinkContext {
        let crossing = self.flows.iter().filter(|group| group.route.contains(&link));
        let classes: Vec<_> = crossing.map(|group| (group, self.mean_base_rtt(group))).collect();
        self.context_crossed_by(link, &classes)
    }

    /// The contexts of all links by number, in one pass over the routes.
    pub fn contexts(&self) -> Vec<LinkContext> {
        let rtts: Vec<f64> = self.flows.iter().map(|group| self.mean_base_rtt(group)).collect();
        let of = |class: &u32| (&self.flows[*class as usize], rtts[*class as usize]);
        let crossing = self.crossing();
        let classes = crossing.iter().map(|classes| classes.iter().map(of).collect::<Vec<_>>());
        classes.enumerate().map(|(link, classes)| self.context_crossed_by(link, &classes)).collect()
    }

    /// The context of a link that these classes cross, each with its mean round-trip time.
    fn context_crossed_by(&self, link: usize, classes: &[(&Flows, f64)]) -> LinkContext {
        let at = &self.topology.links[link];
        let packet = if classes.is_empty() {
            mean_packet(self.flows.iter())
        } else {
            mean_packet(classes.iter().map(|(group, _)| *group))
        };
        let long = || classes.iter().filter(|(group, _)| group.is_long_lived());
        let flows: f64 = long().map(|(group, _)| f64::from(group.count)).sum();
        let rtt = long().map(|(group, rtt)| f64::from(group.count) * rtt);
        LinkContext {
            rate: at.rate,
            packet,
            limit: at.buffer.unwrap_or(Limit::Unlimited).packets(packet),
            flows: (flows > 0.0).then_some(flows),
            base_rtt: (flows > 0.0).then(|| Span::from_seconds(rtt.sum::<f64>() / flows)),
        }
    }

    /// All classes as a qdisc before a link knows them.
    pub fn classes_at(&self, link: usize) -> Vec<FlowClass<'_>> {
        let classes = self.flows.iter().map(|group| {
            let crosses = group.route.contains(&link);
            let flows = if crosses && group.is_long_lived() { f64::from(group.count) } else { 0.0 };
            FlowClass { name: &group.name, crosses, flows }
        });
        classes.collect()
    }

    /// The numbers of the classes whose data cross each link, in order, by the link's number.
    pub fn crossing(&self) -> Vec<Vec<u32>> {
        let mut crossing = vec![Vec::new(); self.topology.links.len()];
        for (class, flows) in (0..).zip(&self.flows) {
            flows.route.iter().for_each(|link| crossing[*link].push(class));
        }
        crossing
    }

    /// Mean base RTT of a class, without transmission times, s.
    pub fn mean_base_rtt(&self, group: &Flows) -> f64 {
        let (there, back) = (self.topology.delay(&group.route), self.topology.delay(&group.back));
        let access = group.access.map_or(0.0, |access| access.delay.mean_seconds(group.count));
        there.seconds() + back.seconds() + 4.0 * access
    }

    /// Mean round-trip time of a packet of a class that is returned as it is and meets no queue: propagation and
    /// transmission. None: a link on the way has no constant time.
    pub fn mean_idle_rtt(&self, group: &Flows) -> Option<Span> {
        let bytes = group.segment.get() as u32;
        let links = [&group.route, &group.back].into_iter().flat_map(|route| route.iter());
        if links.clone().any(|link| !self.has_constant_time(*link)) {
            return None;
        }
        let crossed = links.map(|link| &self.topology.links[*link]);
        let shared: f64 = crossed
            .map(|link| f64::from(link.medium.framing.on_wire(bytes)) * 8.0 / link.rate.bits_per_second())
            .sum();
        let own =
            group.access.map_or(0.0, |access| 4.0 * f64::from(bytes) * 8.0 / access.rate.bits_per_second());
        Some(Span::from_seconds(self.mean_base_rtt(group) + shared + own))
    }

    /// True if a link takes the same time for equal packets: no schedule, jitter or reordering, and no change.
    fn has_constant_time(&self, link: usize) -> bool {
        let Medium { link_schedule, impairments, .. } = &self.topology.links[link].medium;
        let changes = self.at.iter().any(|change| match &change.set {
            Setting::Rate(links, _) | Setting::Delay(links, _) => links.contains(&link),
            _ => false,
        });
        link_schedule.is_none() && impairments.jitter.is_none() && impairments.reorder.is_none() && !changes
    }

    /// Mean base RTT of some flows of a class, by number, without transmission times, s; `flows` is not empty.
    pub fn mean_base_rtt_of(&self, group: &Flows, flows: Range<u32>) -> f64 {
        let (there, back) = (self.topology.delay(&group.route), self.topology.delay(&group.back));
        let count = f64::from(flows.end - flows.start);
        let mean =
            |delay: Spread| flows.map(|flow| delay.at(flow, group.count).seconds()).sum::<f64>() / count;
        there.seconds() + back.seconds() + 4.0 * group.access.map_or(0.0, |access| mean(access.delay))
    }

    /// Numbers of the flows of a class in parts of alike round trips: in each the longest base RTT is at most `widest`
    /// times the shortest, but there are at most 8.
    pub fn parts_by_rtt(&self, group: &Flows, widest: f64) -> Vec<Range<u32>> {
        let (shortest, longest) = self.base_rtts_of(group);
        let ratio = longest.seconds() / shortest.seconds();
        // Even steps of the delay: the shortest part has the largest ratio.
        let parts = if ratio > widest { ((ratio - 1.0) / (widest - 1.0)).ceil() } else { 1.0 };
        let parts = (parts as u32).clamp(1, MOST_PARTS.min(group.count.max(1)));
        let bound = |part: u32| (u64::from(group.count) * u64::from(part) / u64::from(parts)) as u32;
        (0..parts).map(|part| bound(part)..bound(part + 1)).collect()
    }

    /// Shortest and longest base RTT, without transmission times.
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

/// Mean packet size that a law at a link of these classes is designed for, bytes: that of the flows that always have
/// data, since they make the queue; without them that of TCP; else that of datagrams, weighted by their rates.
fn mean_packet<'a>(classes: impl Iterator<Item = &'a Flows> + Clone) -> f64 {
    let greed = |class: &Flows| (class.app.is_tcp(), class.is_long_lived());
    let greediest = classes.clone().map(greed).max();
    let (mut packets, mut bytes) = (0.0, 0.0);
    for class in classes.filter(|class| Some(greed(class)) == greediest) {
        let size = class.segment.get() as f64;
        let often = match class.traffic() {
            Traffic::Datagrams(datagrams) => datagrams.rate().bits_per_second() / size,
            Traffic::Bulk | Traffic::Session => 1.0,
        };
        // The number of arrivals during the run is not known.
        let count = if class.arrivals.is_some() { 1.0 } else { f64::from(class.count) };
        packets += count * often;
        bytes += count * often * size;
    }
    bytes / packets
}

impl Flows {
    /// True for bulk flows present from their starts, for which a law can be designed.
    pub fn is_long_lived(&self) -> bool {
        self.app.is_greedy() && self.arrivals.is_none()
    }

    /// The traffic of its application.
    pub fn traffic(&self) -> Traffic {
        self.app.traffic(self.segment)
    }
}

/// Most parts of a class by round trips.
const MOST_PARTS: u32 = 8;
