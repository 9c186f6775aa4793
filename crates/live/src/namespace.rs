//! Private network namespaces, each with a device.
//!
//! A namespace belongs to the process that made it and to nothing else: it has no name and no file. When the process
//! ends, however it does, the namespaces and their devices end with it. Nothing outside of them is opened or changed.

use crate::device::{Device, FarEnd, Kind, Tun};
use crate::netlink::Netlink;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::thread;
use std::time::Duration;

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

pub(crate) fn refused<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Refused {
    move |source| Refused { what, source: source.into() }
}

/// Addresses of the sender's namespace and the receiver's, in which nothing else is.
pub const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 90, 0, 1), Ipv4Addr::new(10, 90, 0, 2)];
/// Their addresses of IPv6, for programs of the user.
pub const ADDRESSES_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd90, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd90, 0, 0, 0, 0, 0, 0, 2)];

/// Settings of the kernel's stacks in both namespaces.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Connections negotiate ECN (`net.ipv4.tcp_ecn`).
    pub ecn: bool,
    /// The largest packet, bytes.
    pub mtu: u32,
    /// There are addresses of IPv6, too, where the kernel has it.
    pub v6: bool,
    /// Kind of the devices; None: TUN where the machine allows it, else AF_PACKET.
    pub device: Option<Kind>,
}

/// The namespaces of both ends.
#[derive(Debug)]
pub struct Namespaces {
    files: [File; 2],
    device: Kind,
    has_v6: bool,
}

impl Namespaces {
    /// Makes both, each with its device; this thread is in the second one afterwards.
    pub fn make(settings: Settings) -> Result<(Namespaces, [Device; 2]), Refused> {
        match settings.device {
            Some(kind) => Namespaces::with(kind, settings),
            None => match Namespaces::with(Kind::Tun, settings) {
                Err(refused) if Tun::is_closed(&refused) => Namespaces::with(Kind::Packet, settings),
                made => made,
            },
        }
    }

    fn with(kind: Kind, settings: Settings) -> Result<(Namespaces, [Device; 2]), Refused> {
        let make = |place: usize| {
            let (device, has_v6) = enter_new(kind, place, settings)?;
            Ok::<_, Refused>((current()?, device, has_v6))
        };
        let (first, second) = (make(0)?, make(1)?);
        let namespaces = Namespaces { files: [first.0, second.0], device: kind, has_v6: second.2 };
        Ok((namespaces, [first.1, second.1]))
    }

    /// Kind of the devices.
    pub fn device(&self) -> Kind {
        self.device
    }

