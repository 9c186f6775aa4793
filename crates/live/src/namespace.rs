//! Private network namespaces, each with a TUN device.
//!
//! A namespace belongs to the process that made it and to nothing else: it has no name and no file. When the process
//! ends, however it does, the namespaces and their devices end with it. Nothing outside of them is opened or changed.

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;

/// The device of each namespace.
const DEVICE: &str = "tun0";
/// Packets that the device holds for us: with the usual 500 it drops some in silence.
const QUEUE: u32 = 5000;

/// Failure to make a namespace, with what the machine refused.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct Refused {
    /// The step.
    pub what: &'static str,
    /// The reason.
    pub source: io::Error,
}

fn refused<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Refused {
    move |source| Refused { what, source: source.into() }
}

/// Addresses of the sender's namespace and the receiver's, in which nothing else is.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 90, 0, 1), Ipv4Addr::new(10, 90, 0, 2)];

/// Settings of the kernel's stacks in both namespaces.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Connections ask for ECN (`net.ipv4.tcp_ecn`).
    pub ecn: bool,
    /// The largest packet, bytes.
    pub mtu: u32,
}

/// The namespaces of both ends.
#[derive(Debug)]
pub struct Namespaces {
    files: [File; 2],
}

impl Namespaces {
    /// Makes both, each with its device; this thread is in the second one afterwards.
    pub fn make(settings: Settings) -> Result<(Namespaces, [Tun; 2]), Refused> {
        let make = |place: usize| {
            let tun = enter_new(ADDRESSES[place], ADDRESSES[1 - place], settings)?;
            let file = File::open("/proc/thread-self/ns/net").map_err(refused("/proc/thread-self/ns/net"))?;
            Ok::<_, Refused>((file, tun))
        };
        let (first, second) = (make(0)?, make(1)?);
        Ok((Namespaces { files: [first.0, second.0] }, [first.1, second.1]))
    }

    /// Moves this thread into one of them.
    pub fn enter(&mut self, place: usize) -> io::Result<()> {
        Ok(setns(&self.files[place], CloneFlags::CLONE_NEWNET)?)
    }
}

/// Leaves the machine's network for good, and enters a user namespace where that needs one.
///
/// Only a process with one thread can enter a user namespace.
pub fn leave_machine() -> Result<(), Refused> {
    if unshare(CloneFlags::CLONE_NEWNET).is_ok() {
        return Ok(());
    }
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(refused("a user namespace"))?;
    // A kernel before 3.19 has no such file, and needs none.
    let _written = fs::write("/proc/self/setgroups", "deny").is_ok();
    fs::write("/proc/self/uid_map", format!("0 {user} 1")).map_err(refused("/proc/self/uid_map"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1")).map_err(refused("/proc/self/gid_map"))
}

/// A TUN device of this thread's namespace, through which the kernel's packets come and go.
#[derive(Debug)]
pub struct Tun(File);

impl Tun {
    /// Reads a packet; None: there is none now.
    pub fn read(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.0).write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Moves this thread into a new network namespace with a TUN device that has these addresses, and returns the device.
fn enter_new(own: Ipv4Addr, peer: Ipv4Addr, settings: Settings) -> Result<Tun, Refused> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(refused("a network namespace"))?;
    // No packets but ours: neither router solicitations nor reports of groups.
    let _absent = fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1").is_ok();
    let _absent = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").is_ok();
    let tun = open()?;
    let netlink = Netlink::open()?;
    netlink.up("lo", None, None)?;
    let device = netlink.up(DEVICE, Some(QUEUE), Some(settings.mtu))?;
    netlink.address(device, own, peer)?;
    set("/proc/sys/net/ipv4/tcp_ecn", if settings.ecn { "1" } else { "0" })?;
    // A connection does not begin with the slow-start threshold of an earlier one.
    set("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")?;
    // Ports that the kernel chooses stay below those of flows.
    set("/proc/sys/net/ipv4/ip_local_port_range", "1024 19999")?;
    Ok(tun)
}

/// A counter of this thread's namespace, such as `InCEPkts` of `IpExt`.
pub fn counter(table: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/netstat").ok()?;
    let mut lines = text.lines().filter(|line| line.split(':').next() == Some(table));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|one| one == name)?;
    values.split_whitespace().nth(place)?.parse().ok()
}

/// Packets that the device of this thread's namespace has dropped.
pub fn device_drops() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").ok()?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let columns: Vec<u64> = line.split_whitespace().filter_map(|column| column.parse().ok()).collect();
    // Received: 8 columns, the fourth drops; transmitted the same.
    Some(columns.get(3)? + columns.get(11)?)
}

