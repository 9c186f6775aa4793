//! Devices through which the kernel's packets come to this process, and go back.
//!
//! TUN is the first choice. Where the machine has none for us, a veth pair takes its place, whose far end is read and
//! written through a socket of AF_PACKET. Either way each packet is as it would be on a cable: of the MTU at the most,
//! with whole checksums.

mod packet;
mod ring;
mod tun;

pub(crate) use packet::FarEnd;
pub use packet::Packet;
pub use tun::Tun;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A TUN device.
    Tun,
    /// A veth pair with a socket of AF_PACKET.
    Packet,
}

impl Kind {
    /// The kind that `SOJOURN_LIVE_DEVICE` demands; None: none.
    pub fn demanded() -> Option<Kind> {
        let name = std::env::var("SOJOURN_LIVE_DEVICE").ok()?;
        [Kind::Tun, Kind::Packet].into_iter().find(|kind| kind.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Tun => "tun",
            Kind::Packet => "packet",
        }
    }

    /// Name of the device in the namespace of its end.
    pub fn interface(self) -> &'static str {
        match self {
            Kind::Tun => tun::INTERFACE,
            Kind::Packet => packet::INTERFACE,
        }
    }
}

/// A device of a private namespace.
#[derive(Debug)]
pub enum Device {
    /// A TUN device.
    Tun(Tun),
    /// A veth pair.
    Packet(Packet),
}

impl Device {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Device::Tun(_) => Kind::Tun,
            Device::Packet(_) => Kind::Packet,
        }
    }

    /// Reads a packet; None: there is none now.
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Device::Tun(tun) => tun.read(into),
            Device::Packet(packet) => Ok(packet.read(into)),
        }
    }

    /// Writes a packet.
    pub fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        match self {
            Device::Tun(tun) => tun.write(packet),
            Device::Packet(socket) => socket.write(packet),
        }
    }

    /// Packets dropped here so far, beside those that the device in the namespace counts.
    pub fn drops(&mut self) -> io::Result<u64> {
        match self {
            Device::Tun(_) => Ok(0),
            Device::Packet(packet) => packet.drops(),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Device::Tun(tun) => tun.as_fd(),
            Device::Packet(packet) => packet.as_fd(),
        }
    }
}
