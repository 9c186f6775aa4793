//! Configuration of the link and its route by rtnetlink (RFC 3549).

use super::sys;
use nix::libc;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::time::Duration;

/// The kernel's end of the link.
pub(super) const HERE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// The script's end: in another network, so that it is reached by a route with attributes.
pub(super) const THERE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

/// Sets address and MTU of `interface`, and brings it up.
pub(super) fn bring_up(interface: &str, mtu: u32) -> io::Result<()> {
    let index = if_nametoindex(interface)?.to_ne_bytes();
    let up = ((libc::IFF_UP | libc::IFF_RUNNING) as u32).to_ne_bytes();
    // `struct ifinfomsg`: family, type, index, flags, mask of the flags.
    let mut link = [&[0; 4], &index[..], &up, &up].concat();
    attribute(&mut link, libc::IFLA_MTU, &mtu.to_ne_bytes());
    request(libc::RTM_NEWLINK, 0, &link)?;
    // `struct ifaddrmsg`: family, length of the prefix, flags, scope, index.
    let mut address = [&[libc::AF_INET as u8, 24, 0, libc::RT_SCOPE_UNIVERSE], &index[..]].concat();
    attribute(&mut address, libc::IFA_LOCAL, &HERE.octets());
    attribute(&mut address, libc::IFA_ADDRESS, &HERE.octets());
    request(libc::RTM_NEWADDR, CREATE, &address)
}

/// Adds a route to the script's end through `interface`, with an initial window in segments.
pub(super) fn add_route(interface: &str, initial_window: u32) -> io::Result<()> {
    let mut metrics = Vec::new();
    attribute(&mut metrics, RTAX_INITCWND, &initial_window.to_ne_bytes());
    // `struct rtmsg`: family, lengths of the prefixes, TOS, table, protocol, scope, type, flags.
    let mut route = vec![libc::AF_INET as u8, 32, 0, 0, libc::RT_TABLE_MAIN, libc::RTPROT_STATIC];
    route.extend([libc::RT_SCOPE_LINK, libc::RTN_UNICAST, 0, 0, 0, 0]);
    attribute(&mut route, libc::RTA_DST, &THERE.octets());
    attribute(&mut route, libc::RTA_OIF, &if_nametoindex(interface)?.to_ne_bytes());
    attribute(&mut route, libc::RTA_METRICS, &metrics);
    request(libc::RTM_NEWROUTE, CREATE, &route)
}

/// Sends a request, and waits for its acknowledgment.
fn request(kind: u16, flags: i32, body: &[u8]) -> io::Result<()> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags) as u16;
    let len = (HEADER + body.len()) as u32;
    // `struct nlmsghdr`: length, type, flags, sequence number, port.
    let message = [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &[0; 8], body].concat();
    let options = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let mut socket =
        File::from(socket(AddressFamily::Netlink, SockType::Raw, options, SockProtocol::NetlinkRoute)?);
    socket.write_all(&message)?;
    if !sys::readable(socket.as_fd(), Duration::from_secs(1))? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut answer = [0; 256];
    let len = socket.read(&mut answer)?;
    match answer[..len].get(HEADER..HEADER + 4) {
        Some(&[0, 0, 0, 0]) => Ok(()),
        Some(&[a, b, c, d]) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes([a, b, c, d]))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Appends an attribute: length, type, value, padding to four bytes.
fn attribute(to: &mut Vec<u8>, kind: u16, value: &[u8]) {
    to.extend(((4 + value.len()) as u16).to_ne_bytes());
    to.extend(kind.to_ne_bytes());
    to.extend(value);
    to.resize(to.len().next_multiple_of(4), 0);
}

const CREATE: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
/// Length of `struct nlmsghdr`, bytes.
const HEADER: usize = 16;
/// Initial window among the metrics of a route.
const RTAX_INITCWND: u16 = 11;
