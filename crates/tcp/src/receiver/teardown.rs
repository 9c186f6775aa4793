//! The end of a connection: RFC 9293, section 3.6, case 2.
//!
//! The application closes once it has read all data. Its FIN is sent with the ACK if nothing is left to read.

use super::Receiver;
use crate::opt_seq::OptSeq;
use crate::profile::Profile;
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

/// Connection state (RFC 9293, section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Stage {
    /// LISTEN.
    Listen,
    /// SYN-RECEIVED: no segment after the SYN yet.
    SynReceived,
    /// ESTABLISHED.
    Established,
    /// ESTABLISHED, with a FIN received before all data.
    Ending,
    /// CLOSE-WAIT: everything received, not everything read.
    CloseWait,
    /// LAST-ACK: our FIN is sent.
    LastAck,
    /// CLOSED.
    Closed,
}

impl Receiver {
    /// Returns whether the connection has ended: our FIN was acknowledged, or retransmitted too often.
    pub fn closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Records the FIN of a segment if it is in the window and behind all other data.
    pub(super) fn note_fin(&mut self, segment: &Segment) {
        let place = segment.end() - 1;
        if self.fin.is_none() && place >= self.arrived.highest() && place < self.window.edge {
            self.fin = OptSeq::some(place);
            self.stage = Stage::Ending;
        }
    }

    /// Returns whether everything up to and including the FIN has arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.fin == OptSeq::some(self.arrived.next)
    }

    /// Answers the last data: with our FIN once the application has read everything.
    pub(super) fn close(&mut self, now: Time) -> Segment {
        self.stage = Stage::CloseWait;
        self.arrived.close();
        let end = self.arrived.next;
        if self.window.read(now, end) == end { self.fin(now) } else { self.acknowledge(now, None) }
    }

    /// Retransmits our FIN, a limited number of times.
    pub(super) fn retransmit_fin(&mut self, now: Time) -> Option<Segment> {
        if self.fin_retransmits == MAX_FIN_RETRANSMITS {
            self.stage = Stage::Closed;
            return None;
        }
        self.fin_retransmits += 1;
        Some(self.fin(now))
    }

    /// Our FIN, with the first of our sequence numbers, as no data goes this way.
    fn fin(&mut self, now: Time) -> Segment {
        let ack = self.acknowledge(now, None);
        let Profile { initial_rto, max_rto, .. } = self.config.profile;
        let wait = initial_rto.saturating_mul(1 << self.fin_retransmits).min(max_rto);
        (self.stage, self.fin_due) = (Stage::LastAck, now + wait);
        Segment { seq: 0, flags: ack.flags | Flags::FIN, ..ack }
    }
}

/// Maximum retransmissions of a FIN.
const MAX_FIN_RETRANSMITS: u8 = 8;
