//! The links of a scenario between two namespaces for programs of the user, which bring their own traffic.
//!
//! A flow is the packets of one protocol between two ports with one DSCP. It takes the way of the
//! scenario's first class, from its first packet on.

use crate::carried;
use crate::clock::Clock;
use crate::device::{Device, Kind};
use crate::ip;
use crate::lateness::Lateness;
use crate::namespace::{Namespaces, Settings};
use crate::network::{Flow, Network, Way};
use crate::relay::{Relay, Traffic};
use crate::run::{Counters, Failed};
use crate::scheduling::{self, Class};
use crate::trust::Trust;
use sojourn_aqm::{Counts, FlowTag};
use sojourn_measure::{Probe, Queued};
use sojourn_scenario::Scenario;
use sojourn_sim::topology::{self, CustomQdisc};
use sojourn_units::{Span, Time};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// Most flows with a number of their own; later ones share the last.
const MOST_FLOWS: usize = 65_536;
/// The longest sleep: an end is noticed after it.
const TURN: Span = Span::from_millis(20);

/// Namespaces with a network between them, while it is open.
pub struct Shell {
    namespaces: Namespaces,
    closing: Arc<AtomicBool>,
    turns: Arc<AtomicU64>,
    relay: JoinHandle<io::Result<Relayed>>,
    packet_time: Span,
    load_before: Option<f64>,
}

/// Counts and mean sojourn of a qdisc.
#[derive(Clone, Debug)]
pub struct AtLink {
    /// Name of its link.
    pub link: String,
    /// The qdisc.
    pub qdisc: String,
    /// Its counts.
    pub counts: Counts,
    /// Mean sojourn of the packets delivered; None: there were none.
    pub sojourn: Option<Span>,
}

/// Findings of the relay's thread.
struct Relayed {
    links: Vec<AtLink>,
    traffic: Traffic,
    lateness: Lateness,
    behind: Span,
    drops: u64,
    class: Class,
}

impl Shell {
    /// Opens the links of a scenario without errors; the time of its schedule begins now. `own` are qdiscs for the
    /// links whose qdisc may be replaced.
    pub fn open(scenario: &Scenario, seed: u64, own: Vec<CustomQdisc>) -> Result<Shell, Failed> {
        let packet_time = crate::run::shortest_packet(scenario);
        let settings = Settings {
            ecn: carried::has_ecn(scenario),
            mtu: carried::mtu(scenario),
            v6: true,
            device: Kind::demanded(),
        };
        let load_before = scheduling::load();
        let closing = Arc::new(AtomicBool::new(false));
        let turns = Arc::new(AtomicU64::new(0));
        let (scenario, is_closing, done) = (scenario.clone(), Arc::clone(&closing), Arc::clone(&turns));
        let (ready, is_ready) = channel();
        let relay =
            thread::spawn(move || relay((&scenario, seed, own), settings, (&is_closing, &done), &ready));
        let namespaces = is_ready.recv().map_err(|_| Failed::Ended)??;
        Ok(Shell { namespaces, closing, turns, relay, packet_time, load_before })
    }

    /// Moves this thread into the senders' namespace (0) or the receivers' (1); programs that it starts are there, too.
    pub fn enter(&mut self, place: usize) -> io::Result<()> {
        self.namespaces.enter(place)
    }

    /// Rounds of the relay, so far: some a second, unless a qdisc does not return.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// There are addresses of IPv6.
    pub fn has_v6(&self) -> bool {
        self.namespaces.has_v6()
    }

    /// Closes it: counts of the qdiscs, the packets at the devices, the trust in them, and what kernels and devices
    /// counted.
    pub fn close(mut self) -> Result<(Vec<AtLink>, Traffic, Trust, Counters), Failed> {
        self.closing.store(true, Ordering::Relaxed);
        let relayed = self.relay.join().map_err(|_| Failed::Ended)??;
        let mut counters = Counters::read(&mut self.namespaces)?;
        counters.device_drops += relayed.drops;
        let trust = Trust {
            behind: relayed.behind,
            lateness: relayed.lateness,
            packet_time: self.packet_time,
            device_drops: counters.device_drops,
            device: self.namespaces.device(),
            class: relayed.class,
            load: [self.load_before, scheduling::load()],
        };
        Ok((relayed.links, relayed.traffic, trust, counters))
    }
}

