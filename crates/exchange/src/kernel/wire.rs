//! IPv4 and TCP headers as bytes (RFC 791, RFC 9293), with the options that exchanges look at.

use sojourn_units::Ecn;
use std::net::Ipv4Addr;

/// A TCP segment between two hosts. The payload is zeros: only its length counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Packet {
    pub from: Port,
    pub to: Port,
    pub seq: u32,
    pub ack: u32,
    /// The lower eight control bits (RFC 9293, section 3.1), CWR to FIN.
    pub bits: u8,
    /// As it stands in the header, not scaled.
    pub window: u16,
    pub ecn: Ecn,
    pub options: Options,
    pub len: u16,
}

/// An address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Port(pub Ipv4Addr, pub u16);

/// The options that exchanges look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub mss: Option<u16>,
    pub sack_permitted: bool,
    pub window_scale: Option<u8>,
    /// TSval and TSecr (RFC 7323, section 3).
    pub stamps: Option<(u32, u32)>,
    /// At most four fit.
    pub sack: Vec<(u32, u32)>,
}

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const RST: u8 = 4;
pub(super) const ACK: u8 = 16;
pub(super) const ECE: u8 = 64;
pub(super) const CWR: u8 = 128;

impl Packet {
    /// As bytes, checksums included.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let options = self.options.bytes();
        let tcp_len = TCP_HEADER + options.len() + usize::from(self.len);
        let mut ip = vec![0x45, codepoint(self.ecn)];
        ip.extend(((IP_HEADER + tcp_len) as u16).to_be_bytes());
        // Identification 0, "don't fragment", 64 hops, no checksum yet.
        ip.extend([0, 0, 0x40, 0, 64, TCP, 0, 0]);
        ip.extend(self.from.0.octets());
        ip.extend(self.to.0.octets());
        let sum = checksum(sum_of(&ip));
        ip[10..12].copy_from_slice(&sum);

        let mut tcp = Vec::with_capacity(tcp_len);
        tcp.extend(self.from.1.to_be_bytes());
        tcp.extend(self.to.1.to_be_bytes());
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([((TCP_HEADER + options.len()) << 2) as u8, self.bits]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0, 0, 0, 0]);
        tcp.extend(options);
        tcp.resize(tcp_len, 0);
        let sum = checksum(pseudo_header(&ip, tcp_len) + sum_of(&tcp));
        tcp[16..18].copy_from_slice(&sum);
        ip.extend(tcp);
        ip
    }

    /// Reads an IPv4 packet; None where it is not a whole TCP segment.
    pub(super) fn parse(bytes: &[u8]) -> Option<Packet> {
        let word = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let long = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let first = *bytes.first()?;
        if first >> 4 != 4 || *bytes.get(9)? != TCP {
            return None;
        }
        let tcp = usize::from(first & 15) * 4;
        let end = usize::from(word(2)?);
        let data = tcp + usize::from(*bytes.get(tcp + 12)? >> 4) * 4;
        if end > bytes.len() {
            return None;
        }
        Some(Packet {
            from: Port(Ipv4Addr::from(long(12)?), word(tcp)?),
            to: Port(Ipv4Addr::from(long(16)?), word(tcp + 2)?),
            seq: long(tcp + 4)?,
            ack: long(tcp + 8)?,
            bits: *bytes.get(tcp + 13)?,
            window: word(tcp + 14)?,
            ecn: ecn_of(*bytes.get(1)?),
            options: Options::parse(bytes.get(tcp + TCP_HEADER..data)?),
            len: end.checked_sub(data)? as u16,
        })
    }
}

impl Default for Port {
    fn default() -> Port {
        Port(Ipv4Addr::UNSPECIFIED, 0)
    }
}

