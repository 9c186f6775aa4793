//! IP packets: what a qdisc reads of one, and the mark of congestion experienced.
//!
//! Sources: RFC 791 and RFC 8200 (headers), RFC 792 (echoes), RFC 3168 (ECN), RFC 1624 (checksums by differences).

use sojourn_units::Ecn;

/// Protocol numbers with ports, and those of echoes.
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
/// Types of ICMP (RFC 792), and of ICMPv6 (RFC 4443).
pub(crate) const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;
const ECHO_V6: [u8; 2] = [128, 129];
/// Length of the header of an echo, bytes.
pub(crate) const ECHO_HEADER: usize = 8;
/// Length of the IPv6 header, bytes.
const V6_HEADER: usize = 40;
/// Congestion experienced, in the two lowest bits.
const CE: u8 = 0b11;

/// Ports of a packet: from and to. None: it has none, or is a later fragment.
pub fn ports(packet: &[u8]) -> Option<(u16, u16)> {
    let (protocol, header) = transport(packet)?;
    if !matches!(protocol, TCP | UDP) {
        return None;
    }
    let ports = packet.get(header..header + 4)?;
    Some((u16::from_be_bytes([ports[0], ports[1]]), u16::from_be_bytes([ports[2], ports[3]])))
}

/// An echo request or its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Its identifier.
    pub id: u16,
    /// Bytes of data.
    pub payload: usize,
}

/// The ICMP echo of a packet; None: it has none, or is a later fragment.
pub fn echo(packet: &[u8]) -> Option<Echo> {
    let (protocol, header) = transport(packet)?;
    let types = match protocol {
        ICMP => [ECHO_REQUEST, ECHO_REPLY],
        ICMP_V6 => ECHO_V6,
        _ => return None,
    };
    let echo = packet.get(header..).filter(|icmp| icmp.len() >= ECHO_HEADER)?;
    let is_echo = types.contains(&echo[0]) && echo[1] == 0;
    is_echo.then(|| Echo { id: u16::from_be_bytes([echo[4], echo[5]]), payload: echo.len() - ECHO_HEADER })
}

/// Packets that belong together whatever their direction: protocol, and the ports of both ends or the number of an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Talk {
    protocol: u8,
    sender: u16,
    receiver: u16,
}

/// The talk of a packet to the receiver, or back from there; None: it is no IP packet.
pub fn talk(packet: &[u8], to_receiver: bool) -> Option<Talk> {
    let protocol = if version(packet)? == 4 { packet[9] } else { packet[6] };
    let is_echo = matches!(protocol, ICMP | ICMP_V6);
    let echo = || Some((echo(packet)?.id, 0));
    let (from, to) = ports(packet).or_else(echo).unwrap_or_default();
    let (sender, receiver) = if to_receiver || is_echo { (from, to) } else { (to, from) };
    Some(Talk { protocol, sender, receiver })
}

/// DSCP of a packet; that of anything else is 0.
pub fn dscp(packet: &[u8]) -> u8 {
    match version(packet) {
        Some(4) => packet[1] >> 2,
        Some(_) => ((packet[0] & 0x0f) << 2) | (packet[1] >> 6),
        None => 0,
    }
}

/// ECN bits of a packet; those of anything else: not capable.
pub fn ecn(packet: &[u8]) -> Ecn {
    let bits = match version(packet) {
        Some(4) => packet[1] & CE,
        Some(_) => (packet[1] >> 4) & CE,
        None => 0,
    };
    match bits {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// The two bits of a codepoint.
pub fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => CE,
    }
}

/// Sets congestion experienced, and the checksum of an IPv4 header.
pub fn set_ce(packet: &mut [u8]) {
    match version(packet) {
        Some(4) => rewrite_traffic_class(packet, packet[1] | CE),
        Some(_) => packet[1] |= CE << 4,
        None => {}
    }
}

/// Clears both ECN bits, as some routers do.
pub fn bleach(packet: &mut [u8]) {
    match version(packet) {
        Some(4) => rewrite_traffic_class(packet, packet[1] & !CE),
        Some(_) => packet[1] &= !(CE << 4),
        None => {}
    }
}

/// Sets the second byte of an IPv4 header, and its checksum.
fn rewrite_traffic_class(packet: &mut [u8], class: u8) {
    let before = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] = class;
    let after = u16::from_be_bytes([packet[0], packet[1]]);
    let sum = u16::from_be_bytes([packet[10], packet[11]]);
    packet[10..12].copy_from_slice(&updated(sum, before, after).to_be_bytes());
}

/// A segment of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// It opens a connection.
    pub is_syn: bool,
    /// It acknowledges.
    pub is_ack: bool,
    /// Bytes of data.
    pub payload: usize,
}

/// The TCP segment of a packet; None: it has none, or is a later fragment.
pub fn segment(packet: &[u8]) -> Option<Segment> {
    let (protocol, header) = transport(packet)?;
    let tcp = packet.get(header..).filter(|tcp| protocol == TCP && tcp.len() >= 20)?;
    let (offset, flags) = (usize::from(tcp[12] >> 4) * 4, tcp[13]);
    Some(Segment {
        is_syn: flags & 0x02 != 0,
        is_ack: flags & 0x10 != 0,
        payload: tcp.len().saturating_sub(offset),
    })
}

/// Checksum after a word of the header has changed: RFC 1624, equation (3).
fn updated(sum: u16, before: u16, after: u16) -> u16 {
    let mut total = u32::from(!sum) + u32::from(!before) + u32::from(after);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

/// Protocol of a packet's data and their place in it; None: a later fragment, whose data have no header.
fn transport(packet: &[u8]) -> Option<(u8, usize)> {
    match version(packet)? {
        4 if u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff != 0 => None,
        4 => Some((packet[9], usize::from(packet[0] & 0x0f) * 4)),
        _ => Some((packet[6], V6_HEADER)),
    }
}

/// Version of a packet with a whole header of version 4 or 6.
fn version(packet: &[u8]) -> Option<u8> {
    match packet.first()? >> 4 {
        4 if packet.len() >= 20 => Some(4),
        6 if packet.len() >= V6_HEADER => Some(6),
        _ => None,
    }
}