/// Makes the namespaces, and passes packets until it is closed.
fn relay(
    (scenario, seed, own): (&Scenario, u64, Vec<CustomQdisc>),
    settings: Settings,
    (closing, turns): (&AtomicBool, &AtomicU64),
    ready: &Sender<Result<Namespaces, Failed>>,
) -> io::Result<Relayed> {
    let (namespaces, devices) = match Namespaces::make(settings) {
        Ok(made) => made,
        Err(refused) => {
            let _known = ready.send(Err(refused.into())).is_ok();
            return Err(io::Error::other("refused"));
        }
    };
    let class = scheduling::prefer();
    let mut open = Open::new((scenario, seed, own), devices);
    let _awaited = ready.send(Ok(namespaces)).is_ok();
    while !closing.load(Ordering::Relaxed) {
        open.turn()?;
        turns.fetch_add(1, Ordering::Relaxed);
    }
    open.relay.network().assert_conservation();
    Ok(Relayed {
        links: open.links(scenario),
        traffic: open.relay.traffic(),
        lateness: open.relay.lateness().clone(),
        behind: open.relay.behind(),
        drops: open.relay.drops()?,
        class,
    })
}

/// A relay whose flows are found as their packets come.
struct Open {
    relay: Relay<Sojourns>,
    flows: BTreeMap<(ip::Talk, u8), u32>,
    first: Flow,
}

impl Open {
    fn new((scenario, seed, own): (&Scenario, u64, Vec<CustomQdisc>), devices: [Device; 2]) -> Open {
        let plan = topology::network_under(scenario, seed, own);
        let routes = plan
            .flows
            .first()
            .map_or_else(Default::default, |flow| [flow.forward.clone(), flow.reverse.clone()]);
        let way = routes.iter().flatten();
        let base_rtt = way.fold(Span::ZERO, |sum, link| sum + plan.links[*link as usize].delay);
        let tag = FlowTag { class: 0, from_host: 1, to_host: 2, dscp: 0, base_rtt: Some(base_rtt) };
        let sojourns = Sojourns(vec![(Span::ZERO, 0); plan.links.len()]);
        let network = Network::new(plan.links, Vec::new(), plan.changes, sojourns);
        Open {
            relay: Relay::new(network, devices, Clock::start()),
            flows: BTreeMap::new(),
            first: Flow { tag, routes },
        }
    }

    fn turn(&mut self) -> io::Result<()> {
        let stop = self.relay.now() + TURN;
        let Open { relay, flows, first } = self;
        relay.read(stop, |network, way, packet| {
            let key = (ip::talk(packet, way == Way::Forward)?, ip::dscp(packet));
            if flows.len() >= MOST_FLOWS {
                return Some(flows.get(&key).copied().unwrap_or(MOST_FLOWS as u32 - 1));
            }
            Some(*flows.entry(key).or_insert_with(|| {
                let tag = FlowTag { dscp: key.1, ..first.tag };
                network.join(Flow { tag, routes: first.routes.clone() })
            }))
        })?;
        relay.pass(stop)?;
        relay.sleep(stop)
    }

    fn links(&mut self, scenario: &Scenario) -> Vec<AtLink> {
        let sojourns = self.relay.network_mut().probe().0.clone();
        let at = |number: usize| {
            let link = &scenario.topology.links[number];
            let qdisc = self.relay.network().qdisc(number as u32)?;
            let (sum, packets) = sojourns[number];
            Some(AtLink {
                link: link.name.clone(),
                qdisc: link.qdisc.as_ref().map_or_else(String::new, ToString::to_string),
                counts: qdisc.counts(),
                sojourn: (packets > 0).then(|| Span::from_nanos(sum.nanos() / packets)),
            })
        };
        scenario.topology.managed().filter_map(at).collect()
    }
}

/// Sum of the sojourns of the packets that each link delivered, and their number.
struct Sojourns(Vec<(Span, u64)>);

impl Probe for Sojourns {
    const NEEDS_BACKLOG: bool = false;

    fn delivered(&mut self, _now: Time, link: u32, _packet: Queued, sojourn: Span) {
        let (sum, packets) = &mut self.0[link as usize];
        (*sum, *packets) = (*sum + sojourn, *packets + 1);
    }
}
