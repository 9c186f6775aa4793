//! A run of a scenario in the live plant.

use crate::carried;
use crate::clock::Clock;
use crate::device::{Device, Kind};
use crate::endpoints::{End, Endpoints, Plan, Reports};
use crate::namespace::{self, Namespaces, Refused, Settings};
use crate::network::{Flow, Network};
use crate::plant::Live;
use crate::relay::{Relay, Traffic};
use crate::scheduling::{self, Class};
use crate::trust::Trust;
use sojourn_aqm::{FlowTag, Limit};
use sojourn_measure::{Outcome, WindowRow};
use sojourn_scenario::Scenario;
use sojourn_sim::Observed;
use sojourn_sim::network::{ClassPlan, FlowPlan, Hop, Joining, LinkPlan};
use sojourn_sim::topology::{self, CustomQdisc};
use sojourn_trace::{QdiscHeader, QdiscLog};
use sojourn_units::{Bytes, Span, Time};
use std::io::{self, Write};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

/// Number of the first host that is a user's own: of senders, and twice that of receivers.
const HOSTS: u32 = 1 << 30;

/// Reason that a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The machine does not allow it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A packet or a socket failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The endpoints have ended without an error.
    #[error("the endpoints ended before the run did")]
    Ended,
}

/// A run of a scenario, advanced in steps.
pub struct Run {
    observed: Observed<Live>,
    /// Its end, which the endpoints read.
    end: End,
    planned: Time,
    /// Its end, where it was ended early.
    ended: Option<Time>,
    endpoints: Option<JoinHandle<io::Result<Namespaces>>>,
    /// Those of the endpoints, which have ended.
    namespaces: Option<Namespaces>,
    class: Class,
    load_before: Option<f64>,
    packet_time: Span,
}

/// Findings beside the outcome.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets with congestion experienced that the receiver's kernel counted.
    pub ce_received: u64,
    /// Checksums that a kernel found wrong.
    pub checksum_errors: u64,
    /// Packets that the devices dropped.
    pub device_drops: u64,
}

impl Counters {
    /// Counters of the kernel and its devices; this thread is in the receivers' namespace afterwards.
    pub(crate) fn read(namespaces: &mut Namespaces) -> io::Result<Counters> {
        let mut sum = Counters::default();
        let v4 = |table, name| namespace::counter(table, name).unwrap_or(0);
        let v6 = |name| namespace::counter_v6(name).unwrap_or(0);
        for place in [0, 1] {
            namespaces.enter(place)?;
            let interface = namespaces.device().interface();
            sum.device_drops += namespace::device_drops(interface).unwrap_or(0);
            // TCP counts both versions of IP as one.
            let tables = ["IpExt", "Tcp", "Udp", "Icmp"].map(|table| v4(table, "InCsumErrors"));
            sum.checksum_errors += tables.iter().sum::<u64>();
            sum.checksum_errors += v6("Udp6InCsumErrors") + v6("Icmp6InCsumErrors");
            sum.ce_received = v4("IpExt", "InCEPkts") + v6("Ip6InCEPkts");
        }
        Ok(sum)
    }
}