    /// There are addresses of IPv6.
    pub fn has_v6(&self) -> bool {
        self.has_v6
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

/// The network namespace of this thread.
pub(crate) fn current() -> Result<File, Refused> {
    File::open("/proc/thread-self/ns/net").map_err(refused("/proc/thread-self/ns/net"))
}

/// Moves this thread into a new network namespace with a device that has the addresses of a place; returns the device,
/// and whether there is IPv6.
fn enter_new(kind: Kind, place: usize, settings: Settings) -> Result<(Device, bool), Refused> {
    let far = match kind {
        Kind::Tun => None,
        Kind::Packet => {
            enter_empty(false)?;
            Some(FarEnd::open(settings.mtu)?)
        }
    };
    let has_v6 = enter_empty(settings.v6)?;
    let netlink = Netlink::open()?;
    let device = match far {
        None => Device::Tun(Tun::open()?),
        Some(far) => Device::Packet(far.connect(&netlink)?),
    };
    netlink.up(index("lo")?, None, None)?;
    let number = index(kind.interface())?;
    netlink.up(number, Some(QUEUE), Some(settings.mtu))?;
    netlink.address(number, ADDRESSES[place].into(), ADDRESSES[1 - place].into())?;
    if has_v6 {
        netlink.address(number, ADDRESSES_V6[place].into(), ADDRESSES_V6[1 - place].into())?;
    }
    set("/proc/sys/net/ipv4/tcp_ecn", if settings.ecn { "1" } else { "0" })?;
    // A connection does not begin with the slow-start threshold of an earlier one.
    set("/proc/sys/net/ipv4/tcp_no_metrics_save", "1")?;
    // Sockets of echoes are open to this process.
    let group = nix::unistd::getegid();
    set("/proc/sys/net/ipv4/ping_group_range", &format!("{group} {group}"))?;
    // Ports that the kernel chooses stay below those of flows.
    set("/proc/sys/net/ipv4/ip_local_port_range", "1024 19999")?;
    if has_v6 {
        await_local_route(ADDRESSES_V6[place]).map_err(refused("the local route of an IPv6 address"))?;
    }
    Ok((device, has_v6))
}

/// Waits until packets for an address of this thread's namespace reach its sockets: the kernel adds the local route some
/// time after the address.
fn await_local_route(own: Ipv6Addr) -> io::Result<()> {
    const TRIALS: u32 = 2000;
    for _ in 0..TRIALS {
        if has_local_route(own)? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "there is none after two seconds"))
}

/// A line of `ipv6_route` has the destination and the length of its prefix first, and the flags next to last.
fn has_local_route(own: Ipv6Addr) -> io::Result<bool> {
    /// RTF_LOCAL of linux/ipv6_route.h.
    const LOCAL: u32 = 0x8000_0000;
    let destination = format!("{:032x} 80 ", u128::from(own));
    let routes = fs::read_to_string("/proc/thread-self/net/ipv6_route")?;
    let flags = |line: &str| u32::from_str_radix(line.split_whitespace().rev().nth(1)?, 16).ok();
    let own = routes.lines().filter(|line| line.starts_with(&destination));
    Ok(own.filter_map(flags).any(|flags| flags & LOCAL != 0))
}

/// Moves this thread into a new network namespace without devices but its loopback; returns whether it has IPv6.
fn enter_empty(v6: bool) -> Result<bool, Refused> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(refused("a network namespace"))?;
    let write = |name: &str, value: &str| fs::write(format!("/proc/sys/net/ipv6/conf/{name}"), value).is_ok();
    // No packets but ours: neither router solicitations, reports of groups nor searches for a second owner.
    if v6 {
        for (name, value) in
            [("accept_ra", "0"), ("autoconf", "0"), ("router_solicitations", "0"), ("dad_transmits", "0")]
        {
            let _absent = write(&format!("default/{name}"), value);
        }
        // No link-local address.
        let _absent = write("default/addr_gen_mode", "1");
    }
    let off = if v6 { "0" } else { "1" };
    let is_set = write("all/disable_ipv6", off) && write("default/disable_ipv6", off);
    Ok(v6 && is_set)
}

fn index(name: &str) -> Result<u32, Refused> {
    nix::net::if_::if_nametoindex(name).map_err(refused("a device"))
}

/// A counter of this thread's namespace, such as `InCEPkts` of `IpExt`.
pub fn counter(table: &str, name: &str) -> Option<u64> {
    let file = if matches!(table, "IpExt" | "TcpExt") { "netstat" } else { "snmp" };
    let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).ok()?;
    let mut lines = text.lines().filter(|line| line.split(':').next() == Some(table));
    let (names, values) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|one| one == name)?;
    values.split_whitespace().nth(place)?.parse().ok()
}

/// A counter of IPv6 of this thread's namespace, such as `Ip6InCEPkts`.
pub fn counter_v6(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/snmp6").ok()?;
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut line| (line.next()? == name).then(|| line.next())?)?.parse().ok()
}

/// Packets that a device of this thread's namespace has dropped.
pub fn device_drops(interface: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").ok()?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'))?;
    let columns: Vec<u64> = line.split_whitespace().filter_map(|column| column.parse().ok()).collect();
    // Received: 8 columns, the fourth drops; transmitted the same.
    Some(columns.get(3)? + columns.get(11)?)
}

fn set(path: &'static str, value: &str) -> Result<(), Refused> {
    fs::write(path, value).map_err(refused(path))
}
