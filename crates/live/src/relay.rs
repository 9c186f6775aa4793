//! The relay: reads packets of two devices, passes them through the network, and writes those that leave.

use crate::clock::Clock;
use crate::device::{Device, Kind};
use crate::ip;
use crate::lateness::Lateness;
use crate::network::{Left, Network, Way};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use sojourn_measure::Probe;
use sojourn_units::{Ecn, Span, Time};
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// Packets read from one device before the others are looked at.
const TOGETHER: usize = 64;
/// The largest packet, bytes.
const LARGEST: usize = 65_536;

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

/// A network between the devices of both namespaces.
pub struct Relay<P> {
    network: Network<P>,
    devices: [Device; 2],
    clock: Clock,
    traffic: Traffic,
    lateness: Lateness,
    behind: Span,
    left: Vec<Left>,
    buffer: Vec<u8>,
}

impl<P: Probe> Relay<P> {
    /// A relay at the start of the clock.
    pub fn new(network: Network<P>, devices: [Device; 2], clock: Clock) -> Relay<P> {
        let (traffic, lateness) = (Traffic::default(), Lateness::default());
        let (left, buffer) = (Vec::new(), vec![0; LARGEST]);
        Relay { network, devices, clock, traffic, lateness, behind: Span::ZERO, left, buffer }
    }

    /// Time by its clock.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The network.
    pub fn network(&self) -> &Network<P> {
        &self.network
    }

    /// The network, to change.
    pub fn network_mut(&mut self) -> &mut Network<P> {
        &mut self.network
    }

    /// Packets at the devices, so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Kind of its devices.
    pub fn device(&self) -> Kind {
        self.devices[0].kind()
    }

    /// Packets dropped on this side of the devices, so far.
    pub fn drops(&mut self) -> io::Result<u64> {
        let mut drops = 0;
        for device in &mut self.devices {
            drops += device.drops()?;
        }
        Ok(drops)
    }

    /// Lateness of the packets written, so far.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The longest time by which the network was behind the clock, so far.
    pub fn behind(&self) -> Span {
        self.behind
    }

    /// Reads the packets that wait at the devices. `flow_of` finds the flow of one; None: it is not forwarded.
    pub fn read(
        &mut self,
        stop: Time,
        mut flow_of: impl FnMut(&mut Network<P>, Way, &[u8]) -> Option<u32>,
    ) -> io::Result<()> {
        for (end, way) in [(0, Way::Forward), (1, Way::Back)] {
            for _ in 0..TOGETHER {
                let Some(length) = self.devices[end].read(&mut self.buffer)? else { break };
                let at = self.clock.now();
                self.traffic.read[end] += 1;
                self.network.advance(at.min(stop), &mut self.left);
                let packet = &self.buffer[..length];
                match flow_of(&mut self.network, way, packet) {
                    Some(flow) => self.network.arrive(at, way, flow, packet),
                    None => self.traffic.foreign += 1,
                }
            }
        }
        Ok(())
    }

    /// Advances to the present, at most to `stop`, and writes what leaves.
    pub fn pass(&mut self, stop: Time) -> io::Result<()> {
        self.advance(self.clock.now().min(stop))
    }

    /// Advances to a time and writes what leaves.
    pub fn advance(&mut self, to: Time) -> io::Result<()> {
        self.network.advance(to, &mut self.left);
        self.behind = self.behind.max(self.clock.now().since(to));
        for Left { at, way, bytes, .. } in self.left.drain(..) {
            let to = usize::from(way == Way::Forward);
            self.devices[to].write(&bytes)?;
            self.lateness.add(self.clock.now().since(at));
            self.traffic.written[1 - to] += 1;
            self.traffic.marked += u64::from(to == 1 && ip::ecn(&bytes) == Ecn::Ce);
        }
        Ok(())
    }

    /// Sleeps until a packet comes or is to leave, at most until `stop`.
    pub fn sleep(&self, stop: Time) -> io::Result<()> {
        let until = self.network.next_event().unwrap_or(stop).min(stop);
        let mut polled = self.devices.each_ref().map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
        let left = Duration::from_nanos(until.since(self.clock.now()).nanos());
        match ppoll(&mut polled, Some(TimeSpec::from(left)), None) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
