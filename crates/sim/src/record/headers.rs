//! Headers of packets: IPv4 with TCP or UDP.
//!
//! A simulated segment has what congestion control and recovery need. The rest follows from these rules.
//!
//! - Addresses: sender `10.0.0.0 + flow + 1`, receiver `10.128.0.0 + flow + 1`. Each connection of a flow has ports of
//!   its own, from the dynamic ones (RFC 6335, section 6).
//! - Initial sequence numbers are 0, so that a byte of the stream has its number and one, as [`Segment`] counts neither
//!   SYN; the numbers wrap at 2^32.
//! - Data flows one way. The sender's window, which nothing is sent into, is the largest unscaled one.
//! - Timestamps (RFC 7323) have both fields. A segment keeps one of them; the other is the clock of the end that sent
//!   it, or the last value that this end received.
//! - A request for data is part of no stream here: it is a datagram from the receiver to the sender.
//! - SYN segments have their options, although links count them as bare headers: 20 bytes less.
//! - The payload is zeros, and so counted in the checksum, and is not captured.

use crate::tap::{Contents, Joined, Sight};
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader};
use sojourn_tcp::{Flags, Segment};
use sojourn_units::{Ecn, Time};
use std::net::Ipv4Addr;

/// Longest headers of a packet, bytes: 20 of IPv4 and 60 of TCP.
pub(super) const MAX_HEADERS: usize = 80;

/// Headers of a packet, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    bytes: [u8; MAX_HEADERS],
    headers: u8,
    /// The length of the packet, bytes.
    pub(super) len: u16,
}

impl Frame {
    fn new(ip: &[u8], transport: &[u8], payload: u16) -> Frame {
        let mut bytes = [0; MAX_HEADERS];
        bytes[..ip.len()].copy_from_slice(ip);
        let headers = ip.len() + transport.len();
        bytes[ip.len()..headers].copy_from_slice(transport);
        Frame { bytes, headers: headers as u8, len: headers as u16 + payload }
    }

    pub(super) fn headers(&self) -> &[u8] {
        &self.bytes[..self.headers.into()]
    }
}

/// State of the ends that headers show.
#[derive(Default)]
pub(super) struct Ends {
    flows: Vec<FlowEnds>,
    /// By the place of a segment in the pool.
    departures: Vec<Departure>,
}

#[derive(Clone, Copy)]
struct FlowEnds {
    joined: Joined,
    /// Window scale of the receiver of the newest connection.
    scale: u8,
    /// TSval of the last acknowledgment that reached the sender.
    recent: u32,
    /// Connection and end of the data sent so far.
    sent: (u16, u64),
}

/// Fields of a segment that its end added.
#[derive(Clone, Copy, Default)]
struct Departure {
    /// TSval.
    clock: u32,
    /// TSecr of data.
    echo: u32,
    /// Window scale of the receiver.
    scale: u8,
    /// It begins with data that was sent before.
    again: bool,
}

impl Ends {
    pub(super) fn join(&mut self, flow: Joined) {
        debug_assert_eq!(flow.flow as usize, self.flows.len());
        self.flows.push(FlowEnds { joined: flow, scale: 0, recent: 0, sent: (0, 0) });
    }

    /// An end sends a segment.
    pub(super) fn send(&mut self, at: Time, packet: Sight<'_>) {
        let Contents::Segment { segment, connection, place } = packet.contents else { return };
        let forward = self.is_forward(packet);
        let flow = &mut self.flows[packet.flow as usize];
        if forward && flow.sent.0 != connection {
            flow.sent = (connection, 0);
        }
        let again = forward && segment.end() > segment.seq && segment.seq < flow.sent.1;
        if forward {
            flow.sent.1 = flow.sent.1.max(segment.end());
        }
        if segment.flags.has(Flags::SYN | Flags::ACK) {
            flow.scale = segment.scale;
        }
        let syn = segment.flags.has(Flags::SYN);
        let echo = if syn { 0 } else { flow.recent };
        let departure = Departure { clock: clock(at), echo, scale: if syn { 0 } else { flow.scale }, again };
        let place = place as usize;
        if self.departures.len() <= place {
            self.departures.resize(place + 1, Departure::default());
        }
        self.departures[place] = departure;
    }

    /// A segment has been duplicated.
    pub(super) fn copy(&mut self, from: u32, to: u32) {
        let copied = self.departures[from as usize];
        self.departures.resize(self.departures.len().max(to as usize + 1), Departure::default());
        self.departures[to as usize] = copied;
    }

    /// An acknowledgment arrives at the sender.
    pub(super) fn come_back(&mut self, packet: Sight<'_>) {
        let Contents::Segment { segment, place, .. } = packet.contents else { return };
        if segment.flags.has(Flags::TIMESTAMP) {
            self.flows[packet.flow as usize].recent = self.departures[place as usize].clock;
        }
    }

    /// Returns whether a packet is on its way to the receiver of its flow.
    pub(super) fn is_forward(&self, packet: Sight<'_>) -> bool {
        packet.leg < self.flows[packet.flow as usize].joined.reverse
    }

    /// Returns whether a packet begins with data that was sent before.
    pub(super) fn is_retransmission(&self, packet: Sight<'_>) -> bool {
        match packet.contents {
            Contents::Segment { place, .. } => self.departures[place as usize].again,
            _ => false,
        }
    }

    /// The class of a flow.
    pub(super) fn class(&self, flow: u32) -> u32 {
        self.flows[flow as usize].joined.class
    }

