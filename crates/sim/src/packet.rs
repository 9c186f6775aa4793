//! What travels on links.

use crate::apps::datagrams::Datagram;
use crate::round_trip::SentAt;
use sojourn_aqm::{self as aqm, FlowId};
use sojourn_tcp::{Flags, Segment};
use sojourn_units::{Ecn, Time};

/// A packet on its way along the route of its flow: what links and discs must know of it.
///
/// What it carries stays in a pool until it arrives. Sixteen bytes, so that it travels in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    flow: FlowId,
    /// The leg of its route that it is on.
    pub(crate) leg: u32,
    place: u32,
    len: u16,
    ecn: Ecn,
}

/// What all packets on their way carry: segments, and of datagrams when they were sent.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    segments: Vec<Carried>,
    /// Which of its flow's connections each segment belongs to, as far as anybody has told.
    lives: Vec<u32>,
    /// Places that hold nothing.
    free: Vec<u32>,
    /// The same for datagrams.
    sent: Vec<Sent>,
    free_sent: Vec<u32>,
    /// How many packets there are of those.
    datagrams: usize,
}

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) segment: Segment,
    /// Its departure.
    pub(crate) left: SentAt,
}

/// What there is of a datagram: it, and its copies.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// How many packets carry it.
    packets: u32,
    /// Whether one of them has come.
    has_come: bool,
}

impl Packet {
    /// The same packet on the next leg of its route.
    pub(crate) fn on_next_leg(self) -> Packet {
        Packet { leg: self.leg + 1, ..self }
    }

    /// Size on the wire, bytes.
    pub(crate) fn size(&self) -> u32 {
        u32::from(self.len)
    }

    /// The number of its flow.
    pub(crate) fn flow_number(&self) -> u32 {
        self.flow.0
    }

    /// Whether it is damaged, so that its receiver will throw it away.
    pub(crate) fn is_damaged(&self) -> bool {
        self.place == DAMAGED
    }

    /// Clears its ECN bits.
    pub(crate) fn bleach(&mut self) {
        self.ecn = Ecn::NotEct;
    }
}

impl Pool {
    /// A packet that carries a segment, on the leg where its route begins.
    #[expect(clippy::inline_always, reason = "every packet of TCP begins with it")]
    #[inline(always)]
    pub(crate) fn of_segment(&mut self, segment: Segment, left: SentAt, flow: u32, leg: u32) -> Packet {
        let place = self.free.pop().unwrap_or(self.segments.len() as u32);
        if let Some(at) = self.segments.get_mut(place as usize) {
            at.segment = segment;
            at.left = left;
        } else {
            self.segments.push(Carried { segment, left });
        }
        Packet { flow: FlowId(flow), leg, place, len: segment.wire_len() as u16, ecn: segment.ecn }
    }

    /// A packet of `len` bytes that leaves at `at` and asks the other end for data up to byte `end` of the connection.
    pub(crate) fn request(&mut self, at: Time, end: u64, len: u16, [flow, leg]: [u32; 2]) -> Packet {
        let segment = Segment { ack: end, ..Segment::default() };
        Packet { len, ..self.of_segment(segment, SentAt::of_data(at), flow, leg) }
    }

    /// Tells which of its flow's connections a packet's segment belongs to.
    pub(crate) fn set_life(&mut self, packet: Packet, life: u32) {
        // Only flows that come and go ask for it: the others' packets are spared the memory.
        if self.lives.len() < self.segments.len() {
            self.lives.resize(self.segments.len(), 0);
        }
        self.lives[packet.place as usize] = life;
    }

    /// Which of its flow's connections a packet's segment belongs to; None where it has no segment.
    pub(crate) fn life(&self, packet: Packet) -> Option<u32> {
        self.lives.get(packet.place as usize).copied()
    }

    /// What a packet asks for, if it does.
    pub(crate) fn asked(&self, packet: Packet) -> Option<u64> {
        let Carried { segment, .. } = self.segments.get(packet.place as usize)?;
        (segment.flags == Flags::NONE).then_some(segment.ack)
    }

    /// A datagram that counts as sent at `sent`, on the leg where its route begins.
    pub(crate) fn datagram(&mut self, sent: Time, datagram: Datagram, flow: u32, leg: u32) -> Packet {
        let place = self.free_sent.pop().unwrap_or(self.sent.len() as u32);
        let sent = Sent { at: sent, packets: 1, has_come: false };
        if let Some(at) = self.sent.get_mut(place as usize) {
            *at = sent;
        } else {
            self.sent.push(sent);
        }
        self.datagrams += 1;
        let Datagram { len, ecn } = datagram;
        Packet { flow: FlowId(flow), leg, place: place | DATAGRAM, len, ecn }
    }

    /// Ends the way of a datagram; gives when it was sent. None where it was damaged, or one like it came before.
    pub(crate) fn take_datagram(&mut self, packet: Packet) -> Option<Time> {
        self.free(packet);
        let sent = self.sent.get_mut((packet.place & !DATAGRAM) as usize).filter(|_| !packet.is_damaged())?;
        (!std::mem::replace(&mut sent.has_come, true)).then_some(sent.at)
    }

    /// Ends the way of a packet with a segment; gives that, with the ECN bits that the packet has now. None where it
    /// was damaged.
    pub(crate) fn take(&mut self, packet: Packet) -> Option<&Carried> {
        let carried = self.segments.get_mut(packet.place as usize)?;
        self.free.push(packet.place);
        carried.segment.ecn = packet.ecn;
        Some(carried)
    }

    /// Where the payload of a packet's segment begins; 0 without one.
    pub(crate) fn begins(&self, packet: Packet) -> u64 {
        self.segments.get(packet.place as usize).map_or(0, |carried| carried.segment.seq)
    }

    /// Ends a packet's way.
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

    /// The packet once more; of a datagram the first one that comes counts.
    #[cold]
    #[inline(never)]
    pub(crate) fn copy(&mut self, packet: Packet) -> Packet {
        if let Some(&Carried { segment, left }) = self.segments.get(packet.place as usize) {
            let copy = self.of_segment(segment, left, packet.flow.0, packet.leg);
            if let Some(life) = self.life(packet) {
                self.set_life(copy, life);
            }
            return Packet { place: copy.place, ..packet };
        }
        if !packet.is_damaged() {
            self.sent[(packet.place & !DATAGRAM) as usize].packets += 1;
            self.datagrams += 1;
        }
        packet
    }

    /// The packet with a bit wrong; nobody will ask what it carries.
    pub(crate) fn damage(&mut self, packet: Packet) -> Packet {
        self.free(packet);
        Packet { place: DAMAGED, ..packet }
    }

    /// How many segments and datagrams are on their way.
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

/// Tells the places of datagrams from those of segments.
const DATAGRAM: u32 = 1 << 31;
/// The place of a packet that was damaged.
const DAMAGED: u32 = u32::MAX;
