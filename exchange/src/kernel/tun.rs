//! TUN device: packets that the kernel sends are read from it, packets written to it are received by the kernel.

use super::netlink;
use super::sys;
use super::wire::Packet;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// Link between the kernel and the script.
#[derive(Debug)]
pub(super) struct Tun {
    device: File,
    buffer: Vec<u8>,
}

impl Tun {
    /// Creates the link in this thread's network, for packets of `mtu` bytes.
    pub(super) fn open(mtu: u32) -> io::Result<Tun> {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(DEVICE)
            .map_err(|error| io::Error::new(error.kind(), format!("{DEVICE}: {error}")))?;
        sys::attach_tun(device.as_fd(), NAME)?;
        netlink::bring_up(NAME, mtu)?;
        Ok(Tun { device, buffer: vec![0; LARGEST_PACKET] })
    }

    pub(super) fn send(&mut self, packet: &Packet) -> io::Result<()> {
        self.device.write_all(&packet.encode()?)
    }

    /// Next TCP segment that the kernel sends, if there is one within `timeout`.
    pub(super) fn receive(&mut self, timeout: Duration) -> io::Result<Option<Packet>> {
        if !sys::readable(self.device.as_fd(), timeout)? {
            return Ok(None);
        }
        match self.device.read(&mut self.buffer) {
            Ok(len) => Ok(Packet::decode(&self.buffer[..len])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

const DEVICE: &str = "/dev/net/tun";
/// Name of the interface, in a network without others.
pub(super) const NAME: &str = "tun0";
/// Bytes.
const LARGEST_PACKET: usize = 1 << 16;
