//! The live plant: reads packets of two TUN devices, passes them through the network, and writes those that leave.

use crate::clock::Clock;
use crate::endpoints::{Report, Reports, flow_of};
use crate::ip;
use crate::lateness::Lateness;
use crate::namespace::Tun;
use crate::network::{Left, Network, Way};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use sojourn_aqm::Qdisc;
use sojourn_measure::Recorder;
use sojourn_sim::{Packet, Plant};
use sojourn_units::{Ecn, Span, Time};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Packets read from one device before the others are looked at.
const TOGETHER: usize = 64;
/// The largest packet, bytes.
const LARGEST: usize = 65_536;
/// The longest turn: the caller acts in between.
const TURN: Span = Span::from_millis(20);

/// Packets at the devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Read from the sender's device, and from the receiver's.
    pub read: [u64; 2],
    /// Written to the receiver's device, and to the sender's.
    pub written: [u64; 2],
    /// Written to the receiver's device with congestion experienced.
    pub marked: u64,
    /// Read, and of no flow: not forwarded.
    pub foreign: u64,
}

/// The plant while it runs.
pub struct Live {
    network: Network<Recorder>,
    /// The class of each flow.
    classes: Vec<u32>,
    devices: [Tun; 2],
    clock: Clock,
    now: Time,
    reports: Reports,
    /// Those that were taken.
    taken: Vec<Report>,
    traffic: Traffic,
    lateness: Lateness,
    left: Vec<Left>,
    buffer: Vec<u8>,
    failure: Option<io::Error>,
}

impl Live {
    /// A plant at the start of the clock; `classes` has the class of each flow.
    pub fn new(
        network: Network<Recorder>,
        classes: Vec<u32>,
        devices: [Tun; 2],
        reports: Reports,
        clock: Clock,
    ) -> Live {
        Live {
            network,
            classes,
            devices,
            clock,
            now: Time::ZERO,
            reports,
            taken: Vec::new(),
            traffic: Traffic::default(),
            lateness: Lateness::default(),
            left: Vec::new(),
            buffer: vec![0; LARGEST],
            failure: None,
        }
    }

    /// Packets at the devices, so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Lateness of the packets written, so far.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The network.
    pub fn network(&mut self) -> &mut Network<Recorder> {
        &mut self.network
    }

    /// The error that stopped it.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// One round: reads, advances to the present, at most to `stop`, writes, and sleeps until there is more to do.
    fn turn(&mut self, stop: Time) -> io::Result<()> {
        for (end, way) in [(0, Way::Forward), (1, Way::Back)] {
            for _ in 0..TOGETHER {
                let Some(length) = self.devices[end].read(&mut self.buffer)? else { break };
                let at = self.clock.now();
                self.traffic.read[end] += 1;
                self.network.advance(at.min(stop), &mut self.left);
                let packet = &self.buffer[..length];
                match ip::ports(packet).and_then(|ports| flow_of(ports, self.classes.len())) {
                    Some(flow) => self.network.arrive(at, way, flow, packet),
                    None => self.traffic.foreign += 1,
                }
            }
        }
        self.listen();
        self.network.advance(self.clock.now().min(stop), &mut self.left);
        self.write()?;
        let next = self.network.next_event().unwrap_or(stop).min(stop);
        wait(self.devices.each_ref(), next, self.clock)
    }

    /// Passes the reports of the endpoints on.
    fn listen(&mut self) {
        self.reports.take(&mut self.taken);
        for report in self.taken.drain(..) {
            match report {
                Report::Smoothed(flow, rtt) => self.network.smoothed(flow, rtt),
                _ => report.pass(self.network.probe(), |flow| self.classes[flow as usize]),
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        for Left { at, way, bytes, .. } in self.left.drain(..) {
            let to = usize::from(way == Way::Forward);
            self.devices[to].write(&bytes)?;
            self.lateness.add(self.clock.now().since(at));
            self.traffic.written[1 - to] += 1;
            self.traffic.marked += u64::from(to == 1 && ip::ecn(&bytes) == Ecn::Ce);
        }
        Ok(())
    }
}

impl Plant for Live {
    fn now(&self) -> Time {
        self.now
    }

    fn advance_some(&mut self, stop: Time, _most: u64) -> bool {
        let pause = self.clock.now() + TURN;
        while self.clock.now() < stop {
            if self.failure.is_some() || self.clock.now() >= pause {
                return false;
            }
            if let Err(error) = self.turn(stop) {
                self.failure = Some(error);
                return false;
            }
        }
        self.listen();
        self.network.advance(stop, &mut self.left);
        if let Err(error) = self.write() {
            self.failure = Some(error);
        }
        self.now = stop;
        true
    }

    fn recorder(&mut self) -> &mut Recorder {
        self.network.probe()
    }

    fn qdisc(&self, link: u32) -> Option<&dyn Qdisc<Packet>> {
        self.network.qdisc(link)
    }

    fn bits(&self, link: u32) -> Option<(f64, f64)> {
        self.network.bits(link, self.now)
    }

    fn finish(&mut self, _end: Time) {
        self.network.assert_conservation();
    }

    fn work(&self) -> u64 {
        self.network.work()
    }
}

/// Sleeps until a packet comes, or until `until`.
fn wait(devices: [&Tun; 2], until: Time, clock: Clock) -> io::Result<()> {
    let mut polled = devices.map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
    let left = Duration::from_nanos(until.since(clock.now()).nanos());
    match ppoll(&mut polled, Some(TimeSpec::from(left)), None) {
        Ok(_) | Err(nix::Error::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
