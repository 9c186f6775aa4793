//! Closing: RFC 9293, section 3.6.
//!
//! FIN takes a sequence number after the last byte, and is acknowledged, lost and retransmitted like one. The peer
//! answers with its own FIN, which is acknowledged in turn.

use super::{Handshake, Sender};
use crate::segment::{Flags, Segment};

impl Sender {
    /// Ends the stream after the supplied data, with FIN.
    pub fn close(&mut self) {
        if !self.closing {
            self.closing = true;
            self.end_of_stream = self.end_of_stream.saturating_add(1);
        }
    }

    /// Returns whether both directions are closed: FIN is acknowledged, and the peer's FIN has arrived.
    pub fn is_closed(&self) -> bool {
        self.closing && self.una == self.end_of_stream && self.peer_closed
    }

    /// Returns whether all data is acknowledged, and FIN as well if connections end with one.
    pub fn is_done(&self) -> bool {
        match self.handshake {
            Handshake::Closed => true,
            Handshake::Established if self.closing => self.is_closed() && !self.ack_due,
            Handshake::Established => self.una == self.end_of_stream,
            Handshake::SynDue | Handshake::SynSent => false,
        }
    }

    /// Handles the peer's FIN. Each copy of it is acknowledged.
    pub(super) fn on_fin(&mut self) {
        self.peer_closed = true;
        self.ack_due = true;
    }

    /// Builds the ACK of the peer's FIN.
    pub(super) fn ack_of_fin(&mut self) -> Segment {
        self.ack_due = false;
        let mut segment = Segment { seq: self.max, flags: Flags::ACK, ..Segment::default() };
        segment.ack = self.acknowledgment();
        segment
    }

    /// Acknowledgment number; the peer sends nothing but FIN.
    pub(super) fn acknowledgment(&self) -> u64 {
        u64::from(self.peer_closed)
    }

    /// Returns whether the connection is established.
    pub fn is_established(&self) -> bool {
        self.handshake == Handshake::Established
    }
}
