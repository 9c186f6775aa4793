//! TCP segments in IPv4 packets.

use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv4Slice, TcpHeader, TcpOptionElement, TcpSlice};
use sojourn_tcp::Flags;
use sojourn_units::Ecn;
use std::io;
use std::net::SocketAddrV4;

/// TCP segment in an IPv4 packet. The payload is zeros: only its length counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub from: SocketAddrV4,
    pub to: SocketAddrV4,
    pub seq: u32,
    pub ack: u32,
    /// FIN, SYN, ACK, ECE and CWR.
    pub flags: Flags,
    pub rst: bool,
    /// Field of the header, not scaled.
    pub window: u16,
    pub ecn: Ecn,
    pub options: Options,
    /// Payload, bytes.
    pub len: u16,
}

/// TCP options that scripts use.
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

impl Packet {
    /// Encodes the packet, with checksums.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let payload = vec![0; self.len.into()];
        let mut tcp = TcpHeader {
            acknowledgment_number: self.ack,
            fin: self.flags.has(Flags::FIN),
            syn: self.flags.has(Flags::SYN),
            ack: self.flags.has(Flags::ACK),
            ece: self.flags.has(Flags::ECE),
            cwr: self.flags.has(Flags::CWR),
            rst: self.rst,
            ..TcpHeader::new(self.from.port(), self.to.port(), self.seq, self.window)
        };
        tcp.set_options(&self.options.elements()).map_err(io::Error::other)?;
        let (from, to) = (self.from.ip().octets(), self.to.ip().octets());
        let len = tcp.header_len_u16().saturating_add(self.len);
        let mut ip = Ipv4Header::new(len, HOPS, IpNumber::TCP, from, to).map_err(io::Error::other)?;
        ip.ecn = codepoint(self.ecn);
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).map_err(io::Error::other)?;
        Ok([&ip.to_bytes()[..], &tcp.to_bytes(), &payload].concat())
    }

    /// Decodes an IPv4 packet; None if it is not a whole TCP segment.
    pub(super) fn decode(bytes: &[u8]) -> Option<Packet> {
        let packet = Ipv4Slice::from_slice(bytes).ok()?;
        let (ip, payload) = (packet.header(), packet.payload());
        if payload.ip_number != IpNumber::TCP || payload.fragmented {
            return None;
        }
        let tcp = TcpSlice::from_slice(payload.payload).ok()?;
        let flags = Flags::NONE
            .with(Flags::FIN, tcp.fin())
            .with(Flags::SYN, tcp.syn())
            .with(Flags::ACK, tcp.ack())
            .with(Flags::ECE, tcp.ece())
            .with(Flags::CWR, tcp.cwr());
        Some(Packet {
            from: SocketAddrV4::new(ip.source_addr(), tcp.source_port()),
            to: SocketAddrV4::new(ip.destination_addr(), tcp.destination_port()),
            seq: tcp.sequence_number(),
            ack: tcp.acknowledgment_number(),
            flags,
            rst: tcp.rst(),
            window: tcp.window_size(),
            ecn: ecn_of(ip.ecn()),
            options: Options::of(&tcp),
            len: u16::try_from(tcp.payload().len()).ok()?,
        })
    }
}

impl Options {
    fn elements(&self) -> Vec<TcpOptionElement> {
        let mut elements = Vec::new();
        elements.extend(self.mss.map(TcpOptionElement::MaximumSegmentSize));
        elements.extend(self.sack_permitted.then_some(TcpOptionElement::SelectiveAcknowledgementPermitted));
        elements.extend(self.stamps.map(|(value, echo)| TcpOptionElement::Timestamp(value, echo)));
        elements.extend(self.window_scale.map(TcpOptionElement::WindowScale));
        if let [first, rest @ ..] = &self.sack[..] {
            let rest = std::array::from_fn(|place| rest.get(place).copied());
            elements.push(TcpOptionElement::SelectiveAcknowledgement(*first, rest));
        }
        elements
    }

    /// Options up to the first that is malformed or unknown.
    fn of(tcp: &TcpSlice<'_>) -> Options {
        let mut options = Options::default();
        for element in tcp.options_iterator().map_while(Result::ok) {
            match element {
                TcpOptionElement::MaximumSegmentSize(mss) => options.mss = Some(mss),
                TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
                TcpOptionElement::WindowScale(shift) => options.window_scale = Some(shift),
                TcpOptionElement::Timestamp(value, echo) => options.stamps = Some((value, echo)),
                TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                    options.sack = [Some(first)].into_iter().chain(rest).flatten().collect();
                }
                TcpOptionElement::Noop => {}
            }
        }
        options
    }
}

/// Time to live.
const HOPS: u8 = 64;

fn codepoint(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

fn ecn_of(codepoint: IpEcn) -> Ecn {
    match codepoint {
        IpEcn::NotEct => Ecn::NotEct,
        IpEcn::Ect1 => Ecn::Ect1,
        IpEcn::Ect0 => Ecn::Ect0,
        IpEcn::CongestionExperienced => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn packet() -> Packet {
        Packet {
            from: SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 40_000),
            to: SocketAddrV4::new(Ipv4Addr::new(198, 51, 100, 1), 80),
            seq: 0xffff_fff0,
            ack: 7,
            flags: Flags::ACK | Flags::FIN | Flags::ECE,
            rst: false,
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
    fn packets_round_trip() {
        assert_eq!(Packet::decode(&packet().encode().unwrap()), Some(packet()));
    }

    #[test]
    fn truncated_packets_are_refused() {
        let bytes = packet().encode().unwrap();
        for len in 0..bytes.len() {
            assert_eq!(Packet::decode(&bytes[..len]), None);
        }
    }

    /// RFC 9293, section 3.1: options have 40 bytes.
    #[test]
    fn options_that_do_not_fit_are_refused() {
        let mut packet = packet();
        packet.options.sack = vec![(10, 20), (30, 40), (50, 60)];
        assert!(packet.encode().is_err());
    }
}
