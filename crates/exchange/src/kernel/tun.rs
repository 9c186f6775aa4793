//! A TUN device: what the kernel sends comes out here, what is put in the kernel receives.

use super::namespace::HERE;
use super::sys;
use super::wire::Packet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// The link of an exchange.
#[derive(Debug)]
pub(super) struct Tun {
    device: File,
    /// Where packets are read to.
    bytes: Vec<u8>,
}

/// Its name, in a network where nothing else has one.
pub(super) const NAME: &str = "tun0";

impl Tun {
    /// A link for packets of `mtu` bytes in this thread's network.
    pub(super) fn open(mtu: u32) -> io::Result<Tun> {
        let device =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        sys::attach_tun(&device, NAME)?;
        sys::bring_up(NAME, HERE, Ipv4Addr::new(255, 255, 255, 0), mtu as i32)?;
        Ok(Tun { device, bytes: vec![0; MOST] })
    }

    pub(super) fn put(&mut self, packet: &Packet) -> io::Result<()> {
        self.device.write_all(&packet.bytes())
    }

    /// The next TCP segment that the kernel sends, if one comes in time.
    pub(super) fn take(&mut self, patience: Duration) -> io::Result<Option<Packet>> {
        if !sys::readable(self.device.as_fd(), patience)? {
            return Ok(None);
        }
        match self.device.read(&mut self.bytes) {
            Ok(len) => Ok(Packet::parse(&self.bytes[..len])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// More than any packet has here, bytes.
const MOST: usize = 1 << 16;
