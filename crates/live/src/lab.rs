//! A run: two namespaces, their flows, and the bottleneck between them.

use crate::bottleneck::{Bottleneck, Link, Way};
use crate::clock::Clock;
use crate::ip;
use crate::lateness::Lateness;
use crate::load::{self, Bulk};
use crate::namespace::{self, Addresses, Refused, Tun};
use crate::relay::{self, Traffic};
use sojourn_measure::Probe;
use sojourn_units::{Span, Time};
use std::io;
use std::net::Ipv4Addr;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// The addresses of both ends, in namespaces where nothing else is.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 90, 0, 2);
/// Time for which the relay and the receiver go on after the flows have ended: what is queued still arrives.
const LINGER: Span = Span::from_millis(300);

/// Flows and times of a run.
pub struct Plan {
    /// Its flows.
    pub flows: Vec<Bulk>,
    /// Delay of the access links of each flow, at each end.
    pub access: Vec<Span>,
    /// Flows ask for ECN.
    pub ecn: bool,
    /// Its duration.
    pub duration: Span,
    /// Bytes received before are counted apart.
    pub warmup: Span,
}

/// Findings of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Bytes that each flow's receiver took in before the warm-up's end, and after it.
    pub received: Vec<[u64; 2]>,
    /// Packets at the devices.
    pub traffic: Traffic,
    /// Lateness of the packets written.
    pub lateness: Lateness,
    /// Packets with congestion experienced that the server's kernel received.
    pub ce_received: u64,
    /// Errors of checksums at the server.
    pub checksum_errors: u64,
    /// Packets that the devices dropped: of a valid run none.
    pub device_drops: u64,
}

/// Reason that a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The machine does not allow it.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A packet or a flow failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Runs a plan through a link; the network, with its probe and its qdisc, is returned, too.
pub fn run<P: Probe + Send>(plan: &Plan, link: Link, probe: P) -> Result<(Outcome, Bottleneck<P>), Failed> {
    let mut network = Bottleneck::new(link, plan.access.clone(), probe);
    let flows = plan.flows.len();
    let end = Time::ZERO + plan.duration;
    thread::scope(|scope| {
        // Each end makes its namespace, gives its device away, and begins with the clock. A sender that is dropped
        // ends the wait for it, so that no end waits for one that has failed.
        let (tuns, made) = channel();
        let (go_client, client_goes) = channel::<Clock>();
        let (go_server, server_goes) = channel::<Clock>();
        let client_tuns = tuns.clone();
        let client = scope.spawn(move || -> Result<u64, Failed> {
            give(namespace::enter(Addresses { own: CLIENT, peer: SERVER }, plan.ecn)?, &client_tuns, 0);
            drop(client_tuns);
            let Ok(clock) = client_goes.recv() else { return Ok(0) };
            load::send(&plan.flows, SERVER, clock, end)?;
            Ok(namespace::device_drops().unwrap_or(0))
        });
        let server = scope.spawn(move || -> Result<Counted, Failed> {
            give(namespace::enter(Addresses { own: SERVER, peer: CLIENT }, plan.ecn)?, &tuns, 1);
            drop(tuns);
            let listeners = load::listen(SERVER, flows)?;
            let Ok(clock) = server_goes.recv() else { return Ok(Counted::default()) };
            let received = load::receive(&listeners, clock, Time::ZERO + plan.warmup, end + LINGER)?;
            Ok(Counted {
                received,
                ce: namespace::counter("IpExt", "InCEPkts").unwrap_or(0),
                checksums: namespace::counter("IpExt", "InCsumErrors").unwrap_or(0),
                drops: namespace::device_drops().unwrap_or(0),
            })
        });
        let mut ends: [Option<Tun>; 2] = [None, None];
        for (number, tun) in made.iter().take(2) {
            ends[number as usize] = Some(tun);
        }
        let relayed = if let [Some(from), Some(to)] = &ends {
            let clock = Clock::start();
            for go in [&go_server, &go_client] {
                // An end that has failed meanwhile does not begin; its failure is read below.
                let _begins = go.send(clock).is_ok();
            }
            let flow_of = |packet: &[u8], way| {
                let ports = ip::ports(packet)?;
                load::flow_of(ports, way == Way::Forward, flows)
            };
            Some(relay::run(&mut network, [from, to], flow_of, (clock, end + LINGER))?)
        } else {
            None
        };
        drop((go_client, go_server));
        let sent = client.join().expect("the client does not panic")?;
        let counted = server.join().expect("the server does not panic")?;
        let (traffic, lateness) = relayed.expect("both ends have their devices");
        let outcome = Outcome {
            received: counted.received,
            traffic,
            lateness,
            ce_received: counted.ce,
            checksum_errors: counted.checksums,
            device_drops: sent + counted.drops,
        };
        Ok((outcome, network))
    })
}

/// Counts of the server.
#[derive(Default)]
struct Counted {
    received: Vec<[u64; 2]>,
    ce: u64,
    checksums: u64,
    drops: u64,
}

/// Gives a device to the relay, which may have ended: then the device ends with its namespace.
fn give(tun: Tun, to: &Sender<(u8, Tun)>, number: u8) {
    let _taken = to.send((number, tun)).is_ok();
}
