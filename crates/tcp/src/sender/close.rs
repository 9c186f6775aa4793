//! The end: RFC 9293, section 3.6.
//!
//! FIN takes a sequence number behind the last byte and is acknowledged, lost
//! and sent again like one. The other side answers with its own, which is
//! acknowledged in turn.

use super::{Handshake, Sender};
use crate::segment::{Flags, Segment};

impl Sender {
    /// No data beyond what was supplied: FIN follows it.
    pub fn close(&mut self) {
        if !self.closing {
            self.closing = true;
            self.end_of_stream = self.end_of_stream.saturating_add(1);
        }
    }

    /// Whether both directions are closed: FIN was acknowledged, and the other side's has come.
    pub fn is_closed(&self) -> bool {
        self.closing && self.una == self.end_of_stream && self.peer_closed
    }

    /// Whether everything there is to send is acknowledged, and FIN with it where connections end so.
    pub fn is_done(&self) -> bool {
        match self.handshake {
            Handshake::Closed => true,
            Handshake::Established if self.closing => self.is_closed() && !self.ack_due,
            Handshake::Established => self.una == self.end_of_stream,
            Handshake::SynDue | Handshake::SynSent => false,
        }
    }

    /// The other side's FIN, which may come more than once: each is acknowledged.
    pub(super) fn on_fin(&mut self) {
        self.peer_closed = true;
        self.ack_due = true;
    }

    /// The ACK of the other side's FIN.
    pub(super) fn ack_of_fin(&mut self) -> Segment {
        self.ack_due = false;
        let mut segment = Segment { seq: self.max, flags: Flags::ACK, ..Segment::default() };
        segment.ack = self.acknowledgment();
        segment
    }

    /// What is acknowledged of the other side, which sends nothing but FIN.
    pub(super) fn acknowledgment(&self) -> u64 {
        u64::from(self.peer_closed)
    }

    /// Whether the connection is up.
    pub fn is_established(&self) -> bool {
        self.handshake == Handshake::Established
    }
}
