//! Packets and their contents.

use crate::tap::{Contents, Sight};
use sojourn_aqm::{self as aqm, Ack, FlowId};
use sojourn_measure::{Queued, SentAt};
use sojourn_tcp::{Flags, Segment};
use sojourn_units::{Ecn, Time};
use sojourn_workload::{Datagram, Purpose, Transaction};

/// A packet on its way along the route of its flow, as links and qdiscs see it.
///
/// Its contents stay in a pool until it arrives. Sixteen bytes, so that it is passed in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    flow: FlowId,
    /// The leg of its route that it is on.
    pub(crate) leg: u32,
    place: u32,
    len: u16,
    ecn: Ecn,
    /// Number of its queue among those that the qdisc names; without meaning where it names none.
    queue: u8,
}

/// Contents of all packets on their way: segments, and send times of datagrams.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    segments: Vec<Carried>,
    /// Free places.
    free: Vec<u32>,
    /// The same for datagrams.
    sent: Vec<Sent>,
    free_sent: Vec<u32>,
    /// Number of packets with datagrams.
    datagrams: usize,
}

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) segment: Segment,
    /// Departure time and packets, as in [`SentAt`].
    pub(crate) left_at: Time,
    packets: u32,
    /// Number of its connection among those of its flow; of a request with `REQUEST`.
    connection_id: u32,
}

/// A datagram and its copies.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Number of packets that carry it.
    packets: u32,
    /// One of them has arrived.
    has_arrived: bool,
}

impl Packet {
    /// A packet of a plant whose own memory has its contents at `place`; `len` are its bytes on the wire.
    pub fn kept_at(place: u32, flow: FlowId, len: u16, ecn: Ecn) -> Packet {
        Packet { flow, leg: 0, place, len, ecn, queue: 0 }
    }

    /// The same packet on the next leg of its route.
    pub(crate) fn on_next_leg(self) -> Packet {
        Packet { leg: self.leg + 1, ..self }
    }

    /// Size on the wire, bytes.
    pub fn size(&self) -> u32 {
        u32::from(self.len)
    }

    /// The number of its flow.
    pub fn flow_number(&self) -> u32 {
        self.flow.0
    }

    /// The packet as measurements see it.
    pub fn queued(&self) -> Queued {
        Queued { flow: self.flow.0, queue: self.queue }
    }

    /// The same packet in the queue of a number.
    pub fn in_queue(self, queue: u8) -> Packet {
        Packet { queue, ..self }
    }

    /// Place of its segment in the pool; None: a datagram, or damaged.
    pub(crate) fn segment_place(&self) -> Option<usize> {
        (self.place & DATAGRAM == 0).then_some(self.place as usize)
    }

    /// Place of its contents in the pool, which no two packets that are held share, but for copies and damaged ones.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// It is damaged: its receiver will discard it.
    pub(crate) fn is_damaged(&self) -> bool {
        self.place == DAMAGED
    }

    /// Clears its ECN bits.
    pub(crate) fn bleach(&mut self) {
        self.ecn = Ecn::NotEct;
    }
}

impl Carried {
    /// The departure of the segment.
    #[inline]
    pub(crate) fn left(&self) -> SentAt {
        SentAt { at: self.left_at, packets: self.packets }
    }
}

impl Pool {
    /// A packet that carries a segment of a connection, on the leg where its route begins.
    #[expect(clippy::inline_always, reason = "every packet of TCP begins with it")]
    #[inline(always)]
    pub(crate) fn of_segment(
        &mut self,
        segment: Segment,
        left: SentAt,
        connection_id: impl Into<u32>,
        [flow, leg]: [u32; 2],
    ) -> Packet {
        let place = self.free.pop().unwrap_or(self.segments.len() as u32);
        let (left_at, packets, connection_id) = (left.at, left.packets, connection_id.into());
        if let Some(at) = self.segments.get_mut(place as usize) {
            // Field by field, which is one copy less.
            at.segment = segment;
            (at.left_at, at.packets, at.connection_id) = (left_at, packets, connection_id);
        } else {
            self.segments.push(Carried { segment, left_at, packets, connection_id });
        }
        Packet { flow: FlowId(flow), leg, place, len: segment.wire_len() as u16, ecn: segment.ecn, queue: 0 }
    }

    /// A packet that leaves at `at` and carries the request of a transaction.
    pub(crate) fn request(&mut self, at: Time, of: &Transaction, route: [u32; 2]) -> Packet {
        let flags = if of.purpose == Purpose::Close { Flags::FIN } else { Flags::default() };
        let segment = Segment { seq: of.serial, ack: of.requested(), flags, ..Segment::default() };
        let connection_id = u32::from(of.connection_id as u16) | REQUEST;
        Packet { len: of.request_size, ..self.of_segment(segment, SentAt::of_data(at), connection_id, route) }
    }

    /// Connection number of a packet's segment, or one that no connection has.
    pub(crate) fn connection_id(&self, packet: Packet) -> u32 {
        self.segments.get(packet.place as usize).map_or(0, |carried| carried.connection_id)
    }

    /// Connection number of a request, and the byte of the connection up to which it requests data; None: it closes the
    /// connection.
    pub(crate) fn requested(&self, packet: Packet) -> Option<(u16, Option<u64>)> {
        let Carried { segment, connection_id, .. } = self.segments.get(packet.place as usize)?;
        let end = (!segment.flags.has(Flags::FIN)).then_some(segment.ack);
        (connection_id & REQUEST != 0).then_some((*connection_id as u16, end))
    }

