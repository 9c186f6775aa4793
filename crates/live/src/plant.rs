//! The loop between two TUN devices: reads packets, passes them through the bottleneck, and writes those that leave.

use crate::bottleneck::{Bottleneck, Left, Packet, Way};
use crate::clock::Clock;
use crate::lateness::Lateness;
use crate::namespace::Tun;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use sojourn_measure::Probe;
use sojourn_units::Time;
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
    /// Read from the client's device, and from the server's.
    pub read: [u64; 2],
    /// Written to the server's device, and to the client's.
    pub written: [u64; 2],
    /// Read, and of no flow: not forwarded.
    pub foreign: u64,
}

/// Moves packets until `end`, then returns what it counted. `flow_of` gives the number of a packet's flow.
pub fn run<P: Probe>(
    network: &mut Bottleneck<P>,
    ends: [&Tun; 2],
    flow_of: impl Fn(&[u8], Way) -> Option<u32>,
    (clock, end): (Clock, Time),
) -> io::Result<(Traffic, Lateness)> {
    let (mut traffic, mut lateness) = (Traffic::default(), Lateness::default());
    let mut buffer = vec![0; LARGEST];
    let mut left = Vec::new();
    loop {
        let now = clock.now();
        if now >= end {
            return Ok((traffic, lateness));
        }
        for (end, way) in [(0, Way::Forward), (1, Way::Back)] {
            for _ in 0..TOGETHER {
                let Some(length) = ends[end].read(&mut buffer)? else { break };
                let at = clock.now();
                traffic.read[end] += 1;
                network.advance(at, &mut left);
                match flow_of(&buffer[..length], way) {
                    Some(flow) => network.arrive(at, way, Packet::new(buffer[..length].to_vec(), flow)),
                    None => traffic.foreign += 1,
                }
            }
        }
        network.advance(clock.now(), &mut left);
        for Left { at, way, packet } in left.drain(..) {
            let to = usize::from(way == Way::Forward);
            ends[to].write(&packet.bytes)?;
            lateness.add(clock.now().since(at));
            traffic.written[1 - to] += 1;
        }
        wait(ends, network.next_event().unwrap_or(end).min(end), clock)?;
    }
}

/// Sleeps until a packet comes, or until `until`.
fn wait(ends: [&Tun; 2], until: Time, clock: Clock) -> io::Result<()> {
    let mut polled = ends.map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
    let left = Duration::from_nanos(until.since(clock.now()).nanos());
    match ppoll(&mut polled, Some(TimeSpec::from(left)), None) {
        Ok(_) | Err(nix::Error::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
