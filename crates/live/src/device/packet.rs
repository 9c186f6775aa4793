//! A veth pair whose far end is read and written through a socket of AF_PACKET.
//!
//! The far end has a private namespace of its own, in which there is nothing else. The near end neither resolves addresses
//! nor leaves checksums and segments to a device that has no hardware for them: frames go to its own address, which the
//! far end's kernel takes for another host's and ignores.

use super::ring::Ring;
use crate::namespace::{self, Refused, refused};
use crate::netlink::{Netlink, VethEnd};
use nix::libc;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, setsockopt, socket, sockopt};
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Name of the near end.
pub(super) const INTERFACE: &str = "veth0";
const NEAR: VethEnd<'_> = VethEnd { name: INTERFACE, index: INDEX, mac: [2, 0, 0, 0, 0, 1] };
const FAR: VethEnd<'_> = VethEnd { name: "relay0", index: INDEX, mac: [2, 0, 0, 0, 0, 2] };
/// Number of the device of each end, in its namespace: a new one has those of tunnels from 2 on where their modules are
/// loaded.
const INDEX: u32 = 1000;
/// Bytes of packets that are on their way to the near end.
const SENDING: usize = 4 << 20;
/// The step that a machine without AF_PACKET refuses.
const SOCKET: &str = "an AF_PACKET socket";

sockopt_impl!(
    /// Packets that we write are not read back.
    IgnoreOutgoing,
    SetOnly,
    libc::SOL_PACKET,
    libc::PACKET_IGNORE_OUTGOING,
    bool
);
sockopt_impl!(
    /// Packets read, and dropped for want of a place, since the last question.
    Statistics,
    GetOnly,
    libc::SOL_PACKET,
    libc::PACKET_STATISTICS,
    libc::tpacket_stats
);

/// The far end of a pair to come.
pub(crate) struct FarEnd {
    socket: File,
    ring: Ring,
    netlink: Netlink,
    namespace: File,
    mtu: u32,
}

impl FarEnd {
    /// The far end in this thread's namespace.
    pub(crate) fn open(mtu: u32) -> Result<FarEnd, Refused> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        // Of no protocol, so that nothing is read before it is bound.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)
            .map(File::from)
            .map_err(refused(SOCKET))?;
        let ring = Ring::new(&socket, mtu).map_err(refused("the ring of an AF_PACKET socket"))?;
        setsockopt(&socket, IgnoreOutgoing, &true).map_err(refused(SOCKET))?;
        // Beyond net.core.wmem_max where we may.
        if setsockopt(&socket, sockopt::SndBufForce, &SENDING).is_err() {
            setsockopt(&socket, sockopt::SndBuf, &SENDING).map_err(refused(SOCKET))?;
        }
        Ok(FarEnd { socket, ring, netlink: Netlink::open()?, namespace: namespace::current()?, mtu })
    }

    /// Makes the near end in this thread's namespace, of which `near` is a socket.
    pub(crate) fn connect(self, near: &Netlink) -> Result<Packet, Refused> {
        let FarEnd { socket, ring, netlink, namespace, mtu } = self;
        near.veth([&NEAR, &FAR], namespace.as_fd(), mtu)?;
        offload_nothing(INTERFACE).map_err(refused("checksums without offload (SIOCETHTOOL)"))?;
        netlink.up(FAR.index, None, None)?;
        bind(&socket, FAR.index).map_err(refused(SOCKET))?;
        Ok(Packet { socket, ring, dropped: 0 })
    }
}

/// The far end of a veth pair.
#[derive(Debug)]
pub struct Packet {
    socket: File,
    ring: Ring,
    /// Packets that the kernel had no place for, read or written.
    dropped: u64,
}

impl Packet {
    pub(super) fn read(&mut self, into: &mut [u8]) -> Option<usize> {
        self.ring.read(into)
    }

    pub(super) fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        let protocol = match packet.first() {
            Some(first) if first >> 4 == 6 => libc::ETH_P_IPV6,
            _ => libc::ETH_P_IP,
        };
        let mut header = [0; 14];
        header[..6].copy_from_slice(&NEAR.mac);
        header[6..12].copy_from_slice(&FAR.mac);
        header[12..].copy_from_slice(&(protocol as u16).to_be_bytes());
        match self.socket.write_vectored(&[IoSlice::new(&header), IoSlice::new(packet)]) {
            // There is no room on the way; the near end's counters may have it, too.
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock
                    || error.raw_os_error() == Some(libc::ENOBUFS) =>
            {
                self.dropped += 1;
                Ok(())
            }
            written => written.map(|_| ()),
        }
    }

    pub(super) fn drops(&mut self) -> io::Result<u64> {
        self.dropped += u64::from(getsockopt(&self.socket, Statistics)?.tp_drops);
        Ok(self.dropped + self.ring.cut())
    }
}

impl AsFd for Packet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Binds a socket to all protocols of a device.
#[allow(unsafe_code, reason = "an address that no crate in use makes")]
fn bind(socket: &File, device: u32) -> io::Result<()> {
    // SAFETY: an address of zeros is a valid one.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = device as libc::c_int;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the socket is open, and the address of this length outlives the call.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    nix::errno::Errno::result(bound)?;
    Ok(())
}

nix::ioctl_readwrite_bad!(
    /// SIOCETHTOOL of linux/sockios.h.
    ethtool,
    libc::SIOCETHTOOL,
    libc::ifreq
);

/// Commands of linux/ethtool.h: checksums, segmentation of TCP, and of all protocols.
const OFFLOADS: [u32; 3] = [0x17, 0x1f, 0x24];

/// `struct ethtool_value`.
#[repr(C)]
struct Setting {
    command: u32,
    value: u32,
}

/// Has the kernel checksum and segment packets before a device of this thread's namespace has them.
#[allow(unsafe_code, reason = "an ioctl that no crate in use wraps")]
fn offload_nothing(device: &str) -> io::Result<()> {
    let any = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    for command in OFFLOADS {
        let mut setting = Setting { command, value: 0 };
        // SAFETY: a request of zeros is a valid one.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_data = (&raw mut setting).cast();
        // SAFETY: the socket is open; the request and the setting, which the kernel may write, outlive the call.
        unsafe { ethtool(any.as_raw_fd(), &raw mut request) }?;
    }
    Ok(())
}