    /// Serial number of a request.
    pub(crate) fn serial(&self, packet: Packet) -> u64 {
        self.segments.get(packet.place as usize).map_or(0, |carried| carried.segment.seq)
    }

    /// A datagram that counts as sent at `sent`, on the leg where its route begins.
    pub(crate) fn datagram(&mut self, sent: Time, datagram: Datagram, flow: u32, leg: u32) -> Packet {
        let place = self.free_sent.pop().unwrap_or(self.sent.len() as u32);
        let sent = Sent { at: sent, packets: 1, has_arrived: false };
        if let Some(at) = self.sent.get_mut(place as usize) {
            *at = sent;
        } else {
            self.sent.push(sent);
        }
        self.datagrams += 1;
        let Datagram { len, ecn } = datagram;
        Packet { flow: FlowId(flow), leg, place: place | DATAGRAM, len, ecn, queue: 0 }
    }

    /// Takes a datagram off its packet; returns its send time. None: damaged, or a copy has arrived before.
    pub(crate) fn take_datagram(&mut self, packet: Packet) -> Option<Time> {
        self.free(packet);
        let sent = self.sent.get_mut((packet.place & !DATAGRAM) as usize).filter(|_| !packet.is_damaged())?;
        (!std::mem::replace(&mut sent.has_arrived, true)).then_some(sent.at)
    }

    /// Takes a segment of a connection off its packet, with the packet's present ECN bits. None: damaged, or of another
    /// connection.
    #[inline]
    pub(crate) fn take(&mut self, packet: Packet, connection_id: u16) -> Option<&Carried> {
        let carried = self.segments.get_mut(packet.place as usize)?;
        if carried.connection_id != u32::from(connection_id) {
            return None;
        }
        self.free.push(packet.place);
        carried.segment.ecn = packet.ecn;
        Some(carried)
    }

    /// The acknowledgment of a packet's segment, if it carries one.
    pub(crate) fn ack(&self, packet: Packet) -> Option<Ack> {
        let Carried { segment, connection_id, .. } = self.segments.get(packet.place as usize)?;
        let number = segment.ack;
        let mut blocks = segment.sack.iter(number);
        let ack = Ack {
            connection: *connection_id,
            number,
            sack: [(); 3].map(|()| blocks.next().unwrap_or_default()),
            is_pure: segment.len == 0 && segment.flags.only(Flags::ACK | Flags::SACK | Flags::TIMESTAMP),
        };
        segment.flags.has(Flags::ACK).then_some(ack)
    }

    /// A packet with its contents, as taps see it.
    pub(crate) fn sight(&self, packet: Packet) -> Sight<'_> {
        let contents = match self.segments.get(packet.place as usize) {
            _ if packet.is_damaged() => Contents::Damaged,
            Some(carried) if carried.connection_id & REQUEST != 0 => {
                Contents::Request(carried.connection_id as u16)
            }
            Some(Carried { segment, connection_id, .. }) => {
                Contents::Segment { segment, connection: *connection_id as u16, place: packet.place }
            }
            None => Contents::Datagram,
        };
        Sight { flow: packet.flow.0, leg: packet.leg, size: packet.size(), ecn: packet.ecn, contents }
    }

    /// First byte of the payload of a packet's segment; 0 without one.
    pub(crate) fn begins(&self, packet: Packet) -> u64 {
        self.segments.get(packet.place as usize).map_or(0, |carried| carried.segment.seq)
    }

    /// Discards a packet.
    pub(crate) fn free(&mut self, packet: Packet) {
        if packet.is_damaged() {
            return;
        }
        if packet.place & DATAGRAM == 0 {
            self.free.push(packet.place);
        } else {
            let place = packet.place & !DATAGRAM;
            let sent = &mut self.sent[place as usize];
            sent.packets -= 1;
            if sent.packets == 0 {
                self.free_sent.push(place);
            }
            self.datagrams -= 1;
        }
    }

    /// A copy of the packet; the first copy of a datagram to arrive counts.
    #[cold]
    #[inline(never)]
    pub(crate) fn copy(&mut self, packet: Packet) -> Packet {
        if let Some(&Carried { segment, connection_id, .. }) = self.segments.get(packet.place as usize) {
            let left = self.segments[packet.place as usize].left();
            let copy = self.of_segment(segment, left, connection_id, [packet.flow.0, packet.leg]);
            return Packet { place: copy.place, ..packet };
        }
        if !packet.is_damaged() {
            self.sent[(packet.place & !DATAGRAM) as usize].packets += 1;
            self.datagrams += 1;
        }
        packet
    }

    /// The packet with a bit error; its contents are discarded.
    pub(crate) fn damage(&mut self, packet: Packet) -> Packet {
        self.free(packet);
        Packet { place: DAMAGED, ..packet }
    }

    /// Number of segments and datagrams on their way.
    pub(crate) fn held(&self) -> usize {
        self.segments.len() - self.free.len() + self.datagrams
    }
}

impl aqm::Packet for Packet {
    fn len(&self) -> u32 {
        self.size()
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowId {
        self.flow
    }
}

/// Bit of the places of datagrams.
const DATAGRAM: u32 = 1 << 31;
/// Place of a damaged packet.
const DAMAGED: u32 = u32::MAX;
/// Place of no packet.
pub(crate) const NO_PLACE: u32 = u32::MAX - 1;
/// Bit of a connection number that marks a request.
const REQUEST: u32 = 1 << 31;