    /// The headers of a packet; None: it is damaged.
    pub(super) fn frame(&self, packet: Sight<'_>) -> Option<Frame> {
        let flow = &self.flows[packet.flow as usize];
        let forward = self.is_forward(packet);
        match packet.contents {
            Contents::Segment { segment, connection, place } => {
                let ports = ports(connection);
                let departure = &self.departures[place as usize];
                let tcp = tcp(segment, forward, in_order(ports, forward), flow, departure);
                let ip = ip(packet, flow, forward, IpNumber::TCP, tcp.header_len_u16() + segment.len);
                let payload = &ZEROS[..segment.len.into()];
                let checksum = tcp.calc_checksum_ipv4(&ip, payload).expect("it fits 16 bits");
                let tcp = TcpHeader { checksum, ..tcp };
                Some(Frame::new(&ip.to_bytes(), &tcp.to_bytes(), segment.len))
            }
            Contents::Request(connection) => Some(datagram(packet, flow, forward, ports(connection))),
            Contents::Datagram => Some(datagram(packet, flow, forward, ports(0))),
            Contents::Damaged => None,
        }
    }
}

/// Ports of a connection: of the sender of its data, and of the receiver.
fn ports(connection: u16) -> [u16; 2] {
    [FIRST_PORT + connection / DYNAMIC_PORTS, FIRST_PORT + connection % DYNAMIC_PORTS]
}

/// A pair of the sender and the receiver as source and destination.
fn in_order<T: Copy>([sender, receiver]: [T; 2], forward: bool) -> [T; 2] {
    if forward { [sender, receiver] } else { [receiver, sender] }
}

fn ip(packet: Sight<'_>, flow: &FlowEnds, forward: bool, protocol: IpNumber, payload: u16) -> Ipv4Header {
    let host = |first: u32| Ipv4Addr::from_bits(first + 1 + flow.joined.flow).octets();
    let [from, to] = in_order([host(SENDERS), host(RECEIVERS)], forward);
    let mut ip = Ipv4Header::new(payload, HOPS, protocol, from, to).expect("a packet fits 16 bits");
    // An atomic datagram needs no identification (RFC 6864).
    ip.dont_fragment = true;
    ip.dscp = IpDscp::try_new(flow.joined.dscp).unwrap_or_default();
    ip.ecn = match packet.ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    };
    ip.header_checksum = ip.calc_header_checksum();
    ip
}

fn tcp(segment: &Segment, forward: bool, ports: [u16; 2], flow: &FlowEnds, sent: &Departure) -> TcpHeader {
    let has = |flag| segment.flags.has(flag);
    let (syn, ack) = (has(Flags::SYN), has(Flags::ACK) || !has(Flags::SYN));
    let number = |seq: u64| (seq as u32).wrapping_add(1);
    let window = if forward { u32::from(u16::MAX) } else { segment.window >> sent.scale };
    let mut tcp = TcpHeader {
        acknowledgment_number: if ack { number(segment.ack) } else { 0 },
        fin: has(Flags::FIN),
        syn,
        ack,
        psh: false,
        ece: has(Flags::ECE),
        cwr: has(Flags::CWR),
        ..TcpHeader::new(
            ports[0],
            ports[1],
            if syn { 0 } else { number(segment.seq) },
            window.min(u16::MAX.into()) as u16,
        )
    };
    let mut options = Vec::with_capacity(6);
    if syn {
        let mss = flow.joined.mss.unwrap_or_default().min(u16::MAX.into()) as u16;
        options.push(TcpOptionElement::MaximumSegmentSize(mss));
        if has(Flags::SACK) {
            options.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
        } else if has(Flags::TIMESTAMP) {
            options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
        }
    }
    if has(Flags::TIMESTAMP) {
        if !syn {
            options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
        }
        let echo = if forward { sent.echo } else { segment.stamp.ticks() };
        options.push(TcpOptionElement::Timestamp(sent.clock, echo));
    }
    if syn && has(Flags::SCALE) {
        options.extend([TcpOptionElement::Noop, TcpOptionElement::WindowScale(segment.scale)]);
    }
    let mut blocks = segment.sack.iter(segment.ack).map(|(from, to)| (number(from), number(to)));
    if !syn
        && has(Flags::SACK)
        && let Some(first) = blocks.next()
    {
        let rest = [blocks.next(), blocks.next(), None];
        options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop]);
        options.push(TcpOptionElement::SelectiveAcknowledgement(first, rest));
    }
    tcp.set_options(&options).expect("options of a segment fit 40 bytes");
    tcp
}

fn datagram(packet: Sight<'_>, flow: &FlowEnds, forward: bool, of: [u16; 2]) -> Frame {
    let [from, to] = in_order(of, forward);
    let payload = (packet.size as u16).saturating_sub(IP_AND_UDP);
    let ip = ip(packet, flow, forward, IpNumber::UDP, payload + UDP);
    let payload_bytes = &ZEROS[..payload.into()];
    let udp = UdpHeader::with_ipv4_checksum(from, to, &ip, payload_bytes).expect("it fits 16 bits");
    Frame::new(&ip.to_bytes(), &udp.to_bytes(), payload)
}

/// Timestamp clock of an end: microseconds, as [`sojourn_tcp::Stamp`] counts.
fn clock(at: Time) -> u32 {
    sojourn_tcp::Stamp::at(at).ticks()
}

/// The networks of senders and of receivers: both halves of 10.0.0.0/8 (RFC 1918).
const SENDERS: u32 = 0x0a00_0000;
const RECEIVERS: u32 = 0x0a80_0000;
/// The dynamic ports (RFC 6335).
const FIRST_PORT: u16 = 49_152;
const DYNAMIC_PORTS: u16 = 16_384;
/// Time to live.
const HOPS: u8 = 64;
const UDP: u16 = 8;
const IP_AND_UDP: u16 = 28;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
