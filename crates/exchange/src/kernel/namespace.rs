//! A network of one's own: a user namespace for the right to it, a network namespace for each exchange.
//!
//! Nothing outside is seen or touched, and everything is gone with the thread that made it.

use super::sys;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::time::Duration;

/// The kernel's end of the link.
pub(super) const HERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The script's end: in another network, so that the way there is a route with attributes.
pub(super) const THERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

/// Attributes of the route to the script's end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Route {
    /// Segments.
    pub initial_window: u32,
}

/// Gives this process the right to networks of its own. Before any thread is started.
///
/// Where user namespaces are forbidden, root can do without.
pub(super) fn enter() -> io::Result<()> {
    let (user, group) = owner()?;
    if sys::unshare(libc::CLONE_NEWUSER).is_err() {
        return Ok(());
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Who this process runs for: user and group.
fn owner() -> io::Result<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").map(|about| (about.uid(), about.gid()))
}

/// Moves this thread into a new, empty network; what it may not do it says.
pub(super) fn isolate() -> io::Result<()> {
    sys::unshare(libc::CLONE_NEWNET)
}

/// Sets `net.ipv4.<name>` of this thread's network.
pub(super) fn set(name: &str, value: &impl ToString) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value.to_string())
        .map_err(|error| io::Error::new(error.kind(), format!("net.ipv4.{name}: {error}")))
}

/// Leads to the script's end through `interface`.
pub(super) fn lead(interface: &str, route: Route) -> io::Result<()> {
    let mut metrics = Vec::new();
    attribute(&mut metrics, RTAX_INITCWND, &route.initial_window.to_ne_bytes());
    let mut body = vec![libc::AF_INET as u8, 32, 0, 0, libc::RT_TABLE_MAIN, libc::RTPROT_STATIC];
    body.extend([libc::RT_SCOPE_LINK, libc::RTN_UNICAST, 0, 0, 0, 0]);
    attribute(&mut body, libc::RTA_DST, &THERE.octets());
    attribute(&mut body, libc::RTA_OIF, &sys::index_of(interface)?.to_ne_bytes());
    attribute(&mut body, libc::RTA_METRICS, &metrics);
    request(libc::RTM_NEWROUTE, &body)
}

/// Has the kernel change its routes (RFC 3549), and waits for its word.
fn request(kind: u16, body: &[u8]) -> io::Result<()> {
    let socket = sys::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let mut message = ((NETLINK_HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((flags as u16).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    let mut socket = File::from(socket);
    socket.write_all(&message)?;
    let mut answer = [0; 256];
    if !sys::readable(socket.as_fd(), Duration::from_secs(1))? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let len = socket.read(&mut answer)?;
    match answer[..len].get(NETLINK_HEADER..NETLINK_HEADER + 4) {
        Some(&[0, 0, 0, 0]) => Ok(()),
        Some(&[a, b, c, d]) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes([a, b, c, d]))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Adds an attribute: length, kind, value, filled up to four bytes.
fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend(((4 + value.len()) as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

const NETLINK_HEADER: usize = 16;
/// The initial window among the metrics of a route.
const RTAX_INITCWND: u16 = 11;