impl Options {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(mss) = self.mss {
            bytes.extend([MSS, 4]);
            bytes.extend(mss.to_be_bytes());
        }
        if self.sack_permitted {
            bytes.extend([NOP, NOP, SACK_PERMITTED, 2]);
        }
        if let Some((value, echo)) = self.stamps {
            bytes.extend([NOP, NOP, TIMESTAMPS, 10]);
            bytes.extend(value.to_be_bytes());
            bytes.extend(echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            bytes.extend([NOP, WINDOW_SCALE, 3, shift]);
        }
        if !self.sack.is_empty() {
            bytes.extend([NOP, NOP, SACK, 2 + 8 * self.sack.len() as u8]);
            for (from, to) in &self.sack {
                bytes.extend(from.to_be_bytes());
                bytes.extend(to.to_be_bytes());
            }
        }
        bytes
    }

    /// Unknown options are passed over; a broken one ends the list.
    fn parse(mut bytes: &[u8]) -> Options {
        let mut options = Options::default();
        while let Some((&kind, rest)) = bytes.split_first() {
            if kind == NOP {
                bytes = rest;
                continue;
            }
            let len = rest.first().map_or(0, |len| usize::from(*len));
            if kind == END || len < 2 || len > bytes.len() {
                break;
            }
            let (option, behind) = bytes.split_at(len);
            options.take(kind, &option[2..]);
            bytes = behind;
        }
        options
    }

    fn take(&mut self, kind: u8, value: &[u8]) {
        let longs: Vec<u32> = value
            .chunks_exact(4)
            .map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        match (kind, value, &longs[..]) {
            (MSS, &[high, low], _) => self.mss = Some(u16::from_be_bytes([high, low])),
            (SACK_PERMITTED, [], _) => self.sack_permitted = true,
            (WINDOW_SCALE, &[shift], _) => self.window_scale = Some(shift),
            (TIMESTAMPS, _, &[value, echo]) => self.stamps = Some((value, echo)),
            (SACK, _, edges) => self.sack = edges.chunks_exact(2).map(|edge| (edge[0], edge[1])).collect(),
            _ => (),
        }
    }
}

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
/// TCP's protocol number.
const TCP: u8 = 6;

// Kinds of options (RFC 9293, section 3.2; RFC 2018; RFC 7323).
const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The ECN field of the IP header (RFC 3168, section 5).
fn codepoint(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

fn ecn_of(traffic_class: u8) -> Ecn {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(traffic_class & 3)]
}

/// The sum over source, destination, protocol and length (RFC 9293, section 3.1).
fn pseudo_header(ip: &[u8], tcp_len: usize) -> u32 {
    sum_of(&ip[12..20]) + u32::from(TCP) + tcp_len as u32
}

fn sum_of(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low))).sum()
}

/// The ones' complement of the ones' complement sum (RFC 1071).
fn checksum(mut sum: u32) -> [u8; 2] {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Packet {
        Packet {
            from: Port(Ipv4Addr::new(192, 0, 2, 1), 40_000),
            to: Port(Ipv4Addr::new(198, 51, 100, 1), 80),
            seq: 0xffff_fff0,
            ack: 7,
            bits: ACK | FIN | ECE,
            window: 1000,
            ecn: Ecn::Ce,
            options: Options {
                mss: Some(1460),
                sack_permitted: true,
                window_scale: Some(7),
                stamps: Some((1, 2)),
                sack: vec![(10, 20)],
            },
            len: 3,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Packet::parse(&packet().bytes()), Some(packet()));
    }

    /// RFC 1071, section 1: over data with its checksum the sum is all ones.
    #[test]
    fn checksums_hold() {
        let bytes = packet().bytes();
        assert_eq!(checksum(sum_of(&bytes[..20])), [0, 0]);
        assert_eq!(checksum(pseudo_header(&bytes[..20], bytes.len() - 20) + sum_of(&bytes[20..])), [0, 0]);
        // Section 3's example.
        assert_eq!(sum_of(&[0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7]), 0x2_ddf0);
        assert_eq!(checksum(0x2_ddf0), (!0xddf2_u16).to_be_bytes());
    }

    #[test]
    fn what_is_cut_short_is_no_segment() {
        let bytes = packet().bytes();
        for len in 0..bytes.len() {
            assert_eq!(Packet::parse(&bytes[..len]), None);
        }
    }
}
