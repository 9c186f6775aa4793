//! The end of a connection: RFC 9293, section 3.6, case 2.
//!
//! The application closes as soon as it has read the end. The FIN that says so goes with the ACK where
//! there is nothing left to read.

use super::Receiver;
use crate::mark::Mark;
use crate::profile::Profile;
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

/// Where in its life the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Stage {
    /// Waits for a SYN.
    Listen,
    /// Has answered a SYN, and seen nothing else.
    SynReceived,
    /// Data may come.
    Established,
    /// A FIN came, and not everything before it.
    Ending,
    /// Everything came, and some is still to be read.
    CloseWait,
    /// Our FIN was sent.
    LastAck,
    /// It is over.
    Closed,
}

impl Receiver {
    /// Whether the connection has ended: our FIN was acknowledged, or sent in vain too often.
    pub fn closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// The FIN of a segment that there is room for has its place behind everything else that came.
    pub(super) fn note_fin(&mut self, segment: &Segment) {
        let place = segment.end() - 1;
        if self.fin.is_none() && place >= self.arrived.highest() && place < self.window.edge {
            self.fin = Mark::at(place);
            self.stage = Stage::Ending;
        }
    }

    /// Whether everything up to the FIN has come, the FIN too.
    pub(super) fn is_complete(&self) -> bool {
        self.fin == Mark::at(self.arrived.next)
    }

    /// The answer where everything has come: with our FIN once the application has read it.
    pub(super) fn close(&mut self, now: Time) -> Segment {
        self.stage = Stage::CloseWait;
        self.arrived.close();
        let end = self.arrived.next;
        if self.window.read(now, end) == end { self.fin(now) } else { self.acknowledge(now, None) }
    }

    /// No ACK came for our FIN: once more, or never again.
    pub(super) fn repeat_fin(&mut self, now: Time) -> Option<Segment> {
        if self.fin_again == MOST_AGAIN {
            self.stage = Stage::Closed;
            return None;
        }
        self.fin_again += 1;
        Some(self.fin(now))
    }

    /// Our FIN; its number is the first of ours, as no data go this way.
    fn fin(&mut self, now: Time) -> Segment {
        let ack = self.acknowledge(now, None);
        let Profile { initial_rto, max_rto, .. } = self.config.profile;
        let wait = initial_rto.saturating_mul(1 << self.fin_again).min(max_rto);
        (self.stage, self.fin_due) = (Stage::LastAck, now + wait);
        Segment { seq: 0, flags: ack.flags | Flags::FIN, ..ack }
    }
}

/// How often a FIN is sent again.
const MOST_AGAIN: u8 = 8;