impl Run {
    /// The run with custom qdiscs, if any, at its start; the scenario has no [errors](crate::errors). The calls of the
    /// first qdisc are written to `log`, if there is one.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        own: Vec<CustomQdisc>,
        log: Option<Box<dyn Write + Send>>,
    ) -> Result<Run, Failed> {
        let is_custom = !own.is_empty();
        let mut plan = topology::network_under(scenario, seed, own);
        let (present, watch) = (plan.flows.len(), sojourn_sim::watchlist(scenario, &plan));
        let mut flows = std::mem::take(&mut plan.flows);
        for (class, of) in plan.classes.iter().enumerate() {
            add_joining(&mut plan.links, &mut flows, class as u32, of);
        }
        let ways = tagged(&plan.links, &plan.classes, &flows);
        let classes: Vec<u32> = flows.iter().map(|flow| flow.class).collect();
        let settings = Settings {
            ecn: carried::has_ecn(scenario),
            mtu: carried::mtu(scenario),
            v6: false,
            device: Kind::demanded(),
        };
        let end = End::new(Time::ZERO + scenario.duration);
        let endpoints = Plan {
            transport: scenario.flows.iter().map(carried::transport).collect(),
            dscp: plan.classes.iter().map(|class| class.dscp).collect(),
            classes: plan
                .classes
                .iter()
                .map(|class| {
                    (class.churn.clone(), class.joining.as_ref().map(|joining| joining.source.app()))
                })
                .collect(),
            flows,
            present,
            seed,
            end: end.clone(),
        };
        let load_before = scheduling::load();
        let started = Started::new(endpoints, settings)?;
        let packet_time = shortest_packet(scenario);
        let header = log.map(|out| (out, header(scenario, seed, &ways)));
        let class = scheduling::prefer();
        let Started { endpoints, devices, reports, go } = started;
        let (links, changes) = (std::mem::take(&mut plan.links), std::mem::take(&mut plan.changes));
        let observed = Observed::new(scenario, watch, is_custom, |mut recorder| {
            // The flows of the start are known to it.
            for (number, class) in classes.iter().enumerate().skip(present) {
                sojourn_measure::Probe::joined(&mut recorder, number as u32, *class);
            }
            let mut network = Network::new(links, ways, changes, recorder);
            if let Some((out, (link, header))) = header {
                network.record(link, QdiscLog::new(out, header));
            }
            // Last of all: packets do not wait for what is made here.
            let clock = Clock::start();
            // Endpoints that have failed are found at the first turn.
            let _goes = go.send(clock).is_ok();
            Live::new(Relay::new(network, devices, clock), classes, reports)
        });
        let endpoints = Some(endpoints);
        let planned = Time::ZERO + scenario.duration;
        Ok(Run {
            observed,
            end,
            planned,
            ended: None,
            endpoints,
            namespaces: None,
            class,
            load_before,
            packet_time,
        })
    }

    /// Ends the run a second from now, or as planned if that is earlier; what has been measured by then is its outcome.
    /// Returns false where nothing would have been.
    pub fn end_early(&mut self) -> bool {
        if self.ended.is_none() {
            self.ended = self.observed.end_early();
        }
        if let Some(end) = self.ended {
            self.end.set(end);
        }
        self.ended.is_some()
    }

    /// The end of a run that has ended early.
    pub fn ended_early(&self) -> Option<Time> {
        self.ended.filter(|end| *end < self.planned)
    }

    /// Share of the time that is done.
    pub fn progress(&self) -> f64 {
        self.observed.progress()
    }

    /// Advances for some milliseconds; returns whether there is more.
    pub fn advance(&mut self) -> Result<bool, Failed> {
        let more = self.observed.advance_some(u64::MAX);
        if let Some(error) = self.observed.plant_mut().failure() {
            return Err(error.into());
        }
        if self.is_over() {
            self.join()?;
        }
        Ok(more)
    }

    /// The outcome, the metrics of windows, the trust in them, and what kernels and devices counted.
    pub fn finish(mut self) -> Result<(Outcome, Vec<WindowRow>, Trust, Traffic, Counters), Failed> {
        scheduling::restore(self.class);
        self.join()?;
        // When the last packet is written; in a thread of its own: this one stays where it is.
        let mut namespaces = self.namespaces.take().ok_or(Failed::Ended)?;
        let counted = thread::spawn(move || Counters::read(&mut namespaces));
        let mut counters = counted.join().map_err(|_| Failed::Ended)??;
        counters.device_drops += self.observed.plant_mut().relay_mut().drops()?;
        let log = self.observed.plant_mut().network().take_trace();
        let live = self.observed.plant();
        let traffic = live.traffic();
        let trust = Trust {
            behind: live.relay().behind(),
            lateness: live.relay().lateness().clone(),
            packet_time: self.packet_time,
            device_drops: counters.device_drops,
            device: live.relay().device(),
            class: self.class,
            load: [self.load_before, scheduling::load()],
        };
        log.map_or(Ok(()), QdiscLog::finish)?;
        let (outcome, windows, _) = self.observed.finish();
        Ok((outcome, windows, trust, traffic, counters))
    }

    fn is_over(&self) -> bool {
        self.endpoints.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the endpoints.
    fn join(&mut self) -> Result<(), Failed> {
        let Some(endpoints) = self.endpoints.take() else { return Ok(()) };
        self.namespaces = Some(endpoints.join().map_err(|_| Failed::Ended)??);
        Ok(())
    }
}

/// The endpoints in their thread, ready to start.
struct Started {
    endpoints: JoinHandle<io::Result<Namespaces>>,
    devices: [Device; 2],
    reports: Reports,
    go: std::sync::mpsc::Sender<Clock>,
}