fn set(path: &'static str, value: &str) -> Result<(), Refused> {
    fs::write(path, value).map_err(refused(path))
}

nix::ioctl_write_ptr_bad!(
    /// TUNSETIFF of linux/if_tun.h: _IOW('T', 202, int), of which the argument is a pointer nevertheless.
    tun_set_interface,
    nix::request_code_write!(b'T', 202, size_of::<nix::libc::c_int>()),
    nix::libc::ifreq
);

fn open() -> Result<Tun, Refused> {
    let opened =
        OpenOptions::new().read(true).write(true).custom_flags(nix::libc::O_NONBLOCK).open("/dev/net/tun");
    let file = opened.map_err(refused("/dev/net/tun"))?;
    attach(&file).map_err(refused("a TUN device"))?;
    Ok(Tun(file))
}

/// Makes the file a TUN device of this thread's namespace, whose packets have no header in front.
#[allow(unsafe_code, reason = "an ioctl that no crate in use wraps")]
fn attach(file: &File) -> io::Result<()> {
    use nix::libc::{IFF_NO_PI, IFF_TUN, ifreq};
    use std::os::fd::AsRawFd;
    // SAFETY: a request of zeros is a valid one.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *to = from as nix::libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (IFF_TUN | IFF_NO_PI) as i16;
    // SAFETY: the file is open, and the request outlives the call.
    unsafe { tun_set_interface(file.as_raw_fd(), &raw const request) }?;
    Ok(())
}

/// A netlink socket of this thread's namespace.
struct Netlink(Socket);

impl Netlink {
    fn open() -> Result<Netlink, Refused> {
        let mut socket = Socket::new(NETLINK_ROUTE).map_err(refused("netlink"))?;
        socket.bind_auto().map_err(refused("netlink"))?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(refused("netlink"))?;
        Ok(Netlink(socket))
    }

    /// Brings a device up, with a queue of so many packets and a largest packet of so many bytes; its number.
    fn up(&self, name: &str, queue: Option<u32>, mtu: Option<u32>) -> Result<u32, Refused> {
        let device = nix::net::if_::if_nametoindex(name).map_err(refused("a device"))?;
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes.extend(queue.map(LinkAttribute::TxQueueLen));
        message.attributes.extend(mtu.map(LinkAttribute::Mtu));
        self.request(RouteNetlinkMessage::SetLink(message), 0).map_err(refused("a device up"))?;
        Ok(device)
    }

    /// Gives a device its address, and a route to the peer's.
    fn address(&self, device: u32, own: Ipv4Addr, peer: Ipv4Addr) -> Result<(), Refused> {
        let mut message = AddressMessage::default();
        message.header.index = device;
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.attributes =
            vec![AddressAttribute::Local(IpAddr::V4(own)), AddressAttribute::Address(IpAddr::V4(peer))];
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.request(RouteNetlinkMessage::NewAddress(message), flags).map_err(refused("an address"))
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        request.finalize();
        let mut buffer = vec![0; request.buffer_len()];
        request.serialize(&mut buffer);
        self.0.send(&buffer, 0)?;
        let (answer, _) = self.0.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }
}