impl Started {
    fn new(plan: Plan, settings: Settings) -> Result<Started, Failed> {
        let reports = Reports::default();
        let reporting = reports.clone();
        let (ready, is_ready) = channel::<Result<[Device; 2], Failed>>();
        let (go, goes) = channel::<Clock>();
        let endpoints = thread::spawn(move || {
            let made = Namespaces::make(settings);
            let (namespaces, devices) = match made {
                Ok(made) => made,
                Err(refused) => {
                    let _known = ready.send(Err(refused.into())).is_ok();
                    return Err(io::Error::other("refused"));
                }
            };
            let endpoints = match Endpoints::new(plan, namespaces, reporting) {
                Ok(endpoints) => endpoints,
                Err(error) => {
                    let _known = ready.send(Err(error.into())).is_ok();
                    return Err(io::Error::other("refused"));
                }
            };
            let _awaited = ready.send(Ok(devices)).is_ok();
            let clock = goes.recv().map_err(io::Error::other)?;
            endpoints.run(clock)
        });
        let devices = is_ready.recv().map_err(|_| Failed::Ended)??;
        Ok(Started { endpoints, devices, reports, go })
    }
}

/// Adds the flows of users that may join, with their own links.
fn add_joining(links: &mut Vec<LinkPlan>, flows: &mut Vec<FlowPlan>, class: u32, of: &ClassPlan) {
    let ClassPlan { churn, joining: Some(Joining { source, forward, reverse }), .. } = of else { return };
    let present = if churn.arrivals.is_some() { 0 } else { churn.most };
    let most = churn.counts.iter().map(|(_, count)| *count).fold(churn.most, u32::max);
    for user in present..most {
        let [forward, reverse] = [forward, reverse].map(|hops| {
            let mut route = Vec::with_capacity(hops.len());
            for hop in hops {
                route.push(match hop {
                    Hop::Link(number) => *number,
                    Hop::Own(rate, delay) => {
                        links.push(LinkPlan::plain(*rate, delay.at(user, most)));
                        links.len() as u32 - 1
                    }
                });
            }
            route
        });
        for _ in 0..source.app().connections() {
            flows.push(FlowPlan {
                class,
                user,
                source: source.clone(),
                forward: forward.clone(),
                reverse: reverse.clone(),
                start: Time::ZERO,
                stop: churn.stop,
            });
        }
    }
}

/// The flows as the network has them.
fn tagged(links: &[LinkPlan], classes: &[ClassPlan], flows: &[FlowPlan]) -> Vec<Flow> {
    let delay = |route: &[u32]| route.iter().fold(Span::ZERO, |sum, link| sum + links[*link as usize].delay);
    let mut first = (u32::MAX, 0, 0);
    let flow = |(number, flow): (usize, &FlowPlan)| {
        if (flow.class, flow.user) != (first.0, first.1) {
            first = (flow.class, flow.user, number as u32);
        }
        let ClassPlan { hosts, dscp, .. } = &classes[flow.class as usize];
        let own = [HOSTS, 2 * HOSTS].map(|own| own | first.2);
        let tag = FlowTag {
            class: flow.class,
            from_host: hosts[0].unwrap_or(own[0]),
            to_host: hosts[1].unwrap_or(own[1]),
            dscp: *dscp,
            base_rtt: Some(delay(&flow.forward) + delay(&flow.reverse)),
        };
        Flow { tag, routes: [flow.forward.clone(), flow.reverse.clone()] }
    };
    flows.iter().enumerate().map(flow).collect()
}

/// Time of the mean packet at the fastest link that has a qdisc.
pub(crate) fn shortest_packet(scenario: &Scenario) -> Span {
    let contexts = scenario.contexts();
    let time = |link: usize| contexts[link].rate.time_for(Bytes::new(contexts[link].packet as u64));
    scenario.topology.managed().map(time).min().unwrap_or_default()
}

/// The first line of the trace of the first qdisc that may be replaced, and its link.
fn header<'a>(scenario: &'a Scenario, seed: u64, flows: &[Flow]) -> (u32, QdiscHeader<'a>) {
    let number = scenario.topology.replaceable().next().unwrap_or_default();
    let link = &scenario.topology.links[number];
    let limit_bytes = match link.buffer {
        Some(Limit::Bytes(bytes)) => Some(bytes),
        _ => None,
    };
    let name = |flow: &Flow| scenario.flows[flow.tag.class as usize].name.as_str();
    let header = QdiscHeader {
        qdisc: link.qdisc.as_ref().map_or(String::new(), ToString::to_string),
        about: format!("{}: the kernel's packets at {}, live", scenario.title, link.name),
        context: scenario.context(number),
        limit_bytes,
        draws: (seed, format!("{}/disc", link.name)),
        flows: flows.iter().map(|flow| (name(flow), flow.tag)).collect(),
    };
    (number as u32, header)
}
